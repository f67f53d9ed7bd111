//! Whether an agent's `limit Ai` lets an ask through, now or later (spec 8.3.tokens to 8.3.observe), and what an ask
//! leaves in the windows when it ends.

const std = @import("std");
const abi = @import("abi.zig");
const host = @import("host.zig");
const journal = @import("journal.zig");
const ledger = @import("ledger.zig");
const memory = @import("memory.zig");
const obstacles = @import("obstacles.zig");
const panic = @import("panic.zig");
const windows = @import("windows.zig");
const assert = std.debug.assert;

/// UnderWay.Largest: an ask takes at most so many tries.
const tries = 3;

/// The asks of one agent that were let through and have not ended.
pub const UnderWay = struct {
    count: u64 = 0,
    /// The sum of their estimates.
    estimate: i128 = 0,
};

/// Indexed by agent.
pub var under_way: []UnderWay = &.{};

pub fn start() void {
    make();
    for (host.program.?.agentSlice()) |*agent| {
        if (agent.ai_limit >= 0) return ledger.start();
    }
}

pub fn make() void {
    under_way = memory.allocateSlice(UnderWay, host.program.?.agentSlice().len);
    for (under_way) |*each| each.* = .{};
}

pub fn stop() void {
    memory.freeSlice(UnderWay, under_way);
    under_way = &.{};
}

pub const Verdict = union(enum) { let_through, wait, denied: *abi.String };

/// One ask as its agent's limit sees it.
pub const Entrant = struct {
    agent: usize,
    limit: usize,
    /// The most that it can take, or, once it goes further than that, that its next send can take.
    estimate: i64,
    is_dry_run: bool,
    /// About what its prompt takes, once it was sent.
    prompt_tokens: i64,
    is_further: bool = false,
    is_under_way: bool = false,
    /// Names what it reserved in the state file; 0 without one.
    reference: u64 = 0,

    pub fn init(agent: usize, prompt_length: i64, is_dry_run: bool) Entrant {
        const program_agent = &host.program.?.agentSlice()[agent];
        return .{
            .agent = agent,
            .limit = @intCast(program_agent.ai_limit),
            .estimate = largestTokens(prompt_length, program_agent.model.max_tokens),
            .prompt_tokens = obstacles.promptTokens(prompt_length),
            .is_dry_run = is_dry_run,
        };
    }

    fn programAgent(entrant: *const Entrant) *const abi.Agent {
        return &host.program.?.agentSlice()[entrant.agent];
    }

    /// Checks the rules from the first on; on `let_through`, the ask is under way, and `recorded` is what the windows
    /// hold of it.
    pub fn enter(entrant: *Entrant, recorded: *[]const journal.Record) Verdict {
        assert(!entrant.is_under_way);
        const agent = entrant.programAgent();
        const others = &under_way[entrant.agent];
        ledger.begin(entrant.agent, entrant.limit);
        for (agent.limitSlice()[entrant.limit].ruleSlice(), 0..) |*rule, index| {
            const passes = switch (rule.kind) {
                .count => entrant.is_further or ledger.checkInt(index, 1),
                .tokens => switch (tokensState(agent, rule, ledger.answered(index), others.*, entrant.estimate)) {
                    .within => true,
                    .broken => ledger.broken(rule),
                    .unknown => {
                        ledger.abandon();
                        return .wait;
                    },
                },
                .condition, .sum_int, .sum_float => panic.internalError("a rule that `limit Ai` does not have"),
            };
            if (!passes) return .{ .denied = ledger.refuse(index) };
        }
        entrant.reserve();
        recorded.* = ledger.commit(entrant.reference);
        others.count += 1;
        others.estimate += entrant.estimate;
        entrant.is_under_way = true;
        return .let_through;
    }

    /// Whether a send of a prompt of so many bytes could make an ask that counts as the most it can take (8.3.largest)
    /// take more than that, having taken `tokens`.
    pub fn exceeds(entrant: *const Entrant, tokens: i64, prompt_length: i64) bool {
        if (!entrant.is_under_way or entrant.is_dry_run) return false;
        const agent = entrant.programAgent();
        return agent.asks_under_way == .largest and tokens +| sendTokens(prompt_length, agent.model.max_tokens) > entrant.estimate;
    }

    /// It leaves with the `tokens` that it took, and is to enter once more, for the next send alone.
    pub fn goFurther(entrant: *Entrant, tokens: i64, prompt_length: i64) void {
        entrant.leave(tokens, false);
        entrant.estimate = sendTokens(prompt_length, entrant.programAgent().model.max_tokens);
        entrant.is_further = true;
    }

    /// Until it tells what it took, an ask counts in the state file as one that was cancelled would.
    fn reserve(entrant: *Entrant) void {
        entrant.reference = 0;
        if (!journal.journal.is_active or entrant.is_dry_run) return;
        entrant.reference = journal.newReference();
        for (entrant.programAgent().limitSlice()[entrant.limit].ruleSlice(), 0..) |*rule, index| {
            if (rule.kind == .tokens) ledger.reserve(index, likelyTokens(entrant, ledger.answered(index)));
        }
    }

    /// What was recorded was taken back.
    pub fn leaveUnrecorded(entrant: *Entrant) void {
        assert(entrant.is_under_way);
        entrant.is_under_way = false;
        const others = &under_way[entrant.agent];
        others.count -= 1;
        others.estimate -= entrant.estimate;
    }

    /// The ask has ended, having taken `tokens`, or was given up while it may still be billed.
    pub fn leave(entrant: *Entrant, tokens: i64, is_abandoned: bool) void {
        entrant.leaveUnrecorded();
        const left: Left = .{ .entrant = entrant, .tokens = tokens, .is_abandoned = is_abandoned };
        ledger.recordTokens(entrant.agent, entrant.limit, entrant.reference, &left, Left.amount);
    }
};

const Left = struct {
    entrant: *const Entrant,
    tokens: i64,
    is_abandoned: bool,

    /// An abandoned ask may still be billed, so its estimate stays. In a dry run nothing was sent.
    fn amount(context: *const anyopaque, answered: windows.Answered) i64 {
        const left: *const Left = @ptrCast(@alignCast(context));
        const way = left.entrant.programAgent().asks_under_way;
        if (!left.is_abandoned or left.entrant.is_dry_run or way == .not_counted) return left.tokens;
        return @max(left.tokens +| left.entrant.prompt_tokens, likelyTokens(left.entrant, answered));
    }
};

/// What an ask counts as whose size will never be known.
fn likelyTokens(entrant: *const Entrant, answered: windows.Answered) i64 {
    if (entrant.programAgent().asks_under_way == .largest or answered.count == 0) return entrant.estimate;
    const count: i128 = @intCast(answered.count);
    // No larger than the largest entry, so it fits.
    return @max(entrant.prompt_tokens, @as(i64, @intCast(@divFloor(answered.sum + count - 1, count))));
}

/// 3 × (the prompt's bytes + max_tokens), or the largest Int where that does not fit: no token is shorter than a byte.
pub fn largestTokens(prompt_length: i64, max_tokens: i64) i64 {
    return sendTokens(prompt_length, max_tokens) *| tries;
}

fn sendTokens(prompt_length: i64, max_tokens: i64) i64 {
    assert(prompt_length >= 0);
    return prompt_length +| @max(0, max_tokens);
}

const TokensState = enum { within, broken, unknown };

fn tokensState(agent: *const abi.Agent, rule: *const abi.Rule, answered: windows.Answered, others: UnderWay, estimate: i64) TokensState {
    const may_wait = agent.mode == .enforce;
    const is_within = switch (agent.asks_under_way) {
        .not_counted => ledger.isWithin(rule, answered.sum),
        .largest => ledger.isWithin(rule, answered.sum + others.estimate + estimate),
        .average => within: {
            if (others.count == 0) break :within ledger.isWithin(rule, answered.sum);
            if (answered.count == 0) {
                if (may_wait) return .unknown;
                break :within ledger.isWithin(rule, answered.sum);
            }
            if (averageIsWithin(rule, answered.sum, answered.count, others.count)) break :within true;
            if (may_wait) return .unknown;
            break :within false;
        },
    };
    return if (is_within) .within else .broken;
}

/// Whether T + U·T/A is within N, without a division: T·(A + U) against N·A. T has up to 127 bits and counts up to 64,
/// so the products need more than 128.
fn averageIsWithin(rule: *const abi.Rule, total: i128, answered_count: u64, under_way_count: u64) bool {
    assert(answered_count > 0 and total >= 0);
    const left = @as(i256, total) * (@as(i256, answered_count) + under_way_count);
    const right = @as(i256, rule.bound_int) * answered_count;
    return if (rule.strict != 0) left < right else left <= right;
}

const testing = std.testing;

test "the largest estimate saturates" {
    try testing.expectEqual(@as(i64, 93), largestTokens(1, 30));
    try testing.expectEqual(@as(i64, std.math.maxInt(i64)), largestTokens(5, std.math.maxInt(i64)));
    try testing.expectEqual(@as(i64, std.math.maxInt(i64)), largestTokens(5, std.math.maxInt(i64) / 2));
}

test "the average is exact" {
    var rule: abi.Rule = .{ .kind = .tokens, .text = .{}, .bound_int = 10 };
    // 7 + 1·7/2 = 10.5; 7 + 1·7/3 = 9.33…; 5 + 1·5/1 = 10
    try testing.expect(!averageIsWithin(&rule, 7, 2, 1));
    try testing.expect(averageIsWithin(&rule, 7, 3, 1));
    try testing.expect(averageIsWithin(&rule, 5, 1, 1));
    rule.strict = 1;
    try testing.expect(!averageIsWithin(&rule, 5, 1, 1));
    rule.bound_int = std.math.maxInt(i64);
    try testing.expect(!averageIsWithin(&rule, std.math.maxInt(i128), std.math.maxInt(u64), std.math.maxInt(u64)));
    rule.bound_int = -1;
    try testing.expect(!averageIsWithin(&rule, 0, 1, 1));
}
