//! The native host: Linux system calls and nothing else, so that it works without libc.
//! A standalone binary runs on it; elsewhere it is what panics are written with before a host is known.

const std = @import("std");
const linux = std.os.linux;
const abi = @import("abi.zig");

pub const table: abi.Host = .{
    .context = null,
    .write = write,
    .is_terminal = isTerminal,
    .monotonic_ns = monotonic,
    .utc_ns = utc,
    .random = random,
    .sleep = sleep,
    .environment = environment,
    .read_file = readFile,
    .write_file = writeFile,
    .exit = exit,
};

/// `NAME=value` entries, ended by null: set by the start code, empty in a shared library.
pub var environment_entries: [*:null]const ?[*:0]const u8 = &.{};

/// The program's name and its arguments: set by the start code too.
pub var arguments: []const [*:0]const u8 = &.{};

pub fn exitProcess(status: u8) noreturn {
    linux.exit_group(status);
}

fn exit(_: ?*anyopaque, status: i32) callconv(.c) void {
    linux.exit_group(status);
}

fn write(_: ?*anyopaque, descriptor: i32, bytes: [*]const u8, length: i64) callconv(.c) bool {
    return writeAll(descriptor, bytes[0..@intCast(length)]);
}

pub fn writeAll(descriptor: i32, text: []const u8) bool {
    return writeWhole(descriptor, text) == .SUCCESS;
}

/// Why it cannot be written to its end.
pub fn writeWhole(descriptor: i32, text: []const u8) linux.E {
    var rest = text;
    while (rest.len > 0) {
        const result = linux.write(descriptor, rest.ptr, rest.len);
        switch (linux.errno(result)) {
            .SUCCESS => rest = rest[result..],
            .INTR => {},
            .AGAIN => waitUntilWritable(descriptor), // A pipe that another process made non-blocking.
            else => |problem| return problem,
        }
    }
    return .SUCCESS;
}

fn waitUntilWritable(descriptor: i32) void {
    var entries = [_]linux.pollfd{.{ .fd = descriptor, .events = linux.POLL.OUT, .revents = 0 }};
    _ = linux.poll(&entries, entries.len, -1);
}

fn isTerminal(_: ?*anyopaque, descriptor: i32) callconv(.c) bool {
    var settings: linux.termios = undefined;
    return linux.errno(linux.tcgetattr(descriptor, &settings)) == .SUCCESS;
}

fn clock(id: linux.clockid_t) i64 {
    var time: linux.timespec = undefined;
    const result = linux.clock_gettime(id, &time);
    std.debug.assert(linux.errno(result) == .SUCCESS);
    return time.sec * std.time.ns_per_s + time.nsec;
}

fn monotonic(_: ?*anyopaque) callconv(.c) i64 {
    return clock(.BOOTTIME);
}

fn utc(_: ?*anyopaque) callconv(.c) i64 {
    return clock(.REALTIME);
}

fn random(_: ?*anyopaque) callconv(.c) u64 {
    var number: u64 = 0;
    const result = linux.getrandom(std.mem.asBytes(&number).ptr, @sizeOf(u64), 0);
    if (result == @sizeOf(u64)) return number;
    // No getrandom (a kernel before 3.17, or a filter): the clock is random enough for a retry's jitter.
    return @as(u64, @bitCast(clock(.REALTIME))) *% 0x9e3779b97f4a7c15;
}

fn sleep(_: ?*anyopaque, duration_ns: i64) callconv(.c) void {
    std.debug.assert(duration_ns >= 0);
    // Until a moment of the clock that timers run on: it counts suspended time, and a signal does not lengthen it.
    const until_ns = clock(.BOOTTIME) +| duration_ns;
    const until: linux.timespec = .{ .sec = @divTrunc(until_ns, std.time.ns_per_s), .nsec = @rem(until_ns, std.time.ns_per_s) };
    while (linux.errno(linux.clock_nanosleep(.BOOTTIME, .{ .ABSTIME = true }, &until, null)) == .INTR) {}
}

fn environment(_: ?*anyopaque, name: [*]const u8, length: i64, out: *abi.TextView) callconv(.c) bool {
    out.* = .init(variable(name[0..@intCast(length)]) orelse return false);
    return true;
}

/// The value of an environment variable, null when it is not set.
pub fn variable(name: []const u8) ?[]const u8 {
    var index: usize = 0;
    while (environment_entries[index]) |entry| : (index += 1) {
        const text = std.mem.span(entry);
        if (text.len > name.len and text[name.len] == '=' and std.mem.startsWith(u8, text, name)) {
            return text[name.len + 1 ..];
        }
    }
    return null;
}

pub const path_length_max = 4096;

/// The path as the kernel wants it, null when it is too long or holds a zero byte.
pub fn terminated(buffer: *[path_length_max]u8, path: []const u8) ?[*:0]const u8 {
    if (path.len >= buffer.len or std.mem.findScalar(u8, path, 0) != null) return null;
    @memcpy(buffer[0..path.len], path);
    buffer[path.len] = 0;
    return @ptrCast(buffer);
}

/// A file of this size or more, such as one without an end (`/dev/zero`), cannot be read.
pub const file_size_max = 256 << 20;

fn readFile(_: ?*anyopaque, path: [*]const u8, length: i64, out: *abi.TextView) callconv(.c) bool {
    out.* = .init(contentOf(path[0..@intCast(length)]) orelse return false);
    return true;
}

/// Reads into pages of its own, which are never given back: a program reads one file, its test model.
fn contentOf(path: []const u8) ?[]const u8 {
    var path_buffer: [path_length_max]u8 = undefined;
    const name = terminated(&path_buffer, path) orelse return null;
    const opened = linux.openat(linux.AT.FDCWD, name, .{ .CLOEXEC = true }, 0);
    if (linux.errno(opened) != .SUCCESS) return null;
    const descriptor: i32 = @intCast(opened);
    defer _ = linux.close(descriptor);
    var content = mapPages(64 * 1024) orelse return null;
    var used: usize = 0;
    while (true) {
        if (used == content.len) {
            if (used >= file_size_max) return unmapped(content);
            const larger = mapPages(2 * content.len) orelse return unmapped(content);
            @memcpy(larger[0..used], content);
            _ = linux.munmap(content.ptr, content.len);
            content = larger;
        }
        const result = linux.read(descriptor, content.ptr + used, content.len - used);
        switch (linux.errno(result)) {
            .SUCCESS => if (result == 0) return content[0..used] else {
                used += result;
            },
            .INTR => {},
            else => return unmapped(content),
        }
    }
}

/// Of a file that cannot be read.
fn unmapped(content: []u8) ?[]const u8 {
    _ = linux.munmap(content.ptr, content.len);
    return null;
}

pub fn mapPages(length: usize) ?[]u8 {
    const address = linux.mmap(null, length, .{ .READ = true, .WRITE = true }, .{ .TYPE = .PRIVATE, .ANONYMOUS = true }, -1, 0);
    if (linux.errno(address) != .SUCCESS) return null;
    return @as([*]u8, @ptrFromInt(address))[0..length];
}

fn writeFile(_: ?*anyopaque, path: [*]const u8, path_length: i64, bytes: [*]const u8, length: i64) callconv(.c) bool {
    var path_buffer: [path_length_max]u8 = undefined;
    const name = terminated(&path_buffer, path[0..@intCast(path_length)]) orelse return false;
    const flags: linux.O = .{ .ACCMODE = .WRONLY, .CREAT = true, .TRUNC = true, .CLOEXEC = true };
    const opened = linux.openat(linux.AT.FDCWD, name, flags, 0o666);
    if (linux.errno(opened) != .SUCCESS) return false;
    const descriptor: i32 = @intCast(opened);
    defer _ = linux.close(descriptor);
    return writeAll(descriptor, bytes[0..@intCast(length)]);
}
