//! HTTP requests under way. The host carries them, on threads of its own or of Python's, and reports through the exports
//! here. What it reports is kept in the exchange, in pages of its own: the runtime's memory is the program's thread's only.
//! An exchange that has ended joins a list, from which the program's thread takes it at the end of a round.
//!
//! Nobody waits for an exchange that was abandoned. One that is still under way when the run ends stays where it is, and
//! is freed when a later run, if there is one, finds that it has ended: so its host may report at any time.

const std = @import("std");
const builtin = @import("builtin");
const abi = @import("abi.zig");
const exchange_abi = @import("exchange_abi.zig");
const futex = @import("futex.zig");
const host = @import("host.zig");
const native_threads = @import("native_threads.zig");
const scheduler = @import("scheduler.zig");
const assert = std.debug.assert;

/// Whole pages, which any thread may take and give back.
const pages = std.heap.page_allocator;

/// Headers beyond this are ignored.
const header_bytes_max = 64 * 1024;
const body_bytes_first = 16 * 1024;

pub const Exchange = struct {
    public: abi.Exchange,
    /// Called in the program's thread when it has ended, unless it was abandoned. The callee destroys it.
    completion: *const fn (exchange: *Exchange) void,
    /// Called instead when it was abandoned; frees it.
    destroy: *const fn (exchange: *Exchange) void,
    context: *anyopaque,
    is_abandoned: std.atomic.Value(bool) = .init(false),
    // Written by the host's thread until the end, and read after it:
    status: i64 = 0,
    problem: abi.ExchangeProblem = .no_problem,
    header_bytes: std.ArrayList(u8) = .empty,
    body: std.ArrayList(u8) = .empty,
    is_too_large: bool = false,
    next: ?*Exchange = null,
    /// The number of the run that it belongs to.
    run: u64 = 0,

    /// The value of an answer's header, null when there is none of that name.
    pub fn header(exchange: *const Exchange, name: []const u8) ?[]const u8 {
        var lines = std.mem.splitScalar(u8, exchange.header_bytes.items, '\n');
        while (lines.next()) |line| {
            const colon = std.mem.findScalar(u8, line, ':') orelse continue;
            if (std.ascii.eqlIgnoreCase(line[0..colon], name)) return line[colon + 1 ..];
        }
        return null;
    }

    /// What was received; the rest is its maker's.
    pub fn deinit(exchange: *Exchange) void {
        exchange.header_bytes.deinit(pages);
        exchange.body.deinit(pages);
    }

    pub fn abandon(exchange: *Exchange) void {
        exchange.is_abandoned.store(true, .release);
        host.table.abort.?(host.table.context, &exchange.public);
    }
};

const Ended = struct {
    lock: futex.Lock = .{},
    first: ?*Exchange = null,
    last: ?*Exchange = null,
    /// Whom to wake; null between runs.
    table: ?*const abi.Host = null,
};
var ended: Ended = .{};
var run_number: u64 = 0;

/// Before the first exchange of a run; does nothing when it is done already.
fn start() void {
    if (scheduler.external_stop != null) return;
    if (!builtin.link_libc and !builtin.is_test and host.table.send == null) useNativeHost();
    run_number += 1;
    ended.lock.acquire();
    defer ended.lock.release();
    ended.table = &host.table;
    scheduler.external_wait = wait;
    scheduler.external_stop = stop;
}

extern fn kv_http_begin(services: *const exchange_abi.Services) callconv(.c) void;
extern fn kv_http_send(context: ?*anyopaque, exchange: *abi.Exchange) callconv(.c) void;
extern fn kv_http_abort(context: ?*anyopaque, exchange: *abi.Exchange) callconv(.c) void;

/// Here and not in the native host's table, so that only a program that may send links it.
fn useNativeHost() void {
    kv_http_begin(&native_threads.services);
    host.table.send = kv_http_send;
    host.table.abort = kv_http_abort;
    host.table.wait = native_threads.wait;
    host.table.wake = native_threads.wake;
}

/// The run is over: no exchange wakes the host, whatever is still under way.
fn stop() void {
    ended.lock.acquire();
    ended.table = null;
    ended.lock.release();
    takeEnded();
}

pub fn send(exchange: *Exchange) void {
    start();
    exchange.run = run_number;
    scheduler.external_work_count += 1;
    host.table.send.?(host.table.context, &exchange.public);
}

fn wait(timeout_ns: ?i64) void {
    const is_any = @atomicLoad(?*Exchange, &ended.first, .acquire) != null;
    if (!is_any and timeout_ns != 0) host.table.wait.?(host.table.context, timeout_ns orelse -1);
    takeEnded();
}

fn takeEnded() void {
    if (@atomicLoad(?*Exchange, &ended.first, .acquire) == null) return;
    ended.lock.acquire();
    var next = ended.first;
    @atomicStore(?*Exchange, &ended.first, null, .monotonic);
    ended.last = null;
    ended.lock.release();
    while (next) |exchange| {
        next = exchange.next;
        if (exchange.run == run_number) scheduler.external_work_count -= 1;
        if (exchange.is_abandoned.load(.acquire)) exchange.destroy(exchange) else exchange.completion(exchange);
    }
}

// ---- Exports, which any thread may call

pub export fn kv_exchange_header(public: *abi.Exchange, name: [*]const u8, name_length: i64, value: [*]const u8, value_length: i64) callconv(.c) void {
    const exchange: *Exchange = @fieldParentPtr("public", public);
    const list = &exchange.header_bytes;
    const length: usize = @intCast(name_length + value_length + 2);
    if (list.items.len + length > header_bytes_max) return;
    list.ensureUnusedCapacity(pages, length) catch return;
    for (name[0..@intCast(name_length)]) |byte| list.appendAssumeCapacity(if (byte == '\n') ' ' else byte);
    list.appendAssumeCapacity(':');
    for (value[0..@intCast(value_length)]) |byte| list.appendAssumeCapacity(if (byte == '\n') ' ' else byte);
    list.appendAssumeCapacity('\n');
}

pub export fn kv_exchange_body(public: *abi.Exchange, bytes: [*]const u8, length: i64) callconv(.c) bool {
    const exchange: *Exchange = @fieldParentPtr("public", public);
    if (exchange.is_abandoned.load(.acquire)) return false;
    const piece = bytes[0..@intCast(length)];
    const list = &exchange.body;
    if (piece.len > @as(usize, @intCast(public.body_bytes_max)) - list.items.len or !hasRoom(list, piece.len)) {
        exchange.is_too_large = true;
        return false;
    }
    list.appendSliceAssumeCapacity(piece);
    return true;
}

fn hasRoom(list: *std.ArrayList(u8), length: usize) bool {
    if (list.capacity == 0) list.ensureTotalCapacityPrecise(pages, body_bytes_first) catch return false;
    list.ensureUnusedCapacity(pages, length) catch return false;
    return true;
}

pub export fn kv_exchange_end(public: *abi.Exchange, status: i32, problem: i32) callconv(.c) void {
    const exchange: *Exchange = @fieldParentPtr("public", public);
    assert(exchange.next == null);
    exchange.status = status;
    exchange.problem = if (exchange.is_too_large) .too_large else @fromBackingInt(@intCast(problem));
    ended.lock.acquire();
    // Waking stays under the lock, so that it cannot come after `stop`.
    defer ended.lock.release();
    if (ended.last) |last| last.next = exchange else @atomicStore(?*Exchange, &ended.first, exchange, .release);
    ended.last = exchange;
    if (ended.table) |table| table.wake.?(table.context);
}
