//! One request over one connection: what is written, and what is read of the answer.

const std = @import("std");
const abi = @import("../exchange_abi.zig");
const root = @import("../http.zig");
const answers = @import("answer.zig");
const connections = @import("connection.zig");
const guard = @import("guard.zig");
const gzip = @import("gzip.zig");
const sockets = @import("socket.zig");
const Io = std.Io;
const Url = @import("url.zig").Url;
const Connection = connections.Connection;

const Problem = abi.Problem;
const pages = std.heap.page_allocator;

pub const Result = struct { status: i32 = 0, problem: Problem = .no_problem };

/// Carries out the request; blocks until its end. `aborted` is an eventfd.
pub fn perform(exchange: *abi.Exchange, aborted: i32) Result {
    const text = exchange.url.slice();
    const url = Url.parseWithQuery(text) catch return .{ .problem = .unknown_host };
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
        .status => |status| return .{ .status = status },
        .connection => |connection| connection,
    };
    watch.deadline_ns = end_ns;
    watch.lateness = .late;
    var is_reusable = false;
    const result = guard.call(converse, .{ connection, exchange, url, &is_reusable }) orelse
        Result{ .problem = if (connection.secure == null) .malformed else .tls };
    if (is_reusable and result.problem == .no_problem) connections.keep(connection) else connection.close();
    return result;
}

fn converse(connection: *Connection, exchange: *abi.Exchange, url: Url, is_reusable: *bool) Result {
    // A server may answer, and close, before it has read all: its answer counts then.
    const was_written = if (write(connection, exchange, url)) |_| true else |_| false;
    if (!was_written and connection.problem() != .dropped) return .{ .problem = connection.problem() };
    const head = answers.readHead(connection.reader(), exchange, reportHeader) catch |failure| {
        return .{ .problem = problemOf(connection, failure) };
    };
    var buffer: [1024]u8 = undefined;
    var body: answers.Body = .init(connection.reader(), head.framing, &buffer);
    const problem = switch (head.encoding) {
        .identity => deliver(&body.reader, exchange) catch bodyProblem(connection, &body),
        .gzip => unpack(connection, &body, exchange),
        .other => .malformed, // Not what we asked for.
    };
    is_reusable.* = was_written and head.keep_alive and body.isDone() and connection.isEmpty();
    return .{ .status = head.status, .problem = problem };
}

fn reportHeader(exchange: *abi.Exchange, header: answers.Header) void {
    root.kv_exchange_header(exchange, header.name.ptr, @intCast(header.name.len), header.value.ptr, @intCast(header.value.len));
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
    try out.writeAll("\r\naccept-encoding: gzip\r\n");
    if (connection.is_proxied_plain) try connections.writeLogin(out, connection.proxy_login);
    for (exchange.headerSlice()) |header| {
        for ([_][]const u8{ header.name.slice(), ": ", header.value.slice(), "\r\n" }) |part| try out.writeAll(part);
    }
    if (exchange.body.length > 0 or !std.mem.eql(u8, exchange.method.slice(), "GET")) {
        try out.print("content-length: {d}\r\n", .{exchange.body.length});
    }
    try out.writeAll("\r\n");
    try out.writeAll(exchange.body.slice());
    try connection.flush();
}

fn unpack(connection: *Connection, body: *answers.Body, exchange: *abi.Exchange) Problem {
    if (connection.window.len == 0) {
        connection.window = pages.alloc(u8, gzip.window_size) catch return .too_large;
    }
    const is_whole = gzip.unpack(&body.reader, connection.window, exchange, take) catch |failure| return switch (failure) {
        error.ReadFailed => bodyProblem(connection, body),
        // Where only the end of the connection is the body's, it came too early.
        error.EndOfStream => if (body.isDone()) .malformed else .dropped,
        error.Wrong => .malformed,
    };
    return if (is_whole) .no_problem else .aborted;
}

fn take(exchange: *abi.Exchange, piece: []const u8) bool {
    return root.kv_exchange_body(exchange, piece.ptr, @intCast(piece.len));
}

/// Hands the body on, piece by piece. An error: it could not be read to its end.
fn deliver(body: *Io.Reader, exchange: *abi.Exchange) error{ReadFailed}!Problem {
    var piece: [8 * 1024]u8 = undefined;
    while (true) {
        const length = try body.readSliceShort(&piece);
        if (length > 0 and !take(exchange, piece[0..length])) return .aborted;
        if (length < piece.len) break;
    }
    return .no_problem;
}

fn bodyProblem(connection: *const Connection, body: *const answers.Body) Problem {
    return problemOf(connection, body.failure orelse error.ReadFailed);
}

fn problemOf(connection: *const Connection, failure: answers.Error) Problem {
    return switch (failure) {
        error.Dropped => .dropped,
        error.Malformed => .malformed,
        error.ReadFailed => connection.problem(),
    };
}
