//! What all requests over HTTP have, and what is said of one that went wrong.

const std = @import("std");
const abi = @import("abi.zig");
const Url = @import("http/url.zig").Url;
const Allocator = std.mem.Allocator;

pub const body_bytes_max = 16 << 20;
pub const connect_limit_ns = 10 * std.time.ns_per_s;
/// The caller's own timer comes first, and says what is to be said; this is for a request that nobody waits for any more.
pub const limit_margin_ns = 5 * std.time.ns_per_s;

pub const user_agent: abi.Header = .{ .name = .init("user-agent"), .value = .init("kavach") };

/// In our words, not those of a library.
pub fn problemText(arena: Allocator, asked: Url, problem: abi.ExchangeProblem) Allocator.Error![]const u8 {
    const host = try std.ascii.allocLowerString(arena, asked.shownHost());
    return switch (problem) {
        .no_problem, .dropped, .aborted => unreachable,
        .unknown_host => std.fmt.allocPrint(arena, "cannot find the host {s}", .{host}),
        .refused => std.fmt.allocPrint(arena, "{s}:{d} refused the connection", .{ host, asked.port }),
        .unreachable_host => std.fmt.allocPrint(arena, "cannot reach {s}:{d}", .{ host, asked.port }),
        .untrusted => std.fmt.allocPrint(arena, "the certificate of {s} is not trusted (set SSL_CERT_FILE to the CA that signed it)", .{host}),
        .no_authorities => std.fmt.allocPrint(arena, "the certificate of {s} is not trusted, and SSL_CERT_FILE names no file with certificates", .{host}),
        .wrong_name => std.fmt.allocPrint(arena, "the certificate is not for {s}", .{host}),
        .tls => std.fmt.allocPrint(arena, "TLS with {s} failed", .{host}),
        .timed_out => std.fmt.allocPrint(arena, "no connection to {s}:{d} within 10s", .{ host, asked.port }),
        .late => "no answer in time",
        .too_large => "the answer is larger than 16 MB",
        .no_files => "this process is out of file descriptors: raise ulimit -n",
        .no_threads => "the system gives this process no more threads: raise ulimit -u",
        .malformed => std.fmt.allocPrint(arena, "the answer of {s}:{d} is not HTTP", .{ host, asked.port }),
    };
}
