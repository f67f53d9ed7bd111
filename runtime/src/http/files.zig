//! Reads small files of the system and of its administrator.

const std = @import("std");
const linux = std.os.linux;

const pages = std.heap.page_allocator;
const path_length_max = 4096;

/// The whole file, null when it cannot be read, is larger than that, or is none: from a pipe or a device there may never
/// come anything. Freed with `free`.
pub fn read(path: []const u8, size_max: usize) error{NoFiles}!?[]u8 {
    var name: [path_length_max]u8 = undefined;
    if (path.len >= name.len or std.mem.findScalar(u8, path, 0) != null) return null;
    @memcpy(name[0..path.len], path);
    name[path.len] = 0;
    const opened = linux.openat(linux.AT.FDCWD, @ptrCast(&name), .{ .CLOEXEC = true, .NONBLOCK = true, .NOCTTY = true }, 0);
    if (isShort(linux.errno(opened))) return error.NoFiles;
    if (linux.errno(opened) != .SUCCESS) return null;
    const descriptor: i32 = @intCast(opened);
    defer _ = linux.close(descriptor);
    if (!isSmallFile(descriptor, size_max)) return null;
    var content: std.ArrayList(u8) = .empty;
    while (content.items.len <= size_max) {
        content.ensureUnusedCapacity(pages, 64 * 1024) catch break;
        const free_part = content.unusedCapacitySlice();
        const count = linux.read(descriptor, free_part.ptr, free_part.len);
        switch (linux.errno(count)) {
            .SUCCESS => {
                if (count == 0) return content.toOwnedSlice(pages) catch break;
                content.items.len += count;
            },
            .INTR => {},
            else => break,
        }
    }
    content.deinit(pages);
    return null;
}

/// The process, or the system, is out of file descriptors.
pub fn isShort(number: linux.E) bool {
    return number == .MFILE or number == .NFILE;
}

fn isSmallFile(descriptor: i32, size_max: usize) bool {
    var state: linux.Statx = undefined;
    const result = linux.statx(descriptor, "", linux.AT.EMPTY_PATH, .{ .TYPE = true, .SIZE = true }, &state);
    return linux.errno(result) == .SUCCESS and linux.S.ISREG(state.mode) and state.size <= size_max;
}

pub fn free(content: []u8) void {
    pages.free(content);
}
