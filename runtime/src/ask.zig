//! `ask`: one state machine for each ask. Every step of it happens in the turn of the task that asks: when a wait is
//! over (room under the limit, a reply, the wait before another send) the task goes to the end of the ready queue, and
//! `turn` takes the next step when it runs. The coroutine is resumed in the turn in which the ask ends.

const std = @import("std");
const abi = @import("abi.zig");
const admission = @import("admission.zig");
const allocator = @import("allocator.zig").runtime;
const audit = @import("audit.zig");
const dry_run = @import("dry_run.zig");
const gate = @import("gate.zig");
const host = @import("host.zig");
const http_transport = @import("http_transport.zig");
const journal = @import("journal.zig");
const json_check = @import("json_check.zig");
const ledger = @import("ledger.zig");
const memory = @import("memory.zig");
const obstacles = @import("obstacles.zig");
const provider = @import("provider.zig");
const retry = @import("retry.zig");
const scheduler = @import("scheduler.zig");
const scripted = @import("scripted.zig");
const show = @import("show.zig");
const string = @import("string.zig");
const text = @import("text.zig");
const transport = @import("transport.zig");
const assert = std.debug.assert;

const try_count_max = 3;
const dropped_message = "connection dropped";

/// About so many bytes of a prompt are one token.
/// Of asks outside agents.
const default_model: abi.Model = .{};

const Step = enum { at_the_limit, recording, dry_run, at_the_gate, sent, before_send, late };
const Progress = enum { waits, ended };

const Ask = struct {
    task: *scheduler.Task,
    audited: audit.Ask,
    model: *const abi.Model,
    expected: *const abi.Type,
    schema: *const abi.Schema,
    prompt: *abi.String,
    out: *abi.Answer,
    /// Null for an ask outside agents, or of an agent without `limit Ai`.
    entrant: ?admission.Entrant,
    step: Step = .at_the_limit,
    /// For `recording`: what became of it.
    verdict: journal.Verdict = .again,
    gate: *gate.Gate,
    /// For `at_the_gate`: since when.
    queued_ns: i64 = 0,
    place: gate.Place = .{ .granted = placeGranted },
    request: transport.Request = undefined,
    /// For `before_send` and `dry_run`.
    timer: scheduler.Timer = .{ .callback = timerFired },
    /// The model's time limit, from when the limit has let it through.
    time_limit: scheduler.Timer = .{ .callback = timeIsUp },
    is_late: bool = false,
    /// Of the failure with which it ends; as in `abi.Answer`.
    retry_after: i64 = 0,
    /// It ends while a request is under way, which may be billed.
    is_abandoned: bool = false,
    /// The prompt of a re-ask; empty in the first try.
    prompt_again: std.ArrayList(u8) = .empty,
    tries_made: u8 = 1,
    waits_made: u8 = 0,
    usage: transport.Usage = .{},
    /// Of these tokens, those with which it left its limit to enter it once more.
    settled_tokens: i64 = 0,
    /// The neighbours in the list of those that wait at the limit.
    previous: ?*Ask = null,
    next: ?*Ask = null,
    is_waiter: bool = false,
};

/// The asks that wait for another ask of their agent to end, in the order in which they began to.
const WaiterList = struct {
    first: ?*Ask = null,
    last: ?*Ask = null,

    fn append(list: *WaiterList, ask: *Ask) void {
        assert(!ask.is_waiter);
        ask.is_waiter = true;
        ask.previous = list.last;
        ask.next = null;
        if (list.last) |last| last.next = ask else list.first = ask;
        list.last = ask;
    }

    fn remove(list: *WaiterList, ask: *Ask) void {
        assert(ask.is_waiter);
        ask.is_waiter = false;
        if (ask.previous) |previous| previous.next = ask.next else list.first = ask.next;
        if (ask.next) |next| next.previous = ask.previous else list.last = ask.previous;
    }
};

const Client = struct {
    is_dry_run: bool = false,
    transport: *const transport.Transport = &scripted.scripted,
    /// Indexed by agent.
    waiters: []WaiterList = &.{},
    gates: gate.Gates = .{},
};
var client: Client = .{};

// ---- The part's beginning and end

pub export fn kv_model_part(moment: i32) callconv(.c) void {
    if (moment == abi.moment_start) return start();
    assert(moment == abi.moment_end);
    audit.stop();
    if (client.transport == &http_transport.http) http_transport.releaseTaken();
    scripted.unload();
    admission.stop();
    ledger.kv_ledger_part(abi.moment_end);
    memory.freeSlice(WaiterList, client.waiters);
    client.gates.deinit();
    client = .{};
}

fn start() void {
    client = .{ .is_dry_run = host.options.dry_run != 0 };
    if (host.options.test_model.optional()) |path| {
        scripted.load(path);
    } else if (!client.is_dry_run) {
        client.transport = &http_transport.http;
    }
    retry.reset();
    admission.start();
    audit.start();
    client.waiters = memory.allocateSlice(WaiterList, host.program.?.agentSlice().len);
    for (client.waiters) |*list| list.* = .{};
}

// ---- One ask

pub export fn kv_ask(agent: i64, expected: *const abi.Type, schema: *const abi.Schema, prompt: *abi.String, out: *abi.Answer, self: abi.Coroutine) callconv(.c) bool {
    const program_agent: ?*const abi.Agent = if (agent < 0) null else &host.program.?.agentSlice()[@intCast(agent)];
    const model = if (program_agent) |each| &each.model else &default_model;
    const audited: audit.Ask = .init(program_agent, model, prompt.slice());
    const prompt_length = provider.promptLength(schema, prompt.slice());
    if (obstacles.whyNotAsked(model, prompt_length, client.transport == &http_transport.http)) |answer| {
        audited.ended(answer, .{});
        out.* = answer;
        return true;
    }
    const has_limit = program_agent != null and program_agent.?.ai_limit >= 0;
    const ask: *Ask = @ptrCast(@alignCast(memory.allocateRaw(@sizeOf(Ask))));
    ask.* = .{
        .task = scheduler.current(),
        .audited = audited,
        .model = model,
        .gate = client.gates.of(model.provider, http_transport.baseUrl(model)),
        .expected = expected,
        .schema = schema,
        .prompt = string.retain(prompt),
        .out = out,
        .entrant = if (has_limit) .init(@intCast(agent), prompt_length, client.is_dry_run) else null,
    };
    if (enter(ask) == .ended) return true;
    scheduler.suspendCurrent(ask.task, self, callOff, ask);
    ask.task.turn_hook = turn;
    return false;
}

/// The next step, in the turn of the ask's task. True: the ask has ended, and the coroutine goes on.
fn turn(task: *scheduler.Task) bool {
    const ask: *Ask = @ptrCast(@alignCast(task.wait_context.?));
    assert(ask.task == task and !ask.is_waiter and !ask.timer.isSet());
    if (task.cancelled) {
        callOff(task);
        return true;
    }
    const progress = switch (ask.step) {
        .at_the_limit => enter(ask),
        .recording => takeVerdict(ask),
        .dry_run => answerDryRun(ask),
        .before_send => send(ask),
        .at_the_gate => startRequest(ask),
        .late => endLate(ask),
        .sent => takeReply(ask, client.transport.take(&ask.request)),
    };
    if (progress == .ended) {
        task.turn_hook = null;
        task.wait_context = null;
        return true;
    }
    scheduler.waitAgain(task, callOff);
    return false;
}

/// The task was cancelled, while it waited or after it was woken: whatever the ask waits for is called off.
fn callOff(task: *scheduler.Task) void {
    const ask: *Ask = @ptrCast(@alignCast(task.wait_context.?));
    callOffStep(ask);
    task.turn_hook = null;
    task.wait_context = null;
    ask.is_abandoned = true;
    ask.audited.cancelled(ask.usage);
    destroy(ask);
}

fn callOffStep(ask: *Ask) void {
    switch (ask.step) {
        .at_the_limit => if (ask.is_waiter) client.waiters[ask.entrant.?.agent].remove(ask),
        .recording => {
            // What was recorded stays, and what it reserved is settled as for any cancelled ask.
            journal.forget(ask);
            ask.is_abandoned = true;
            if (ask.verdict == .refused) string.release(ask.verdict.refused);
        },
        .dry_run, .before_send => scheduler.removeTimer(&ask.timer),
        .at_the_gate => ask.gate.leave(&ask.place),
        .sent => {
            client.transport.abandon(&ask.request);
            ask.gate.end(&ask.place, .other);
            ask.is_abandoned = true;
        },
        .late => {},
    }
}

fn timeIsUp(timer: *scheduler.Timer) void {
    const ask: *Ask = @fieldParentPtr("time_limit", timer);
    ask.is_late = true;
    // A task that was woken in this moment has its turn, which may end the ask.
    if (ask.task.state != .waiting) return;
    callOffStep(ask);
    ask.step = .late;
    scheduler.wake(ask.task);
}

fn endLate(ask: *Ask) Progress {
    var message: abi.Text = .{};
    defer text.drop(&message);
    text.append(&message, "no answer within ");
    show.duration(&message, ask.model.timeout_ns);
    return end(ask, .failed, 0, string.create(message.slice()));
}

/// Checks the limit from its first rule on, and sends when it lets the ask through.
fn enter(ask: *Ask) Progress {
    ask.step = .at_the_limit;
    if (ask.entrant) |*entrant| {
        var records: []const journal.Record = &.{};
        switch (entrant.enter(&records)) {
            .let_through => if (journal.journal.is_active and records.len > 0) {
                ask.step = .recording;
                ask.verdict = .again;
                journal.submit(waiterOf(ask), records);
                return .waits;
            },
            .wait => {
                ask.audited.limited(.waits, null);
                client.waiters[entrant.agent].append(ask);
                return .waits;
            },
            .denied => |reason| return deny(ask, reason),
        }
    }
    return go(ask);
}

/// The limit has let it through, and that is durable.
fn go(ask: *Ask) Progress {
    if (ask.entrant != null) ask.audited.limited(.allowed, null);
    if (!client.is_dry_run) {
        if (!ask.time_limit.isSet() and !ask.is_late) {
            scheduler.addTimer(&ask.time_limit, scheduler.nowMonotonic() +| ask.model.timeout_ns);
        }
        return send(ask);
    }
    ask.step = .dry_run;
    scheduler.addTimer(&ask.timer, scheduler.nowMonotonic());
    return .waits;
}

fn waiterOf(ask: *Ask) journal.Waiter {
    return .{ .context = ask, .finish = recordingEnded, .undo = undoEntering, .again = enterAgain };
}

fn recordingEnded(context: *anyopaque, verdict: journal.Verdict) void {
    const ask: *Ask = @ptrCast(@alignCast(context));
    assert(ask.step == .recording);
    ask.verdict = verdict;
    scheduler.wake(ask.task);
}

fn undoEntering(context: *anyopaque) void {
    const ask: *Ask = @ptrCast(@alignCast(context));
    ask.entrant.?.leaveUnrecorded();
    wakeWaiters(&client.waiters[ask.entrant.?.agent]);
}

fn enterAgain(context: *anyopaque, _: []const journal.Record) ?journal.Verdict {
    const ask: *Ask = @ptrCast(@alignCast(context));
    var records: []const journal.Record = &.{};
    switch (ask.entrant.?.enter(&records)) {
        .let_through => {
            journal.submit(waiterOf(ask), records);
            return null;
        },
        .wait => return .again,
        .denied => |reason| return .{ .refused = reason },
    }
}

fn takeVerdict(ask: *Ask) Progress {
    return switch (ask.verdict) {
        .recorded => go(ask),
        .again => enter(ask),
        .refused => |reason| deny(ask, reason),
    };
}

fn deny(ask: *Ask, reason: *abi.String) Progress {
    ask.audited.limited(.refused, reason.slice());
    return end(ask, .denied, 0, reason);
}

/// One request, from the gate on.
fn send(ask: *Ask) Progress {
    if (ask.is_late) return endLate(ask);
    if (ask.entrant) |*entrant| {
        const prompt_length = provider.promptLength(ask.schema, promptToSend(ask));
        const tokens = ask.usage.total() - ask.settled_tokens;
        if (entrant.exceeds(tokens, prompt_length)) {
            entrant.goFurther(tokens, prompt_length);
            ask.settled_tokens += tokens;
            return enter(ask);
        }
    }
    if (ask.gate.enter(&ask.place)) return startRequest(ask);
    ask.step = .at_the_gate;
    ask.queued_ns = scheduler.nowMonotonic();
    return .waits;
}

fn placeGranted(place: *gate.Place) void {
    const ask: *Ask = @fieldParentPtr("place", place);
    scheduler.wake(ask.task);
}

fn startRequest(ask: *Ask) Progress {
    if (ask.is_late) {
        ask.gate.leave(&ask.place);
        return endLate(ask);
    }
    if (ask.step == .at_the_gate) ask.audited.passedGate(scheduler.nowMonotonic() - ask.queued_ns);
    ask.audited.sends(ask.tries_made, ask.waits_made + 1);
    ask.gate.begin(&ask.place);
    ask.step = .sent;
    ask.request = .{
        .model = ask.model,
        .schema = ask.schema,
        .asked = ask.prompt.slice(),
        .prompt = promptToSend(ask),
        .completion = requestCompleted,
        .timer = undefined,
    };
    client.transport.start(&ask.request);
    return .waits;
}

fn promptToSend(ask: *const Ask) []const u8 {
    return if (ask.tries_made == 1) ask.prompt.slice() else ask.prompt_again.items;
}

fn requestCompleted(request: *transport.Request) void {
    const ask: *Ask = @fieldParentPtr("request", request);
    scheduler.wake(ask.task);
}

fn timerFired(timer: *scheduler.Timer) void {
    const ask: *Ask = @fieldParentPtr("timer", timer);
    scheduler.wake(ask.task);
}

fn takeReply(ask: *Ask, reply: transport.Reply) Progress {
    ask.gate.end(&ask.place, retry.ending(reply));
    switch (reply) {
        .answer => |answer| {
            ask.usage.add(answer.usage);
            ask.audited.answered(answer.usage);
            return switch (answer.stop) {
                .complete => takeAnswer(ask, answer.text),
                .refusal => end(ask, .failed, 200, refused(answer.text)),
                .cut_off => end(ask, .invalid_output, 0, string.create(answer.text)),
            };
        },
        .failure => |failure| {
            ask.usage.add(failure.usage);
            const message = failureText(ask, failure);
            ask.audited.failed(failure.status, message.slice());
            const retry_after_ns = retry.afterNs(failure.retry_after orelse "", scheduler.nowUtc());
            if (retry.isBusy(failure) and ask.waits_made < retry.wait_count_max) {
                string.release(message);
                return sendLater(ask, retry_after_ns);
            }
            if (retry_after_ns) |duration_ns| ask.retry_after = duration_ns +| 1;
            return end(ask, .failed, failure.status, message);
        },
        .dropped => |usage| {
            ask.usage.add(usage);
            ask.audited.failed(0, dropped_message);
            if (ask.waits_made < retry.wait_count_max) return sendLater(ask, null);
            return end(ask, .failed, 0, string.create(dropped_message));
        },
    }
}

fn failureText(ask: *const Ask, failure: transport.Failure) *abi.String {
    const key, const base_url = .{ http_transport.keyOf(ask.model), http_transport.baseUrl(ask.model) };
    var message = provider.failureText(allocator, ask.model, key, base_url, failure) catch unreachable;
    defer message.deinit(allocator);
    return string.create(message.items);
}

fn sendLater(ask: *Ask, retry_after_ns: ?i64) Progress {
    if (ask.is_late) return endLate(ask);
    const wait_ns = retry.waitNs(ask.waits_made, retry.nextRandom(), retry_after_ns orelse 0);
    ask.audited.waits(wait_ns);
    ask.waits_made += 1;
    ask.step = .before_send;
    scheduler.addTimer(&ask.timer, scheduler.nowMonotonic() +| wait_ns);
    return .waits;
}

fn takeAnswer(ask: *Ask, answer: []const u8) Progress {
    if (ask.expected.kind == .string) return end(ask, .answered, 0, string.create(answer));
    var note: std.ArrayList(u8) = .empty;
    defer note.deinit(allocator);
    const bare = json_check.withoutFence(answer);
    const is_fit = json_check.fits(allocator, ask.expected, bare, &note) catch unreachable;
    if (is_fit) return end(ask, .answered, 0, string.create(bare));
    if (ask.tries_made == try_count_max) return end(ask, .invalid_output, 0, string.create(answer));
    ask.tries_made += 1;
    ask.waits_made = 0;
    // About the last answer only, so that the prompt does not grow from try to try.
    ask.prompt_again.clearRetainingCapacity();
    const format = "{s}\n\nYour last answer did not fit: {s}. Answer again with the JSON value only.";
    ask.prompt_again.print(allocator, format, .{ ask.prompt.slice(), note.items }) catch unreachable;
    return send(ask);
}

fn answerDryRun(ask: *Ask) Progress {
    const sample = ask.schema.sample.optional() orelse {
        return end(ask, .failed, 0, string.create(ask.schema.problem.slice()));
    };
    dry_run.tell(ask.expected, ask.prompt.slice(), sample);
    return end(ask, .answered, 0, string.create(sample));
}

/// The text is the caller's from here on.
fn end(ask: *Ask, kind: abi.AnswerKind, status: i64, answer: *abi.String) Progress {
    ask.out.* = .{ .kind = kind, .status = status, .text = answer, .retry_after = ask.retry_after };
    ask.audited.ended(ask.out.*, ask.usage);
    destroy(ask);
    return .ended;
}

fn destroy(ask: *Ask) void {
    scheduler.removeTimer(&ask.time_limit);
    if (ask.entrant) |*entrant| {
        if (entrant.is_under_way) {
            entrant.leave(ask.usage.total() - ask.settled_tokens, ask.is_abandoned);
            wakeWaiters(&client.waiters[entrant.agent]);
        }
    }
    string.release(ask.prompt);
    ask.prompt_again.deinit(allocator);
    memory.freeRaw(ask);
}

fn wakeWaiters(list: *WaiterList) void {
    while (list.first) |waiter| {
        list.remove(waiter);
        scheduler.wake(waiter.task);
    }
}

fn refused(answer: []const u8) *abi.String {
    if (provider.isBlank(answer)) return string.create("refused");
    const message = std.mem.concat(allocator, u8, &.{ "refused: ", answer }) catch unreachable;
    defer allocator.free(message);
    return string.create(message);
}
