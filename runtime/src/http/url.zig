//! An `http` or `https` URL, as far as a request needs it.

const std = @import("std");

pub const Url = struct {
    is_tls: bool,
    /// Without the brackets of an IPv6 address.
    host: []const u8,
    /// As it stands in the URL: with brackets, and the port if there is one.
    authority: []const u8,
    port: u16,
    /// What follows the authority, at least "/" when it is sent.
    path: []const u8,

    /// Null where the text is no such URL, or holds a name and a password.
    pub fn parse(text: []const u8) ?Url {
        if (text.len > length_max) return null;
        const is_tls = startsWith(text, "https://");
        if (!is_tls and !startsWith(text, "http://")) return null;
        const after_scheme = text[if (is_tls) "https://".len else "http://".len..];
        for (after_scheme) |byte| if (byte <= ' ' or byte >= 0x7f) return null;
        if (std.mem.findAny(u8, after_scheme, never) != null) return null;
        const end = std.mem.findScalar(u8, after_scheme, '/') orelse after_scheme.len;
        const authority = after_scheme[0..end];
        var url: Url = .{
            .is_tls = is_tls,
            .host = authority,
            .authority = authority,
            .port = if (is_tls) 443 else 80,
            .path = after_scheme[end..],
        };
        if (std.mem.findScalar(u8, authority, '@') != null) return null;
        var port: ?[]const u8 = null;
        if (authority.len > 0 and authority[0] == '[') {
            const close = std.mem.findScalar(u8, authority, ']') orelse return null;
            url.host = authority[1..close];
            if (std.mem.findScalar(u8, url.host, '%') != null) return null;
            _ = std.Io.net.IpAddress.parseIp6(url.host, 0) catch return null;
            const rest = authority[close + 1 ..];
            if (rest.len > 0 and rest[0] != ':') return null;
            if (rest.len > 1) port = rest[1..];
        } else if (std.mem.findScalar(u8, authority, ':')) |colon| {
            url.host = authority[0..colon];
            if (colon + 1 < authority.len) port = authority[colon + 1 ..];
        }
        if (url.host.len == 0) return null;
        if (port) |digits| {
            url.port = parsePort(digits) orelse return null;
        }
        return url;
    }
};

const length_max = 8192;
/// No URL has these, or we cannot put a path behind them.
const never = "?#\"<>\\^`{|}";

/// At most five digits, and nothing else.
pub fn parsePort(digits: []const u8) ?u16 {
    if (digits.len > 5) return null;
    for (digits) |digit| if (!std.ascii.isDigit(digit)) return null;
    return std.fmt.parseInt(u16, digits, 10) catch null;
}

fn startsWith(text: []const u8, start: []const u8) bool {
    return std.ascii.startsWithIgnoreCase(text, start);
}

const testing = std.testing;

test "the parts of a URL" {
    const url = Url.parse("https://api.example.com/v1/messages").?;
    try testing.expect(url.is_tls);
    try testing.expectEqualStrings("api.example.com", url.host);
    try testing.expectEqual(@as(u16, 443), url.port);
    try testing.expectEqualStrings("/v1/messages", url.path);

    const plain = Url.parse("HTTP://127.0.0.1:8080").?;
    try testing.expect(!plain.is_tls);
    try testing.expectEqualStrings("127.0.0.1:8080", plain.authority);
    try testing.expectEqual(@as(u16, 8080), plain.port);
    try testing.expectEqualStrings("", plain.path);

    const six = Url.parse("http://[::1]:99/").?;
    try testing.expectEqualStrings("::1", six.host);
    try testing.expectEqual(@as(u16, 99), six.port);
}

test "what is no URL" {
    const wrong = [_][]const u8{ "", "example.com", "ftp://x", "http://", "http://:80", "http://a:b", "http://a:70000", "http://[::1", "http://[::1]x", "http://u:p@host/", "http://a b/", "http://ä/", "http://a?b", "http://a/#b", "http://a/{b}", "http://a:000080", "http://a:+8", "http://[::zz]", "http://[fe80::1%lo]", "http://[127.0.0.1]" };
    for (wrong) |text| try testing.expectEqual(@as(?Url, null), Url.parse(text));
}
