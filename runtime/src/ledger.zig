//! The ledger: one rolling window for each windowed rule of each limit of each agent, and the check of a call against
//! them (spec 8.3). A call is checked rule by rule between `begin` and `commit` or `refuse`, and nothing else runs
//! meanwhile, so that check and record are one step.
//!
//! This file knows nothing of `ask`: a program with limits on its own capabilities does not link the model client.

const std = @import("std");
const abi = @import("abi.zig");
const audit = @import("audit.zig");
const allocator = @import("allocator.zig").runtime;
const commits = @import("commits.zig");
const format = @import("state_format.zig");
const host = @import("host.zig");
const journal = @import("journal.zig");
const memory = @import("memory.zig");
const report = @import("report.zig");
const scheduler = @import("scheduler.zig");
const show = @import("show.zig");
const string = @import("string.zig");
const text = @import("text.zig");
const windows = @import("windows.zig");
const assert = std.debug.assert;

const RuleState = struct {
    rule: *const abi.Rule,
    /// Null for a condition, and for a rule with a key before its key is known.
    window: ?*windows.Window = null,
    /// What `commit` will record, once the rule has let the call pass.
    pending: union(enum) { none, entry: windows.Amount, reserve: i64 } = .none,
};

/// A call between `begin` and `commit` or `refuse`.
const Check = struct {
    agent: *const abi.Agent,
    limit: *const abi.Limit,
    agent_number: usize,
    limit_number: usize,
    rules: []RuleState,
    now_ns: i64,
};

pub const Ledger = struct {
    started: bool = false,
    rules: []RuleState = &.{},
    /// The place in `rules` of the first rule of each limit, limits counted through all agents, and of the end.
    limit_starts: []usize = &.{},
    /// The number of the first limit of each agent.
    agent_starts: []usize = &.{},
    check: ?Check = null,
    latest_ns: i64 = 0,
    table: windows.Table = .{},
    has_keys: bool = false,
    /// Of the call that is being committed.
    records: std.ArrayList(journal.Record) = .empty,
};
pub var ledger: Ledger = .{};

pub fn table() *windows.Table {
    return &ledger.table;
}

// ---- The part's beginning and end

pub export fn kv_ledger_part(moment: i32) callconv(.c) void {
    if (moment == abi.moment_start) {
        start();
        // Last, when nothing else can keep the program from starting.
        if (host.program.?.model_part == null) audit.start();
        return;
    }
    assert(moment == abi.moment_end);
    audit.stop();
    stop();
}

/// Makes the windows and opens the state file; does nothing when that is done already.
pub fn start() void {
    if (ledger.started) return;
    make();
    report.ledger_lines = appendReport;
    journal.start();
}

/// The windows of the program's rules, empty.
pub fn make() void {
    const agents = host.program.?.agentSlice();
    var limit_count: usize = 0;
    var rule_count: usize = 0;
    for (agents) |*agent| {
        limit_count += agent.limitSlice().len;
        for (agent.limitSlice()) |*limit| rule_count += limit.ruleSlice().len;
    }
    ledger = .{
        .started = true,
        .rules = memory.allocateSlice(RuleState, rule_count),
        .limit_starts = memory.allocateSlice(usize, limit_count + 1),
        .agent_starts = memory.allocateSlice(usize, agents.len),
    };
    limit_count = 0;
    rule_count = 0;
    for (agents, ledger.agent_starts) |*agent, *agent_start| {
        agent_start.* = limit_count;
        for (agent.limitSlice()) |*limit| {
            ledger.limit_starts[limit_count] = rule_count;
            limit_count += 1;
            for (limit.ruleSlice(), 0..) |*rule, index| {
                ledger.rules[rule_count] = .{ .rule = rule, .window = pinnedWindow(agent, limit, index) };
                rule_count += 1;
                if (rule.keyed != 0) ledger.has_keys = true;
            }
        }
    }
    ledger.limit_starts[limit_count] = rule_count;
    assert(rule_count == ledger.rules.len);
}

pub fn stop() void {
    if (!ledger.started) return;
    journal.stop();
    discard();
}

pub fn discard() void {
    ledger.table.deinit();
    ledger.records.deinit(allocator);
    memory.freeSlice(RuleState, ledger.rules);
    memory.freeSlice(usize, ledger.limit_starts);
    memory.freeSlice(usize, ledger.agent_starts);
    ledger = .{};
}

fn pinnedWindow(agent: *const abi.Agent, limit: *const abi.Limit, rule: usize) ?*windows.Window {
    const written = &limit.ruleSlice()[rule];
    if (written.kind == .condition or written.keyed != 0) return null;
    var buffer: RuleTextBuffer = undefined;
    const name = nameOf(agent, limit, rule, &buffer);
    const window = ledger.table.get(&name);
    window.is_pinned = true;
    return window;
}

const RuleTextBuffer = [4096]u8;

/// Agent, target and text name a rule. Of two with one text in one limit, the second is told apart by its number.
fn nameOf(agent: *const abi.Agent, limit: *const abi.Limit, index: usize, buffer: *RuleTextBuffer) format.Name {
    const rules = limit.ruleSlice();
    const rule_text = rules[index].text.slice();
    var occurrence: usize = 1;
    for (rules[0..index]) |*earlier| {
        if (std.mem.eql(u8, earlier.text.slice(), rule_text)) occurrence += 1;
    }
    const shown = if (occurrence == 1) rule_text else std.fmt.bufPrint(buffer, "{s} ({d})", .{ rule_text, occurrence }) catch rule_text;
    return .{
        .agent = agent.name.slice(),
        .target = limit.target.slice(),
        .rule = shown,
        .length_ns = rules[index].window_ns,
        .is_float = rules[index].kind == .sum_float,
    };
}

/// Whether the program has the limit that a window is of, and no such rule in it.
pub fn isChanged(name: *const format.Name) bool {
    var has_limit = false;
    var buffer: RuleTextBuffer = undefined;
    for (host.program.?.agentSlice()) |*agent| {
        for (agent.limitSlice()) |*limit| {
            if (!std.mem.eql(u8, agent.name.slice(), name.agent) or !std.mem.eql(u8, limit.target.slice(), name.target)) continue;
            has_limit = true;
            for (0..limit.ruleSlice().len) |index| {
                const own = nameOf(agent, limit, index, &buffer);
                if (limit.ruleSlice()[index].kind == .condition or !std.mem.eql(u8, own.rule, name.rule)) continue;
                if (own.length_ns == name.length_ns and own.is_float == name.is_float) return false;
            }
        }
    }
    return has_limit;
}

// ---- One call

pub fn begin(agent: usize, limit: usize) void {
    assert(ledger.started and ledger.check == null);
    const program_agent = &host.program.?.agentSlice()[agent];
    const number = ledger.agent_starts[agent] + limit;
    ledger.check = .{
        .agent = program_agent,
        .limit = &program_agent.limitSlice()[limit],
        .agent_number = agent,
        .limit_number = limit,
        .rules = ledger.rules[ledger.limit_starts[number]..ledger.limit_starts[number + 1]],
        .now_ns = now(),
    };
}

/// Windows never see the time go back, whatever a host's clock does.
pub fn now() i64 {
    ledger.latest_ns = @max(ledger.latest_ns, scheduler.nowMonotonic());
    return ledger.latest_ns;
}

fn ruleState(rule: usize) *RuleState {
    const check = &ledger.check.?;
    const state = &check.rules[rule];
    assert(state.pending == .none);
    if (state.window) |window| window.expire(check.now_ns);
    return state;
}

/// The key of the call that is checked, before its rule.
pub fn setKey(rule: usize, key: []const u8) void {
    const check = &ledger.check.?;
    var buffer: RuleTextBuffer = undefined;
    var name = nameOf(check.agent, check.limit, rule, &buffer);
    name.key = key;
    assert(check.rules[rule].rule.keyed != 0);
    check.rules[rule].window = ledger.table.get(&name);
}

pub fn checkCondition(rule: usize, holds: bool) bool {
    const state = ruleState(rule);
    assert(state.rule.kind == .condition);
    return holds or broken(state.rule);
}

/// `sum(…)` of Ints or Durations: a negative amount buys no room, so it is added as 0.
pub fn checkInt(rule: usize, amount: i64) bool {
    const state = ruleState(rule);
    assert(state.rule.kind == .sum_int or state.rule.kind == .count);
    const counted = @max(0, amount);
    state.pending = .{ .entry = .{ .int = counted } };
    return fits(state) or broken(state.rule);
}

pub fn checkFloat(rule: usize, amount: f64) bool {
    const state = ruleState(rule);
    assert(state.rule.kind == .sum_float);
    // NaN is refused; where nothing is refused (Observe) it must not make every later total NaN.
    const counted: f64 = if (amount > 0) amount else 0;
    state.pending = .{ .entry = .{ .float = counted } };
    return (fits(state) and !std.math.isNan(amount)) or broken(state.rule);
}

/// Whether the total with what is pending is within the bound.
fn fits(state: *const RuleState) bool {
    const rule = state.rule;
    switch (state.pending.entry) {
        .int => |amount| return isWithin(rule, state.window.?.amounts.int.total.with(amount)),
        .float => |amount| {
            const total = state.window.?.amounts.float.total.with(amount);
            return if (rule.strict != 0) total < rule.bound_float else total <= rule.bound_float;
        },
    }
}

pub fn isWithin(rule: *const abi.Rule, total: i128) bool {
    return if (rule.strict != 0) total < rule.bound_int else total <= rule.bound_int;
}

/// What a broken rule answers: false, or in Observe mode a line on stderr and true.
pub fn broken(rule: *const abi.Rule) bool {
    const check = &ledger.check.?;
    if (check.agent.mode == .enforce) return false;
    audit.recordBroken(check.agent, check.limit.target.slice(), rule.text.slice());
    var line: abi.Text = .{};
    defer text.drop(&line);
    text.append(&line, "[observe] ");
    text.append(&line, check.agent.name.slice());
    text.append(&line, ": ");
    text.append(&line, check.limit.target.slice());
    text.append(&line, ": limit broken: ");
    text.append(&line, rule.text.slice());
    text.append(&line, "\n");
    host.writeStderr(line.slice());
    return true;
}

/// Records the call in the windows. Its records are valid until the next call.
pub fn commit(reference: u64) []const journal.Record {
    const check = ledger.check.?;
    ledger.records.clearRetainingCapacity();
    for (check.rules, 0..) |*state, rule| {
        switch (state.pending) {
            .none => continue,
            .entry => |amount| state.window.?.add(check.now_ns, amount),
            .reserve => |amount| state.window.?.reservations.append(allocator, .{
                .reference = reference,
                .time_ns = check.now_ns,
                .amount = amount,
                .is_own = true,
            }) catch unreachable,
        }
        ledger.records.append(allocator, .{
            .window = state.window.?,
            .rule = rule,
            .kind = if (state.pending == .entry) .entry else .reserve,
            .time_ns = check.now_ns,
            .amount = if (state.pending == .entry) state.pending.entry else .{ .int = state.pending.reserve },
            .reference = if (state.pending == .entry) 0 else reference,
        }) catch unreachable;
        state.pending = .none;
    }
    ledger.check = null;
    return ledger.records.items;
}

/// Records nothing.
pub fn abandon() void {
    for (ledger.check.?.rules) |*state| state.pending = .none;
    ledger.check = null;
}

/// Records nothing, and answers the reason, owned by the caller.
pub fn refuse(rule: usize) *abi.String {
    const rule_text = ledger.check.?.rules[rule].rule.text.slice();
    abandon();
    const prefix = "limit broken: ";
    const reason = string.allocate(prefix.len + rule_text.len);
    @memcpy(reason.bytes()[0..prefix.len], prefix);
    @memcpy(reason.bytes()[prefix.len..][0..rule_text.len], rule_text);
    return reason;
}

/// A call that was recorded, and whose records were taken back: checks again what it then found, and records it.
/// The reason when a rule refuses it now.
pub fn commitAgain(agent: usize, limit: usize, records: []const journal.Record) union(enum) { records: []const journal.Record, refused: *abi.String } {
    begin(agent, limit);
    const check = &ledger.check.?;
    for (records) |record| {
        check.rules[record.rule].window = record.window;
        const state = ruleState(record.rule);
        state.pending = .{ .entry = record.amount };
        // In Observe mode nothing is refused, and a broken rule has been reported.
        if (check.agent.mode == .enforce and !fits(state)) return .{ .refused = refuse(record.rule) };
    }
    return .{ .records = commit(0) };
}

// ---- For ask: the windows of `tokens` rules, which record when an ask ends

/// What the window of a `tokens` rule of the call that is being checked holds, without what has expired.
pub fn answered(rule: usize) windows.Answered {
    const state = ruleState(rule);
    assert(state.rule.kind == .tokens);
    return state.window.?.answered();
}

/// What `commit` will reserve in the window of a `tokens` rule.
pub fn reserve(rule: usize, amount: i64) void {
    const state = ruleState(rule);
    assert(state.rule.kind == .tokens and amount >= 0);
    state.pending = .{ .reserve = amount };
}

/// What an ask leaves in the window of a `tokens` rule, given the window at this moment.
pub const Amount = *const fn (context: *const anyopaque, found: windows.Answered) i64;

/// Records an ask that has ended, in every `tokens` rule of the limit. An amount of 0 leaves no entry.
pub fn recordTokens(agent: usize, limit: usize, reference: u64, context: *const anyopaque, amount: Amount) void {
    begin(agent, limit);
    const check = ledger.check.?;
    for (check.rules, 0..) |*state, rule| {
        if (state.rule.kind != .tokens) continue;
        const window = state.window.?;
        window.expire(check.now_ns);
        const tokens = amount(context, window.answered());
        assert(tokens >= 0);
        if (tokens > 0) window.add(check.now_ns, .{ .int = tokens });
        if (reference == 0) continue;
        _ = window.removeReservation(reference);
        journal.submitSettled(.{
            .window = window,
            .rule = rule,
            .kind = .settle,
            .time_ns = check.now_ns,
            .amount = .{ .int = tokens },
            .reference = reference,
        });
    }
    ledger.check = null;
}

// ---- The report

/// Appends one line for each windowed rule, in order of declaration (spec [report]).
fn appendReport(lines: *abi.Text) void {
    const now_ns = now();
    for (host.program.?.agentSlice()) |*agent| {
        for (agent.limitSlice()) |*limit| {
            for (limit.ruleSlice(), 0..) |*rule, index| {
                if (rule.kind == .condition) continue;
                var buffer: RuleTextBuffer = undefined;
                const name = nameOf(agent, limit, index, &buffer);
                if (rule.keyed != 0) {
                    appendKeys(lines, &name, rule.text.slice(), now_ns);
                } else {
                    appendLine(lines, ledger.table.get(&name), rule.text.slice(), now_ns);
                }
            }
        }
    }
}

/// A line for each key that a rule's windows hold something of, in the order of the keys.
fn appendKeys(lines: *abi.Text, rule_name: *const format.Name, rule_text: []const u8, now_ns: i64) void {
    var found: std.ArrayList(*windows.Window) = .empty;
    defer found.deinit(allocator);
    for (ledger.table.list.items) |each| {
        const name = each.name();
        if (name.key == null or !std.mem.eql(u8, name.agent, rule_name.agent) or !std.mem.eql(u8, name.target, rule_name.target)) continue;
        if (!std.mem.eql(u8, name.rule, rule_name.rule) or name.length_ns != rule_name.length_ns or name.is_float != rule_name.is_float) continue;
        each.expire(now_ns);
        if (each.count() > 0) found.append(allocator, each) catch unreachable;
    }
    std.mem.sort(*windows.Window, found.items, {}, comesBefore);
    for (found.items) |each| appendLine(lines, each, rule_text, now_ns);
}

fn comesBefore(_: void, left: *windows.Window, right: *windows.Window) bool {
    return std.mem.lessThan(u8, left.name().key.?, right.name().key.?);
}

fn appendLine(lines: *abi.Text, each: *windows.Window, rule_text: []const u8, now_ns: i64) void {
    each.expire(now_ns);
    const name = each.name();
    for ([_][]const u8{ name.agent, " ", name.target, " ", rule_text }) |part| text.append(lines, part);
    if (name.key) |key| {
        text.append(lines, " ");
        show.quoted(lines, key);
    }
    text.append(lines, ": ");
    switch (each.amounts) {
        inline else => |*amounts| appendWindow(lines, amounts),
    }
}

fn appendWindow(lines: *abi.Text, each: anytype) void {
    var buffer: [64]u8 = undefined;
    const total = each.total.value();
    const counts = .{ each.count, if (@TypeOf(total) == f64) "" else total };
    if (@TypeOf(total) == f64) {
        text.append(lines, std.fmt.bufPrint(&buffer, "entries {d} total {s}", counts) catch unreachable);
        show.float(lines, total);
    } else {
        text.append(lines, std.fmt.bufPrint(&buffer, "entries {d} total {d}", counts) catch unreachable);
    }
    text.append(lines, " times [");
    var entries = each.iterate();
    var is_first = true;
    while (entries.next()) |entry| : (is_first = false) {
        if (!is_first) text.append(lines, ", ");
        show.int(lines, entry.time_ns);
    }
    text.append(lines, "]\n");
}

// ---- Exports

pub export fn kv_limit_begin(agent: i64, limit: i64) callconv(.c) void {
    // Records that are not durable yet point to their windows. So do those of a call that is checked again, so it is
    // not done in `begin`.
    if (ledger.has_keys and journal.journal.calls.items.len == 0) ledger.table.sweep(now());
    begin(@intCast(agent), @intCast(limit));
}

pub export fn kv_limit_key(rule: i64, key: *const abi.String) callconv(.c) void {
    setKey(@intCast(rule), key.slice());
}

pub export fn kv_limit_condition(rule: i64, holds: bool) callconv(.c) bool {
    return checkCondition(@intCast(rule), holds);
}

pub export fn kv_limit_sum_int(rule: i64, amount: i64) callconv(.c) bool {
    return checkInt(@intCast(rule), amount);
}

pub export fn kv_limit_sum_float(rule: i64, amount: f64) callconv(.c) bool {
    return checkFloat(@intCast(rule), amount);
}

pub export fn kv_limit_count(rule: i64) callconv(.c) bool {
    return checkInt(@intCast(rule), 1);
}

pub export fn kv_limit_commit(out: *abi.Answer, self: abi.Coroutine) callconv(.c) bool {
    return commits.commitCall(out, self);
}

pub export fn kv_limit_refuse(rule: i64) callconv(.c) *abi.String {
    const check = ledger.check.?;
    const reason = refuse(@intCast(rule));
    audit.recordCall(check.agent, check.limit.target.slice(), reason.slice());
    return reason;
}
