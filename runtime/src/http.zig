//! The native host's HTTP, for standalone binaries that ask: an object file of its own, since TLS takes long to compile,
//! and seldom changes.

const std = @import("std");
const builtin = @import("builtin");
const abi = @import("exchange_abi.zig");
const workers = @import("http/workers.zig");

pub const panic = if (builtin.is_test) std.debug.FullPanic(std.debug.defaultPanic) else @import("checks.zig");

/// What a failed check does first.
pub const escape = @import("http/guard.zig").escape;

pub extern fn kv_exchange_header(exchange: *abi.Exchange, name: [*]const u8, name_length: i64, value: [*]const u8, value_length: i64) callconv(.c) void;
pub extern fn kv_exchange_body(exchange: *abi.Exchange, bytes: [*]const u8, length: i64) callconv(.c) bool;
pub extern fn kv_exchange_end(exchange: *abi.Exchange, status: i32, problem: i32) callconv(.c) void;

var services: *const abi.Services = undefined;

/// Before the first request.
export fn kv_http_begin(given: *const abi.Services) callconv(.c) void {
    services = given;
}

export fn kv_http_send(_: ?*anyopaque, exchange: *abi.Exchange) callconv(.c) void {
    workers.send(exchange);
}

export fn kv_http_abort(_: ?*anyopaque, exchange: *abi.Exchange) callconv(.c) void {
    workers.abort(exchange);
}

pub fn spawn(function: *const fn (argument: *anyopaque) callconv(.c) void, argument: *anyopaque) bool {
    return services.spawn(function, argument);
}

/// The value of an environment variable, null when it is not set.
pub fn variable(name: []const u8) ?[]const u8 {
    var found: abi.TextView = .{};
    return if (services.environment(null, name.ptr, @intCast(name.len), &found)) found.slice() else null;
}

test {
    _ = @import("http/answer.zig");
    _ = @import("http/gzip.zig");
    _ = @import("http/names.zig");
    _ = @import("http/proxy.zig");
    _ = @import("http/url.zig");
}
