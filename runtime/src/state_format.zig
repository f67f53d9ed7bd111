//! The bytes of a state file (docs/state-file.md): its head, the marks of what is durable, and frames of records.
//! `compiler/kavachc/state/format.py` says the same in Python; a test reads each one's files with the other.

const std = @import("std");
const allocator = @import("allocator.zig").runtime;

const assert = std.debug.assert;

comptime {
    // Structures are copied to the file as they are.
    assert(@import("builtin").cpu.arch.endian() == .little);
}

pub const magic: [8]u8 = "KAVACHST".*;
pub const version: u32 = 1;
/// A head and two marks, each in a sector of its own: a write that is cut off damages at most one of them.
pub const mark_offsets = [2]u64{ 512, 1024 };
pub const frames_start: u64 = 1536;
pub const sector_size: u64 = 512;
pub const frame_length_max = 1 << 30;

pub const Head = extern struct {
    magic: [8]u8 = magic,
    version: u32 = version,
    checksum: u32 = 0,
    /// Random, and the same through all rewritings of a file.
    identity: [16]u8,
    /// Counts the rewritings.
    generation: u64,
    reserved: [24]u8 = @splat(0),

    pub fn seal(head: *Head) void {
        head.checksum = head.computed();
    }

    pub fn computed(head: *const Head) u32 {
        var unsealed = head.*;
        unsealed.checksum = 0;
        return std.hash.Crc32.hash(std.mem.asBytes(&unsealed));
    }
};

/// So much of the file is known to be durable. The two are written in turn, the later one counts.
pub const Mark = extern struct {
    sequence: u64,
    end: u64,
    checksum: u32 = 0,
    reserved: u32 = 0,

    pub fn make(generation: u64, sequence: u64, end: u64) Mark {
        var mark: Mark = .{ .sequence = sequence, .end = end };
        mark.checksum = mark.computed(generation);
        return mark;
    }

    pub fn offset(mark: *const Mark) u64 {
        return mark_offsets[mark.sequence & 1];
    }

    fn computed(mark: *const Mark, generation: u64) u32 {
        var hash: std.hash.Crc32 = .init();
        hash.update(std.mem.asBytes(&generation));
        hash.update(std.mem.asBytes(mark)[0..16]);
        return hash.final();
    }

    pub fn isValid(mark: *const Mark, generation: u64) bool {
        return mark.checksum == mark.computed(generation) and mark.reserved == 0 and mark.end >= frames_start;
    }
};

/// What is written at once, and is durable or not as a whole: names of windows, padded to 8 bytes, then items.
pub const FrameHead = extern struct {
    /// Of the whole frame, this head included.
    length: u32,
    names_length: u32,
    /// The run of the machine (or of virtual time) whose clock `boot_ns` is of.
    boot: u64,
    boot_ns: i64,
    /// The same moment.
    utc_ns: i64,
    item_count: u32,
    body_checksum: u32 = 0,
    checksum: u32 = 0,
    reserved: u32 = 0,

    pub fn seal(head: *FrameHead, generation: u64, at: u64, body: []const u8) void {
        head.body_checksum = std.hash.Crc32.hash(body);
        head.checksum = head.computed(generation, at);
    }

    /// The place is part of it: what an earlier file left behind is no frame of this one.
    fn computed(head: *const FrameHead, generation: u64, at: u64) u32 {
        var hash: std.hash.Crc32 = .init();
        hash.update(std.mem.asBytes(&generation));
        hash.update(std.mem.asBytes(&at));
        hash.update(std.mem.asBytes(head)[0..40]);
        return hash.final();
    }

    pub fn isValid(head: *const FrameHead, generation: u64, at: u64) bool {
        if (head.checksum != head.computed(generation, at) or head.reserved != 0) return false;
        const items_length = @as(u64, head.item_count) * @sizeOf(Item);
        return head.names_length % 8 == 0 and head.length == @sizeOf(FrameHead) + @as(u64, head.names_length) + items_length;
    }
};

pub const ItemKind = enum(u32) { entry = 1, reserve = 2, settle = 3, _ };

pub const Item = extern struct {
    /// The number of the window in this file: windows count from 0 in the order of their names.
    window: u32,
    kind: ItemKind,
    utc_ns: i64,
    /// An Int, or the bits of a Float.
    amount: u64,
    /// Connects a reservation and what settles it; 0 for an entry.
    reference: u64,
};

/// The head of a window's name: agent, target, rule and key follow, padded to 8 bytes together.
pub const NameHead = extern struct {
    agent_length: u32,
    target_length: u32,
    rule_length: u32,
    key_length: u32,
    length_ns: i64,
    /// 0: Int amounts, 1: Float amounts.
    is_float: u8,
    has_key: u8,
    reserved: [6]u8 = @splat(0),
};

comptime {
    assert(@sizeOf(Head) == 64);
    assert(@sizeOf(Mark) == 24);
    assert(@sizeOf(FrameHead) == 48);
    assert(@sizeOf(Item) == 32);
    assert(@sizeOf(NameHead) == 32);
}

/// Names one window. Two windows are one if their names are, to the byte as `append` writes them.
pub const Name = struct {
    agent: []const u8,
    target: []const u8,
    rule: []const u8,
    key: ?[]const u8 = null,
    length_ns: i64,
    is_float: bool,

    pub fn append(name: *const Name, list: *std.ArrayList(u8)) void {
        const key = name.key orelse "";
        const head: NameHead = .{
            .agent_length = @intCast(name.agent.len),
            .target_length = @intCast(name.target.len),
            .rule_length = @intCast(name.rule.len),
            .key_length = @intCast(key.len),
            .length_ns = name.length_ns,
            .is_float = @intFromBool(name.is_float),
            .has_key = @intFromBool(name.key != null),
        };
        appendBytes(list, std.mem.asBytes(&head));
        for ([_][]const u8{ name.agent, name.target, name.rule, key }) |part| appendBytes(list, part);
        while (list.items.len % 8 != 0) appendBytes(list, "\x00");
    }
};

pub fn appendBytes(list: *std.ArrayList(u8), bytes: []const u8) void {
    list.appendSlice(allocator, bytes) catch unreachable; // The runtime's allocator never fails.
}

/// Takes names from the front of a frame's names; the parts point into it.
pub const NameReader = struct {
    rest: []const u8,

    /// Null at the end, and `error.Damaged` where the lengths do not fit.
    pub fn next(reader: *NameReader) error{Damaged}!?struct { name: Name, bytes: []const u8 } {
        if (reader.rest.len == 0) return null;
        if (reader.rest.len < @sizeOf(NameHead)) return error.Damaged;
        const head = std.mem.bytesToValue(NameHead, reader.rest[0..@sizeOf(NameHead)]);
        const lengths = [_]u64{ head.agent_length, head.target_length, head.rule_length, head.key_length };
        var length: u64 = @sizeOf(NameHead);
        for (lengths) |each| length += each;
        const padded = std.mem.alignForward(u64, length, 8);
        if (padded > reader.rest.len or head.is_float > 1 or head.has_key > 1 or head.length_ns <= 0) return error.Damaged;
        var at: usize = @sizeOf(NameHead);
        var parts: [4][]const u8 = undefined;
        for (&parts, lengths) |*part, each| {
            part.* = reader.rest[at..][0..@intCast(each)];
            at += @intCast(each);
        }
        const bytes = reader.rest[0..@intCast(padded)];
        reader.rest = reader.rest[@intCast(padded)..];
        return .{ .bytes = bytes, .name = .{
            .agent = parts[0],
            .target = parts[1],
            .rule = parts[2],
            .key = if (head.has_key == 1) parts[3] else null,
            .length_ns = head.length_ns,
            .is_float = head.is_float == 1,
        } };
    }
};

/// A frame in the middle of being made.
pub const FrameMaker = struct {
    names: std.ArrayList(u8) = .empty,
    items: std.ArrayList(Item) = .empty,

    pub fn deinit(maker: *FrameMaker) void {
        maker.names.deinit(allocator);
        maker.items.deinit(allocator);
    }

    pub fn isEmpty(maker: *const FrameMaker) bool {
        return maker.names.items.len == 0 and maker.items.items.len == 0;
    }

    pub fn addItem(maker: *FrameMaker, item: Item) void {
        maker.items.append(allocator, item) catch unreachable;
    }

    /// Appends the finished frame, which is to stand at `at` in the file, to `out`, and begins anew.
    pub fn finish(maker: *FrameMaker, generation: u64, at: u64, clock: Clock, out: *std.ArrayList(u8)) void {
        const items = std.mem.sliceAsBytes(maker.items.items);
        var head: FrameHead = .{
            .length = @intCast(@sizeOf(FrameHead) + maker.names.items.len + items.len),
            .names_length = @intCast(maker.names.items.len),
            .boot = clock.boot,
            .boot_ns = clock.boot_ns,
            .utc_ns = clock.utc_ns,
            .item_count = @intCast(maker.items.items.len),
        };
        const start = out.items.len;
        appendBytes(out, std.mem.asBytes(&head));
        appendBytes(out, maker.names.items);
        appendBytes(out, items);
        head.seal(generation, at, out.items[start + @sizeOf(FrameHead) ..]);
        @memcpy(out.items[start..][0..@sizeOf(FrameHead)], std.mem.asBytes(&head));
        maker.names.clearRetainingCapacity();
        maker.items.clearRetainingCapacity();
    }
};

/// One moment on two clocks.
pub const Clock = struct {
    boot: u64,
    boot_ns: i64,
    utc_ns: i64,

    /// How far UTC is ahead.
    pub fn offset(clock: Clock) i64 {
        return clock.utc_ns -| clock.boot_ns;
    }
};

pub const Frame = struct {
    head: FrameHead,
    names: []const u8,
    items: []align(1) const Item,
};

pub const FrameState = union(enum) {
    frame: Frame,
    end,
    /// A write that did not come to its end.
    torn,
    damaged,
};

/// What stands at the front of `rest`, which reaches to the end of the file and begins at `at` in it.
pub fn readFrame(rest: []const u8, generation: u64, at: u64) FrameState {
    if (rest.len == 0) return .end;
    if (rest.len < @sizeOf(FrameHead)) return .torn;
    const head = std.mem.bytesToValue(FrameHead, rest[0..@sizeOf(FrameHead)]);
    if (!head.isValid(generation, at)) return if (hasEmptySector(rest, at)) .torn else .damaged;
    if (head.length > rest.len) return .torn;
    const body = rest[@sizeOf(FrameHead)..head.length];
    if (std.hash.Crc32.hash(body) != head.body_checksum) return if (hasEmptySector(rest, at)) .torn else .damaged;
    return .{ .frame = .{
        .head = head,
        .names = body[0..head.names_length],
        .items = std.mem.bytesAsSlice(Item, body[head.names_length..]),
    } };
}

/// Whether some sector holds nothing but zeros: that is how one looks that was never written.
fn hasEmptySector(rest: []const u8, at: u64) bool {
    var start: usize = 0;
    while (start < rest.len) {
        const length: usize = @intCast(sector_size - (at + start) % sector_size);
        const end = @min(rest.len, start + length);
        if (std.mem.allEqual(u8, rest[start..end], 0)) return true;
        start = end;
    }
    return false;
}
