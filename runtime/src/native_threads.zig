//! Threads of a standalone binary that asks, and how the program's thread waits for them.

const std = @import("std");
const abi = @import("exchange_abi.zig");
const futex = @import("futex.zig");
const native = @import("native.zig");

/// The deepest is TLS's handshake.
const stack_size = 512 * 1024;

pub const services: abi.Services = .{ .environment = native.table.environment, .spawn = spawn };

fn spawn(function: *const fn (argument: *anyopaque) callconv(.c) void, argument: *anyopaque) callconv(.c) bool {
    const thread = std.Thread.spawn(.{ .stack_size = stack_size }, run, .{ function, argument }) catch return false;
    thread.detach();
    return true;
}

fn run(function: *const fn (argument: *anyopaque) callconv(.c) void, argument: *anyopaque) void {
    function(argument);
}

var woken: futex.Event = .{};

/// The timers' clock counts time that the machine is suspended, and a futex's does not: so no wait is long.
const slice_ns = std.time.ns_per_s;

pub fn wait(_: ?*anyopaque, duration_ns: i64) callconv(.c) void {
    _ = woken.take(if (duration_ns < 0) slice_ns else @intCast(@min(duration_ns, slice_ns)));
}

pub fn wake(_: ?*anyopaque) callconv(.c) void {
    woken.set();
}
