//! What keeps an ask from being sent at all (spec 8.4.key, 8.4.context-budget).

const std = @import("std");
const abi = @import("abi.zig");
const allocator = @import("allocator.zig").runtime;
const http_transport = @import("http_transport.zig");
const provider = @import("provider.zig");
const string = @import("string.zig");

const prompt_bytes_per_token = 4;

/// About how many tokens a prompt of so many bytes has.
pub fn promptTokens(prompt_length: i64) i64 {
    return @divFloor(prompt_length + prompt_bytes_per_token - 1, prompt_bytes_per_token);
}

/// What an ask fails with whose prompt is larger than its model's context budget.
fn beyondBudget(model: *const abi.Model, prompt_length: i64) ?*abi.String {
    const tokens = promptTokens(prompt_length);
    if (model.context_budget == 0 or tokens <= model.context_budget) return null;
    var buffer: [100]u8 = undefined;
    const format = "context budget: about {d} tokens, budget {d}";
    return string.create(std.fmt.bufPrint(&buffer, format, .{ tokens, model.context_budget }) catch unreachable);
}

/// Before anything else: what is missing for a request to a provider, and what makes the prompt too large.
pub fn whyNotAsked(model: *const abi.Model, prompt_length: i64, goes_over_http: bool) ?abi.Answer {
    if (goes_over_http) {
        if (whyNotSent(model)) |answer| return answer;
    }
    const message = beyondBudget(model, prompt_length) orelse return null;
    return .{ .kind = .failed, .status = 0, .text = message };
}

fn whyNotSent(model: *const abi.Model) ?abi.Answer {
    const has_key = http_transport.keyOf(model).len > 0;
    if (!has_key) return .{ .kind = .no_key, .status = 0, .text = string.create(provider.keyVariable(model.provider)) };
    const obstacle = http_transport.obstacle(model) orelse return null;
    defer allocator.free(obstacle);
    return .{ .kind = .failed, .status = 0, .text = string.create(obstacle) };
}
