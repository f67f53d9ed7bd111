//! Bodies that are packed with gzip (RFC 1952): members follow each other, each with a checksum, which std's reader passes
//! over.

const std = @import("std");
const Io = std.Io;
const Crc = std.hash.Crc32;
const Decompress = std.compress.flate.Decompress;

pub const window_size = std.compress.flate.max_window_len;

/// Wrong: it is not gzip, or damaged. ReadFailed: of what is packed. EndOfStream: that ended within a member.
pub const Error = error{ Wrong, ReadFailed, EndOfStream };

/// Unpacks all there is; nothing at all is no member. `take` is given the pieces until it wants no more: false then.
pub fn unpack(in: *Io.Reader, window: []u8, context: anytype, take: fn (@TypeOf(context), []const u8) bool) Error!bool {
    while (!try isAtEnd(in)) {
        try skipHeader(in);
        var unpacker: Decompress = .init(in, .raw, window);
        var crc: Crc = .init();
        var length: u32 = 0;
        var piece: [8 * 1024]u8 = undefined;
        while (true) {
            const count = unpacker.reader.readSliceShort(&piece) catch return switch (unpacker.err orelse error.ReadFailed) {
                error.ReadFailed => error.ReadFailed,
                error.EndOfStream => error.EndOfStream,
                else => error.Wrong,
            };
            crc.update(piece[0..count]);
            length +%= @intCast(count);
            if (count > 0 and !take(context, piece[0..count])) return false;
            if (count < piece.len) break;
        }
        if (try in.takeInt(u32, .little) != crc.final()) return error.Wrong;
        if (try in.takeInt(u32, .little) != length) return error.Wrong;
    }
    return true;
}

fn isAtEnd(in: *Io.Reader) Error!bool {
    _ = in.peekByte() catch |failure| return if (failure == error.EndOfStream) true else error.ReadFailed;
    return false;
}

const has_checksum = 2;
const has_extra = 4;
const has_name = 8;
const has_comment = 16;
const reserved = 0xe0;

fn skipHeader(in: *Io.Reader) Error!void {
    var header: Header = .{ .in = in };
    if (try header.byte() != 0x1f or try header.byte() != 0x8b or try header.byte() != 8) return error.Wrong;
    const flags = try header.byte();
    if (flags & reserved != 0) return error.Wrong;
    for (0..6) |_| _ = try header.byte(); // When and where it was packed.
    if (flags & has_extra != 0) {
        const low: usize = try header.byte();
        for (0..low + 256 * @as(usize, try header.byte())) |_| _ = try header.byte();
    }
    for ([_]u8{ has_name, has_comment }) |flag| {
        if (flags & flag != 0) while (try header.byte() != 0) {};
    }
    if (flags & has_checksum == 0) return;
    const crc: u16 = @truncate(header.crc.final());
    if (try in.takeInt(u16, .little) != crc) return error.Wrong;
}

const Header = struct {
    in: *Io.Reader,
    crc: Crc = .init(),

    fn byte(header: *Header) Error!u8 {
        const read = try header.in.takeByte();
        header.crc.update(&.{read});
        return read;
    }
};

const testing = std.testing;

const Collected = struct {
    bytes: [64]u8 = undefined,
    length: usize = 0,

    fn take(collected: *Collected, piece: []const u8) bool {
        @memcpy(collected.bytes[collected.length..][0..piece.len], piece);
        collected.length += piece.len;
        return true;
    }
};

fn unpacked(text: []const u8, collected: *Collected) ![]const u8 {
    var window: [window_size]u8 = undefined;
    var in: Io.Reader = .fixed(text);
    _ = try unpack(&in, &window, collected, Collected.take);
    return collected.bytes[0..collected.length];
}

const header_bytes = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03";
const hello = "\x01\x05\x00\xfa\xffhello\x86\xa6\x10\x36\x05\x00\x00\x00";

test "members, and none" {
    for ([_][2][]const u8{
        .{ "", "" },
        .{ header_bytes ++ hello, "hello" },
        .{ header_bytes ++ hello ++ header_bytes ++ hello, "hellohello" },
        .{ "\x1f\x8b\x08\x1c\x00\x00\x00\x00\x00\x03\x02\x00abname\x00words\x00" ++ hello, "hello" },
    }) |case| {
        var collected: Collected = .{};
        try testing.expectEqualStrings(case[1], try unpacked(case[0], &collected));
    }
}

test "what is damaged" {
    const whole = header_bytes ++ hello;
    for (0..whole.len) |index| {
        // When and where it was packed is nobody's business.
        if (index >= 4 and index < header_bytes.len) continue;
        var damaged: [whole.len]u8 = whole.*;
        damaged[index] ^= 2;
        var collected: Collected = .{};
        try testing.expect(std.meta.isError(unpacked(&damaged, &collected)));
        if (index == 0) continue;
        collected = .{};
        try testing.expectError(error.EndOfStream, unpacked(whole[0..index], &collected));
    }
    var collected: Collected = .{};
    try testing.expectError(error.Wrong, unpacked(whole ++ "more", &collected));
}
