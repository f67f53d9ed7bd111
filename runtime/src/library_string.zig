//! The library's functions on strings (spec 10.string): one export for each row of `compiler/kavachc/ir/library.py`.

const std = @import("std");
const abi = @import("abi.zig");
const array = @import("array.zig");
const case_table = @import("case_table.zig");
const memory = @import("memory.zig");
const panic = @import("panic.zig");
const show = @import("show.zig");
const string = @import("string.zig");
const textual = @import("text.zig");

const String = abi.String;
const Text = abi.Text;

const string_type: abi.Type = .{ .kind = .string, .counted = 1, .size = 8 };

pub const OptionalInt = extern struct { is_there: i32, value: i64 };
const OptionalFloat = extern struct { is_there: i32, value: f64 };

// ---- Characters. Strings are valid UTF-8, so a lead byte tells how many follow.

fn width(lead: u8) usize {
    return if (lead < 0x80) 1 else if (lead < 0xe0) 2 else if (lead < 0xf0) 3 else 4;
}

fn countCharacters(bytes: []const u8) usize {
    var count: usize = 0;
    for (bytes) |byte| count += @intFromBool(byte & 0xc0 != 0x80);
    return count;
}

/// Where the character at `index` begins; the end of the text when it has just so many. Null beyond.
fn offsetOf(bytes: []const u8, index: usize) ?usize {
    var offset: usize = 0;
    for (0..index) |_| {
        if (offset == bytes.len) return null;
        offset += width(bytes[offset]);
    }
    return offset;
}

fn decode(bytes: []const u8) u21 {
    const lead: u21 = bytes[0];
    return switch (bytes.len) {
        1 => lead,
        2 => (lead & 0x1f) << 6 | rest(bytes[1]),
        3 => (lead & 0x0f) << 12 | rest(bytes[1]) << 6 | rest(bytes[2]),
        else => (lead & 0x07) << 18 | rest(bytes[1]) << 12 | rest(bytes[2]) << 6 | rest(bytes[3]),
    };
}

fn rest(byte: u8) u21 {
    return byte & 0x3f;
}

fn appendCharacter(text: *Text, character: u21) void {
    var bytes: [4]u8 = undefined;
    const length = std.unicode.utf8Encode(character, &bytes) catch unreachable;
    textual.append(text, bytes[0..length]);
}

fn isSpace(character: u21) bool {
    return switch (character) {
        0x09...0x0d, 0x20, 0x85, 0xa0, 0x1680, 0x2000...0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000 => true,
        else => false,
    };
}

fn find(bytes: []const u8, part: []const u8, start: usize) ?usize {
    if (part.len == 0) return start;
    return std.mem.findPos(u8, bytes, start, part);
}

// ---- What is made

fn arrayOf(capacity: usize) *abi.Array {
    return array.kv_array_new(&string_type, @intCast(capacity));
}

fn push(strings: **abi.Array, bytes: []const u8) void {
    array.kv_array_grow(strings, &string_type);
    const elements: [*]*String = @ptrCast(@alignCast(strings.*.elements()));
    elements[@intCast(strings.*.length)] = string.create(bytes);
    strings.*.length += 1;
}

fn failAt(message: []const u8, site: ?*const abi.Site, caller: ?*const abi.Caller) noreturn {
    panic.panicAt(message, site, caller);
}

const empty_separator = "the text to look for is empty";

pub fn panicSlice(start: i64, end: i64, length: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) noreturn {
    @branchHint(.cold);
    var message: Text = .{};
    textual.append(&message, "slice ");
    show.int(&message, start);
    textual.append(&message, "..");
    show.int(&message, end);
    textual.append(&message, " is out of range: the length is ");
    show.int(&message, length);
    failAt(message.slice(), site, caller);
}

fn panicNegative(count: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) noreturn {
    @branchHint(.cold);
    var message: Text = .{};
    textual.append(&message, "the count ");
    show.int(&message, count);
    textual.append(&message, " is negative");
    failAt(message.slice(), site, caller);
}

// ---- Entries

export fn kv_lib_string_len(text: *const String) callconv(.c) i64 {
    return @intCast(countCharacters(text.slice()));
}

export fn kv_lib_string_byte_len(text: *const String) callconv(.c) i64 {
    return text.length;
}

export fn kv_lib_string_is_empty(text: *const String) callconv(.c) bool {
    return text.length == 0;
}

export fn kv_lib_string_chars(text: *const String) callconv(.c) *abi.Array {
    const bytes = text.slice();
    var made = arrayOf(countCharacters(bytes));
    var offset: usize = 0;
    while (offset < bytes.len) {
        const length = width(bytes[offset]);
        push(&made, bytes[offset..][0..length]);
        offset += length;
    }
    return made;
}

export fn kv_lib_string_lines(text: *const String) callconv(.c) *abi.Array {
    const bytes = text.slice();
    var made = arrayOf(0);
    var offset: usize = 0;
    while (offset < bytes.len) {
        const end = std.mem.findScalarPos(u8, bytes, offset, '\n') orelse bytes.len;
        const line = bytes[offset..end];
        push(&made, if (line.len > 0 and line[line.len - 1] == '\r') line[0 .. line.len - 1] else line);
        offset = end + 1;
    }
    return made;
}

export fn kv_lib_string_split(text: *const String, separator: *const String, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) *abi.Array {
    const bytes = text.slice();
    if (separator.length == 0) failAt(empty_separator, site, caller);
    var made = arrayOf(0);
    var offset: usize = 0;
    while (find(bytes, separator.slice(), offset)) |end| {
        push(&made, bytes[offset..end]);
        offset = end + separator.slice().len;
    }
    push(&made, bytes[offset..]);
    return made;
}

export fn kv_lib_string_trim(text: *const String) callconv(.c) *String {
    const bytes = text.slice();
    var start: usize = 0;
    while (start < bytes.len) {
        const length = width(bytes[start]);
        if (!isSpace(decode(bytes[start..][0..length]))) break;
        start += length;
    }
    var end = bytes.len;
    while (end > start) {
        var last = end - 1;
        while (bytes[last] & 0xc0 == 0x80) last -= 1;
        if (!isSpace(decode(bytes[last..end]))) break;
        end = last;
    }
    return string.create(bytes[start..end]);
}

export fn kv_lib_string_contains(text: *const String, part: *const String) callconv(.c) bool {
    return find(text.slice(), part.slice(), 0) != null;
}

export fn kv_lib_string_starts_with(text: *const String, start: *const String) callconv(.c) bool {
    return std.mem.startsWith(u8, text.slice(), start.slice());
}

export fn kv_lib_string_ends_with(text: *const String, end: *const String) callconv(.c) bool {
    return std.mem.endsWith(u8, text.slice(), end.slice());
}

export fn kv_lib_string_index_of(text: *const String, part: *const String, out: *OptionalInt) callconv(.c) void {
    const offset = find(text.slice(), part.slice(), 0) orelse {
        out.is_there = 0;
        return;
    };
    out.* = .{ .is_there = 1, .value = @intCast(countCharacters(text.slice()[0..offset])) };
}

export fn kv_lib_string_replace(text: *const String, old: *const String, new: *const String, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) *String {
    const bytes = text.slice();
    if (old.length == 0) failAt(empty_separator, site, caller);
    var made: Text = .{};
    var offset: usize = 0;
    while (find(bytes, old.slice(), offset)) |end| {
        textual.append(&made, bytes[offset..end]);
        textual.append(&made, new.slice());
        offset = end + old.slice().len;
    }
    textual.append(&made, bytes[offset..]);
    return textual.finish(&made);
}

export fn kv_lib_string_to_upper(text: *const String) callconv(.c) *String {
    return mapped(text, case_table.upper);
}

export fn kv_lib_string_to_lower(text: *const String) callconv(.c) *String {
    return mapped(text, case_table.lower);
}

fn mapped(text: *const String, comptime map: fn (u21) u21) *String {
    const bytes = text.slice();
    var made: Text = .{};
    var offset: usize = 0;
    while (offset < bytes.len) {
        const length = width(bytes[offset]);
        appendCharacter(&made, map(decode(bytes[offset..][0..length])));
        offset += length;
    }
    return textual.finish(&made);
}

export fn kv_lib_string_slice(text: *const String, from: i64, to: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) *String {
    const bytes = text.slice();
    if (from >= 0 and from <= to and to <= text.length) {
        if (offsetOf(bytes, @intCast(from))) |start| {
            if (offsetOf(bytes[start..], @intCast(to - from))) |length| return string.create(bytes[start..][0..length]);
        }
    }
    panicSlice(from, to, @intCast(countCharacters(bytes)), site, caller);
}

export fn kv_lib_string_repeat(text: *const String, count: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) *String {
    if (count < 0) panicNegative(count, site, caller);
    return filled("", text.slice(), @intCast(count), "");
}

/// `fill` so many times, between the other two.
fn filled(before: []const u8, fill: []const u8, count: usize, after: []const u8) *String {
    const length = memory.sizeOfMany(before.len + after.len, fill.len, if (fill.len == 0) 0 else count);
    const made = string.allocate(length);
    const bytes = made.bytes()[0..length];
    @memcpy(bytes[0..before.len], before);
    var offset = before.len;
    while (offset < length - after.len) : (offset += fill.len) @memcpy(bytes[offset..][0..fill.len], fill);
    @memcpy(bytes[offset..], after);
    return made;
}

export fn kv_lib_string_reverse(text: *const String) callconv(.c) *String {
    const bytes = text.slice();
    const made = string.allocate(bytes.len);
    var offset: usize = 0;
    while (offset < bytes.len) {
        const length = width(bytes[offset]);
        @memcpy(made.bytes()[bytes.len - offset - length ..][0..length], bytes[offset..][0..length]);
        offset += length;
    }
    return made;
}

export fn kv_lib_string_url_encode(text: *const String) callconv(.c) *String {
    const digits = "0123456789ABCDEF";
    var made: abi.Text = .{};
    for (text.slice()) |byte| {
        if (std.ascii.isAlphanumeric(byte) or std.mem.findScalar(u8, "-._~", byte) != null) {
            textual.appendByte(&made, byte);
        } else {
            textual.append(&made, &.{ '%', digits[byte >> 4], digits[byte & 15] });
        }
    }
    return textual.finish(&made);
}

fn missing(text: *const String, wanted: i64, fill: *const String, site: ?*const abi.Site, caller: ?*const abi.Caller) usize {
    if (countCharacters(fill.slice()) != 1) failAt("the fill is not one character", site, caller);
    const length: i64 = @intCast(countCharacters(text.slice()));
    return @intCast(@max(0, wanted -| length));
}

export fn kv_lib_string_pad_left(text: *const String, wanted: i64, fill: *const String, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) *String {
    return filled("", fill.slice(), missing(text, wanted, fill, site, caller), text.slice());
}

export fn kv_lib_string_pad_right(text: *const String, wanted: i64, fill: *const String, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) *String {
    return filled(text.slice(), fill.slice(), missing(text, wanted, fill, site, caller), "");
}

export fn kv_lib_string_to_int(text: *const String, out: *OptionalInt) callconv(.c) void {
    out.is_there = 0;
    var digits = text.slice();
    const is_negative = digits.len > 0 and digits[0] == '-';
    if (is_negative or (digits.len > 0 and digits[0] == '+')) digits = digits[1..];
    if (digits.len == 0) return;
    // Toward the negative, which reaches further.
    var value: i64 = 0;
    var fits = true;
    for (digits) |digit| {
        if (digit < '0' or digit > '9') return;
        const tenfold = @mulWithOverflow(value, 10);
        const next = @subWithOverflow(tenfold[0], @as(i64, digit - '0'));
        if (tenfold[1] != 0 or next[1] != 0) fits = false;
        value = next[0];
    }
    if (!fits or (!is_negative and value == std.math.minInt(i64))) return;
    out.* = .{ .is_there = 1, .value = if (is_negative) value else -value };
}

export fn kv_lib_string_to_float(text: *const String, out: *OptionalFloat) callconv(.c) void {
    out.is_there = 0;
    const bytes = text.slice();
    const words = [_]struct { []const u8, f64 }{
        .{ "nan", std.math.nan(f64) },
        .{ "inf", std.math.inf(f64) },
        .{ "-inf", -std.math.inf(f64) },
    };
    for (words) |word| if (std.mem.eql(u8, bytes, word[0])) {
        out.* = .{ .is_there = 1, .value = word[1] };
        return;
    };
    if (!isDecimal(bytes)) return;
    const value = std.fmt.parseFloat(f64, bytes) catch return;
    out.* = .{ .is_there = 1, .value = value };
}

fn isDecimal(bytes: []const u8) bool {
    var at: usize = 0;
    if (at < bytes.len and (bytes[at] == '+' or bytes[at] == '-')) at += 1;
    if (!skipDigits(bytes, &at)) return false;
    if (at < bytes.len and bytes[at] == '.') {
        at += 1;
        if (!skipDigits(bytes, &at)) return false;
    }
    if (at < bytes.len and (bytes[at] == 'e' or bytes[at] == 'E')) {
        at += 1;
        if (at < bytes.len and (bytes[at] == '+' or bytes[at] == '-')) at += 1;
        if (!skipDigits(bytes, &at)) return false;
    }
    return at == bytes.len;
}

fn skipDigits(bytes: []const u8, at: *usize) bool {
    const start = at.*;
    while (at.* < bytes.len and std.ascii.isDigit(bytes[at.*])) at.* += 1;
    return at.* > start;
}

test "characters are code points" {
    const text = string.create("aä€😀");
    defer string.release(text);
    try std.testing.expectEqual(@as(i64, 4), kv_lib_string_len(text));
    const reversed = kv_lib_string_reverse(text);
    defer string.release(reversed);
    try std.testing.expectEqualStrings("😀€äa", reversed.slice());
    const part = kv_lib_string_slice(text, 1, 3, null, null);
    defer string.release(part);
    try std.testing.expectEqualStrings("ä€", part.slice());
}
