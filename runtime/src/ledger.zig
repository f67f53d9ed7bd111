//! The ledger: one rolling window for each windowed rule of each limit of each agent, and the check of a call against
//! them (spec 8.3). A call is checked rule by rule between `begin` and `commit` or `refuse`, and nothing else runs
//! meanwhile, so that check and record are one step.
//!
//! This file knows nothing of `ask`: a program with limits on its own capabilities does not link the model client.

const std = @import("std");
const abi = @import("abi.zig");
const host = @import("host.zig");
const memory = @import("memory.zig");
const report = @import("report.zig");
const scheduler = @import("scheduler.zig");
const show = @import("show.zig");
const string = @import("string.zig");
const text = @import("text.zig");
const window = @import("window.zig");
const assert = std.debug.assert;

const RuleState = struct {
    rule: *const abi.Rule,
    window: union(enum) { none, int: window.IntWindow, float: window.FloatWindow },
    /// What `commit` will record, once the rule has let the call pass.
    pending: union(enum) { none, int: i64, float: f64 } = .none,

    fn init(rule: *const abi.Rule) RuleState {
        return .{ .rule = rule, .window = switch (rule.kind) {
            .condition => .none,
            .sum_int, .count, .tokens => .{ .int = .init(rule.window_ns) },
            .sum_float => .{ .float = .init(rule.window_ns) },
        } };
    }

    fn deinit(state: *RuleState) void {
        switch (state.window) {
            .none => {},
            inline else => |*each| each.deinit(),
        }
    }

    fn expire(state: *RuleState, now_ns: i64) void {
        switch (state.window) {
            .none => {},
            inline else => |*each| each.expire(now_ns),
        }
    }
};

/// A call between `begin` and `commit` or `refuse`.
const Check = struct { agent: *const abi.Agent, limit: *const abi.Limit, rules: []RuleState, now_ns: i64 };

const Ledger = struct {
    started: bool = false,
    rules: []RuleState = &.{},
    /// The place in `rules` of the first rule of each limit, limits counted through all agents, and of the end.
    limit_starts: []usize = &.{},
    /// The number of the first limit of each agent.
    agent_starts: []usize = &.{},
    check: ?Check = null,
    latest_ns: i64 = 0,
};
var ledger: Ledger = .{};

// ---- The part's beginning and end

pub export fn kv_ledger_part(moment: i32) callconv(.c) void {
    if (moment == abi.moment_start) return start();
    assert(moment == abi.moment_end);
    stop();
}

/// Makes the windows; does nothing when they are made already.
pub fn start() void {
    if (ledger.started) return;
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
            for (limit.ruleSlice()) |*rule| {
                ledger.rules[rule_count] = .init(rule);
                rule_count += 1;
            }
        }
    }
    ledger.limit_starts[limit_count] = rule_count;
    assert(rule_count == ledger.rules.len);
    report.ledger_lines = appendReport;
}

fn stop() void {
    if (!ledger.started) return;
    for (ledger.rules) |*state| state.deinit();
    memory.freeSlice(RuleState, ledger.rules);
    memory.freeSlice(usize, ledger.limit_starts);
    memory.freeSlice(usize, ledger.agent_starts);
    ledger = .{};
}

// ---- One call

pub fn begin(agent: usize, limit: usize) void {
    assert(ledger.started and ledger.check == null);
    const program_agent = &host.program.?.agentSlice()[agent];
    const number = ledger.agent_starts[agent] + limit;
    ledger.check = .{
        .agent = program_agent,
        .limit = &program_agent.limitSlice()[limit],
        .rules = ledger.rules[ledger.limit_starts[number]..ledger.limit_starts[number + 1]],
        .now_ns = now(),
    };
}

/// Windows never see the time go back, whatever a host's clock does.
fn now() i64 {
    ledger.latest_ns = @max(ledger.latest_ns, scheduler.nowMonotonic());
    return ledger.latest_ns;
}

fn ruleState(rule: usize) *RuleState {
    const check = &ledger.check.?;
    const state = &check.rules[rule];
    assert(state.pending == .none);
    state.expire(check.now_ns);
    return state;
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
    const total = state.window.int.sum + counted;
    state.pending = .{ .int = counted };
    return isWithin(state.rule, total) or broken(state.rule);
}

pub fn checkFloat(rule: usize, amount: f64) bool {
    const state = ruleState(rule);
    assert(state.rule.kind == .sum_float);
    // NaN is refused; where nothing is refused (Observe) it must not make every later total NaN.
    const counted: f64 = if (amount > 0) amount else 0;
    const total = state.window.float.sum + counted;
    state.pending = .{ .float = counted };
    const bound = state.rule.bound_float;
    const is_within = if (state.rule.strict != 0) total < bound else total <= bound;
    return (is_within and !std.math.isNan(amount)) or broken(state.rule);
}

pub fn isWithin(rule: *const abi.Rule, total: i128) bool {
    return if (rule.strict != 0) total < rule.bound_int else total <= rule.bound_int;
}

/// What a broken rule answers: false, or in Observe mode a line on stderr and true.
pub fn broken(rule: *const abi.Rule) bool {
    const check = &ledger.check.?;
    if (check.agent.mode == .enforce) return false;
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

pub fn commit() void {
    const check = ledger.check.?;
    for (check.rules) |*state| {
        switch (state.pending) {
            .none => {},
            .int => |amount| state.window.int.add(check.now_ns, amount),
            .float => |amount| state.window.float.add(check.now_ns, amount),
        }
        state.pending = .none;
    }
    ledger.check = null;
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

// ---- For ask: the windows of `tokens` rules, which record when an ask ends

/// The window of a `tokens` rule of the call that is being checked, without what has expired.
pub fn tokensWindow(rule: usize) *const window.IntWindow {
    const state = ruleState(rule);
    assert(state.rule.kind == .tokens);
    return &state.window.int;
}

/// What an ask leaves in the window of a `tokens` rule, given the window at this moment.
pub const Amount = *const fn (context: *const anyopaque, answered: *const window.IntWindow) i64;

/// Records an ask that has ended, in every `tokens` rule of the limit. An amount of 0 leaves no entry.
pub fn recordTokens(agent: usize, limit: usize, context: *const anyopaque, amount: Amount) void {
    begin(agent, limit);
    const check = ledger.check.?;
    for (check.rules) |*state| {
        if (state.rule.kind != .tokens) continue;
        state.expire(check.now_ns);
        const tokens = amount(context, &state.window.int);
        assert(tokens >= 0);
        if (tokens > 0) state.pending = .{ .int = tokens };
    }
    commit();
}

// ---- The report

/// Appends one line for each windowed rule, in order of declaration (spec [report]).
fn appendReport(lines: *abi.Text) void {
    const now_ns = now();
    for (host.program.?.agentSlice(), ledger.agent_starts) |*agent, agent_start| {
        for (agent.limitSlice(), agent_start..) |*limit, number| {
            for (ledger.rules[ledger.limit_starts[number]..ledger.limit_starts[number + 1]]) |*state| {
                state.expire(now_ns);
                if (state.window == .none) continue;
                for ([_]abi.TextView{ agent.name, limit.target, state.rule.text }, [_][]const u8{ " ", " ", ": " }) |name, after| {
                    text.append(lines, name.slice());
                    text.append(lines, after);
                }
                switch (state.window) {
                    .none => unreachable,
                    inline else => |*each| appendWindow(lines, each),
                }
            }
        }
    }
}

fn appendWindow(lines: *abi.Text, each: anytype) void {
    var buffer: [64]u8 = undefined;
    const counts = .{ each.count, if (@TypeOf(each.sum) == f64) "" else each.sum };
    if (@TypeOf(each.sum) == f64) {
        text.append(lines, std.fmt.bufPrint(&buffer, "entries {d} total {s}", counts) catch unreachable);
        show.float(lines, each.sum);
    } else {
        text.append(lines, std.fmt.bufPrint(&buffer, "entries {d} total {d}", counts) catch unreachable);
    }
    text.append(lines, " times [");
    for (0..each.count) |index| {
        if (index > 0) text.append(lines, ", ");
        show.int(lines, each.at(index).time_ns);
    }
    text.append(lines, "]\n");
}

// ---- Exports

pub export fn kv_limit_begin(agent: i64, limit: i64) callconv(.c) void {
    begin(@intCast(agent), @intCast(limit));
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

pub export fn kv_limit_commit() callconv(.c) void {
    commit();
}

pub export fn kv_limit_refuse(rule: i64) callconv(.c) *abi.String {
    return refuse(@intCast(rule));
}
