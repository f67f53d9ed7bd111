//! The exact total of Floats that come and go (spec 8.3.sum): a whole number of smallest doubles, 2^-1074. So it depends
//! on no order, what goes takes all of itself with it, and either is a few additions.

const std = @import("std");
const memory = @import("memory.zig");

const assert = std.debug.assert;

/// A total of amounts that are not negative. It takes memory of its own only while it is of several.
pub const FloatTotal = struct {
    /// The whole of it while `exact` is null.
    single: f64 = 0,
    exact: ?*Exact = null,

    pub fn value(total: *const FloatTotal) f64 {
        return if (total.exact) |exact| exact.rounded() else total.single;
    }

    /// The total with one more amount, rounded once.
    pub fn with(total: *const FloatTotal, amount: f64) f64 {
        const exact = total.exact orelse return total.single + amount;
        exact.add(amount);
        defer exact.remove(amount);
        return exact.rounded();
    }

    pub fn add(total: *FloatTotal, amount: f64) void {
        assert(amount >= 0);
        if (total.exact) |exact| return exact.add(amount);
        if (amount == 0) return;
        if (total.single == 0) return total.set(amount);
        const exact = &memory.allocateSlice(Exact, 1)[0];
        exact.* = .{};
        exact.add(total.single);
        exact.add(amount);
        total.exact = exact;
    }

    pub fn remove(total: *FloatTotal, amount: f64) void {
        if (total.exact) |exact| return exact.remove(amount);
        assert(amount == 0 or amount == total.single);
        if (amount != 0) total.single = 0;
    }

    /// Makes it the total of that amount alone.
    pub fn set(total: *FloatTotal, amount: f64) void {
        if (total.exact) |exact| memory.freeRaw(exact);
        total.* = .{ .single = amount };
    }
};

/// Holds 2^63 times the largest double.
const limb_count = (1024 + 63 + 1074) / 64 + 1;
const significand_bits = 53;

const Exact = struct {
    limbs: [limb_count]u64 = @splat(0),
    /// No limb above it holds anything.
    highest: usize = 0,
    infinite_count: u64 = 0,

    fn add(exact: *Exact, amount: f64) void {
        const placed = Placed.of(amount) orelse {
            exact.infinite_count += 1;
            return;
        };
        var at = placed.limb;
        var carry: u1 = 0;
        for (placed.words) |word| {
            exact.limbs[at], carry = addWithCarry(exact.limbs[at], word, carry);
            at += 1;
        }
        while (carry != 0) : (at += 1) exact.limbs[at], carry = addWithCarry(exact.limbs[at], 0, carry);
        exact.highest = @max(exact.highest, at - 1);
    }

    /// Takes away an amount that was added.
    fn remove(exact: *Exact, amount: f64) void {
        const placed = Placed.of(amount) orelse {
            exact.infinite_count -= 1;
            return;
        };
        var at = placed.limb;
        // A difference is a sum with the complement, and one more.
        var carry: u1 = 1;
        for (placed.words) |word| {
            exact.limbs[at], carry = addWithCarry(exact.limbs[at], ~word, carry);
            at += 1;
        }
        while (carry == 0) : (at += 1) exact.limbs[at], carry = addWithCarry(exact.limbs[at], std.math.maxInt(u64), carry);
        while (exact.highest > 0 and exact.limbs[exact.highest] == 0) exact.highest -= 1;
    }

    /// The nearest double; of two, the even one.
    fn rounded(exact: *const Exact) f64 {
        if (exact.infinite_count > 0) return std.math.inf(f64);
        var highest = exact.highest;
        while (highest > 0 and exact.limbs[highest] == 0) highest -= 1;
        const length = highest * 64 + 64 - @clz(exact.limbs[highest]);
        // So few smallest doubles are written as a double by their number itself.
        if (length <= significand_bits) return @bitCast(exact.limbs[0]);
        const dropped = length - significand_bits;
        const exponent: u64 = dropped + 1;
        if (exponent >= 2047) return std.math.inf(f64);
        const significand = exact.bitsAt(dropped);
        var bits = (exponent - 1 << 52) + significand;
        const is_half = exact.bitsAt(dropped - 1) & 1 == 1;
        // What carries into the exponent is right there, up to infinity.
        if (is_half and (significand & 1 == 1 or exact.hasBelow(dropped - 1))) bits += 1;
        return @bitCast(bits);
    }

    /// The 53 bits from that one on.
    fn bitsAt(exact: *const Exact, place: usize) u64 {
        const limb = place / 64;
        const above: u64 = if (limb + 1 < limb_count) exact.limbs[limb + 1] else 0;
        const both = @as(u128, above) << 64 | exact.limbs[limb];
        return @as(u53, @truncate(both >> @intCast(place % 64)));
    }

    fn hasBelow(exact: *const Exact, place: usize) bool {
        for (exact.limbs[0 .. place / 64]) |limb| if (limb != 0) return true;
        const mask = (@as(u64, 1) << @intCast(place % 64)) - 1;
        return exact.limbs[place / 64] & mask != 0;
    }
};

/// A double as two limbs at its place; null for infinity.
const Placed = struct {
    limb: usize,
    words: [2]u64,

    fn of(amount: f64) ?Placed {
        const bits: u64 = @bitCast(amount);
        const exponent = bits >> 52;
        assert(exponent <= 2047); // It is not negative.
        if (exponent == 2047) return null;
        const fraction: u64 = @as(u52, @truncate(bits));
        const significand = if (exponent == 0) fraction else fraction | 1 << 52;
        const place = @max(exponent, 1) - 1;
        const wide = @as(u128, significand) << @intCast(place % 64);
        return .{ .limb = @intCast(place / 64), .words = .{ @truncate(wide), @truncate(wide >> 64) } };
    }
};

fn addWithCarry(left: u64, right: u64, carry: u1) struct { u64, u1 } {
    const first, const carry_1 = @addWithOverflow(left, right);
    const second, const carry_2 = @addWithOverflow(first, carry);
    return .{ second, carry_1 | carry_2 };
}

const testing = std.testing;
const inf = std.math.inf(f64);
const largest = std.math.floatMax(f64);
const smallest = std.math.floatTrueMin(f64);

fn totalOf(amounts: []const f64) f64 {
    var total: FloatTotal = .{};
    defer total.set(0);
    for (amounts) |amount| total.add(amount);
    return total.value();
}

test "a total is rounded once, to the nearest, of two to the even one" {
    // Between 2^53 and 2^54, doubles are 2 apart.
    try testing.expectEqual(0x1p53 + 2, totalOf(&.{ 0x1p53, 1, 1 }));
    try testing.expectEqual(0x1p53 + 2, totalOf(&.{ 1, 1, 0x1p53 }));
    try testing.expectEqual(0x1p53, totalOf(&.{ 0x1p53, 0.5, 0.5 }));
    try testing.expectEqual(0x1p53 + 4, totalOf(&.{ 0x1p53, 2, 0.5, 0.5 }));
    try testing.expectEqual(0x1p53 + 2, totalOf(&.{ 0x1p53, 1, smallest }));
    try testing.expectEqual(1, totalOf(&@as([10]f64, @splat(0.1))));
    try testing.expectEqual(0x1p54, totalOf(&.{ 0x1p54 - 2, 1, 0.5 }));
}

test "from the smallest to more than the largest" {
    try testing.expectEqual(2 * smallest, totalOf(&.{ smallest, smallest }));
    try testing.expectEqual(0x1p-1022, totalOf(&.{ 0x1p-1022 - smallest, smallest }));
    try testing.expectEqual(0x1p-1022 + smallest, totalOf(&.{ 0x1p-1022, smallest }));
    try testing.expectEqual(0x1p-1021 + 2 * smallest, totalOf(&.{ 0x1p-1021, smallest, smallest }));
    try testing.expectEqual(largest, totalOf(&.{ largest, smallest, 0x1p969 }));
    // Half a step above the largest is infinity.
    try testing.expectEqual(inf, totalOf(&.{ largest, 0x1p969, 0x1p969 }));
    try testing.expectEqual(inf, totalOf(&.{ largest, largest, 1 }));
}

test "what goes takes all of itself with it" {
    var total: FloatTotal = .{};
    defer total.set(0);
    for ([_]f64{ 0.1, largest, inf, largest, smallest, inf, 0, 1e16 }) |amount| total.add(amount);
    try testing.expectEqual(inf, total.value());
    for ([_]f64{ inf, 1e16, inf, 0 }) |amount| total.remove(amount);
    try testing.expectEqual(inf, total.value());
    try testing.expectEqual(inf, total.with(inf));
    total.remove(largest);
    try testing.expectEqual(largest, total.value());
    try testing.expectEqual(largest, total.with(1));
    total.remove(largest);
    total.remove(0.1);
    try testing.expectEqual(smallest, total.value());
    try testing.expectEqual(2 * smallest, total.with(smallest));
    total.remove(smallest);
    try testing.expectEqual(0, total.value());
}

test "against whole numbers of 2048 bits" {
    var random: std.Random.DefaultPrng = .init(3);
    var amounts: [12]f64 = undefined;
    for (0..5000) |_| {
        // Near each other, so that they carry, and ties come up.
        const base = random.random().intRangeAtMost(u64, 0, 1700);
        var total: FloatTotal = .{};
        defer total.set(0);
        for (&amounts) |*amount| {
            const exponent = base + random.random().uintLessThan(u64, 120);
            const fraction = random.random().int(u52) & (@as(u64, std.math.maxInt(u52)) << random.random().int(u5));
            amount.* = @bitCast(exponent << 52 | fraction);
            total.add(amount.*);
        }
        for (0..amounts.len) |gone| {
            var whole: u2048 = 0;
            for (amounts[gone..]) |amount| {
                const placed = Placed.of(amount).?;
                whole += (@as(u2048, placed.words[1]) << 64 | placed.words[0]) << @intCast(placed.limb * 64);
            }
            try testing.expectEqual(nearest(whole), total.value());
            total.remove(amounts[gone]);
        }
        try testing.expectEqual(0, total.value());
    }
}

/// By trying: of all doubles with as many bits, the one that is nearest.
fn nearest(whole: u2048) f64 {
    const length = 2048 - @clz(whole);
    const dropped: u11 = if (length > 53) @intCast(length - 53) else 0;
    const low = (whole >> dropped) << dropped;
    const step = @as(u2048, 1) << dropped;
    const high = low + step;
    const takes_high = high - whole < whole - low or (high - whole == whole - low and (low >> dropped) & 1 == 1);
    const chosen = if (takes_high and low != whole) high else low;
    return std.math.ldexp(@as(f64, @floatFromInt(@as(u64, @intCast(chosen >> dropped)))), @as(i32, dropped) - 1074);
}
