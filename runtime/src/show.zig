//! How values show (docs/spec.md 2.show).

const std = @import("std");
const abi = @import("abi.zig");
const map_block = @import("map.zig");
const memory = @import("memory.zig");
const string = @import("string.zig");
const textual = @import("text.zig");
const value_walk = @import("value.zig");

const assert = std.debug.assert;
const Text = abi.Text;
const load = value_walk.load;

// ---- Numbers

pub fn int(text: *Text, value: i64) void {
    var digits: [20]u8 = undefined;
    var index = digits.len;
    var rest = @abs(value);
    while (true) {
        index -= 1;
        digits[index] = '0' + @as(u8, @intCast(rest % 10));
        rest /= 10;
        if (rest == 0) break;
    }
    if (value < 0) {
        index -= 1;
        digits[index] = '-';
    }
    textual.append(text, digits[index..]);
}

pub fn float(text: *Text, value: f64) void {
    if (std.math.isNan(value)) return textual.append(text, "nan");
    if (std.math.isInf(value)) return textual.append(text, if (value < 0) "-inf" else "inf");
    const size = @abs(value);
    var buffer: [std.fmt.float.bufferSize(.decimal, f64)]u8 = undefined;
    const is_positional = size == 0 or (size >= 1e-6 and size < 1e16);
    const digits = std.fmt.float.render(&buffer, value, .{ .mode = if (is_positional) .decimal else .scientific }) catch unreachable;
    textual.append(text, digits);
    if (is_positional and std.mem.findScalar(u8, digits, '.') == null) textual.append(text, ".0");
}

pub fn duration(text: *Text, value_ns: i64) void {
    const Unit = struct { name: []const u8, length_ns: i64 };
    const units = [_]Unit{
        .{ .name = "d", .length_ns = std.time.ns_per_day },
        .{ .name = "h", .length_ns = std.time.ns_per_hour },
        .{ .name = "m", .length_ns = std.time.ns_per_min },
        .{ .name = "s", .length_ns = std.time.ns_per_s },
        .{ .name = "ms", .length_ns = std.time.ns_per_ms },
        .{ .name = "us", .length_ns = std.time.ns_per_us },
        .{ .name = "ns", .length_ns = 1 },
    };
    if (value_ns == 0) return textual.append(text, "0s");
    for (units) |unit| {
        if (@rem(value_ns, unit.length_ns) != 0) continue;
        int(text, @divExact(value_ns, unit.length_ns));
        return textual.append(text, unit.name);
    }
    unreachable; // Whole nanoseconds divide everything.
}

pub fn instant(text: *Text, value_ns: i64) void {
    const days = @divFloor(value_ns, std.time.ns_per_day);
    const in_day_ns: u64 = @intCast(@mod(value_ns, std.time.ns_per_day));
    const date = dateOf(days);
    padded(text, date.year, 4);
    textual.append(text, "-");
    padded(text, date.month, 2);
    textual.append(text, "-");
    padded(text, date.day, 2);
    textual.append(text, "T");
    const seconds = in_day_ns / std.time.ns_per_s;
    padded(text, seconds / 3600, 2);
    textual.append(text, ":");
    padded(text, seconds / 60 % 60, 2);
    textual.append(text, ":");
    padded(text, seconds % 60, 2);
    const fraction_ns = in_day_ns % std.time.ns_per_s;
    if (fraction_ns != 0) {
        textual.append(text, ".");
        if (fraction_ns % std.time.ns_per_ms == 0) {
            padded(text, fraction_ns / std.time.ns_per_ms, 3);
        } else if (fraction_ns % std.time.ns_per_us == 0) {
            padded(text, fraction_ns / std.time.ns_per_us, 6);
        } else {
            padded(text, fraction_ns, 9);
        }
    }
    textual.append(text, "Z");
}

const Date = struct { year: u64, month: u64, day: u64 };

/// The Gregorian date of a day counted from 1970-01-01. Years are counted from March, so that a leap day is a year's last.
fn dateOf(days_since_1970: i64) Date {
    const days_from_0000_03_01_to_1970 = 719_468;
    const days_per_era = 146_097; // 400 years.
    const day: u64 = @intCast(days_since_1970 + days_from_0000_03_01_to_1970); // An Instant begins in 1677.
    const era = day / days_per_era;
    const day_of_era = day % days_per_era;
    const year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    const day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const month_from_march = (5 * day_of_year + 2) / 153;
    const month = if (month_from_march < 10) month_from_march + 3 else month_from_march - 9;
    return .{
        .year = era * 400 + year_of_era + @intFromBool(month <= 2),
        .month = month,
        .day = day_of_year - (153 * month_from_march + 2) / 5 + 1,
    };
}

fn padded(text: *Text, number: u64, width: usize) void {
    assert(width <= 9);
    var digits: [9]u8 = undefined;
    var rest = number;
    var index = width;
    while (index > 0) {
        index -= 1;
        digits[index] = '0' + @as(u8, @intCast(rest % 10));
        rest /= 10;
    }
    assert(rest == 0);
    textual.append(text, digits[0..width]);
}

/// A string inside another value.
pub fn quoted(text: *Text, bytes: []const u8) void {
    textual.appendByte(text, '"');
    var plain_start: usize = 0;
    for (bytes, 0..) |byte, index| {
        var code_buffer = "\\u{??}".*;
        const escape: []const u8 = switch (byte) {
            '\n' => "\\n",
            '\t' => "\\t",
            '\r' => "\\r",
            0 => "\\0",
            '\\' => "\\\\",
            '"' => "\\\"",
            '{' => "\\{",
            '}' => "\\}",
            1...8, 11, 12, 14...0x1f, 0x7f => hexadecimal(&code_buffer, byte),
            else => continue,
        };
        textual.append(text, bytes[plain_start..index]);
        textual.append(text, escape);
        plain_start = index + 1;
    }
    textual.append(text, bytes[plain_start..]);
    textual.appendByte(text, '"');
}

fn hexadecimal(buffer: *[6]u8, byte: u8) []const u8 {
    const digits = "0123456789abcdef";
    if (byte < 16) {
        buffer[3] = digits[byte];
        buffer[4] = '}';
        return buffer[0..5];
    }
    buffer[3] = digits[byte >> 4];
    buffer[4] = digits[byte & 15];
    return buffer;
}

// ---- Values by descriptor. Parts that are still to be shown are kept in a list, not on the native stack: data may be
//      nested as deep as a program likes.

const Parts = struct {
    /// The parts: fields at offsets of `base`, or elements side by side from it.
    fields: []const abi.Field = &.{},
    element: ?*const abi.Type = null,
    base: *const anyopaque,
    count: usize,
    index: usize = 0,
    /// Of a map: its type; the number of the next entry to look at; whether an entry's key is shown and its value is not.
    map: ?*const abi.Type = null,
    entry: usize = 0,
    at_value: bool = false,
};

const PartsStack = struct {
    items: []Parts = &.{},
    length: usize = 0,

    fn push(stack: *PartsStack, parts: Parts) void {
        if (stack.length == stack.items.len) {
            const larger = memory.allocateSlice(Parts, @max(8, 2 * stack.items.len));
            @memcpy(larger[0..stack.length], stack.items);
            memory.freeSlice(Parts, stack.items);
            stack.items = larger;
        }
        stack.items[stack.length] = parts;
        stack.length += 1;
    }
};

/// As `"{value}"` shows it: a string, also the one that an error holds, is bare.
pub fn atTop(text: *Text, kind: *const abi.Type, value: *const anyopaque) void {
    switch (kind.kind) {
        .optional => if (kind.held(value)) |held| atTop(text, kind.element.?, held) else textual.append(text, "none"),
        .string => textual.append(text, load(*const abi.String, value).slice()),
        .@"error" => {
            const held = load(*abi.Error, value);
            if (held.type.kind == .string) {
                textual.append(text, load(*const abi.String, held.payload()).slice());
            } else inside(text, held.type, held.payload());
        },
        else => inside(text, kind, value),
    }
}

/// As it shows inside another value.
pub fn inside(text: *Text, kind: *const abi.Type, value: *const anyopaque) void {
    var stack: PartsStack = .{};
    defer memory.freeSlice(Parts, stack.items);
    start(text, &stack, kind, value);
    while (stack.length > 0) {
        const parts = &stack.items[stack.length - 1];
        if (parts.map) |map_kind| {
            nextOfMap(text, &stack, parts, map_kind);
            continue;
        }
        if (parts.index == parts.count) {
            textual.appendByte(text, if (parts.element != null) ']' else ')');
            stack.length -= 1;
            continue;
        }
        const index = parts.index;
        parts.index += 1;
        if (index > 0) textual.append(text, ", ");
        if (parts.element) |element| {
            const bytes: [*]const u8 = @ptrCast(parts.base);
            start(text, &stack, element, bytes + index * element.stride());
        } else {
            const field = &parts.fields[index];
            if (field.name.length > 0) { // A tuple's have no names.
                textual.append(text, field.name.slice());
                textual.append(text, ": ");
            }
            start(text, &stack, field.type, field.in(parts.base));
        }
    }
}

/// The next key or value of a map, or its end. `parts` may move when something is pushed.
fn nextOfMap(text: *Text, stack: *PartsStack, parts: *Parts, kind: *const abi.Type) void {
    const shape: map_block.Shape = .of(kind);
    const map: *abi.Map = @ptrCast(@alignCast(@constCast(parts.base)));
    if (parts.at_value) {
        parts.at_value = false;
        const entry = parts.entry - 1;
        textual.append(text, ": ");
        return start(text, stack, shape.held, shape.valueAt(map, entry));
    }
    if (parts.index == parts.count) {
        textual.appendByte(text, ']');
        stack.length -= 1;
        return;
    }
    while (!shape.stands(map, parts.entry)) parts.entry += 1;
    const entry = parts.entry;
    if (parts.index > 0) textual.append(text, ", ");
    parts.index += 1;
    parts.entry += 1;
    parts.at_value = true;
    start(text, stack, shape.key, shape.keyAt(map, entry));
}

/// Shows a value, or its beginning: then its parts are on the stack.
fn start(text: *Text, stack: *PartsStack, given_kind: *const abi.Type, given_value: *const anyopaque) void {
    var kind = given_kind;
    var value = given_value;
    while (true) switch (kind.kind) { // Some show as the value that they hold.
        .@"error" => {
            const held = load(*abi.Error, value);
            kind = held.type;
            value = held.payload();
        },
        .box => {
            value = load(*abi.Box, value).value();
            kind = kind.element.?;
        },
        .optional => {
            value = kind.held(value) orelse return textual.append(text, "none");
            kind = kind.element.?;
        },
        else => break,
    };
    switch (kind.kind) {
        .int => int(text, load(i64, value)),
        .float => float(text, load(f64, value)),
        .bool => textual.append(text, if (load(u8, value) != 0) "true" else "false"),
        .nothing => textual.append(text, "()"),
        .string => quoted(text, load(*const abi.String, value).slice()),
        .duration => duration(text, load(i64, value)),
        .instant => instant(text, load(i64, value)),
        .task => textual.append(text, "<task>"),
        .agent => textual.append(text, "<agent>"),
        .capability => textual.append(text, "<capability>"),
        .function => textual.append(text, "<function>"),
        .array => {
            const array = load(*abi.Array, value);
            textual.appendByte(text, '[');
            stack.push(.{ .element = kind.element.?, .base = array.elements(), .count = @intCast(array.length) });
        },
        .map => {
            const map = load(*abi.Map, value);
            if (map.length == 0) return textual.append(text, "[:]");
            textual.appendByte(text, '[');
            stack.push(.{ .map = kind, .base = map, .count = @intCast(map.length) });
        },
        .record => {
            const fields = kind.fieldSlice();
            textual.append(text, kind.name.slice());
            textual.appendByte(text, '(');
            stack.push(.{ .fields = fields, .base = value, .count = fields.len });
        },
        .sum => {
            const variant = kind.variantOf(value);
            const fields = variant.fieldSlice();
            textual.append(text, variant.name.slice());
            if (fields.len == 0) return;
            textual.appendByte(text, '(');
            stack.push(.{ .fields = fields, .base = value, .count = fields.len });
        },
        .tuple => {
            const fields = kind.fieldSlice();
            textual.appendByte(text, '(');
            stack.push(.{ .fields = fields, .base = value, .count = fields.len });
        },
        .@"error", .box, .optional => unreachable,
    }
}
