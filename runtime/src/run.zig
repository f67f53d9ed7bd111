//! A program's run, from its start to its exit status.

const std = @import("std");
const builtin = @import("builtin");
const abi = @import("abi.zig");
const borrowed_stack = @import("borrowed_stack.zig");
const host = @import("host.zig");
const report = @import("report.zig");
const scheduler = @import("scheduler.zig");
const show = @import("show.zig");
const textual = @import("text.zig");

const nothing_type: abi.Type = .{ .kind = .nothing, .size = 1, .alignment = 1 };
const error_type: abi.Type = .{ .kind = .@"error", .size = 8, .counted = 1 };

const in_another_process = builtin.link_libc and !builtin.is_test;

pub const status_ok = 0;
pub const status_failed = 1;
pub const status_usage = 2;

pub export fn kv_run(program: *const abi.Program, table: *const abi.Host, options: *const abi.Options) callconv(.c) i32 {
    if (in_another_process) borrowed_stack.enter();
    defer if (in_another_process) borrowed_stack.leave();
    host.begin(program, table, options);
    scheduler.reset();
    report.reset();
    if (options.virtual_time != 0 and program.model_part != null and options.dry_run == 0 and options.test_model.bytes == null) {
        host.writeStderr("error: virtual time needs a test model or a dry run, since a real model answers in real time\n");
        return status_usage;
    }
    if (program.ledger_part) |part| part(abi.moment_start);
    if (program.model_part) |part| part(abi.moment_start);

    const main_task = startMain(program);
    scheduler.runAll();
    var status: i32 = status_ok;
    if (reportUnseenFailures()) status = status_failed;
    if (main_task.outcome().status == abi.status_failed) {
        reportError("error: ", main_task);
        status = status_failed;
    }
    scheduler.release(main_task);

    if (!report.write()) status = status_failed;
    scheduler.stopExternal();
    if (program.model_part) |part| part(abi.moment_end);
    if (program.ledger_part) |part| part(abi.moment_end);
    host.flush();
    return status;
}

fn startMain(program: *const abi.Program) *scheduler.Task {
    const task = scheduler.kv_task_new(&nothing_type);
    task.seen = true; // Its error is reported here, as the program's.
    scheduler.kv_task_start(task, program.main(task.outcome(), null));
    return task;
}

fn reportUnseenFailures() bool {
    var any = false;
    while (scheduler.takeUnseenFailure()) |task| {
        any = true;
        reportError("error: a task that nobody waited for failed: ", task);
        scheduler.release(task);
    }
    return any;
}

fn reportError(prefix: []const u8, task: *scheduler.Task) void {
    var line: abi.Text = .{};
    defer textual.drop(&line);
    textual.append(&line, prefix);
    show.atTop(&line, &error_type, @ptrCast(&task.outcome().@"error".?));
    textual.append(&line, "\n");
    host.writeStderr(line.slice());
}

pub export fn kv_print(line: *const abi.String) callconv(.c) void {
    host.writeLine(line.slice());
}
