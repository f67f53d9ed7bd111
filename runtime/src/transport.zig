//! How a model request leaves and its reply comes back: from the scripted model, or over HTTP.

const abi = @import("abi.zig");
const scheduler = @import("scheduler.zig");

pub const Request = struct {
    model: *const abi.Model,
    schema: *const abi.Schema,
    /// What the program asked; `prompt` is that, or that and a note about the last answer.
    asked: []const u8,
    prompt: []const u8,
    /// Called once, when the reply can be taken: it wakes the task that waits.
    completion: *const fn (request: *Request) void,
    // For the transport that carries it:
    timer: scheduler.Timer,
    reply: Reply = .{ .dropped = .{} },
    /// It is one of the requests that the scripted model's `capacity` counts.
    is_counted: bool = false,
    /// What the HTTP transport keeps of it while it is under way.
    carried: ?*anyopaque = null,
};

pub const Stop = enum { complete, refusal, cut_off };

/// The tokens that the provider counts.
pub const Usage = struct {
    input_tokens: i64 = 0,
    output_tokens: i64 = 0,

    pub fn total(usage: Usage) i64 {
        return usage.input_tokens +| usage.output_tokens;
    }

    pub fn add(usage: *Usage, more: Usage) void {
        usage.input_tokens +|= more.input_tokens;
        usage.output_tokens +|= more.output_tokens;
    }
};

pub const Answer = struct { text: []const u8, stop: Stop, usage: Usage };

pub const Failure = struct {
    /// 0: there was no answer.
    status: i64,
    /// The provider's own; null where it said nothing.
    message: ?[]const u8 = null,
    /// The message is ours, and says all there is to say.
    is_explained: bool = false,
    error_code: []const u8 = "",
    /// The header's value as it came.
    retry_after: ?[]const u8 = null,
    again: enum { by_status, always, never } = .by_status,
    /// What an answer that cannot be used may have taken.
    usage: Usage = .{},
};

/// Borrowed from the transport while the turn lasts in which it was taken.
pub const Reply = union(enum) {
    answer: Answer,
    failure: Failure,
    /// The connection closed without a whole answer: what the one that had begun may have taken.
    dropped: Usage,
};

pub const Transport = struct {
    /// Sends the request. Completes later, never at once.
    start: *const fn (request: *Request) void,
    /// After completion, in the turn of the task that waited: the request is over.
    take: *const fn (request: *Request) Reply,
    /// Nobody waits for the request any more, whether it is complete or not.
    abandon: *const fn (request: *Request) void,
};
