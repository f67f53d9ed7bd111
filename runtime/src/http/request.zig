//! One request over one connection: what is written, and what is read of the answer.

const std = @import("std");
const abi = @import("../exchange_abi.zig");
const root = @import("../http.zig");
const connections = @import("connection.zig");
const sockets = @import("socket.zig");
const Io = std.Io;
const Url = @import("url.zig").Url;
const Connection = connections.Connection;
const Head = std.http.Client.Response.Head;

const Problem = abi.Problem;
const pages = std.heap.page_allocator;

pub const Result = struct { status: i32 = 0, problem: Problem = .no_problem };

/// Carries out the request; blocks until its end. `aborted` is an eventfd.
pub fn perform(exchange: *abi.Exchange, aborted: i32) Result {
    const text = exchange.url.slice();
    const url = Url.parse(text) orelse return .{ .problem = .unknown_host };
    const start_ns = sockets.now();
    const end_ns = start_ns +| exchange.limit_ns;
    const connected_ns = start_ns +| exchange.connect_limit_ns;
    var watch: sockets.Watch = .{
        .aborted = aborted,
        .deadline_ns = @min(connected_ns, end_ns),
        .lateness = if (connected_ns <= end_ns) .timed_out else .late,
    };
    const place = text[0 .. @intFromPtr(url.path.ptr) - @intFromPtr(text.ptr)];
    const connection = switch (connections.open(url, place, &watch)) {
        .problem => |problem| return .{ .problem = problem },
        .connection => |connection| connection,
    };
    watch.deadline_ns = end_ns;
    watch.lateness = .late;
    var is_reusable = false;
    const result = converse(connection, exchange, url, &is_reusable);
    if (is_reusable and result.problem == .no_problem) connections.keep(connection) else connection.close();
    return result;
}

fn converse(connection: *Connection, exchange: *abi.Exchange, url: Url, is_reusable: *bool) Result {
    // A server may answer, and close, before it has read all: its answer counts then.
    const was_written = if (write(connection, exchange, url)) |_| true else |_| false;
    if (!was_written and connection.problem() != .dropped) return .{ .problem = connection.problem() };
    var answer: std.http.Reader = .{
        .in = connection.reader(),
        .interface = undefined,
        .state = .ready,
        .max_head_len = connection.reader().buffer.len,
        .side = .response,
    };
    const head = receiveHead(&answer) catch |failure| return .{ .problem = switch (failure) {
        error.ReadFailed => connection.problem(),
        error.HttpConnectionClosing, error.HttpRequestTruncated => .dropped,
        error.Malformed, error.HttpHeadersOversize => .malformed,
    } };
    const status: i32 = @intCast(@backingInt(head.status));
    reportHeaders(exchange, head);
    const problem = readBody(connection, &answer, exchange, head);
    is_reusable.* = was_written and head.keep_alive and answer.state == .ready;
    return .{ .status = status, .problem = problem };
}

fn write(connection: *Connection, exchange: *abi.Exchange, url: Url) Io.Writer.Error!void {
    const out = connection.writer();
    try out.writeAll(exchange.method.slice());
    try out.writeAll(" ");
    if (connection.is_proxied_plain) {
        try out.writeAll(exchange.url.slice());
    } else {
        if (url.path.len == 0 or url.path[0] != '/') try out.writeAll("/");
        try out.writeAll(url.path);
    }
    try out.writeAll(" HTTP/1.1\r\nhost: ");
    try out.writeAll(url.authority);
    try out.writeAll("\r\naccept: application/json\r\naccept-encoding: gzip\r\nuser-agent: kavach\r\n");
    if (connection.is_proxied_plain) try connections.writeLogin(out, connection.proxy_login);
    for (exchange.headerSlice()) |header| {
        for ([_][]const u8{ header.name.slice(), ": ", header.value.slice(), "\r\n" }) |part| try out.writeAll(part);
    }
    try out.print("content-length: {d}\r\n\r\n", .{exchange.body.length});
    try out.writeAll(exchange.body.slice());
    try connection.flush();
}

const HeadError = std.http.Reader.HeadError || error{Malformed};

/// The head of the answer; those that only say that it will come are passed over.
fn receiveHead(answer: *std.http.Reader) HeadError!Head {
    while (true) {
        const bytes = try answer.receiveHead();
        if (bytes.len < 12) return error.Malformed;
        for (bytes[9..12]) |digit| if (!std.ascii.isDigit(digit)) return error.Malformed;
        const head = Head.parse(bytes) catch return error.Malformed;
        const status = @backingInt(head.status);
        if (status < 100) return error.Malformed;
        if (status >= 200) return head;
        if (status == 101) return error.Malformed;
        answer.state = .ready;
    }
}

fn reportHeaders(exchange: *abi.Exchange, head: Head) void {
    var headers = head.iterateHeaders();
    while (headers.next()) |header| {
        root.kv_exchange_header(exchange, header.name.ptr, @intCast(header.name.len), header.value.ptr, @intCast(header.value.len));
    }
}

fn readBody(connection: *Connection, answer: *std.http.Reader, exchange: *abi.Exchange, head: Head) Problem {
    if (head.status == .no_content or head.status == .not_modified) {
        answer.state = .ready;
        return .no_problem;
    }
    // The head's text is gone from here on.
    var transfer_buffer: [1024]u8 = undefined;
    const whole = answer.bodyReader(&transfer_buffer, head.transfer_encoding, head.content_length);
    const problem = switch (head.content_encoding) {
        .identity => deliver(whole, exchange) catch bodyProblem(connection, answer),
        .gzip => unpack(connection, answer, whole, exchange),
        else => .malformed, // Not what we asked for.
    };
    if (problem != .no_problem) return problem;
    // A connection that closes early ends the body as well.
    return if (answer.state == .ready or answer.state == .body_none) .no_problem else .dropped;
}

fn unpack(connection: *const Connection, answer: *std.http.Reader, whole: *Io.Reader, exchange: *abi.Exchange) Problem {
    const window = pages.alloc(u8, std.compress.flate.max_window_len) catch return .too_large;
    defer pages.free(window);
    var unpacked: std.compress.flate.Decompress = .init(whole, .gzip, window);
    const problem = deliver(&unpacked.reader, exchange) catch return switch (unpacked.err orelse error.ReadFailed) {
        error.ReadFailed => bodyProblem(connection, answer),
        error.EndOfStream => if (answer.state == .ready) .malformed else .dropped,
        else => .malformed,
    };
    if (problem == .no_problem) _ = whole.discardRemaining() catch return bodyProblem(connection, answer);
    return problem;
}

/// Hands the body on, piece by piece. An error: it could not be read to its end.
fn deliver(body: *Io.Reader, exchange: *abi.Exchange) error{ReadFailed}!Problem {
    var piece: [8 * 1024]u8 = undefined;
    while (true) {
        const length = try body.readSliceShort(&piece);
        if (length > 0 and !root.kv_exchange_body(exchange, &piece, @intCast(length))) return .aborted;
        if (length < piece.len) break;
    }
    return .no_problem;
}

fn bodyProblem(connection: *const Connection, answer: *const std.http.Reader) Problem {
    if (answer.body_err) |failure| return if (failure == error.HttpChunkTruncated) .dropped else .malformed;
    return connection.problem();
}
