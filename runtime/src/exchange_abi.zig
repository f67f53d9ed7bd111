//! What the runtime and a host say to each other about HTTP (`runtime/include/kavach.h`): apart from the rest of the ABI,
//! since the native host's HTTP is compiled apart, and then need not be compiled again when the rest changes.

pub const TextView = extern struct {
    bytes: ?[*]const u8 = null,
    length: i64 = 0,

    pub fn init(text: []const u8) TextView {
        return .{ .bytes = text.ptr, .length = @intCast(text.len) };
    }

    /// The text; empty when there is none.
    pub fn slice(view: TextView) []const u8 {
        const bytes = view.bytes orelse return "";
        return bytes[0..@intCast(view.length)];
    }

    pub fn optional(view: TextView) ?[]const u8 {
        return if (view.bytes == null) null else view.slice();
    }
};

pub const Header = extern struct { name: TextView, value: TextView };

pub const Exchange = extern struct {
    method: TextView,
    url: TextView,
    headers: ?[*]const Header,
    header_count: i64,
    body: TextView,
    connect_limit_ns: i64,
    limit_ns: i64,
    body_bytes_max: i64,
    host: ?*anyopaque = null,

    pub fn headerSlice(exchange: *const Exchange) []const Header {
        const headers = exchange.headers orelse return &.{};
        return headers[0..@intCast(exchange.header_count)];
    }
};

pub const Problem = enum(i32) {
    no_problem = 0,
    dropped = 1,
    unknown_host = 2,
    refused = 3,
    unreachable_host = 4,
    untrusted = 5,
    wrong_name = 6,
    tls = 7,
    timed_out = 8,
    late = 9,
    too_large = 10,
    malformed = 11,
    aborted = 12,
    /// As `untrusted`, and SSL_CERT_FILE names nothing in which there is a certificate.
    no_authorities = 13,
    /// The process is out of file descriptors.
    no_files = 14,
    no_threads = 15,
};

pub const LookUp = *const fn (context: ?*anyopaque, bytes: [*]const u8, length: i64, out: *TextView) callconv(.c) bool;

/// What the native host's HTTP needs of the rest of a standalone binary.
pub const Services = extern struct {
    environment: LookUp,
    /// Runs the function on a thread of its own; false: the system grants none.
    spawn: *const fn (function: *const fn (argument: *anyopaque) callconv(.c) void, argument: *anyopaque) callconv(.c) bool,
};
