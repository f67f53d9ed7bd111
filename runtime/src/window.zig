//! A rolling window: the (time, amount) entries of the last so many nanoseconds, and their exact total.
//!
//! Entries sit in a ring, oldest first, 16 bytes each. Adding and expiring are O(1) amortised for whole amounts. A
//! Float total is folded anew, oldest to newest, whenever an entry has left: subtracting the entry that left would keep
//! the rounding that it caused.

const std = @import("std");
const memory = @import("memory.zig");

const assert = std.debug.assert;

pub const IntWindow = Window(i64);
pub const FloatWindow = Window(f64);

pub fn Window(comptime Amount: type) type {
    comptime assert(Amount == i64 or Amount == f64);
    return struct {
        const Self = @This();
        /// 128 bits hold the total of 2^64 entries of 2^63 each, so a whole total cannot overflow.
        pub const Total = if (Amount == i64) i128 else f64;
        pub const Entry = struct { time_ns: i64, amount: Amount };
        const capacity_min = 1;

        length_ns: i64,
        ring: []Entry = &.{},
        /// The place of the oldest entry in the ring.
        oldest: usize = 0,
        count: usize = 0,
        sum: Total = 0,

        pub fn init(length_ns: i64) Self {
            assert(length_ns > 0);
            return .{ .length_ns = length_ns };
        }

        pub fn deinit(window: *Self) void {
            memory.freeSlice(Entry, window.ring);
            window.* = .{ .length_ns = window.length_ns };
        }

        /// Lets the entries go that are a whole window old, or older: the window is half open.
        pub fn expire(window: *Self, now_ns: i64) void {
            const count_before = window.count;
            while (window.count > 0) {
                const entry = window.ring[window.oldest];
                assert(entry.time_ns <= now_ns);
                if (now_ns - entry.time_ns < window.length_ns) break;
                if (Amount == i64) window.sum -= entry.amount;
                window.oldest = (window.oldest + 1) & (window.ring.len - 1);
                window.count -= 1;
            }
            if (window.count == count_before) return;
            if (Amount == f64) window.fold();
            if (window.count == 0) assert(window.sum == 0);
            window.shrink();
        }

        /// Records an amount; the times of the calls never go back.
        pub fn add(window: *Self, now_ns: i64, amount: Amount) void {
            assert(amount >= 0);
            if (window.count > 0) assert(window.at(window.count - 1).time_ns <= now_ns);
            if (window.count == window.ring.len) {
                window.resize(@max(capacity_min, window.ring.len * 2));
            }
            window.ring[(window.oldest + window.count) & (window.ring.len - 1)] = .{ .time_ns = now_ns, .amount = amount };
            window.count += 1;
            window.sum += amount;
        }

        /// Takes back the newest entry.
        pub fn removeLast(window: *Self) void {
            assert(window.count > 0);
            window.count -= 1;
            if (Amount == i64) window.sum -= window.ring[(window.oldest + window.count) & (window.ring.len - 1)].amount else window.fold();
        }

        /// The entry at `index`, 0 for the oldest.
        pub fn at(window: *const Self, index: usize) Entry {
            assert(index < window.count);
            return window.ring[(window.oldest + index) & (window.ring.len - 1)];
        }

        fn fold(window: *Self) void {
            window.sum = 0;
            for (0..window.count) |index| window.sum += window.at(index).amount;
        }

        /// Gives memory back once three quarters of the ring stand empty: a busy hour is not paid for all year.
        fn shrink(window: *Self) void {
            if (window.ring.len <= capacity_min or window.count > window.ring.len / 4) return;
            const capacity = @max(capacity_min, std.math.ceilPowerOfTwoAssert(usize, @max(window.count, 1) * 2));
            if (capacity < window.ring.len) window.resize(capacity);
        }

        fn resize(window: *Self, capacity: usize) void {
            assert(std.math.isPowerOfTwo(capacity));
            assert(capacity >= window.count);
            // Pages of a large ring are real memory only once entries reach them, so doubling wastes none.
            const ring = memory.allocateSlice(Entry, capacity);
            for (0..window.count) |index| ring[index] = window.at(index);
            memory.freeSlice(Entry, window.ring);
            window.ring = ring;
            window.oldest = 0;
        }
    };
}

const testing = std.testing;

test "an entry exactly one window old no longer counts" {
    var window: IntWindow = .init(100);
    defer window.deinit();
    window.add(0, 5);
    window.expire(99);
    try testing.expectEqual(@as(i128, 5), window.sum);
    window.expire(100);
    try testing.expectEqual(@as(i128, 0), window.sum);
    try testing.expectEqual(@as(usize, 0), window.count);
}

test "a Float that leaves takes its rounding with it" {
    var window: FloatWindow = .init(10);
    defer window.deinit();
    window.add(0, 0x1p54);
    window.add(1, 1);
    window.add(2, 1);
    try testing.expectEqual(@as(f64, 0x1p54), window.sum);
    window.expire(10);
    try testing.expectEqual(@as(f64, 2), window.sum);
}

test "a whole total passes 64 bits" {
    var window: IntWindow = .init(10);
    defer window.deinit();
    const largest = std.math.maxInt(i64);
    for (0..5) |_| window.add(0, largest);
    try testing.expectEqual(@as(i128, largest) * 5, window.sum);
}

test "an entry takes 16 bytes, and an empty window little" {
    try testing.expectEqual(@as(usize, 16), @sizeOf(IntWindow.Entry));
    var window: IntWindow = .init(1000);
    defer window.deinit();
    for (0..5000) |index| {
        window.add(@intCast(index), 1);
        window.expire(@intCast(index));
        try testing.expect(window.count <= 1000);
        try testing.expect(window.ring.len <= 1024);
    }
    window.expire(100_000);
    try testing.expectEqual(@as(usize, 2), window.ring.len);
}

test "against a plain list" {
    var random: std.Random.DefaultPrng = .init(7);
    var window: IntWindow = .init(50);
    defer window.deinit();
    var entries: std.ArrayList(IntWindow.Entry) = .empty;
    defer entries.deinit(testing.allocator);
    var now_ns: i64 = 0;
    for (0..3000) |_| {
        now_ns += random.random().intRangeAtMost(i64, 0, 30);
        window.expire(now_ns);
        const amount = random.random().intRangeAtMost(i64, 0, 1000);
        window.add(now_ns, amount);
        try entries.append(testing.allocator, .{ .time_ns = now_ns, .amount = amount });
        var expected: i128 = 0;
        for (entries.items) |entry| {
            if (now_ns - entry.time_ns < 50) expected += entry.amount;
        }
        try testing.expectEqual(expected, window.sum);
    }
}
