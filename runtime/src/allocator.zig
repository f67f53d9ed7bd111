//! The runtime's memory as Zig's standard allocator, for lists and tables. It never fails: out of memory is a panic.

const std = @import("std");
const memory = @import("memory.zig");

pub const runtime: std.mem.Allocator = .{ .ptr = undefined, .vtable = &.{
    .alloc = allocate,
    .resize = resize,
    .remap = remap,
    .free = free,
} };

fn allocate(_: *anyopaque, length: usize, alignment: std.mem.Alignment, _: usize) ?[*]u8 {
    std.debug.assert(alignment.toByteUnits() <= 16);
    return @ptrCast(memory.allocateRaw(length));
}

fn resize(_: *anyopaque, bytes: []u8, _: std.mem.Alignment, length: usize, _: usize) bool {
    return length <= memory.usableSize(bytes.len) and memory.usableSize(length) == memory.usableSize(bytes.len);
}

fn remap(_: *anyopaque, bytes: []u8, alignment: std.mem.Alignment, length: usize, address: usize) ?[*]u8 {
    return if (resize(undefined, bytes, alignment, length, address)) bytes.ptr else null;
}

fn free(_: *anyopaque, bytes: []u8, _: std.mem.Alignment, _: usize) void {
    memory.freeRaw(bytes.ptr);
}

test "a list grows and goes" {
    var list: std.ArrayList(u64) = .empty;
    defer list.deinit(runtime);
    for (0..100_000) |index| try list.append(runtime, index);
    for (list.items, 0..) |item, index| try std.testing.expectEqual(index, item);
    list.clearAndFree(runtime);
    try std.testing.expectEqual(@as(usize, 0), list.capacity);
}
