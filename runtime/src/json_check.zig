//! Checks a model's answer against the type that was asked for, exactly (spec 8.4.strict). When it does not fit, a note
//! says what did not, for the next try (spec 8.4.note): first whether it is JSON at all, then the first misfit in it.

const std = @import("std");
const abi = @import("abi.zig");
const decode = @import("decode.zig");
const json = @import("json.zig");
const map_block = @import("map.zig");
const memory = @import("memory.zig");
const moments = @import("moments.zig");
const trace = @import("trace.zig");
const value_block = @import("value.zig");
const assert = std.debug.assert;
const Allocator = std.mem.Allocator;

const Note = std.ArrayList(u8);
/// Bytes of an unfit value that a note quotes at most, so that a re-ask stays small whatever the answer was.
const quote_length_max = 80;

/// The text without one enclosing fence of exactly three back-quotes, each fence line on its own. Anything else that
/// only looks like a fence stays, and then does not fit.
pub fn withoutFence(text: []const u8) []const u8 {
    const trimmed = std.mem.trim(u8, text, " \t\r\n");
    if (!std.mem.startsWith(u8, trimmed, "```")) return text;
    const line_end = std.mem.indexOfScalar(u8, trimmed, '\n') orelse return text;
    const word = std.mem.trim(u8, trimmed[3..line_end], " \t\r");
    for (word) |byte| switch (byte) {
        'a'...'z', 'A'...'Z', '0'...'9', '_', '-', '+', '.' => {},
        else => return text,
    };
    const last_line_start = std.mem.lastIndexOfScalar(u8, trimmed, '\n').? + 1;
    if (!std.mem.eql(u8, std.mem.trim(u8, trimmed[last_line_start..], " \t\r"), "```")) return text;
    if (last_line_start <= line_end + 1) return "";
    return trimmed[line_end + 1 .. last_line_start];
}

/// The numbers are those of kv_json_check.
pub const Verdict = enum(i64) { fits = 0, no_json = 1, misfit = 2 };

/// True when `text` is one whole JSON value that fits `expected`; otherwise `note` says why not.
pub fn fits(allocator: Allocator, expected: *const abi.Type, text: []const u8, note: *Note) Allocator.Error!bool {
    return try look(allocator, expected, text, "answer", note) == .fits;
}

/// As `fits`; the note calls the value `root`.
pub fn look(allocator: Allocator, expected: *const abi.Type, text: []const u8, root: []const u8, note: *Note) Allocator.Error!Verdict {
    assert(note.items.len == 0);
    var checker: Checker = .{ .allocator = allocator, .cursor = .{ .text = text }, .note = note, .root = root };
    defer checker.deinit();
    checker.whole(expected) catch |problem| switch (problem) {
        error.OutOfMemory => return error.OutOfMemory,
        error.Misfit => return if (checker.is_json) .misfit else .no_json,
        error.Syntax => {
            try checker.syntaxNote();
            return .no_json;
        },
    };
    assert(note.items.len == 0);
    return .fits;
}

const Checker = struct {
    const Error = error{ Syntax, Misfit, OutOfMemory };

    allocator: Allocator,
    cursor: json.Cursor,
    note: *Note,
    root: []const u8,
    /// The text is known to be JSON.
    is_json: bool = false,
    /// Where the walk is in the value, as `.items[2].price`.
    path: std.ArrayList(u8) = .empty,
    name: std.ArrayList(u8) = .empty,

    fn deinit(checker: *Checker) void {
        checker.path.deinit(checker.allocator);
        checker.name.deinit(checker.allocator);
    }

    fn whole(checker: *Checker, expected: *const abi.Type) Error!void {
        if (!std.unicode.utf8ValidateSlice(checker.cursor.text)) {
            return checker.misfit("the text is not valid UTF-8", .{});
        }
        if (checker.cursor.peek() == null) return checker.misfit("the text is empty", .{});
        checker.cursor.position = 0;
        try checker.cursor.checkForm(checker.allocator);
        checker.is_json = true;
        try checker.value(expected);
        assert(checker.cursor.peek() == null);
    }

    /// From here on the text is known to be JSON, and not too deep for recursion.
    fn value(checker: *Checker, expected: *const abi.Type) Error!void {
        checker.cursor.skipSpace();
        switch (expected.kind) {
            .int => try checker.int(),
            .float => try checker.float(),
            .bool => {
                if (try checker.cursor.peekKind() != .bool) return checker.unexpected("`true` or `false`");
                _ = try checker.cursor.boolean();
            },
            .string => {
                if (try checker.cursor.peekKind() != .string) return checker.unexpected("a string");
                try checker.cursor.string(checker.allocator, null);
            },
            .array => try checker.array(expected),
            .map => if (expected.key.?.kind != .string) try checker.pairs(expected) else {
                if (try checker.cursor.peekKind() != .object) return checker.unexpected("an object");
                try checker.map(expected);
            },
            .optional => if (try checker.cursor.peekKind() == .null) {
                try checker.cursor.skipValue(checker.allocator, 0);
            } else try checker.value(expected.element.?),
            .box => try checker.value(expected.element.?),
            .tuple => try checker.tuple(expected),
            .record => if (moments.isDate(expected)) {
                try checker.moment([3]i64, moments.date, "a date such as \"2026-01-01\"");
            } else {
                if (try checker.cursor.peekKind() != .object) return checker.unexpected("an object");
                try checker.object(expected.fieldSlice());
            },
            .sum => try checker.sum(expected),
            .duration => try checker.moment(i64, moments.duration, "a duration such as \"90s\""),
            .instant => try checker.moment(i64, moments.instant, "an instant such as \"2026-01-01T00:00:00Z\""),
            .nothing, .task, .agent, .capability, .@"error", .function => {
                return checker.misfit("a value of this type cannot be asked for", .{});
            },
        }
    }

    fn int(checker: *Checker) Error!void {
        const wanted = "a whole number of 64 bits, written without point, exponent and quotes";
        if (try checker.cursor.peekKind() != .number) return checker.unexpected(wanted);
        const start = checker.cursor.position;
        const number = try checker.cursor.number();
        if (parseInt(number) == null) {
            checker.cursor.position = start;
            return checker.unexpected(wanted);
        }
    }

    fn float(checker: *Checker) Error!void {
        if (try checker.cursor.peekKind() != .number) return checker.unexpected("a number");
        const start = checker.cursor.position;
        const number = try checker.cursor.number();
        const parsed = std.fmt.parseFloat(f64, number.text) catch unreachable;
        if (!std.math.isFinite(parsed)) {
            checker.cursor.position = start;
            return checker.unexpected("a number that a Float can hold");
        }
    }

    fn array(checker: *Checker, expected: *const abi.Type) Error!void {
        if (try checker.cursor.peekKind() != .array) return checker.unexpected("an array");
        var members = try checker.cursor.open('[');
        const path_length = checker.path.items.len;
        var index: usize = 0;
        while (try members.next()) : (index += 1) {
            try checker.path.print(checker.allocator, "[{d}]", .{index});
            try checker.value(expected.element.?);
            checker.path.shrinkRetainingCapacity(path_length);
        }
    }

    fn moment(checker: *Checker, comptime T: type, comptime read: fn ([]const u8) ?T, wanted: []const u8) Error!void {
        if (try checker.cursor.peekKind() != .string) return checker.unexpected(wanted);
        const start = checker.cursor.position;
        checker.name.clearRetainingCapacity();
        try checker.cursor.string(checker.allocator, &checker.name);
        if (read(checker.name.items) == null) {
            checker.cursor.position = start;
            return checker.unexpected(wanted);
        }
    }

    /// A map whose keys are no Strings: an array of pairs, each key once.
    fn pairs(checker: *Checker, expected: *const abi.Type) Error!void {
        if (try checker.cursor.peekKind() != .array) return checker.unexpected("an array");
        const key = expected.key.?;
        const truth: abi.Type = .{ .kind = .bool, .size = 1, .alignment = 1 };
        const seen_type: abi.Type = .{ .kind = .map, .counted = 1, .size = 8, .key = key, .element = &truth };
        var seen = map_block.kv_map_new(&seen_type, 0);
        defer value_block.release(&seen_type, @ptrCast(&seen));
        const room = memory.allocateRaw(@intCast(@max(1, key.size)));
        defer memory.freeRaw(room);
        const elements = [_]abi.Field{
            .{ .name = .{}, .type = key, .offset = 0 },
            .{ .name = .{}, .type = expected.element.?, .offset = 0 },
        };
        const pair: abi.Type = .{ .kind = .tuple, .size = 0, .fields = &elements, .field_count = 2 };
        var members = try checker.cursor.open('[');
        const path_length = checker.path.items.len;
        var index: usize = 0;
        while (try members.next()) : (index += 1) {
            try checker.path.print(checker.allocator, "[{d}]", .{index});
            checker.cursor.skipSpace();
            const start = checker.cursor.position;
            try checker.tuple(&pair);
            const key_text = try checker.firstElement(start);
            decode.fromJson(key, key_text, room);
            if (map_block.kv_map_find(&seen_type, seen, room) != null) {
                value_block.release(key, room);
                return checker.misfit("the key {s} is given twice", .{clipped(key_text)});
            }
            var is_seen: u8 = 1;
            map_block.kv_map_set(&seen, &seen_type, room, @ptrCast(&is_seen));
            checker.path.shrinkRetainingCapacity(path_length);
        }
    }

    /// The text of the first element of the array at `start`.
    fn firstElement(checker: *Checker, start: usize) Error![]const u8 {
        var cursor: json.Cursor = .{ .text = checker.cursor.text, .position = start };
        var members = try cursor.open('[');
        const has_element = try members.next();
        assert(has_element);
        cursor.skipSpace();
        const from = cursor.position;
        try cursor.skipValue(checker.allocator, 0);
        return cursor.text[from..cursor.position];
    }

    /// An object with any keys, each once.
    fn map(checker: *Checker, expected: *const abi.Type) Error!void {
        var seen: std.StringHashMapUnmanaged(void) = .empty;
        defer {
            var keys = seen.keyIterator();
            while (keys.next()) |key| checker.allocator.free(key.*);
            seen.deinit(checker.allocator);
        }
        const path_length = checker.path.items.len;
        var members = try checker.cursor.open('{');
        while (try members.next()) {
            const name = try checker.fieldName();
            if (seen.contains(name)) return checker.misfit("the key \"{s}\" is given twice", .{clipped(name)});
            const kept = try checker.allocator.dupe(u8, name);
            seen.put(checker.allocator, kept, {}) catch |problem| {
                checker.allocator.free(kept);
                return problem;
            };
            try checker.path.print(checker.allocator, "[\"{s}\"]", .{clipped(kept)});
            try checker.value(expected.element.?);
            checker.path.shrinkRetainingCapacity(path_length);
        }
    }

    /// An array with exactly the elements of the tuple.
    fn tuple(checker: *Checker, expected: *const abi.Type) Error!void {
        const elements = expected.fieldSlice();
        var wanted_buffer: [48]u8 = undefined;
        const wanted = std.fmt.bufPrint(&wanted_buffer, "an array of {d} elements", .{elements.len}) catch unreachable;
        if (try checker.cursor.peekKind() != .array) return checker.unexpected(wanted);
        const start = checker.cursor.position;
        var members = try checker.cursor.open('[');
        const path_length = checker.path.items.len;
        var index: usize = 0;
        while (try members.next()) : (index += 1) {
            if (index == elements.len) break;
            try checker.path.print(checker.allocator, "[{d}]", .{index});
            try checker.value(elements[index].type);
            checker.path.shrinkRetainingCapacity(path_length);
        } else if (index == elements.len) return;
        checker.cursor.position = start;
        return checker.unexpected(wanted);
    }

    /// An object with exactly `fields`, each once, in any order; those that are optional may be left out.
    fn object(checker: *Checker, fields: []const abi.Field) Error!void {
        const seen = try checker.allocator.alloc(bool, fields.len);
        defer checker.allocator.free(seen);
        @memset(seen, false);
        const path_length = checker.path.items.len;
        var members = try checker.cursor.open('{');
        while (try members.next()) {
            const name = try checker.fieldName();
            const index = fieldIndex(fields, name) orelse {
                return checker.misfit("there is no field \"{s}\"", .{clipped(name)});
            };
            if (seen[index]) return checker.misfit("the field \"{s}\" is given twice", .{clipped(name)});
            seen[index] = true;
            try checker.path.print(checker.allocator, ".{s}", .{fields[index].name.slice()});
            checker.cursor.skipSpace();
            const start = checker.cursor.position;
            try checker.value(fields[index].type);
            try checker.rule(&fields[index], checker.cursor.text[start..checker.cursor.position]);
            checker.path.shrinkRetainingCapacity(path_length);
        }
        for (fields, seen) |*field, was_seen| if (!was_seen) {
            if (field.type.unboxed().kind != .optional) return checker.misfit("the field \"{s}\" is missing", .{field.name.slice()});
            try checker.path.print(checker.allocator, ".{s}", .{field.name.slice()});
            try checker.rule(field, "null");
            checker.path.shrinkRetainingCapacity(path_length);
        };
    }

    /// `text` is JSON that fits the field's type: the field's rule must hold for its value too.
    fn rule(checker: *Checker, field: *const abi.Field, text: []const u8) Error!void {
        const holds = field.holds orelse return;
        const kind = field.type.unboxed();
        const room = memory.allocateRaw(@intCast(@max(1, kind.size)));
        defer memory.freeRaw(room);
        decode.fromJson(kind, text, room);
        defer value_block.release(kind, room);
        const here = trace.kv_here;
        defer trace.kv_here = here; // The function that looks has set its own.
        if (holds(room) == 0) return checker.misfit("does not hold: {s}", .{field.rule.slice()});
    }

    fn sum(checker: *Checker, expected: *const abi.Type) Error!void {
        const variants = expected.variantSlice();
        const kind = try checker.cursor.peekKind();
        if (kind == .string) {
            const start = checker.cursor.position;
            checker.name.clearRetainingCapacity();
            try checker.cursor.string(checker.allocator, &checker.name);
            if (variantIndex(variants, checker.name.items)) |index| {
                if (variants[index].field_count == 0) return;
            }
            checker.cursor.position = start;
            return checker.unexpectedVariant(variants);
        }
        if (kind != .object or !hasFields(variants)) return checker.unexpectedVariant(variants);
        const start = checker.cursor.position;
        const path_length = checker.path.items.len;
        var members = try checker.cursor.open('{');
        if (!try members.next()) return checker.misfit("the object has no key that names a variant", .{});
        const index = variantIndex(variants, try checker.fieldName()) orelse {
            checker.cursor.position = start;
            return checker.unexpectedVariant(variants);
        };
        try checker.path.print(checker.allocator, ".{s}", .{variants[index].name.slice()});
        if (try checker.cursor.peekKind() != .object) return checker.unexpected("an object");
        try checker.object(variants[index].fieldSlice());
        checker.path.shrinkRetainingCapacity(path_length);
        if (try members.next()) return checker.misfit("the object has more than one key", .{});
    }

    /// The next key and its colon; the text stays valid until the next key or variant name.
    fn fieldName(checker: *Checker) Error![]const u8 {
        checker.name.clearRetainingCapacity();
        try checker.cursor.string(checker.allocator, &checker.name);
        try checker.cursor.expect(':');
        return checker.name.items;
    }

    fn misfit(checker: *Checker, comptime format: []const u8, arguments: anytype) Error {
        try checker.note.print(checker.allocator, "{s}{s}: ", .{ checker.root, checker.path.items });
        try checker.note.print(checker.allocator, format, arguments);
        return error.Misfit;
    }

    /// A misfit of the value at the cursor, quoting how it begins.
    fn unexpected(checker: *Checker, wanted: []const u8) Error {
        const start = checker.cursor.position;
        try checker.cursor.skipValue(checker.allocator, 0);
        const found = checker.cursor.text[start..checker.cursor.position];
        return checker.misfit("expected {s}, found {s}", .{ wanted, clipped(found) });
    }

    fn unexpectedVariant(checker: *Checker, variants: []const abi.Variant) Error {
        var wanted: std.ArrayList(u8) = .empty;
        defer wanted.deinit(checker.allocator);
        try wanted.appendSlice(checker.allocator, if (hasFields(variants)) "one variant of " else "one of ");
        for (variants, 0..) |*variant, index| {
            const separator = if (index == 0) "" else ", ";
            try wanted.print(checker.allocator, "{s}\"{s}\"", .{ separator, variant.name.slice() });
        }
        return checker.unexpected(wanted.items);
    }

    fn syntaxNote(checker: *Checker) Allocator.Error!void {
        assert(checker.path.items.len == 0);
        const arguments = .{ checker.root, checker.cursor.position, checker.cursor.problem };
        try checker.note.print(checker.allocator, "{s}: not JSON at byte {d}: {s}", arguments);
    }
};

/// The Int that a JSON number is, if it is one: no point, no exponent, no `-0`, within 64 bits.
pub fn parseInt(number: json.Number) ?i64 {
    if (!number.whole or std.mem.eql(u8, number.text, "-0")) return null;
    return std.fmt.parseInt(i64, number.text, 10) catch null;
}

pub fn fieldIndex(fields: []const abi.Field, name: []const u8) ?usize {
    for (fields, 0..) |*field, index| {
        if (std.mem.eql(u8, field.name.slice(), name)) return index;
    }
    return null;
}

pub fn variantIndex(variants: []const abi.Variant, name: []const u8) ?usize {
    for (variants, 0..) |*variant, index| {
        if (std.mem.eql(u8, variant.name.slice(), name)) return index;
    }
    return null;
}

pub fn hasFields(variants: []const abi.Variant) bool {
    for (variants) |*variant| {
        if (variant.field_count > 0) return true;
    }
    return false;
}

/// The beginning of `text`, cut between characters.
fn clipped(text: []const u8) []const u8 {
    if (text.len <= quote_length_max) return text;
    var length: usize = quote_length_max;
    while (length > 0 and text[length] & 0xc0 == 0x80) length -= 1;
    return text[0..length];
}

test {
    _ = @import("json_check_test.zig");
}
