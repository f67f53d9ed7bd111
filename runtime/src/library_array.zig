//! The library's functions on arrays (spec 10.array): one export for each row of `compiler/kavachc/ir/library.py`.

const std = @import("std");
const abi = @import("abi.zig");
const array = @import("array.zig");
const number = @import("library_number.zig");
const memory = @import("memory.zig");
const panic = @import("panic.zig");
const string = @import("string.zig");
const textual = @import("text.zig");
const value = @import("value.zig");
const OptionalInt = @import("library_string.zig").OptionalInt;
const panicSlice = @import("library_string.zig").panicSlice;

const Array = abi.Array;
const Type = abi.Type;

fn at(held: *Array, element: *const Type, index: usize) [*]u8 {
    return held.elements() + index * element.stride();
}

fn lengthOf(held: *const Array) usize {
    return @intCast(held.length);
}

/// Writes the optional at `out`: the bytes of the element, or none.
fn give(out: *anyopaque, element: *const Type, from: ?[*]const u8) void {
    const tag: *i32 = @ptrCast(@alignCast(out));
    tag.* = @intFromBool(from != null);
    const bytes = from orelse return;
    const to: [*]u8 = @ptrCast(out);
    const offset = @max(@sizeOf(i32), @as(usize, @intCast(element.alignment)));
    const size: usize = @intCast(element.size);
    @memcpy(to[offset..][0..size], bytes[0..size]);
}

/// A new array of the elements from `start` on, `length` of them, with room for `more`.
fn copy(held: *Array, element: *const Type, start: usize, length: usize, more: usize) *Array {
    const made = array.kv_array_new(element, @intCast(length + more));
    appendTo(made, held, element, start, length);
    return made;
}

fn appendTo(made: *Array, held: *Array, element: *const Type, start: usize, length: usize) void {
    const size = length * element.stride();
    const to = at(made, element, lengthOf(made));
    @memcpy(to[0..size], at(held, element, start)[0..size]);
    if (element.counted != 0) {
        for (0..length) |index| value.retain(element, to + index * element.stride());
    }
    made.length += @intCast(length);
}

fn find(held: *Array, element: *const Type, wanted: *const anyopaque) ?usize {
    for (0..lengthOf(held)) |index| {
        if (value.equal(element, at(held, element, index), wanted)) return index;
    }
    return null;
}

// ---- What reads

export fn kv_lib_array_is_empty(held: *Array, _: *const Type) callconv(.c) bool {
    return held.length == 0;
}

export fn kv_lib_array_first(held: *Array, element: *const Type, out: *anyopaque) callconv(.c) void {
    giveCopy(held, element, 0, out);
}

export fn kv_lib_array_last(held: *Array, element: *const Type, out: *anyopaque) callconv(.c) void {
    giveCopy(held, element, if (held.length == 0) 0 else lengthOf(held) - 1, out);
}

fn giveCopy(held: *Array, element: *const Type, index: usize, out: *anyopaque) void {
    if (held.length == 0) return give(out, element, null);
    value.retain(element, at(held, element, index));
    give(out, element, at(held, element, index));
}

export fn kv_lib_array_contains(held: *Array, wanted: *const anyopaque, element: *const Type) callconv(.c) bool {
    return find(held, element, wanted) != null;
}

export fn kv_lib_array_index_of(held: *Array, wanted: *const anyopaque, element: *const Type, out: *OptionalInt) callconv(.c) void {
    if (find(held, element, wanted)) |index| {
        out.* = .{ .is_there = 1, .value = @intCast(index) };
    } else out.is_there = 0;
}

export fn kv_lib_array_join(held: *Array, separator: *const abi.String) callconv(.c) *abi.String {
    var made: abi.Text = .{};
    const texts: [*]*abi.String = @ptrCast(@alignCast(held.elements()));
    for (texts[0..lengthOf(held)], 0..) |text, index| {
        if (index > 0) textual.append(&made, separator.slice());
        textual.append(&made, text.slice());
    }
    return textual.finish(&made);
}

export fn kv_lib_array_sum_int(held: *Array, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) i64 {
    var total: i64 = 0;
    const numbers: [*]i64 = @ptrCast(@alignCast(held.elements()));
    for (numbers[0..lengthOf(held)]) |each| {
        const sum = @addWithOverflow(total, each);
        if (sum[1] != 0) number.panicOverflow(site, caller);
        total = sum[0];
    }
    return total;
}

export fn kv_lib_array_sum_float(held: *Array) callconv(.c) f64 {
    var total: f64 = 0;
    const numbers: [*]f64 = @ptrCast(@alignCast(held.elements()));
    for (numbers[0..lengthOf(held)]) |each| total += each;
    return total;
}

// ---- Copies

export fn kv_lib_array_reverse(held: *Array, element: *const Type) callconv(.c) *Array {
    const length = lengthOf(held);
    const made = array.kv_array_new(element, held.length);
    for (0..length) |index| appendTo(made, held, element, length - 1 - index, 1);
    return made;
}

export fn kv_lib_array_slice(held: *Array, from: i64, to: i64, element: *const Type, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) *Array {
    if (from < 0 or from > to or to > held.length) panicSlice(from, to, held.length, site, caller);
    return copy(held, element, @intCast(from), @intCast(to - from), 0);
}

export fn kv_lib_array_concat(held: *Array, other: *Array, element: *const Type) callconv(.c) *Array {
    const made = copy(held, element, 0, lengthOf(held), lengthOf(other));
    appendTo(made, other, element, 0, lengthOf(other));
    return made;
}

export fn kv_lib_array_repeat(held: *Array, count: i64, element: *const Type, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) *Array {
    _ = number.kv_lib_guard_count(count, site, caller);
    const length = lengthOf(held);
    const times: usize = if (length == 0) 0 else @intCast(count);
    const made = array.kv_array_new(element, @intCast(memory.sizeOfMany(0, length, times)));
    for (0..times) |_| appendTo(made, held, element, 0, length);
    return made;
}

export fn kv_lib_array_sort(held: *Array, element: *const Type) callconv(.c) *Array {
    const made = copy(held, element, 0, lengthOf(held), 0);
    switch (element.kind) {
        .int, .duration, .instant => sort(i64, made, std.sort.asc(i64)),
        .float => sort(f64, made, floatBefore),
        .string => sort(*abi.String, made, stringBefore),
        else => sortInOrder(made, element),
    }
    return made;
}

/// Of tuples and dates, which are moved once.
fn sortInOrder(made: *Array, element: *const Type) void {
    const length = lengthOf(made);
    const stride = element.stride();
    const places = memory.allocateSlice(usize, length);
    defer memory.freeSlice(usize, places);
    for (places, 0..) |*place, index| place.* = index;
    const context: Elements = .{ .items = made, .element = element };
    std.sort.block(usize, places, context, Elements.isBefore);
    const moved = memory.allocateSlice(u8, length * stride);
    defer memory.freeSlice(u8, moved);
    const bytes = made.elements()[0 .. length * stride];
    @memcpy(moved, bytes);
    for (places, 0..) |place, index| @memcpy(bytes[index * stride ..][0..stride], moved[place * stride ..][0..stride]);
}

const Elements = struct {
    items: *Array,
    element: *const Type,

    fn isBefore(context: Elements, left: usize, right: usize) bool {
        const items = context.items;
        return value.order(context.element, at(items, context.element, left), at(items, context.element, right)) == .lt;
    }
};

/// Stable, and without memory of its own.
fn sort(comptime T: type, made: *Array, comptime isBefore: fn (void, T, T) bool) void {
    const items: [*]T = @ptrCast(@alignCast(made.elements()));
    std.sort.block(T, items[0..lengthOf(made)], {}, isBefore);
}

fn floatBefore(_: void, left: f64, right: f64) bool {
    return value.orderOfFloats(left, right) == .lt;
}

fn stringBefore(_: void, left: *abi.String, right: *abi.String) bool {
    return string.order(left, right) == .lt;
}

// ---- Changes in place

export fn kv_lib_array_pop(slot: **Array, element: *const Type, out: *anyopaque) callconv(.c) void {
    if (slot.*.length == 0) return give(out, element, null);
    array.kv_array_unique(slot, element);
    slot.*.length -= 1;
    give(out, element, at(slot.*, element, lengthOf(slot.*)));
}

export fn kv_lib_array_insert(slot: **Array, index: i64, item: *const anyopaque, element: *const Type, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) void {
    const length = slot.*.length;
    if (index < 0 or index > length) panic.kv_panic_index(index, length, site, caller);
    value.retain(element, item);
    array.kv_array_grow(slot, element);
    const held = slot.*;
    const stride = element.stride();
    const here = at(held, element, @intCast(index));
    const moved = @as(usize, @intCast(length - index)) * stride;
    @memmove(here[stride..][0..moved], here[0..moved]);
    const bytes: [*]const u8 = @ptrCast(item);
    const size: usize = @intCast(element.size);
    @memcpy(here[0..size], bytes[0..size]);
    held.length += 1;
}

export fn kv_lib_array_remove_at(slot: **Array, index: i64, element: *const Type, out: *anyopaque, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) void {
    if (index < 0 or index >= slot.*.length) panic.kv_panic_index(index, slot.*.length, site, caller);
    array.kv_array_unique(slot, element);
    const held = slot.*;
    const stride = element.stride();
    const here = at(held, element, @intCast(index));
    const size: usize = @intCast(element.size);
    const to: [*]u8 = @ptrCast(out);
    @memcpy(to[0..size], here[0..size]);
    const moved = @as(usize, @intCast(held.length - index - 1)) * stride;
    @memmove(here[0..moved], here[stride..][0..moved]);
    held.length -= 1;
}

export fn kv_lib_array_clear(slot: **Array, element: *const Type) callconv(.c) void {
    const empty = array.kv_array_new(element, 0);
    var old = slot.*;
    slot.* = empty;
    const array_type: Type = .{ .kind = .array, .counted = 1, .size = 8, .element = element };
    value.release(&array_type, @ptrCast(&old));
}
