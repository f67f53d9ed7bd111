//! The entries of a window behind the oldest, in few bytes: each is the time since the one before it and the amount, as
//! so many bytes as the numbers need, between two bytes that say how many those are. So a queue is read from both ends.
//!
//! A short queue is one block that grows; a long one is a chain of blocks, which go back to the kernel from the old end.

const std = @import("std");
const memory = @import("memory.zig");

const assert = std.debug.assert;

pub const Pair = struct {
    since_ns: u64,
    amount: u64,
};

const Block = extern struct {
    next: ?*Block,
    /// Of the bytes behind this head.
    capacity: u32,
    used: u32,

    fn create(size: usize) *Block {
        const block: *Block = @ptrCast(@alignCast(memory.allocateRaw(size)));
        block.* = .{ .next = null, .capacity = @intCast(size - @sizeOf(Block)), .used = 0 };
        return block;
    }

    fn destroy(block: *Block) void {
        memory.freeToKernel(block);
    }

    fn bytes(block: *Block) []u8 {
        const start: [*]u8 = @ptrCast(block);
        return start[@sizeOf(Block)..][0..block.capacity];
    }
};

const size_min = 32;
/// Of the only block of a queue; where that is too small, a chain begins.
const size_max = memory.small_size_max;
const size_in_chain = memory.span_block_size;
/// Two numbers of 8 bytes, and two bytes about them.
const code_length_max = 18;

pub const Queue = struct {
    first: ?*Block = null,
    last: ?*Block = null,
    /// What of the first block has been taken.
    start: u32 = 0,

    pub fn deinit(queue: *Queue) void {
        var next = queue.first;
        while (next) |block| {
            next = block.next;
            block.destroy();
        }
        queue.* = .{};
    }

    pub fn push(queue: *Queue, pair: Pair) void {
        const since_length = lengthOf(pair.since_ns);
        const amount_length = lengthOf(pair.amount);
        var code: [code_length_max + 7]u8 = undefined;
        const lengths: u8 = since_length << 4 | amount_length;
        code[0] = lengths;
        std.mem.writeInt(u64, code[1..9], pair.since_ns, .little);
        std.mem.writeInt(u64, code[1 + since_length ..][0..8], pair.amount, .little);
        const length = codeLength(lengths);
        code[length - 1] = lengths;
        const block = queue.blockWithRoom(length);
        @memcpy(block.bytes()[block.used..][0..length], code[0..length]);
        block.used += @intCast(length);
    }

    /// Takes the oldest.
    pub fn pop(queue: *Queue) Pair {
        const first = queue.first.?;
        const bytes = first.bytes()[queue.start..first.used];
        queue.start += @intCast(codeLength(bytes[0]));
        const pair = read(bytes);
        if (queue.start == first.used) {
            queue.first = first.next;
            queue.start = 0;
            if (queue.first == null) queue.last = null;
            first.destroy();
        } else if (first == queue.last and queue.wantedSize(0) <= sizeOf(first) / 4) {
            queue.move(0);
        }
        return pair;
    }

    /// Takes the newest.
    pub fn popLast(queue: *Queue) Pair {
        const last = queue.last.?;
        const length = codeLength(last.bytes()[last.used - 1]);
        last.used -= @intCast(length);
        const pair = read(last.bytes()[last.used..][0..length]);
        if (last.used == if (last == queue.first) queue.start else 0) queue.dropLast();
        return pair;
    }

    pub fn iterate(queue: *const Queue) Iterator {
        return .{ .block = queue.first, .at = queue.start };
    }

    pub const Iterator = struct {
        block: ?*Block,
        at: u32,

        pub fn next(iterator: *Iterator) ?Pair {
            const block = iterator.block orelse return null;
            const bytes = block.bytes()[iterator.at..block.used];
            iterator.at += @intCast(codeLength(bytes[0]));
            if (iterator.at == block.used) iterator.* = .{ .block = block.next, .at = 0 };
            return read(bytes);
        }
    };

    fn blockWithRoom(queue: *Queue, length: usize) *Block {
        const last = queue.last orelse return queue.append(@max(size_min, ceilPowerOfTwo(@sizeOf(Block) + length)));
        if (length <= last.capacity - last.used) return last;
        if (last != queue.first or queue.wantedSize(length) > size_max) return queue.append(size_in_chain);
        queue.move(length);
        return queue.last.?;
    }

    fn append(queue: *Queue, size: usize) *Block {
        const block = Block.create(size);
        if (queue.last) |last| last.next = block else queue.first = block;
        queue.last = block;
        return block;
    }

    /// For what the only block of a queue holds, that many bytes more, and half as much again.
    fn wantedSize(queue: *const Queue, length: usize) usize {
        const held = queue.first.?.used - queue.start;
        return @max(size_min, ceilPowerOfTwo(@sizeOf(Block) + held + held / 2 + length));
    }

    /// Makes the only block as large as is wanted, with all room at its end.
    fn move(queue: *Queue, length: usize) void {
        const old = queue.first.?;
        assert(old == queue.last.?);
        const size = queue.wantedSize(length);
        const block = if (size == sizeOf(old)) old else Block.create(size);
        const held = old.bytes()[queue.start..old.used];
        @memmove(block.bytes()[0..held.len], held);
        block.used = @intCast(held.len);
        if (block != old) old.destroy();
        queue.* = .{ .first = block, .last = block };
    }

    fn dropLast(queue: *Queue) void {
        const last = queue.last.?;
        if (last == queue.first) return queue.deinit();
        var before = queue.first.?;
        while (before.next != last) before = before.next.?;
        before.next = null;
        queue.last = before;
        last.destroy();
    }
};

fn sizeOf(block: *const Block) usize {
    return @sizeOf(Block) + block.capacity;
}

fn ceilPowerOfTwo(size: usize) usize {
    return std.math.ceilPowerOfTwoAssert(usize, size);
}

fn lengthOf(number: u64) u8 {
    return (64 + 7 - @as(u8, @clz(number))) / 8;
}

fn codeLength(lengths: u8) usize {
    return 2 + @as(usize, lengths >> 4) + (lengths & 15);
}

fn read(code: []const u8) Pair {
    const since_length = code[0] >> 4;
    const amount_length = code[0] & 15;
    return .{ .since_ns = readNumber(code[1..], since_length), .amount = readNumber(code[1 + since_length ..], amount_length) };
}

fn readNumber(bytes: []const u8, length: u8) u64 {
    assert(length <= 8);
    if (bytes.len >= 8) {
        if (length == 0) return 0;
        return std.mem.readInt(u64, bytes[0..8], .little) & (@as(u64, std.math.maxInt(u64)) >> @intCast(64 - 8 * length));
    }
    var number: u64 = 0;
    for (bytes[0..length], 0..) |byte, index| number |= @as(u64, byte) << @intCast(8 * index);
    return number;
}

const testing = std.testing;

test "against a plain list, from both ends" {
    var random: std.Random.DefaultPrng = .init(23);
    var queue: Queue = .{};
    defer queue.deinit();
    var pairs: std.ArrayList(Pair) = .empty;
    defer pairs.deinit(testing.allocator);
    // First it grows far beyond one block, then it shrinks to nothing.
    for ([_]u8{ 200, 128, 60, 128, 255, 100, 0 }, 0..) |tendency, round| {
        for (0..30_000) |_| {
            if (random.random().int(u8) <= tendency) {
                const pair: Pair = .{
                    .since_ns = random.random().int(u64) >> random.random().int(u6),
                    .amount = if (round % 2 == 0) random.random().int(u64) else random.random().int(u2),
                };
                queue.push(pair);
                try pairs.append(testing.allocator, pair);
            } else if (pairs.items.len > 0) {
                const is_last = random.random().uintLessThan(u8, 3) == 0;
                const expected = if (is_last) pairs.pop().? else pairs.orderedRemove(0);
                try testing.expectEqual(expected, if (is_last) queue.popLast() else queue.pop());
            }
        }
        var iterator = queue.iterate();
        for (pairs.items) |pair| try testing.expectEqual(pair, iterator.next().?);
        try testing.expectEqual(null, iterator.next());
    }
    while (pairs.pop()) |pair| try testing.expectEqual(pair, queue.popLast());
    try testing.expectEqual(Queue{}, queue);
}

test "numbers of every length" {
    var queue: Queue = .{};
    defer queue.deinit();
    for (0..64) |shift| {
        const number = @as(u64, std.math.maxInt(u64)) >> @intCast(shift);
        queue.push(.{ .since_ns = number, .amount = number >> 1 });
        queue.push(.{ .since_ns = number >> 1, .amount = 0 });
    }
    for (0..64) |shift| {
        const number = @as(u64, std.math.maxInt(u64)) >> @intCast(shift);
        try testing.expectEqual(Pair{ .since_ns = number, .amount = number >> 1 }, queue.pop());
        try testing.expectEqual(Pair{ .since_ns = number >> 1, .amount = 0 }, queue.pop());
    }
    try testing.expectEqual(Queue{}, queue);
}
