//! Tests of the scripted model's reader.

const std = @import("std");
const reader = @import("script_reader.zig");
const testing = std.testing;

fn expectProblem(content: []const u8, expected: []const u8) !void {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var problem: std.ArrayList(u8) = .empty;
    try testing.expectError(error.Invalid, reader.read(arena.allocator(), content, &problem));
    try testing.expectEqualStrings(expected, problem.items);
}

test "what is wrong is named with its place" {
    try expectProblem("{}", "the key \"replies\" is missing");
    try expectProblem("[]", "expected an object");
    try expectProblem("{\"replies\": [], \"foo\": 1}", "unknown key \"foo\"");
    try expectProblem("{\"replies\": 5}", "replies: expected an array of replies");
    try expectProblem("{\"replies\": [{\"statuss\": 1}]}", "replies[0]: unknown key \"statuss\"");
    try expectProblem("{\"replies\": [{\"drop\": true}, {\"status\": \"x\"}]}", "replies[1].status: expected a whole number from 400 to 599");
    try expectProblem("{\"replies\": [{\"status\": 200}]}", "replies[0].status: expected a whole number from 400 to 599");
    try expectProblem("{\"replies\": [{}]}", "replies[0]: needs exactly one of \"answer\", \"text\", \"status\" and \"drop\"");
    try expectProblem("{\"replies\": [{\"text\": \"a\", \"answer\": 1}]}", "replies[0]: needs exactly one of \"answer\", \"text\", \"status\" and \"drop\"");
    try expectProblem("{\"replies\": [{\"drop\": false}]}", "replies[0].drop: expected true");
    try expectProblem("{\"replies\": [{\"text\": 5}]}", "replies[0].text: expected a text");
    try expectProblem("{\"replies\": [{\"text\": \"\", \"times\": 0}]}", "replies[0].times: expected a whole number from 1 up");
    try expectProblem("{\"replies\": [{\"text\": \"\", \"delay\": \"5 s\"}]}", "replies[0].delay: expected a duration such as \"50ms\"");
    try expectProblem("{\"replies\": [{\"text\": \"\", \"input_tokens\": 1.0}]}", "replies[0].input_tokens: expected a whole number from 0 up");
    try expectProblem("{\"replies\": [{\"text\": \"\", \"text\": \"\"}]}", "replies[0].text: the key is given twice");
    try expectProblem("{\"replies\": [{\"text\": \"\", \"message\": \"m\"}]}", "replies[0]: \"message\" goes with \"status\" only");
    try expectProblem("{\"replies\": [], \"then\": \"stop\"}", "then: expected \"repeat_last\" or \"fail\"");
    try expectProblem("{\"replies\": [], \"capacity\": [[0, 5], [0, 6]]}", "capacity: expected a number, or a list of [time, number] with ascending times");
    try expectProblem("{\"replies\": [], \"capacity\": [[1, 5]]}", "capacity: expected 0, or a text such as \"2s\"");
    try expectProblem("{\"replies\": [\n  {\"text\" 5}]}", "no valid JSON at line 2, column 11: a `:` is missing here");
    try expectProblem("{\"replies\": [{\"text\": \"\u{e9}\u{1f600}\"; 1}]}", "no valid JSON at line 1, column 27: a `,` or `}` is missing here");
    try expectProblem("{\"replies\": [{\"answer\": tru}]}", "no valid JSON at line 1, column 28: there is no JSON value here");
    try expectProblem("{\"foo\": 1, \"replies\"", "no valid JSON at line 1, column 21: the text ends too early");
    try expectProblem("{\"replies\": [{\"text\": \"\\ud83d\"}]}", "replies[0].text: half of a surrogate pair is no text");
    try expectProblem("{\"replies\": [{\"\\ud83d\": 1}]}", "replies[0]: half of a surrogate pair is no text");
    try expectProblem("{\"replies\": []} x", "no valid JSON at line 1, column 17: there is more text after the value");
}

fn expectText(script: *reader.Script, prompt: []const u8, expected: ?[]const u8) !void {
    const reply = script.next(prompt) orelse return testing.expectEqual(expected, null);
    try testing.expectEqualStrings(expected.?, reply.reply.answer.text);
}

test "replies in order, `when` first, then the last again" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var problem: std.ArrayList(u8) = .empty;
    var script = try reader.read(arena.allocator(),
        \\{"replies": [{"text": "one"}, {"text": "special", "when": "cat", "delay": "2s"}, {"answer": {"a" : 1.0}, "times": 2},
        \\  {"text": "last", "input_tokens": 1, "output_tokens": 2}], "capacity": [[0, 50], ["2s", 7]]}
    , &problem);
    try expectText(&script, "a", "one");
    try expectText(&script, "a cat", "special");
    try expectText(&script, "a cat", "{\"a\":1.0}");
    try expectText(&script, "a", "{\"a\":1.0}");
    try expectText(&script, "a", "last");
    try expectText(&script, "a cat", "last");
    try testing.expectEqual(@as(i64, 3), script.next("a").?.reply.answer.usage.total());
    try testing.expectEqual(@as(i64, 2 * std.time.ns_per_s), script.replies[1].delay_ns);
    try testing.expectEqual(@as(?u64, 50), script.capacityAt(2 * std.time.ns_per_s - 1));
    try testing.expectEqual(@as(?u64, 7), script.capacityAt(2 * std.time.ns_per_s));
}

test "then fail: nothing after the last reply" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var problem: std.ArrayList(u8) = .empty;
    var script = try reader.read(arena.allocator(), "{\"replies\": [{\"text\": \"one\"}], \"then\": \"fail\"}", &problem);
    try testing.expectEqual(@as(?u64, null), script.capacityAt(0));
    try expectText(&script, "a", "one");
    try expectText(&script, "a", null);
}
