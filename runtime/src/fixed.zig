//! A Float with a given number of decimals (spec 10.float.fixed), rounded exactly: the library of Zig rounds the shortest
//! text that reads back as the Float, which is another number.

const std = @import("std");
const abi = @import("abi.zig");
const textual = @import("text.zig");

const assert = std.debug.assert;

pub const decimals_max = 100;
/// The largest Float has so many digits before its point.
const digits_max = 309 + decimals_max;
const significand_bits = 53;
const exponent_min = -1074;
/// Digits that are multiplied by, and divided off, in one step.
const step_digits = 9;
const step = 1_000_000_000;

/// Appends the digits of a finite Float, of two equally near texts the one whose last digit is even.
pub fn append(text: *abi.Text, value: f64, decimals: usize) void {
    assert(std.math.isFinite(value));
    assert(decimals <= decimals_max);
    const bits: u64 = @bitCast(@abs(value));
    const fraction = bits & ((1 << (significand_bits - 1)) - 1);
    const exponent_bits: i32 = @intCast(bits >> (significand_bits - 1));
    const is_subnormal = exponent_bits == 0;
    const significand = if (is_subnormal) fraction else fraction | 1 << (significand_bits - 1);
    const exponent = exponent_min + if (is_subnormal) 0 else exponent_bits - 1;

    var number = Whole.of(significand);
    for (0..decimals / step_digits) |_| number.multiply(step);
    for (0..decimals % step_digits) |_| number.multiply(10);
    if (exponent > 0) number.shiftLeft(@intCast(exponent)) else number.shiftRightRounded(@intCast(-exponent));

    var buffer: [digits_max + step_digits]u8 = undefined;
    const digits = number.digits(&buffer, decimals + 1);
    if (std.math.signbit(value)) textual.appendByte(text, '-');
    const point = digits.len - decimals;
    textual.append(text, digits[0..point]);
    if (decimals == 0) return;
    textual.appendByte(text, '.');
    textual.append(text, digits[point..]);
}

/// A whole number, large enough for the largest Float times 10^decimals_max.
const Whole = struct {
    limbs: [limb_count]u32 = @splat(0),
    /// No limb from here on holds anything.
    used: usize = 0,

    const limb_count = (1024 + 333 + 31) / 32;

    fn of(value: u64) Whole {
        var number: Whole = .{ .used = 2 };
        number.limbs[0] = @truncate(value);
        number.limbs[1] = @truncate(value >> 32);
        return number;
    }

    fn multiply(number: *Whole, factor: u32) void {
        var carry: u64 = 0;
        for (number.limbs[0..number.used]) |*limb| {
            const product = @as(u64, limb.*) * factor + carry;
            limb.* = @truncate(product);
            carry = product >> 32;
        }
        if (carry != 0) number.extend(@intCast(carry));
    }

    fn extend(number: *Whole, limb: u32) void {
        number.limbs[number.used] = limb;
        number.used += 1;
    }

    fn shiftLeft(number: *Whole, count: usize) void {
        for (0..count / 31) |_| number.multiply(1 << 31);
        number.multiply(@as(u32, 1) << @intCast(count % 31));
    }

    /// Divides by 2^count; from the middle to the even one.
    fn shiftRightRounded(number: *Whole, count: usize) void {
        if (count == 0) return;
        const half = number.bit(count - 1);
        const is_above_half = half and number.holdsAnyBelow(count - 1);
        for (0..number.used) |index| number.limbs[index] = number.limbAt(index * 32 + count);
        if (!half or !(is_above_half or number.bit(0))) return;
        for (number.limbs[0..number.used]) |*limb| {
            limb.* +%= 1;
            if (limb.* != 0) return;
        }
        number.extend(1);
    }

    fn bit(number: *const Whole, place: usize) bool {
        const limb = place / 32;
        return limb < number.used and number.limbs[limb] >> @intCast(place % 32) & 1 != 0;
    }

    fn holdsAnyBelow(number: *const Whole, place: usize) bool {
        const whole_limbs = @min(place / 32, number.used);
        for (number.limbs[0..whole_limbs]) |limb| if (limb != 0) return true;
        if (whole_limbs == number.used) return false;
        const below = (@as(u32, 1) << @intCast(place % 32)) - 1;
        return number.limbs[whole_limbs] & below != 0;
    }

    /// The 32 bits that begin at `place`.
    fn limbAt(number: *const Whole, place: usize) u32 {
        const index = place / 32;
        const low: u64 = if (index < number.used) number.limbs[index] else 0;
        const high: u64 = if (index + 1 < number.used) number.limbs[index + 1] else 0;
        return @truncate((high << 32 | low) >> @intCast(place % 32));
    }

    /// At least `count_min` digits, at the end of the buffer. The number is lost.
    fn digits(number: *Whole, buffer: *[digits_max + step_digits]u8, count_min: usize) []const u8 {
        var start = buffer.len;
        while (number.used > 0) {
            var rest = number.divide();
            for (0..step_digits) |_| {
                start -= 1;
                buffer[start] = '0' + @as(u8, @intCast(rest % 10));
                rest /= 10;
            }
            while (number.used > 0 and number.limbs[number.used - 1] == 0) number.used -= 1;
        }
        while (buffer.len - start > count_min and buffer[start] == '0') start += 1;
        while (buffer.len - start < count_min) {
            start -= 1;
            buffer[start] = '0';
        }
        return buffer[start..];
    }

    /// Divides by `step`, and gives the remainder.
    fn divide(number: *Whole) u32 {
        var rest: u64 = 0;
        var index = number.used;
        while (index > 0) {
            index -= 1;
            const part = rest << 32 | number.limbs[index];
            number.limbs[index] = @intCast(part / step);
            rest = part % step;
        }
        return @intCast(rest);
    }
};

fn expectFixed(expected: []const u8, value: f64, decimals: usize) !void {
    var text: abi.Text = .{};
    append(&text, value, decimals);
    try std.testing.expectEqualStrings(expected, text.slice());
    @import("string.zig").release(textual.finish(&text));
}

test "the exact value is rounded" {
    try expectFixed("2.67", 2.675, 2);
    try expectFixed("0.12", 0.125, 2);
    try expectFixed("0.38", 0.375, 2);
    try expectFixed("10.0", 9.96, 1);
    try expectFixed("-0.0", -0.04, 1);
    try expectFixed("2", 2.5, 0);
    try expectFixed("0", 5e-324, 0);
    try expectFixed("0.1000000000000000055511151231257827021181583404541015625000", 0.1, 58);
    try expectFixed("100000000000000008821361405306422640701865984.00", 1e44, 2);
}

test "the largest and the smallest have room" {
    var text: abi.Text = .{};
    append(&text, -std.math.floatMax(f64), decimals_max);
    append(&text, std.math.floatTrueMin(f64), decimals_max);
    try std.testing.expectEqual(1 + 309 + 1 + 100 + 2 + 100, text.length);
    @import("string.zig").release(textual.finish(&text));
}
