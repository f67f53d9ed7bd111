//! The audit log: one line for each step that an ask takes, each call of a capability and each request (spec 8.6, docs/audit-log.md). A line is
//! written before what it tells of happens; where that fails, the program stops.

const std = @import("std");
const linux = std.os.linux;
const abi = @import("abi.zig");
const allocator = @import("allocator.zig").runtime;
const host = @import("host.zig");
const json = @import("json.zig");
const memory = @import("memory.zig");
const native = @import("native.zig");
const scheduler = @import("scheduler.zig");
const state_problem = @import("state_problem.zig");
const storage = @import("storage.zig");
const text = @import("text.zig");
const transport = @import("transport.zig");
const Sha256 = std.crypto.hash.sha2.Sha256;

const Hex = [2 * Sha256.digest_length]u8;
const first: Hex = @splat('0');
const block_size = 1 << 16;

const Log = struct {
    descriptor: ?i32 = null,
    previous: Hex = first,
    /// A line of this run has been written.
    has_begun: bool = false,
    asks_begun: i64 = 0,
    calls_begun: i64 = 0,
    requests_begun: i64 = 0,
    line: std.ArrayList(u8) = .empty,
};
var log: Log = .{};

// ---- The file

/// Of a program that calls `Http`, or whose agents have capabilities, without limits.
pub export fn kv_audit_part(moment: i32) callconv(.c) void {
    if (moment == abi.moment_end) return stop();
    if (host.program.?.model_part == null) start();
}

/// Opens the log, if there is to be one; does nothing when that is done already.
pub fn start() void {
    if (log.descriptor != null) return;
    log = .{};
    const path = host.options.audit_log.optional() orelse return;
    open(path);
    if (startLine("start")) |line| {
        line.int("format", 1);
        line.boolean("dry_run", host.options.dry_run != 0);
        line.boolean("virtual_time", host.options.virtual_time != 0);
        line.end();
    }
}

/// The program has ended.
pub fn stop() void {
    const descriptor = log.descriptor orelse return;
    startLine("stop").?.end();
    _ = linux.close(descriptor);
    log.line.deinit(allocator);
    log = .{};
}

fn open(path: []const u8) void {
    var buffer: [native.path_length_max]u8 = undefined;
    const name = native.terminated(&buffer, path) orelse refuseFor("it cannot be opened", .NAMETOOLONG);
    const flags: linux.O = .{ .ACCMODE = .RDWR, .APPEND = true, .CREAT = true, .CLOEXEC = true, .NOCTTY = true, .NONBLOCK = true };
    const opened = linux.openat(linux.AT.FDCWD, name, flags, 0o666);
    switch (linux.errno(opened)) {
        .SUCCESS => {},
        .NOENT, .NOTDIR => refuse("its folder does not exist"),
        .ACCES, .PERM, .ROFS => refuse("it may not be written"),
        .ISDIR => refuse("it is a folder"),
        else => |problem| refuseFor("it cannot be opened", problem),
    }
    const descriptor: i32 = @intCast(opened);
    var status: storage.Status = undefined;
    if (storage.native.status(descriptor, "", &status) < 0) refuse("it cannot be read");
    if (!status.is_regular) refuse("it is no regular file");
    if (storage.native.lock(descriptor, false) < 0) refuse("another program writes to it");
    // Another program may have written until now.
    if (storage.native.status(descriptor, "", &status) < 0) refuse("it cannot be read");
    log.descriptor = descriptor;
    continueFrom(descriptor, status.size);
}

/// Goes on from the last line that was written to its end; what comes after that is cut.
fn continueFrom(descriptor: i32, size: u64) void {
    // So that no large file of another kind is read for its last line.
    var head: [line_start.len]u8 = undefined;
    const known = read(descriptor, 0, &head);
    if (!std.mem.startsWith(u8, line_start, known)) refuse("it is no audit log");
    var tail: []u8 = &.{};
    defer memory.freeSlice(u8, tail);
    var from = size;
    while (from > 0 and std.mem.count(u8, tail, "\n") < 2) {
        from -|= block_size + tail.len;
        memory.freeSlice(u8, tail);
        tail = memory.allocateSlice(u8, @intCast(size - from));
        if (read(descriptor, from, tail).len < tail.len) refuse("it cannot be read");
    }
    const line_break = std.mem.findScalarLast(u8, tail, '\n');
    const whole = tail[0 .. line_break orelse 0];
    const torn = if (line_break) |at| tail[at + 1 ..] else tail;
    const last = if (std.mem.findScalarLast(u8, whole, '\n')) |at| whole[at + 1 ..] else whole;
    if (line_break != null and !isLine(last)) refuse("it is no audit log");
    if (torn.len > 0) {
        if (storage.native.truncate(descriptor, size - torn.len) < 0) refuse("it may not be written");
        tellCut(torn.len);
    }
    if (line_break != null) log.previous = digest(last);
}

/// What there is from here on.
fn read(descriptor: i32, from: u64, bytes: []u8) []const u8 {
    const result = storage.native.read(descriptor, from, bytes);
    if (result < 0) refuseFor("it cannot be read", @fromBackingInt(@intCast(-result)));
    return bytes[0..@intCast(result)];
}

const line_start = "{\"previous\":\"";

/// `{"previous":"HASH","time":NUMBER,"event":"NAME"…}`
fn isLine(line: []const u8) bool {
    var rest = after(line, line_start) orelse return false;
    if (rest.len < first.len) return false;
    for (rest[0..first.len]) |digit| {
        if (!std.ascii.isDigit(digit) and (digit < 'a' or digit > 'f')) return false;
    }
    rest = after(rest[first.len..], "\",\"time\":") orelse return false;
    rest = after(rest, "-") orelse rest;
    const number_end = std.mem.findNone(u8, rest, "0123456789") orelse return false;
    rest = after(rest[number_end..], ",\"event\":\"") orelse return false;
    const name_end = std.mem.findScalar(u8, rest, '"') orelse return false;
    for (rest[0..name_end]) |letter| {
        if (!std.ascii.isLower(letter)) return false;
    }
    return number_end > 0 and name_end > 0 and std.mem.endsWith(u8, rest, "}");
}

fn after(line: []const u8, start_text: []const u8) ?[]const u8 {
    return if (std.mem.startsWith(u8, line, start_text)) line[start_text.len..] else null;
}

fn digest(bytes: []const u8) Hex {
    var hash: [Sha256.digest_length]u8 = undefined;
    Sha256.hash(bytes, &hash, .{});
    return std.fmt.bytesToHex(hash, .lower);
}

fn refuse(why: []const u8) noreturn {
    tell(&.{ "error: audit log ", host.options.audit_log.slice(), " cannot be used: ", why, "\n" });
    host.exit(2);
}

fn refuseFor(why: []const u8, problem: linux.E) noreturn {
    var reason: abi.Text = .{};
    text.append(&reason, why);
    text.append(&reason, ": ");
    state_problem.appendReasonOfSystem(&reason, problem);
    refuse(reason.slice());
}

/// A line cannot be written; the first one before the program begins.
fn stopProgram(problem: linux.E) noreturn {
    var reason: abi.Text = .{};
    state_problem.appendReasonOfSystem(&reason, problem);
    const help = switch (problem) {
        .NOSPC, .DQUOT => "make room on its disk, then start the program again",
        .FBIG => "allow larger files (`ulimit -f`), or name another one, then start the program again",
        else => "let this program write the file, and see whether its disk is in order",
    };
    const path = host.options.audit_log.slice();
    tell(&.{ "error: audit log ", path, " cannot be written: ", reason.slice(), "\n  help: ", help, "\n" });
    host.exit(if (log.has_begun) 1 else 2);
}

fn tellCut(count: usize) void {
    var buffer: [20]u8 = undefined;
    const number = std.fmt.bufPrint(&buffer, "{d}", .{count}) catch unreachable;
    const path = host.options.audit_log.slice();
    tell(&.{ "note: audit log ", path, " ended in a line that was not written to its end: its last ", number, " bytes are cut\n" });
}

fn tell(parts: []const []const u8) void {
    var line: abi.Text = .{};
    defer text.drop(&line);
    for (parts) |part| text.append(&line, part);
    host.writeStderr(line.slice());
}

// ---- Lines

/// A line that tells of the event; null when no log is kept.
fn startLine(event: []const u8) ?Line {
    if (log.descriptor == null) return null;
    log.line.clearRetainingCapacity();
    const format = "{{\"previous\":\"{s}\",\"time\":{d},\"event\":\"{s}\"";
    log.line.print(allocator, format, .{ &log.previous, scheduler.nowUtc(), event }) catch unreachable;
    return .{};
}

const Line = struct {
    fn int(_: Line, name: []const u8, number: i64) void {
        log.line.print(allocator, ",\"{s}\":{d}", .{ name, number }) catch unreachable;
    }

    fn boolean(_: Line, name: []const u8, is_so: bool) void {
        log.line.print(allocator, ",\"{s}\":{}", .{ name, is_so }) catch unreachable;
    }

    /// Null where there is no text.
    fn string(_: Line, name: []const u8, content: ?[]const u8) void {
        log.line.print(allocator, ",\"{s}\":", .{name}) catch unreachable;
        const given = content orelse return log.line.appendSlice(allocator, "null") catch unreachable;
        json.appendString(&log.line, allocator, given) catch unreachable;
    }

    fn usage(line: Line, tokens: transport.Usage) void {
        line.int("input_tokens", tokens.input_tokens);
        line.int("output_tokens", tokens.output_tokens);
    }

    /// Writes it.
    fn end(_: Line) void {
        log.line.append(allocator, '}') catch unreachable;
        const hash = digest(log.line.items);
        log.line.append(allocator, '\n') catch unreachable;
        const problem = native.writeWhole(log.descriptor.?, log.line.items);
        if (problem != .SUCCESS) stopProgram(problem);
        log.has_begun = true;
        log.previous = hash;
    }
};

// ---- What an ask does

pub const Ask = struct {
    number: i64,
    /// Null outside agents.
    agent: ?*const abi.Agent,
    model: *const abi.Model,

    /// A new ask: they are counted from 1.
    pub fn init(agent: ?*const abi.Agent, model: *const abi.Model, prompt: []const u8) Ask {
        log.asks_begun += 1;
        const ask: Ask = .{ .number = log.asks_begun, .agent = agent, .model = model };
        const line = ask.begin("ask") orelse return ask;
        line.string("agent", if (agent) |each| each.name.slice() else null);
        line.string("model", model.name.slice());
        line.string("prompt_sha256", &digest(prompt));
        line.int("prompt_bytes", @intCast(prompt.len));
        if (host.options.audit_prompts != 0) line.string("prompt", prompt);
        line.end();
        return ask;
    }

    fn begin(ask: Ask, event: []const u8) ?Line {
        const line = startLine(event) orelse return null;
        line.int("ask", ask.number);
        return line;
    }

    /// `reason` is why it is refused.
    pub fn limited(ask: Ask, decision: enum { allowed, waits, refused }, reason: ?[]const u8) void {
        const line = ask.begin("limit") orelse return;
        line.string("agent", ask.agent.?.name.slice());
        line.string("decision", @tagName(decision));
        line.string("reason", reason);
        line.end();
    }

    pub fn passedGate(ask: Ask, waited_ns: i64) void {
        const line = ask.begin("gate") orelse return;
        line.int("waited", waited_ns);
        line.end();
    }

    pub fn sends(ask: Ask, try_number: i64, send_number: i64) void {
        const line = ask.begin("send") orelse return;
        line.int("try", try_number);
        line.int("send", send_number);
        line.end();
    }

    pub fn answered(ask: Ask, usage: transport.Usage) void {
        const line = ask.begin("answer") orelse return;
        line.string("model", ask.model.name.slice());
        line.usage(usage);
        line.end();
    }

    pub fn failed(ask: Ask, status: i64, message: []const u8) void {
        const line = ask.begin("failure") orelse return;
        line.int("status", status);
        line.string("message", message);
        line.end();
    }

    pub fn waits(ask: Ask, wait_ns: i64) void {
        const line = ask.begin("retry") orelse return;
        line.int("wait", wait_ns);
        line.end();
    }

    /// What the model wrote is in no line: neither an answer, nor why it refuses one.
    pub fn ended(ask: Ask, answer: abi.Answer, usage: transport.Usage) void {
        const says = switch (answer.kind) {
            .answered, .invalid_output => false,
            .failed => answer.status != 200,
            .no_key, .denied => true,
        };
        ask.end(switch (answer.kind) {
            .answered => "Answered",
            .no_key => "NoKey",
            .failed => "Failed",
            .invalid_output => "InvalidOutput",
            .denied => "Denied",
        }, answer.status, if (says) answer.text.?.slice() else null, usage);
    }

    pub fn cancelled(ask: Ask, usage: transport.Usage) void {
        ask.end("Cancelled", 0, null, usage);
    }

    fn end(ask: Ask, result: []const u8, status: i64, message: ?[]const u8, usage: transport.Usage) void {
        const line = ask.begin("end") orelse return;
        line.string("result", result);
        line.int("status", status);
        line.string("message", message);
        line.usage(usage);
        line.end();
    }
};

// ---- Calls of capabilities

pub export fn kv_audit_call(agent: i64, target: *const abi.String) callconv(.c) void {
    record(&host.program.?.agentSlice()[@intCast(agent)], target.slice(), "unlimited", null);
}

/// What became of a call that a limit applies to; `reason` is why it is refused.
pub fn recordCall(agent: *const abi.Agent, target: []const u8, reason: ?[]const u8) void {
    record(agent, target, if (reason == null) "allowed" else "refused", reason);
}

fn record(agent: *const abi.Agent, target: []const u8, decision: []const u8, reason: ?[]const u8) void {
    const line = startLine("call") orelse return;
    log.calls_begun += 1;
    line.int("call", log.calls_begun);
    line.string("agent", agent.name.slice());
    line.string("target", target);
    line.string("decision", decision);
    line.string("reason", reason);
    line.end();
}

/// A rule that a call breaks, in Observe mode.
pub fn recordBroken(agent: *const abi.Agent, target: []const u8, rule: []const u8) void {
    const line = startLine("observed") orelse return;
    line.string("agent", agent.name.slice());
    line.string("target", target);
    line.string("rule", rule);
    line.end();
}

// ---- Requests of `Http`

pub const Request = struct {
    number: i64,

    /// A new request, on behalf of an agent (null: outside agents): they are counted from 1.
    pub fn init(agent: ?*const abi.Agent, method: []const u8, server: []const u8) Request {
        log.requests_begun += 1;
        const request: Request = .{ .number = log.requests_begun };
        const line = startLine("request") orelse return request;
        line.int("request", request.number);
        line.string("agent", if (agent) |each| each.name.slice() else null);
        line.string("method", method);
        line.string("host", server);
        line.end();
        return request;
    }

    pub fn ended(request: Request, result: []const u8, status: i64, message: ?[]const u8) void {
        const line = startLine("response") orelse return;
        line.int("request", request.number);
        line.string("result", result);
        line.int("status", status);
        line.string("message", message);
        line.end();
    }
};

const testing = std.testing;

test "what is a line" {
    const good = "{\"previous\":\"" ++ first ++ "\",\"time\":-5,\"event\":\"stop\"}";
    try testing.expect(isLine(good));
    for ([_][]const u8{
        "",                                                                "{\"previous\":\"00\",\"time\":5,\"event\":\"stop\"}",
        "{\"previous\":\"" ++ first ++ "\",\"time\":,\"event\":\"stop\"}", good[0 .. good.len - 1],
        "{\"previous\":\"" ++ first ++ "\",\"time\":5,\"event\":\"\"}",
    }) |bad| try testing.expect(!isLine(bad));
}
