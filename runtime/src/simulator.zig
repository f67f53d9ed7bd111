//! The ledger on a simulated disk with simulated clocks, driven by one seed: processes that start, are killed (also in the
//! middle of writing) and share a file; power cuts that keep what they like of what was not synced; disks that fail; steps
//! of UTC; calls, keyed calls, asks that reserve and settle. Prints what happened; tests/test_simulator.py checks it against
//! a plain model.
//!
//! Arguments: the first seed, the number of seeds, and the number of a fault to plant (see `Plant`).

const std = @import("std");
const linux = std.os.linux;
const abi = @import("abi.zig");
const admission = @import("admission.zig");
const disk = @import("simulator_disk.zig");
const host = @import("host.zig");
const journal = @import("journal.zig");
const ledger = @import("ledger.zig");
const program = @import("simulator_program.zig");
const state_file = @import("state_file.zig");
const storage = @import("storage.zig");
const string = @import("string.zig");

pub const panic = std.debug.simple_panic;

const second: i64 = std.time.ns_per_s;
const process_count = 3;
const step_count = 80;
const utc_start_ns: i64 = 1_800_000_000 * second;
const average_agent = 0;

/// Faults that the check must find.
const Plant = enum(u64) {
    none,
    /// A sync does nothing.
    sync_of_files,
    sync_of_folders,
    /// What other processes appended is not read.
    unread_news,
    /// Windows run on a clock that can be set.
    settable_clock,
    /// What other processes recorded is read, but not checked against.
    unchecked_news,
    /// What an ask took is never written.
    lost_settles,
    /// A key's records go to another key's window.
    mixed_keys,
    _,
};
var plant: Plant = .none;

const Process = struct {
    is_alive: bool = false,
    ledger: ledger.Ledger = .{},
    journal: journal.Journal = .{},
    under_way: []admission.UnderWay = &.{},
};

/// A call whose records wait to be durable.
const Call = struct { number: usize, time_ns: i64, amount: i64, key: u64 };

const Ask = struct {
    number: usize,
    process: *Process,
    entrant: admission.Entrant,
    time_ns: i64,
    state: enum { recording, sent, over } = .recording,
};

const World = struct {
    random: std.Random.DefaultPrng,
    true_ns: i64 = 0,
    boot_start_ns: i64 = 0,
    boot: u64 = 1,
    /// How far UTC is ahead of the truth.
    skew_ns: i64 = 0,
    processes: [process_count]Process = @splat(.{}),
    /// Whose ledger and journal are in place.
    current: ?*Process = null,
    calls: [256]Call = undefined,
    call_count: usize = 0,
    asks: [256]Ask = undefined,
    ask_count: usize = 0,
    /// Exactly one process, no failures: every verdict is known beforehand.
    is_exact: bool = false,
    is_nested: bool = false,

    fn below(self: *World, limit: u64) u64 {
        return self.random.random().uintLessThan(u64, limit);
    }

    fn chance(self: *World, one_in: u64) bool {
        return self.below(one_in) == 0;
    }
};
var world: World = undefined;

// ---- What the runtime sees of the world

fn monotonic(_: ?*anyopaque) callconv(.c) i64 {
    const skew_ns = if (plant == .settable_clock) world.skew_ns else 0;
    return world.true_ns - world.boot_start_ns + skew_ns;
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

/// While a process comes to the lock, others have their turn with the file.
fn beforeLock() void {
    if (world.is_exact or world.is_nested or disk.is_dead or !world.chance(8)) return;
    const waiting = world.current.?;
    const other = &world.processes[@intCast(world.below(process_count))];
    if (other == waiting) return;
    world.is_nested = true;
    leave();
    if (other.is_alive) attempt(other);
    if (other.is_alive) flush(other) else start(other);
    enter(waiting);
    world.is_nested = false;
}

// ---- Processes

fn enter(process: *Process) void {
    std.debug.assert(world.current == null);
    world.current = process;
    ledger.ledger = process.ledger;
    journal.journal = process.journal;
    admission.under_way = process.under_way;
}

fn leave() void {
    const process = world.current.?;
    process.ledger = ledger.ledger;
    process.journal = journal.journal;
    process.under_way = admission.under_way;
    world.current = null;
}

fn start(process: *Process) void {
    process.* = .{ .is_alive = true };
    enter(process);
    ledger.make();
    admission.make();
    print("O {d} {d}\n", .{ world.true_ns, world.boot });
    const problem = journal.open("state");
    leave();
    if (disk.is_dead) return kill(process);
    if (problem) |found| {
        print("P {s} {d}\n", .{ @tagName(found.kind), @backingInt(found.code) });
        kill(process);
    }
}

/// As kill -9 does it: what was not written is gone, what was is in the system's memory. Nobody knows whether the
/// calls that wait are in the file.
fn kill(process: *Process) void {
    if (!process.is_alive) return;
    enter(process);
    for (journal.journal.calls.items) |call| if (call.waiter) |waiter| if (waiter.finish == finish) {
        printCall("U", @ptrCast(@alignCast(waiter.context)));
    };
    for (world.asks[0..world.ask_count]) |*each| {
        if (each.process != process or each.state == .over) continue;
        print("K {d} {d}\n", .{ each.number, @intFromBool(each.state == .recording) });
        each.state = .over;
    }
    print("X\n", .{});
    journal.discard();
    ledger.discard();
    admission.stop();
    leave();
    process.* = .{};
    disk.is_dead = false;
    disk.kill_after = null;
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
    defer leave();
    const call = &world.calls[world.call_count];
    call.* = .{ .number = world.call_count, .time_ns = world.true_ns, .amount = @intCast(1 + world.below(40)), .key = world.below(4) };
    if (ledger.ledger.has_keys and journal.journal.calls.items.len == 0) ledger.table().sweep(ledger.now());
    ledger.begin(average_agent, 0);
    if (!ledger.checkInt(0, 1)) return refused(ledger.refuse(0), call);
    if (!ledger.checkInt(1, call.amount)) return refused(ledger.refuse(1), call);
    const key = if (plant == .mixed_keys and world.chance(4)) call.key ^ 1 else call.key;
    ledger.setKey(2, &.{@as(u8, '0') + @as(u8, @intCast(key))});
    if (!ledger.checkInt(2, 1)) return refused(ledger.refuse(2), call);
    world.call_count += 1;
    printCall("I", call);
    journal.submit(.{ .context = call, .finish = finish, .undo = undo, .again = again }, ledger.commit(0));
}

fn printCall(what: []const u8, call: *const Call) void {
    print("{s} {d} {d} {d} {d}\n", .{ what, call.number, call.time_ns, call.amount, call.key });
}

fn refused(reason: *abi.String, call: *const Call) void {
    const is_rule = std.mem.startsWith(u8, reason.slice(), "limit broken");
    printCall(if (disk.is_dead) "U" else if (is_rule) "N" else "F", call);
    string.release(reason);
}

fn finish(context: *anyopaque, verdict: journal.Verdict) void {
    const call: *Call = @ptrCast(@alignCast(context));
    switch (verdict) {
        // The call runs: whatever happens from here on, it must not be forgotten.
        .recorded => printCall(if (disk.is_dead) "U" else "Y", call),
        .refused => |reason| {
            call.time_ns = world.true_ns; // It was checked anew, now.
            refused(reason, call);
        },
        .again => unreachable,
    }
}

fn undo(_: *anyopaque) void {}

fn again(context: *anyopaque, records: []const journal.Record) ?journal.Verdict {
    const call: *Call = @ptrCast(@alignCast(context));
    program.agents[average_agent].mode = if (plant == .unchecked_news) .observe else .enforce;
    defer program.agents[average_agent].mode = .enforce;
    switch (ledger.commitAgain(average_agent, 0, records)) {
        .refused => |reason| return .{ .refused = reason },
        .records => |found| {
            call.time_ns = world.true_ns; // It is recorded anew, now.
            printCall("I", call);
            journal.submit(.{ .context = call, .finish = finish, .undo = undo, .again = again }, found);
            return null;
        },
    }
}

// ---- Asks

fn ask(process: *Process) void {
    if (world.ask_count == world.asks.len) return;
    enter(process);
    defer leave();
    const each = &world.asks[world.ask_count];
    const agent: usize = @intCast(world.below(program.agents.len));
    each.* = .{
        .number = world.ask_count,
        .process = process,
        .entrant = .init(agent, @intCast(world.below(10)), false),
        .time_ns = world.true_ns,
    };
    var records: []const journal.Record = &.{};
    switch (each.entrant.enter(&records)) {
        .let_through => {
            world.ask_count += 1;
            printAsk("i", each);
            journal.submit(askWaiter(each), records);
        },
        .wait => printAsk("w", each),
        .denied => |reason| {
            string.release(reason);
            printAsk("r", each);
        },
    }
}

fn askWaiter(each: *Ask) journal.Waiter {
    return .{ .context = each, .finish = askFinish, .undo = askUndo, .again = askAgain };
}

fn printAsk(what: []const u8, each: *const Ask) void {
    const entrant = &each.entrant;
    const values = .{ what, each.number, entrant.agent, each.time_ns, entrant.estimate, reservedBy(each), entrant.prompt_tokens };
    print("{s} {d} {d} {d} {d} {d} {d}\n", values);
}

fn reservedBy(each: *const Ask) i64 {
    const index = ledger.ledger.agent_starts[each.entrant.agent] + each.entrant.limit;
    const window = ledger.ledger.rules[ledger.ledger.limit_starts[index] + program.tokens_rule].window.?;
    for (window.reservations.items) |reserved| if (reserved.reference == each.entrant.reference) return reserved.amount;
    return 0;
}

fn askFinish(context: *anyopaque, verdict: journal.Verdict) void {
    const each: *Ask = @ptrCast(@alignCast(context));
    each.state = .over;
    switch (verdict) {
        .recorded => {
            if (!disk.is_dead) each.state = .sent;
            printAsk(if (disk.is_dead) "u" else "a", each);
        },
        .refused => |reason| {
            const is_rule = std.mem.startsWith(u8, reason.slice(), "limit broken");
            printAsk(if (disk.is_dead) "u" else if (is_rule) "r" else "f", each);
            string.release(reason);
        },
        .again => printAsk("w", each),
    }
}

fn askUndo(context: *anyopaque) void {
    const each: *Ask = @ptrCast(@alignCast(context));
    each.entrant.leaveUnrecorded();
}

fn askAgain(context: *anyopaque, _: []const journal.Record) ?journal.Verdict {
    const each: *Ask = @ptrCast(@alignCast(context));
    each.time_ns = world.true_ns;
    var records: []const journal.Record = &.{};
    switch (each.entrant.enter(&records)) {
        .let_through => {
            journal.submit(askWaiter(each), records);
            return null;
        },
        .wait => return .again,
        .denied => |reason| return .{ .refused = reason },
    }
}

/// One of the process's asks gets its answer, or is cancelled, perhaps before it was sent.
fn endAsk(process: *Process) void {
    const first: usize = @intCast(world.below(@max(1, world.ask_count)));
    for (0..world.ask_count) |offset| {
        const each = &world.asks[(first + offset) % world.ask_count];
        if (each.process != process or each.state == .over) continue;
        const is_cancelled = each.state == .recording or world.chance(3);
        enter(process);
        defer leave();
        const reserved = reservedBy(each);
        if (each.state == .recording) {
            journal.forget(each);
            printAsk("c", each);
        }
        const tokens: i64 = if (is_cancelled) 0 else @intCast(world.below(@intCast(each.entrant.estimate + 1)));
        each.state = .over;
        const settled_before = journal.journal.settled.items.len;
        each.entrant.leave(tokens, is_cancelled);
        const settled = journal.journal.settled.items[settled_before];
        print("e {d} {d} {d} {d} {d} {d}\n", .{ each.number, world.true_ns, tokens, @intFromBool(is_cancelled), settled.amount.int, reserved });
        if (plant == .lost_settles) journal.journal.settled.clearRetainingCapacity();
        return;
    }
}

// ---- One seed

fn flush(process: *Process) void {
    enter(process);
    const file = &journal.journal.file;
    if (plant == .unread_news and file.handle >= 0 and file.end > 0) file.end = disk.sizeOf(file.handle);
    journal.flush();
    if (journal.journal.settled.items.len == 0 and !disk.is_dead) print("D\n", .{});
    leave();
    if (disk.is_dead) kill(process);
}

fn step() void {
    const process = &world.processes[if (world.is_exact) 0 else @as(usize, @intCast(world.below(process_count)))];
    switch (world.below(28)) {
        0...7 => {
            if (!process.is_alive) start(process);
            if (process.is_alive) attempt(process);
            if (process.is_alive and world.is_exact) flush(process);
        },
        8...12 => {
            if (!process.is_alive) start(process);
            if (process.is_alive) ask(process);
            if (process.is_alive and world.is_exact and !world.chance(4)) flush(process);
        },
        13...15 => if (process.is_alive) endAsk(process),
        16...18 => if (process.is_alive) flush(process),
        19...21 => world.true_ns += @intCast(world.below(200 * @as(u64, @intCast(second)))),
        22 => kill(process),
        23 => if (!world.is_exact) powerCut(),
        24 => {
            const days: i64 = @intCast(world.below(800));
            world.skew_ns = (days - 400) * 86_400 * second;
        },
        25 => if (!world.is_exact) {
            disk.fail_after = world.below(8);
            disk.fail_with = if (world.chance(2)) .IO else .NOSPC;
        },
        26 => disk.fail_after = null,
        27 => if (!world.is_exact and process.is_alive) {
            // It dies in the middle of what it does with the file.
            attempt(process);
            disk.kill_after = world.below(12);
            flush(process);
            disk.kill_after = null;
        },
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

pub fn main(init: std.process.Init.Minimal) void {
    var numbers: [3]u64 = @splat(0);
    var arguments = init.args.iterate();
    _ = arguments.next();
    for (&numbers) |*number| number.* = std.fmt.parseInt(u64, arguments.next() orelse "", 10) catch linux.exit_group(2);
    plant = @fromBackingInt(numbers[2]);
    storage.active = disk.simulated;
    storage.active.boot = boot;
    disk.before_lock = beforeLock;
    disk.forgets_files = plant == .sync_of_files;
    disk.forgets_names = plant == .sync_of_folders;
    state_file.rewrite_length_min = 512;
    host.program = &program.program;
    host.table.monotonic_ns = monotonic;
    host.table.utc_ns = utc;
    host.table.random = random;
    host.table.write = write;
    host.options = .{ .state_file = .init("state") };
    for (0..numbers[1]) |index| simulate(numbers[0] + index);
    flushOutput();
}
