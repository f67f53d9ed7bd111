//! What the simulator's processes run: limits of every kind. tests/test_simulator.py has the same numbers.

const std = @import("std");
const abi = @import("abi.zig");

const second: i64 = std.time.ns_per_s;

const call_rules = [_]abi.Rule{
    .{ .kind = .count, .text = .init("count <= 5 per 1000s"), .window_ns = 1000 * second, .bound_int = 5 },
    .{ .kind = .sum_int, .text = .init("sum(amount) <= 100 per 300s"), .window_ns = 300 * second, .bound_int = 100 },
    .{ .kind = .count, .text = .init("count <= 2 per 700s by key"), .window_ns = 700 * second, .bound_int = 2, .keyed = 1 },
};
const ask_rules = [_]abi.Rule{
    .{ .kind = .count, .text = .init("count <= 7 per 1000s"), .window_ns = 1000 * second, .bound_int = 7 },
    .{ .kind = .tokens, .text = .init("tokens <= 150 per 600s"), .window_ns = 600 * second, .bound_int = 150 },
};
/// In the limit of an agent's asks.
pub const tokens_rule = 1;

const call_limit: abi.Limit = .{ .target = .init("P.f"), .rules = &call_rules, .rule_count = call_rules.len };
const ask_limit: abi.Limit = .{ .target = .init("Ai"), .rules = &ask_rules, .rule_count = ask_rules.len };
const both_limits = [_]abi.Limit{ call_limit, ask_limit };

pub var agents = [_]abi.Agent{
    agent("A", .average, &both_limits),
    agent("B", .largest, both_limits[1..]),
    agent("C", .not_counted, both_limits[1..]),
};

fn agent(name: []const u8, way: abi.UnderWay, limits: []const abi.Limit) abi.Agent {
    return .{
        .name = .init(name),
        .model = .{ .max_tokens = 10 },
        .asks_under_way = way,
        .mode = .enforce,
        .ai_limit = @intCast(limits.len - 1),
        .limits = limits.ptr,
        .limit_count = @intCast(limits.len),
    };
}

pub const program: abi.Program = .{
    .main = undefined,
    .@"resume" = undefined,
    .agents = &agents,
    .agent_count = agents.len,
};
