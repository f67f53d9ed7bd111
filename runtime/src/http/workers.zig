//! A thread for each request under way, on which it waits. A thread that has nothing to do takes the next request, and
//! ends when none comes for a while.

const std = @import("std");
const linux = std.os.linux;
const abi = @import("../exchange_abi.zig");
const connections = @import("connection.zig");
const futex = @import("../futex.zig");
const requests = @import("request.zig");
const root = @import("../http.zig");
const sockets = @import("socket.zig");

const Exchange = abi.Exchange;
const pages = std.heap.page_allocator;

const worker_count_max = 256;
const idle_limit_ns = 10 * std.time.ns_per_s;

/// A thread.
const Worker = struct {
    /// What it carries; null while it has nothing to do. `exchange.host` then is the worker.
    exchange: ?*Exchange,
    /// An eventfd: what it waits for ends.
    aborted: i32,
    event: futex.Event = .{},
    next_idle: ?*Worker = null,
};

const Workers = struct {
    lock: futex.Lock = .{},
    count: usize = 0,
    /// The one that was busy last comes first, so that those not needed end.
    idle: ?*Worker = null,
    /// Requests that no thread is free for.
    waiting: std.ArrayList(*Exchange) = .empty,
};
var workers: Workers = .{};

pub fn send(exchange: *Exchange) void {
    workers.lock.acquire();
    const is_carried = handOver(exchange);
    workers.lock.release();
    if (!is_carried) root.kv_exchange_end(exchange, 0, @backingInt(abi.Problem.unreachable_host));
}

/// False: there is no thread, and no memory to remember it by.
fn handOver(exchange: *Exchange) bool {
    if (workers.idle) |worker| {
        workers.idle = worker.next_idle;
        carry(worker, exchange);
        worker.event.set();
        return true;
    }
    if (workers.count < worker_count_max and startWorker(exchange)) return true;
    if (workers.count == 0) return false;
    workers.waiting.append(pages, exchange) catch return false;
    return true;
}

fn startWorker(exchange: *Exchange) bool {
    const worker = pages.create(Worker) catch return false;
    const made = linux.eventfd(0, linux.EFD.CLOEXEC | linux.EFD.NONBLOCK);
    // Without an event it ends at its time limit, as soon as it can.
    worker.* = .{ .exchange = null, .aborted = if (linux.errno(made) == .SUCCESS) @intCast(made) else -1 };
    carry(worker, exchange);
    if (root.spawn(work, worker)) {
        workers.count += 1;
        return true;
    }
    exchange.host = null;
    destroy(worker);
    return false;
}

fn carry(worker: *Worker, exchange: *Exchange) void {
    worker.exchange = exchange;
    exchange.host = worker;
}

fn destroy(worker: *Worker) void {
    if (worker.aborted >= 0) _ = linux.close(worker.aborted);
    pages.destroy(worker);
}

pub fn abort(exchange: *Exchange) void {
    workers.lock.acquire();
    if (exchange.host) |host| {
        const worker: *Worker = @ptrCast(@alignCast(host));
        if (worker.aborted >= 0) _ = linux.write(worker.aborted, std.mem.asBytes(&@as(u64, 1)).ptr, @sizeOf(u64));
        return workers.lock.release();
    }
    const index = std.mem.findScalar(*Exchange, workers.waiting.items, exchange);
    if (index) |found| _ = workers.waiting.orderedRemove(found);
    workers.lock.release();
    if (index != null) root.kv_exchange_end(exchange, 0, @backingInt(abi.Problem.aborted));
}

fn work(argument: *anyopaque) callconv(.c) void {
    const worker: *Worker = @ptrCast(@alignCast(argument));
    workers.lock.acquire(); // It is handed over whole.
    var next = worker.exchange;
    workers.lock.release();
    while (next) |exchange| {
        const result = requests.perform(exchange, worker.aborted);
        next = takeNext(worker, exchange, result) orelse waitForNext(worker);
    }
    destroy(worker);
}

/// Reports the end of what the worker carried. What it is to carry next, null when nothing waits: it is idle then.
fn takeNext(worker: *Worker, ended: *Exchange, result: requests.Result) ?*Exchange {
    workers.lock.acquire();
    // No abort can reach it any more; one that did is taken back.
    worker.exchange = null;
    ended.host = null;
    var count: u64 = 0;
    if (worker.aborted >= 0) _ = linux.read(worker.aborted, std.mem.asBytes(&count).ptr, @sizeOf(u64));
    if (workers.waiting.items.len > 0) {
        carry(worker, workers.waiting.orderedRemove(0));
    } else {
        worker.next_idle = workers.idle;
        workers.idle = worker;
    }
    const next = worker.exchange;
    workers.lock.release();
    root.kv_exchange_end(ended, result.status, @backingInt(result.problem));
    return next;
}

fn waitForNext(worker: *Worker) ?*Exchange {
    const until_ns = sockets.now() + idle_limit_ns;
    while (true) {
        const left_ns = until_ns - sockets.now();
        if (left_ns > 0 and !worker.event.take(@intCast(left_ns))) continue;
        workers.lock.acquire();
        defer workers.lock.release();
        if (worker.exchange) |exchange| {
            worker.event = .{};
            return exchange;
        }
        if (left_ns > 0) continue;
        leave(worker);
        connections.closeStale();
        return null;
    }
}

fn leave(worker: *Worker) void {
    var link = &workers.idle;
    while (link.*) |each| : (link = &each.next_idle) {
        if (each != worker) continue;
        link.* = worker.next_idle;
        workers.count -= 1;
        return;
    }
    unreachable;
}
