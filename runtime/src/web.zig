//! `Http.get` and `Http.post` (spec 10.http): what a request must be, and what became of it. The plain runtime has the
//! same in interpreter/web.py.

const std = @import("std");
const abi = @import("abi.zig");
const exchanges = @import("exchange.zig");
const http_words = @import("http_words.zig");
const maps = @import("map.zig");
const show = @import("show.zig");
const string = @import("string.zig");
const textual = @import("text.zig");
const value = @import("value.zig");
const urls = @import("http/url.zig");
const Url = urls.Url;
const Allocator = std.mem.Allocator;

const string_type: abi.Type = .{ .kind = .string, .counted = 1, .size = 8 };
const headers_type: abi.Type = .{ .kind = .map, .counted = 1, .size = 8, .key = &string_type, .element = &string_type };

/// How a request ends: with an answer, or with a variant of HttpError, in their order.
pub const Ending = enum(i64) { answered = 0, bad_request = 1, not_reached = 2, no_answer = 3, not_text = 4 };

/// `text` is the body, or the reason of an error that has one.
pub const Result = extern struct {
    ending: Ending,
    status: i64 = 0,
    headers: *abi.Map,
    text: *abi.String,

    /// What is said of it: the variant's name, and its reason.
    pub fn name(result: Result) []const u8 {
        return switch (result.ending) {
            .answered => "Answered",
            .bad_request => "BadRequest",
            .not_reached => "NotReached",
            .no_answer => "NoAnswer",
            .not_text => "NotText",
        };
    }

    pub fn reason(result: Result) ?[]const u8 {
        return switch (result.ending) {
            .answered, .not_text => null,
            .bad_request, .not_reached, .no_answer => result.text.slice(),
        };
    }

    pub fn init(ending: Ending, status: i64, text: []const u8) Result {
        return .{ .ending = ending, .status = status, .headers = maps.kv_map_new(&headers_type, 0), .text = string.create(text) };
    }
};

/// What a program wants to send; `body` is null for a GET.
pub const Request = struct {
    url: []const u8,
    body: ?[]const u8,
    headers: *abi.Map,
    timeout_ns: i64,

    pub fn method(request: Request) []const u8 {
        return if (request.body == null) "GET" else "POST";
    }

    pub fn show(request: Request, line: *abi.Text) void {
        textual.append(line, if (request.body == null) "Http.get(" else "Http.post(");
        quoted(line, request.url);
        if (request.body) |body| {
            textual.append(line, ", ");
            quoted(line, body);
        }
        textual.append(line, ")");
    }
};

const quoted = show.quoted;

const Header = struct { name: []const u8, value: []const u8 };

/// The entries of the map, in their order.
const Headers = struct {
    map: *abi.Map,
    next_index: usize = 0,
    end_index: usize,

    fn init(map: *abi.Map) Headers {
        return .{ .map = map, .end_index = @intCast(map.used) };
    }

    fn next(headers: *Headers) ?Header {
        const shape: maps.Shape = .of(&headers_type);
        while (headers.next_index < headers.end_index) {
            const index = headers.next_index;
            headers.next_index += 1;
            if (!shape.stands(headers.map, index)) continue;
            return .{ .name = text(shape.keyAt(headers.map, index)), .value = text(shape.valueAt(headers.map, index)) };
        }
        return null;
    }

    fn text(at: *const anyopaque) []const u8 {
        return value.load(*const abi.String, at).slice();
    }
};

/// What a request says of itself, and of the connection.
const ours = [_][]const u8{
    "accept-encoding",     "connection",       "content-length", "expect",  "host",              "keep-alive",
    "proxy-authorization", "proxy-connection", "te",             "trailer", "transfer-encoding", "upgrade",
};

/// Why the request cannot be sent, null when it can. Dropped by the caller.
pub fn obstacle(request: Request) ?abi.Text {
    if (Url.parseWithQuery(request.url)) |_| {} else |fault| return faultText(request.url, fault);
    var headers: Headers = .init(request.headers);
    while (headers.next()) |header| {
        if (!isName(header.name)) return about(header.name, "% is no header's name");
        for (ours) |name| if (std.ascii.eqlIgnoreCase(name, header.name)) return about(header.name, "the header % is not for programs to set");
        var before: Headers = .init(request.headers);
        while (before.next_index < headers.next_index - 1) {
            const other = before.next() orelse break;
            if (other.name.ptr != header.name.ptr and std.ascii.eqlIgnoreCase(other.name, header.name)) return about(header.name, "the header % is given twice");
        }
        if (!isValue(header.value)) return about(header.name, "the value of the header % has characters that no header has");
    }
    return null;
}

fn faultText(url: []const u8, fault: urls.Fault) abi.Text {
    return switch (fault) {
        error.Form => about(url, "% is no http or https URL"),
        error.Login => about(url, "the URL has a name or a password in it: send them in a header"),
        error.Host => about(url, "the host in % is neither a name nor an address"),
        error.Dots => about(url, "% has \".\" or \"..\" in its path"),
    };
}

/// The format with what it is about in it.
fn about(what: []const u8, comptime format: []const u8) abi.Text {
    var line: abi.Text = .{};
    const at = comptime std.mem.findScalar(u8, format, '%') orelse format.len;
    textual.append(&line, format[0..at]);
    if (at < format.len) {
        quoted(&line, what);
        textual.append(&line, format[at + 1 ..]);
    }
    return line;
}

fn isName(name: []const u8) bool {
    for (name) |byte| if (!std.ascii.isAlphanumeric(byte) and std.mem.findScalar(u8, "!#$%&'*+-.^_`|~", byte) == null) return false;
    return name.len > 0;
}

fn isValue(text: []const u8) bool {
    for (text) |byte| if (byte != '\t' and (byte < ' ' or byte > '~')) return false;
    return true;
}

/// What is sent for a request that can be sent; all in the arena.
pub fn compose(arena: Allocator, request: Request) Allocator.Error!abi.Exchange {
    var headers: std.ArrayList(abi.Header) = .empty;
    try headers.append(arena, .{ .name = .init("accept"), .value = .init("*/*") });
    try headers.append(arena, http_words.user_agent);
    if (request.body != null) try headers.append(arena, .{ .name = .init("content-type"), .value = .init("text/plain; charset=utf-8") });
    var given: Headers = .init(request.headers);
    while (given.next()) |header| {
        for (headers.items, 0..) |each, index| {
            if (!std.ascii.eqlIgnoreCase(each.name.slice(), header.name)) continue;
            _ = headers.orderedRemove(index);
            break;
        }
        try headers.append(arena, .{
            .name = .init(try arena.dupe(u8, header.name)),
            .value = .init(std.mem.trim(u8, try arena.dupe(u8, header.value), " \t")),
        });
    }
    return .{
        .method = .init(request.method()),
        .url = .init(try sentUrl(arena, request.url)),
        .headers = headers.items.ptr,
        .header_count = @intCast(headers.items.len),
        .body = .init(try arena.dupe(u8, request.body orelse "")),
        .connect_limit_ns = http_words.connect_limit_ns,
        .limit_ns = @max(0, request.timeout_ns) +| http_words.limit_margin_ns,
        .body_bytes_max = http_words.body_bytes_max,
    };
}

/// `HOST:PORT` of a request that can be sent.
pub fn serverOf(arena: Allocator, request: Request) Allocator.Error![]const u8 {
    const url = Url.parseWithQuery(request.url) catch unreachable; // There is no obstacle.
    const host = try std.ascii.allocLowerString(arena, url.shownHost());
    return std.fmt.allocPrint(arena, "{s}:{d}", .{ host, url.port });
}

fn sentUrl(arena: Allocator, text: []const u8) Allocator.Error![]const u8 {
    const url = Url.parseWithQuery(text) catch unreachable; // There is no obstacle.
    var sent: std.ArrayList(u8) = .empty;
    try url.appendOrigin(&sent, arena);
    if (url.path.len == 0 or url.path[0] != '/') try sent.append(arena, '/');
    try sent.appendSlice(arena, url.path);
    return sent.items;
}

/// What became of the request to the URL.
pub fn resultOf(arena: Allocator, url: Url, exchange: *const exchanges.Exchange) Allocator.Error!Result {
    switch (exchange.problem) {
        .no_problem => {},
        .dropped, .aborted => return .init(.no_answer, 0, "connection dropped"),
        else => |problem| {
            const ending: Ending = if (isBeforeConnected(problem)) .not_reached else .no_answer;
            return .init(ending, 0, try http_words.problemText(arena, url, problem));
        },
    }
    const body = exchange.body.items;
    if (!std.unicode.utf8ValidateSlice(body)) return .init(.not_text, exchange.status, "");
    var result: Result = .init(.answered, exchange.status, body);
    var lines = std.mem.splitScalar(u8, exchange.header_bytes.items, '\n');
    while (lines.next()) |line| {
        const colon = std.mem.findScalar(u8, line, ':') orelse continue;
        try addHeader(arena, &result.headers, line[0..colon], line[colon + 1 ..]);
    }
    return result;
}

/// The server has seen nothing of the request.
fn isBeforeConnected(problem: abi.ExchangeProblem) bool {
    return switch (problem) {
        .unknown_host, .refused, .unreachable_host, .untrusted, .no_authorities, .wrong_name, .timed_out, .no_files, .no_threads => true,
        .no_problem, .dropped, .tls, .late, .too_large, .malformed, .aborted => false,
    };
}

/// Of several of one name the values stand together.
fn addHeader(arena: Allocator, headers: **abi.Map, name: []const u8, text: []const u8) Allocator.Error!void {
    var key = string.create(try std.ascii.allocLowerString(arena, try asText(arena, name)));
    var held = string.create(try asText(arena, text));
    if (maps.kv_map_find(&headers_type, headers.*, @ptrCast(&key))) |found| {
        const before = value.load(*const abi.String, found).slice();
        const together = string.create(try std.mem.concat(arena, u8, &.{ before, ", ", held.slice() }));
        string.release(held);
        held = together;
    }
    maps.kv_map_set(headers, &headers_type, @ptrCast(&key), @ptrCast(&held));
}

fn asText(arena: Allocator, bytes: []const u8) Allocator.Error![]const u8 {
    return std.fmt.allocPrint(arena, "{f}", .{std.unicode.fmtUtf8(bytes)});
}
