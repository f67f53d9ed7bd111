//! A disk in memory for the simulator. It tells what is written from what is durable, fails when told to, and after a power
//! cut holds any mixture of the two, sector by sector.

const std = @import("std");
const allocator = @import("allocator.zig").runtime;
const storage = @import("storage.zig");
const E = std.os.linux.E;
const assert = std.debug.assert;

const sector = 512;
const file_count = 64;
const name_count = 2;
const handle_folder = 1000;

const File = struct {
    bytes: std.ArrayList(u8) = .empty,
    durable: std.ArrayList(u8) = .empty,
    is_locked: bool = false,
};

var files: [file_count]File = @splat(.{});
var files_made: usize = 0;
/// The files called `state` and `state.new`.
var names: [name_count]?usize = @splat(null);
var names_durable: [name_count]?usize = @splat(null);

/// So many more calls succeed.
pub var fail_after: ?u64 = null;
pub var fail_with: E = .IO;
/// So many more calls, and the process that makes them is killed in the next: from there on nothing that it does has any
/// effect.
pub var kill_after: ?u64 = null;
pub var is_dead = false;
/// Called before a lock is taken, when no file is locked.
pub var before_lock: ?*const fn () void = null;
// Planted faults.
pub var forgets_files = false;
pub var forgets_names = false;

pub const simulated: storage.Storage = .{
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
    .boot = undefined,
};

pub fn reset() void {
    for (files[0..files_made]) |*file| {
        file.bytes.clearRetainingCapacity();
        file.durable.clearRetainingCapacity();
        file.is_locked = false;
    }
    files_made = 0;
    kill_after = null;
    is_dead = false;
    names = @splat(null);
    names_durable = @splat(null);
    fail_after = null;
}

pub fn powerCut(random: std.Random) void {
    for (&names, &names_durable) |*name, *durable| {
        if (random.boolean()) durable.* = name.*;
    }
    // A rename is one step: a file never has both names, or none.
    if (names_durable[0] != null and names_durable[0] == names_durable[1]) names_durable[1] = null;
    names = names_durable;
    for (files[0..files_made]) |*file| cutFile(file, random);
}

fn cutFile(file: *File, random: std.Random) void {
    if (std.mem.eql(u8, file.bytes.items, file.durable.items)) return;
    const shorter = @min(file.bytes.items.len, file.durable.items.len);
    const longer = @max(file.bytes.items.len, file.durable.items.len);
    const length = switch (random.uintLessThan(u8, 3)) {
        0 => file.durable.items.len,
        1 => file.bytes.items.len,
        else => random.intRangeAtMost(usize, shorter, longer),
    };
    var mixed: std.ArrayList(u8) = .empty;
    var at: usize = 0;
    while (at < length) : (at += sector) {
        const from = if (random.boolean()) file.bytes.items else file.durable.items;
        for (at..@min(length, at + sector)) |place| {
            mixed.append(allocator, if (place < from.len) from[place] else 0) catch unreachable;
        }
    }
    file.bytes.deinit(allocator);
    file.bytes = mixed;
    file.durable.clearRetainingCapacity();
    file.durable.appendSlice(allocator, mixed.items) catch unreachable;
}

/// Whether a call has no effect, or only a part of it.
fn fails() bool {
    if (is_dead) return true;
    if (kill_after) |left| {
        kill_after = if (left > 0) left - 1 else null;
        if (left == 0) {
            is_dead = true;
            return true;
        }
    }
    const left = fail_after orelse return false;
    if (left > 0) {
        fail_after = left - 1;
        return false;
    }
    return true;
}

fn failure(code: E) i64 {
    return -@as(i64, @backingInt(code));
}

fn nameOf(path: []const u8) usize {
    return @intFromBool(std.mem.endsWith(u8, path, ".new"));
}

fn open(path: storage.Path, mode: storage.OpenMode) i64 {
    if (is_dead) return failure(.IO);
    if (mode == .folder) return handle_folder;
    const name = nameOf(path);
    if (names[name] == null) {
        if (mode == .existing) return failure(.NOENT);
        if (fails() or files_made == file_count) return failure(fail_with);
        names[name] = files_made;
        files_made += 1;
    }
    return @intCast(names[name].?);
}

fn close(handle: i64) void {
    if (handle != handle_folder) unlock(handle);
}

fn fileOf(handle: i64) *File {
    return &files[@intCast(handle)];
}

pub fn sizeOf(handle: i64) u64 {
    return fileOf(handle).bytes.items.len;
}

fn read(handle: i64, offset: u64, bytes: []u8) i64 {
    const content = fileOf(handle).bytes.items;
    if (offset >= content.len) return 0;
    const length = @min(bytes.len, content.len - offset);
    @memcpy(bytes[0..length], content[offset..][0..length]);
    return @intCast(length);
}

fn write(handle: i64, offset: u64, bytes: []const u8) i64 {
    if (is_dead) return failure(.IO);
    const is_failing = fails();
    // One that fails has written a part.
    const part = if (is_failing) bytes[0 .. bytes.len / 2] else bytes;
    const content = &fileOf(handle).bytes;
    while (content.items.len < offset + part.len) content.append(allocator, 0) catch unreachable;
    @memcpy(content.items[offset..][0..part.len], part);
    return if (is_failing) failure(fail_with) else @intCast(bytes.len);
}

fn truncate(handle: i64, length: u64) i64 {
    if (fails()) return failure(.IO);
    const content = &fileOf(handle).bytes;
    while (content.items.len < length) content.append(allocator, 0) catch unreachable;
    content.shrinkRetainingCapacity(length);
    return 0;
}

fn sync(handle: i64) i64 {
    if (fails()) return failure(.IO);
    if (handle == handle_folder) {
        if (forgets_names) return 0;
        names_durable = names;
        return 0;
    }
    if (forgets_files) return 0;
    const file = fileOf(handle);
    file.durable.clearRetainingCapacity();
    file.durable.appendSlice(allocator, file.bytes.items) catch unreachable;
    return 0;
}

fn lock(handle: i64, _: bool) i64 {
    if (before_lock) |call| {
        for (files[0..files_made]) |file| {
            if (file.is_locked) break;
        } else call();
    }
    const file = fileOf(handle);
    // One process at a time has its turn with the file.
    assert(!file.is_locked);
    file.is_locked = true;
    return 0;
}

fn unlock(handle: i64) void {
    fileOf(handle).is_locked = false;
}

fn pause(_: u32) void {}

fn status(handle: i64, path: storage.Path, out: *storage.Status) i64 {
    if (is_dead) return failure(.IO);
    const number: usize = if (handle >= 0) @intCast(handle) else names[nameOf(path)] orelse return failure(.NOENT);
    out.* = .{ .is_regular = true, .size = files[number].bytes.items.len, .device = 1, .inode = number };
    return 0;
}

fn adopt(_: i64, _: *const storage.Status) i64 {
    return 0;
}

fn rename(from: storage.Path, to: storage.Path) i64 {
    if (fails()) return failure(fail_with);
    names[nameOf(to)] = names[nameOf(from)];
    names[nameOf(from)] = null;
    return 0;
}

fn remove(path: storage.Path) void {
    if (is_dead) return;
    names[nameOf(path)] = null;
}

fn readLink(_: storage.Path, _: []u8) i64 {
    return failure(.INVAL);
}
