//! What the runtime does with values of any type, by descriptor: count them up and down, and compare them.
//!
//! Records and sums lie inside one another, as deep as their types are written; only blocks can be nested as deep as a
//! program likes. So the walks recurse over the former and keep a list of their own for the latter.

const std = @import("std");
const abi = @import("abi.zig");
const map = @import("map.zig");
const memory = @import("memory.zig");
const panic = @import("panic.zig");
const scheduler = @import("scheduler.zig");
const string = @import("string.zig");
const trace = @import("trace.zig");

const assert = std.debug.assert;

fn pointerAt(comptime T: type, value: *const anyopaque) *T {
    const slot: *const *T = @ptrCast(@alignCast(value));
    return slot.*;
}

fn elementOf(array: *abi.Array, element: *const abi.Type, index: usize) *anyopaque {
    return array.elements() + index * element.stride();
}

// ---- Counting up

pub fn retain(kind: *const abi.Type, value: *const anyopaque) void {
    if (kind.counted == 0) return;
    switch (kind.kind) {
        .int, .float, .bool, .nothing, .duration, .instant => {},
        .string, .array, .map, .box, .task, .agent, .capability, .@"error", .function => {
            const block = pointerAt(abi.Block, value);
            if (block.count != 0) block.count += 1;
        },
        .optional => if (kind.held(value)) |held| retain(kind.element.?, held),
        .record, .tuple => for (kind.fieldSlice()) |*field| retain(field.type, field.in(value)),
        .sum => for (kind.variantOf(value).fieldSlice()) |*field| retain(field.type, field.in(value)),
    }
}

// ---- Counting down. A block that loses its last owner is threaded into a list through its own words: its count, which
//      is no more needed, becomes the link, with the block's kind in the bits that alignment leaves free.

const DeadKind = enum(u4) { array, map, @"error", capability, agent, task };

const DeadBlock = packed struct(u64) {
    kind: DeadKind,
    next: u60, // The address divided by 16; 0 at the end.
};

/// A dead box keeps no word for its type, so the boxes of each type have a list of their own.
const DeadBoxes = struct { element: *const abi.Type, first: ?*abi.Box };

const DeadList = struct {
    first: ?*anyopaque = null,
    first_kind: DeadKind = .array,
    /// A value mostly holds boxes of very few types; more take memory of their own.
    few_boxes: [4]DeadBoxes = undefined,
    few_count: usize = 0,
    more_boxes: []DeadBoxes = &.{},
    more_count: usize = 0,

    fn pushBox(list: *DeadList, element: *const abi.Type, box: *abi.Box) void {
        const boxes = list.boxesOf(element);
        box.count = @bitCast(@as(u64, @intFromPtr(boxes.first)));
        boxes.first = box;
    }

    fn boxesOf(list: *DeadList, element: *const abi.Type) *DeadBoxes {
        for (list.few_boxes[0..list.few_count]) |*boxes| if (boxes.element == element) return boxes;
        for (list.more_boxes[0..list.more_count]) |*boxes| if (boxes.element == element) return boxes;
        if (list.few_count < list.few_boxes.len) {
            list.few_count += 1;
            list.few_boxes[list.few_count - 1] = .{ .element = element, .first = null };
            return &list.few_boxes[list.few_count - 1];
        }
        if (list.more_count == list.more_boxes.len) {
            trace.kv_here = null; // What gives values up does not say where it is.
            const larger = memory.allocateSlice(DeadBoxes, @max(8, 2 * list.more_count));
            @memcpy(larger[0..list.more_count], list.more_boxes);
            memory.freeSlice(DeadBoxes, list.more_boxes);
            list.more_boxes = larger;
        }
        list.more_count += 1;
        list.more_boxes[list.more_count - 1] = .{ .element = element, .first = null };
        return &list.more_boxes[list.more_count - 1];
    }

    fn popBox(list: *DeadList) ?struct { element: *const abi.Type, box: *abi.Box } {
        for ([_][]DeadBoxes{ list.few_boxes[0..list.few_count], list.more_boxes[0..list.more_count] }) |kinds| {
            for (kinds) |*boxes| if (boxes.first) |box| {
                boxes.first = @ptrFromInt(@as(usize, @bitCast(box.count)));
                return .{ .element = boxes.element, .box = box };
            };
        }
        return null;
    }

    fn push(list: *DeadList, block: *anyopaque, kind: DeadKind) void {
        const link: *DeadBlock = @ptrCast(@alignCast(block));
        link.* = .{ .kind = list.first_kind, .next = @intCast(@intFromPtr(list.first) >> 4) };
        list.first = block;
        list.first_kind = kind;
    }

    const Item = struct { block: *anyopaque, kind: DeadKind };

    fn pop(list: *DeadList) ?Item {
        const block = list.first orelse return null;
        const item: Item = .{ .block = block, .kind = list.first_kind };
        const link: *DeadBlock = @ptrCast(@alignCast(block));
        list.first = @ptrFromInt(@as(usize, link.next) << 4);
        list.first_kind = link.kind;
        return item;
    }
};

pub fn release(kind: *const abi.Type, value: *anyopaque) void {
    if (kind.counted == 0) return;
    var list: DeadList = .{};
    drop(&list, kind, value);
    releaseAll(&list);
}

pub fn releaseError(held: ?*abi.Error) void {
    const block = held orelse return;
    var list: DeadList = .{};
    if (loseOwner(block)) list.push(block, .@"error");
    releaseAll(&list);
}

/// Frees a task that has lost its last owner, and what its outcome holds.
pub fn releaseTask(task: *scheduler.Task) void {
    var list: DeadList = .{};
    list.push(task, .task);
    releaseAll(&list);
}

fn releaseAll(list: *DeadList) void {
    releaseBlocks(list);
    while (list.popBox()) |dead| {
        drop(list, dead.element, dead.box.value());
        memory.freeBlock(dead.box);
        releaseBlocks(list);
    }
    memory.freeSlice(DeadBoxes, list.more_boxes);
}

fn releaseBlocks(list: *DeadList) void {
    while (list.pop()) |item| {
        switch (item.kind) {
            .array => dropElements(list, @ptrCast(@alignCast(item.block))),
            .map => dropEntries(list, @ptrCast(@alignCast(item.block))),
            .@"error" => {
                const held: *abi.Error = @ptrCast(@alignCast(item.block));
                drop(list, held.type, held.payload());
            },
            .capability => {
                const capability: *abi.Capability = @ptrCast(@alignCast(item.block));
                drop(list, capability.vtable.payload_type, capability.payload());
            },
            .agent => {
                const handle: *abi.AgentHandle = @ptrCast(@alignCast(item.block));
                for (handle.capabilities()) |slot| if (slot) |capability| {
                    if (loseOwner(capability)) list.push(capability, .capability);
                };
            },
            .task => dropOutcome(list, @ptrCast(@alignCast(item.block))),
        }
        memory.freeBlock(item.block);
    }
}

/// True when the block has no owner left: the caller sees to its content and its memory.
fn loseOwner(block: *anyopaque) bool {
    const counted: *abi.Block = @ptrCast(@alignCast(block));
    if (counted.count == 0) return false; // Static.
    assert(counted.count > 0);
    counted.count -= 1;
    return counted.count == 0;
}

fn drop(list: *DeadList, kind: *const abi.Type, value: *anyopaque) void {
    if (kind.counted == 0) return;
    switch (kind.kind) {
        .int, .float, .bool, .nothing, .duration, .instant => {},
        .optional => if (kind.held(value)) |held| drop(list, kind.element.?, @constCast(held)),
        .record, .tuple => for (kind.fieldSlice()) |*field| drop(list, field.type, @constCast(field.in(value))),
        .sum => for (kind.variantOf(value).fieldSlice()) |*field| drop(list, field.type, @constCast(field.in(value))),
        .string, .array, .map, .box, .task, .agent, .capability, .@"error", .function => {
            const block = pointerAt(anyopaque, value);
            if (!loseOwner(block)) return;
            switch (kind.kind) {
                .string => memory.freeBlock(block),
                .box => dropBox(list, kind.element.?, @ptrCast(@alignCast(block))),
                .array => dropArray(list, kind.element.?, @ptrCast(@alignCast(block))),
                .map => dropMap(list, kind, @ptrCast(@alignCast(block))),
                .task => list.push(block, .task),
                .agent => list.push(block, .agent),
                .capability, .function => list.push(block, .capability),
                .@"error" => list.push(block, .@"error"),
                else => unreachable,
            }
        },
    }
}

fn dropBox(list: *DeadList, element: *const abi.Type, box: *abi.Box) void {
    if (element.counted == 0) return memory.freeBlock(box);
    list.pushBox(element, box);
}

fn dropArray(list: *DeadList, element: *const abi.Type, array: *abi.Array) void {
    if (element.counted == 0 or array.length == 0) return memory.freeBlock(array);
    // A dead array needs its capacity no more: the word keeps the elements' type for later.
    array.capacity = @bitCast(@as(u64, @intFromPtr(element)));
    list.push(array, .array);
}

fn dropMap(list: *DeadList, kind: *const abi.Type, dead: *abi.Map) void {
    if (kind.element.?.counted == 0 and kind.key.?.counted == 0) return memory.freeBlock(dead);
    // As with arrays: its length is needed no more.
    dead.length = @bitCast(@as(u64, @intFromPtr(kind)));
    list.push(dead, .map);
}

fn dropEntries(list: *DeadList, dead: *abi.Map) void {
    const kind: *const abi.Type = @ptrFromInt(@as(usize, @bitCast(dead.length)));
    const shape: map.Shape = .of(kind);
    for (0..@intCast(dead.used)) |index| {
        if (!shape.stands(dead, index)) continue;
        drop(list, shape.key, shape.keyAt(dead, index));
        drop(list, shape.held, shape.valueAt(dead, index));
    }
}

fn dropElements(list: *DeadList, array: *abi.Array) void {
    const element: *const abi.Type = @ptrFromInt(@as(usize, @bitCast(array.capacity)));
    for (0..@intCast(array.length)) |index| drop(list, element, elementOf(array, element, index));
}

fn dropOutcome(list: *DeadList, task: *scheduler.Task) void {
    if (task.state != .ended) {
        assert(task.state == .created);
        return;
    }
    const outcome = task.outcome();
    switch (outcome.status) {
        abi.status_ok => drop(list, task.result, outcome.value()),
        abi.status_failed => if (outcome.@"error") |held| {
            if (loseOwner(held)) list.push(held, .@"error");
        },
        else => {}, // Cancelled: it has neither.
    }
}

// ---- Comparing

/// Two arrays, maps of the same keys, or payloads, whose parts are still to be compared.
const Pair = union(enum) {
    arrays: struct { element: *const abi.Type, left: *abi.Array, right: *abi.Array, index: usize },
    maps: struct { kind: *const abi.Type, left: *abi.Map, right: *abi.Map, index: usize },
    payloads: struct { kind: *const abi.Type, left: *const anyopaque, right: *const anyopaque },
};

const PairStack = struct {
    items: []Pair = &.{},
    length: usize = 0,

    fn push(stack: *PairStack, pair: Pair) void {
        if (stack.length == stack.items.len) {
            trace.kv_here = null; // Nor does what only looks at them.
            const larger = memory.allocateSlice(Pair, @max(8, 2 * stack.items.len));
            @memcpy(larger[0..stack.length], stack.items);
            memory.freeSlice(Pair, stack.items);
            stack.items = larger;
        }
        stack.items[stack.length] = pair;
        stack.length += 1;
    }
};

/// In the order of `sort`: what has an order, and tuples and dates, of which the first parts that differ decide.
pub fn order(kind: *const abi.Type, left: *const anyopaque, right: *const anyopaque) std.math.Order {
    switch (kind.kind) {
        .int, .duration, .instant => return std.math.order(load(i64, left), load(i64, right)),
        .float => return orderOfFloats(load(f64, left), load(f64, right)),
        .string => return string.order(pointerAt(abi.String, left), pointerAt(abi.String, right)),
        .record, .tuple => {
            for (kind.fieldSlice()) |*field| {
                const found = order(field.type, field.in(left), field.in(right));
                if (found != .eq) return found;
            }
            return .eq;
        },
        else => panic.internalError("values of a type without an order are put in order"),
    }
}

/// NaN is after everything else.
pub fn orderOfFloats(left: f64, right: f64) std.math.Order {
    if (left < right) return .lt;
    if (left > right) return .gt;
    return std.math.order(@intFromBool(std.math.isNan(left)), @intFromBool(std.math.isNan(right)));
}

pub fn equal(kind: *const abi.Type, left: *const anyopaque, right: *const anyopaque) bool {
    var stack: PairStack = .{};
    defer memory.freeSlice(Pair, stack.items);
    if (!equalHere(&stack, kind, left, right)) return false;
    while (stack.length > 0) {
        const top = &stack.items[stack.length - 1];
        switch (top.*) {
            .payloads => |pair| {
                stack.length -= 1;
                if (!equalHere(&stack, pair.kind, pair.left, pair.right)) return false;
            },
            .maps => |*pair| {
                const shape: map.Shape = .of(pair.kind);
                const index = pair.index;
                const left_map = pair.left;
                const right_map = pair.right;
                pair.index += 1;
                if (pair.index == left_map.used) stack.length -= 1;
                if (!shape.stands(left_map, index)) continue;
                const other = map.find(shape, right_map, shape.keyAt(left_map, index)) orelse return false;
                if (!equalHere(&stack, shape.held, shape.valueAt(left_map, index), shape.valueAt(right_map, other))) return false;
            },
            .arrays => |*pair| {
                const element = pair.element;
                const index = pair.index;
                const left_element = elementOf(pair.left, element, index);
                const right_element = elementOf(pair.right, element, index);
                pair.index += 1;
                if (pair.index == pair.left.length) stack.length -= 1;
                if (!equalHere(&stack, element, left_element, right_element)) return false;
            },
        }
    }
    return true;
}

/// Compares what lies in place; blocks with parts go to the stack.
fn equalHere(stack: *PairStack, kind: *const abi.Type, left: *const anyopaque, right: *const anyopaque) bool {
    switch (kind.kind) {
        .nothing => return true,
        .bool => return load(u8, left) == load(u8, right),
        .int, .duration, .instant => return load(i64, left) == load(i64, right),
        .float => return load(f64, left) == load(f64, right),
        .string => return string.equal(pointerAt(abi.String, left), pointerAt(abi.String, right)),
        .task, .agent, .capability, .function => return pointerAt(abi.Block, left) == pointerAt(abi.Block, right),
        .optional => {
            const held = kind.held(left) orelse return kind.held(right) == null;
            return equalHere(stack, kind.element.?, held, kind.held(right) orelse return false);
        },
        .box => {
            const left_box = pointerAt(abi.Box, left);
            const right_box = pointerAt(abi.Box, right);
            stack.push(.{ .payloads = .{ .kind = kind.element.?, .left = left_box.value(), .right = right_box.value() } });
            return true;
        },
        .record, .tuple => return equalFields(stack, kind.fieldSlice(), left, right),
        .sum => {
            if (load(i32, left) != load(i32, right)) return false;
            return equalFields(stack, kind.variantOf(left).fieldSlice(), left, right);
        },
        .array => {
            const left_array = pointerAt(abi.Array, left);
            const right_array = pointerAt(abi.Array, right);
            if (left_array.length != right_array.length) return false;
            // The same block may still differ from itself: it may hold a NaN.
            if (left_array.length == 0) return true;
            stack.push(.{ .arrays = .{ .element = kind.element.?, .left = left_array, .right = right_array, .index = 0 } });
            return true;
        },
        .map => {
            const left_map = pointerAt(abi.Map, left);
            const right_map = pointerAt(abi.Map, right);
            if (left_map.length != right_map.length) return false;
            if (left_map.length == 0) return true;
            stack.push(.{ .maps = .{ .kind = kind, .left = left_map, .right = right_map, .index = 0 } });
            return true;
        },
        .@"error" => {
            const left_error = pointerAt(abi.Error, left);
            const right_error = pointerAt(abi.Error, right);
            if (left_error.type != right_error.type) return false;
            stack.push(.{ .payloads = .{ .kind = left_error.type, .left = left_error.payload(), .right = right_error.payload() } });
            return true;
        },
    }
}

fn equalFields(stack: *PairStack, fields: []const abi.Field, left: *const anyopaque, right: *const anyopaque) bool {
    for (fields) |*field| {
        if (!equalHere(stack, field.type, field.in(left), field.in(right))) return false;
    }
    return true;
}

pub fn load(comptime T: type, value: *const anyopaque) T {
    const typed: *const T = @ptrCast(@alignCast(value));
    return typed.*;
}

// ---- Exports

pub export fn kv_retain_value(kind: *const abi.Type, value: *const anyopaque) callconv(.c) void {
    retain(kind, value);
}

pub export fn kv_release_value(kind: *const abi.Type, value: *anyopaque) callconv(.c) void {
    release(kind, value);
}

pub export fn kv_equal(kind: *const abi.Type, left: *const anyopaque, right: *const anyopaque) callconv(.c) bool {
    return equal(kind, left, right);
}

pub export fn kv_error_new(kind: *const abi.Type, payload: *const anyopaque) callconv(.c) *abi.Error {
    const size: usize = @intCast(kind.size);
    const made: *abi.Error = @ptrCast(@alignCast(memory.allocateBlock(abi.Error.payload_offset + size)));
    made.type = kind;
    const from: [*]const u8 = @ptrCast(payload);
    const to: [*]u8 = @ptrCast(made.payload());
    @memcpy(to[0..size], from[0..size]);
    return made;
}

// ---- Capability values under limits: each agent's limits stand once in a chain, the last that wrapped it outermost.

/// The value that `layer` wraps, if it is itself one of limits.
fn innerOf(layer: *abi.Capability) ?*abi.Capability {
    if (layer.vtable.payload_type.kind != .capability) return null;
    return pointerAt(abi.Capability, layer.payload());
}

/// Wraps `inner`, which is given up.
fn wrap(vtable: *const abi.VTable, inner: *abi.Capability) *abi.Capability {
    const size = abi.Capability.payload_offset + @sizeOf(*abi.Capability);
    const made: *abi.Capability = @ptrCast(@alignCast(memory.allocateBlock(size)));
    made.vtable = vtable;
    const slot: **abi.Capability = @ptrCast(@alignCast(made.payload()));
    slot.* = inner;
    return made;
}

/// One more owner of `chain`, or of a copy without the layer of these limits. Chains are no longer than there are agents.
fn without(vtable: *const abi.VTable, chain: *abi.Capability) *abi.Capability {
    var layer = chain;
    while (layer.vtable != vtable) layer = innerOf(layer) orelse {
        if (chain.count != 0) chain.count += 1;
        return chain;
    };
    const inner = innerOf(chain).?;
    if (chain == layer) {
        if (inner.count != 0) inner.count += 1;
        return inner;
    }
    return wrap(chain.vtable, without(vtable, inner));
}

/// The capability under the limits that `vtable` is, which stand nowhere else in it.
pub export fn kv_capability_limit(vtable: *const abi.VTable, held: *abi.Capability) callconv(.c) *abi.Capability {
    assert(vtable.payload_type.kind == .capability);
    var slot = held;
    defer release(vtable.payload_type, @ptrCast(&slot));
    return wrap(vtable, without(vtable, held));
}
