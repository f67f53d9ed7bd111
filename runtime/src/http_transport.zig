//! Model requests over HTTP: the host carries them.

const std = @import("std");
const abi = @import("abi.zig");
const allocator = @import("allocator.zig").runtime;
const exchanges = @import("exchange.zig");
const host = @import("host.zig");
const http_words = @import("http_words.zig");
const memory = @import("memory.zig");
const provider = @import("provider.zig");
const transport = @import("transport.zig");
const Url = @import("http/url.zig").Url;
const assert = std.debug.assert;

pub const http: transport.Transport = .{ .start = start, .take = take, .abandon = abandon };

/// A request under way, or one that has ended and is not taken yet.
const Sending = struct {
    exchange: exchanges.Exchange,
    /// Null: nobody waits for it.
    request: ?*transport.Request,
    call: provider.Call,
    /// What is sent, and then the reply.
    arena: std.heap.ArenaAllocator,
    has_ended: bool = false,
};

/// What was taken last: its reply is being read.
var taken: ?*Sending = null;

/// Why no request can be sent, whoever answers it; null when one can. Freed by the caller.
pub fn obstacle(model: *const abi.Model) ?[]const u8 {
    const key = keyOf(model);
    const format = "the key in {s} has characters that no key has";
    if (!provider.isKey(key)) return std.fmt.allocPrint(allocator, format, .{provider.keyVariable(model.provider)}) catch unreachable;
    const base_url = baseUrl(model);
    const fault = if (Url.parse(base_url)) |_| return null else |found| found;
    var text = provider.faultText(allocator, key, base_url, fault) catch unreachable;
    return text.toOwnedSlice(allocator) catch unreachable;
}

/// Empty where there is none.
pub fn keyOf(model: *const abi.Model) []const u8 {
    return provider.keyIn(host.environment(provider.keyVariable(model.provider)) orelse "");
}

pub fn baseUrl(model: *const abi.Model) []const u8 {
    if (model.base_url.optional()) |url| return url;
    const url = host.environment(provider.baseUrlVariable(model.provider)) orelse "";
    return if (url.len > 0) url else provider.officialUrl(model.provider);
}

fn start(request: *transport.Request) void {
    const sending: *Sending = @ptrCast(@alignCast(memory.allocateRaw(@sizeOf(Sending))));
    sending.* = .{
        .exchange = undefined,
        .request = request,
        .call = .{
            .model = request.model,
            .schema = request.schema,
            .prompt = request.prompt,
            .key = keyOf(request.model),
            .base_url = baseUrl(request.model),
        },
        .arena = .init(allocator),
    };
    sending.exchange = .{
        .public = compose(sending) catch unreachable, // The allocator never fails.
        .completion = completed,
        .destroy = destroyEnded,
        .context = sending,
    };
    request.carried = sending;
    exchanges.send(&sending.exchange);
}

fn compose(sending: *Sending) std.mem.Allocator.Error!abi.Exchange {
    const arena = sending.arena.allocator();
    var url: std.ArrayList(u8) = .empty;
    try provider.appendUrl(&url, arena, sending.call);
    var body: std.ArrayList(u8) = .empty;
    try body.ensureTotalCapacity(arena, sending.call.prompt.len + sending.call.schema.text.slice().len + 512);
    try provider.appendBody(&body, arena, sending.call);
    const headers = try provider.headers(arena, sending.call);
    return .{
        .method = .init("POST"),
        .url = .init(url.items),
        .headers = headers.ptr,
        .header_count = @intCast(headers.len),
        .body = .init(body.items),
        .connect_limit_ns = http_words.connect_limit_ns,
        .limit_ns = sending.call.model.timeout_ns +| http_words.limit_margin_ns,
        .body_bytes_max = http_words.body_bytes_max,
    };
}

fn completed(exchange: *exchanges.Exchange) void {
    const sending: *Sending = @ptrCast(@alignCast(exchange.context));
    sending.has_ended = true;
    sending.request.?.completion(sending.request.?);
}

fn take(request: *transport.Request) transport.Reply {
    const sending: *Sending = @ptrCast(@alignCast(request.carried.?));
    assert(sending.has_ended);
    releaseTaken();
    taken = sending;
    const exchange = &sending.exchange;
    return provider.read(sending.arena.allocator(), sending.call, .{
        .status = exchange.status,
        .problem = exchange.problem,
        .body = exchange.body.items,
        .retry_after = exchange.header("retry-after"),
        .location = exchange.header("location"),
    }) catch unreachable; // The allocator never fails.
}

fn abandon(request: *transport.Request) void {
    const sending: *Sending = @ptrCast(@alignCast(request.carried.?));
    sending.request = null;
    if (sending.has_ended) destroy(sending) else sending.exchange.abandon();
}

fn destroyEnded(exchange: *exchanges.Exchange) void {
    destroy(@ptrCast(@alignCast(exchange.context)));
}

/// What was taken last is not looked at any more.
pub fn releaseTaken() void {
    if (taken) |sending| destroy(sending);
    taken = null;
}

fn destroy(sending: *Sending) void {
    sending.exchange.deinit();
    sending.arena.deinit();
    memory.freeRaw(sending);
}
