//! A rolling window: the (time, amount) entries of the last so many nanoseconds, and their exact total.
//!
//! The oldest entry, which leaves first, stands here; those behind it in a queue that takes some 7 bytes for each, 16 at
//! most. Adding, expiring and the total are O(1) amortised.

const std = @import("std");
const Queue = @import("entry_queue.zig").Queue;
const FloatTotal = @import("exact_total.zig").FloatTotal;

const assert = std.debug.assert;

pub const IntWindow = Window(i64);
pub const FloatWindow = Window(f64);

const IntTotal = struct {
    /// 128 bits hold the total of 2^64 entries of 2^63 each.
    sum: i128 = 0,

    pub fn value(total: *const IntTotal) i128 {
        return total.sum;
    }

    pub fn with(total: *const IntTotal, amount: i64) i128 {
        return total.sum + amount;
    }

    fn add(total: *IntTotal, amount: i64) void {
        total.sum += amount;
    }

    fn remove(total: *IntTotal, amount: i64) void {
        total.sum -= amount;
    }

    fn set(total: *IntTotal, amount: i64) void {
        total.sum = amount;
    }
};

pub fn Window(comptime Amount: type) type {
    comptime assert(Amount == i64 or Amount == f64);
    return struct {
        const Self = @This();
        pub const Entry = struct { time_ns: i64, amount: Amount };

        length_ns: i64,
        count: usize = 0,
        /// While there is one.
        oldest: Entry = undefined,
        newest_ns: i64 = undefined,
        /// The entries behind the oldest.
        rest: Queue = .{},
        total: if (Amount == i64) IntTotal else FloatTotal = .{},

        pub fn init(length_ns: i64) Self {
            assert(length_ns > 0);
            return .{ .length_ns = length_ns };
        }

        pub fn deinit(window: *Self) void {
            window.rest.deinit();
            window.total.set(0);
            window.* = .{ .length_ns = window.length_ns };
        }

        /// Lets the entries go that are a whole window old, or older: the window is half open.
        pub fn expire(window: *Self, now_ns: i64) void {
            while (window.count > 0) {
                assert(window.oldest.time_ns <= now_ns);
                if (now_ns - window.oldest.time_ns < window.length_ns) break;
                window.total.remove(window.oldest.amount);
                window.count -= 1;
                if (window.count > 0) {
                    const pair = window.rest.pop();
                    window.oldest = .{ .time_ns = after(window.oldest.time_ns, pair.since_ns), .amount = amountOf(pair.amount) };
                }
                window.settleTotal();
            }
        }

        /// Records an amount; the times of the calls never go back.
        pub fn add(window: *Self, now_ns: i64, amount: Amount) void {
            assert(amount >= 0);
            if (window.count == 0) {
                window.oldest = .{ .time_ns = now_ns, .amount = amount };
            } else {
                assert(window.newest_ns <= now_ns);
                window.rest.push(.{ .since_ns = @bitCast(now_ns -% window.newest_ns), .amount = bitsOf(amount) });
            }
            window.newest_ns = now_ns;
            window.count += 1;
            window.total.add(amount);
        }

        /// Takes back the newest entry.
        pub fn removeLast(window: *Self) void {
            assert(window.count > 0);
            window.count -= 1;
            if (window.count == 0) {
                window.total.remove(window.oldest.amount);
            } else {
                const pair = window.rest.popLast();
                window.total.remove(amountOf(pair.amount));
                window.newest_ns -%= @bitCast(pair.since_ns);
            }
            window.settleTotal();
        }

        /// One entry is its own total.
        fn settleTotal(window: *Self) void {
            if (window.count <= 1) window.total.set(if (window.count == 0) 0 else window.oldest.amount);
        }

        /// The oldest first.
        pub fn iterate(window: *const Self) Iterator {
            return .{ .next_entry = if (window.count == 0) null else window.oldest, .rest = window.rest.iterate() };
        }

        pub const Iterator = struct {
            next_entry: ?Entry,
            rest: Queue.Iterator,

            pub fn next(iterator: *Iterator) ?Entry {
                const entry = iterator.next_entry orelse return null;
                iterator.next_entry = if (iterator.rest.next()) |pair|
                    .{ .time_ns = after(entry.time_ns, pair.since_ns), .amount = amountOf(pair.amount) }
                else
                    null;
                return entry;
            }
        };

        fn after(time_ns: i64, since_ns: u64) i64 {
            return time_ns +% @as(i64, @bitCast(since_ns));
        }

        /// Few bytes hold it: a Float that is not long has zeros at its end.
        fn bitsOf(amount: Amount) u64 {
            return if (Amount == i64) @intCast(amount) else @byteSwap(@as(u64, @bitCast(amount)));
        }

        fn amountOf(bits: u64) Amount {
            return if (Amount == i64) @intCast(bits) else @bitCast(@byteSwap(bits));
        }
    };
}

const testing = std.testing;

test "an entry exactly one window old no longer counts" {
    var window: IntWindow = .init(100);
    defer window.deinit();
    window.add(0, 5);
    window.expire(99);
    try testing.expectEqual(@as(i128, 5), window.total.value());
    window.expire(100);
    try testing.expectEqual(@as(i128, 0), window.total.value());
    try testing.expectEqual(@as(usize, 0), window.count);
}

test "a Float that leaves takes its rounding with it" {
    var window: FloatWindow = .init(10);
    defer window.deinit();
    window.add(0, 0x1p54);
    window.add(1, 1);
    window.add(2, 1);
    try testing.expectEqual(@as(f64, 0x1p54), window.total.value());
    window.expire(10);
    try testing.expectEqual(@as(f64, 2), window.total.value());
}

test "a whole total passes 64 bits" {
    var window: IntWindow = .init(10);
    defer window.deinit();
    const largest = std.math.maxInt(i64);
    for (0..5) |_| window.add(0, largest);
    try testing.expectEqual(@as(i128, largest) * 5, window.total.value());
}

test "a window of one entry has no memory of its own" {
    var window: FloatWindow = .init(10);
    defer window.deinit();
    for (0..100) |index| {
        window.expire(@intCast(10 * index));
        window.add(@intCast(10 * index), 0.1);
        try testing.expectEqual(Queue{}, window.rest);
        try testing.expectEqual(FloatTotal{ .single = 0.1 }, window.total);
    }
    window.add(995, 0.2);
    window.expire(1000);
    try testing.expectEqual(Queue{}, window.rest);
    try testing.expectEqual(FloatTotal{ .single = 0.2 }, window.total);
    window.removeLast();
    try testing.expectEqual(0, window.total.value());
}

test "against a plain list" {
    try compareWithList(i64);
    try compareWithList(f64);
}

fn compareWithList(comptime Amount: type) !void {
    var random: std.Random.DefaultPrng = .init(7);
    var window: Window(Amount) = .init(500);
    defer window.deinit();
    var entries: std.ArrayList(Window(Amount).Entry) = .empty;
    defer entries.deinit(testing.allocator);
    var now_ns: i64 = std.math.minInt(i64) + 1000;
    for (0..3000) |_| {
        now_ns += random.random().intRangeAtMost(i64, 0, 30);
        if (random.random().uintLessThan(u8, 40) == 0) now_ns += 490;
        window.expire(now_ns);
        while (entries.items.len > 0 and now_ns - entries.items[0].time_ns >= 500) _ = entries.orderedRemove(0);
        if (entries.items.len > 0 and random.random().uintLessThan(u8, 4) == 0) {
            window.removeLast();
            _ = entries.pop();
        } else {
            const whole = random.random().intRangeAtMost(i64, 0, 1000);
            const amount: Amount = if (Amount == i64) whole else @floatFromInt(whole);
            window.add(now_ns, amount);
            try entries.append(testing.allocator, .{ .time_ns = now_ns, .amount = amount });
        }
        var expected: @TypeOf(window.total.value()) = 0;
        var iterator = window.iterate();
        for (entries.items) |entry| {
            expected += entry.amount;
            try testing.expectEqual(entry, iterator.next().?);
        }
        try testing.expectEqual(null, iterator.next());
        try testing.expectEqual(entries.items.len, window.count);
        try testing.expectEqual(expected, window.total.value());
        if (entries.items.len > 0) try testing.expectEqual(entries.getLast().time_ns, window.newest_ns);
    }
}
