//! A TCP connection whose every wait ends: when the other side moves, at a moment, or when nobody wants it any more.
//! The socket never blocks; each wait is a poll of it and of the event that aborts the request.

const std = @import("std");
const linux = std.os.linux;
const abi = @import("../exchange_abi.zig");
const chain = @import("chain.zig");
const files = @import("files.zig");
const Io = std.Io;
const assert = std.debug.assert;

const Problem = abi.Problem;

/// When to give up, and why that is.
pub const Watch = struct {
    /// An eventfd, readable once the request is aborted.
    aborted: i32,
    /// Of CLOCK_MONOTONIC.
    deadline_ns: i64,
    /// What it is called when the deadline passes.
    lateness: Problem = .timed_out,

    /// Why to give up now.
    fn ended(watch: *const Watch) Problem {
        if (now() >= watch.deadline_ns) return watch.lateness;
        var polled = [_]linux.pollfd{.{ .fd = watch.aborted, .events = linux.POLL.IN, .revents = 0 }};
        return if (linux.poll(&polled, polled.len, 0) == 1) .aborted else .no_problem;
    }
};

/// As much is read of a server that never pauses before it is looked whether it is still wanted.
const unwatched_bytes_max = 1 << 20;

pub fn now() i64 {
    var time: linux.timespec = undefined;
    const result = linux.clock_gettime(.MONOTONIC, &time);
    assert(linux.errno(result) == .SUCCESS);
    return time.sec * std.time.ns_per_s + time.nsec;
}

pub const Socket = struct {
    descriptor: i32,
    watch: *const Watch,
    reader: Io.Reader,
    writer: Io.Writer,
    /// Why the last read or write failed.
    problem: Problem = .no_problem,
    /// Who hears what is read; null: nobody.
    listener: ?*chain.Handshake = null,
    /// Read since the last look at `watch`.
    unwatched_bytes: usize = 0,

    pub fn init(descriptor: i32, watch: *const Watch, read_buffer: []u8, write_buffer: []u8) Socket {
        return .{
            .descriptor = descriptor,
            .watch = watch,
            .reader = .{ .vtable = &.{ .stream = stream }, .buffer = read_buffer, .seek = 0, .end = 0 },
            .writer = .{ .vtable = &.{ .drain = drain }, .buffer = write_buffer },
        };
    }

    pub fn close(socket: *const Socket) void {
        _ = linux.close(socket.descriptor);
    }

    /// Nothing has come, and the other side has not gone: a request may be sent on it.
    pub fn isQuiet(socket: *const Socket) bool {
        var polled = [_]linux.pollfd{.{ .fd = socket.descriptor, .events = linux.POLL.IN }};
        return linux.poll(&polled, 1, 0) == 0;
    }

    fn stream(reader: *Io.Reader, out: *Io.Writer, limit: Io.Limit) Io.Reader.StreamError!usize {
        const socket: *Socket = @alignCast(@fieldParentPtr("reader", reader));
        const into = limit.slice(try out.writableSliceGreedy(1));
        while (true) {
            const count = linux.recvfrom(socket.descriptor, into.ptr, into.len, 0, null, null);
            switch (linux.errno(count)) {
                .SUCCESS => {
                    if (count == 0) return error.EndOfStream;
                    try socket.look(count);
                    if (socket.listener) |listener| listener.hear(into[0..count]);
                    out.advance(count);
                    return count;
                },
                .INTR => {},
                .AGAIN => try socket.wait(linux.POLL.IN, error.ReadFailed),
                else => return socket.fail(.dropped, error.ReadFailed),
            }
        }
    }

    fn drain(writer: *Io.Writer, data: []const []const u8, splat: usize) Io.Writer.Error!usize {
        const socket: *Socket = @alignCast(@fieldParentPtr("writer", writer));
        try socket.write(writer.buffered());
        writer.end = 0;
        var length: usize = 0;
        for (data[0 .. data.len - 1]) |piece| {
            try socket.write(piece);
            length += piece.len;
        }
        for (0..splat) |_| {
            try socket.write(data[data.len - 1]);
            length += data[data.len - 1].len;
        }
        return length;
    }

    fn write(socket: *Socket, bytes: []const u8) Io.Writer.Error!void {
        var rest = bytes;
        while (rest.len > 0) {
            const count = linux.sendto(socket.descriptor, rest.ptr, rest.len, linux.MSG.NOSIGNAL, null, 0);
            switch (linux.errno(count)) {
                .SUCCESS => rest = rest[count..],
                .INTR => {},
                .AGAIN => try socket.wait(linux.POLL.OUT, error.WriteFailed),
                else => return socket.fail(.dropped, error.WriteFailed),
            }
        }
    }

    fn look(socket: *Socket, count: usize) error{ReadFailed}!void {
        socket.unwatched_bytes += count;
        if (socket.unwatched_bytes <= unwatched_bytes_max) return;
        socket.unwatched_bytes = 0;
        const problem = socket.watch.ended();
        if (problem != .no_problem) return socket.fail(problem, error.ReadFailed);
    }

    fn wait(socket: *Socket, events: i16, comptime failure: anytype) @TypeOf(failure)!void {
        const problem = waitFor(socket.descriptor, events, socket.watch);
        if (problem != .no_problem) return socket.fail(problem, failure);
    }

    fn fail(socket: *Socket, problem: Problem, comptime failure: anytype) @TypeOf(failure) {
        socket.problem = problem;
        return failure;
    }
};

/// Until one of the events is there: no problem.
pub fn waitFor(descriptor: i32, events: i16, watch: *const Watch) Problem {
    while (true) {
        const left_ns = watch.deadline_ns - now();
        if (left_ns <= 0) return watch.lateness;
        var limit: linux.timespec = .{ .sec = @divTrunc(left_ns, std.time.ns_per_s), .nsec = @rem(left_ns, std.time.ns_per_s) };
        var polled = [_]linux.pollfd{
            .{ .fd = descriptor, .events = events, .revents = 0 },
            .{ .fd = watch.aborted, .events = linux.POLL.IN, .revents = 0 },
        };
        const count = linux.ppoll(&polled, polled.len, &limit, null);
        switch (linux.errno(count)) {
            .SUCCESS => {
                if (polled[1].revents != 0) return .aborted;
                if (polled[0].revents != 0) return .no_problem;
            },
            .INTR => {},
            else => return .dropped,
        }
    }
}

pub const Connected = union(enum) { descriptor: i32, problem: Problem };

/// A connection to the address.
pub fn connect(address: Io.net.IpAddress, watch: *const Watch) Connected {
    const family: u32 = if (address == .ip4) linux.AF.INET else linux.AF.INET6;
    const made = linux.socket(family, linux.SOCK.STREAM | linux.SOCK.CLOEXEC | linux.SOCK.NONBLOCK, linux.IPPROTO.TCP);
    if (files.isShort(linux.errno(made))) return .{ .problem = .no_files };
    if (linux.errno(made) != .SUCCESS) return .{ .problem = .unreachable_host };
    const descriptor: i32 = @intCast(made);
    const problem = connectSocket(descriptor, address, watch);
    if (problem == .no_problem) return .{ .descriptor = descriptor };
    _ = linux.close(descriptor);
    return .{ .problem = problem };
}

/// A socket that sends to the address, and hears from nobody else. Null: there is no way to it.
pub fn openDatagram(address: Io.net.IpAddress) error{NoFiles}!?i32 {
    const family: u32 = if (address == .ip4) linux.AF.INET else linux.AF.INET6;
    const made = linux.socket(family, linux.SOCK.DGRAM | linux.SOCK.CLOEXEC | linux.SOCK.NONBLOCK, linux.IPPROTO.UDP);
    if (files.isShort(linux.errno(made))) return error.NoFiles;
    if (linux.errno(made) != .SUCCESS) return null;
    const descriptor: i32 = @intCast(made);
    if (linux.errno(beginConnect(descriptor, address)) == .SUCCESS) return descriptor;
    _ = linux.close(descriptor);
    return null;
}

fn connectSocket(descriptor: i32, address: Io.net.IpAddress, watch: *const Watch) Problem {
    // A request is written at once and whole: waiting for more of it would only delay its end.
    _ = linux.setsockopt(descriptor, linux.IPPROTO.TCP, linux.TCP.NODELAY, &std.mem.toBytes(@as(i32, 1)), 4);
    const result = beginConnect(descriptor, address);
    switch (linux.errno(result)) {
        .SUCCESS => return .no_problem,
        .INPROGRESS, .INTR, .AGAIN => {},
        else => |number| return connectProblem(number),
    }
    const problem = waitFor(descriptor, linux.POLL.OUT, watch);
    if (problem != .no_problem) return problem;
    var number: u32 = 0;
    var size: linux.socklen_t = @sizeOf(u32);
    _ = linux.getsockopt(descriptor, linux.SOL.SOCKET, linux.SO.ERROR, std.mem.asBytes(&number), &size);
    return if (number == 0) .no_problem else connectProblem(@fromBackingInt(@intCast(number)));
}

fn beginConnect(descriptor: i32, address: Io.net.IpAddress) usize {
    switch (address) {
        .ip4 => |ip| {
            const name: linux.sockaddr.in = .{ .port = std.mem.nativeToBig(u16, ip.port), .addr = @bitCast(ip.bytes) };
            return linux.connect(descriptor, &name, @sizeOf(linux.sockaddr.in));
        },
        .ip6 => |ip| {
            const name: linux.sockaddr.in6 = .{
                .port = std.mem.nativeToBig(u16, ip.port),
                .flowinfo = 0,
                .addr = ip.bytes,
                .scope_id = 0,
            };
            return linux.connect(descriptor, &name, @sizeOf(linux.sockaddr.in6));
        },
    }
}

fn connectProblem(number: linux.E) Problem {
    return switch (number) {
        .CONNREFUSED => .refused,
        .TIMEDOUT => .timed_out,
        else => .unreachable_host,
    };
}
