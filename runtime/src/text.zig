//! Text being made: the buffer is the string's own block, so that finishing it copies nothing.

const std = @import("std");
const abi = @import("abi.zig");
const memory = @import("memory.zig");
const show = @import("show.zig");
const string = @import("string.zig");

const assert = std.debug.assert;
const Text = abi.Text;

const capacity_min = 48;
/// `SHOWN_LENGTH_MAX` of semantics/panics.py.
const shown_characters_max = 200;

var empty_string: abi.String = .{ .count = 0, .length = 0 };

fn blockOf(text: *Text) *abi.String {
    return @ptrCast(@alignCast(text.bytes.? - abi.String.bytes_offset));
}

/// Room for `length` more bytes: the caller writes them and adds them to the text's length.
pub fn reserve(text: *Text, length: usize) [*]u8 {
    const used: usize = @intCast(text.length);
    if (length > @as(usize, @intCast(text.capacity)) - used) growTo(text, used, length);
    return text.bytes.? + used;
}

fn growTo(text: *Text, used: usize, length: usize) void {
    @branchHint(.unlikely);
    const needed = memory.sizeOfMany(used, 1, length);
    const block = string.allocate(@max(needed, 2 * used, capacity_min));
    @memcpy(block.bytes()[0..used], text.slice());
    if (text.bytes != null) memory.freeBlock(blockOf(text));
    text.bytes = block.bytes();
    const size: usize = abi.String.bytes_offset + @as(usize, @intCast(block.length));
    text.capacity = @intCast(memory.usableSize(size) - abi.String.bytes_offset);
}

pub fn append(text: *Text, bytes: []const u8) void {
    if (bytes.len == 0) return;
    @memcpy(reserve(text, bytes.len)[0..bytes.len], bytes);
    text.length += @intCast(bytes.len);
}

pub fn appendByte(text: *Text, byte: u8) void {
    reserve(text, 1)[0] = byte;
    text.length += 1;
}

/// The text as a string; the text is empty afterwards.
pub fn finish(text: *Text) *abi.String {
    const length: usize = @intCast(text.length);
    if (text.bytes == null) return &empty_string;
    const block = blockOf(text);
    const size = abi.String.bytes_offset + length;
    const usable_size = abi.String.bytes_offset + @as(usize, @intCast(text.capacity));
    defer text.* = .{};
    if (2 * memory.usableSize(size) <= usable_size) {
        // A string may live long: half empty, it would cost more than this copy.
        const copy = string.create(text.slice());
        memory.freeBlock(block);
        return copy;
    }
    block.length = text.length;
    assert(block.count == 1);
    return block;
}

/// Gives up a text that is not needed after all.
pub fn drop(text: *Text) void {
    if (text.bytes != null) memory.freeBlock(blockOf(text));
    text.* = .{};
}

pub export fn kv_text_begin(text: *Text) callconv(.c) void {
    text.* = .{};
}

pub export fn kv_text_literal(text: *Text, bytes: ?[*]const u8, length: i64) callconv(.c) void {
    const view: abi.TextView = .{ .bytes = bytes, .length = length };
    append(text, view.slice());
}

pub export fn kv_text_string(text: *Text, held: *const abi.String) callconv(.c) void {
    append(text, held.slice());
}

pub export fn kv_text_int(text: *Text, value: i64) callconv(.c) void {
    show.int(text, value);
}

pub export fn kv_text_float(text: *Text, value: f64) callconv(.c) void {
    show.float(text, value);
}

pub export fn kv_text_bool(text: *Text, value: bool) callconv(.c) void {
    append(text, if (value) "true" else "false");
}

pub export fn kv_text_duration(text: *Text, value_ns: i64) callconv(.c) void {
    show.duration(text, value_ns);
}

pub export fn kv_text_instant(text: *Text, value_ns: i64) callconv(.c) void {
    show.instant(text, value_ns);
}

pub export fn kv_text_value(text: *Text, kind: *const abi.Type, value: *const anyopaque) callconv(.c) void {
    show.atTop(text, kind, value);
}

/// As messages show a value: as it shows inside another, and cut where it grows long.
pub export fn kv_text_shown(kind: *const abi.Type, value: *const anyopaque) callconv(.c) *abi.String {
    var text: Text = .{};
    show.inside(&text, kind, value);
    var characters: usize = 0;
    for (text.slice(), 0..) |byte, index| {
        if (byte & 0xc0 == 0x80) continue; // Not the first byte of its character.
        if (characters == shown_characters_max) {
            text.length = @intCast(index);
            append(&text, "…");
            break;
        }
        characters += 1;
    }
    return finish(&text);
}

pub export fn kv_text_finish(text: *Text) callconv(.c) *abi.String {
    return finish(text);
}

test "text grows, and a short one does not keep a large buffer" {
    var text: Text = .{};
    for (0..1000) |_| append(&text, "0123456789");
    const long = finish(&text);
    try std.testing.expectEqual(@as(i64, 10_000), long.length);
    try std.testing.expectEqualStrings("0123456789", long.slice()[9990..]);
    string.release(long);
    append(&text, "short");
    const short = finish(&text);
    try std.testing.expectEqualStrings("short", short.slice());
    string.release(short);
    string.release(finish(&text));
    try std.testing.expectEqual(@as(i64, 0), memory.liveBlocks());
}
