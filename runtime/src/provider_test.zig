//! Tests of provider.zig.

const std = @import("std");
const abi = @import("abi.zig");
const provider = @import("provider.zig");
const transport = @import("transport.zig");
const testing = std.testing;

const anthropic: abi.Model = .{};
const openai: abi.Model = .{ .name = .init("gpt"), .provider = .openai, .max_tokens = 7 };
const free_text: abi.Schema = .{ .way = .free_text };

fn callOf(model: *const abi.Model, schema: *const abi.Schema) provider.Call {
    return .{ .model = model, .schema = schema, .prompt = "say \"hi\"\n\x01é", .key = "sk-planted-key", .base_url = provider.officialUrl(model.provider) };
}

fn expectBody(expected: []const u8, call: provider.Call) !void {
    var body: std.ArrayList(u8) = .empty;
    defer body.deinit(testing.allocator);
    try provider.appendBody(&body, testing.allocator, call);
    try testing.expectEqualStrings(expected, body.items);
}

test "what a request says" {
    try expectBody(
        \\{"model":"claude-haiku-5-5","max_tokens":4096,"messages":[{"role":"user","content":"say \"hi\"\n\u0001é"}]}
    , callOf(&anthropic, &free_text));
    try expectBody(
        \\{"model":"gpt","max_completion_tokens":7,"messages":[{"role":"user","content":"say \"hi\"\n\u0001é"}]}
    , callOf(&openai, &free_text));
    const wrapped: abi.Schema = .{ .way = .wrapped, .text = .init("{\"type\":\"object\"}") };
    try expectBody(
        \\{"model":"claude-haiku-5-5","max_tokens":4096,"messages":[{"role":"user","content":"say \"hi\"\n\u0001é"}],"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}
    , callOf(&anthropic, &wrapped));
    try expectBody(
        \\{"model":"gpt","max_completion_tokens":7,"messages":[{"role":"user","content":"say \"hi\"\n\u0001é"}],"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"},"strict":true}}}
    , callOf(&openai, &wrapped));
    const in_prompt: abi.Schema = .{ .way = .in_prompt, .text = .init("{}") };
    try expectBody(
        \\{"model":"gpt","max_completion_tokens":7,"messages":[{"role":"user","content":"say \"hi\"\n\u0001é\n\nAnswer with JSON only, which fits this JSON schema:\n{}"}]}
    , callOf(&openai, &in_prompt));
}

test "where a request goes" {
    const cases = [_][2][]const u8{
        .{ "https://api.anthropic.com", "https://api.anthropic.com/v1/messages" },
        .{ "https://api.anthropic.com/", "https://api.anthropic.com/v1/messages" },
        .{ "http://localhost:8080/v1", "http://localhost:8080/v1/messages" },
        .{ "HTTP://LocalHost:80/Gate/v1//", "http://localhost/Gate/v1/messages" },
    };
    for (cases) |case| {
        var call = callOf(&anthropic, &free_text);
        call.base_url = case[0];
        var url: std.ArrayList(u8) = .empty;
        defer url.deinit(testing.allocator);
        try provider.appendUrl(&url, testing.allocator, call);
        try testing.expectEqualStrings(case[1], url.items);
    }
}

fn read(arena: *std.heap.ArenaAllocator, model: *const abi.Model, schema: *const abi.Schema, status: i64, body: []const u8) !transport.Reply {
    return provider.read(arena.allocator(), callOf(model, schema), .{ .status = status, .problem = .no_problem, .body = body });
}

fn expectAnswer(text: []const u8, stop: transport.Stop, tokens: i64, reply: transport.Reply) !void {
    try testing.expectEqualStrings(text, reply.answer.text);
    try testing.expectEqual(stop, reply.answer.stop);
    try testing.expectEqual(tokens, reply.answer.usage.total());
}

test "what an answer means" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const wrapped: abi.Schema = .{ .way = .wrapped };
    try expectAnswer("ab", .complete, 15, try read(&arena, &anthropic, &free_text, 200,
        \\{"content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"a"},{"text":"b"}],"stop_reason":"end_turn",
        \\"usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":4,"cache_read_input_tokens":8,"service_tier":"x"}}
    ));
    try expectAnswer("{\"answer\":5}", .complete, 24, try read(&arena, &anthropic, &free_text, 200, "{\"content\":[{\"text\":\"{\\\"answer\\\":5}\"}]}"));
    try expectAnswer("5", .complete, 26, try read(&arena, &anthropic, &wrapped, 200, "{\"content\":[{\"text\":\"{\\\"answer\\\": 5 }\"}]}"));
    try expectAnswer("[5]", .complete, 15, try read(&arena, &anthropic, &wrapped, 200, "{\"content\":[{\"text\":\"[5]\"}]}"));
    try expectAnswer("no", .refusal, 14, try read(&arena, &anthropic, &free_text, 200, "{\"content\":[{\"text\":\"no\"}],\"stop_reason\":\"refusal\"}"));
    try expectAnswer("", .cut_off, 12, try read(&arena, &anthropic, &free_text, 200, "{\"stop_reason\":\"max_tokens\"}"));
    try expectAnswer("hi", .complete, 7, try read(&arena, &openai, &free_text, 200,
        \\{"choices":[{"message":{"content":"hi","refusal":null},"finish_reason":"stop"},{"message":{"content":"other"}}],
        \\"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}
    ));
    try expectAnswer("no", .refusal, 14, try read(&arena, &openai, &free_text, 200, "{\"choices\":[{\"message\":{\"content\":null,\"refusal\":\"no\"}}]}"));
    try expectAnswer("h", .cut_off, 13, try read(&arena, &openai, &free_text, 200, "{\"choices\":[{\"message\":{\"content\":\"h\"},\"finish_reason\":\"length\"}]}"));
}

fn expectFailure(expected: []const u8, model: *const abi.Model, reply: transport.Reply) !void {
    var text = try provider.failureText(testing.allocator, model, "", provider.officialUrl(model.provider), reply.failure);
    defer text.deinit(testing.allocator);
    try testing.expectEqualStrings(expected, text.items);
}

const many_letters: [100]u8 = @splat('a');

test "what a failure says" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const said = "{\"type\":\"error\",\"error\":{\"type\":\"x\",\"message\":\"no sk-planted-key!\"}}";
    const cases = [_]struct { i64, []const u8, []const u8 }{
        .{ 401, said, "the key in ANTHROPIC_API_KEY was refused: no [key]!" },
        .{ 401, "", "the key in ANTHROPIC_API_KEY was refused" },
        .{ 403, said, "the key in ANTHROPIC_API_KEY may not use claude-haiku-5-5: no [key]!" },
        .{ 404, said, "there is no model \"claude-haiku-5-5\" at https://api.anthropic.com: no [key]!" },
        .{ 413, "<html>", "the prompt is too large" },
        .{ 418, "{\"error\":\"teapot\"}", "teapot" },
        .{ 418, "{\"message\":\"pot\"}", "pot" },
        .{ 500, "<html>", "HTTP 500" },
        .{ 200, "<html>", "the provider's answer is not JSON: <html>" },
        .{ 200, "\xff\xe4\xb8x", "the provider's answer is not JSON: \u{fffd}\u{fffd}x" },
        .{ 200, &many_letters, "the provider's answer is not JSON: " ++ many_letters[0..80] },
        .{ 200, "{}", "the provider's answer has no text" },
        .{ 200, "{\"content\":\"text\"}", "the provider's answer has no text" },
        .{ 302, "", "HTTP 302" },
    };
    for (cases) |case| try expectFailure(case[2], &anthropic, try read(&arena, &anthropic, &free_text, case[0], case[1]));
    const quota = try read(&arena, &openai, &free_text, 429, "{\"error\":{\"message\":\"m\",\"code\":\"insufficient_quota\"}}");
    try testing.expectEqualStrings("insufficient_quota", quota.failure.error_code);
    const spent = try read(&arena, &anthropic, &free_text, 429, "{\"error\":{\"message\":\"m\",\"details\":{\"error_code\":\"enforced_spend_limit_reached\"}}}");
    try testing.expectEqualStrings("enforced_spend_limit_reached", spent.failure.error_code);
}

test "which keys can be keys" {
    try testing.expect(provider.isKey("sk-1 ~"));
    for ([_][]const u8{ "sk\n", "sk\x7f", "é", "\x00" }) |key| try testing.expect(!provider.isKey(key));
}
