//! The ledger and its journal on a simulated disk with simulated clocks, driven by one seed: processes that start, are killed
//! and share a file; power cuts that keep what they like of what was not synced; disks that fail; steps of UTC. Prints what
//! happened; tests/test_simulator.py checks it against a plain model.
//!
//! Arguments: the first seed, the number of seeds, and 1 to plant a fault (a disk whose sync does nothing).

const std = @import("std");
const linux = std.os.linux;
const abi = @import("abi.zig");
const disk = @import("simulator_disk.zig");
const host = @import("host.zig");
const journal = @import("journal.zig");
const ledger = @import("ledger.zig");
const storage = @import("storage.zig");
const string = @import("string.zig");

pub const panic = std.debug.simple_panic;

const second: i64 = std.time.ns_per_s;
const process_count = 3;
const step_count = 60;
const utc_start_ns: i64 = 1_800_000_000 * second;

const Process = struct {
    is_alive: bool = false,
    ledger: ledger.Ledger = .{},
    journal: journal.Journal = .{},
};

/// A call whose records wait to be durable.
const Call = struct { time_ns: i64, amount: i64, is_open: bool = false };

const World = struct {
    random: std.Random.DefaultPrng,
    true_ns: i64 = 0,
    boot_start_ns: i64 = 0,
    boot: u64 = 1,
    /// How far UTC is ahead of the truth.
    skew_ns: i64 = 0,
    processes: [process_count]Process = @splat(.{}),
    calls: [256]Call = undefined,
    call_count: usize = 0,
    /// Exactly one process, no failures: every verdict is known beforehand.
    is_exact: bool = false,

    fn below(self: *World, limit: u64) u64 {
        return self.random.random().uintLessThan(u64, limit);
    }
};
var world: World = undefined;

const rules = [_]abi.Rule{
    .{ .kind = .count, .text = .init("count <= 5 per 1000s"), .window_ns = 1000 * second, .bound_int = 5 },
    .{ .kind = .sum_int, .text = .init("sum(amount) <= 100 per 300s"), .window_ns = 300 * second, .bound_int = 100 },
};
const limits = [_]abi.Limit{.{ .target = .init("P.f"), .rules = &rules, .rule_count = rules.len }};
const agents = [_]abi.Agent{.{
    .name = .init("A"),
    .model = .{},
    .asks_under_way = .average,
    .mode = .enforce,
    .ai_limit = -1,
    .limits = &limits,
    .limit_count = limits.len,
}};
var call_depth: i64 = 0;
var program: abi.Program = undefined;

// ---- What the runtime sees of the world

fn monotonic(_: ?*anyopaque) callconv(.c) i64 {
    return world.true_ns - world.boot_start_ns;
}

fn utc(_: ?*anyopaque) callconv(.c) i64 {
    return utc_start_ns + world.true_ns + world.skew_ns;
}

fn random(_: ?*anyopaque) callconv(.c) u64 {
    return world.random.random().int(u64);
}

fn write(_: ?*anyopaque, _: i32, _: [*]const u8, _: i64) callconv(.c) bool {
    return true;
}

fn boot() u64 {
    return world.boot;
}

// ---- Processes

fn enter(process: *Process) void {
    ledger.ledger = process.ledger;
    journal.journal = process.journal;
}

fn leave(process: *Process) void {
    process.ledger = ledger.ledger;
    process.journal = journal.journal;
    ledger.ledger = .{};
    journal.journal = .{};
}

fn start(process: *Process) void {
    ledger.ledger = .{};
    journal.journal = .{};
    ledger.make();
    process.is_alive = true;
    const problem = journal.open("state");
    leave(process);
    if (problem) |found| {
        print("P {s} {d}\n", .{ @tagName(found.kind), @backingInt(found.code) });
        kill(process);
    }
}

/// As kill -9 does it: what was not written is gone, what was is in the system's memory.
fn kill(process: *Process) void {
    if (!process.is_alive) return;
    enter(process);
    for (journal.journal.calls.items) |call| {
        if (call.waiter) |waiter| @as(*Call, @ptrCast(@alignCast(waiter.context))).is_open = false;
    }
    journal.discard();
    ledger.discard();
    process.* = .{};
    ledger.ledger = .{};
    journal.journal = .{};
}

fn powerCut() void {
    for (&world.processes) |*process| kill(process);
    disk.powerCut(world.random.random());
    world.boot += 1;
    world.true_ns += @intCast(world.below(400 * @as(u64, @intCast(second))));
    world.boot_start_ns = world.true_ns;
    world.skew_ns = 0;
    disk.fail_after = null;
    // Before anything is done to UTC, some process comes and finds the file.
    start(&world.processes[0]);
}

// ---- Calls

fn attempt(process: *Process) void {
    if (world.call_count == world.calls.len) return;
    enter(process);
    defer leave(process);
    const amount: i64 = @intCast(1 + world.below(40));
    ledger.begin(0, 0);
    if (!ledger.checkInt(0, 1)) return refused(ledger.refuse(0), world.true_ns, amount);
    if (!ledger.checkInt(1, amount)) return refused(ledger.refuse(1), world.true_ns, amount);
    const call = &world.calls[world.call_count];
    world.call_count += 1;
    call.* = .{ .time_ns = world.true_ns, .amount = amount, .is_open = true };
    journal.submit(waiterOf(call), ledger.commit(0));
}

fn waiterOf(call: *Call) journal.Waiter {
    return .{ .context = call, .finish = finish, .undo = undo, .again = again };
}

fn refused(reason: *abi.String, time_ns: i64, amount: i64) void {
    const is_rule = std.mem.startsWith(u8, reason.slice(), "limit broken");
    print("{s} {d} {d}\n", .{ if (is_rule) "N" else "F", time_ns, amount });
    string.release(reason);
}

fn finish(context: *anyopaque, verdict: journal.Verdict) void {
    const call: *Call = @ptrCast(@alignCast(context));
    call.is_open = false;
    switch (verdict) {
        // The call runs: whatever happens from here on, it must not be forgotten.
        .recorded => print("Y {d} {d}\n", .{ call.time_ns, call.amount }),
        .refused => |reason| refused(reason, call.time_ns, call.amount),
        .again => unreachable,
    }
}

fn undo(_: *anyopaque) void {}

fn again(context: *anyopaque, records: []const journal.Record) ?journal.Verdict {
    switch (ledger.commitAgain(0, 0, records)) {
        .refused => |reason| return .{ .refused = reason },
        .records => |found| {
            const call: *Call = @ptrCast(@alignCast(context));
            call.time_ns = world.true_ns; // It is recorded anew, now.
            journal.submit(waiterOf(call), found);
            return null;
        },
    }
}

fn flush(process: *Process) void {
    enter(process);
    journal.flush();
    leave(process);
}

// ---- One seed

fn step() void {
    const process = &world.processes[if (world.is_exact) 0 else @as(usize, @intCast(world.below(process_count)))];
    switch (world.below(20)) {
        0...8 => {
            if (!process.is_alive) start(process);
            if (process.is_alive) attempt(process);
            if (process.is_alive and world.is_exact) flush(process);
        },
        9...11 => if (process.is_alive) flush(process),
        12...14 => world.true_ns += @intCast(world.below(200 * @as(u64, @intCast(second)))),
        15 => kill(process),
        16 => if (!world.is_exact) powerCut(),
        17 => {
            const days: i64 = @intCast(world.below(800));
            world.skew_ns = (days - 400) * 86_400 * second;
        },
        18 => if (!world.is_exact) {
            disk.fail_after = world.below(8);
            disk.fail_with = if (world.below(2) == 0) .IO else .NOSPC;
        },
        19 => disk.fail_after = null,
        else => unreachable,
    }
}

fn simulate(seed: u64) void {
    world = .{ .random = .init(seed), .is_exact = seed % 4 == 0 };
    disk.reset();
    print("S {d} {d}\n", .{ seed, @intFromBool(world.is_exact) });
    // So that a clock cannot go below what was there before the machine.
    world.true_ns = 5000 * second;
    start(&world.processes[0]);
    for (0..step_count) |_| step();
    for (&world.processes) |*process| {
        if (process.is_alive) flush(process);
        kill(process);
    }
}

// ---- Output

var buffer: [64 * 1024]u8 = undefined;
var used: usize = 0;

fn print(comptime format: []const u8, arguments: anytype) void {
    if (buffer.len - used < 256) flushOutput();
    const text = std.fmt.bufPrint(buffer[used..], format, arguments) catch unreachable;
    used += text.len;
}

fn flushOutput() void {
    var done: usize = 0;
    while (done < used) {
        const result = linux.write(1, buffer[done..].ptr, used - done);
        if (linux.errno(result) != .SUCCESS) linux.exit_group(1);
        done += result;
    }
    used = 0;
}

export fn simulate_seeds(first: u64, count: u64, plant: u64) callconv(.c) void {
    program = .{ .main = undefined, .@"resume" = undefined, .call_depth = &call_depth, .agents = &agents, .agent_count = agents.len };
    storage.active = disk.simulated;
    storage.active.boot = boot;
    host.program = &program;
    host.table.monotonic_ns = monotonic;
    host.table.utc_ns = utc;
    host.table.random = random;
    host.table.write = write;
    host.options = .{ .state_file = .init("state") };
    disk.is_sync_planted = plant == 1;
    for (0..count) |index| simulate(first + index);
    flushOutput();
}
