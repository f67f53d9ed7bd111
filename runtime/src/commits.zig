//! A limited call that every rule let pass: its task waits until the records are durable.

const std = @import("std");
const abi = @import("abi.zig");
const audit = @import("audit.zig");
const host = @import("host.zig");
const journal = @import("journal.zig");
const ledger = @import("ledger.zig");
const memory = @import("memory.zig");
const scheduler = @import("scheduler.zig");
const string = @import("string.zig");
const assert = std.debug.assert;

var no_text: abi.String = .{ .count = 0, .length = 0 };
const recorded: abi.Answer = .{ .kind = .answered, .status = 0, .text = &no_text };

const Commit = struct {
    /// Null once it was cancelled.
    task: ?*scheduler.Task,
    out: *abi.Answer,
    agent: usize,
    limit: usize,
    /// What the task is told in its turn.
    answer: abi.Answer = recorded,
};

/// True when the call may run at once, since nothing has to be made durable.
pub fn commitCall(out: *abi.Answer, self: abi.Coroutine) bool {
    const check = ledger.ledger.check.?;
    const records = ledger.commit(0);
    if (!journal.journal.is_active or records.len == 0) {
        audit.recordCall(check.agent, check.limit.target.slice(), null);
        out.* = recorded;
        return true;
    }
    const task = scheduler.current();
    const made: *Commit = @ptrCast(@alignCast(memory.allocateRaw(@sizeOf(Commit))));
    made.* = .{ .task = task, .out = out, .agent = check.agent_number, .limit = check.limit_number };
    journal.submit(waiterOf(made), records);
    scheduler.suspendCurrent(task, self, callOff, made);
    task.turn_hook = turn;
    return false;
}

fn waiterOf(made: *Commit) journal.Waiter {
    return .{ .context = made, .finish = finish, .undo = undo, .again = again };
}

fn callOff(task: *scheduler.Task) void {
    const made: *Commit = @ptrCast(@alignCast(task.wait_context.?));
    assert(made.task == task);
    made.task = null;
    task.turn_hook = null;
    task.wait_context = null;
}

fn turn(task: *scheduler.Task) bool {
    const made: *Commit = @ptrCast(@alignCast(task.wait_context.?));
    if (task.cancelled) string.release(made.answer.text.?) else tell(made);
    task.turn_hook = null;
    task.wait_context = null;
    memory.freeRaw(made);
    return true;
}

fn tell(made: *const Commit) void {
    const agent = &host.program.?.agentSlice()[made.agent];
    const reason = if (made.answer.kind == .denied) made.answer.text.?.slice() else null;
    audit.recordCall(agent, agent.limitSlice()[made.limit].target.slice(), reason);
    made.out.* = made.answer;
}

fn finish(context: *anyopaque, verdict: journal.Verdict) void {
    const made: *Commit = @ptrCast(@alignCast(context));
    switch (verdict) {
        .recorded => {},
        .refused => |reason| made.answer = .{ .kind = .denied, .status = 0, .text = reason },
        .again => unreachable,
    }
    if (made.task) |task| return scheduler.wake(task);
    string.release(made.answer.text.?);
    memory.freeRaw(made);
}

fn undo(_: *anyopaque) void {}

fn again(context: *anyopaque, records: []const journal.Record) ?journal.Verdict {
    const made: *Commit = @ptrCast(@alignCast(context));
    switch (ledger.commitAgain(made.agent, made.limit, records)) {
        .refused => |reason| return .{ .refused = reason },
        .records => |found| {
            journal.submit(waiterOf(made), found);
            return null;
        },
    }
}
