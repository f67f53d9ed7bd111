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
    /// The name as the file holds it.
    bytes: []u8,
    hash: u32,
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
            .hash = Index.hashOf(bytes),
            .amounts = if (read.name.is_float) .{ .float = .init(length_ns) } else .{ .int = .init(length_ns) },
        };
        return made;
    }

    /// Its parts point into `bytes`.
    pub fn name(self: *const Window) format.Name {
        var reader: format.NameReader = .{ .rest = self.bytes };
        return ((reader.next() catch unreachable).?).name;
    }

    pub fn length(self: *const Window) i64 {
        return switch (self.amounts) {
            inline else => |each| each.length_ns,
        };
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
        if (self.reservations.items.len == 0) return;
        var kept: usize = 0;
        for (self.reservations.items) |each| {
            // One of this process is still under way, however old: what settles it must find it.
            if (!each.is_own and now_ns -| each.time_ns >= self.length()) continue;
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
            inline else => |*each| if (each.count > 0 and each.newest_ns == time_ns) each.removeLast(),
        }
    }

    /// The time of the newest entry, or `otherwise`.
    pub fn newest(self: *const Window, otherwise: i64) i64 {
        return switch (self.amounts) {
            inline else => |each| if (each.count == 0) otherwise else each.newest_ns,
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
        var found: Answered = .{ .sum = self.amounts.int.total.sum, .count = self.amounts.int.count };
        for (self.reservations.items) |each| {
            if (each.is_own) continue;
            found.sum += each.amount;
            found.count += 1;
        }
        return found;
    }
};

pub const Answered = struct { sum: i128, count: u64 };

/// Finds windows by their names. Keys come and go for as long as a program runs, so what is removed leaves no trace: the
/// windows behind it move up.
const Index = struct {
    /// A power of two of them, at most three quarters taken.
    slots: []?*Window = &.{},
    count: usize = 0,

    fn hashOf(bytes: []const u8) u32 {
        return @truncate(std.hash.Wyhash.hash(0, bytes));
    }

    fn deinit(index: *Index) void {
        memory.freeSlice(?*Window, index.slots);
        index.* = .{};
    }

    fn find(index: *const Index, hash: u32, bytes: []const u8) ?*Window {
        if (index.slots.len == 0) return null;
        var place = index.home(hash);
        while (index.slots[place]) |each| : (place = index.after(place)) {
            if (each.hash == hash and std.mem.eql(u8, each.bytes, bytes)) return each;
        }
        return null;
    }

    fn put(index: *Index, each: *Window) void {
        if ((index.count + 1) * 4 > index.slots.len * 3) index.grow();
        index.insert(each);
        index.count += 1;
    }

    fn insert(index: *Index, each: *Window) void {
        var at = index.home(each.hash);
        while (index.slots[at] != null) at = index.after(at);
        index.slots[at] = each;
    }

    fn remove(index: *Index, each: *const Window) void {
        var gap = index.home(each.hash);
        while (index.slots[gap] != each) gap = index.after(gap);
        index.count -= 1;
        var next = index.after(gap);
        while (index.slots[next]) |moved| : (next = index.after(next)) {
            // One whose home lies behind the gap is found without it.
            const mask = index.slots.len - 1;
            if (((next -% index.home(moved.hash)) & mask) < ((next -% gap) & mask)) continue;
            index.slots[gap] = moved;
            gap = next;
        }
        index.slots[gap] = null;
    }

    fn home(index: *const Index, hash: u32) usize {
        return hash & (index.slots.len - 1);
    }

    fn after(index: *const Index, at: usize) usize {
        return (at + 1) & (index.slots.len - 1);
    }

    fn grow(index: *Index) void {
        const old = index.slots;
        index.slots = memory.allocateSlice(?*Window, @max(8, old.len * 2));
        @memset(index.slots, null);
        for (old) |slot| if (slot) |each| index.insert(each);
        memory.freeSlice(?*Window, old);
    }
};

pub const Table = struct {
    index: Index = .{},
    /// In the order in which they were made.
    list: std.ArrayList(*Window) = .empty,
    /// By their number in the state file.
    numbered: std.ArrayList(*Window) = .empty,
    sweep_next: usize = 0,
    /// Made since the last sweep.
    made_count: usize = 0,
    scratch: std.ArrayList(u8) = .empty,

    pub fn deinit(table: *Table) void {
        for (table.list.items) |each| each.destroy();
        table.index.deinit();
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
        if (table.index.find(Index.hashOf(name_bytes), name_bytes)) |found| return found;
        const made = Window.create(name_bytes);
        table.made_count += 1;
        table.index.put(made);
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

    /// Looks at two windows for each that was made since, and at one more, and lets those of keys go that hold nothing:
    /// so a key that comes no more takes no memory.
    pub fn sweep(table: *Table, now_ns: i64) void {
        const turns = 2 * table.made_count + 1;
        table.made_count = 0;
        for (0..turns) |_| {
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
                table.index.remove(each);
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
        table.index.remove(each);
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
        try testing.expect(table.index.slots.len <= 128);
    }
}

test "the index against a plain list" {
    var random: std.Random.DefaultPrng = .init(11);
    var index: Index = .{};
    defer index.deinit();
    var known: [200]?*Window = @splat(null);
    defer for (known) |each| if (each) |found| found.destroy();
    var text: [16]u8 = undefined;
    for (0..20_000) |_| {
        const number = random.random().uintLessThan(usize, known.len);
        const key = try std.fmt.bufPrint(&text, "{d}", .{number});
        var name: std.ArrayList(u8) = .empty;
        defer name.deinit(allocator);
        const whole: format.Name = .{ .agent = "A", .target = "P.f", .rule = "r", .key = key, .length_ns = 10, .is_float = false };
        whole.append(&name);
        try testing.expectEqual(known[number], index.find(Index.hashOf(name.items), name.items));
        if (known[number]) |each| {
            index.remove(each);
            each.destroy();
            known[number] = null;
        } else {
            known[number] = Window.create(name.items);
            index.put(known[number].?);
        }
    }
}
