//! Strings: immutable, counted, valid UTF-8.

const std = @import("std");
const abi = @import("abi.zig");
const memory = @import("memory.zig");

/// A string of `length` bytes that the caller fills in.
pub fn allocate(length: usize) *abi.String {
    const size = memory.sizeOfMany(abi.String.bytes_offset, 1, length);
    const string: *abi.String = @ptrCast(@alignCast(memory.allocateBlock(size)));
    string.length = @intCast(length);
    return string;
}

pub fn create(text: []const u8) *abi.String {
    const string = allocate(text.len);
    @memcpy(string.bytes()[0..text.len], text);
    return string;
}

pub fn equal(left: *const abi.String, right: *const abi.String) bool {
    return left == right or std.mem.eql(u8, left.slice(), right.slice());
}

/// By code point, which in UTF-8 is the order of the bytes.
pub fn order(left: *const abi.String, right: *const abi.String) std.math.Order {
    return std.mem.order(u8, left.slice(), right.slice());
}

pub fn retain(string: *abi.String) *abi.String {
    if (string.count != 0) string.count += 1;
    return string;
}

pub fn release(string: *abi.String) void {
    if (string.count == 0) return; // Static.
    std.debug.assert(string.count > 0);
    string.count -= 1;
    if (string.count == 0) memory.freeBlock(string);
}

pub export fn kv_string_new(bytes: ?[*]const u8, length: i64) callconv(.c) *abi.String {
    const view: abi.TextView = .{ .bytes = bytes, .length = length };
    return create(view.slice());
}

pub export fn kv_string_concat(left: *const abi.String, right: *const abi.String) callconv(.c) *abi.String {
    const left_text = left.slice();
    const right_text = right.slice();
    const joined = allocate(left_text.len + right_text.len);
    @memcpy(joined.bytes()[0..left_text.len], left_text);
    @memcpy(joined.bytes()[left_text.len..][0..right_text.len], right_text);
    return joined;
}

pub export fn kv_string_equal(left: *const abi.String, right: *const abi.String) callconv(.c) bool {
    return equal(left, right);
}

pub export fn kv_string_compare(left: *const abi.String, right: *const abi.String) callconv(.c) i32 {
    return switch (order(left, right)) {
        .lt => -1,
        .eq => 0,
        .gt => 1,
    };
}

test "strings compare by code point" {
    const small = create("a\u{ffff}");
    const large = create("a\u{10000}");
    defer release(small);
    defer release(large);
    try std.testing.expectEqual(@as(i32, -1), kv_string_compare(small, large));
    try std.testing.expectEqual(@as(i32, 1), kv_string_compare(large, small));
    const joined = kv_string_concat(small, large);
    defer release(joined);
    try std.testing.expectEqualStrings("a\u{ffff}a\u{10000}", joined.slice());
}
