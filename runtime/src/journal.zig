//! Makes the ledger's records durable: those of one round of the scheduler together, in one frame with one sync, before
//! any of their calls runs (spec 8.3.state-durable). Without a state file there is nothing to do, and nothing waits.
//!
//! Other processes may have appended since a call was checked. So when the file is locked and has news, what this round
//! recorded is taken back, the news are read, and each call is checked again.

const std = @import("std");
const abi = @import("abi.zig");
const allocator = @import("allocator.zig").runtime;
const format = @import("state_format.zig");
const host = @import("host.zig");
const ledger = @import("ledger.zig");
const scheduler = @import("scheduler.zig");
const show = @import("show.zig");
const state_file = @import("state_file.zig");
const storage = @import("storage.zig");
const string = @import("string.zig");
const text = @import("text.zig");
const windows = @import("windows.zig");
const Problem = @import("state_problem.zig").Problem;
const assert = std.debug.assert;

const status_usage = 2;
const status_unsettled = 1;

/// What one rule remembers of a call.
pub const Record = struct {
    window: *windows.Window,
    /// In its limit.
    rule: usize,
    kind: format.ItemKind,
    time_ns: i64,
    amount: windows.Amount,
    reference: u64 = 0,
};

pub const Verdict = union(enum) {
    recorded,
    /// For an ask: it may enter again later.
    again,
    /// The reason, owned by whoever is told.
    refused: *abi.String,
};

/// Who waits for a call's records.
pub const Waiter = struct {
    context: *anyopaque,
    /// The wait is over.
    finish: *const fn (context: *anyopaque, verdict: Verdict) void,
    /// The records were taken back: undoes what else came with them.
    undo: *const fn (context: *anyopaque) void,
    /// Checks anew; null when the call has passed and waits again.
    again: *const fn (context: *anyopaque, records: []const Record) ?Verdict,
};

const Call = struct { waiter: ?Waiter, first: usize, count: usize };

pub const Journal = struct {
    is_active: bool = false,
    file: state_file.StateFile = .{},
    calls: std.ArrayList(Call) = .empty,
    records: std.ArrayList(Record) = .empty,
    /// What asks took that have ended. It is written with the next frame, whatever becomes of that frame's calls.
    settled: std.ArrayList(Record) = .empty,
    is_flushing: bool = false,
    /// Why the last round could not be written.
    problem: ?Problem = null,
    references: u32 = 0,
};
pub var journal: Journal = .{};

// ---- Start and end

/// Opens the state file, if there is to be one; what is wrong with it ends the program.
pub fn start() void {
    journal = .{};
    const path = host.options.state_file.optional() orelse return;
    if (open(path)) |problem| {
        sayProblem(path, problem);
        host.exit(status_usage);
    }
    sayCut();
    sayChanges(path);
    scheduler.round_end = flush;
    host.last_act = settleAtTheEnd;
}

pub fn open(path: []const u8) ?Problem {
    journal.is_active = true;
    const file = &journal.file;
    file.on_wait = sayWait;
    // The clock of virtual time is that of one run of the program.
    const known_boot = if (host.options.virtual_time != 0) 0 else storage.active.boot();
    const boot = if (known_boot != 0) known_boot else host.random() | 1;
    file.reader.process = @truncate(host.random() | 1);
    if (file.open(path, boot, .{ host.random(), host.random() })) |problem| return problem;
    const problem = file.read(ledger.table(), clock());
    if (problem == null) noteBoot();
    if (problem == null and (file.reader.saw_other_boot or file.wantsRewriting())) file.rewrite(ledger.table(), clock());
    file.release();
    return problem;
}

/// The first to come in this run of the machine notes how far UTC is ahead of its clock: whatever is done to UTC later,
/// a later run can tell when these records were made. Where it cannot be written, nothing is lost yet.
fn noteBoot() void {
    const file = &journal.file;
    if (file.reader.offsets.contains(file.reader.boot)) return;
    const now = clock();
    var maker: format.FrameMaker = .{};
    var frame: std.ArrayList(u8) = .empty;
    defer frame.deinit(allocator);
    maker.finish(file.generation, file.end, now, &frame);
    _ = file.append(frame.items);
    file.reader.learn(now);
}

/// The program ends in the middle of a round. What asks took that have ended must be durable: the program knew it.
/// The round's calls were promised nothing yet, and will not run.
fn settleAtTheEnd() void {
    if (journal.is_flushing) return;
    journal.calls.clearRetainingCapacity();
    journal.records.clearRetainingCapacity();
    flush();
    _ = sayUnsettled();
}

/// Whether what asks took could not be written in the end.
fn sayUnsettled() bool {
    const problem = journal.problem orelse return false;
    if (journal.settled.items.len == 0) return false;
    sayProblem(host.options.state_file.slice(), problem);
    host.writeStderr("  note: what the last asks took is not in it: they stay counted with what they reserved\n");
    return true;
}

/// Writes what is left to write.
pub fn stop() void {
    if (!journal.is_active) return;
    flush();
    if (sayUnsettled()) {
        host.last_act = null;
        host.exit(status_unsettled);
    }
    if (journal.file.failed == null and journal.file.acquire() == null) {
        if (!journal.file.hasNews()) journal.file.close();
        journal.file.release();
    }
    discard();
}

/// Forgets everything, as the end of the process would.
pub fn discard() void {
    host.last_act = null;
    journal.file.deinit();
    journal.calls.deinit(allocator);
    journal.records.deinit(allocator);
    journal.settled.deinit(allocator);
    journal = .{};
}

pub fn clock() format.Clock {
    return .{ .boot = journal.file.reader.boot, .boot_ns = ledger.now(), .utc_ns = scheduler.nowUtc() };
}

pub fn newReference() u64 {
    journal.references += 1;
    return @as(u64, journal.file.reader.process) << 32 | journal.references;
}

// ---- The calls of a round

/// The windows have recorded a call already; the waiter hears when that is durable.
pub fn submit(waiter: Waiter, records: []const Record) void {
    assert(journal.is_active);
    journal.calls.append(allocator, .{ .waiter = waiter, .first = journal.records.items.len, .count = records.len }) catch unreachable;
    journal.records.appendSlice(allocator, records) catch unreachable;
}

pub fn submitSettled(record: Record) void {
    journal.settled.append(allocator, record) catch unreachable;
}

/// The waiter is no more; what was recorded for it stays.
pub fn forget(context: *anyopaque) void {
    for (journal.calls.items) |*call| {
        if (call.waiter) |waiter| {
            if (waiter.context == context) call.waiter = null;
        }
    }
}

/// At the end of a round: all that it recorded becomes durable, and its calls go on.
pub fn flush() void {
    if (journal.calls.items.len == 0 and journal.settled.items.len == 0) return;
    journal.is_flushing = true;
    defer journal.is_flushing = false;
    const file = &journal.file;
    if (file.acquire()) |problem| {
        journal.problem = problem;
        return refuseAll(problem);
    }
    var problem: ?Problem = null;
    if (file.hasNews()) problem = takeNews();
    if (problem == null) problem = write();
    if (problem == null and file.wantsRewriting()) file.rewrite(ledger.table(), clock());
    file.release();
    sayCut();
    journal.problem = problem;
    if (problem) |found| return refuseAll(found);
    const calls = takeCalls();
    defer calls.deinit();
    for (calls.calls) |call| {
        if (call.waiter) |waiter| waiter.finish(waiter.context, .recorded);
    }
}

const Taken = struct {
    calls: []const Call,
    records: []const Record,
    owned_calls: std.ArrayList(Call),
    owned_records: std.ArrayList(Record),

    fn deinit(taken: *const Taken) void {
        var calls = taken.owned_calls;
        var records = taken.owned_records;
        calls.deinit(allocator);
        records.deinit(allocator);
    }

    fn of(taken: *const Taken, call: Call) []const Record {
        return taken.records[call.first..][0..call.count];
    }
};

fn takeCalls() Taken {
    const taken: Taken = .{
        .calls = journal.calls.items,
        .records = journal.records.items,
        .owned_calls = journal.calls,
        .owned_records = journal.records,
    };
    journal.calls = .empty;
    journal.records = .empty;
    return taken;
}

/// Takes the records of a round back, the newest first.
fn takeBack(taken: *const Taken) void {
    var index = taken.records.len;
    while (index > 0) {
        index -= 1;
        const record = taken.records[index];
        switch (record.kind) {
            .entry => record.window.takeBack(record.time_ns),
            .reserve => _ = record.window.removeReservation(record.reference),
            else => unreachable,
        }
    }
    for (taken.calls) |call| {
        if (call.waiter) |waiter| waiter.undo(waiter.context);
    }
}

fn takeNews() ?Problem {
    const taken = takeCalls();
    defer taken.deinit();
    takeBack(&taken);
    const file = &journal.file;
    if (file.read(ledger.table(), clock())) |problem| {
        finishRefused(&taken, problem);
        return problem;
    }
    if (file.is_reread) {
        file.is_reread = false;
        for (journal.settled.items) |record| settleAgain(record);
    }
    for (taken.calls) |call| {
        const waiter = call.waiter orelse continue; // It was never promised anything, and nobody is left to ask for it.
        if (waiter.again(waiter.context, taken.of(call))) |verdict| waiter.finish(waiter.context, verdict);
    }
    return null;
}

/// The file did not know yet that the ask has ended.
fn settleAgain(record: Record) void {
    _ = record.window.removeReservation(record.reference);
    if (record.amount.int > 0) record.window.add(@max(record.time_ns, record.window.newest(record.time_ns)), record.amount);
}

fn write() ?Problem {
    const table = ledger.table();
    const numbered_before = table.numbered.items.len;
    var maker: format.FrameMaker = .{};
    defer maker.deinit();
    const now = clock();
    // An ask that is cancelled in the round in which it was let through reserves first, and settles then.
    for ([_][]const Record{ journal.records.items, journal.settled.items }) |records| {
        for (records) |record| addItem(&maker, table, record, now);
    }
    if (maker.isEmpty()) return null;
    var frame: std.ArrayList(u8) = .empty;
    defer frame.deinit(allocator);
    const file = &journal.file;
    maker.finish(file.generation, file.end, now, &frame);
    if (file.append(frame.items)) |problem| {
        // The names of new windows are not in the file.
        for (table.numbered.items[numbered_before..]) |each| each.number = null;
        table.numbered.shrinkRetainingCapacity(numbered_before);
        return problem;
    }
    file.reader.learn(now);
    journal.settled.clearRetainingCapacity();
    return null;
}

fn addItem(maker: *format.FrameMaker, table: *windows.Table, record: Record, now: format.Clock) void {
    if (record.window.number == null) {
        format.appendBytes(&maker.names, record.window.bytes);
        table.number(record.window);
    }
    maker.addItem(.{
        .window = record.window.number.?,
        .kind = record.kind,
        .utc_ns = record.time_ns +| now.offset(),
        .amount = record.amount.bits(),
        .reference = record.reference,
    });
}

fn refuseAll(problem: Problem) void {
    const taken = takeCalls();
    defer taken.deinit();
    takeBack(&taken);
    finishRefused(&taken, problem);
}

fn finishRefused(taken: *const Taken, problem: Problem) void {
    for (taken.calls) |call| {
        const waiter = call.waiter orelse continue;
        var reason: abi.Text = .{};
        defer text.drop(&reason);
        problem.appendReasonOf(host.options.state_file.slice(), &reason);
        waiter.finish(waiter.context, .{ .refused = string.create(reason.slice()) });
    }
}

// ---- What is said of the file

fn sayProblem(path: []const u8, problem: Problem) void {
    var line: abi.Text = .{};
    defer text.drop(&line);
    text.append(&line, "error: state file ");
    text.append(&line, path);
    text.append(&line, " ");
    problem.appendWhat(&line);
    text.append(&line, "\n  help: ");
    text.append(&line, problem.help());
    text.append(&line, "\n");
    host.writeStderr(line.slice());
}

fn sayCut() void {
    if (journal.file.cut_length == 0) return;
    var line: abi.Text = .{};
    defer text.drop(&line);
    text.append(&line, "note: state file ");
    text.append(&line, host.options.state_file.slice());
    text.append(&line, " ended in a record that was not written to its end: its last ");
    show.int(&line, @intCast(journal.file.cut_length));
    text.append(&line, " bytes were cut\n");
    journal.file.cut_length = 0;
    host.writeStderr(line.slice());
}

fn sayWait() void {
    var line: abi.Text = .{};
    defer text.drop(&line);
    text.append(&line, "note: state file ");
    text.append(&line, host.options.state_file.slice());
    text.append(&line, " is locked by another process; this one waits for it\n");
    host.writeStderr(line.slice());
}

/// Says of each rule that the file knows for a limit of this program, and the program does not, that it still counts
/// (spec 8.3.state-changed).
fn sayChanges(path: []const u8) void {
    // By the rule's name; null for one that has not changed.
    var counts: std.StringArrayHashMapUnmanaged(?usize) = .empty;
    defer {
        for (counts.keys()) |name| allocator.free(name);
        counts.deinit(allocator);
    }
    var rule: std.ArrayList(u8) = .empty;
    defer rule.deinit(allocator);
    for (ledger.table().list.items) |each| {
        if (each.isEmpty()) continue;
        var name = each.name();
        name.key = null;
        rule.clearRetainingCapacity();
        name.append(&rule);
        const found = counts.getOrPut(allocator, rule.items) catch unreachable;
        if (!found.found_existing) {
            found.key_ptr.* = allocator.dupe(u8, rule.items) catch unreachable;
            found.value_ptr.* = if (ledger.isChanged(&name)) 0 else null;
        }
        if (found.value_ptr.*) |*count| count.* += each.count() + each.reservations.items.len;
    }
    for (counts.keys(), counts.values()) |bytes, count| {
        var reader: format.NameReader = .{ .rest = bytes };
        const known = (reader.next() catch unreachable).?;
        if (count) |changed| sayChange(path, &known.name, changed);
    }
}

fn sayChange(path: []const u8, name: *const format.Name, count: usize) void {
    var line: abi.Text = .{};
    defer text.drop(&line);
    const parts = [_][]const u8{ "note: state file ", path, " knows a rule of ", name.agent, " on ", name.target, " that this program does not have: `", name.rule };
    for (parts) |part| text.append(&line, part);
    text.append(&line, "`; a rule with another text starts its own window, and the ");
    show.int(&line, @intCast(count));
    text.append(&line, if (count == 1) " record of this one is kept until it expires\n" else " records of this one are kept until they expire\n");
    host.writeStderr(line.slice());
}
