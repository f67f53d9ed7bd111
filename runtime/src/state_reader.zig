//! Frames of a state file, read into windows; and their times, brought onto the clock that windows run on.
//!
//! A record of this run of the machine keeps the moment that its clock gave it, whatever was done to UTC. One of an
//! earlier run is known by UTC alone. Of the readings that are possible, the latest counts: one that is too late keeps
//! an entry in its window for too long, one that is too early would let it go before its time.

const std = @import("std");
const allocator = @import("allocator.zig").runtime;
const format = @import("state_format.zig");
const windows = @import("windows.zig");

pub const Reader = struct {
    /// Names the clock of this process.
    boot: u64 = 0,
    /// In the references of this process's reservations.
    process: u32 = 0,
    /// How far UTC was ahead of each run's clock, at most.
    offsets: std.AutoHashMapUnmanaged(u64, i64) = .empty,
    /// Something still counts whose time had to be worked out from UTC.
    saw_other_boot: bool = false,

    pub fn deinit(reader: *Reader) void {
        reader.offsets.deinit(allocator);
    }

    pub fn reset(reader: *Reader) void {
        reader.offsets.clearRetainingCapacity();
        reader.saw_other_boot = false;
    }

    pub fn learn(reader: *Reader, clock: format.Clock) void {
        const slot = reader.offsets.getOrPut(allocator, clock.boot) catch unreachable;
        slot.value_ptr.* = if (slot.found_existing) @max(slot.value_ptr.*, clock.offset()) else clock.offset();
    }

    /// Learns from all frames at once, before any is taken: a clock that was put right later tells of the time before.
    pub fn learnClocks(reader: *Reader, bytes: []const u8, generation: u64, start: u64) void {
        var rest = bytes;
        var at = start;
        while (rest.len >= @sizeOf(format.FrameHead)) {
            const head = std.mem.bytesToValue(format.FrameHead, rest[0..@sizeOf(format.FrameHead)]);
            if (!head.isValid(generation, at) or head.length > rest.len) return;
            reader.learn(.{ .boot = head.boot, .boot_ns = head.boot_ns, .utc_ns = head.utc_ns });
            rest = rest[head.length..];
            at += head.length;
        }
    }

    /// The clock to write times with that were not made just now.
    pub fn stamped(reader: *Reader, now: format.Clock) format.Clock {
        reader.learn(now);
        return .{ .boot = now.boot, .boot_ns = now.boot_ns, .utc_ns = now.boot_ns +| reader.offsets.get(now.boot).? };
    }

    /// When an item was made, on this process's clock; never after now.
    fn timeOf(reader: *const Reader, frame: *const format.FrameHead, utc_ns: i64, now: format.Clock) i64 {
        const offset = frame.utc_ns -| frame.boot_ns;
        if (frame.boot == now.boot) return @min(now.boot_ns, utc_ns -| offset);
        const latest_ns = utc_ns +| (reader.offsets.get(frame.boot).? -| offset);
        return now.boot_ns -| @max(0, now.utc_ns -| latest_ns);
    }

    pub fn take(reader: *Reader, frame: *const format.Frame, table: *windows.Table, now: format.Clock) error{Damaged}!void {
        var names: format.NameReader = .{ .rest = frame.names };
        while (try names.next()) |each| table.number(table.getBytes(each.bytes));
        for (frame.items) |item| {
            if (item.window >= table.numbered.items.len) return error.Damaged;
            const window = table.numbered.items[item.window];
            const time_ns = reader.timeOf(&frame.head, item.utc_ns, now);
            switch (item.kind) {
                .entry => try takeEntry(window, time_ns, item.amount, now.boot_ns),
                .reserve => try reader.takeReservation(window, time_ns, &item),
                .settle => {
                    _ = window.removeReservation(item.reference);
                    if (window.amounts == .float) return error.Damaged;
                    if (item.amount > 0) try takeEntry(window, time_ns, item.amount, now.boot_ns);
                },
                _ => return error.Damaged,
            }
            if (frame.head.boot != now.boot and !window.isEmpty()) reader.saw_other_boot = true;
        }
    }

    fn takeEntry(window: *windows.Window, time_ns: i64, bits: u64, now_ns: i64) error{Damaged}!void {
        const amount: windows.Amount = if (window.amounts == .float) .{ .float = @bitCast(bits) } else .{ .int = @bitCast(bits) };
        switch (amount) {
            .int => |value| if (value < 0) return error.Damaged,
            .float => |value| if (!(value >= 0)) return error.Damaged,
        }
        // Records stand in the order in which they were made, whatever their stamps say.
        const ordered_ns = @max(time_ns, window.newest(time_ns));
        if (now_ns -| ordered_ns >= window.length()) return;
        window.add(ordered_ns, amount);
    }

    fn takeReservation(reader: *const Reader, window: *windows.Window, time_ns: i64, item: *const format.Item) error{Damaged}!void {
        const amount: i64 = @bitCast(item.amount);
        if (window.amounts == .float or amount < 0) return error.Damaged;
        const is_own = item.reference >> 32 == reader.process;
        window.reservations.append(allocator, .{
            .reference = item.reference,
            .time_ns = time_ns,
            .amount = amount,
            .is_own = is_own,
        }) catch unreachable;
    }
};
