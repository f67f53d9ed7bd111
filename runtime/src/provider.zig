//! The providers' wire formats (docs/providers.md): what a request says, and what an answer means. Pure functions; the plain
//! runtime has the same in interpreter/provider.py, byte for byte.

const std = @import("std");
const abi = @import("abi.zig");
const http_words = @import("http_words.zig");
const json = @import("json.zig");
const key_mask = @import("key_mask.zig");
const transport = @import("transport.zig");
const Parts = @import("provider_parts.zig").Parts;
const urls = @import("http/url.zig");
const Url = urls.Url;
const assert = std.debug.assert;
const Allocator = std.mem.Allocator;
const List = std.ArrayList(u8);

/// Characters of an answer that is no JSON which are shown.
const shown_characters_max = 80;
const blanks = " \t\r\n";

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

/// The key of what its variable holds. HTTP takes blanks off a header's ends: a provider would see, and might repeat, the
/// key without them.
pub fn keyIn(set: []const u8) []const u8 {
    return std.mem.trim(u8, set, blanks);
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

/// Why no request can go to the base URL. The caller's.
pub fn faultText(allocator: Allocator, key: []const u8, base_url: []const u8, fault: urls.Fault) Allocator.Error!List {
    var text: List = .empty;
    try appendFault(&text, allocator, base_url, fault);
    try key_mask.maskTold(&text, allocator, key);
    return text;
}

fn appendFault(list: *List, allocator: Allocator, base_url: []const u8, fault: urls.Fault) Allocator.Error!void {
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
    const accept: abi.Header = .{ .name = .init("accept"), .value = .init("application/json") };
    return switch (call.model.provider) {
        .anthropic => arena.dupe(abi.Header, &.{
            .{ .name = .init("x-api-key"), .value = .init(call.key) },
            .{ .name = .init("anthropic-version"), .value = .init("2023-06-01") },
            content_type,
            accept,
            http_words.user_agent,
        }),
        .openai => arena.dupe(abi.Header, &.{
            .{ .name = .init("authorization"), .value = .init(try std.fmt.allocPrint(arena, "Bearer {s}", .{call.key})) },
            content_type,
            accept,
            http_words.user_agent,
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
        // As `promptLength` counts.
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

/// The bytes of `prompt` as it is sent: with the schema, where that stands in it.
pub fn promptLength(schema: *const abi.Schema, prompt: []const u8) i64 {
    const added = if (schema.way == .in_prompt) schema_in_prompt.len + schema.text.slice().len else 0;
    return @intCast(prompt.len + added);
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
    if (received.problem != .no_problem) return readProblem(arena, call, received);
    const body = try key_mask.bodyWithoutKey(arena, call.key, received.body);
    return switch (received.status) {
        200...299 => readAnswer(arena, call, received, body),
        300...399 => .{ .failure = .{ .status = received.status, .message = try redirectText(arena, call, received.location orelse "") } },
        else => readError(arena, call, received, body),
    };
}

/// Of an answer that began well and did not come whole, nobody knows more than what it can have taken at most.
fn readProblem(arena: Allocator, call: Call, received: Received) Allocator.Error!transport.Reply {
    const has_begun = received.status >= 200 and received.status < 300;
    const usage: transport.Usage = if (has_begun) .{ .input_tokens = @intCast(call.prompt.len), .output_tokens = call.model.max_tokens } else .{};
    if (received.problem == .dropped or received.problem == .aborted) return .{ .dropped = usage };
    return .{ .failure = .{
        .status = received.status,
        .message = try http_words.problemText(arena, url(call), received.problem),
        .is_explained = true,
        .again = if (received.problem == .timed_out) .always else .never,
        .usage = usage,
    } };
}

fn redirectText(arena: Allocator, call: Call, location: []const u8) Allocator.Error!?[]const u8 {
    if (location.len == 0) return null;
    const shown = std.unicode.fmtUtf8(try key_mask.withoutKey(arena, call.key, location));
    return try std.fmt.allocPrint(arena, "the provider redirects to {f}: set base_url to it", .{shown});
}

/// `body` is that which came, without the key.
fn readAnswer(arena: Allocator, call: Call, received: Received, body: []const u8) Allocator.Error!transport.Reply {
    if (!try isJson(arena, body)) return .{ .failure = .{
        .status = received.status,
        .message = try notJsonText(arena, call, body),
        .usage = .{ .input_tokens = @intCast(call.prompt.len), .output_tokens = @intCast(received.body.len) },
    } };
    var cursor: json.Cursor = .{ .text = body };
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
        const usage = parts.tokens(call.prompt.len, received.body.len);
        return .{ .failure = .{ .status = received.status, .message = try withoutText(arena, call, body), .usage = usage } };
    };
    const usage = parts.tokens(call.prompt.len, text.len);
    const bare = if (call.schema.way == .wrapped and parts.stop == .complete) unwrapped(arena, text) else text;
    return .{ .answer = .{ .text = try key_mask.withoutKey(arena, call.key, bare), .stop = parts.stop, .usage = usage } };
}

fn isJson(arena: Allocator, body: []const u8) Allocator.Error!bool {
    if (!std.unicode.utf8ValidateSlice(body)) return false;
    var cursor: json.Cursor = .{ .text = body };
    cursor.checkForm(arena) catch |failure| switch (failure) {
        error.OutOfMemory => |memory| return memory,
        error.Syntax => return false,
    };
    return true;
}

/// Some gateways say status 200, and then what went wrong.
fn withoutText(arena: Allocator, call: Call, body: []const u8) Allocator.Error![]const u8 {
    const told = "the provider's answer has no text";
    const parts = try readFailure(arena, body);
    const message = parts.message orelse return told;
    if (isBlank(message)) return told;
    return std.fmt.allocPrint(arena, "{s}: {s}", .{ told, try key_mask.withoutKey(arena, call.key, message) });
}

fn notJsonText(arena: Allocator, call: Call, body: []const u8) Allocator.Error![]const u8 {
    const beginning = try std.fmt.allocPrint(arena, "{f}", .{std.unicode.fmtUtf8(body[0..@min(body.len, 4 * shown_characters_max)])});
    const whole = try key_mask.withoutKey(arena, call.key, beginning);
    var end: usize = 0;
    for (0..shown_characters_max) |_| {
        if (end == whole.len) break;
        end += std.unicode.utf8ByteSequenceLength(whole[end]) catch unreachable;
    }
    if (isBlank(whole[0..end])) return "the provider's answer is empty";
    return std.fmt.allocPrint(arena, "the provider's answer is not JSON: {s}", .{whole[0..end]});
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
    const parts: Parts = if (try isJson(arena, body)) try readFailure(arena, body) else .{ .arena = arena, .cursor = undefined };
    return .{ .failure = .{
        .status = received.status,
        .message = if (parts.message) |message| try key_mask.withoutKey(arena, call.key, message) else null,
        .error_code = parts.error_code,
        .retry_after = received.retry_after,
    } };
}

/// Of a body whose form is checked.
fn readFailure(arena: Allocator, body: []const u8) Allocator.Error!Parts {
    var cursor: json.Cursor = .{ .text = body };
    var parts: Parts = .{ .arena = arena, .cursor = &cursor };
    parts.failure() catch |failure| switch (failure) {
        error.OutOfMemory => |memory| return memory,
        error.Syntax => unreachable,
    };
    return parts;
}

pub fn isBlank(text: []const u8) bool {
    return std.mem.trim(u8, text, blanks).len == 0;
}

/// What a program is told of a failure: the provider's own words, and what to do in front. The caller's.
pub fn failureText(allocator: Allocator, model: *const abi.Model, key: []const u8, base_url: []const u8, failure: transport.Failure) Allocator.Error!List {
    var text: List = .empty;
    try appendFailure(&text, allocator, model, base_url, failure);
    try key_mask.maskTold(&text, allocator, key);
    return text;
}

fn appendFailure(list: *List, allocator: Allocator, model: *const abi.Model, base_url: []const u8, failure: transport.Failure) Allocator.Error!void {
    const variable = keyVariable(model.provider);
    const name = model.name.slice();
    if (failure.is_explained) return list.appendSlice(allocator, failure.message.?);
    const given = failure.message orelse "";
    const message: ?[]const u8 = if (isBlank(given)) null else given;
    switch (failure.status) {
        401 => try list.print(allocator, "the key in {s} was refused", .{variable}),
        403 => try list.print(allocator, "the key in {s} may not use {s}", .{ variable, name }),
        404 => try list.print(allocator, "there is no model \"{s}\" at {s}", .{ name, std.mem.trimEnd(u8, base_url, "/") }),
        407 => try list.print(allocator, "the proxy wants a name and a password: set {s} to http://NAME:PASSWORD@HOST:PORT", .{proxyVariable(base_url)}),
        413 => try list.appendSlice(allocator, "the prompt is too large"),
        else => {
            if (message) |told| return list.appendSlice(allocator, told);
            return list.print(allocator, "HTTP {d}", .{failure.status});
        },
    }
    if (message) |told| try list.print(allocator, ": {s}", .{told});
}

fn proxyVariable(base_url: []const u8) []const u8 {
    return if (std.ascii.startsWithIgnoreCase(base_url, "http:")) "HTTP_PROXY" else "HTTPS_PROXY";
}
