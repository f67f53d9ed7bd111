//! `Http` (spec 10.http): one export for each row of `compiler/kavachc/ir/library.py`. As an ask does, a call takes its
//! steps in its task's turn.

const std = @import("std");
const abi = @import("abi.zig");
const allocator = @import("allocator.zig").runtime;
const audit = @import("audit.zig");
const exchanges = @import("exchange.zig");
const host = @import("host.zig");
const memory = @import("memory.zig");
const scheduler = @import("scheduler.zig");
const show = @import("show.zig");
const string = @import("string.zig");
const textual = @import("text.zig");
const web = @import("web.zig");
const Url = @import("http/url.zig").Url;
const assert = std.debug.assert;

/// A request under way, or a dry run of one.
const Call = struct {
    /// Null: nobody waits for it.
    task: ?*scheduler.Task,
    out: *web.Result,
    /// The time limit; of a dry run, its end.
    timer: scheduler.Timer,
    is_dry_run: bool = false,
    is_late: bool = false,
    has_ended: bool = false,
    timeout_ns: i64,
    audited: audit.Request = undefined,
    /// What is sent, and what is shown of a dry run.
    arena: std.heap.ArenaAllocator,
    shown: []const u8 = "",
    exchange: exchanges.Exchange = undefined,
};

export fn kv_lib_http_get(agent: i64, url: *const abi.String, headers: *abi.Map, timeout_ns: i64, out: *web.Result, self: abi.Coroutine) callconv(.c) bool {
    return begin(agent, .{ .url = url.slice(), .body = null, .headers = headers, .timeout_ns = timeout_ns }, out, self);
}

export fn kv_lib_http_post(agent: i64, url: *const abi.String, body: *const abi.String, headers: *abi.Map, timeout_ns: i64, out: *web.Result, self: abi.Coroutine) callconv(.c) bool {
    return begin(agent, .{ .url = url.slice(), .body = body.slice(), .headers = headers, .timeout_ns = timeout_ns }, out, self);
}

/// True: it has ended.
fn begin(agent: i64, request: web.Request, out: *web.Result, self: abi.Coroutine) bool {
    if (web.obstacle(request)) |reason| {
        var text = reason;
        defer textual.drop(&text);
        out.* = .init(.bad_request, 0, text.slice());
        return true;
    }
    const is_dry_run = host.options.dry_run != 0;
    if (!is_dry_run and host.options.virtual_time != 0) refuse(request);
    const call: *Call = @ptrCast(@alignCast(memory.allocateRaw(@sizeOf(Call))));
    call.* = .{
        .task = scheduler.current(),
        .out = out,
        .timer = .{ .callback = timerFired },
        .is_dry_run = is_dry_run,
        .timeout_ns = @max(0, request.timeout_ns),
        .arena = .init(allocator),
    };
    const server = web.serverOf(call.arena.allocator(), request) catch unreachable; // The allocator never fails.
    call.audited = .init(if (agent < 0) null else &host.program.?.agentSlice()[@intCast(agent)], request.method(), server);
    const task = call.task.?;
    scheduler.suspendCurrent(task, self, callOff, call);
    task.turn_hook = turn;
    if (is_dry_run) call.shown = shownIn(call.arena.allocator(), request) else send(call, request);
    scheduler.addTimer(&call.timer, scheduler.nowMonotonic() +| if (is_dry_run) 0 else call.timeout_ns);
    return false;
}

fn refuse(request: web.Request) noreturn {
    var line: abi.Text = .{};
    textual.append(&line, "error: nothing is sent under virtual time: ");
    request.show(&line);
    textual.append(&line, " needs --dry-run\n");
    host.writeStderr(line.slice());
    host.exit(1);
}

fn shownIn(arena: std.mem.Allocator, request: web.Request) []const u8 {
    var line: abi.Text = .{};
    defer textual.drop(&line);
    request.show(&line);
    return arena.dupe(u8, line.slice()) catch unreachable; // The allocator never fails.
}

fn send(call: *Call, request: web.Request) void {
    call.exchange = .{
        .public = web.compose(call.arena.allocator(), request) catch unreachable, // The allocator never fails.
        .completion = completed,
        .destroy = destroyEnded,
        .context = call,
    };
    exchanges.send(&call.exchange);
}

fn completed(exchange: *exchanges.Exchange) void {
    const call: *Call = @ptrCast(@alignCast(exchange.context));
    call.has_ended = true;
    if (call.task.?.state == .waiting) scheduler.wake(call.task.?);
}

fn timerFired(timer: *scheduler.Timer) void {
    const call: *Call = @fieldParentPtr("timer", timer);
    // A task that was woken in this moment has its answer.
    if (call.task.?.state != .waiting) return;
    call.is_late = !call.is_dry_run;
    scheduler.wake(call.task.?);
}

/// In the turn of the call's task, whose wait is over.
fn turn(task: *scheduler.Task) bool {
    const call: *Call = @ptrCast(@alignCast(task.wait_context.?));
    assert(call.task == task);
    if (task.cancelled) {
        callOff(task);
        return true;
    }
    const result = if (call.is_dry_run) madeUp(call) else if (call.is_late) tooLate(call) else answered(call);
    call.audited.ended(result.name(), result.status, result.reason());
    call.out.* = result;
    leave(call, task);
    return true;
}

fn callOff(task: *scheduler.Task) void {
    const call: *Call = @ptrCast(@alignCast(task.wait_context.?));
    call.audited.ended("Cancelled", 0, null);
    leave(call, task);
}

/// Nobody waits any more.
fn leave(call: *Call, task: *scheduler.Task) void {
    task.turn_hook = null;
    task.wait_context = null;
    call.task = null;
    scheduler.removeTimer(&call.timer);
    if (call.is_dry_run or call.has_ended) destroy(call) else call.exchange.abandon();
}

fn madeUp(call: *Call) web.Result {
    const body = "text";
    var line: abi.Text = .{};
    defer textual.drop(&line);
    textual.append(&line, "[dry run] ");
    textual.append(&line, call.shown);
    textual.append(&line, " -> HttpAnswer(status: 200, headers: [:], body: ");
    show.quoted(&line, body);
    textual.append(&line, ")\n");
    host.writeStderr(line.slice());
    return .init(.answered, 200, body);
}

fn tooLate(call: *Call) web.Result {
    var message: abi.Text = .{};
    defer textual.drop(&message);
    textual.append(&message, "no answer within ");
    show.duration(&message, call.timeout_ns);
    return .init(.no_answer, 0, message.slice());
}

fn answered(call: *Call) web.Result {
    assert(call.has_ended);
    const url = Url.parseWithQuery(call.exchange.public.url.slice()) catch unreachable;
    return web.resultOf(call.arena.allocator(), url, &call.exchange) catch unreachable; // The allocator never fails.
}

fn destroyEnded(exchange: *exchanges.Exchange) void {
    destroy(@ptrCast(@alignCast(exchange.context)));
}

fn destroy(call: *Call) void {
    if (!call.is_dry_run) call.exchange.deinit();
    call.arena.deinit();
    memory.freeRaw(call);
}
