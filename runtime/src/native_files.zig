//! The files of a program (`Files`), as the native host gives them: Linux system calls and nothing else.

const std = @import("std");
const linux = std.os.linux;
const abi = @import("abi.zig");
const native = @import("native.zig");

const Status = abi.FileStatus;

/// What was read last, in pages of its own: given back when the next file is read.
var content: []align(std.heap.page_size_min) u8 = &.{};
var reason_buffer: [64]u8 = undefined;

pub fn file(_: ?*anyopaque, operation: i32, path: [*]const u8, path_length: i64, bytes: [*]const u8, length: i64, out: *abi.TextView) callconv(.c) i32 {
    var buffer: [native.path_length_max]u8 = undefined;
    const given = path[0..@intCast(path_length)];
    const status = if (native.terminated(&buffer, given)) |name| switch (@as(abi.FileOperation, @fromBackingInt(@intCast(operation)))) {
        .read => read(name, out),
        .write => write(name, bytes[0..@intCast(length)], .{ .TRUNC = true }, out),
        .append => write(name, bytes[0..@intCast(length)], .{ .APPEND = true }, out),
        .remove => remove(name, out),
        else => if (linux.errno(linux.access(name, 0)) == .SUCCESS) Status.ok else Status.not_found,
    } else other(out, if (std.mem.findScalar(u8, given, 0) != null) "the path has a zero byte" else too_long);
    return @backingInt(status);
}

const too_long = "the path is too long";

fn other(out: *abi.TextView, reason: []const u8) Status {
    out.* = abi.TextView.init(reason);
    return .other;
}

fn refused(problem: linux.E, out: *abi.TextView) Status {
    return switch (problem) {
        .NOENT, .NOTDIR => .not_found,
        .ACCES, .PERM, .ROFS => .not_allowed,
        .ISDIR => other(out, "it is a directory"),
        .NAMETOOLONG => other(out, too_long),
        .NOSPC => other(out, "no space is left"),
        else => other(out, std.fmt.bufPrint(&reason_buffer, "error {d} of the system", .{@backingInt(problem)}) catch unreachable),
    };
}

fn read(name: [*:0]const u8, out: *abi.TextView) Status {
    const opened = linux.openat(linux.AT.FDCWD, name, .{ .CLOEXEC = true }, 0);
    if (linux.errno(opened) != .SUCCESS) return refused(linux.errno(opened), out);
    const descriptor: i32 = @intCast(opened);
    defer _ = linux.close(descriptor);
    if (content.len == 0) content = mapped(64 * 1024) orelse return refused(.NOMEM, out);
    var used: usize = 0;
    while (true) {
        if (used == content.len) {
            if (used >= native.file_size_max) return other(out, "the file is too large");
            const larger = mapped(2 * content.len) orelse return refused(.NOMEM, out);
            @memcpy(larger[0..used], content);
            _ = linux.munmap(content.ptr, content.len);
            content = larger;
        }
        const result = linux.read(descriptor, content.ptr + used, content.len - used);
        switch (linux.errno(result)) {
            .SUCCESS => if (result == 0) {
                out.* = abi.TextView.init(content[0..used]);
                return .ok;
            } else {
                used += result;
            },
            .INTR => {},
            else => |problem| return refused(problem, out),
        }
    }
}

fn remove(name: [*:0]const u8, out: *abi.TextView) Status {
    const problem = linux.errno(linux.unlinkat(linux.AT.FDCWD, name, 0));
    return if (problem == .SUCCESS) .ok else refused(problem, out);
}

fn mapped(length: usize) ?[]align(std.heap.page_size_min) u8 {
    return @alignCast(native.mapPages(length) orelse return null);
}

fn write(name: [*:0]const u8, bytes: []const u8, how: linux.O, out: *abi.TextView) Status {
    var flags = how;
    flags.ACCMODE = .WRONLY;
    flags.CREAT = true;
    flags.CLOEXEC = true;
    const opened = linux.openat(linux.AT.FDCWD, name, flags, 0o666);
    if (linux.errno(opened) != .SUCCESS) return refused(linux.errno(opened), out);
    const descriptor: i32 = @intCast(opened);
    defer _ = linux.close(descriptor);
    var rest = bytes;
    while (rest.len > 0) {
        const result = linux.write(descriptor, rest.ptr, rest.len);
        switch (linux.errno(result)) {
            .SUCCESS => rest = rest[result..],
            .INTR => {},
            else => |problem| return refused(problem, out),
        }
    }
    return .ok;
}
