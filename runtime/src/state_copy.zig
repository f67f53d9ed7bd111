//! What still counts, as the frames of a new file: for the rewriting of one that has grown.

const std = @import("std");
const allocator = @import("allocator.zig").runtime;
const format = @import("state_format.zig");
const storage = @import("storage.zig");
const windows = @import("windows.zig");

const items_per_frame = 4096;

/// Writes what counts now behind the file's start, with times on `clock`; where it ends.
pub fn write(handle: i64, generation: u64, table: *windows.Table, now: format.Clock, clock: format.Clock) error{Failed}!u64 {
    var copy: Copy = .{ .handle = handle, .generation = generation, .clock = clock };
    defer copy.deinit();
    var number: u32 = 0;
    for (table.list.items) |each| {
        each.expire(now.boot_ns);
        if (each.isEmpty()) continue;
        format.appendBytes(&copy.maker.names, each.bytes);
        try copy.addWindow(each, number);
        number += 1;
    }
    try copy.flush();
    return copy.at;
}

const Copy = struct {
    handle: i64,
    generation: u64,
    clock: format.Clock,
    maker: format.FrameMaker = .{},
    bytes: std.ArrayList(u8) = .empty,
    at: u64 = format.frames_start,

    fn deinit(copy: *Copy) void {
        copy.maker.deinit();
        copy.bytes.deinit(allocator);
    }

    fn addWindow(copy: *Copy, each: *const windows.Window, number: u32) error{Failed}!void {
        switch (each.amounts) {
            inline else => |*amounts| {
                var entries = amounts.iterate();
                while (entries.next()) |entry| try copy.add(.{ .window = number, .kind = .entry, .utc_ns = entry.time_ns, .amount = @bitCast(entry.amount), .reference = 0 });
            },
        }
        for (each.reservations.items) |reserved| {
            const amount: u64 = @bitCast(reserved.amount);
            try copy.add(.{ .window = number, .kind = .reserve, .utc_ns = reserved.time_ns, .amount = amount, .reference = reserved.reference });
        }
    }

    fn add(copy: *Copy, item: format.Item) error{Failed}!void {
        var stamped = item;
        stamped.utc_ns +|= copy.clock.offset();
        copy.maker.addItem(stamped);
        if (copy.maker.items.items.len >= items_per_frame) try copy.flush();
    }

    fn flush(copy: *Copy) error{Failed}!void {
        // One frame there is always: it says how far UTC is ahead of the clock, and no later one may know that.
        if (copy.maker.isEmpty() and copy.at > format.frames_start) return;
        copy.bytes.clearRetainingCapacity();
        copy.maker.finish(copy.generation, copy.at, copy.clock, &copy.bytes);
        try storage.must(storage.active.write(copy.handle, copy.at, copy.bytes.items));
        copy.at += copy.bytes.items.len;
    }
};
