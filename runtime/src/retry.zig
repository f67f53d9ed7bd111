//! When a request that was turned away is sent again, and after how long (spec 8.4.busy, 8.4.jitter).

const std = @import("std");
const gate = @import("gate.zig");
const host = @import("host.zig");
const http_date = @import("http_date.zig");
const transport = @import("transport.zig");
const assert = std.debug.assert;

/// Waits in one try, so that it makes one send more than this at most.
pub const wait_count_max = 5;

const wait_max_ns = 8 * std.time.ns_per_s;
const retry_after_max_ns = 60 * std.time.ns_per_s;

/// The generator of virtual time: a run in virtual time is the same each time.
var virtual_state: u64 = 0;

pub fn reset() void {
    virtual_state = 0;
}

/// Worth another send: the provider is busy, not unwilling.
pub fn isBusy(failure: transport.Failure) bool {
    if (failure.again != .by_status) return failure.again == .always;
    return switch (failure.status) {
        // A spent budget is no less spent in a second.
        429 => !std.mem.eql(u8, failure.error_code, "enforced_spend_limit_reached") and
            !std.mem.eql(u8, failure.error_code, "insufficient_quota"),
        408, 500...599 => true,
        else => false,
    };
}

/// What the gate learns of a reply.
pub fn ending(reply: transport.Reply) gate.Ending {
    return switch (reply) {
        .answer => .answered,
        .failure => |failure| switch (failure.status) {
            429, 503, 529 => if (isBusy(failure)) .turned_away else .other,
            else => .other,
        },
        .dropped => .other,
    };
}

pub fn nextRandom() u64 {
    return if (host.options.virtual_time != 0) splitMix64(&virtual_state) else host.random();
}

pub fn splitMix64(state: *u64) u64 {
    state.* +%= 0x9e3779b97f4a7c15;
    var mixed = state.*;
    mixed = (mixed ^ (mixed >> 30)) *% 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) *% 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

/// The wait before the next send, when `waits_before` have passed in this try. It lies between half and all of 1, 2, 4
/// and then 8 seconds, so that requests turned away together do not come back together.
pub fn waitNs(waits_before: u64, random: u64, retry_after_ns: i64) i64 {
    const whole_ns: u64 = if (waits_before >= 3) wait_max_ns else @as(u64, std.time.ns_per_s) << @intCast(waits_before);
    const half_ns = whole_ns / 2;
    const wait_ns = half_ns + random % (half_ns + 1);
    assert(wait_ns >= half_ns and wait_ns <= whole_ns);
    return @max(@as(i64, @intCast(wait_ns)), @min(retry_after_ns, retry_after_max_ns));
}

/// How long a `Retry-After` header asks for, whole seconds or a date; null for anything else, and for what is past.
pub fn afterNs(header: []const u8, utc_ns: i64) ?i64 {
    const wanted = std.mem.trim(u8, header, " \t");
    if (http_date.parse(wanted)) |moment_s| {
        const after_ns = moment_s *| std.time.ns_per_s -| utc_ns;
        return if (after_ns < 0) null else after_ns;
    }
    if (wanted.len == 0) return null;
    var seconds: i64 = 0;
    for (wanted) |digit| {
        if (!std.ascii.isDigit(digit)) return null;
        seconds = seconds *| 10 +| (digit - '0');
    }
    return seconds *| std.time.ns_per_s;
}

const testing = std.testing;

test "every wait lies between half and all of its length" {
    var state: u64 = 0;
    for (0..10_000) |waits_before| {
        const seconds: i64 = if (waits_before >= 3) 8 else @as(i64, 1) << @intCast(waits_before);
        const wait_ns = waitNs(waits_before, splitMix64(&state), 0);
        try testing.expect(2 * wait_ns >= seconds * std.time.ns_per_s);
        try testing.expect(wait_ns <= seconds * std.time.ns_per_s);
    }
    try testing.expectEqual(@as(i64, std.time.ns_per_s), waitNs(0, std.time.ns_per_s / 2, 0));
}

test "Retry-After raises a wait, and nonsense does nothing" {
    const second = std.time.ns_per_s;
    const largest = std.math.maxInt(i64);
    const cases = [_]struct { []const u8, ?i64 }{
        .{ "3", 3 * second },                                                           .{ " 60 ", 60 * second },
        .{ "31536000", 31536000 * second },                                             .{ "99999999999999999999999999", largest },
        .{ "0", 0 },                                                                    .{ "-1", null },
        .{ "", null },                                                                  .{ "1e999", null },
        .{ "1.5", null },                                                               .{ "+5", null },
        .{ "Sun, 06 Nov 1994 08:49:37 GMT", 9 * second },                               .{ "Sun, 06 Nov 1994 08:49:28 GMT", 0 },
        .{ "\tSat, 05 Nov 1994 08:49:37 GMT", null },                                   .{ "Mon, 01 Jan 0001 00:00:00 GMT", null },
        .{ "Fri, 31 Dec 9999 23:59:59 GMT", largest - 784_111_768 * @as(i64, second) },
    };
    for (cases) |case| try testing.expectEqual(case[1], afterNs(case[0], 784_111_768 * second));
    try testing.expectEqual(8 * second, waitNs(9, 4 * second, 3 * second));
    try testing.expectEqual(3 * second, waitNs(0, second / 2, 3 * second));
    try testing.expectEqual(60 * second, waitNs(0, second / 2, largest));
}

test "each status from 400 to 599" {
    for (400..600) |status| {
        const is_busy = isBusy(.{ .status = @intCast(status), .message = "" });
        try testing.expectEqual(status == 408 or status == 429 or status >= 500, is_busy);
    }
    try testing.expect(!isBusy(.{ .status = 429, .message = "", .error_code = "insufficient_quota" }));
    try testing.expect(!isBusy(.{ .status = 429, .message = "", .error_code = "enforced_spend_limit_reached" }));
    try testing.expect(isBusy(.{ .status = 429, .message = "", .error_code = "other" }));
    try testing.expect(isBusy(.{ .status = 529, .message = "", .error_code = "insufficient_quota" }));
}

test "SplitMix64 from the seed 0" {
    var state: u64 = 0;
    try testing.expectEqual(@as(u64, 0xe220a8397b1dcdaf), splitMix64(&state));
    try testing.expectEqual(@as(u64, 0x6e789e6aa1b965f4), splitMix64(&state));
}
