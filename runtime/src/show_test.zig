const std = @import("std");
const abi = @import("abi.zig");
const memory = @import("memory.zig");
const show = @import("show.zig");
const string = @import("string.zig");
const textual = @import("text.zig");

fn expectShown(expected: []const u8, comptime shower: anytype, value: anytype) !void {
    var text: abi.Text = .{};
    shower(&text, value);
    const shown = textual.finish(&text);
    defer string.release(shown);
    try std.testing.expectEqualStrings(expected, shown.slice());
}

test "floats show the shortest text that reads back the same" {
    const cases = [_]struct { f64, []const u8 }{
        .{ 0.1 + 0.2, "0.30000000000000004" },                 .{ 1e21, "1e21" },
        .{ 5e-324, "5e-324" },                                 .{ 1e16, "1e16" },
        .{ 123456789.0, "123456789.0" },                       .{ -0.0, "-0.0" },
        .{ 0.0, "0.0" },                                       .{ 1e-6, "0.000001" },
        .{ 1e-7, "1e-7" },                                     .{ 9007199254740993.0, "9007199254740992.0" },
        .{ 100.0, "100.0" },                                   .{ 1.5e300, "1.5e300" },
        .{ std.math.floatMax(f64), "1.7976931348623157e308" }, .{ -1234.5, "-1234.5" },
        .{ 9999999999999998.0, "9999999999999998.0" },         .{ std.math.nan(f64), "nan" },
        .{ -std.math.nan(f64), "nan" },                        .{ std.math.inf(f64), "inf" },
        .{ -std.math.inf(f64), "-inf" },                       .{ 2.2250738585072014e-308, "2.2250738585072014e-308" },
        .{ 0.1 + 0.7, "0.7999999999999999" },
    };
    @setEvalBranchQuota(10_000);
    for (cases) |case| {
        var x: f64 = case[0];
        _ = &x;
        if (case[0] == 0.1 + 0.2) {
            var tenth: f64 = 0.1;
            _ = &tenth;
            x = tenth + 0.2; // A comptime sum would be exact.
        }
        if (case[1].len == 18 and case[1][2] == '7') {
            var tenth: f64 = 0.1;
            _ = &tenth;
            x = tenth + 0.7;
        }
        try expectShown(case[1], show.float, x);
    }
}

test "ints, durations, instants" {
    try expectShown("0", show.int, 0);
    try expectShown("-9223372036854775808", show.int, std.math.minInt(i64));
    try expectShown("9223372036854775807", show.int, std.math.maxInt(i64));
    try expectShown("90s", show.duration, 90 * std.time.ns_per_s);
    try expectShown("1h", show.duration, 3600 * std.time.ns_per_s);
    try expectShown("1500ms", show.duration, 1500 * std.time.ns_per_ms);
    try expectShown("-5s", show.duration, -5 * std.time.ns_per_s);
    try expectShown("0s", show.duration, 0);
    try expectShown("7d", show.duration, 7 * std.time.ns_per_day);
    try expectShown("3us", show.duration, 3000);
    try expectShown("-9223372036854775808ns", show.duration, std.math.minInt(i64));
    try expectShown("2026-01-01T00:00:00Z", show.instant, 1_767_225_600 * std.time.ns_per_s);
    try expectShown("1970-01-01T00:00:00.001Z", show.instant, std.time.ns_per_ms);
    try expectShown("1970-01-01T00:00:00.000001Z", show.instant, std.time.ns_per_us);
    try expectShown("1969-12-31T23:59:59.999999999Z", show.instant, -1);
    try expectShown("2024-02-29T12:34:56.500Z", show.instant, 1_709_210_096_500 * std.time.ns_per_ms);
    try expectShown("1677-09-21T00:12:43.145224192Z", show.instant, std.math.minInt(i64));
    try expectShown("2262-04-11T23:47:16.854775807Z", show.instant, std.math.maxInt(i64));
}

test "strings inside values are quoted and escaped" {
    try expectShown("\"a\\n\\t\\r\\0\\\\\\\"\\{\\}\\u{1b}\\u{7f}\\u{1}é\"", show.quoted, "a\n\t\r\x00\\\"{}\x1b\x7f\x01é");
}

const int_type: abi.Type = .{ .kind = .int, .size = 8 };
const string_type: abi.Type = .{ .kind = .string, .size = 8, .counted = 1 };
const Pair = extern struct { left: i64, right: *abi.String };
const pair_fields = [_]abi.Field{
    .{ .name = abi.TextView.init("left"), .type = &int_type, .offset = 0 },
    .{ .name = abi.TextView.init("right"), .type = &string_type, .offset = 8 },
};
const pair_type: abi.Type = .{ .kind = .record, .size = 16, .counted = 1, .name = abi.TextView.init("Pair"), .fields = &pair_fields, .field_count = 2 };
const unit_type: abi.Type = .{ .kind = .record, .size = 0, .name = abi.TextView.init("Unit") };
const Choice = extern struct { tag: i32, pair: Pair };
const choice_fields = [_]abi.Field{.{ .name = abi.TextView.init("pair"), .type = &pair_type, .offset = 8 }};
const choice_variants = [_]abi.Variant{
    .{ .name = abi.TextView.init("Nothing") },
    .{ .name = abi.TextView.init("Some"), .fields = &choice_fields, .field_count = 1 },
};
const choice_type: abi.Type = .{ .kind = .sum, .size = 24, .counted = 1, .name = abi.TextView.init("Choice"), .variants = &choice_variants, .variant_count = 2 };

fn expectValue(expected: []const u8, kind: *const abi.Type, value: *const anyopaque) !void {
    var text: abi.Text = .{};
    show.atTop(&text, kind, value);
    const shown = textual.finish(&text);
    defer string.release(shown);
    try std.testing.expectEqualStrings(expected, shown.slice());
}

test "records, sums, arrays and errors" {
    const array_module = @import("array.zig");
    const value_module = @import("value.zig");
    const name = string.create("x");
    var some: Choice = .{ .tag = 1, .pair = .{ .left = 7, .right = name } };
    try expectValue("Some(pair: Pair(left: 7, right: \"x\"))", &choice_type, &some);
    try expectValue("x", &string_type, @ptrCast(&some.pair.right));
    var nothing: Choice = .{ .tag = 0, .pair = undefined };
    try expectValue("Nothing", &choice_type, &nothing);
    try expectValue("Unit()", &unit_type, &nothing);
    const array_type: abi.Type = .{ .kind = .array, .size = 8, .counted = 1, .element = &choice_type };
    var array = array_module.kv_array_new(&choice_type, 2);
    try expectValue("[]", &array_type, @ptrCast(&array));
    const elements: [*]Choice = @ptrCast(@alignCast(array.elements()));
    elements[0] = nothing;
    elements[1] = some;
    array.length = 2;
    try expectValue("[Nothing, Some(pair: Pair(left: 7, right: \"x\"))]", &array_type, @ptrCast(&array));
    try std.testing.expect(value_module.equal(&array_type, @ptrCast(&array), @ptrCast(&array)));
    const error_type: abi.Type = .{ .kind = .@"error", .size = 8, .counted = 1 };
    var held = value_module.kv_error_new(&array_type, @ptrCast(&array));
    try expectValue("[Nothing, Some(pair: Pair(left: 7, right: \"x\"))]", &error_type, @ptrCast(&held));
    value_module.releaseError(held);
    try std.testing.expectEqual(@as(i64, 0), memory.liveBlocks());
}
