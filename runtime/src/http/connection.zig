//! A connection to a server, perhaps through a proxy, perhaps under TLS: found by name, checked, and kept for the next
//! request while it is fresh.

const std = @import("std");
const linux = std.os.linux;
const abi = @import("../exchange_abi.zig");
const answers = @import("answer.zig");
const authorities = @import("authorities.zig");
const chain = @import("chain.zig");
const futex = @import("../futex.zig");
const guard = @import("guard.zig");
const names = @import("names.zig");
const proxies = @import("proxy.zig");
const sockets = @import("socket.zig");
const Io = std.Io;
const Url = @import("url.zig").Url;
const Watch = sockets.Watch;
const assert = std.debug.assert;

const Problem = abi.Problem;
const tls = std.crypto.tls;
const pages = std.heap.page_allocator;

/// The head of an answer must fit into what is read at once, also that of a proxy's to a tunnel, before TLS.
const head_size_max = answers.head_bytes_max;
const plain_write_size = 4 * 1024;
const record_size = tls.Client.min_buffer_len;
comptime {
    assert(head_size_max >= record_size);
}

/// A server that keeps connections open longer than this for the next request is the usual one.
const fresh_ns = 5 * std.time.ns_per_s;

/// A status is what a proxy said instead of opening a way.
pub const Opened = union(enum) { connection: *Connection, problem: Problem, status: u16 };

pub const Connection = struct {
    socket: sockets.Socket,
    secure: ?tls.Client = null,
    /// For a request in plain text that goes through a proxy: what it says to it.
    proxy_login: []const u8 = "",
    is_proxied_plain: bool = false,
    /// What a proxy said that wants to know us before it opens a tunnel; 0: it did not.
    refused_status: u16 = 0,
    /// What it is for: the start of a URL, scheme and authority.
    place: []const u8,
    memory: []u8,
    /// What packed answers are unpacked with; empty before the first.
    window: []u8 = &.{},
    idle_since_ns: i64 = 0,
    next_idle: ?*Connection = null,

    pub fn reader(connection: *Connection) *Io.Reader {
        return if (connection.secure) |*secure| &secure.reader else &connection.socket.reader;
    }

    pub fn writer(connection: *Connection) *Io.Writer {
        return if (connection.secure) |*secure| &secure.writer else &connection.socket.writer;
    }

    pub fn flush(connection: *Connection) Io.Writer.Error!void {
        if (connection.secure) |*secure| try secure.writer.flush();
        try connection.socket.writer.flush();
    }

    /// All that came was asked for, so that the next answer will be that of the next request.
    pub fn isEmpty(connection: *const Connection) bool {
        if (connection.socket.reader.bufferedLen() > 0) return false;
        return if (connection.secure) |*secure| secure.reader.bufferedLen() == 0 else true;
    }

    /// Why reading or writing failed.
    pub fn problem(connection: *const Connection) Problem {
        if (connection.socket.problem != .no_problem) return connection.socket.problem;
        const secure = connection.secure orelse return .dropped;
        const failure = secure.read_err orelse return .dropped;
        return if (failure == error.TlsConnectionTruncated) .dropped else .tls;
    }

    pub fn close(connection: *Connection) void {
        connection.socket.close();
        connection.free();
    }

    fn free(connection: *Connection) void {
        pages.free(connection.window);
        pages.rawFree(connection.memory, .of(Connection), @returnAddress());
    }
};

/// One that was kept, or a new one.
pub fn open(url: Url, place: []const u8, watch: *const Watch) Opened {
    if (takeIdle(place)) |connection| {
        connection.socket.watch = watch;
        connection.socket.problem = .no_problem;
        return .{ .connection = connection };
    }
    const choice = proxies.choose(url);
    if (choice == .unusable) return .{ .problem = .unreachable_host };
    const peer = if (choice == .proxy) choice.proxy.url else url;
    const descriptor = switch (connect(peer, watch)) {
        .problem => |problem| return .{ .problem = if (choice == .proxy) ofProxy(problem) else problem },
        .descriptor => |descriptor| descriptor,
    };
    const connection = allocate(descriptor, url.is_tls, place, watch) orelse {
        _ = linux.close(descriptor);
        return .{ .problem = .unreachable_host };
    };
    const problem = if (url.is_tls) beginSecurely(connection, url, choice) else beginPlain(connection, choice);
    const status = connection.refused_status;
    if (problem == .no_problem and status == 0) return .{ .connection = connection };
    connection.close();
    return if (status > 0) .{ .status = status } else .{ .problem = problem };
}

/// What is wrong with a proxy is not said of the server behind it.
fn ofProxy(problem: Problem) Problem {
    return if (problem == .refused or problem == .unknown_host) .unreachable_host else problem;
}

fn allocate(descriptor: i32, is_tls: bool, place: []const u8, watch: *const Watch) ?*Connection {
    const write_size: usize = if (is_tls) record_size else plain_write_size;
    const secure_size: usize = if (is_tls) 2 * record_size + head_size_max else 0;
    const size = @sizeOf(Connection) + head_size_max + write_size + secure_size + place.len;
    const start = pages.rawAlloc(size, .of(Connection), @returnAddress()) orelse return null;
    const connection: *Connection = @ptrCast(@alignCast(start));
    const buffers = start[@sizeOf(Connection)..size];
    const kept_place = buffers[buffers.len - place.len ..];
    @memcpy(kept_place, place);
    connection.* = .{
        .socket = .init(descriptor, watch, buffers[0..head_size_max], buffers[head_size_max..][0..write_size]),
        .place = kept_place,
        .memory = start[0..size],
    };
    return connection;
}

fn beginPlain(connection: *Connection, choice: proxies.Choice) Problem {
    if (choice == .proxy) {
        connection.is_proxied_plain = true;
        connection.proxy_login = choice.proxy.login;
    }
    return .no_problem;
}

/// What comes before the first request: the tunnel, and TLS.
fn beginSecurely(connection: *Connection, url: Url, choice: proxies.Choice) Problem {
    const authority = authorities.trusted() catch return .no_files;
    const memory = pages.alloc(u8, chain.memory_size) catch return .tls;
    defer pages.free(memory);
    defer connection.socket.listener = null;
    return guard.call(secureThrough, .{ connection, url, choice, authority, memory }) orelse .tls;
}

fn secureThrough(connection: *Connection, url: Url, choice: proxies.Choice, authority: authorities.Trusted, memory: []u8) Problem {
    if (choice == .proxy) {
        const problem = openTunnel(connection, url, choice.proxy);
        if (problem != .no_problem or connection.refused_status > 0) return problem;
    }
    // Otherwise something was said before it was asked for.
    if (connection.socket.reader.bufferedLen() > 0) return .tls;
    var log: chain.Handshake.Log = undefined;
    defer std.crypto.secureZero(u8, &log);
    var handshake: chain.Handshake = .init(memory, &log);
    connection.socket.listener = &handshake;
    const now = authorities.now();
    const problem = secureIt(connection, url.name(), authority, now, &handshake);
    if (problem != .no_problem) return problem;
    const checked = handshake.check(&connection.secure.?, url.name(), authority, now);
    return if (checked == .untrusted and authorities.areMissing()) .no_authorities else checked;
}

fn openTunnel(connection: *Connection, url: Url, proxy: proxies.Proxy) Problem {
    const out = &connection.socket.writer;
    writeConnect(out, url, proxy.login) catch return tunnelProblem(connection);
    const head = answers.readHead(&connection.socket.reader, {}, ignore) catch |failure| return switch (failure) {
        error.ReadFailed => tunnelProblem(connection),
        error.Dropped, error.Malformed => .unreachable_host,
    };
    if (head.status == 407) {
        connection.refused_status = head.status;
        return .no_problem;
    }
    // Otherwise the proxy could not, or would not.
    if (head.status >= 300) return .unreachable_host;
    // In TLS the client speaks first, so this is nobody who speaks it.
    return if (connection.socket.reader.bufferedLen() > 0) .tls else .no_problem;
}

fn tunnelProblem(connection: *const Connection) Problem {
    const problem = connection.problem();
    return if (problem == .dropped) .unreachable_host else problem;
}

fn ignore(_: void, _: answers.Header) void {}

fn writeConnect(out: *Io.Writer, url: Url, login: []const u8) Io.Writer.Error!void {
    const brackets: [2][]const u8 = if (std.mem.findScalar(u8, url.host, ':') == null) .{ "", "" } else .{ "[", "]" };
    for (0..2) |round| {
        try out.writeAll(if (round == 0) "CONNECT " else " HTTP/1.1\r\nhost: ");
        try out.print("{s}{s}{s}:{d}", .{ brackets[0], url.host, brackets[1], url.port });
    }
    try out.writeAll("\r\n");
    try writeLogin(out, login);
    try out.writeAll("\r\n");
    try out.flush();
}

/// The header with which a proxy knows us. Without a `:` the password is empty.
pub fn writeLogin(out: *Io.Writer, login: []const u8) Io.Writer.Error!void {
    if (login.len == 0) return;
    var plain: [proxies.login_bytes_max + 1]u8 = undefined;
    @memcpy(plain[0..login.len], login);
    plain[login.len] = ':';
    const has_password = std.mem.findScalar(u8, login, ':') != null;
    const decoded = std.Uri.percentDecodeInPlace(plain[0 .. login.len + @intFromBool(!has_password)]);
    try out.writeAll("proxy-authorization: Basic ");
    try out.printBase64(decoded);
    try out.writeAll("\r\n");
}

fn secureIt(connection: *Connection, host: []const u8, authority: authorities.Trusted, now: Io.Timestamp, handshake: *chain.Handshake) Problem {
    const memory = connection.memory;
    const buffers = memory[@sizeOf(Connection) + head_size_max + record_size .. memory.len - connection.place.len];
    var entropy: [tls.Client.Options.entropy_len]u8 = undefined;
    if (linux.getrandom(&entropy, entropy.len, 0) != entropy.len) return .tls;
    handshake.key_log = .{ .client_key_seq = 0, .server_key_seq = 0, .client_random = undefined, .writer = &handshake.secrets };
    connection.secure = tls.Client.init(&connection.socket.reader, &connection.socket.writer, .{
        .host = .{ .explicit = host },
        .ca = .{ .bundle = authority },
        .read_buffer = buffers[0 .. record_size + head_size_max],
        .write_buffer = buffers[record_size + head_size_max ..],
        .entropy = &entropy,
        .realtime_now = now,
        .ssl_key_log = &handshake.key_log,
        // Where an answer ends is told by HTTP, so that a cut-off one is found.
        .allow_truncation_attacks = true,
    }) catch |failure| return switch (failure) {
        error.WriteFailed, error.ReadFailed => connection.problem(),
        error.TlsConnectionTruncated => .dropped,
        error.CertificateHostMismatch => .wrong_name,
        else => if (!isOfCertificate(failure)) .tls else if (authorities.areMissing()) .no_authorities else .untrusted,
    };
    connection.secure.?.ssl_key_log = null;
    return .no_problem;
}

/// One that is damaged is none.
fn isOfCertificate(failure: anyerror) bool {
    return switch (failure) {
        error.TlsCertificateNotVerified,
        error.CertificateExpired,
        error.CertificateNotYetValid,
        error.CertificateIssuerMismatch,
        error.CertificateHasUnrecognizedObjectId,
        error.CertificatePublicKeyInvalid,
        error.CertificateSignatureAlgorithmMismatch,
        error.CertificateSignatureAlgorithmUnsupported,
        error.CertificateSignatureInvalid,
        error.CertificateSignatureInvalidLength,
        error.CertificateSignatureNamedCurveUnsupported,
        error.CertificateSignatureUnsupportedBitCount,
        => true,
        else => false,
    };
}

// ---- Names and addresses

fn connect(peer: Url, watch: *const Watch) sockets.Connected {
    var found: names.Addresses = .{ .port = peer.port };
    const finding = guard.call(names.find, .{ peer.host, watch, &found }) orelse .unknown_host;
    if (finding != .no_problem) return .{ .problem = finding };
    const addresses = found.slice();
    if (addresses.len == 0) return .{ .problem = .unknown_host };
    var problem: Problem = .unreachable_host;
    for (addresses, 0..) |address, index| {
        // What is left of the time is shared, so that one address that is silent does not take it all.
        const now = sockets.now();
        var share = watch.*;
        share.deadline_ns = now + @divTrunc(watch.deadline_ns - now, @as(i64, @intCast(addresses.len - index)));
        switch (sockets.connect(address, &share)) {
            .descriptor => |descriptor| return .{ .descriptor = descriptor },
            .problem => |this| {
                if (this == .aborted or this == .no_files) return .{ .problem = this };
                // The one that says most: there is a machine, there may be one, there is no way.
                if (problem != .refused and this != .unreachable_host) problem = this;
            },
        }
    }
    return .{ .problem = problem };
}

// ---- Idle connections

var idle: struct { lock: futex.Lock = .{}, first: ?*Connection = null } = .{};

/// For the next request to the same place.
pub fn keep(connection: *Connection) void {
    connection.idle_since_ns = sockets.now();
    idle.lock.acquire();
    connection.next_idle = idle.first;
    idle.first = connection;
    idle.lock.release();
}

fn takeIdle(place: []const u8) ?*Connection {
    while (true) {
        const connection = unlinkIdle(place) orelse return null;
        // It may have been closed meanwhile.
        if (connection.socket.isQuiet()) return connection;
        connection.close();
    }
}

/// Takes the connection that was used last, and closes those that are no longer fresh.
fn unlinkIdle(place: []const u8) ?*Connection {
    const limit_ns = sockets.now() - fresh_ns;
    var found: ?*Connection = null;
    idle.lock.acquire();
    defer idle.lock.release();
    var link = &idle.first;
    while (link.*) |connection| {
        const is_stale = connection.idle_since_ns < limit_ns;
        if (is_stale or (found == null and std.mem.eql(u8, connection.place, place))) {
            link.* = connection.next_idle;
            if (is_stale) connection.close() else found = connection;
        } else {
            link = &connection.next_idle;
        }
    }
    return found;
}

/// True: there were some.
pub fn closeIdle() bool {
    idle.lock.acquire();
    var next = idle.first;
    idle.first = null;
    idle.lock.release();
    const were_any = next != null;
    while (next) |connection| {
        next = connection.next_idle;
        connection.close();
    }
    return were_any;
}

pub fn closeStale() void {
    assert(unlinkIdle("") == null);
}
