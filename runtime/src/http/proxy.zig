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

/// `http://[NAME:PASSWORD@]HOST[:PORT][/]`, the scheme may be left out. Null for anything else.
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
    const end = std.mem.findScalar(u8, rest, '/') orelse rest.len;
    var buffer: [512]u8 = undefined;
    const whole = std.mem.print(&buffer, "http://{s}", .{rest[0..end]}) catch return null;
    const checked = Url.parse(whole) catch return null;
    // The parts again, as parts of the variable's text, which stays.
    const authority = rest[0..end];
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

/// `NO_PROXY`: a list of hosts, each with its sub-domains (`.example.com`: those alone), perhaps with a port; `*` is all.
fn isExempt(url: Url, list: []const u8) bool {
    var entries = std.mem.splitScalar(u8, list, ',');
    while (entries.next()) |untrimmed| {
        const entry = std.mem.trim(u8, untrimmed, " \t");
        if (entry.len == 0) continue;
        if (std.mem.eql(u8, entry, "*")) return true;
        if (std.ascii.eqlIgnoreCase(entry, url.host)) return true;
        var name = entry;
        if (std.mem.findScalarLast(u8, entry, ':')) |colon| {
            if (urls.parsePort(entry[colon + 1 ..])) |port| {
                if (std.mem.count(u8, entry, ":") == 1 or entry[0] == '[') {
                    if (port != url.port) continue;
                    name = entry[0..colon];
                }
            }
        }
        name = std.mem.trim(u8, name, "[]");
        if (std.ascii.eqlIgnoreCase(name, url.host)) return true;
        const bare = std.mem.trimStart(u8, name, ".");
        if (bare.len == 0 or url.host.len <= bare.len) continue;
        const start = url.host.len - bare.len;
        if (url.host[start - 1] == '.' and std.ascii.eqlIgnoreCase(url.host[start..], bare)) return true;
    }
    return false;
}

const testing = std.testing;

test "hosts that need no proxy" {
    const url = (try Url.parse("https://api.example.com:8443/v1"));
    for ([_][]const u8{ "*", "api.example.com", "example.com", ".example.com", "a, Example.COM ", "example.com:8443", "com" }) |list| {
        try testing.expect(isExempt(url, list));
    }
    for ([_][]const u8{ "", ",", "ample.com", "example.com:443", "x.api.example.com", "api.example.org" }) |list| {
        try testing.expect(!isExempt(url, list));
    }
    try testing.expect(!isExempt((try Url.parse("http://example.com/")), ".example.com"));
    try testing.expect(isExempt((try Url.parse("http://[::1]:80/")), "::1"));
    try testing.expect(isExempt((try Url.parse("http://[::1]:80/")), "[::1]:80"));
}

test "what a proxy variable may hold" {
    const proxy = parse("http://me:secret@proxy.example:3128/").?;
    try testing.expectEqualStrings("proxy.example", proxy.url.host);
    try testing.expectEqual(@as(u16, 3128), proxy.url.port);
    try testing.expectEqualStrings("me:secret", proxy.login);
    try testing.expectEqualStrings("proxy", parse("proxy:3128").?.url.host);
    try testing.expectEqual(@as(u16, 80), parse("proxy").?.url.port);
    try testing.expectEqualStrings("::1", parse("http://[::1]:3128").?.url.host);
    for ([_][]const u8{ "socks5://proxy", "https://proxy", "http://", "proxy:x" }) |text| {
        try testing.expectEqual(@as(?Proxy, null), parse(text));
    }
}
