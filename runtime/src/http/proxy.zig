//! Which proxy a request goes through, by the usual variables of the environment (lower-case names first).

const std = @import("std");
const root = @import("../http.zig");
const urls = @import("url.zig");
const Url = urls.Url;

pub const Proxy = struct {
    url: Url,
    /// `NAME:PASSWORD` as it stands in the proxy's URL, empty for none.
    login: []const u8,
};

pub const Choice = union(enum) { direct, proxy: Proxy, unusable };

/// The proxy for the URL.
pub fn choose(url: Url) Choice {
    const text = variable(if (url.is_tls) "https_proxy" else "http_proxy", if (url.is_tls) "HTTPS_PROXY" else "HTTP_PROXY") orelse
        variable("all_proxy", "ALL_PROXY") orelse return .direct;
    if (isExempt(url, variable("no_proxy", "NO_PROXY") orelse "")) return .direct;
    return if (parse(text)) |proxy| .{ .proxy = proxy } else .unusable;
}

fn variable(lower: []const u8, upper: []const u8) ?[]const u8 {
    for ([_][]const u8{ lower, upper }) |name| {
        const text = std.mem.trim(u8, root.variable(name) orelse "", " \t");
        if (text.len > 0) return text;
    }
    return null;
}

pub const login_bytes_max = 4096;

/// `http://[NAME:PASSWORD@]HOST[:PORT][/]`, of which the scheme may be left out. A login may hold any character, in percent
/// signs or as it is. Null for anything else.
fn parse(text: []const u8) ?Proxy {
    var rest = text;
    if (std.mem.find(u8, text, "://")) |at| {
        if (!std.ascii.eqlIgnoreCase(text[0..at], "http")) return null;
        rest = text[at + 3 ..];
    }
    var login: []const u8 = "";
    if (std.mem.findScalarLast(u8, rest, '@')) |at| {
        login = rest[0..at];
        rest = rest[at + 1 ..];
    }
    if (login.len > login_bytes_max) return null;
    const authority = if (std.mem.endsWith(u8, rest, "/")) rest[0 .. rest.len - 1] else rest;
    var buffer: [512]u8 = undefined;
    const whole = std.mem.print(&buffer, "http://{s}", .{authority}) catch return null;
    const checked = Url.parse(whole) catch return null;
    if (checked.path.len > 0) return null;
    // The parts again, as parts of the variable's text, which stays.
    const host_start = @intFromPtr(checked.host.ptr) - @intFromPtr(checked.authority.ptr);
    return .{
        .url = .{
            .is_tls = false,
            .host = authority[host_start..][0..checked.host.len],
            .authority = authority,
            .port = checked.port,
            .path = "",
        },
        .login = login,
    };
}

/// `NO_PROXY`: hosts, each with its sub-domains (`.example.com`, `*.example.com`: those alone), addresses, networks as
/// `10.0.0.0/8`, perhaps with a port, between commas or blanks; `*` is all.
fn isExempt(url: Url, list: []const u8) bool {
    var entries = std.mem.tokenizeAny(u8, list, ", \t");
    while (entries.next()) |entry| {
        if (std.mem.eql(u8, entry, "*")) return true;
        var name = entry;
        if (std.mem.findScalarLast(u8, entry, ':')) |colon| {
            const is_single = std.mem.count(u8, entry, ":") == 1 or entry[0] == '[';
            if (is_single and isPort(entry[colon + 1 ..])) {
                if (urls.parsePort(entry[colon + 1 ..]) != url.port) continue;
                name = entry[0..colon];
            }
        }
        name = std.mem.trim(u8, name, "[]");
        if (isMeant(url.name(), if (std.mem.endsWith(u8, name, ".")) name[0 .. name.len - 1] else name)) return true;
    }
    return false;
}

fn isPort(text: []const u8) bool {
    for (text) |byte| if (!std.ascii.isDigit(byte)) return false;
    return text.len > 0 and text.len <= 5;
}

fn isMeant(host: []const u8, name: []const u8) bool {
    if (addressOf(host)) |address| return isInNetwork(address.slice(), name);
    if (name.len > 0 and std.ascii.eqlIgnoreCase(name, host)) return true;
    const domain = std.mem.trimStart(u8, if (std.mem.startsWith(u8, name, "*")) name[1..] else name, ".");
    if (domain.len == 0 or host.len <= domain.len) return false;
    const start = host.len - domain.len;
    return host[start - 1] == '.' and std.ascii.eqlIgnoreCase(host[start..], domain);
}

const Address = struct {
    bytes: [16]u8 = undefined,
    length: usize,

    fn slice(address: *const Address) []const u8 {
        return address.bytes[0..address.length];
    }
};

fn addressOf(text: []const u8) ?Address {
    const is_ip6 = std.mem.findScalar(u8, text, ':') != null;
    if (if (is_ip6) !urls.isIp6(text) else !urls.isIp4(text)) return null;
    const parsed = std.Io.net.IpAddress.parse(text, 0) catch return null;
    var address: Address = .{ .length = if (is_ip6) 16 else 4 };
    switch (parsed) {
        .ip4 => |ip| address.bytes[0..4].* = ip.bytes,
        .ip6 => |ip| address.bytes = ip.bytes,
    }
    return address;
}

fn isInNetwork(address: []const u8, name: []const u8) bool {
    const slash = std.mem.findScalar(u8, name, '/') orelse name.len;
    const base = addressOf(name[0..slash]) orelse return false;
    if (base.length != address.len) return false;
    var bits = 8 * address.len;
    if (slash < name.len) {
        const digits = name[slash + 1 ..];
        if (!isPort(digits) or digits.len > 3) return false;
        bits = std.fmt.parseInt(u16, digits, 10) catch unreachable;
    }
    if (bits > 8 * address.len) return false;
    for (address, base.slice(), 0..) |left, right, index| {
        const own = bits -| 8 * index;
        if (own >= 8 and left != right) return false;
        if (own > 0 and own < 8 and (left ^ right) >> @intCast(8 - own) != 0) return false;
    }
    return true;
}

const testing = std.testing;

fn expectExempt(is_exempt: bool, url: []const u8, lists: []const []const u8) !void {
    for (lists) |list| {
        testing.expectEqual(is_exempt, isExempt(try Url.parse(url), list)) catch |failure| {
            std.debug.print("{s} for {s}\n", .{ list, url });
            return failure;
        };
    }
}

// tests/test_http_client.py has the same rows.
test "hosts that need no proxy" {
    const url = "https://api.example.com:8443/v1";
    try expectExempt(true, url, &.{
        "*",                 "a *",              "api.example.com", "api.example.com.", "example.com", ".example.com", "*.example.com", "a, Example.COM ",
        "a.com example.com", "example.com:8443", "com",
    });
    try expectExempt(false, url, &.{ "", ",", ".", "ample.com", "example.com:443", "x.api.example.com", "api.example.org", "0.0.0.0/0" });
    try expectExempt(true, "http://10.1.2.3", &.{ "10.1.2.3", "10.1.2.3:80", "10.0.0.0/8", "10.1.2.3/32", "0.0.0.0/0", "11.0.0.0/7" });
    try expectExempt(false, "http://10.1.2.3", &.{ "10.1.2.4", "10.1.2.3:81", "11.0.0.0/8", "10.0.0.0/33", "10/8", "::/0", "3", ".2.3" });
    try expectExempt(true, "http://[::1]", &.{ "::1", "[::1]", "[::1]:80", "0:0::1", "::/64", "::1/128" });
    try expectExempt(false, "http://[::1]", &.{ "::2", "[::1]:81", "::2/127", "0.0.0.0/0", "::1/129" });
}

test "what a proxy variable may hold" {
    const proxy = parse("http://me:secret@proxy.example:3128/").?;
    try testing.expectEqualStrings("proxy.example", proxy.url.host);
    try testing.expectEqual(@as(u16, 3128), proxy.url.port);
    try testing.expectEqualStrings("me:secret", proxy.login);
    try testing.expectEqualStrings("m%65:s/e?c ret", parse("http://m%65:s/e?c ret@proxy").?.login);
    try testing.expectEqualStrings("proxy", parse("proxy:3128").?.url.host);
    try testing.expectEqual(@as(u16, 80), parse("proxy").?.url.port);
    try testing.expectEqualStrings("::1", parse("http://[::1]:3128").?.url.host);
    for ([_][]const u8{
        "socks5://proxy", "https://proxy", "http://", "proxy:x", "proxy:70000", "proxy:0",                                              "proxy/x", "proxy?x", "http://proxy//",
        "pro xy",         "proxy\r\nx: y", "proxy\n", "127.1",   "http://a@b@", &@as([login_bytes_max + 1]u8, @splat('p')) ++ "@proxy",
    }) |text| {
        try testing.expectEqual(@as(?Proxy, null), parse(text));
    }
}
