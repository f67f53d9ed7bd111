//! Arrays: values that share a block until one of them is written to.

const std = @import("std");
const abi = @import("abi.zig");
const memory = @import("memory.zig");
const value = @import("value.zig");

const capacity_min = 4;

fn allocate(element: *const abi.Type, capacity: usize) *abi.Array {
    const stride = @max(1, element.stride());
    const size = memory.sizeOfMany(abi.Array.elements_offset, stride, capacity);
    const array: *abi.Array = @ptrCast(@alignCast(memory.allocateBlock(size)));
    array.length = 0;
    // All that the block has: a size class is often a little larger than was asked for.
    array.capacity = @intCast((memory.usableSize(size) - abi.Array.elements_offset) / stride);
    std.debug.assert(array.capacity >= capacity);
    return array;
}

/// Moves the elements into a block of their own with at least this capacity.
fn replace(slot: **abi.Array, element: *const abi.Type, capacity: usize) void {
    const old = slot.*;
    const made = allocate(element, capacity);
    const length: usize = @intCast(old.length);
    const size = length * element.stride();
    @memcpy(made.elements()[0..size], old.elements()[0..size]);
    made.length = old.length;
    if (old.count == 1) {
        memory.freeBlock(old); // Its elements have moved.
    } else {
        if (element.counted != 0) {
            for (0..length) |index| value.retain(element, made.elements() + index * element.stride());
        }
        if (old.count != 0) old.count -= 1;
    }
    slot.* = made;
}

pub export fn kv_array_new(element: *const abi.Type, capacity: i64) callconv(.c) *abi.Array {
    std.debug.assert(capacity >= 0);
    return allocate(element, @intCast(capacity));
}

pub export fn kv_array_unique(slot: **abi.Array, element: *const abi.Type) callconv(.c) void {
    if (slot.*.count == 1) return;
    replace(slot, element, @intCast(slot.*.length));
}

pub export fn kv_array_grow(slot: **abi.Array, element: *const abi.Type) callconv(.c) void {
    const array = slot.*;
    const has_room = array.length < array.capacity;
    if (array.count == 1 and has_room) return;
    const length: usize = @intCast(array.length);
    replace(slot, element, if (has_room) length + 1 else @max(capacity_min, 2 * length));
}

/// A new array of the elements from `start` on, which is at most the length.
pub export fn kv_array_rest(array: *abi.Array, element: *const abi.Type, start: i64) callconv(.c) *abi.Array {
    std.debug.assert(start >= 0 and start <= array.length);
    const length: usize = @intCast(array.length - start);
    const stride = element.stride();
    const made = allocate(element, length);
    const from = array.elements() + @as(usize, @intCast(start)) * stride;
    @memcpy(made.elements()[0 .. length * stride], from[0 .. length * stride]);
    if (element.counted != 0) {
        for (0..length) |index| value.retain(element, made.elements() + index * stride);
    }
    made.length = @intCast(length);
    return made;
}

test "an array grows in place while it has one owner, and is copied when it has more" {
    const int: abi.Type = .{ .kind = .int, .size = 8 };
    var array = kv_array_new(&int, 0);
    for (0..1000) |index| {
        kv_array_grow(&array, &int);
        const elements: [*]i64 = @ptrCast(@alignCast(array.elements()));
        elements[@intCast(array.length)] = @intCast(index);
        array.length += 1;
    }
    array.count += 1;
    var copy = array;
    kv_array_unique(&copy, &int);
    try std.testing.expect(copy != array);
    try std.testing.expectEqual(@as(i64, 1), array.count);
    const elements: [*]i64 = @ptrCast(@alignCast(copy.elements()));
    try std.testing.expectEqual(@as(i64, 999), elements[999]);
    memory.freeBlock(array);
    memory.freeBlock(copy);
    try std.testing.expectEqual(@as(i64, 0), memory.liveBlocks());
}
