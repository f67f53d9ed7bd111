//! `json.encode` (docs/spec.md 10.json).

const std = @import("std");
const abi = @import("abi.zig");
const dates = @import("library_date.zig");
const map_block = @import("map.zig");
const moments = @import("moments.zig");
const panic = @import("panic.zig");
const show = @import("show.zig");
const textual = @import("text.zig");
const value_walk = @import("value.zig");
const load = value_walk.load;

/// Arrays and objects inside one another: as many as are read back.
const depth_max = 128;

export fn kv_lib_json_encode(value: *const anyopaque, kind: *const abi.Type, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) *abi.String {
    var text: abi.Text = .{};
    const encoder: Encoder = .{ .text = &text, .site = site, .caller = caller };
    encoder.value(kind, value, 0);
    return textual.finish(&text);
}

const Encoder = struct {
    text: *abi.Text,
    site: ?*const abi.Site,
    caller: ?*const abi.Caller,

    /// `depth` is the number of arrays and objects around the value.
    fn value(encoder: Encoder, kind: *const abi.Type, at: *const anyopaque, depth: usize) void {
        const text = encoder.text;
        switch (kind.kind) {
            .int => show.int(text, load(i64, at)),
            .float => encoder.float(load(f64, at)),
            .bool => textual.append(text, if (load(u8, at) != 0) "true" else "false"),
            .string => encoder.string(load(*const abi.String, at).slice()),
            .duration, .instant => {
                textual.appendByte(text, '"');
                if (kind.kind == .duration) show.duration(text, load(i64, at)) else show.instant(text, load(i64, at));
                textual.appendByte(text, '"');
            },
            .optional => if (kind.held(at)) |held| encoder.value(kind.element.?, held, depth) else textual.append(text, "null"),
            .box => encoder.value(kind.element.?, load(*abi.Box, at).value(), depth),
            .array => encoder.array(kind.element.?, load(*abi.Array, at), encoder.deeper(depth)),
            .tuple => {
                const inside = encoder.deeper(depth);
                textual.appendByte(text, '[');
                for (kind.fieldSlice(), 0..) |*field, index| {
                    if (index > 0) textual.appendByte(text, ',');
                    encoder.value(field.type, field.in(at), inside);
                }
                textual.appendByte(text, ']');
            },
            .record => if (moments.isDate(kind)) encoder.date(kind.fieldSlice(), at) else encoder.object(kind.fieldSlice(), at, depth),
            .sum => {
                const variant = kind.variantOf(at);
                if (variant.field_count == 0) return encoder.string(variant.name.slice());
                const inside = encoder.deeper(depth);
                textual.appendByte(text, '{');
                encoder.string(variant.name.slice());
                textual.appendByte(text, ':');
                encoder.object(variant.fieldSlice(), at, inside);
                textual.appendByte(text, '}');
            },
            .map => encoder.map(kind, load(*abi.Map, at), encoder.deeper(depth)),
            .nothing, .task, .agent, .capability, .@"error", .function => unreachable, // The compiler refuses them.
        }
    }

    fn date(encoder: Encoder, fields: []const abi.Field, at: *const anyopaque) void {
        const text = encoder.text;
        var parts: [3]i64 = undefined;
        for (&parts, fields) |*part, *field| part.* = load(i64, field.in(at));
        dates.guard(parts[0], parts[1], parts[2], encoder.site, encoder.caller);
        var buffer: [12]u8 = undefined;
        const numbers = .{ @as(u64, @intCast(parts[0])), @as(u64, @intCast(parts[1])), @as(u64, @intCast(parts[2])) };
        textual.append(text, std.fmt.bufPrint(&buffer, "\"{d:0>4}-{d:0>2}-{d:0>2}\"", numbers) catch unreachable);
    }

    fn deeper(encoder: Encoder, depth: usize) usize {
        if (depth == depth_max) panic.panicAt("the value is nested too deeply for JSON", encoder.site, encoder.caller);
        return depth + 1;
    }

    fn float(encoder: Encoder, number: f64) void {
        if (!std.math.isFinite(number)) {
            var message: abi.Text = .{};
            show.float(&message, number);
            textual.append(&message, " is no JSON number");
            panic.panicAt(message.slice(), encoder.site, encoder.caller);
        }
        show.float(encoder.text, number);
    }

    /// Only what must be is escaped.
    fn string(encoder: Encoder, bytes: []const u8) void {
        const text = encoder.text;
        textual.appendByte(text, '"');
        var plain_start: usize = 0;
        for (bytes, 0..) |byte, index| {
            var code = "\\u00??".*;
            const escape: []const u8 = switch (byte) {
                '"' => "\\\"",
                '\\' => "\\\\",
                '\n' => "\\n",
                '\r' => "\\r",
                '\t' => "\\t",
                8 => "\\b",
                12 => "\\f",
                0...7, 11, 14...31 => blk: {
                    code[4] = std.fmt.digitToChar(byte >> 4, .lower);
                    code[5] = std.fmt.digitToChar(byte & 15, .lower);
                    break :blk &code;
                },
                else => continue,
            };
            textual.append(text, bytes[plain_start..index]);
            textual.append(text, escape);
            plain_start = index + 1;
        }
        textual.append(text, bytes[plain_start..]);
        textual.appendByte(text, '"');
    }

    fn array(encoder: Encoder, element: *const abi.Type, held: *abi.Array, depth: usize) void {
        textual.appendByte(encoder.text, '[');
        for (0..@intCast(held.length)) |index| {
            if (index > 0) textual.appendByte(encoder.text, ',');
            encoder.value(element, held.elements() + index * element.stride(), depth);
        }
        textual.appendByte(encoder.text, ']');
    }

    fn object(encoder: Encoder, fields: []const abi.Field, base: *const anyopaque, depth: usize) void {
        const inside = encoder.deeper(depth);
        textual.appendByte(encoder.text, '{');
        for (fields, 0..) |*field, index| {
            if (index > 0) textual.appendByte(encoder.text, ',');
            encoder.string(field.name.slice());
            textual.appendByte(encoder.text, ':');
            encoder.value(field.type, field.in(base), inside);
        }
        textual.appendByte(encoder.text, '}');
    }

    /// An object; where keys are no Strings, an array of pairs.
    fn map(encoder: Encoder, kind: *const abi.Type, held: *abi.Map, depth: usize) void {
        const text = encoder.text;
        const shape = map_block.Shape.of(kind);
        const has_names = shape.key.kind == .string;
        textual.appendByte(text, if (has_names) '{' else '[');
        var is_first = true;
        for (0..@intCast(held.used)) |index| {
            if (!shape.stands(held, index)) continue;
            if (!is_first) textual.appendByte(text, ',');
            is_first = false;
            const key = shape.keyAt(held, index);
            if (has_names) {
                encoder.string(load(*const abi.String, key).slice());
                textual.appendByte(text, ':');
                encoder.value(shape.held, shape.valueAt(held, index), depth);
                continue;
            }
            const inside = encoder.deeper(depth);
            textual.appendByte(text, '[');
            encoder.value(shape.key, key, inside);
            textual.appendByte(text, ',');
            encoder.value(shape.held, shape.valueAt(held, index), inside);
            textual.appendByte(text, ']');
        }
        textual.appendByte(text, if (has_names) '}' else ']');
    }
};
