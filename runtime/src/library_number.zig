//! The library's functions on numbers (spec 10.int, 10.float): one export for each row of
//! `compiler/kavachc/ir/library.py`. What a processor or a libm may round in its own way is not here.

const std = @import("std");
const abi = @import("abi.zig");
const fixed = @import("fixed.zig");
const panic = @import("panic.zig");
const show = @import("show.zig");
const textual = @import("text.zig");
const trace = @import("trace.zig");
const OptionalInt = @import("library_string.zig").OptionalInt;

/// From here on every Float is a whole number.
const whole_from: f64 = 1 << 52;

pub fn panicOverflow(site: ?*const abi.Site, caller: ?*const abi.Caller) noreturn {
    @branchHint(.cold);
    panic.panicAt("integer overflow", site, caller);
}

pub fn panicWith(parts: []const []const u8, numbers: []const i64, site: ?*const abi.Site, caller: ?*const abi.Caller) noreturn {
    @branchHint(.cold);
    trace.stand(site, caller);
    var message: abi.Text = .{};
    for (parts, 0..) |part, index| {
        textual.append(&message, part);
        if (index < numbers.len) show.int(&message, numbers[index]);
    }
    panic.panicAt(message.slice(), site, caller);
}

pub fn panicEmptyRange(low: i64, high: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) noreturn {
    panicWith(&.{ "the range ", "..=", " is empty" }, &.{ low, high }, site, caller);
}

export fn kv_lib_int_abs(value: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) i64 {
    if (value == std.math.minInt(i64)) panicOverflow(site, caller);
    return if (value < 0) -value else value;
}

export fn kv_lib_int_min(value: i64, other: i64) callconv(.c) i64 {
    return @min(value, other);
}

export fn kv_lib_int_max(value: i64, other: i64) callconv(.c) i64 {
    return @max(value, other);
}

export fn kv_lib_int_clamp(value: i64, low: i64, high: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) i64 {
    if (low > high) panicEmptyRange(low, high, site, caller);
    return @max(low, @min(value, high));
}

export fn kv_lib_int_pow(base: i64, exponent: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) i64 {
    if (exponent < 0) panicWith(&.{ "the exponent ", " is negative" }, &.{exponent}, site, caller);
    var result: i64 = 1;
    var square = base;
    var rest = exponent;
    while (true) {
        if (rest & 1 != 0) {
            const product = @mulWithOverflow(result, square);
            if (product[1] != 0) panicOverflow(site, caller);
            result = product[0];
        }
        rest >>= 1;
        if (rest == 0) return result;
        const squared = @mulWithOverflow(square, square);
        if (squared[1] != 0) panicOverflow(site, caller); // It will be a factor: `rest` has a bit left.
        square = squared[0];
    }
}

export fn kv_lib_int_to_float(value: i64) callconv(.c) f64 {
    return @floatFromInt(value);
}

pub export fn kv_lib_guard_count(count: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) i64 {
    if (count < 0) panicWith(&.{ "the count ", " is negative" }, &.{count}, site, caller);
    return count;
}

export fn kv_lib_guard_size(size: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) i64 {
    if (size < 1) panicWith(&.{ "the size ", " is less than 1" }, &.{size}, site, caller);
    return size;
}

export fn kv_lib_float_abs(value: f64) callconv(.c) f64 {
    return @abs(value);
}

export fn kv_lib_float_min(value: f64, other: f64) callconv(.c) f64 {
    return least(value, other);
}

export fn kv_lib_float_max(value: f64, other: f64) callconv(.c) f64 {
    return -least(-value, -other);
}

fn least(left: f64, right: f64) f64 {
    if (std.math.isNan(left) or std.math.isNan(right)) return std.math.nan(f64);
    if (left == right) return if (std.math.signbit(left)) left else right;
    return if (left < right) left else right;
}

fn whole(value: f64) f64 {
    return @floatFromInt(@as(i64, @intFromFloat(value)));
}

fn isLarge(value: f64) bool {
    return !(@abs(value) < whole_from); // So is NaN.
}

export fn kv_lib_float_floor(value: f64) callconv(.c) f64 {
    if (isLarge(value)) return value;
    const cut = whole(value);
    return std.math.copysign(if (cut > value) cut - 1 else cut, value);
}

export fn kv_lib_float_ceil(value: f64) callconv(.c) f64 {
    if (isLarge(value)) return value;
    const cut = whole(value);
    return std.math.copysign(if (cut < value) cut + 1 else cut, value);
}

export fn kv_lib_float_round(value: f64) callconv(.c) f64 {
    if (isLarge(value)) return value;
    const size = @abs(value);
    const cut = whole(size);
    return std.math.copysign(if (size - cut >= 0.5) cut + 1 else cut, value);
}

export fn kv_lib_float_trunc(value: f64) callconv(.c) f64 {
    return if (isLarge(value)) value else std.math.copysign(whole(value), value);
}

export fn kv_lib_float_sqrt(value: f64) callconv(.c) f64 {
    return @sqrt(value);
}

export fn kv_lib_float_is_nan(value: f64) callconv(.c) bool {
    return std.math.isNan(value);
}

export fn kv_lib_float_to_int(value: f64, out: *OptionalInt) callconv(.c) void {
    const limit: f64 = 0x1p63;
    if (value >= -limit and value < limit) {
        out.* = .{ .is_there = 1, .value = @intFromFloat(value) };
    } else out.is_there = 0;
}

export fn kv_lib_float_to_fixed(value: f64, decimals: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) *abi.String {
    if (decimals < 0 or decimals > fixed.decimals_max) {
        panicWith(&.{ "the number of decimals ", " is outside 0..=100" }, &.{decimals}, site, caller);
    }
    var text: abi.Text = .{};
    if (std.math.isFinite(value)) fixed.append(&text, value, @intCast(decimals)) else show.float(&text, value);
    return textual.finish(&text);
}

test "whole numbers keep the sign of zero" {
    try std.testing.expect(std.math.signbit(kv_lib_float_ceil(-0.5)));
    try std.testing.expectEqual(@as(f64, -1), kv_lib_float_floor(-0.5));
    try std.testing.expectEqual(@as(f64, 3), kv_lib_float_round(2.5));
    try std.testing.expectEqual(@as(f64, 0), kv_lib_float_round(0.49999999999999994));
    try std.testing.expectEqual(@as(i64, std.math.minInt(i64)), kv_lib_int_pow(-2, 63, null, null));
}
