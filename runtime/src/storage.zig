//! The few things that a state file needs of a file system: Linux's system calls, or a simulator's disk.
//! Results are counts or handles, or a negative error number as the kernel gives it.

const std = @import("std");
const linux = std.os.linux;

pub const Path = [:0]const u8;

pub const Status = struct {
    is_regular: bool,
    is_folder: bool = false,
    size: u64,
    /// Names the file itself, whatever it is called.
    device: u64,
    inode: u64,
    links: u32 = 1,
    mode: u16 = 0o600,
    owner: u32 = 0,
    group: u32 = 0,
};

pub const OpenMode = enum { existing, temporary, folder };

pub const Storage = struct {
    open: *const fn (path: Path, mode: OpenMode) i64,
    close: *const fn (handle: i64) void,
    read: *const fn (handle: i64, offset: u64, bytes: []u8) i64,
    write: *const fn (handle: i64, offset: u64, bytes: []const u8) i64,
    truncate: *const fn (handle: i64, length: u64) i64,
    /// Makes what was written durable.
    sync: *const fn (handle: i64) i64,
    /// Fails with AGAIN while another process holds it, or waits for it.
    lock: *const fn (handle: i64, waits: bool) i64,
    unlock: *const fn (handle: i64) void,
    /// Of an open file; with a handle below 0, of what the path names.
    status: *const fn (handle: i64, path: Path, out: *Status) i64,
    /// Gives a new file the owner and the mode of an old one.
    adopt: *const fn (handle: i64, old: *const Status) i64,
    rename: *const fn (from: Path, to: Path) i64,
    remove: *const fn (path: Path) void,
    read_link: *const fn (path: Path, bytes: []u8) i64,
    pause: *const fn (duration_ns: u32) void,
    /// Names the run of the machine whose clock counts; 0 when it is not known.
    boot: *const fn () u64,
};

/// The simulator puts its own in its place.
pub var active: Storage = native;

pub const native: Storage = .{
    .open = open,
    .close = close,
    .read = read,
    .write = write,
    .truncate = truncate,
    .sync = sync,
    .lock = lock,
    .unlock = unlock,
    .status = status,
    .adopt = adopt,
    .rename = rename,
    .remove = remove,
    .read_link = readLink,
    .pause = pause,
    .boot = boot,
};

pub fn errorOf(result: i64) linux.E {
    return if (result >= 0) .SUCCESS else @fromBackingInt(@intCast(-result));
}

pub fn must(result: i64) error{Failed}!void {
    if (result < 0) return error.Failed;
}

fn signed(result: usize) i64 {
    return @bitCast(result);
}

fn again(result: usize) bool {
    return linux.errno(result) == .INTR;
}

fn open(path: Path, mode: OpenMode) i64 {
    const flags: linux.O = switch (mode) {
        .existing => .{ .ACCMODE = .RDWR, .CLOEXEC = true, .NOCTTY = true, .NONBLOCK = true },
        .temporary => .{ .ACCMODE = .RDWR, .CREAT = true, .CLOEXEC = true, .NOFOLLOW = true, .NONBLOCK = true },
        .folder => .{ .ACCMODE = .RDONLY, .DIRECTORY = true, .CLOEXEC = true },
    };
    while (true) {
        const result = linux.openat(linux.AT.FDCWD, path, flags, 0o666);
        if (!again(result)) return signed(result);
    }
}

fn close(handle: i64) void {
    _ = linux.close(@intCast(handle));
}

fn read(handle: i64, offset: u64, bytes: []u8) i64 {
    var done: usize = 0;
    while (done < bytes.len) {
        const result = linux.pread(@intCast(handle), bytes.ptr + done, bytes.len - done, @intCast(offset + done));
        if (again(result)) continue;
        if (linux.errno(result) != .SUCCESS) return signed(result);
        if (result == 0) break;
        done += result;
    }
    return @intCast(done);
}

fn write(handle: i64, offset: u64, bytes: []const u8) i64 {
    var done: usize = 0;
    while (done < bytes.len) {
        const result = linux.pwrite(@intCast(handle), bytes.ptr + done, bytes.len - done, @intCast(offset + done));
        if (again(result)) continue;
        if (linux.errno(result) != .SUCCESS) return signed(result);
        if (result == 0) return -@as(i64, @backingInt(linux.E.NOSPC));
        done += result;
    }
    return @intCast(done);
}

fn truncate(handle: i64, length: u64) i64 {
    while (true) {
        const result = linux.ftruncate(@intCast(handle), @intCast(length));
        if (!again(result)) return signed(result);
    }
}

fn sync(handle: i64) i64 {
    while (true) {
        const result = linux.fsync(@intCast(handle));
        if (!again(result)) return signed(result);
    }
}

const lock_exclusive = 2;
const lock_at_once = 4;
const lock_none = 8;

fn lock(handle: i64, waits: bool) i64 {
    while (true) {
        const result = linux.flock(@intCast(handle), if (waits) lock_exclusive else lock_exclusive | lock_at_once);
        if (!again(result)) return signed(result);
    }
}

fn unlock(handle: i64) void {
    _ = linux.flock(@intCast(handle), lock_none);
}

fn status(handle: i64, path: Path, out: *Status) i64 {
    var found: linux.Statx = undefined;
    const wanted = linux.STATX.BASIC_STATS;
    const result = if (handle < 0)
        linux.statx(linux.AT.FDCWD, path, 0, wanted, &found)
    else
        linux.statx(@intCast(handle), "", linux.AT.EMPTY_PATH, wanted, &found);
    if (linux.errno(result) != .SUCCESS) return signed(result);
    out.* = .{
        .is_regular = found.mode & linux.S.IFMT == linux.S.IFREG,
        .is_folder = found.mode & linux.S.IFMT == linux.S.IFDIR,
        .size = found.size,
        .device = @as(u64, found.dev_major) << 32 | found.dev_minor,
        .inode = found.ino,
        .links = found.nlink,
        .mode = found.mode & 0o7777,
        .owner = found.uid,
        .group = found.gid,
    };
    return 0;
}

fn adopt(handle: i64, old: *const Status) i64 {
    const owned = linux.fchown(@intCast(handle), old.owner, old.group);
    if (linux.errno(owned) != .SUCCESS) return signed(owned);
    return signed(linux.fchmod(@intCast(handle), old.mode));
}

fn rename(from: Path, to: Path) i64 {
    return signed(linux.rename(from, to));
}

fn remove(path: Path) void {
    _ = linux.unlink(path);
}

fn readLink(path: Path, bytes: []u8) i64 {
    return signed(linux.readlink(path, bytes.ptr, bytes.len));
}

fn pause(duration_ns: u32) void {
    const duration: linux.timespec = .{ .sec = 0, .nsec = duration_ns };
    _ = linux.nanosleep(&duration, null);
}

/// The kernel's name of this start of the machine, with that of the time namespace: each has its own clock.
fn boot() u64 {
    var text: [256]u8 = undefined;
    const handle = linux.openat(linux.AT.FDCWD, "/proc/sys/kernel/random/boot_id", .{ .CLOEXEC = true }, 0);
    if (linux.errno(handle) != .SUCCESS) return 0;
    defer _ = linux.close(@intCast(handle));
    const length = read(@intCast(handle), 0, text[0..64]);
    if (length < 36) return 0;
    const used: usize = 36;
    const linked = linux.readlink("/proc/self/ns/time", text[used..].ptr, text.len - used);
    const total = if (linux.errno(linked) == .SUCCESS) used + linked else used;
    return bootOf(text[0..total]);
}

/// FNV-1a, 64 bits; never 0.
pub fn bootOf(text: []const u8) u64 {
    const hash = std.hash.Fnv1a_64.hash(text);
    return if (hash == 0) 1 else hash;
}
