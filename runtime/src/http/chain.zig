//! Whether a server's certificates lead to a trusted authority through authorities only. Zig's TLS looks at names, times and
//! signatures, but not at whether the one who signed may: whoever has any trusted certificate could sign one for every name.
//! It does not hand the certificates out either, so they are read here again, from what the server sent.
//!
//! A server must not make the two readings differ. So each message has to be where every server puts it, and what is
//! unusual is refused, also where TLS would allow it.

const std = @import("std");
const abi = @import("../exchange_abi.zig");
const authorities = @import("authorities.zig");
const Io = std.Io;

const Problem = abi.Problem;
const Certificate = std.crypto.Certificate;
const tls = std.crypto.tls;

/// Of a server's first records, and of the messages in them.
const bytes_max = 64 * 1024;
pub const memory_size = 2 * bytes_max;
const log_size = 1024;

const server_hello = 2;
const certificate = 11;
const order_tls_1_2 = [_]u8{ server_hello, certificate, 12, 14 };
const order_tls_1_3 = [_]u8{ server_hello, 8, certificate, 15, 20 };

/// What a server sends while its connection is secured.
pub const Handshake = struct {
    received: []u8,
    received_length: usize = 0,
    messages: []u8,
    messages_length: usize = 0,
    /// Where Zig's TLS writes the secrets of the connection, with which its records are read.
    secrets: Io.Writer,
    key_log: tls.Client.SslKeyLog = undefined,

    pub fn init(memory: []u8, log: *[log_size]u8) Handshake {
        return .{ .received = memory[0..bytes_max], .messages = memory[bytes_max..], .secrets = .fixed(log) };
    }

    pub const Log = [log_size]u8;

    /// What is beyond the bound is not kept, and then missed.
    pub fn hear(handshake: *Handshake, bytes: []const u8) void {
        const room = handshake.received[handshake.received_length..];
        const length = @min(room.len, bytes.len);
        @memcpy(room[0..length], bytes[0..length]);
        handshake.received_length += length;
    }

    /// No problem: the certificates may be trusted.
    pub fn check(handshake: *Handshake, client: *const tls.Client, host: []const u8, authority: authorities.Trusted, now: Io.Timestamp) Problem {
        const message = (if (client.tls_version == .tls_1_3) handshake.findEncrypted(client) else handshake.findPlain()) orelse return .tls;
        const start: usize = if (client.tls_version == .tls_1_3) 1 else 0;
        if (start == 1 and (message.len < 1 or message[0] != 0)) return .tls;
        var certificates: Certificates = .{ .rest = sized(message[start..], 3) orelse return .tls, .has_extensions = start == 1 };
        return leads(&certificates, host, authority, now.toSeconds()) catch .untrusted;
    }

    /// The content of TLS 1.2's certificate message: its messages are whole in their records.
    fn findPlain(handshake: *Handshake) ?[]const u8 {
        var records: Records = .{ .rest = handshake.received[0..handshake.received_length] };
        var order: Order = .{ .expected = &order_tls_1_2 };
        while (!order.isDone()) {
            const record = records.next() orelse return null;
            if (record.kind != .handshake or !order.take(record.content)) return null;
        }
        return order.certificates;
    }

    fn findEncrypted(handshake: *Handshake, client: *const tls.Client) ?[]const u8 {
        return switch (client.application_cipher) {
            inline else => |*cipher| handshake.findEncryptedBy(@TypeOf(cipher.*)),
        };
    }

    /// The content of TLS 1.3's certificate message. One that is in several records has these for itself.
    fn findEncryptedBy(handshake: *Handshake, comptime Cipher: type) ?[]const u8 {
        const secret = handshake.secretOf(Cipher.Hash.digest_length) orelse return null;
        const key = tls.hkdfExpandLabel(Cipher.Hkdf, secret, "key", "", Cipher.AEAD.key_length);
        const iv = tls.hkdfExpandLabel(Cipher.Hkdf, secret, "iv", "", Cipher.AEAD.nonce_length);
        var records: Records = .{ .rest = handshake.received[0..handshake.received_length] };
        var order: Order = .{ .expected = &order_tls_1_3 };
        var count: u64 = 0;
        var open_length: usize = 0;
        while (!order.isDone()) {
            const record = records.next() orelse return null;
            switch (record.kind) {
                .change_cipher_spec => continue,
                .handshake => if (count > 0 or order.index > 0 or !order.take(record.content)) return null,
                .application_data => {
                    const room = handshake.messages[handshake.messages_length..];
                    const length = std.math.sub(usize, record.content.len, Cipher.AEAD.tag_length) catch return null;
                    if (length > room.len) return null;
                    var nonce = iv;
                    for (nonce[nonce.len - 8 ..], std.mem.toBytes(std.mem.nativeToBig(u64, count))) |*byte, other| byte.* ^= other;
                    const tag = record.content[length..][0..Cipher.AEAD.tag_length].*;
                    Cipher.AEAD.decrypt(room[0..length], record.content[0..length], tag, record.head, nonce, key) catch return null;
                    count += 1;
                    const padded = std.mem.trimEnd(u8, room[0..length], "\x00");
                    if (padded.len == 0 or padded[padded.len - 1] != @backingInt(tls.ContentType.handshake)) return null;
                    const content = handshake.messages[handshake.messages_length - open_length ..][0 .. open_length + padded.len - 1];
                    handshake.messages_length += padded.len - 1;
                    open_length = if (isBegun(content)) content.len else 0;
                    if (open_length == 0 and !order.take(content)) return null;
                },
                else => return null,
            }
        }
        return order.certificates;
    }

    fn secretOf(handshake: *const Handshake, comptime length: usize) ?[length]u8 {
        const label = "SERVER_HANDSHAKE_TRAFFIC_SECRET ";
        const log = handshake.secrets.buffered();
        const start = (std.mem.find(u8, log, label) orelse return null) + label.len + 2 * 32 + 1;
        if (start + 2 * length > log.len) return null;
        var secret: [length]u8 = undefined;
        _ = std.fmt.hexToBytes(&secret, log[start..][0 .. 2 * length]) catch return null;
        return secret;
    }
};

/// One message, of which more is to come.
fn isBegun(content: []const u8) bool {
    if (content.len < 4) return content.len > 0;
    return content.len - 4 < std.mem.readInt(u24, content[1..4], .big);
}

const Record = struct { kind: tls.ContentType, head: []const u8, content: []const u8 };

const Records = struct {
    rest: []const u8,

    fn next(records: *Records) ?Record {
        if (records.rest.len < tls.record_header_len) return null;
        const head = records.rest[0..tls.record_header_len];
        const end = head.len + std.mem.readInt(u16, head[3..5], .big);
        if (end > records.rest.len) return null;
        defer records.rest = records.rest[end..];
        return .{ .kind = @fromBackingInt(@intCast(head[0])), .head = head, .content = records.rest[head.len..end] };
    }
};

/// The messages that have come, which are those that have to come.
const Order = struct {
    expected: []const u8,
    index: usize = 0,
    certificates: ?[]const u8 = null,

    fn isDone(order: *const Order) bool {
        return order.index == order.expected.len;
    }

    /// False: these are not the next messages, or not whole.
    fn take(order: *Order, content: []const u8) bool {
        var rest = content;
        while (rest.len > 0) {
            if (order.isDone() or rest[0] != order.expected[order.index]) return false;
            const message = sized(rest[1..], 3) orelse return false;
            if (rest[0] == certificate) order.certificates = message;
            order.index += 1;
            rest = rest[4 + message.len ..];
        }
        return true;
    }
};

/// What stands behind its length.
fn sized(bytes: []const u8, comptime width: usize) ?[]const u8 {
    if (bytes.len < width) return null;
    const length = std.mem.readInt(@Int(.unsigned, 8 * width), bytes[0..width], .big);
    return if (length > bytes.len - width) null else bytes[width..][0..length];
}

const Certificates = struct {
    rest: []const u8,
    has_extensions: bool,

    fn next(certificates: *Certificates) ?[]const u8 {
        const found = sized(certificates.rest, 3) orelse return null;
        certificates.rest = certificates.rest[3 + found.len ..];
        if (!certificates.has_extensions) return found;
        const extensions = sized(certificates.rest, 2) orelse return null;
        certificates.rest = certificates.rest[2 + extensions.len ..];
        return found;
    }
};

fn leads(certificates: *Certificates, host: []const u8, authority: authorities.Trusted, now_s: i64) !Problem {
    var before: ?Certificate.Parsed = null;
    var count: usize = 0;
    while (certificates.next()) |bytes| : (count += 1) {
        const parsed = try Certificate.parse(.{ .buffer = bytes, .index = 0 });
        if (try isWeak(parsed)) return .untrusted;
        if (before) |signed| {
            try signed.verify(parsed, now_s);
            // Those between it and the server's own.
            if (!isAllowed(bytes, .{ .signs_above = count - 1 })) return .untrusted;
        } else {
            try parsed.verifyHostName(host);
            if (!isAllowed(bytes, .serves)) return .untrusted;
        }
        if (authority.bundle.find(parsed.issuer()) != null) {
            try authority.bundle.verify(parsed, now_s);
            return .no_problem;
        }
        before = parsed;
    }
    return .untrusted;
}

// ---- Extensions of certificates

const tag_boolean = 0x01;
const tag_integer = 0x02;
const tag_bits = 0x03;
const tag_bytes = 0x04;
const tag_sequence = 0x30;
const tag_version = 0xa0;
const tag_extensions = 0xa3;
const basic_constraints = "\x55\x1d\x13";
const key_usage = "\x55\x1d\x0f";
const extended_key_usage = "\x55\x1d\x25";
const name_constraints = "\x55\x1d\x1e";
/// What need not be understood, since what it says is looked at elsewhere, or forbids nothing here.
const harmless = [_][]const u8{ "\x55\x1d\x11", "\x55\x1d\x20" };
const usage_signs_certificates = 0x04;
/// Signatures, or the agreement on keys.
const usage_serves = 0x80 | 0x20 | 0x08;
const purpose_server = "\x2b\x06\x01\x05\x05\x07\x03\x01";
const rsa_bytes_min = 2048 / 8;

/// A key so short that it can be found.
fn isWeak(parsed: Certificate.Parsed) !bool {
    if (parsed.pub_key_algo != .rsaEncryption) return false;
    const key = try Certificate.rsa.PublicKey.parseDer(parsed.pubKey());
    return key.modulus.len < rsa_bytes_min;
}

/// What a certificate is for: it is the server's own, or signs others, with so many authorities between it and that one.
const Role = union(enum) { serves, signs_above: usize };

/// Whether its extensions allow that. One that must be understood and is not forbids it, and so do limits on names.
fn isAllowed(bytes: []const u8, role: Role) bool {
    const found = extensionsOf(bytes) orelse return role == .serves;
    var list: Elements = .{ .rest = found };
    var is_authority = false;
    while (list.rest.len > 0) {
        var extension: Elements = .{ .rest = list.take(tag_sequence) orelse return false };
        const id = extension.take(0x06) orelse return false;
        const critical = extension.take(tag_boolean) orelse "\x00";
        const value = extension.take(tag_bytes) orelse return false;
        if (std.mem.eql(u8, id, basic_constraints)) {
            is_authority = signsAbove(value, role) orelse return false;
        } else if (std.mem.eql(u8, id, key_usage)) {
            var outer: Elements = .{ .rest = value };
            const bits = outer.take(tag_bits) orelse return false;
            const wanted: u8 = if (role == .serves) usage_serves else usage_signs_certificates;
            if (bits.len < 2 or bits[1] & wanted == 0) return false;
        } else if (std.mem.eql(u8, id, extended_key_usage)) {
            if (!isForServers(value)) return false;
        } else if (std.mem.eql(u8, id, name_constraints)) {
            return false;
        } else if (critical.len != 1 or critical[0] != 0) {
            for (harmless) |known| {
                if (std.mem.eql(u8, id, known)) break;
            } else return false;
        }
    }
    return role == .serves or is_authority;
}

/// What the basic constraints say: whether it is an authority. None: not one with so many below it, or no such text.
fn signsAbove(value: []const u8, role: Role) ?bool {
    var outer: Elements = .{ .rest = value };
    var constraints: Elements = .{ .rest = outer.take(tag_sequence) orelse return null };
    const flag = constraints.take(tag_boolean) orelse return false;
    if (role == .signs_above) if (constraints.take(tag_integer)) |limit| {
        if (limit.len == 0 or (limit.len == 1 and limit[0] < role.signs_above)) return null;
    };
    return flag.len == 1 and flag[0] != 0;
}

fn isForServers(value: []const u8) bool {
    var outer: Elements = .{ .rest = value };
    var purposes: Elements = .{ .rest = outer.take(tag_sequence) orelse return false };
    while (purposes.take(0x06)) |purpose| {
        if (std.mem.eql(u8, purpose, purpose_server)) return true;
    }
    return false;
}

fn extensionsOf(bytes: []const u8) ?[]const u8 {
    var outer: Elements = .{ .rest = bytes };
    var whole: Elements = .{ .rest = outer.take(tag_sequence) orelse return null };
    var parts: Elements = .{ .rest = whole.take(tag_sequence) orelse return null };
    _ = parts.take(tag_version) orelse return null;
    while (parts.next()) |part| {
        if (part.tag != tag_extensions) continue;
        var wrapped: Elements = .{ .rest = part.content };
        return wrapped.take(tag_sequence);
    }
    return null;
}

const Element = struct { tag: u8, content: []const u8 };

/// Elements of DER.
const Elements = struct {
    rest: []const u8,

    fn next(elements: *Elements) ?Element {
        const bytes = elements.rest;
        if (bytes.len < 2) return null;
        const content = switch (bytes[1]) {
            0...0x7f => sized(bytes[1..], 1),
            0x81 => sized(bytes[2..], 1),
            0x82 => sized(bytes[2..], 2),
            0x83 => sized(bytes[2..], 3),
            else => null,
        } orelse return null;
        elements.rest = bytes[@intFromPtr(content.ptr) - @intFromPtr(bytes.ptr) + content.len ..];
        return .{ .tag = bytes[0], .content = content };
    }

    /// The content of the next one, if it has the tag.
    fn take(elements: *Elements, tag: u8) ?[]const u8 {
        if (elements.rest.len == 0 or elements.rest[0] != tag) return null;
        const found = elements.next() orelse return null;
        return found.content;
    }
};
