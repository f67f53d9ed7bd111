//! Texts without the provider's key (docs/providers.md). The plain runtime has the same in interpreter/key_mask.py.

const std = @import("std");
const Allocator = std.mem.Allocator;

const secret_bytes_min = 12;
const shown = "[key]";

/// A short one is a word such as `none`, for a server that needs no key: it may well stand in an answer.
fn isSecret(key: []const u8) bool {
    return key.len >= secret_bytes_min;
}

pub fn bodyWithoutKey(arena: Allocator, key: []const u8, body: []const u8) Allocator.Error![]const u8 {
    if (!isSecret(key) or std.mem.find(u8, body, key) == null) return body;
    return std.mem.replaceOwned(u8, arena, body, key, shown);
}

/// A text of the provider with the key's occurrences replaced; also those that only come out when a program reads the
/// text as JSON, which may write each character in several ways.
pub fn withoutKey(arena: Allocator, key: []const u8, sent: []const u8) Allocator.Error![]const u8 {
    const bare = try bodyWithoutKey(arena, key, sent);
    if (!isSecret(key) or std.mem.findScalar(u8, bare, '\\') == null) return bare;
    var masked: std.ArrayList(u8) = try .initCapacity(arena, bare.len);
    var at: usize = 0;
    while (at < bare.len) {
        if (endInJson(bare, at, key)) |end| {
            try masked.appendSlice(arena, shown);
            at = end;
            continue;
        }
        const length: usize = if (bare[at] == '\\') @min(2, bare.len - at) else 1;
        try masked.appendSlice(arena, bare[at..][0..length]);
        at += length;
    }
    return masked.items;
}

/// Where the key ends that begins here as it is written inside a JSON string; null if it does not.
fn endInJson(text: []const u8, start: usize, key: []const u8) ?usize {
    var at = start;
    for (key) |wanted| {
        const unit = unitOf(text[at..]) orelse return null;
        if (unit.byte != wanted) return null;
        at += unit.length;
    }
    return at;
}

const Unit = struct { byte: u8, length: usize };

/// The ASCII character that a JSON string's content begins with, if that is no control character.
fn unitOf(text: []const u8) ?Unit {
    if (text.len == 0 or text[0] == '"') return null;
    if (text[0] != '\\') return .{ .byte = text[0], .length = 1 };
    if (text.len == 1) return null;
    return switch (text[1]) {
        '"', '\\', '/' => |byte| .{ .byte = byte, .length = 2 },
        'u' => .{ .byte = byteOf(text[2..]) orelse return null, .length = 6 },
        else => null,
    };
}

fn byteOf(digits: []const u8) ?u8 {
    if (digits.len < 4 or !std.mem.startsWith(u8, digits, "00")) return null;
    const high = std.fmt.charToDigit(digits[2], 16) catch return null;
    const low = std.fmt.charToDigit(digits[3], 16) catch return null;
    return high * 16 + low;
}

/// A message of ours, into which the key may have come with the base URL, perhaps in letters of another case.
pub fn maskTold(message: *std.ArrayList(u8), allocator: Allocator, key: []const u8) Allocator.Error!void {
    if (!isSecret(key)) return;
    var from: usize = 0;
    while (std.ascii.findIgnoreCasePos(message.items, from, key)) |at| {
        try message.replaceRange(allocator, at, key.len, shown);
        from = at + shown.len;
    }
}

const testing = std.testing;

test "the key in a text" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const key = "sk-a/b\"c\\d-long";
    const cases = [_]struct { []const u8, []const u8 }{
        .{ "a sk-a/b\"c\\d-long b", "a [key] b" },
        .{ "[\"\\u0073k-a/b\\\"c\\\\d-long\"]", "[\"[key]\"]" },
        .{ "sk-\\u0061\\/b\\u0022c\\u005Cd-lon\\u0067sk-a", "[key]sk-a" },
        .{ "\\\\u0073k-a/b\\\"c\\\\d-long \\", "\\\\u0073k-a/b\\\"c\\\\d-long \\" },
        .{ "\\u0173k-a/b\\\"c\\\\d-long \\u00", "\\u0173k-a/b\\\"c\\\\d-long \\u00" },
    };
    for (cases) |case| try testing.expectEqualStrings(case[1], try withoutKey(arena.allocator(), key, case[0]));
    try testing.expectEqualStrings("\\u006eone", try withoutKey(arena.allocator(), "none", "\\u006eone"));
}

test "the key in a message" {
    var message: std.ArrayList(u8) = .empty;
    defer message.deinit(testing.allocator);
    try message.appendSlice(testing.allocator, "SK-MARKER-5F0C at sk-marker-5f0c sk-MARKER-5f0");
    try maskTold(&message, testing.allocator, "sk-MARKER-5f0c");
    try testing.expectEqualStrings("[key] at [key] sk-MARKER-5f0", message.items);
}
