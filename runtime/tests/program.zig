//! A program as the compiler would emit it, written by hand: coroutines are structs with a step and a function.
//! The scenario is the first argument. Linked with the runtime's object by tests/test_runtime_standalone.py.

const std = @import("std");
const abi = @import("abi");
const linux = std.os.linux;

/// The checks of this program are not what is tested, and their text would weigh on its size.
pub const panic = std.debug.no_panic;

extern fn kv_string_new(bytes: [*]const u8, length: i64) *abi.String;
extern fn kv_print(line: *const abi.String) void;
extern fn kv_free(block: *anyopaque) void;
extern fn kv_allocate(size: i64) *anyopaque;
extern fn kv_frame_allocate(size: i64) *anyopaque;
extern fn kv_frame_free(frame: *anyopaque) void;
extern fn kv_text_begin(text: *abi.Text) void;
extern fn kv_text_literal(text: *abi.Text, bytes: [*]const u8, length: i64) void;
extern fn kv_text_int(text: *abi.Text, value: i64) void;
extern fn kv_text_finish(text: *abi.Text) *abi.String;
extern fn kv_error_new(kind: *const abi.Type, payload: *const anyopaque) *abi.Error;
extern fn kv_panic(message: [*]const u8, message_length: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) noreturn;
extern fn kv_panic_index(index: i64, length: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) noreturn;
extern fn kv_task_new(kind: *const abi.Type) *anyopaque;
extern fn kv_task_outcome(task: *anyopaque) *abi.Outcome;
extern fn kv_task_start(task: *anyopaque, first: abi.Coroutine) void;
extern fn kv_task_free(task: *anyopaque) void;
extern fn kv_task_wait(task: *anyopaque, self: abi.Coroutine) bool;
extern fn kv_task_cancel(task: *anyopaque) void;
extern fn kv_return(parent: abi.Coroutine) void;
extern fn kv_cancelled() bool;
extern fn kv_sleep(duration_ns: i64, self: abi.Coroutine) bool;

const int_type: abi.Type = .{ .kind = .int, .size = 8 };

export const kv_program: abi.Program = .{ .main = startMain, .@"resume" = resumeFrame };

const Frame = struct {
    body: *const fn (frame: *Frame) void,
    out: *abi.Outcome,
    parent: abi.Coroutine,
    step: u32 = 0,
    number: i64 = 0,
};

fn makeFrame(body: *const fn (*Frame) void, out: *abi.Outcome, parent: abi.Coroutine, number: i64) *Frame {
    const frame: *Frame = @ptrCast(@alignCast(kv_frame_allocate(@sizeOf(Frame))));
    frame.* = .{ .body = body, .out = out, .parent = parent, .number = number };
    return frame;
}

fn resumeFrame(coroutine: abi.Coroutine) callconv(.c) void {
    const frame: *Frame = @ptrCast(@alignCast(coroutine.?));
    if (kv_cancelled()) return finish(frame, abi.status_cancelled);
    frame.body(frame);
}

fn finish(frame: *Frame, status: i64) void {
    frame.out.status = status;
    kv_return(frame.parent);
    kv_frame_free(frame);
}

fn spawn(body: *const fn (*Frame) void, number: i64) *anyopaque {
    const task = kv_task_new(&int_type);
    kv_task_start(task, makeFrame(body, kv_task_outcome(task), null, number));
    return task;
}

fn dropTask(task: *anyopaque) void {
    const block: *abi.Block = @ptrCast(@alignCast(task));
    if (block.count == 1) kv_task_free(task) else block.count -= 1;
}

fn say(text: []const u8, number: i64) void {
    var made: abi.Text = undefined;
    kv_text_begin(&made);
    kv_text_literal(&made, text.ptr, @intCast(text.len));
    kv_text_int(&made, number);
    const string = kv_text_finish(&made);
    kv_print(string);
    kv_free(string);
}

fn fail(frame: *Frame) void {
    frame.out.@"error" = kv_error_new(&int_type, &frame.number);
    finish(frame, abi.status_failed);
}

// ---- Scenarios

var argument_buffer: [4096]u8 = undefined;
var scenario: []const u8 = "";
var count: i64 = 0;

fn startMain(out: *abi.Outcome, parent: abi.Coroutine) callconv(.c) abi.Coroutine {
    const descriptor: i32 = @intCast(linux.openat(linux.AT.FDCWD, "/proc/self/cmdline", .{}, 0));
    const length = linux.read(descriptor, &argument_buffer, argument_buffer.len);
    var arguments = std.mem.splitScalar(u8, argument_buffer[0..length], 0);
    _ = arguments.next();
    scenario = arguments.next() orelse "hello";
    if (arguments.next()) |text| count = std.fmt.parseInt(i64, text, 10) catch 0;
    inline for (@typeInfo(scenarios).@"struct".decl_names) |name| {
        if (std.mem.eql(u8, scenario, name)) return makeFrame(@field(scenarios, name), out, parent, 7);
    }
    linux.exit_group(99);
}

fn addOne(frame: *Frame) void {
    const value: *i64 = @ptrCast(@alignCast(frame.out.value()));
    value.* = frame.number + 1;
    finish(frame, abi.status_ok);
}

fn sleepThenSay(frame: *Frame) void {
    frame.step += 1;
    if (frame.step == 1) {
        _ = kv_sleep(frame.number * std.time.ns_per_ms, frame);
        return;
    }
    if (count <= 100) say("slept ms: ", frame.number);
    finish(frame, abi.status_ok);
}

var tasks: []*anyopaque = &.{};
var waited: usize = 0;
var sum: i64 = 0;

fn allocateTasks() void {
    const bytes: [*]*anyopaque = @ptrCast(@alignCast(kv_frame_allocate(count * 8)));
    tasks = bytes[0..@intCast(count)];
}

/// Waits for all of `tasks`; true once that is done.
fn waitForAll(frame: *Frame) bool {
    while (waited < tasks.len) {
        if (frame.step == 0) {
            frame.step = 1;
            if (!kv_task_wait(tasks[waited], frame)) return false;
        }
        frame.step = 0;
        const outcome = kv_task_outcome(tasks[waited]);
        const value: *i64 = @ptrCast(@alignCast(outcome.value()));
        sum += value.*;
        dropTask(tasks[waited]);
        waited += 1;
    }
    return true;
}

fn infinite(depth: *volatile i64) i64 {
    var local: [100]i64 = undefined;
    local[@intCast(@mod(depth.*, 100))] = depth.*;
    depth.* += 1;
    return infinite(depth) + local[@intCast(@mod(depth.*, 100))];
}

const scenarios = struct {
    pub fn hello(frame: *Frame) void {
        say("hello ", frame.number);
        finish(frame, abi.status_ok);
    }

    /// Spawns `count` tasks at once and waits for each.
    pub fn many(frame: *Frame) void {
        if (tasks.len == 0) {
            allocateTasks();
            for (tasks, 0..) |*task, index| task.* = spawn(addOne, @intCast(index));
        }
        if (!waitForAll(frame)) return;
        say("sum ", sum);
        kv_frame_free(@ptrCast(tasks.ptr));
        finish(frame, abi.status_ok);
    }

    pub fn sleepers(frame: *Frame) void {
        if (tasks.len == 0) {
            allocateTasks();
            for (tasks, 0..) |*task, index| task.* = spawn(sleepThenSay, @mod(@as(i64, @intCast(index)) * 7, 50));
        }
        if (!waitForAll(frame)) return;
        say("all slept ", count);
        kv_frame_free(@ptrCast(tasks.ptr));
        finish(frame, abi.status_ok);
    }

    /// Cancels one task before its first step, one while it sleeps, and one that has ended.
    pub fn cancel(frame: *Frame) void {
        frame.step += 1;
        if (frame.step == 1) {
            count = 4;
            allocateTasks();
            tasks[0] = spawn(sleepThenSay, 10);
            tasks[1] = spawn(sleepThenSay, 20);
            tasks[2] = spawn(addOne, 1);
            tasks[3] = spawn(sleepThenSay, 30);
            kv_task_cancel(tasks[0]);
            _ = kv_sleep(5 * std.time.ns_per_ms, frame);
            return;
        }
        if (frame.step == 2) {
            kv_task_cancel(tasks[1]);
            kv_task_cancel(tasks[2]);
            if (!kv_task_wait(tasks[3], frame)) return;
        }
        for (tasks) |task| {
            say("status ", kv_task_outcome(task).status);
            dropTask(task);
        }
        kv_frame_free(@ptrCast(tasks.ptr));
        finish(frame, abi.status_ok);
    }

    pub fn unwaited(frame: *Frame) void {
        dropTask(spawn(fail, 1));
        dropTask(spawn(fail, 2));
        say("main ends ", 0);
        finish(frame, abi.status_ok);
    }

    pub fn failing(frame: *Frame) void {
        say("before ", 1);
        fail(frame);
    }

    pub fn panicking(_: *Frame) void {
        say("before ", 1);
        const function: abi.TracedFunction = .{ .name = .{ .bytes = "main", .length = 4 }, .file = .{ .bytes = "a.kav", .length = 5 } };
        kv_panic_index(5, 3, &.{ .function = &function, .line = 1, .column = 2 }, &.{ .parent = null, .site = null });
    }

    pub fn overflow(_: *Frame) void {
        say("before ", 1);
        var depth: i64 = 0;
        say("never ", infinite(&depth));
    }

    pub fn segfault(_: *Frame) void {
        const pointer: *volatile i64 = @ptrFromInt(8 * 1024);
        pointer.* = 1;
    }

    pub fn memory(_: *Frame) void {
        _ = kv_allocate(1 << 50);
    }

    /// Much output, for a pipe that is closed.
    pub fn output(frame: *Frame) void {
        for (0..100_000) |index| say("line ", @intCast(index));
        finish(frame, abi.status_ok);
    }

    /// Builds and drops blocks of many sizes: the memory in use must not grow.
    pub fn churn(frame: *Frame) void {
        var blocks: [64]*anyopaque = undefined;
        for (0..@intCast(count)) |round| {
            for (&blocks, 0..) |*block, index| block.* = kv_allocate(@intCast(16 + (round * 31 + index * 977) % 100_000));
            for (blocks) |block| kv_free(block);
        }
        finish(frame, abi.status_ok);
    }

    /// Makes and drops `count` short strings, for measuring.
    pub fn texts(frame: *Frame) void {
        var index: i64 = 0;
        while (index < count) : (index += 1) {
            var made: abi.Text = undefined;
            kv_text_begin(&made);
            kv_text_literal(&made, "item ", 5);
            kv_text_int(&made, index);
            kv_free(kv_text_finish(&made));
        }
        finish(frame, abi.status_ok);
    }

    /// Makes and drops `count` times a hundred blocks of 48 bytes, for measuring.
    pub fn allocations(frame: *Frame) void {
        var blocks: [100]*anyopaque = undefined;
        var index: i64 = 0;
        while (index < count) : (index += 1) {
            for (&blocks) |*block| block.* = kv_allocate(48);
            for (blocks) |block| kv_free(block);
        }
        finish(frame, abi.status_ok);
    }
};
