//! Makes a native value, laid out as its descriptor says, from JSON that is known to fit (json_check).

const std = @import("std");
const abi = @import("abi.zig");
const allocator = @import("allocator.zig").runtime;
const array_block = @import("array.zig");
const check = @import("json_check.zig");
const json = @import("json.zig");
const map_block = @import("map.zig");
const memory = @import("memory.zig");
const moments = @import("moments.zig");
const string_block = @import("string.zig");
const assert = std.debug.assert;

/// How the text fits the type as JSON, and a note where it does not.
pub export fn kv_json_check(expected: *const abi.Type, text: *const abi.String, out: *abi.Answer) callconv(.c) void {
    var note: std.ArrayList(u8) = .empty;
    defer note.deinit(allocator);
    const verdict = check.look(allocator, expected, text.slice(), "value", &note) catch unreachable;
    out.* = .{ .kind = @fromBackingInt(@intCast(@backingInt(verdict))), .status = 0, .text = string_block.create(note.items) };
}

/// `text` is JSON that is known to fit `expected`. The value at `out` is then the caller's.
pub export fn kv_decode(expected: *const abi.Type, text: *const abi.String, out: *anyopaque) callconv(.c) void {
    fromJson(expected, text.slice(), out);
}

/// `text` is the text of an answer that fits `expected`.
pub fn decode(expected: *const abi.Type, text: []const u8, out: *anyopaque) void {
    // An answer of the type String is the model's text as it stands, not JSON (spec 8.4.string).
    if (expected.kind == .string) return store(*abi.String, out, string_block.create(text));
    fromJson(expected, text, out);
}

/// The value that JSON is which is known to fit `expected`.
pub fn fromJson(expected: *const abi.Type, text: []const u8, out: *anyopaque) void {
    var decoder: Decoder = .{ .cursor = .{ .text = text } };
    defer decoder.name.deinit(allocator);
    // The text was checked before, and memory never runs out silently, so no error can come from here.
    decoder.value(expected, out) catch unreachable;
    assert(decoder.cursor.peek() == null);
}

fn store(comptime T: type, out: *anyopaque, value: T) void {
    const slot: *T = @ptrCast(@alignCast(out));
    slot.* = value;
}

fn at(base: *anyopaque, offset: i64) *anyopaque {
    const bytes: [*]u8 = @ptrCast(base);
    return bytes + @as(usize, @intCast(offset));
}

/// Zeroes: of an optional, `none`.
fn clear(kind: *const abi.Type, out: *anyopaque) void {
    const bytes: [*]u8 = @ptrCast(out);
    @memset(bytes[0..@intCast(kind.size)], 0);
}

fn newBox(element: *const abi.Type) *abi.Box {
    const block = memory.allocateBlock(abi.Box.value_offset + @as(usize, @intCast(element.size)));
    return @ptrCast(@alignCast(block));
}

const Decoder = struct {
    cursor: json.Cursor,
    name: std.ArrayList(u8) = .empty,

    fn value(decoder: *Decoder, expected: *const abi.Type, out: *anyopaque) json.Error!void {
        switch (expected.kind) {
            .int => store(i64, out, check.parseInt(try decoder.cursor.number()).?),
            .float => {
                const number = try decoder.cursor.number();
                store(f64, out, std.fmt.parseFloat(f64, number.text) catch unreachable);
            },
            .bool => store(u8, out, @intFromBool(try decoder.cursor.boolean())),
            .string => store(*abi.String, out, string_block.create(try decoder.string())),
            .array => store(*abi.Array, out, try decoder.array(expected.element.?)),
            .map => store(*abi.Map, out, try decoder.map(expected)),
            .optional => {
                clear(expected, out);
                if (try decoder.cursor.peekKind() == .null) {
                    try decoder.cursor.skipValue(allocator, 0);
                } else {
                    store(i32, out, 1);
                    try decoder.value(expected.element.?, @constCast(expected.heldAt(out)));
                }
            },
            .box => {
                const box = newBox(expected.element.?);
                store(*abi.Box, out, box);
                try decoder.value(expected.element.?, box.value());
            },
            .tuple => {
                clear(expected, out);
                var members = try decoder.cursor.open('[');
                for (expected.fieldSlice()) |*field| {
                    const has_element = try members.next();
                    assert(has_element);
                    try decoder.value(field.type, at(out, field.offset));
                }
                const has_more = try members.next();
                assert(!has_more);
            },
            .record => if (moments.isDate(expected)) {
                const parts = moments.date(try decoder.string()).?;
                for (expected.fieldSlice(), parts) |*field, part| store(i64, at(out, field.offset), part);
            } else {
                clear(expected, out);
                try decoder.object(expected.fieldSlice(), out);
            },
            .sum => try decoder.sum(expected, out),
            .duration => store(i64, out, moments.duration(try decoder.string()).?),
            .instant => store(i64, out, moments.instant(try decoder.string()).?),
            .nothing, .task, .agent, .capability, .@"error", .function => unreachable,
        }
    }

    /// The next string; valid until the next one is read.
    fn string(decoder: *Decoder) json.Error![]const u8 {
        decoder.name.clearRetainingCapacity();
        try decoder.cursor.string(allocator, &decoder.name);
        return decoder.name.items;
    }

    fn array(decoder: *Decoder, element: *const abi.Type) json.Error!*abi.Array {
        var made = array_block.kv_array_new(element, 0);
        var members = try decoder.cursor.open('[');
        while (try members.next()) {
            array_block.kv_array_grow(&made, element);
            const offset = @as(usize, @intCast(made.length)) * element.stride();
            try decoder.value(element, made.elements() + offset);
            made.length += 1;
        }
        return made;
    }

    fn map(decoder: *Decoder, expected: *const abi.Type) json.Error!*abi.Map {
        var made = map_block.kv_map_new(expected, 0);
        const held = expected.element.?;
        const room = memory.allocateRaw(@max(1, @as(usize, @intCast(held.size))));
        defer memory.freeRaw(room);
        if (expected.key.?.kind != .string) {
            try decoder.pairs(expected, &made, room);
            return made;
        }
        var members = try decoder.cursor.open('{');
        while (try members.next()) {
            var key = string_block.create(try decoder.string());
            try decoder.cursor.expect(':');
            try decoder.value(held, room);
            map_block.kv_map_set(&made, expected, @ptrCast(&key), room);
        }
        return made;
    }

    /// The keys and values of a map whose keys are no Strings. `room` is for one value.
    fn pairs(decoder: *Decoder, expected: *const abi.Type, made: **abi.Map, room: *anyopaque) json.Error!void {
        const key = expected.key.?;
        const key_room = memory.allocateRaw(@max(1, @as(usize, @intCast(key.size))));
        defer memory.freeRaw(key_room);
        var members = try decoder.cursor.open('[');
        while (try members.next()) {
            var pair = try decoder.cursor.open('[');
            const has_key = try pair.next();
            try decoder.value(key, key_room);
            const has_value = try pair.next();
            assert(has_key and has_value);
            try decoder.value(expected.element.?, room);
            const has_more = try pair.next();
            assert(!has_more);
            map_block.kv_map_set(made, expected, key_room, room);
        }
    }

    fn object(decoder: *Decoder, fields: []const abi.Field, base: *anyopaque) json.Error!void {
        var members = try decoder.cursor.open('{');
        while (try members.next()) {
            const index = check.fieldIndex(fields, try decoder.string()).?;
            try decoder.cursor.expect(':');
            try decoder.value(fields[index].type, at(base, fields[index].offset));
        }
        for (fields) |*field| if (field.type.kind == .box) {
            const slot: *?*abi.Box = @ptrCast(@alignCast(at(base, field.offset)));
            if (slot.* == null) { // It was left out, so it is an optional one.
                const box = newBox(field.type.element.?);
                clear(field.type.element.?, box.value());
                slot.* = box;
            }
        };
    }

    fn sum(decoder: *Decoder, expected: *const abi.Type, out: *anyopaque) json.Error!void {
        clear(expected, out);
        const variants = expected.variantSlice();
        if (try decoder.cursor.peekKind() == .string) {
            const index = check.variantIndex(variants, try decoder.string()).?;
            return store(i32, out, @intCast(index));
        }
        var members = try decoder.cursor.open('{');
        const has_key = try members.next();
        assert(has_key);
        const index = check.variantIndex(variants, try decoder.string()).?;
        try decoder.cursor.expect(':');
        store(i32, out, @intCast(index));
        try decoder.object(variants[index].fieldSlice(), out);
        const has_more = try members.next();
        assert(!has_more);
    }
};
