//! Tests of json_check over a small set of descriptors.

const std = @import("std");
const abi = @import("abi.zig");
const check = @import("json_check.zig");
const testing = std.testing;

const int_type: abi.Type = .{ .kind = .int, .size = 8 };
const float_type: abi.Type = .{ .kind = .float, .size = 8 };
const bool_type: abi.Type = .{ .kind = .bool, .size = 1, .alignment = 1 };
const string_type: abi.Type = .{ .kind = .string, .counted = 1, .size = 8 };

fn field(name: []const u8, field_type: *const abi.Type, offset: i64) abi.Field {
    return .{ .name = .init(name), .type = field_type, .offset = offset };
}

const mood_variants = [_]abi.Variant{ .{ .name = .init("Positive") }, .{ .name = .init("Negative") } };
const mood_type: abi.Type = .{
    .kind = .sum,
    .size = 4,
    .alignment = 4,
    .name = .init("Mood"),
    .variants = &mood_variants,
    .variant_count = mood_variants.len,
};

const denied_fields = [_]abi.Field{field("reason", &string_type, 8)};
const outcome_variants = [_]abi.Variant{
    .{ .name = .init("Declined") },
    .{ .name = .init("Denied"), .fields = &denied_fields, .field_count = 1 },
};
const outcome_type: abi.Type = .{
    .kind = .sum,
    .counted = 1,
    .size = 16,
    .name = .init("Outcome"),
    .variants = &outcome_variants,
    .variant_count = outcome_variants.len,
};

const record_fields = [_]abi.Field{
    field("count", &int_type, 0),
    field("price", &float_type, 8),
    field("ok", &bool_type, 16),
    field("name", &string_type, 24),
    field("mood", &mood_type, 32),
    field("outcome", &outcome_type, 40),
};
const record_type: abi.Type = .{
    .kind = .record,
    .counted = 1,
    .size = 56,
    .name = .init("Record"),
    .fields = &record_fields,
    .field_count = record_fields.len,
};
const records_type: abi.Type = .{ .kind = .array, .counted = 1, .size = 8, .element = &record_type };

/// `type Tree { children: [Tree] }`
const tree_fields = [_]abi.Field{field("children", &trees_type, 0)};
const tree_type: abi.Type = .{
    .kind = .record,
    .counted = 1,
    .size = 8,
    .name = .init("Tree"),
    .fields = &tree_fields,
    .field_count = 1,
};
const trees_type: abi.Type = .{ .kind = .array, .counted = 1, .size = 8, .element = &tree_type };

const whole_record =
    \\{"outcome": {"Denied": {"reason": "a\u00e9"}}, "mood": "Negative", "name": "n", "ok": true,
    \\ "price": 1, "count": 2512292042121000001}
;

fn expectNote(expected: *const abi.Type, text: []const u8, note_expected: []const u8) !void {
    var note: std.ArrayList(u8) = .empty;
    defer note.deinit(testing.allocator);
    const is_fit = try check.fits(testing.allocator, expected, text, &note);
    try testing.expectEqualStrings(note_expected, note.items);
    try testing.expectEqual(note_expected.len == 0, is_fit);
}

fn fits(expected: *const abi.Type, text: []const u8) !bool {
    var note: std.ArrayList(u8) = .empty;
    defer note.deinit(testing.allocator);
    return check.fits(testing.allocator, expected, text, &note);
}

test "an Int is exact" {
    const good = [_][]const u8{ "0", "-1", " 5\n", "9223372036854775807", "-9223372036854775808", "2512292042121000001" };
    for (good) |text| try testing.expect(try fits(&int_type, text));
    const bad = [_][]const u8{
        "1.0", "1e2", "\"5\"", "-0", "9223372036854775808", "-9223372036854775809", "1e400", "NaN", "01",
        "+1",  "1 2", "",      " ",  "null",                "true",                 "0x10",  "1,",
    };
    for (bad) |text| try testing.expect(!try fits(&int_type, text));
}

test "a Float is any finite number" {
    for ([_][]const u8{ "1", "1.5", "-0", "1e300", "5e-324", "1e-400" }) |text| try testing.expect(try fits(&float_type, text));
    for ([_][]const u8{ "1e400", "-1e309", "NaN", "Infinity", "\"1\"", ".5" }) |text| try testing.expect(!try fits(&float_type, text));
}

test "a record has each of its fields once, in any order" {
    try expectNote(&record_type, whole_record, "");
    try expectNote(&tree_type, "{}", "answer: the field \"children\" is missing");
    try expectNote(&tree_type, "{\"children\": [], \"children\": []}", "answer: the field \"children\" is given twice");
    try expectNote(&tree_type, "{\"children\": [], \"x\": 1}", "answer: there is no field \"x\"");
    try expectNote(&tree_type, "{\"childr\\u0065n\": []}", "");
    try expectNote(&tree_type, "[]", "answer: expected an object, found []");
    try expectNote(&tree_type, "{\"x\": 1, \"children\"", "answer: not JSON at byte 19: the text ends too early");
    try expectNote(&tree_type, " ", "answer: the text is empty");
    try expectNote(&tree_type, "{\"children\": [{\"children\": 5}]}", "answer.children[0].children: expected an array, found 5");
    try expectNote(&tree_type, "{\"children\": []} x", "answer: not JSON at byte 17: there is more text after the value");
}

test "a variant by its exact name, and the note lists the names" {
    try expectNote(&mood_type, "\"Positive\"", "");
    try expectNote(&mood_type, "\"positive\"", "answer: expected one of \"Positive\", \"Negative\", found \"positive\"");
    try expectNote(&mood_type, "{\"Positive\": {}}", "answer: expected one of \"Positive\", \"Negative\", found {\"Positive\": {}}");
    try expectNote(&outcome_type, "\"Declined\"", "");
    try expectNote(&outcome_type, "{\"Declined\": {}}", "");
    try expectNote(&outcome_type, "{\"Denied\": {\"reason\": \"r\"}}", "");
    try expectNote(&outcome_type, "\"Denied\"", "answer: expected one variant of \"Declined\", \"Denied\", found \"Denied\"");
    try expectNote(&outcome_type, "{\"Denied\": \"r\"}", "answer.Denied: expected an object, found \"r\"");
    try expectNote(&outcome_type, "{\"Denied\": {\"reason\": \"r\"}, \"Declined\": {}}", "answer: the object has more than one key");
    try expectNote(&outcome_type, "{}", "answer: the object has no key that names a variant");
}

test "nesting of 128 fits, deeper does not, and 100,000 does not kill" {
    const allocator = testing.allocator;
    for ([_]usize{ 64, 65, 50_000 }) |depth| {
        var text: std.ArrayList(u8) = .empty;
        defer text.deinit(allocator);
        for (0..depth - 1) |_| try text.appendSlice(allocator, "{\"children\":[");
        try text.appendSlice(allocator, "{\"children\":[]}");
        for (0..depth - 1) |_| try text.appendSlice(allocator, "]}");
        try testing.expectEqual(depth == 64, try fits(&tree_type, text.items));
    }
}

test "an unfit value is quoted only so far" {
    const long: [1000]u8 = @splat('x');
    var note: std.ArrayList(u8) = .empty;
    defer note.deinit(testing.allocator);
    try testing.expect(!try check.fits(testing.allocator, &int_type, "\"" ++ long ++ "\"", &note));
    try testing.expect(note.items.len < 200);
}

test "one enclosing fence is removed, and nothing inside is touched" {
    const cases = [_][2][]const u8{
        .{ "```json\n{\"a\": \"```\"}\n```", "{\"a\": \"```\"}\n" },
        .{ " \n```\n5\n```\n ", "5\n" },
        .{ "5", "5" },
        .{ "\"```\"", "\"```\"" },
        .{ "````json\n5\n````", "````json\n5\n````" },
        .{ "```json\n5", "```json\n5" },
        .{ "```5```", "```5```" },
        .{ "```json\n5\n```\nThat is it.", "```json\n5\n```\nThat is it." },
        .{ "```\n```", "" },
        .{ "```json\r\n5\r\n```", "5\r\n" },
    };
    for (cases) |case| try testing.expectEqualStrings(case[1], check.withoutFence(case[0]));
}

fn isEven(value: *const anyopaque) callconv(.c) i64 {
    const number: *const i64 = @ptrCast(@alignCast(value));
    return @intFromBool(@mod(number.*, 2) == 0);
}

/// The value of an optional Int stands behind its tag.
fn isAbsent(value: *const anyopaque) callconv(.c) i64 {
    const tag: *const i32 = @ptrCast(@alignCast(value));
    return @intFromBool(tag.* == 0);
}

const maybe_type: abi.Type = .{ .kind = .optional, .size = 16, .element = &int_type };
const ruled_fields = [_]abi.Field{
    .{ .name = .init("even"), .type = &int_type, .offset = 0, .rule = .init("even % 2 == 0"), .holds = isEven },
    .{ .name = .init("none"), .type = &maybe_type, .offset = 8, .rule = .init("is none"), .holds = isAbsent },
};
const ruled_type: abi.Type = .{
    .kind = .record,
    .size = 24,
    .name = .init("Ruled"),
    .fields = &ruled_fields,
    .field_count = ruled_fields.len,
};

test "the rules of fields hold" {
    try expectNote(&ruled_type, "{\"even\": 2}", "");
    try expectNote(&ruled_type, "{\"none\": null, \"even\" : -4 }", "");
    try expectNote(&ruled_type, "{\"even\": 3, \"none\": true}", "answer.even: does not hold: even % 2 == 0");
    try expectNote(&ruled_type, "{\"none\": 1, \"even\": 3}", "answer.none: does not hold: is none");
}
