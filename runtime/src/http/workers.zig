//! A thread for each request under way, on which it waits. A thread that has nothing to do takes the next request, and
//! ends when none comes for a while.
//!
//! A request that gets no thread or no descriptor waits until another one ends, and fails only where there is none.

const std = @import("std");
const linux = std.os.linux;
const abi = @import("../exchange_abi.zig");
const connections = @import("connection.zig");
const futex = @import("../futex.zig");
const requests = @import("request.zig");
const root = @import("../http.zig");
const sockets = @import("socket.zig");

const Exchange = abi.Exchange;
const Problem = abi.Problem;
const pages = std.heap.page_allocator;

const worker_count_max = 256;
/// Left to the program's own files, but never more than a quarter of all.
const spare_descriptor_count_max = 16;
const idle_limit_ns = 10 * std.time.ns_per_s;

/// A thread.
const Worker = struct {
    /// What it carries; null while it has nothing to do. `exchange.host` then is the worker.
    exchange: ?*Exchange,
    /// An eventfd: what it waits for ends. Only while it carries something.
    aborted: i32,
    /// Nothing else was under way when there was no descriptor, so that it tries once more.
    is_last_try: bool = false,
    event: futex.Event = .{},
    next_idle: ?*Worker = null,
};

const Workers = struct {
    lock: futex.Lock = .{},
    count: usize = 0,
    busy_count: usize = 0,
    /// The one that was busy last comes first, so that those not needed end.
    idle: ?*Worker = null,
    /// Requests that no thread, or no descriptor, is free for; then at least one worker is busy.
    waiting: std.ArrayList(*Exchange) = .empty,
};
var workers: Workers = .{};

pub fn send(exchange: *Exchange) void {
    workers.lock.acquire();
    const problem = handOver(exchange);
    workers.lock.release();
    if (problem != .no_problem) root.kv_exchange_end(exchange, 0, @backingInt(problem));
}

fn handOver(exchange: *Exchange) Problem {
    const problem = if (workers.idle) |worker| wakeWorker(worker, exchange) else startWorker(exchange);
    if (problem == .no_problem or workers.busy_count == 0) return problem;
    workers.waiting.append(pages, exchange) catch return problem;
    return .no_problem;
}

fn wakeWorker(worker: *Worker, exchange: *Exchange) Problem {
    worker.aborted = makeEvent() orelse return .no_files;
    workers.idle = worker.next_idle;
    carry(worker, exchange);
    worker.event.set();
    return .no_problem;
}

fn startWorker(exchange: *Exchange) Problem {
    if (workers.count >= workerCountMax()) return .no_threads;
    const worker = pages.create(Worker) catch return .no_threads;
    const event = makeEvent() orelse {
        pages.destroy(worker);
        return .no_files;
    };
    worker.* = .{ .exchange = null, .aborted = event };
    carry(worker, exchange);
    workers.count += 1;
    if (root.spawn(work, worker)) return .no_problem;
    workers.count -= 1;
    workers.busy_count -= 1;
    exchange.host = null;
    closeEvent(worker);
    pages.destroy(worker);
    return .no_threads;
}

/// Each of them needs two descriptors.
fn workerCountMax() usize {
    var limit: linux.rlimit = undefined;
    if (linux.errno(linux.getrlimit(.NOFILE, &limit)) != .SUCCESS) return worker_count_max;
    const spare_count = @min(limit.cur / 4, spare_descriptor_count_max);
    return @intCast(std.math.clamp((limit.cur - spare_count) / 2, 1, worker_count_max));
}

fn makeEvent() ?i32 {
    while (true) {
        const made = linux.eventfd(0, linux.EFD.CLOEXEC | linux.EFD.NONBLOCK);
        if (linux.errno(made) == .SUCCESS) return @intCast(made);
        if (!connections.closeIdle()) return null;
    }
}

fn closeEvent(worker: *Worker) void {
    _ = linux.close(worker.aborted);
    worker.aborted = -1;
}

fn carry(worker: *Worker, exchange: *Exchange) void {
    worker.exchange = exchange;
    exchange.host = worker;
    workers.busy_count += 1;
}

pub fn abort(exchange: *Exchange) void {
    workers.lock.acquire();
    if (exchange.host) |host| {
        const worker: *Worker = @ptrCast(@alignCast(host));
        _ = linux.write(worker.aborted, std.mem.asBytes(&@as(u64, 1)).ptr, @sizeOf(u64));
        return workers.lock.release();
    }
    const index = std.mem.findScalar(*Exchange, workers.waiting.items, exchange);
    if (index) |found| _ = workers.waiting.orderedRemove(found);
    workers.lock.release();
    if (index != null) root.kv_exchange_end(exchange, 0, @backingInt(Problem.aborted));
}

fn work(argument: *anyopaque) callconv(.c) void {
    const worker: *Worker = @ptrCast(@alignCast(argument));
    workers.lock.acquire(); // It is handed over whole.
    var next = worker.exchange;
    workers.lock.release();
    while (next) |exchange| {
        var result = requests.perform(exchange, worker.aborted);
        if (result.problem == .no_files and connections.closeIdle()) result = requests.perform(exchange, worker.aborted);
        next = takeNext(worker, exchange, result) orelse waitForNext(worker);
    }
    pages.destroy(worker);
}

/// Reports the end of what the worker carried, unless that has to wait. What it is to carry next, null when nothing waits,
/// or nothing can be done about it: it is idle then.
fn takeNext(worker: *Worker, ended: *Exchange, result: requests.Result) ?*Exchange {
    workers.lock.acquire();
    if (result.problem == .no_files and workers.busy_count == 1 and !worker.is_last_try) {
        // Others may have ended meanwhile.
        worker.is_last_try = true;
        workers.lock.release();
        return ended;
    }
    worker.is_last_try = false;
    // No abort can reach it any more; one that did is taken back.
    worker.exchange = null;
    ended.host = null;
    workers.busy_count -= 1;
    var abort_count: u64 = 0;
    _ = linux.read(worker.aborted, std.mem.asBytes(&abort_count).ptr, @sizeOf(u64));
    if (result.problem == .no_files and workers.busy_count > 0 and abort_count == 0) {
        if (workers.waiting.insert(pages, 0, ended)) |_| {
            rest(worker);
            workers.lock.release();
            return null;
        } else |_| {}
    }
    if (workers.waiting.items.len > 0) carry(worker, workers.waiting.orderedRemove(0)) else rest(worker);
    const next = worker.exchange;
    workers.lock.release();
    root.kv_exchange_end(ended, result.status, @backingInt(result.problem));
    return next;
}

/// It holds no descriptor then.
fn rest(worker: *Worker) void {
    closeEvent(worker);
    worker.next_idle = workers.idle;
    workers.idle = worker;
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
