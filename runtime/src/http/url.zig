//! An `http` or `https` URL, as far as a request needs it (spec 8.5.base-url).

const std = @import("std");
const Allocator = std.mem.Allocator;
const IpAddress = std.Io.net.IpAddress;

/// Why a text is no such URL. Login: it has a name or a password in it, so it is not repeated.
pub const Fault = error{ Form, Login, Host, Dots };

pub const Url = struct {
    is_tls: bool,
    /// Without the brackets of an IPv6 address.
    host: []const u8,
    /// As it stands in the URL: with brackets, and the port if there is one.
    authority: []const u8,
    port: u16,
    /// What follows the authority, with the query.
    path: []const u8,

    pub fn parse(text: []const u8) Fault!Url {
        const has_at = std.mem.findScalar(u8, text, '@') != null;
        return parseParts(text) catch |fault| if (has_at and fault == error.Form) error.Login else fault;
    }

    /// As `parse`, perhaps with `?` and a query.
    pub fn parseWithQuery(text: []const u8) Fault!Url {
        const mark = std.mem.findScalar(u8, text, '?') orelse return parse(text);
        if (text.len > length_max) return if (std.mem.findScalar(u8, text, '@') != null) error.Login else error.Form;
        var url = try parse(text[0..mark]);
        const query = text[mark + 1 ..];
        for (query) |byte| if (byte <= ' ' or byte >= 0x7f) return error.Form;
        if (std.mem.findAny(u8, query, never[1..]) != null or !hasWholeEscapes(query)) return error.Form;
        url.path = text[mark - url.path.len ..];
        return url;
    }

    /// Without the dot that may stand at a name's end: what a certificate is for.
    pub fn name(url: Url) []const u8 {
        return if (std.mem.endsWith(u8, url.host, ".")) url.host[0 .. url.host.len - 1] else url.host;
    }

    /// The host with the brackets of an IPv6 address.
    pub fn shownHost(url: Url) []const u8 {
        return if (url.authority[0] == '[') url.authority[0 .. url.host.len + 2] else url.host;
    }

    /// Scheme, host and port, however they were written.
    pub fn appendOrigin(url: Url, list: *std.ArrayList(u8), allocator: Allocator) Allocator.Error!void {
        try list.appendSlice(allocator, if (url.is_tls) "https://" else "http://");
        for (url.shownHost()) |byte| try list.append(allocator, std.ascii.toLower(byte));
        if (url.port != usualPort(url.is_tls)) try list.print(allocator, ":{d}", .{url.port});
    }

    /// The URL without what may stand at the end of a base URL or not.
    pub fn appendRoot(url: Url, list: *std.ArrayList(u8), allocator: Allocator) Allocator.Error!void {
        try url.appendOrigin(list, allocator);
        const path = std.mem.trimEnd(u8, url.path, "/");
        try list.appendSlice(allocator, if (std.mem.endsWith(u8, path, "/v1")) path[0 .. path.len - "/v1".len] else path);
    }
};

fn parseParts(text: []const u8) Fault!Url {
    if (text.len > length_max) return error.Form;
    for (text) |byte| if (byte <= ' ' or byte >= 0x7f) return error.Form;
    if (std.mem.findAny(u8, text, never) != null) return error.Form;
    const is_tls = startsWith(text, "https://");
    if (!is_tls and !startsWith(text, "http://")) return error.Form;
    const after_scheme = text[if (is_tls) "https://".len else "http://".len..];
    const end = std.mem.findScalar(u8, after_scheme, '/') orelse after_scheme.len;
    const authority = after_scheme[0..end];
    if (std.mem.findScalar(u8, authority, '@') != null) return error.Login;
    var url: Url = .{
        .is_tls = is_tls,
        .host = undefined,
        .authority = authority,
        .port = usualPort(is_tls),
        .path = after_scheme[end..],
    };
    try splitAuthority(&url);
    if (!hasWholeEscapes(url.path)) return error.Form;
    var segments = std.mem.splitScalar(u8, url.path, '/');
    while (segments.next()) |segment| {
        if (std.mem.eql(u8, segment, ".") or std.mem.eql(u8, segment, "..")) return error.Dots;
    }
    return url;
}

fn splitAuthority(url: *Url) Fault!void {
    const authority = url.authority;
    const is_bracketed = authority.len > 0 and authority[0] == '[';
    const close = if (is_bracketed) std.mem.findScalar(u8, authority, ']') orelse return error.Form else 0;
    const colon = std.mem.findScalarPos(u8, authority, close, ':') orelse authority.len;
    if (is_bracketed and colon != close + 1) return error.Form;
    url.host = if (is_bracketed) authority[1..close] else authority[0..colon];
    if (!is_bracketed and (colon == 0 or std.mem.findAny(u8, authority[0..colon], "[]") != null)) return error.Form;
    if (is_bracketed and std.mem.findScalar(u8, url.host, '[') != null) return error.Form;
    const port = if (colon < authority.len) authority[colon + 1 ..] else "";
    if (port.len > 5) return error.Form;
    for (port) |digit| if (!std.ascii.isDigit(digit)) return error.Form;
    if (if (is_bracketed) !isIp6(url.host) else !isHost(url.host)) return error.Host;
    if (port.len > 0) url.port = parsePort(port) orelse return error.Form;
}

const length_max = 8192;
const host_length_max = 253;
/// No URL has these, or no path can stand behind them.
const never = "?#\"<>\\^`{|}";

/// A name, or an IPv4 address of four numbers. What only some systems read as an address, such as `127.1`, is neither.
pub fn isHost(text: []const u8) bool {
    const bare = if (std.mem.endsWith(u8, text, ".")) text[0 .. text.len - 1] else text;
    const last = if (std.mem.findScalarLast(u8, bare, '.')) |dot| bare[dot + 1 ..] else bare;
    if (isNumber(last)) return isIp4(text);
    if (bare.len > host_length_max) return false;
    var labels = std.mem.splitScalar(u8, bare, '.');
    while (labels.next()) |label| {
        if (label.len == 0 or label.len > 63) return false;
        for (label) |byte| if (!std.ascii.isAlphanumeric(byte) and byte != '-' and byte != '_') return false;
    }
    return true;
}

fn isNumber(label: []const u8) bool {
    if (std.ascii.startsWithIgnoreCase(label, "0x")) {
        for (label[2..]) |byte| if (!std.ascii.isHex(byte)) return false;
        return true;
    }
    for (label) |byte| if (!std.ascii.isDigit(byte)) return false;
    return label.len > 0;
}

pub fn isIp4(text: []const u8) bool {
    var numbers = std.mem.splitScalar(u8, text, '.');
    var count: usize = 0;
    while (numbers.next()) |number| : (count += 1) {
        if (number.len == 0 or number.len > 3 or (number.len > 1 and number[0] == '0')) return false;
        for (number) |byte| if (!std.ascii.isDigit(byte)) return false;
        _ = std.fmt.parseInt(u8, number, 10) catch return false;
    }
    return count == 4;
}

pub fn isIp6(text: []const u8) bool {
    if (std.mem.findScalar(u8, text, '%') != null) return false;
    _ = IpAddress.parseIp6(text, 0) catch return false;
    return true;
}

fn hasWholeEscapes(text: []const u8) bool {
    for (text, 0..) |byte, index| if (byte == '%' and !isEscape(text[index..])) return false;
    return true;
}

fn isEscape(text: []const u8) bool {
    return text.len >= 3 and std.ascii.isHex(text[1]) and std.ascii.isHex(text[2]);
}

fn usualPort(is_tls: bool) u16 {
    return if (is_tls) 443 else 80;
}

/// One to five digits, not 0, and nothing else.
pub fn parsePort(digits: []const u8) ?u16 {
    if (digits.len > 5) return null;
    for (digits) |digit| if (!std.ascii.isDigit(digit)) return null;
    const port = std.fmt.parseInt(u16, digits, 10) catch return null;
    return if (port == 0) null else port;
}

fn startsWith(text: []const u8, start: []const u8) bool {
    return std.ascii.startsWithIgnoreCase(text, start);
}

const testing = std.testing;

test "the parts of a URL" {
    const url = try Url.parse("https://api.example.com/v1/messages");
    try testing.expect(url.is_tls);
    try testing.expectEqualStrings("api.example.com", url.host);
    try testing.expectEqual(@as(u16, 443), url.port);
    try testing.expectEqualStrings("/v1/messages", url.path);

    const plain = try Url.parse("HTTP://127.0.0.1:8080");
    try testing.expect(!plain.is_tls);
    try testing.expectEqualStrings("127.0.0.1:8080", plain.authority);
    try testing.expectEqual(@as(u16, 8080), plain.port);
    try testing.expectEqualStrings("", plain.path);

    const query = try Url.parseWithQuery("http://a.b?c=/d?%20");
    try testing.expectEqualStrings("a.b", query.authority);
    try testing.expectEqualStrings("?c=/d?%20", query.path);
    for ([_][]const u8{ "http://a/?b c", "http://a/?%2", "http://a?#" }) |text| {
        try testing.expectError(error.Form, Url.parseWithQuery(text));
    }

    const six = try Url.parse("http://[::1]:99/");
    try testing.expectEqualStrings("::1", six.host);
    try testing.expectEqual(@as(u16, 99), six.port);
    try testing.expectEqualStrings("localhost", (try Url.parse("http://localhost.:1")).name());
}

test "one root, however it is written" {
    for ([_][]const u8{ "http://a.b", "http://a.b/", "HTTP://A.b:80/v1/", "http://a.b:/v1", "http://a.b:080///" }) |text| {
        var list: std.ArrayList(u8) = .empty;
        defer list.deinit(testing.allocator);
        try (try Url.parse(text)).appendRoot(&list, testing.allocator);
        try testing.expectEqualStrings("http://a.b", list.items);
    }
}
