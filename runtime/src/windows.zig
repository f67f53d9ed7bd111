//! All windows that the ledger knows: of the program's rules, one for each value of a rule's key, and those that a state
//! file holds for other programs. Each is named as the state file names it.

const std = @import("std");
const allocator = @import("allocator.zig").runtime;
const format = @import("state_format.zig");
const memory = @import("memory.zig");
const window = @import("window.zig");
const assert = std.debug.assert;

pub const Amount = union(enum) {
    int: i64,
    float: f64,

    pub fn bits(amount: Amount) u64 {
        return switch (amount) {
            .int => |value| @bitCast(value),
            .float => |value| @bitCast(value),
        };
    }
};

/// An ask that was let through and has not told what it took.
pub const Reservation = struct {
    reference: u64,
    time_ns: i64,
    amount: i64,
    /// Of this process: the admission counts it as under way.
    is_own: bool,
};

pub const Window = struct {
    /// The name as the file holds it; `name` points into it.
    bytes: []u8,
    name: format.Name,
    amounts: union(enum) { int: window.IntWindow, float: window.FloatWindow },
    reservations: std.ArrayList(Reservation) = .empty,
    /// In the state file as it is now; null when it has no name there yet.
    number: ?u32 = null,
    /// Of a rule without a key: it stays though it is empty.
    is_pinned: bool = false,

    fn create(name_bytes: []const u8) *Window {
        const made: *Window = @ptrCast(@alignCast(memory.allocateRaw(@sizeOf(Window))));
        const bytes = memory.allocateSlice(u8, name_bytes.len);
        @memcpy(bytes, name_bytes);
        var reader: format.NameReader = .{ .rest = bytes };
        const read = (reader.next() catch unreachable).?;
        const length_ns = read.name.length_ns;
        made.* = .{
            .bytes = bytes,
            .name = read.name,
            .amounts = if (read.name.is_float) .{ .float = .init(length_ns) } else .{ .int = .init(length_ns) },
        };
        return made;
    }

    fn destroy(self: *Window) void {
        switch (self.amounts) {
            inline else => |*each| each.deinit(),
        }
        self.reservations.deinit(allocator);
        memory.freeSlice(u8, self.bytes);
        memory.freeRaw(self);
    }

    pub fn expire(self: *Window, now_ns: i64) void {
        switch (self.amounts) {
            inline else => |*each| each.expire(now_ns),
        }
        var kept: usize = 0;
        for (self.reservations.items) |each| {
            // One of this process is still under way, however old: what settles it must find it.
            if (!each.is_own and now_ns -| each.time_ns >= self.name.length_ns) continue;
            self.reservations.items[kept] = each;
            kept += 1;
        }
        self.reservations.shrinkRetainingCapacity(kept);
    }

    pub fn count(self: *const Window) usize {
        return switch (self.amounts) {
            inline else => |each| each.count,
        };
    }

    pub fn isEmpty(self: *const Window) bool {
        return self.count() == 0 and self.reservations.items.len == 0;
    }

    pub fn add(self: *Window, time_ns: i64, amount: Amount) void {
        switch (amount) {
            .int => |value| self.amounts.int.add(time_ns, value),
            .float => |value| self.amounts.float.add(time_ns, value),
        }
    }

    /// Takes back what was added last, unless it has expired since.
    pub fn takeBack(self: *Window, time_ns: i64) void {
        switch (self.amounts) {
            inline else => |*each| if (each.count > 0 and each.at(each.count - 1).time_ns == time_ns) each.removeLast(),
        }
    }

    /// The time of the newest entry, or `otherwise`.
    pub fn newest(self: *const Window, otherwise: i64) i64 {
        return switch (self.amounts) {
            inline else => |each| if (each.count == 0) otherwise else each.at(each.count - 1).time_ns,
        };
    }

    /// False where there is no such reservation (it has expired).
    pub fn removeReservation(self: *Window, reference: u64) bool {
        for (self.reservations.items, 0..) |each, index| {
            if (each.reference != reference) continue;
            _ = self.reservations.orderedRemove(index);
            return true;
        }
        return false;
    }

    /// What counts in a `tokens` rule: answered asks, and those of other processes (or of one that died) by what they
    /// reserved.
    pub fn answered(self: *const Window) Answered {
        var found: Answered = .{ .sum = self.amounts.int.sum, .count = self.amounts.int.count };
        for (self.reservations.items) |each| {
            if (each.is_own) continue;
            found.sum += each.amount;
            found.count += 1;
        }
        return found;
    }
};

pub const Answered = struct { sum: i128, count: u64 };

pub const Table = struct {
    map: std.StringHashMapUnmanaged(*Window) = .empty,
    /// In the order in which they were made.
    list: std.ArrayList(*Window) = .empty,
    /// By their number in the state file.
    numbered: std.ArrayList(*Window) = .empty,
    sweep_next: usize = 0,
    scratch: std.ArrayList(u8) = .empty,

    pub fn deinit(table: *Table) void {
        for (table.list.items) |each| each.destroy();
        table.map.deinit(allocator);
        table.list.deinit(allocator);
        table.numbered.deinit(allocator);
        table.scratch.deinit(allocator);
        table.* = .{};
    }

    /// The window of that name, made when there is none.
    pub fn get(table: *Table, name: *const format.Name) *Window {
        table.scratch.clearRetainingCapacity();
        name.append(&table.scratch);
        return table.getBytes(table.scratch.items);
    }

    pub fn getBytes(table: *Table, name_bytes: []const u8) *Window {
        if (table.map.get(name_bytes)) |found| return found;
        const made = Window.create(name_bytes);
        table.map.put(allocator, made.bytes, made) catch unreachable;
        table.list.append(allocator, made) catch unreachable;
        return made;
    }

    /// Forgets what the windows hold and their numbers, to read all of it from a file.
    pub fn empty(table: *Table) void {
        for (table.list.items) |each| {
            switch (each.amounts) {
                inline else => |*amounts| amounts.deinit(),
            }
            each.reservations.clearRetainingCapacity();
            each.number = null;
        }
        table.numbered.clearRetainingCapacity();
    }

    /// The next window gets the next number.
    pub fn number(table: *Table, each: *Window) void {
        // A name that stands twice in a file has two numbers; the later one is used.
        each.number = @intCast(table.numbered.items.len);
        table.numbered.append(allocator, each) catch unreachable;
    }

    /// Looks at two windows of keys, and lets those go that hold nothing: so a key that comes no more takes no memory.
    pub fn sweep(table: *Table, now_ns: i64) void {
        for (0..2) |_| {
            if (table.list.items.len == 0) return;
            if (table.sweep_next >= table.list.items.len) table.sweep_next = 0;
            const each = table.list.items[table.sweep_next];
            if (!each.is_pinned and each.number == null) {
                each.expire(now_ns);
                if (each.isEmpty()) {
                    table.remove(table.sweep_next);
                    continue;
                }
            }
            table.sweep_next += 1;
        }
    }

    /// Lets every window go that holds nothing and that no rule keeps.
    pub fn sweepAll(table: *Table, now_ns: i64) void {
        assert(table.numbered.items.len == 0);
        var kept: usize = 0;
        for (table.list.items) |each| {
            each.expire(now_ns);
            if (each.isEmpty() and !each.is_pinned) {
                _ = table.map.remove(each.bytes);
                each.destroy();
                continue;
            }
            table.list.items[kept] = each;
            kept += 1;
        }
        table.list.shrinkRetainingCapacity(kept);
    }

    fn remove(table: *Table, index: usize) void {
        const each = table.list.swapRemove(index);
        _ = table.map.remove(each.bytes);
        each.destroy();
    }
};

const testing = std.testing;

test "a key that comes no more takes no memory" {
    var table: Table = .{};
    defer table.deinit();
    var text: [16]u8 = undefined;
    for (0..1000) |index| {
        const key = try std.fmt.bufPrint(&text, "{d}", .{index});
        const name: format.Name = .{ .agent = "A", .target = "P.f", .rule = "r", .key = key, .length_ns = 10, .is_float = false };
        table.get(&name).add(@intCast(index), .{ .int = 1 });
        table.sweep(@intCast(index));
        try testing.expect(table.list.items.len < 100);
    }
}
