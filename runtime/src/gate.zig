//! The gate: how many requests may be under way to one provider at a time (spec 8.4.gate).

const std = @import("std");
const abi = @import("abi.zig");
const allocator = @import("allocator.zig").runtime;
const provider = @import("provider.zig");
const assert = std.debug.assert;

const under_way_max = 256;

/// How a send ended: with an answer, turned away since there were too many, or in another way.
pub const Ending = enum { answered, turned_away, other };

/// A send's place among those under way, from before it begins to its end.
pub const Place = struct {
    state: enum { none, queued, taken, sending } = .none,
    /// Which send it is.
    number: u64 = 0,
    /// Called for a place that was queued, when it is taken.
    granted: *const fn (place: *Place) void,
    node: std.DoublyLinkedList.Node = .{},
};

pub const Gate = struct {
    /// How many may be under way, in fractions of one. It falls once for each wave of refusals: a wave begins with a
    /// refusal of a send that began after the last wave did.
    cap: f64 = under_way_max,
    /// How much a round of answers, one for each place, adds to the cap. It doubles with each round in which nothing is
    /// turned away, so that a provider that takes more again is soon asked for it.
    growth: f64 = 1,
    /// Of the present round.
    answers: f64 = 0,
    under_way: u64 = 0,
    sends_begun: u64 = 0,
    first_of_wave: u64 = 0,
    queue: std.DoublyLinkedList = .{},

    /// Takes the place; false: it is queued for one.
    pub fn enter(gate: *Gate, place: *Place) bool {
        assert(place.state == .none);
        if (gate.under_way < gate.wholeCap()) {
            assert(gate.queue.first == null);
            gate.take(place);
            return true;
        }
        place.state = .queued;
        gate.queue.append(&place.node);
        return false;
    }

    /// What `enter` did is taken back, before the send began.
    pub fn leave(gate: *Gate, place: *Place) void {
        const state = place.state;
        place.state = .none;
        switch (state) {
            .queued => gate.queue.remove(&place.node),
            .taken => gate.freePlace(),
            .none, .sending => unreachable,
        }
    }

    /// The send begins.
    pub fn begin(gate: *Gate, place: *Place) void {
        assert(place.state == .taken);
        place.state = .sending;
        place.number = gate.sends_begun;
        gate.sends_begun += 1;
    }

    /// The place is free again; the ending tells what the provider takes.
    pub fn end(gate: *Gate, place: *Place, ending: Ending) void {
        assert(place.state == .sending);
        place.state = .none;
        switch (ending) {
            .answered => if (gate.under_way >= gate.wholeCap()) gate.grow(),
            .turned_away => gate.shrink(place.number),
            .other => {},
        }
        gate.freePlace();
    }

    fn grow(gate: *Gate) void {
        gate.cap = @min(gate.cap + gate.growth / gate.cap, under_way_max);
        gate.answers += 1;
        if (gate.answers < gate.cap) return;
        gate.answers = 0;
        gate.growth = @min(2 * gate.growth, under_way_max);
    }

    fn shrink(gate: *Gate, number: u64) void {
        gate.growth = 1;
        gate.answers = 0;
        if (number >= gate.first_of_wave) {
            gate.first_of_wave = gate.sends_begun;
            gate.cap = @floatFromInt(@max(1, gate.under_way - 1));
        } else {
            gate.cap = @max(1, gate.cap - 1);
        }
    }

    fn freePlace(gate: *Gate) void {
        gate.under_way -= 1;
        while (gate.under_way < gate.wholeCap()) {
            const place: *Place = @fieldParentPtr("node", gate.queue.popFirst() orelse return);
            gate.take(place);
            place.granted(place);
        }
    }

    fn take(gate: *Gate, place: *Place) void {
        place.state = .taken;
        gate.under_way += 1;
        assert(gate.under_way <= under_way_max);
    }

    fn wholeCap(gate: *const Gate) u64 {
        assert(gate.cap >= 1 and gate.cap <= under_way_max);
        return @intFromFloat(gate.cap);
    }
};

/// The endpoints that a program's agents ask, each with its gate.
pub const Gates = struct {
    rows: std.ArrayList(*Row) = .empty,

    const Row = struct { provider: abi.Provider, key: []const u8, gate: Gate = .{} };

    /// The gate of the endpoint. It stays where it is.
    pub fn of(gates: *Gates, name: abi.Provider, base_url: []const u8) *Gate {
        const key = provider.gateKey(allocator, base_url) catch unreachable;
        for (gates.rows.items) |row| {
            if (row.provider != name or !std.mem.eql(u8, row.key, key)) continue;
            allocator.free(key);
            return &row.gate;
        }
        const row = allocator.create(Row) catch unreachable;
        row.* = .{ .provider = name, .key = key };
        gates.rows.append(allocator, row) catch unreachable;
        return &row.gate;
    }

    pub fn deinit(gates: *Gates) void {
        for (gates.rows.items) |row| {
            allocator.free(row.key);
            allocator.destroy(row);
        }
        gates.rows.deinit(allocator);
        gates.* = .{};
    }
};

const testing = std.testing;

fn ignore(_: *Place) void {}

test "a wave of refusals leaves what was taken, and each answer lets a little more through" {
    var gate: Gate = .{};
    var places: [60]Place = @splat(.{ .granted = ignore });
    for (&places) |*place| {
        try testing.expect(gate.enter(place));
        gate.begin(place);
    }
    for (places[50..]) |*place| gate.end(place, .turned_away);
    try testing.expectEqual(@as(f64, 50), gate.cap);
    try testing.expect(!gate.enter(&places[50]));
    for (places[0..50]) |*place| {
        gate.end(place, .answered);
        if (places[50].state == .taken) gate.begin(&places[50]);
    }
    try testing.expect(gate.cap > 50 and gate.cap < 51);
    try testing.expectEqual(@as(u64, 1), gate.under_way);
}

test "never below one, and a queue keeps its order" {
    var gate: Gate = .{};
    var places: [3]Place = @splat(.{ .granted = ignore });
    for (0..3) |_| {
        try testing.expect(gate.enter(&places[0]));
        gate.begin(&places[0]);
        gate.end(&places[0], .turned_away);
        try testing.expectEqual(@as(f64, 1), gate.cap);
    }
    try testing.expect(gate.enter(&places[0]));
    try testing.expect(!gate.enter(&places[1]));
    try testing.expect(!gate.enter(&places[2]));
    gate.leave(&places[1]);
    gate.leave(&places[0]);
    try testing.expectEqual(.taken, places[2].state);
    gate.leave(&places[2]);
    try testing.expectEqual(@as(u64, 0), gate.under_way);
}

test "one gate for an endpoint, however it is written" {
    var gates: Gates = .{};
    defer gates.deinit();
    const first = gates.of(.anthropic, "https://a.example");
    try testing.expectEqual(first, gates.of(.anthropic, "HTTPS://A.example:443/v1/"));
    try testing.expect(first != gates.of(.openai, "https://a.example"));
    try testing.expect(first != gates.of(.anthropic, "https://a.example/v2"));
    try testing.expectEqual(gates.of(.anthropic, "none"), gates.of(.anthropic, "none"));
}
