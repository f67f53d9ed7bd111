//! Tasks: one thread, first in first out, in rounds (docs/spec.md chapter 7).
//!
//! A task is the chain of coroutines from its first to `top`. The trampoline resumes `top`; the coroutine then says what
//! happened: it called another (`kv_call`), returned to its parent (`kv_return`), or began a wait (`suspendCurrent`).
//!
//! No task can wait for itself through others: a task only ever learns of tasks that come before it in the post-order of
//! the tree of spawns (its own descendants, and what its ancestors had spawned before it), also through results. So waits
//! lead strictly down that order. `idle` asserts it: with tasks alive there is always one ready, a timer, or work outside.

const std = @import("std");
const abi = @import("abi.zig");
const host = @import("host.zig");
const memory = @import("memory.zig");
const panic = @import("panic.zig");
const timers = @import("timers.zig");
const trace = @import("trace.zig");
const value = @import("value.zig");

const assert = std.debug.assert;

pub const Timer = timers.Timer;

pub const State = enum(u8) { created, ready, running, waiting, ended };

/// Called when a waiting task is cancelled: it calls off what the task waits for. The scheduler wakes the task afterwards.
pub const CancelHook = *const fn (task: *Task) void;

/// Runs in the task's turn, before its coroutine is resumed. False: it began another wait with `waitAgain`, and the
/// coroutine stays where it is. So a wait of several steps (an ask) does each of them in its task's turn.
pub const TurnHook = *const fn (task: *Task) bool;

pub const Task = extern struct {
    count: i64,
    result: *const abi.Type,
    /// The coroutine to resume next; null once the first one has returned.
    top: abi.Coroutine = null,
    cancel_hook: ?CancelHook = null,
    turn_hook: ?TurnHook = null,
    /// For the wait's owner: what `cancel_hook` and `turn_hook` need to know.
    wait_context: ?*anyopaque = null,
    /// The neighbours in the one list that the task can be in: the waiters of another task while it waits for it, or
    /// the failures that nobody has seen once it has ended.
    previous: ?*Task = null,
    next: ?*Task = null,
    /// The first and, as its `previous`, the last task that waits for this one.
    waiters: TaskList = .{},
    state: State = .created,
    cancelled: bool = false,
    /// Somebody waited for it: its error is theirs, and not reported at the end.
    seen: bool = false,
    // The outcome follows: a kv_outcome and the value.

    const outcome_offset = @sizeOf(Task);

    pub fn outcome(task: *Task) *abi.Outcome {
        const base: [*]u8 = @ptrCast(task);
        return @ptrCast(@alignCast(base + outcome_offset));
    }
};

/// In the order of joining. The first task's `previous` is the last, so that a list is one pointer.
const TaskList = extern struct {
    first: ?*Task = null,

    fn append(list: *TaskList, task: *Task) void {
        assert(task.previous == null and task.next == null);
        if (list.first) |first| {
            const last = first.previous.?;
            last.next = task;
            task.previous = last;
            first.previous = task;
        } else {
            list.first = task;
            task.previous = task;
        }
    }

    fn remove(list: *TaskList, task: *Task) void {
        const first = list.first.?;
        const previous = task.previous.?;
        if (task.next) |next| next.previous = previous else first.previous = previous;
        if (task == first) list.first = task.next else previous.next = task.next;
        task.previous = null;
        task.next = null;
    }
};

const Step = enum { none, goes_on, waits };

const Scheduler = struct {
    ready: Ring = .{},
    heap: timers.Heap = .{},
    running: ?*Task = null,
    step: Step = .none,
    tasks_alive: usize = 0,
    unseen_failures: TaskList = .{},
    virtual_now_ns: i64 = 0,
};
var state: Scheduler = .{};

/// 2026-01-01T00:00:00Z, where virtual time starts.
const virtual_utc_start_ns: i64 = 1_767_225_600 * std.time.ns_per_s;

// ---- For requests: work outside the scheduler

/// Requests that other threads work on. While there are any, `external_wait` is asked for completions.
pub var external_work_count: usize = 0;
/// Takes in completions (waking their tasks) and, when there are none, blocks for one until `timeout_ns` has passed
/// (0: does not block; null: without end).
pub var external_wait: ?*const fn (timeout_ns: ?i64) void = null;
/// Called when the run is over.
pub var external_stop: ?*const fn () void = null;

/// Called when every task that was ready has had its turn. The journal sets it, when there is a state file.
pub var round_end: ?*const fn () void = null;

fn endRound() void {
    // Volatile as below: a program without limits must not link the ledger.
    const hook: *volatile ?*const fn () void = &round_end;
    if (hook.*) |call| call();
}

pub fn stopExternal() void {
    // Volatile as below: a program that sends nothing must not link what does.
    const stop: *volatile ?*const fn () void = &external_stop;
    if (stop.*) |call| call();
}

fn waitForExternal(timeout_ns: ?i64) void {
    // Volatile for the reason that report.zig gives: a program that never asks must not link the model client.
    const wait: *volatile ?*const fn (timeout_ns: ?i64) void = &external_wait;
    wait.*.?(timeout_ns);
}

// ---- The interface for waits

/// The task whose code runs.
pub fn current() *Task {
    return state.running.?;
}

/// The running task begins a wait: `coroutine` is resumed after `wake(task)`. The caller's entry answers false.
pub fn suspendCurrent(task: *Task, coroutine: abi.Coroutine, cancel_hook: CancelHook, wait_context: ?*anyopaque) void {
    assert(task == state.running.? and task.state == .running);
    assert(state.step == .none);
    task.top = coroutine;
    task.state = .waiting;
    task.cancel_hook = cancel_hook;
    task.wait_context = wait_context;
    state.step = .waits;
}

/// For a `turn_hook`: the running task waits again, without having been resumed.
pub fn waitAgain(task: *Task, cancel_hook: CancelHook) void {
    assert(task == state.running.? and task.state == .running);
    assert(task.turn_hook != null and state.step == .none);
    task.state = .waiting;
    task.cancel_hook = cancel_hook;
}

/// The wait is over: to the end of the ready queue.
pub fn wake(task: *Task) void {
    assert(task.state == .waiting);
    task.cancel_hook = null;
    if (task.turn_hook == null) task.wait_context = null;
    task.state = .ready;
    state.ready.push(task);
}

pub fn cancel(task: *Task) void {
    if (task.state == .ended or task.cancelled) return;
    assert(task.state != .created);
    task.cancelled = true;
    if (task.state != .waiting) return; // Ready: it keeps its place.
    task.cancel_hook.?(task);
    wake(task);
}

/// Fires once, at `deadline_ns` of the monotonic clock or soon after; a moment in the past means now.
pub fn addTimer(timer: *Timer, deadline_ns: i64) void {
    state.heap.add(timer, @max(deadline_ns, nowMonotonic()));
}

/// Takes back a timer that has not fired; one that is not set is left alone.
pub fn removeTimer(timer: *Timer) void {
    state.heap.remove(timer);
}

pub fn nowMonotonic() i64 {
    return if (host.options.virtual_time != 0) state.virtual_now_ns else host.monotonic();
}

pub fn nowUtc() i64 {
    return if (host.options.virtual_time != 0) virtual_utc_start_ns +| state.virtual_now_ns else host.utc();
}

// ---- The run

/// Forgets everything of an earlier run.
pub fn reset() void {
    state.ready.deinit();
    state.heap.deinit();
    state = .{};
    external_work_count = 0;
    external_wait = null;
    external_stop = null;
    round_end = null;
}

/// Runs until every task has ended.
pub fn runAll() void {
    while (state.tasks_alive > 0) {
        if (state.ready.length == 0) idle();
        var remaining = state.ready.length;
        while (remaining > 0) : (remaining -= 1) runTask(state.ready.pop());
        endRound();
        if (external_work_count > 0) waitForExternal(0);
        if (!state.heap.isEmpty()) state.heap.fireDue(nowMonotonic());
    }
    assert(state.ready.length == 0);
}

/// No task is ready: time passes until the next timer, or until work outside completes.
fn idle() void {
    const deadline_ns = state.heap.nextDeadline();
    if (external_work_count > 0) {
        assert(host.options.virtual_time == 0);
        host.flush();
        waitForExternal(if (deadline_ns) |deadline| @max(0, deadline - nowMonotonic()) else null);
        return;
    }
    const deadline = deadline_ns orelse panic.internalError("every task waits for another");
    if (host.options.virtual_time != 0) {
        state.virtual_now_ns = @max(state.virtual_now_ns, deadline);
    } else {
        const duration_ns = deadline -| host.monotonic();
        if (duration_ns > 0) host.sleep(duration_ns);
    }
}

fn runTask(task: *Task) void {
    assert(task.state == .ready);
    const program = host.program.?;
    state.running = task;
    task.state = .running;
    state.step = .none;
    if (task.turn_hook) |hook| {
        if (!hook(task)) {
            assert(task.state == .waiting);
            state.running = null;
            return;
        }
    }
    while (true) {
        state.step = .none;
        program.@"resume"(task.top);
        trace.kv_here = null;
        if (state.step == .waits) break;
        if (state.step == .none) panic.internalError("a coroutine stopped without a wait");
        if (task.top == null) break;
    }
    state.running = null;
    if (task.state == .running) end(task);
}

fn end(task: *Task) void {
    assert(task.top == null and task.state == .running);
    task.state = .ended;
    state.tasks_alive -= 1;
    while (task.waiters.first) |waiter| {
        waiter.cancel_hook.?(waiter); // Nothing else is to wake it any more.
        wake(waiter);
    }
    if (task.outcome().status == abi.status_failed and !task.seen) {
        state.unseen_failures.append(task); // With the scheduler's count.
    } else {
        release(task);
    }
}

/// Takes the next task that failed and that nobody waited for, in the order in which they ended.
/// The caller releases it.
pub fn takeUnseenFailure() ?*Task {
    const task = state.unseen_failures.first orelse return null;
    state.unseen_failures.remove(task);
    return task;
}

/// Gives up one count of a task.
pub fn release(task: *Task) void {
    assert(task.count >= 1);
    task.count -= 1;
    if (task.count == 0) value.releaseTask(task);
}

// ---- Exports

pub export fn kv_task_new(result: *const abi.Type) callconv(.c) *Task {
    const size = Task.outcome_offset + abi.Outcome.value_offset + @as(usize, @intCast(result.size));
    const task: *Task = @ptrCast(@alignCast(memory.allocateBlock(size)));
    task.* = .{ .count = 2, .result = result };
    task.outcome().* = .{ .status = abi.status_ok, .@"error" = null };
    return task;
}

pub export fn kv_task_outcome(task: *Task) callconv(.c) *abi.Outcome {
    return task.outcome();
}

pub export fn kv_task_start(task: *Task, first: abi.Coroutine) callconv(.c) void {
    assert(task.state == .created);
    task.top = first;
    task.state = .ready;
    state.tasks_alive += 1;
    state.ready.push(task);
}

pub export fn kv_task_free(task: *Task) callconv(.c) void {
    assert(task.count <= 1);
    value.releaseTask(task);
}

pub export fn kv_task_wait(task: *Task, self: abi.Coroutine) callconv(.c) bool {
    const waiter = current();
    assert(waiter != task);
    if (kv_task_ended(task)) return true;
    task.seen = true;
    suspendCurrent(waiter, self, stopWaitingForTask, task);
    task.waiters.append(waiter);
    return false;
}

fn stopWaitingForTask(waiter: *Task) void {
    const task: *Task = @ptrCast(@alignCast(waiter.wait_context.?));
    task.waiters.remove(waiter);
}

/// A wait for a task that a timer may end first.
const LimitedWait = struct {
    timer: Timer,
    waiter: *Task,
    task: *Task,

    fn tooLate(timer: *Timer) void {
        const limited: *LimitedWait = @fieldParentPtr("timer", timer);
        const waiter = limited.waiter;
        limited.end();
        wake(waiter);
    }

    fn callOff(waiter: *Task) void {
        const limited: *LimitedWait = @ptrCast(@alignCast(waiter.wait_context.?));
        assert(limited.waiter == waiter);
        limited.end();
    }

    fn end(limited: *LimitedWait) void {
        removeTimer(&limited.timer);
        limited.task.waiters.remove(limited.waiter);
        memory.freeRaw(limited);
    }
};

pub export fn kv_task_wait_for(task: *Task, limit_ns: i64, self: abi.Coroutine) callconv(.c) bool {
    const waiter = current();
    assert(waiter != task);
    if (task.state == .ended) return true;
    const limited: *LimitedWait = @ptrCast(@alignCast(memory.allocateRaw(@sizeOf(LimitedWait))));
    limited.* = .{ .timer = .{ .callback = LimitedWait.tooLate }, .waiter = waiter, .task = task };
    suspendCurrent(waiter, self, LimitedWait.callOff, limited);
    task.waiters.append(waiter);
    addTimer(&limited.timer, nowMonotonic() +| @max(0, limit_ns));
    return false;
}

/// Whether the task has ended. If so its error is the caller's, and reported by nobody else.
pub export fn kv_task_ended(task: *Task) callconv(.c) bool {
    if (task.state != .ended) return false;
    if (!task.seen and task.outcome().status == abi.status_failed) {
        // The scheduler kept it for the report. The caller holds a count too, so the task stays.
        state.unseen_failures.remove(task);
        assert(task.count >= 2);
        task.count -= 1;
    }
    task.seen = true;
    return true;
}

pub export fn kv_task_cancel(task: *Task) callconv(.c) void {
    cancel(task);
}

pub export fn kv_call(child: abi.Coroutine) callconv(.c) void {
    assert(state.step == .none);
    current().top = child;
    state.step = .goes_on;
}

pub export fn kv_return(parent: abi.Coroutine) callconv(.c) void {
    assert(state.step == .none);
    current().top = parent;
    state.step = .goes_on;
}

pub export fn kv_cancelled() callconv(.c) bool {
    return current().cancelled;
}

const Sleep = struct {
    timer: Timer,
    task: *Task,

    fn wakeUp(timer: *Timer) void {
        const sleep: *Sleep = @fieldParentPtr("timer", timer);
        const task = sleep.task;
        memory.freeRaw(sleep);
        wake(task);
    }

    fn callOff(task: *Task) void {
        const sleep: *Sleep = @ptrCast(@alignCast(task.wait_context.?));
        removeTimer(&sleep.timer);
        memory.freeRaw(sleep);
    }
};

pub export fn kv_sleep(duration_ns: i64, self: abi.Coroutine) callconv(.c) bool {
    const task = current();
    const sleep: *Sleep = @ptrCast(@alignCast(memory.allocateRaw(@sizeOf(Sleep))));
    sleep.* = .{ .timer = .{ .callback = Sleep.wakeUp }, .task = task };
    suspendCurrent(task, self, Sleep.callOff, sleep);
    addTimer(&sleep.timer, nowMonotonic() +| @max(0, duration_ns));
    return false;
}

pub export fn kv_now() callconv(.c) i64 {
    return nowUtc();
}

// ---- The queue of ready tasks: a ring that doubles when it is full

const Ring = struct {
    slots: []*Task = &.{},
    head: usize = 0,
    length: usize = 0,

    fn push(ring: *Ring, task: *Task) void {
        if (ring.length == ring.slots.len) ring.grow();
        ring.slots[(ring.head + ring.length) & (ring.slots.len - 1)] = task;
        ring.length += 1;
    }

    fn pop(ring: *Ring) *Task {
        assert(ring.length > 0);
        const task = ring.slots[ring.head];
        ring.head = (ring.head + 1) & (ring.slots.len - 1);
        ring.length -= 1;
        return task;
    }

    fn grow(ring: *Ring) void {
        const larger = memory.allocateSlice(*Task, @max(64, 2 * ring.slots.len));
        for (0..ring.length) |index| larger[index] = ring.slots[(ring.head + index) & (ring.slots.len - 1)];
        memory.freeSlice(*Task, ring.slots);
        ring.slots = larger;
        ring.head = 0;
    }

    fn deinit(ring: *Ring) void {
        memory.freeSlice(*Task, ring.slots);
        ring.* = .{};
    }
};
