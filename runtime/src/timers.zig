//! Timers: a binary heap by (time, order of creation).

const std = @import("std");
const memory = @import("memory.zig");

const assert = std.debug.assert;

pub const Timer = struct {
    /// Called by the scheduler, between two rounds; the timer is out of the heap then, and may be added again or freed.
    callback: *const fn (timer: *Timer) void,
    deadline_ns: i64 = 0,
    heap_index: usize = not_set,

    pub const not_set = std.math.maxInt(usize);

    pub fn isSet(timer: *const Timer) bool {
        return timer.heap_index != not_set;
    }
};

const Entry = struct {
    deadline_ns: i64,
    /// Numbers the timers in the order of their creation.
    sequence: u64,
    timer: *Timer,

    fn before(left: Entry, right: Entry) bool {
        if (left.deadline_ns != right.deadline_ns) return left.deadline_ns < right.deadline_ns;
        return left.sequence < right.sequence;
    }
};

pub const Heap = struct {
    entries: []Entry = &.{},
    length: usize = 0,
    sequence_next: u64 = 0,

    pub fn isEmpty(heap: *const Heap) bool {
        return heap.length == 0;
    }

    pub fn nextDeadline(heap: *const Heap) ?i64 {
        return if (heap.length == 0) null else heap.entries[0].deadline_ns;
    }

    pub fn add(heap: *Heap, timer: *Timer, deadline_ns: i64) void {
        assert(!timer.isSet());
        if (heap.length == heap.entries.len) {
            const larger = memory.allocateSlice(Entry, @max(16, 2 * heap.entries.len));
            @memcpy(larger[0..heap.length], heap.entries);
            memory.freeSlice(Entry, heap.entries);
            heap.entries = larger;
        }
        timer.deadline_ns = deadline_ns;
        const entry: Entry = .{ .deadline_ns = deadline_ns, .sequence = heap.sequence_next, .timer = timer };
        heap.sequence_next += 1;
        heap.length += 1;
        heap.siftUp(heap.length - 1, entry);
    }

    pub fn remove(heap: *Heap, timer: *Timer) void {
        if (!timer.isSet()) return;
        const index = timer.heap_index;
        assert(heap.entries[index].timer == timer);
        timer.heap_index = Timer.not_set;
        heap.length -= 1;
        if (index == heap.length) return;
        const moved = heap.entries[heap.length];
        if (index > 0 and moved.before(heap.entries[(index - 1) / 2])) heap.siftUp(index, moved) else heap.siftDown(index, moved);
    }

    /// Calls back every timer that is due at `now_ns`. Those that the callbacks add wait for the next time.
    pub fn fireDue(heap: *Heap, now_ns: i64) void {
        const sequence_end = heap.sequence_next;
        while (heap.length > 0) {
            const first = heap.entries[0];
            if (first.deadline_ns > now_ns or first.sequence >= sequence_end) return;
            heap.remove(first.timer);
            first.timer.callback(first.timer);
        }
    }

    pub fn deinit(heap: *Heap) void {
        memory.freeSlice(Entry, heap.entries);
        heap.* = .{};
    }

    fn place(heap: *Heap, index: usize, entry: Entry) void {
        heap.entries[index] = entry;
        entry.timer.heap_index = index;
    }

    fn siftUp(heap: *Heap, start: usize, entry: Entry) void {
        var index = start;
        while (index > 0) {
            const parent = (index - 1) / 2;
            if (!entry.before(heap.entries[parent])) break;
            heap.place(index, heap.entries[parent]);
            index = parent;
        }
        heap.place(index, entry);
    }

    fn siftDown(heap: *Heap, start: usize, entry: Entry) void {
        var index = start;
        while (2 * index + 1 < heap.length) {
            var child = 2 * index + 1;
            if (child + 1 < heap.length and heap.entries[child + 1].before(heap.entries[child])) child += 1;
            if (!heap.entries[child].before(entry)) break;
            heap.place(index, heap.entries[child]);
            index = child;
        }
        heap.place(index, entry);
    }
};

test "timers fire by time, then by order of creation, also after removals" {
    const Log = struct {
        var fired: [64]usize = undefined;
        var count: usize = 0;
        var timers: [64]Timer = undefined;
        fn note(timer: *Timer) void {
            fired[count] = (@intFromPtr(timer) - @intFromPtr(&timers)) / @sizeOf(Timer);
            count += 1;
        }
    };
    var heap: Heap = .{};
    defer heap.deinit();
    for (&Log.timers, 0..) |*timer, index| {
        timer.* = .{ .callback = Log.note };
        heap.add(timer, @intCast((index * 37) % 8));
    }
    for (0..16) |index| heap.remove(&Log.timers[index * 4]);
    heap.fireDue(100);
    try std.testing.expectEqual(@as(usize, 48), Log.count);
    for (Log.fired[0 .. Log.count - 1], Log.fired[1..Log.count]) |left, right| {
        const left_time = Log.timers[left].deadline_ns;
        const right_time = Log.timers[right].deadline_ns;
        try std.testing.expect(left_time < right_time or (left_time == right_time and left < right));
    }
}

test "a timer that a callback adds does not fire in the same round" {
    const Again = struct {
        var heap: Heap = .{};
        var count: usize = 0;
        fn again(timer: *Timer) void {
            count += 1;
            heap.add(timer, timer.deadline_ns);
        }
    };
    var timer: Timer = .{ .callback = Again.again };
    Again.heap.add(&timer, 1);
    Again.heap.fireDue(5);
    try std.testing.expectEqual(@as(usize, 1), Again.count);
    Again.heap.remove(&timer);
    Again.heap.deinit();
}
