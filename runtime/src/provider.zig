//! The providers' wire formats (docs/providers.md): what a request says, and what an answer means. Pure functions; the plain
//! runtime has the same in interpreter/provider.py, byte for byte.

const std = @import("std");
const abi = @import("abi.zig");
const json = @import("json.zig");
const transport = @import("transport.zig");
const urls = @import("http/url.zig");
const Url = urls.Url;
const assert = std.debug.assert;
const Allocator = std.mem.Allocator;
const List = std.ArrayList(u8);

pub const body_bytes_max = 16 << 20;
pub const connect_limit_ns = 10 * std.time.ns_per_s;
/// The ask's own timer comes first, and says what is to be said; this is for a request that nobody waits for any more.
pub const limit_margin_ns = 5 * std.time.ns_per_s;

/// Characters of an answer that is no JSON which are shown.
const shown_characters_max = 80;
/// Of a key that is a secret.
const secret_bytes_min = 12;

/// What is known before anything is sent.
pub const Call = struct {
    model: *const abi.Model,
    schema: *const abi.Schema,
    prompt: []const u8,
    key: []const u8,
    /// As it was set, or the official one.
    base_url: []const u8,
};

pub fn keyVariable(provider: abi.Provider) []const u8 {
    return switch (provider) {
        .anthropic => "ANTHROPIC_API_KEY",
        .openai => "OPENAI_API_KEY",
    };
}

pub fn baseUrlVariable(provider: abi.Provider) []const u8 {
    return switch (provider) {
        .anthropic => "ANTHROPIC_BASE_URL",
        .openai => "OPENAI_BASE_URL",
    };
}

pub fn officialUrl(provider: abi.Provider) []const u8 {
    return switch (provider) {
        .anthropic => "https://api.anthropic.com",
        .openai => "https://api.openai.com",
    };
}

/// Whether it can stand in a header, and so can be a key at all.
pub fn isKey(key: []const u8) bool {
    for (key) |byte| if (byte < ' ' or byte >= 0x7f) return false;
    return true;
}

// ---- The request

pub fn appendUrl(list: *List, allocator: Allocator, call: Call) Allocator.Error!void {
    try url(call).appendRoot(list, allocator);
    try list.appendSlice(allocator, switch (call.model.provider) {
        .anthropic => "/v1/messages",
        .openai => "/v1/chat/completions",
    });
}

fn url(call: Call) Url {
    return Url.parse(call.base_url) catch unreachable; // There is no obstacle.
}

/// Why no request can go to the base URL.
pub fn appendFault(list: *List, allocator: Allocator, base_url: []const u8, fault: urls.Fault) Allocator.Error!void {
    const shown = std.unicode.fmtUtf8(base_url);
    return switch (fault) {
        error.Form => list.print(allocator, "the base URL \"{f}\" is no http or https URL", .{shown}),
        error.Login => list.appendSlice(allocator, "the base URL has a name or a password in it, which no request would carry"),
        error.Host => list.print(allocator, "the host in the base URL \"{f}\" is neither a name nor an address", .{shown}),
        error.Dots => list.print(allocator, "the base URL \"{f}\" has \".\" or \"..\" in its path", .{shown}),
    };
}

/// What endpoints have in common to which one gate leads, however they are written (spec 8.4.gate). A scripted model
/// answers also where the base URL is none. The caller's.
pub fn gateKey(allocator: Allocator, base_url: []const u8) Allocator.Error![]const u8 {
    var key: List = .empty;
    if (Url.parse(base_url)) |parsed| try parsed.appendRoot(&key, allocator) else |_| try key.appendSlice(allocator, base_url);
    return key.toOwnedSlice(allocator);
}

/// In the arena.
pub fn headers(arena: Allocator, call: Call) Allocator.Error![]const abi.Header {
    const content_type: abi.Header = .{ .name = .init("content-type"), .value = .init("application/json") };
    return switch (call.model.provider) {
        .anthropic => arena.dupe(abi.Header, &.{
            .{ .name = .init("x-api-key"), .value = .init(call.key) },
            .{ .name = .init("anthropic-version"), .value = .init("2023-06-01") },
            content_type,
        }),
        .openai => arena.dupe(abi.Header, &.{
            .{ .name = .init("authorization"), .value = .init(try std.fmt.allocPrint(arena, "Bearer {s}", .{call.key})) },
            content_type,
        }),
    };
}

pub fn appendBody(list: *List, allocator: Allocator, call: Call) Allocator.Error!void {
    try list.appendSlice(allocator, "{\"model\":");
    try appendString(list, allocator, call.model.name.slice());
    try list.appendSlice(allocator, switch (call.model.provider) {
        .anthropic => ",\"max_tokens\":",
        .openai => ",\"max_completion_tokens\":",
    });
    try list.print(allocator, "{d}", .{call.model.max_tokens});
    try list.appendSlice(allocator, ",\"messages\":[{\"role\":\"user\",\"content\":");
    if (call.schema.way == .in_prompt) {
        var prompt: List = .empty;
        defer prompt.deinit(allocator);
        for ([_][]const u8{ call.prompt, schema_in_prompt, call.schema.text.slice() }) |part| try prompt.appendSlice(allocator, part);
        try appendString(list, allocator, prompt.items);
    } else {
        try appendString(list, allocator, call.prompt);
    }
    try list.appendSlice(allocator, "}]");
    if (call.schema.way == .structured or call.schema.way == .wrapped) {
        const before, const after = switch (call.model.provider) {
            .anthropic => .{ ",\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":", "}}" },
            .openai => .{ ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"answer\",\"schema\":", ",\"strict\":true}}" },
        };
        for ([_][]const u8{ before, call.schema.text.slice(), after }) |part| try list.appendSlice(allocator, part);
    }
    try list.append(allocator, '}');
}

const schema_in_prompt = "\n\nAnswer with JSON only, which fits this JSON schema:\n";

/// A JSON string with nothing escaped that need not be.
fn appendString(list: *List, allocator: Allocator, text: []const u8) Allocator.Error!void {
    try list.append(allocator, '"');
    for (text) |byte| switch (byte) {
        '"' => try list.appendSlice(allocator, "\\\""),
        '\\' => try list.appendSlice(allocator, "\\\\"),
        '\n' => try list.appendSlice(allocator, "\\n"),
        '\r' => try list.appendSlice(allocator, "\\r"),
        '\t' => try list.appendSlice(allocator, "\\t"),
        0x08 => try list.appendSlice(allocator, "\\b"),
        0x0c => try list.appendSlice(allocator, "\\f"),
        0...0x07, 0x0b, 0x0e...0x1f => try list.print(allocator, "\\u{x:0>4}", .{byte}),
        else => try list.append(allocator, byte),
    };
    try list.append(allocator, '"');
}

// ---- The answer

/// What came over HTTP.
pub const Received = struct {
    status: i64,
    problem: abi.ExchangeProblem,
    body: []const u8,
    retry_after: ?[]const u8 = null,
    location: ?[]const u8 = null,
};

/// The reply, in the arena and in what was received. The key is never in it.
pub fn read(arena: Allocator, call: Call, received: Received) Allocator.Error!transport.Reply {
    switch (received.problem) {
        .no_problem => {},
        .dropped, .aborted => return .dropped,
        else => |problem| return .{ .failure = .{
            .status = received.status,
            .message = try problemText(arena, call, problem),
            .is_explained = true,
            .again = if (problem == .timed_out) .always else .never,
        } },
    }
    const body = try withoutKey(arena, call.key, received.body);
    return switch (received.status) {
        200...299 => readAnswer(arena, call, received.status, body),
        300...399 => .{ .failure = .{
            .status = received.status,
            .message = if (received.location) |location|
                try std.fmt.allocPrint(arena, "the provider redirects to {f}: set base_url to it", .{std.unicode.fmtUtf8(try withoutKey(arena, call.key, location))})
            else
                null,
        } },
        else => readError(arena, call, received, body),
    };
}

/// What the provider sent, with the key's occurrences replaced. A short one is no secret, but a word such as `none`, for
/// a server that needs no key: it may well stand in an answer.
fn withoutKey(arena: Allocator, key: []const u8, sent: []const u8) Allocator.Error![]const u8 {
    if (key.len < secret_bytes_min or std.mem.find(u8, sent, key) == null) return sent;
    return std.mem.replaceOwned(u8, arena, sent, key, "[key]");
}

fn problemText(arena: Allocator, call: Call, problem: abi.ExchangeProblem) Allocator.Error![]const u8 {
    const asked = url(call);
    const host = asked.shownHost();
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

fn readAnswer(arena: Allocator, call: Call, status: i64, body: []const u8) Allocator.Error!transport.Reply {
    var cursor: json.Cursor = .{ .text = body };
    const is_text = std.unicode.utf8ValidateSlice(body);
    if (!is_text) return notJson(arena, status, body);
    cursor.checkForm(arena) catch |failure| switch (failure) {
        error.OutOfMemory => |memory| return memory,
        error.Syntax => return notJson(arena, status, body),
    };
    var parts: Parts = .{ .arena = arena, .cursor = &cursor };
    const readParts: *const fn (parts: *Parts) json.Error!void = switch (call.model.provider) {
        .anthropic => Parts.anthropic,
        .openai => Parts.openai,
    };
    readParts(&parts) catch |failure| switch (failure) {
        error.OutOfMemory => |memory| return memory,
        error.Syntax => unreachable, // Its form is checked.
    };
    const text = parts.text orelse if (parts.stop != .complete) "" else {
        const message = "the provider's answer has no text";
        return .{ .failure = .{ .status = status, .message = message, .usage = parts.tokens(0, 0) } };
    };
    const usage = parts.tokens(call.prompt.len, text.len);
    const bare = if (call.schema.way == .wrapped and parts.stop == .complete) unwrapped(arena, text) else text;
    // Again, since JSON may write a character in several ways.
    return .{ .answer = .{ .text = try withoutKey(arena, call.key, bare), .stop = parts.stop, .usage = usage } };
}

fn notJson(arena: Allocator, status: i64, body: []const u8) Allocator.Error!transport.Reply {
    const whole = try std.fmt.allocPrint(arena, "{f}", .{std.unicode.fmtUtf8(body[0..@min(body.len, 4 * shown_characters_max)])});
    var end: usize = 0;
    for (0..shown_characters_max) |_| {
        if (end == whole.len) break;
        end += std.unicode.utf8ByteSequenceLength(whole[end]) catch unreachable;
    }
    const message = try std.fmt.allocPrint(arena, "the provider's answer is not JSON: {s}", .{whole[0..end]});
    return .{ .failure = .{ .status = status, .message = message } };
}

/// The value of an object that has just the field `answer`; anything else as it stands.
fn unwrapped(arena: Allocator, text: []const u8) []const u8 {
    var cursor: json.Cursor = .{ .text = text };
    return unwrap(arena, &cursor) catch text;
}

fn unwrap(arena: Allocator, cursor: *json.Cursor) (json.Error || error{Other})![]const u8 {
    var members = try cursor.open('{');
    if (!try members.next()) return error.Other;
    var key: List = .empty;
    try cursor.string(arena, &key);
    if (!std.mem.eql(u8, key.items, "answer")) return error.Other;
    try cursor.expect(':');
    cursor.skipSpace();
    const start = cursor.position;
    try cursor.skipValue(arena, 1);
    const end = cursor.position;
    if (try members.next()) return error.Other;
    try cursor.end();
    return cursor.text[start..end];
}

fn readError(arena: Allocator, call: Call, received: Received, body: []const u8) Allocator.Error!transport.Reply {
    var cursor: json.Cursor = .{ .text = body };
    var parts: Parts = .{ .arena = arena, .cursor = &cursor };
    if (std.unicode.utf8ValidateSlice(body)) {
        if (cursor.checkForm(arena)) |_| {
            parts.failure() catch |failure| switch (failure) {
                error.OutOfMemory => |memory| return memory,
                error.Syntax => unreachable, // Its form is checked.
            };
        } else |failure| switch (failure) {
            error.OutOfMemory => |memory| return memory,
            error.Syntax => {},
        }
    }
    return .{ .failure = .{
        .status = received.status,
        .message = if (parts.message) |message| try withoutKey(arena, call.key, message) else null,
        .error_code = parts.error_code,
        .retry_after = received.retry_after,
    } };
}

/// What is read of a JSON text whose form is checked. What has another type than expected is as if it were not there.
const Parts = struct {
    arena: Allocator,
    cursor: *json.Cursor,
    text: ?[]const u8 = null,
    stop: transport.Stop = .complete,
    counted: transport.Usage = .{},
    has_input_count: bool = false,
    has_output_count: bool = false,
    message: ?[]const u8 = null,
    error_code: []const u8 = "",

    const Reading = json.Error;

    fn anthropic(parts: *Parts) Reading!void {
        var object = try parts.open(.object) orelse return;
        while (try object.next()) |key| {
            if (eql(key, "content")) {
                try parts.contentBlocks();
            } else if (eql(key, "stop_reason")) {
                const reason = try parts.string() orelse "";
                parts.stop = if (eql(reason, "refusal")) .refusal else if (eql(reason, "max_tokens") or eql(reason, "model_context_window_exceeded")) .cut_off else .complete;
            } else if (eql(key, "usage")) {
                try parts.usage(&.{ "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens" }, "output_tokens");
            } else try parts.skip();
        }
    }

    fn contentBlocks(parts: *Parts) Reading!void {
        var blocks = try parts.open(.array) orelse return;
        var text: List = .empty;
        while (try blocks.nextElement()) {
            var block = try parts.open(.object) orelse continue;
            while (try block.next()) |key| {
                if (eql(key, "text")) try text.appendSlice(parts.arena, try parts.string() orelse "") else try parts.skip();
            }
        }
        parts.text = text.items;
    }

    fn openai(parts: *Parts) Reading!void {
        var object = try parts.open(.object) orelse return;
        while (try object.next()) |key| {
            if (eql(key, "choices")) {
                var choices = try parts.open(.array) orelse continue;
                var index: usize = 0;
                while (try choices.nextElement()) : (index += 1) {
                    if (index == 0) try parts.choice() else try parts.skip();
                }
            } else if (eql(key, "usage")) {
                try parts.usage(&.{"prompt_tokens"}, "completion_tokens");
            } else try parts.skip();
        }
    }

    fn choice(parts: *Parts) Reading!void {
        var object = try parts.open(.object) orelse return;
        var refusal: ?[]const u8 = null;
        while (try object.next()) |key| {
            if (eql(key, "message")) {
                var message = try parts.open(.object) orelse continue;
                while (try message.next()) |name| {
                    if (eql(name, "content")) {
                        parts.text = try parts.string();
                    } else if (eql(name, "refusal")) {
                        refusal = try parts.string();
                    } else try parts.skip();
                }
            } else if (eql(key, "finish_reason")) {
                const reason = try parts.string() orelse "";
                parts.stop = if (eql(reason, "content_filter")) .refusal else if (eql(reason, "length")) .cut_off else .complete;
            } else try parts.skip();
        }
        const text = refusal orelse return;
        parts.stop = .refusal;
        parts.text = text;
    }

    /// Counts the tokens under these names.
    fn usage(parts: *Parts, inputs: []const []const u8, output: []const u8) Reading!void {
        var object = try parts.open(.object) orelse return;
        while (try object.next()) |key| {
            const is_input = for (inputs) |name| {
                if (eql(key, name)) break true;
            } else false;
            const is_output = eql(key, output);
            if ((is_input or is_output) and try parts.cursor.peekKind() == .number) {
                const count = countOf((try parts.cursor.number()).text) orelse continue;
                parts.counted.add(if (is_input) .{ .input_tokens = count } else .{ .output_tokens = count });
                if (is_input) parts.has_input_count = true else parts.has_output_count = true;
            } else try parts.skip();
        }
    }

    /// What is not counted by the provider has at most one token for each byte.
    fn tokens(parts: *const Parts, prompt_bytes: usize, text_bytes: usize) transport.Usage {
        return .{
            .input_tokens = if (parts.has_input_count) parts.counted.input_tokens else @intCast(prompt_bytes),
            .output_tokens = if (parts.has_output_count) parts.counted.output_tokens else @intCast(text_bytes),
        };
    }

    /// `{"error": {"message": …, "code": …, "details": {"error_code": …}}}`, or with a text as `error` or `message`.
    fn failure(parts: *Parts) Reading!void {
        var object = try parts.open(.object) orelse return;
        while (try object.next()) |key| {
            if (eql(key, "error") and try parts.cursor.peekKind() == .object) {
                try parts.failureDetails();
            } else if (eql(key, "error") or eql(key, "message")) {
                parts.message = try parts.string() orelse parts.message;
            } else try parts.skip();
        }
    }

    fn failureDetails(parts: *Parts) Reading!void {
        var object = try parts.open(.object) orelse return;
        while (try object.next()) |key| {
            if (eql(key, "message")) {
                parts.message = try parts.string();
            } else if (eql(key, "code")) {
                parts.error_code = try parts.string() orelse parts.error_code;
            } else if (eql(key, "details")) {
                var details = try parts.open(.object) orelse continue;
                while (try details.next()) |name| {
                    if (eql(name, "error_code")) parts.error_code = try parts.string() orelse parts.error_code else try parts.skip();
                }
            } else try parts.skip();
        }
    }

    const Members = struct {
        parts: *Parts,
        members: json.Members,

        fn next(self: *Members) Reading!?[]const u8 {
            if (!try self.members.next()) return null;
            var key: List = .empty;
            try self.parts.cursor.string(self.parts.arena, &key);
            try self.parts.cursor.expect(':');
            return key.items;
        }

        fn nextElement(self: *Members) Reading!bool {
            return self.members.next();
        }
    };

    /// Null for a value of another kind, which is passed over.
    fn open(parts: *Parts, kind: json.Kind) Reading!?Members {
        if (try parts.cursor.peekKind() != kind) {
            try parts.skip();
            return null;
        }
        return .{ .parts = parts, .members = try parts.cursor.open(if (kind == .object) '{' else '[') };
    }

    fn string(parts: *Parts) Reading!?[]const u8 {
        if (try parts.cursor.peekKind() != .string) {
            try parts.skip();
            return null;
        }
        var text: List = .empty;
        try parts.cursor.string(parts.arena, &text);
        return text.items;
    }

    fn skip(parts: *Parts) Reading!void {
        try parts.cursor.skipValue(parts.arena, 0);
    }
};

/// The tokens that a JSON number says, rounded up; null for fewer than none.
fn countOf(number: []const u8) ?i64 {
    if (number[0] == '-') return null;
    if (std.mem.findAny(u8, number, ".eE") == null) return std.fmt.parseInt(i64, number, 10) catch std.math.maxInt(i64);
    const count = @ceil(std.fmt.parseFloat(f64, number) catch unreachable);
    return if (count < 0x1p63) @intFromFloat(count) else std.math.maxInt(i64);
}

fn eql(left: []const u8, right: []const u8) bool {
    return std.mem.eql(u8, left, right);
}

/// What a program is told of a failure: the provider's own words, and what to do in front.
pub fn appendFailure(list: *List, allocator: Allocator, model: *const abi.Model, base_url: []const u8, failure: transport.Failure) Allocator.Error!void {
    const variable = keyVariable(model.provider);
    const name = model.name.slice();
    if (failure.is_explained) return list.appendSlice(allocator, failure.message.?);
    switch (failure.status) {
        401 => try list.print(allocator, "the key in {s} was refused", .{variable}),
        403 => try list.print(allocator, "the key in {s} may not use {s}", .{ variable, name }),
        404 => try list.print(allocator, "there is no model \"{s}\" at {s}", .{ name, std.mem.trimEnd(u8, base_url, "/") }),
        413 => try list.appendSlice(allocator, "the prompt is too large"),
        else => {
            if (failure.message) |message| return list.appendSlice(allocator, message);
            return list.print(allocator, "HTTP {d}", .{failure.status});
        },
    }
    if (failure.message) |message| try list.print(allocator, ": {s}", .{message});
}
