//! A state file in use: found or made, locked, read, appended to, rewritten (docs/state-file.md).
//!
//! Whoever appends holds the lock, has read all that stands before, and makes the frame durable before it lets the lock
//! go. So at most the last frame of a file can be one that nobody was promised; only what is not known to be durable is
//! ever cut: that frame, and the one before when another process wrote it.

const std = @import("std");
const format = @import("state_format.zig");
const memory = @import("memory.zig");
const state_copy = @import("state_copy.zig");
const state_reader = @import("state_reader.zig");
const storage = @import("storage.zig");
const windows = @import("windows.zig");
const Problem = @import("state_problem.zig").Problem;
const assert = std.debug.assert;

/// Below this, a file is not worth rewriting. (The simulator has smaller files.)
pub var rewrite_length_min: u64 = 64 * 1024;
/// Other processes can rewrite a file between our opening and our locking it, but hardly this often.
const attempts_max = 1000;
/// While another process holds the lock, it is tried again and again, with longer and longer pauses; then somebody is
/// told, and we stand in line.
const lock_pause_ns_min = 50_000;
const lock_pause_ns_max = 1_000_000;
const lock_patience_ns = 2_000_000_000;

pub const StateFile = struct {
    path: storage.Path = "",
    temporary: storage.Path = "",
    folder: storage.Path = "",
    handle: i64 = -1,
    status: storage.Status = undefined,
    identity: [16]u8 = undefined,
    generation: u64 = 0,
    /// So far it has been read, or written by us.
    end: u64 = 0,
    size: u64 = 0,
    mark: format.Mark = undefined,
    /// So far it is durable for certain. What others appended may not be: they can have died before their sync.
    durable: u64 = 0,
    rewrite_at: u64 = 0,
    reader: state_reader.Reader = .{},
    /// Nothing helps but starting anew.
    failed: ?Problem = null,
    /// Bytes that were cut from the end when it was read.
    cut_length: u64 = 0,
    /// The windows were emptied, and read from a file that another process has rewritten.
    is_reread: bool = false,
    /// Told that another process has held the lock for long.
    on_wait: ?*const fn () void = null,

    pub fn deinit(file: *StateFile) void {
        if (file.handle >= 0) storage.active.close(file.handle);
        for ([_]storage.Path{ file.path, file.temporary, file.folder }) |path| freePath(path);
        file.reader.deinit();
        file.* = .{};
    }

    /// Finds the file, or makes it; then it is locked and read.
    pub fn open(file: *StateFile, path: []const u8, boot: u64, random: [2]u64) ?Problem {
        file.setPath(path);
        file.reader.boot = boot;
        file.identity = @bitCast(random);
        for (0..attempts_max) |_| {
            if (file.acquire()) |problem| {
                if (problem.kind != .cannot_open or problem.code != .NOENT) return problem;
                if (file.create()) |not_made| return not_made;
            } else return null;
        }
        return .{ .kind = .replaced };
    }

    /// Symbolic links are followed here, once: a rewritten file takes the place of the file, not of the link.
    fn setPath(file: *StateFile, path: []const u8) void {
        file.path = terminated(&.{path});
        for (0..16) |_| {
            var target: [4096]u8 = undefined;
            const length = storage.active.read_link(file.path, &target);
            if (length <= 0) break;
            const found = target[0..@intCast(length)];
            const folder = if (found[0] == '/') "" else folderOf(file.path);
            const old = file.path;
            file.path = if (folder.len == 0) terminated(&.{found}) else terminated(&.{ folder, "/", found });
            freePath(old);
        }
        file.temporary = terminated(&.{ file.path, ".new" });
        const folder = folderOf(file.path);
        file.folder = terminated(&.{if (folder.len > 0) folder else if (file.path[0] == '/') "/" else "."});
    }

    // ---- The lock

    /// Locks the file that stands under the path now, and learns its size. On a problem, it is not locked.
    pub fn acquire(file: *StateFile) ?Problem {
        if (file.failed) |problem| return problem;
        for (0..attempts_max) |_| {
            const is_new = file.handle < 0;
            if (is_new) if (file.openExisting()) |problem| return problem;
            const locked = file.lock(file.handle);
            if (locked < 0) return .{ .kind = .cannot_open, .code = storage.errorOf(locked) };
            const problem = file.look(is_new) catch {
                storage.active.unlock(file.handle);
                storage.active.close(file.handle);
                file.handle = -1;
                continue;
            };
            if (problem) |found| {
                storage.active.unlock(file.handle);
                return found;
            }
            return null;
        }
        return .{ .kind = .replaced };
    }

    fn lock(file: *const StateFile, handle: i64) i64 {
        var pause_ns: u32 = lock_pause_ns_min;
        var waited_ns: u64 = 0;
        while (waited_ns < lock_patience_ns) : (waited_ns += pause_ns) {
            const result = storage.active.lock(handle, false);
            if (storage.errorOf(result) != .AGAIN) return result;
            storage.active.pause(pause_ns);
            pause_ns = @min(2 * pause_ns, lock_pause_ns_max);
        }
        if (file.on_wait) |tell| tell();
        return storage.active.lock(handle, true);
    }

    pub fn release(file: *StateFile) void {
        storage.active.unlock(file.handle);
    }

    fn openExisting(file: *StateFile) ?Problem {
        const handle = storage.active.open(file.path, .existing);
        if (handle < 0) {
            const code = storage.errorOf(handle);
            if (code == .ISDIR) return .{ .kind = .not_regular };
            if (code == .NOENT and file.generation > 0) return file.fail(.{ .kind = .replaced });
            return .{ .kind = .cannot_open, .code = code };
        }
        const result = storage.active.status(handle, "", &file.status);
        if (result < 0 or !file.status.is_regular) {
            storage.active.close(handle);
            return if (result < 0) .{ .kind = .cannot_read, .code = storage.errorOf(result) } else .{ .kind = .not_regular };
        }
        file.handle = handle;
        return null;
    }

    pub fn fail(file: *StateFile, problem: Problem) Problem {
        file.failed = problem;
        return problem;
    }

    /// With the lock: whether it is still the file under the path, and what its head says.
    fn look(file: *StateFile, is_new: bool) error{Rewritten}!?Problem {
        var named: storage.Status = undefined;
        const own = storage.active.status(file.handle, "", &file.status);
        if (own < 0) return .{ .kind = .cannot_read, .code = storage.errorOf(own) };
        const found = storage.active.status(-1, file.path, &named);
        if (found < 0) return error.Rewritten; // Opening it again says what is the matter.
        if (named.inode != file.status.inode or named.device != file.status.device) return error.Rewritten;
        file.size = file.status.size;

        var bytes: [format.frames_start]u8 = @splat(0);
        const length = storage.active.read(file.handle, 0, &bytes);
        if (length < 0) return .{ .kind = .cannot_read, .code = storage.errorOf(length) };
        var mark: format.Mark = undefined;
        const head = std.mem.bytesToValue(format.Head, bytes[0..@sizeOf(format.Head)]);
        if (headProblem(&head, bytes[0..@intCast(length)], &mark)) |problem| {
            return if (file.generation == 0) problem else file.fail(problem);
        }
        if (file.generation > 0) {
            if (!std.mem.eql(u8, &head.identity, &file.identity)) return file.fail(.{ .kind = .replaced });
            const follows = if (is_new) head.generation > file.generation else head.generation == file.generation;
            if (!follows) return file.fail(.{ .kind = .replaced });
            if (!is_new and file.size < file.end) return file.fail(lost(file.end, file.size));
        }
        file.mark = mark;
        if (is_new) {
            // Whoever put the file there may have died before that was durable.
            if (file.syncFolder()) |problem| return problem;
            file.is_reread = file.generation > 0;
            file.identity = head.identity;
            file.generation = head.generation;
            file.end = 0;
            file.durable = 0;
        }
        return null;
    }

    fn headProblem(head: *const format.Head, bytes: []const u8, mark: *format.Mark) ?Problem {
        if (bytes.len == 0) return .{ .kind = .empty };
        if (bytes.len < 12 or !std.mem.eql(u8, &head.magic, &format.magic)) return .{ .kind = .other_kind };
        if (head.version > format.version) return .{ .kind = .newer, .number = head.version };
        if (bytes.len < format.frames_start) return .{ .kind = .damaged, .number = bytes.len };
        if (head.checksum != head.computed() or head.version != format.version) return .{ .kind = .damaged };
        var found = false;
        for (format.mark_offsets) |at| {
            const each = std.mem.bytesToValue(format.Mark, bytes[@intCast(at)..][0..@sizeOf(format.Mark)]);
            if (!each.isValid(head.generation) or each.offset() != at) continue;
            if (!found or each.sequence > mark.sequence) mark.* = each;
            found = true;
        }
        return if (found) null else .{ .kind = .damaged, .number = format.mark_offsets[0] };
    }

    fn lost(had: u64, has: u64) Problem {
        const start = format.frames_start;
        return .{ .kind = .lost_records, .number = had - start, .number_2 = if (has > start) has - start else 0 };
    }

    // ---- Reading

    /// Whether there is anything that was not read yet.
    pub fn hasNews(file: *const StateFile) bool {
        return file.end == 0 or file.size != file.end;
    }

    /// Reads what is new into the windows. A frame that was not written to its end is cut.
    pub fn read(file: *StateFile, table: *windows.Table, now: format.Clock) ?Problem {
        const problem = file.readAll(table, now) orelse return null;
        return if (problem.kind == .cannot_read) problem else file.fail(problem);
    }

    fn readAll(file: *StateFile, table: *windows.Table, now: format.Clock) ?Problem {
        if (file.end == 0) {
            table.empty();
            file.reader.reset();
            file.end = format.frames_start;
        }
        if (file.size < file.end) return lost(file.mark.end, file.size);
        const rest = memory.allocateSlice(u8, @intCast(file.size - file.end));
        defer memory.freeSlice(u8, rest);
        const length = storage.active.read(file.handle, file.end, rest);
        if (length < 0) return .{ .kind = .cannot_read, .code = storage.errorOf(length) };
        if (length != rest.len) return lost(file.size, file.end + @as(u64, @intCast(length)));

        file.reader.learnClocks(rest, file.generation, file.end);
        var used: usize = 0;
        while (true) {
            switch (format.readFrame(rest[used..], file.generation, file.end)) {
                .end => break,
                .frame => |frame| {
                    file.reader.take(&frame, table, now) catch return .{ .kind = .damaged, .number = file.end };
                    used += frame.head.length;
                    file.end += frame.head.length;
                },
                .damaged => return .{ .kind = .damaged, .number = file.end },
                .torn => {
                    if (file.end < file.mark.end) break;
                    const result = storage.active.truncate(file.handle, file.end);
                    if (result < 0) return .{ .kind = .cannot_write, .code = storage.errorOf(result) };
                    file.cut_length += file.size - file.end;
                    file.size = file.end;
                    break;
                },
            }
        }
        if (file.end < file.mark.end) return lost(file.mark.end, file.end);
        if (file.rewrite_at == 0) file.rewrite_at = 2 * liveLength(table) + rewrite_length_min;
        return null;
    }

    fn liveLength(table: *const windows.Table) u64 {
        var length: u64 = 0;
        for (table.list.items) |each| {
            if (!each.isEmpty()) length += each.bytes.len + (each.count() + each.reservations.items.len) * @sizeOf(format.Item);
        }
        return length;
    }

    // ---- Writing

    /// Appends a frame and makes it durable; the file is as it was when that cannot be done. Everything before is read.
    pub fn append(file: *StateFile, frame: []const u8) ?Problem {
        assert(file.end == file.size and frame.len > 0);
        const mark: format.Mark = .make(file.generation, file.mark.sequence + 1, @max(file.durable, file.mark.end));
        for ([_][]const u8{ frame, std.mem.asBytes(&mark) }, [_]u64{ file.end, mark.offset() }) |bytes, at| {
            const written = storage.active.write(file.handle, at, bytes);
            if (written == bytes.len) continue;
            const cut = storage.active.truncate(file.handle, file.end);
            const problem: Problem = .{ .kind = .cannot_write, .code = storage.errorOf(written) };
            return if (cut < 0) file.fail(problem) else problem;
        }
        const synced = storage.active.sync(file.handle);
        if (synced < 0) {
            // What is on the disk now is not known, and a second try would tell nothing.
            _ = storage.active.truncate(file.handle, file.end);
            return file.fail(.{ .kind = .not_durable, .code = storage.errorOf(synced) });
        }
        file.mark = mark;
        file.end += frame.len;
        file.size = file.end;
        file.durable = file.end;
        return null;
    }

    /// With the lock, at the end of a run: everything up to here is durable.
    pub fn close(file: *StateFile) void {
        if (file.end != file.size or file.mark.end == file.end) return;
        const mark: format.Mark = .make(file.generation, file.mark.sequence + 1, file.end);
        if (storage.active.sync(file.handle) < 0) return;
        _ = storage.active.write(file.handle, mark.offset(), std.mem.asBytes(&mark));
    }

    fn syncFolder(file: *StateFile) ?Problem {
        const folder = storage.active.open(file.folder, .folder);
        if (folder < 0) return null; // One that may be used but not read: then nothing can be done about it.
        defer storage.active.close(folder);
        const result = storage.active.sync(folder);
        if (result >= 0 or storage.errorOf(result) == .INVAL) return null;
        return .{ .kind = .not_durable, .code = storage.errorOf(result) };
    }

    /// The file beside it, locked, so that two processes do not make it at once; below 0 when that cannot be done.
    fn openTemporary(file: *StateFile) i64 {
        for (0..attempts_max) |_| {
            const handle = storage.active.open(file.temporary, .temporary);
            if (handle < 0) return switch (storage.errorOf(handle)) {
                .ISDIR, .LOOP, .NXIO => taken,
                else => handle,
            };
            var own: storage.Status = undefined;
            var named: storage.Status = undefined;
            const is_ours = file.lock(handle) >= 0 and storage.active.status(handle, "", &own) >= 0 and
                storage.active.status(-1, file.temporary, &named) >= 0 and own.inode == named.inode and own.device == named.device;
            if (is_ours) {
                if (!own.is_regular or own.links != 1) {
                    storage.active.close(handle);
                    return taken;
                }
                const result = storage.active.truncate(handle, 0);
                if (result >= 0) return handle;
                storage.active.close(handle);
                return result;
            }
            storage.active.close(handle);
        }
        return -@as(i64, @backingInt(std.os.linux.E.BUSY));
    }

    /// Another kind of file has the name.
    const taken = -@as(i64, @backingInt(std.os.linux.E.EXIST));

    /// Makes a new file, unless another process makes it first. It appears under its name when it is complete.
    fn create(file: *StateFile) ?Problem {
        const handle = file.openTemporary();
        if (handle < 0) return .{ .kind = .cannot_create, .code = storage.errorOf(handle) };
        defer storage.active.close(handle);
        var there: storage.Status = undefined;
        if (storage.active.status(-1, file.path, &there) >= 0) {
            storage.active.remove(file.temporary);
            return null;
        }
        var start: [format.frames_start]u8 = undefined;
        fillStart(&start, file.identity, 1, format.frames_start);
        var result = storage.active.write(handle, 0, &start);
        if (result >= 0) result = storage.active.sync(handle);
        if (result >= 0) result = storage.active.rename(file.temporary, file.path);
        if (result < 0) {
            storage.active.remove(file.temporary);
            return .{ .kind = .cannot_create, .code = storage.errorOf(result) };
        }
        return file.syncFolder();
    }

    fn fillStart(start: *[format.frames_start]u8, identity: [16]u8, generation: u64, end: u64) void {
        start.* = @splat(0);
        var head: format.Head = .{ .identity = identity, .generation = generation };
        head.seal();
        @memcpy(start[0..@sizeOf(format.Head)], std.mem.asBytes(&head));
        for (0..2) |sequence| {
            const mark: format.Mark = .make(generation, sequence, end);
            @memcpy(start[@intCast(mark.offset())..][0..@sizeOf(format.Mark)], std.mem.asBytes(&mark));
        }
    }

    // ---- Rewriting

    pub fn wantsRewriting(file: *const StateFile) bool {
        return file.end > file.rewrite_at or file.reader.saw_other_boot;
    }

    /// With the lock: puts a file with only what still counts in the place of this one. When it cannot be done, this
    /// one stays, and it is tried again when it has grown.
    pub fn rewrite(file: *StateFile, table: *windows.Table, now: format.Clock) void {
        assert(file.end == file.size);
        file.reader.saw_other_boot = false;
        file.rewrite_at = 2 * file.end + rewrite_length_min;
        if (file.status.links != 1) return; // Its other name would keep the old content.
        const handle = file.openTemporary();
        if (handle < 0) return;
        const length = file.writeCopy(handle, table, now) catch {
            storage.active.remove(file.temporary);
            storage.active.close(handle);
            return;
        };
        // From here on the new file counts: what follows is appended to it.
        storage.active.close(file.handle);
        file.handle = handle;
        file.generation += 1;
        file.mark = .make(file.generation, 1, length);
        file.end = length;
        file.size = length;
        file.durable = length;
        file.rewrite_at = 2 * length + rewrite_length_min;
        _ = storage.active.status(handle, "", &file.status);
        table.numbered.clearRetainingCapacity();
        for (table.list.items) |each| each.number = null;
        table.sweepAll(now.boot_ns);
        for (table.list.items) |each| if (!each.isEmpty()) table.number(each);
        if (file.syncFolder()) |problem| _ = file.fail(problem);
    }

    fn writeCopy(file: *StateFile, handle: i64, table: *windows.Table, now: format.Clock) error{Failed}!u64 {
        const generation = file.generation + 1;
        const length = try state_copy.write(handle, generation, table, now, file.reader.stamped(now));
        var start: [format.frames_start]u8 = undefined;
        fillStart(&start, file.identity, generation, length);
        const must = storage.must;
        try must(storage.active.write(handle, 0, &start));
        try must(storage.active.adopt(handle, &file.status));
        try must(storage.active.sync(handle));
        try must(storage.active.rename(file.temporary, file.path));
        return length;
    }
};

fn folderOf(path: []const u8) []const u8 {
    const slash = std.mem.findScalarLast(u8, path, '/') orelse return "";
    return path[0..slash];
}

fn freePath(path: storage.Path) void {
    if (path.len > 0) memory.freeSlice(u8, @constCast(path.ptr[0 .. path.len + 1]));
}

fn terminated(parts: []const []const u8) storage.Path {
    var length: usize = 0;
    for (parts) |part| length += part.len;
    const text = memory.allocateSlice(u8, length + 1);
    var at: usize = 0;
    for (parts) |part| {
        @memcpy(text[at..][0..part.len], part);
        at += part.len;
    }
    text[length] = 0;
    return text[0..length :0];
}
