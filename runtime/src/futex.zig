//! What threads need of each other: a lock, and an event that one thread waits for. Linux only, with and without libc.

const std = @import("std");
const linux = std.os.linux;

const Word = std.atomic.Value(u32);

pub const Lock = struct {
    word: Word = .init(free),

    const free = 0;
    const held = 1;
    const contended = 2;

    pub fn acquire(lock: *Lock) void {
        if (lock.word.cmpxchgStrong(free, held, .acquire, .monotonic) == null) return;
        while (lock.word.swap(contended, .acquire) != free) waitWhile(&lock.word, contended, null);
    }

    pub fn release(lock: *Lock) void {
        if (lock.word.swap(free, .release) == contended) wakeOne(&lock.word);
    }
};

/// Set by any thread; one thread waits for it, and takes it. It may be set before the wait.
pub const Event = struct {
    word: Word = .init(0),

    pub fn set(event: *Event) void {
        if (event.word.swap(1, .release) == 0) wakeOne(&event.word);
    }

    /// True: it was set, and is no longer. `limit_ns` null: without end; it may come back early.
    pub fn take(event: *Event, limit_ns: ?u63) bool {
        if (event.word.swap(0, .acquire) == 1) return true;
        if (limit_ns != 0) waitWhile(&event.word, 0, limit_ns);
        return event.word.swap(0, .acquire) == 1;
    }
};

/// Blocks while the word has the value; may come back early.
fn waitWhile(word: *const Word, value: u32, limit_ns: ?u63) void {
    const whole: u63 = limit_ns orelse 0;
    const limit: linux.timespec = .{
        .sec = @intCast(whole / std.time.ns_per_s),
        .nsec = @intCast(whole % std.time.ns_per_s),
    };
    _ = linux.futex_4arg(&word.raw, .{ .cmd = .WAIT, .private = true }, value, if (limit_ns == null) null else &limit);
}

fn wakeOne(word: *const Word) void {
    _ = linux.futex_3arg(&word.raw, .{ .cmd = .WAKE, .private = true }, 1);
}

test "a lock keeps threads apart" {
    const Shared = struct {
        var lock: Lock = .{};
        var count: usize = 0;
        fn work() void {
            for (0..10_000) |_| {
                lock.acquire();
                defer lock.release();
                count += 1;
            }
        }
    };
    var threads: [4]std.Thread = undefined;
    for (&threads) |*thread| thread.* = try .spawn(.{}, Shared.work, .{});
    for (threads) |thread| thread.join();
    try std.testing.expectEqual(@as(usize, 40_000), Shared.count);
}

test "an event ends a wait, also one that begins later" {
    const Shared = struct {
        var event: Event = .{};
        fn work() void {
            event.set();
        }
    };
    try std.testing.expect(!Shared.event.take(0));
    try std.testing.expect(!Shared.event.take(1_000_000));
    const thread: std.Thread = try .spawn(.{}, Shared.work, .{});
    while (!Shared.event.take(null)) {}
    thread.join();
    Shared.event.set();
    try std.testing.expect(Shared.event.take(null));
    try std.testing.expect(!Shared.event.take(0));
}
