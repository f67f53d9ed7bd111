//! Whose certificates are trusted: those of the system, and those in the file that SSL_CERT_FILE names.

const std = @import("std");
const futex = @import("../futex.zig");
const root = @import("../http.zig");
const Io = std.Io;
const Bundle = std.crypto.Certificate.Bundle;

const pages = std.heap.page_allocator;

var store: struct {
    lock: futex.Lock = .{},
    is_loaded: bool = false,
    bundle: Bundle = .empty,
    /// What TLS takes while it looks a certificate up; nothing changes then any more.
    reading: Io.RwLock = .init,
} = .{};

/// std's functions that do what they are told in the thread that calls them.
pub fn io() Io {
    return Io.Threaded.global_single_threaded.io();
}

pub fn now() Io.Timestamp {
    return Io.Clock.real.now(io());
}

/// Read when the first connection needs them.
pub fn trusted() @FieldType(@FieldType(std.crypto.tls.Client.Options, "ca"), "bundle") {
    store.lock.acquire();
    defer store.lock.release();
    if (!store.is_loaded) {
        load();
        store.is_loaded = true;
    }
    return .{ .gpa = pages, .io = io(), .lock = &store.reading, .bundle = &store.bundle };
}

/// What cannot be read is left out: a connection then fails since its certificate is not trusted.
fn load() void {
    store.bundle.rescan(pages, io(), now()) catch {};
    const path = root.variable("SSL_CERT_FILE") orelse return;
    if (path.len == 0) return;
    const file = Io.Dir.cwd().openFile(io(), path, .{}) catch return;
    defer file.close(io());
    var reader = file.reader(io(), &.{});
    store.bundle.addCertsFromFile(pages, &reader, now().toSeconds()) catch {};
}
