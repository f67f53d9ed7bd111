//! Whose certificates are trusted: those of the system, and those in the file that SSL_CERT_FILE names.

const std = @import("std");
const linux = std.os.linux;
const files = @import("files.zig");
const futex = @import("../futex.zig");
const guard = @import("guard.zig");
const root = @import("../http.zig");
const Io = std.Io;
const Bundle = std.crypto.Certificate.Bundle;

const pages = std.heap.page_allocator;
const file_size_max = 64 << 20;

/// Where systems keep them; the first that is there counts.
const system_files = [_][]const u8{
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
};

var store: struct {
    lock: futex.Lock = .{},
    is_loaded: bool = false,
    bundle: Bundle = .empty,
    are_missing: bool = false,
    /// What TLS takes while it looks a certificate up. Nothing changes then any more, so that it never waits.
    reading: Io.RwLock = .init,
} = .{};

pub const Trusted = @FieldType(@FieldType(std.crypto.tls.Client.Options, "ca"), "bundle");

pub fn now() Io.Timestamp {
    var time: linux.timespec = undefined;
    const result = linux.clock_gettime(.REALTIME, &time);
    std.debug.assert(linux.errno(result) == .SUCCESS);
    return .{ .nanoseconds = @as(i96, time.sec) * std.time.ns_per_s + time.nsec };
}

/// Read when the first connection needs them. No files: they can be read later.
pub fn trusted() error{NoFiles}!Trusted {
    store.lock.acquire();
    defer store.lock.release();
    if (!store.is_loaded) {
        try load();
        store.is_loaded = true;
    }
    return .{ .gpa = pages, .io = .failing, .lock = &store.reading, .bundle = &store.bundle };
}

/// SSL_CERT_FILE is set, and names nothing in which there is a certificate. Known once they are read.
pub fn areMissing() bool {
    return store.are_missing;
}

/// What cannot be read is left out: a connection then fails since its certificate is not trusted.
fn load() error{NoFiles}!void {
    for (system_files) |path| {
        const content = try files.read(path, file_size_max) orelse continue;
        defer files.free(content);
        _ = add(content);
        break;
    }
    const path = root.variable("SSL_CERT_FILE") orelse return;
    if (path.len == 0) return;
    store.are_missing = true;
    const content = try files.read(path, file_size_max) orelse return;
    defer files.free(content);
    store.are_missing = !add(content);
}

/// Every certificate in the text of a PEM file. One that is damaged takes no other with it. False: there is none.
fn add(text: []const u8) bool {
    const begin = "-----BEGIN CERTIFICATE-----";
    const end = "-----END CERTIFICATE-----";
    var rest = text;
    var is_any = false;
    while (std.mem.find(u8, rest, end)) |length| {
        const before = rest[0..length];
        rest = rest[length + end.len ..];
        const start = std.mem.findLast(u8, before, begin) orelse continue;
        const known = store.bundle.bytes.items.len;
        const is_added = guard.call(addOne, .{before[start + begin.len ..]}) orelse false;
        if (is_added) is_any = true else store.bundle.bytes.items.len = known;
    }
    return is_any;
}

/// False: it is none, or none that this TLS can read.
fn addOne(encoded: []const u8) bool {
    const decoder = std.base64.standard.decoderWithIgnore(" \t\r\n");
    const bundle = &store.bundle;
    const at = bundle.bytes.items.len;
    bundle.bytes.ensureUnusedCapacity(pages, encoded.len) catch return false;
    const decoded = decoder.decode(bundle.bytes.unusedCapacitySlice(), encoded) catch return false;
    bundle.bytes.items.len += decoded;
    bundle.parseCert(pages, @intCast(at), now().toSeconds()) catch return false;
    return true;
}
