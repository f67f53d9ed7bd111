//! Maps: entries in the order in which their keys first came, and a table that finds them by hash. The seed of the hash
//! is fixed: what a program prints never depends on it, and a run can be repeated exactly.
//!
//! A block is the header, room for `capacity` entries, and the table: twice as many numbers of entries, counted from
//! 1, with 0 for an empty place. An entry is its hash word, the key and the value. Taking a key away clears its hash
//! word and leaves everything else standing, until the map is next made anew.

const std = @import("std");
const abi = @import("abi.zig");
const array = @import("array.zig");
const memory = @import("memory.zig");
const panic = @import("panic.zig");
const show = @import("show.zig");
const textual = @import("text.zig");
const trace = @import("trace.zig");
const value = @import("value.zig");

const assert = std.debug.assert;
const capacity_min = 4;
const capacity_max = 1 << 31; // Numbers of entries fit in 32 bits.
const seed: u64 = 0x9e37_79b9_7f4a_7c15;

/// How the entries of a type of maps lie.
pub const Shape = struct {
    key: *const abi.Type,
    held: *const abi.Type,
    value_offset: usize,
    stride: usize,

    const key_offset = 8;

    pub fn of(kind: *const abi.Type) Shape {
        const key = kind.key.?;
        const held = kind.element.?;
        const key_end: usize = key_offset + @as(usize, @intCast(key.size));
        const value_offset = std.mem.alignForward(usize, key_end, @intCast(held.alignment));
        const end = value_offset + @as(usize, @intCast(held.size));
        return .{ .key = key, .held = held, .value_offset = value_offset, .stride = std.mem.alignForward(usize, end, 8) };
    }

    fn entry(shape: Shape, map: *abi.Map, index: usize) [*]u8 {
        return map.entries() + index * shape.stride;
    }

    pub fn keyAt(shape: Shape, map: *abi.Map, index: usize) *anyopaque {
        return shape.entry(map, index) + key_offset;
    }

    pub fn valueAt(shape: Shape, map: *abi.Map, index: usize) *anyopaque {
        return shape.entry(map, index) + shape.value_offset;
    }

    fn hashWord(shape: Shape, map: *abi.Map, index: usize) *u64 {
        return @ptrCast(@alignCast(shape.entry(map, index)));
    }

    /// Whether an entry stands there: its key has not been taken away.
    pub fn stands(shape: Shape, map: *abi.Map, index: usize) bool {
        return shape.hashWord(map, index).* != 0;
    }

    fn table(shape: Shape, map: *abi.Map) []u32 {
        const capacity: usize = @intCast(map.capacity);
        const first: [*]u32 = @ptrCast(@alignCast(shape.entry(map, capacity)));
        return first[0 .. 2 * capacity];
    }
};

// ---- Hashes

fn mix(state: u64, word: u64) u64 {
    var mixed = (state ^ word) *% 0xbf58_476d_1ce4_e5b9;
    mixed ^= mixed >> 31;
    mixed *%= 0x94d0_49bb_1331_11eb;
    return mixed ^ (mixed >> 29);
}

/// What lies apart and is still to be hashed: keys may be nested deeper than the native stack.
const Apart = struct { kind: *const abi.Type, at: *const anyopaque };

const Hasher = struct {
    state: u64 = seed,
    items: []Apart = &.{},
    length: usize = 0,

    fn push(hasher: *Hasher, item: Apart) void {
        if (hasher.length == hasher.items.len) {
            trace.kv_here = null; // What only looks at values does not say where it is.
            const larger = memory.allocateSlice(Apart, @max(8, 2 * hasher.items.len));
            @memcpy(larger[0..hasher.length], hasher.items);
            memory.freeSlice(Apart, hasher.items);
            hasher.items = larger;
        }
        hasher.items[hasher.length] = item;
        hasher.length += 1;
    }

    fn here(hasher: *Hasher, kind: *const abi.Type, at: *const anyopaque) void {
        switch (kind.kind) {
            .bool => hasher.state = mix(hasher.state, value.load(u8, at)),
            .int, .duration, .instant => hasher.state = mix(hasher.state, @bitCast(value.load(i64, at))),
            .string => hasher.state = std.hash.Wyhash.hash(hasher.state, value.load(*const abi.String, at).slice()),
            .record, .tuple => for (kind.fieldSlice()) |*field| hasher.here(field.type, field.in(at)),
            .sum => {
                hasher.state = mix(hasher.state, @intCast(value.load(i32, at)));
                for (kind.variantOf(at).fieldSlice()) |*field| hasher.here(field.type, field.in(at));
            },
            .box => hasher.push(.{ .kind = kind.element.?, .at = value.load(*abi.Box, at).value() }),
            // The compiler lets none of these be keys.
            .float, .nothing, .array, .map, .optional, .task, .agent, .capability, .@"error", .function => unreachable,
        }
    }
};

/// Never 0, which marks an entry whose key was taken away.
fn hash(kind: *const abi.Type, key: *const anyopaque) u64 {
    var hasher: Hasher = .{};
    hasher.here(kind, key);
    while (hasher.length > 0) {
        hasher.length -= 1;
        const item = hasher.items[hasher.length];
        hasher.here(item.kind, item.at);
    }
    memory.freeSlice(Apart, hasher.items);
    return hasher.state | 1;
}

fn sameKey(kind: *const abi.Type, left: *const anyopaque, right: *const anyopaque) bool {
    return switch (kind.kind) {
        .int => value.load(i64, left) == value.load(i64, right),
        else => value.equal(kind, left, right),
    };
}

// ---- Finding

fn findHashed(shape: Shape, map: *abi.Map, key: *const anyopaque, wanted: u64) ?usize {
    if (map.length == 0) return null;
    const table = shape.table(map);
    const mask = table.len - 1;
    var place = (wanted >> 1) & mask;
    while (table[place] != 0) : (place = (place + 1) & mask) {
        const index = table[place] - 1;
        if (shape.hashWord(map, index).* == wanted and sameKey(shape.key, shape.keyAt(map, index), key)) return index;
    }
    return null;
}

/// The number of the key's entry.
pub fn find(shape: Shape, map: *abi.Map, key: *const anyopaque) ?usize {
    if (map.length == 0) return null;
    return findHashed(shape, map, key, hash(shape.key, key));
}

// ---- Making and changing

fn allocate(shape: Shape, capacity: usize) *abi.Map {
    assert(std.math.isPowerOfTwo(capacity));
    if (capacity > capacity_max) panic.outOfMemory();
    const size = memory.sizeOfMany(abi.Map.entries_offset, shape.stride + 2 * @sizeOf(u32), capacity);
    const map: *abi.Map = @ptrCast(@alignCast(memory.allocateBlock(size)));
    map.length = 0;
    map.used = 0;
    map.capacity = @intCast(capacity);
    @memset(shape.table(map), 0);
    return map;
}

fn capacityFor(count: usize) usize {
    return std.math.ceilPowerOfTwo(usize, @max(capacity_min, count)) catch panic.outOfMemory();
}

fn append(shape: Shape, map: *abi.Map, word: u64) usize {
    assert(map.used < map.capacity);
    const index: usize = @intCast(map.used);
    const table = shape.table(map);
    const mask = table.len - 1;
    var place = (word >> 1) & mask;
    while (table[place] != 0) place = (place + 1) & mask;
    table[place] = @intCast(index + 1);
    shape.hashWord(map, index).* = word;
    map.used += 1;
    map.length += 1;
    return index;
}

/// Moves the entries that stand into a block of their own.
fn replace(slot: **abi.Map, shape: Shape, capacity: usize) void {
    const old = slot.*;
    const made = allocate(shape, capacity);
    const is_owner = old.count == 1;
    for (0..@intCast(old.used)) |from| {
        if (!shape.stands(old, from)) continue;
        const to = append(shape, made, shape.hashWord(old, from).*);
        const size = shape.stride - Shape.key_offset;
        const source: [*]const u8 = @ptrCast(shape.keyAt(old, from));
        const target: [*]u8 = @ptrCast(shape.keyAt(made, to));
        @memcpy(target[0..size], source[0..size]);
        if (!is_owner) {
            value.retain(shape.key, shape.keyAt(made, to));
            value.retain(shape.held, shape.valueAt(made, to));
        }
    }
    if (is_owner) memory.freeBlock(old) else if (old.count != 0) old.count -= 1;
    slot.* = made;
}

fn makeUnique(slot: **abi.Map, shape: Shape) void {
    if (slot.*.count != 1) replace(slot, shape, capacityFor(@intCast(slot.*.length)));
}

fn move(kind: *const abi.Type, to: *anyopaque, from: *const anyopaque) void {
    const size: usize = @intCast(kind.size);
    const target: [*]u8 = @ptrCast(to);
    const source: [*]const u8 = @ptrCast(from);
    @memcpy(target[0..size], source[0..size]);
}

pub export fn kv_map_new(kind: *const abi.Type, capacity: i64) callconv(.c) *abi.Map {
    assert(capacity >= 0);
    return allocate(Shape.of(kind), capacityFor(@intCast(capacity)));
}

pub export fn kv_map_find(kind: *const abi.Type, map: *abi.Map, key: *const anyopaque) callconv(.c) ?*anyopaque {
    const shape: Shape = .of(kind);
    const index = find(shape, map, key) orelse return null;
    return shape.valueAt(map, index);
}

pub export fn kv_map_unique(slot: **abi.Map, kind: *const abi.Type) callconv(.c) void {
    makeUnique(slot, .of(kind));
}

pub export fn kv_map_set(slot: **abi.Map, kind: *const abi.Type, key: *anyopaque, held: *anyopaque) callconv(.c) void {
    const shape: Shape = .of(kind);
    const word = hash(shape.key, key);
    makeUnique(slot, shape);
    if (findHashed(shape, slot.*, key, word)) |index| {
        const place = shape.valueAt(slot.*, index);
        value.release(shape.held, place);
        move(shape.held, place, held);
        return value.release(shape.key, key);
    }
    if (slot.*.used == slot.*.capacity) {
        const length: usize = @intCast(slot.*.length);
        replace(slot, shape, capacityFor(length + length / 2 + 1));
    }
    const index = append(shape, slot.*, word);
    move(shape.key, shape.keyAt(slot.*, index), key);
    move(shape.held, shape.valueAt(slot.*, index), held);
}

pub export fn kv_map_remove(slot: **abi.Map, kind: *const abi.Type, key: *const anyopaque) callconv(.c) void {
    const shape: Shape = .of(kind);
    if (find(shape, slot.*, key) == null) return;
    makeUnique(slot, shape);
    const map = slot.*;
    const index = find(shape, map, key).?; // Entries may have moved.
    shape.hashWord(map, index).* = 0;
    map.length -= 1;
    value.release(shape.held, shape.valueAt(map, index));
    value.release(shape.key, shape.keyAt(map, index));
}

const Part = enum(i32) { keys = 0, values = 1, entries = 2 };

pub export fn kv_map_list(kind: *const abi.Type, map: *abi.Map, element: *const abi.Type, part: Part) callconv(.c) *abi.Array {
    const shape: Shape = .of(kind);
    const made = array.kv_array_new(element, map.length);
    for (0..@intCast(map.used)) |index| {
        if (!shape.stands(map, index)) continue;
        const at: *anyopaque = made.elements() + @as(usize, @intCast(made.length)) * element.stride();
        switch (part) {
            .keys => move(shape.key, at, shape.keyAt(map, index)),
            .values => move(shape.held, at, shape.valueAt(map, index)),
            .entries => {
                const fields = element.fieldSlice();
                move(shape.key, @constCast(fields[0].in(at)), shape.keyAt(map, index));
                move(shape.held, @constCast(fields[1].in(at)), shape.valueAt(map, index));
            },
        }
        value.retain(element, at);
        made.length += 1;
    }
    return made;
}

pub export fn kv_panic_key(kind: *const abi.Type, key: *const anyopaque, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) noreturn {
    trace.stand(site, caller);
    var message: abi.Text = .{};
    textual.append(&message, "key ");
    show.inside(&message, kind, key);
    textual.append(&message, " is not in the map");
    panic.panicAt(message.slice(), site, caller);
}

test "a map keeps its order, grows, forgets and is copied when it has two owners" {
    const int: abi.Type = .{ .kind = .int, .size = 8 };
    const kind: abi.Type = .{ .kind = .map, .size = 8, .counted = 1, .element = &int, .key = &int };
    const shape: Shape = .of(&kind);
    var map = kv_map_new(&kind, 0);
    for (0..1000) |number| {
        var key: i64 = @intCast(number * 7);
        var held: i64 = @intCast(number);
        kv_map_set(&map, &kind, &key, &held);
    }
    for (0..500) |number| {
        const key: i64 = @intCast(number * 14);
        kv_map_remove(&map, &kind, &key);
    }
    try std.testing.expectEqual(@as(i64, 500), map.length);
    map.count += 1;
    var copy = map;
    var key: i64 = 7;
    var held: i64 = -1;
    kv_map_set(&copy, &kind, &key, &held);
    try std.testing.expect(copy != map);
    try std.testing.expectEqual(@as(i64, 1), value.load(i64, kv_map_find(&kind, map, &key).?));
    try std.testing.expectEqual(@as(i64, -1), value.load(i64, kv_map_find(&kind, copy, &key).?));
    key = 14;
    try std.testing.expect(kv_map_find(&kind, copy, &key) == null);
    try std.testing.expectEqual(@as(i64, 7), value.load(i64, shape.keyAt(copy, 0)));
    memory.freeBlock(map);
    memory.freeBlock(copy);
    try std.testing.expectEqual(@as(i64, 0), memory.liveBlocks());
}
