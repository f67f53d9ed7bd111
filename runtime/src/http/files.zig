//! Reads the system's small files.

const std = @import("std");
const linux = std.os.linux;

const pages = std.heap.page_allocator;
const path_length_max = 4096;

/// The whole file, null when it cannot be read or is larger than that. Freed with `free`.
pub fn read(path: []const u8, size_max: usize) ?[]u8 {
    var name: [path_length_max]u8 = undefined;
    if (path.len >= name.len or std.mem.findScalar(u8, path, 0) != null) return null;
    @memcpy(name[0..path.len], path);
    name[path.len] = 0;
    const opened = linux.openat(linux.AT.FDCWD, @ptrCast(&name), .{ .CLOEXEC = true }, 0);
    if (linux.errno(opened) != .SUCCESS) return null;
    const descriptor: i32 = @intCast(opened);
    defer _ = linux.close(descriptor);
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

pub fn free(content: []u8) void {
    pages.free(content);
}
