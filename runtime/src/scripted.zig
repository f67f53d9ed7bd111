//! The scripted model: replies from a JSON file, in the order in which requests arrive (spec 8.4.script).

const std = @import("std");
const abi = @import("abi.zig");
const allocator = @import("allocator.zig").runtime;
const host = @import("host.zig");
const scheduler = @import("scheduler.zig");
const script_reader = @import("script_reader.zig");
const show = @import("show.zig");
const text = @import("text.zig");
const transport = @import("transport.zig");
const assert = std.debug.assert;

const Model = struct {
    arena: ?std.heap.ArenaAllocator = null,
    script: script_reader.Script = .{},
    start_ns: i64 = 0,
    under_way_count: usize = 0,
};
var model: Model = .{};

pub const scripted: transport.Transport = .{ .start = start, .take = take, .abandon = abandon };

/// Reads the script at `path`; what is wrong with it ends the program with status 2.
pub fn load(path: []const u8) void {
    unload();
    model.arena = .init(allocator);
    model.start_ns = scheduler.nowMonotonic();
    const content = host.readFile(path) orelse refuse(path, "cannot be read");
    var problem: std.ArrayList(u8) = .empty;
    defer problem.deinit(allocator);
    model.script = script_reader.read(model.arena.?.allocator(), content, &problem) catch |failure| switch (failure) {
        error.OutOfMemory => unreachable, // The allocator never fails.
        error.Invalid => refuse(path, problem.items),
    };
}

pub fn unload() void {
    if (model.arena) |*arena| arena.deinit();
    model = .{};
}

fn refuse(path: []const u8, problem: []const u8) noreturn {
    var line: abi.Text = .{};
    for ([_][]const u8{ "error: test model ", path, ": ", problem, "\n" }) |part| text.append(&line, part);
    host.writeStderr(line.slice());
    host.exit(2);
}

fn start(request: *transport.Request) void {
    const now_ns = scheduler.nowMonotonic();
    request.timer = .{ .callback = complete };
    if (isFull(now_ns)) {
        request.reply = .{ .failure = .{ .status = 429, .message = "too many requests" } };
        request.is_counted = false;
        return scheduler.addTimer(&request.timer, now_ns);
    }
    const reply = model.script.next(request.prompt) orelse stopWithoutReply(request.asked);
    request.reply = reply.reply;
    request.is_counted = true;
    model.under_way_count += 1;
    scheduler.addTimer(&request.timer, now_ns +| reply.delay_ns);
}

fn isFull(now_ns: i64) bool {
    const capacity = model.script.capacityAt(now_ns - model.start_ns) orelse return false;
    return model.under_way_count >= capacity;
}

fn complete(timer: *scheduler.Timer) void {
    const request: *transport.Request = @fieldParentPtr("timer", timer);
    request.completion(request);
}

fn take(request: *transport.Request) transport.Reply {
    assert(!request.timer.isSet());
    end(request);
    return request.reply;
}

fn abandon(request: *transport.Request) void {
    scheduler.removeTimer(&request.timer);
    end(request);
}

fn end(request: *transport.Request) void {
    if (!request.is_counted) return;
    request.is_counted = false;
    model.under_way_count -= 1;
}

fn stopWithoutReply(prompt: []const u8) noreturn {
    var line: abi.Text = .{};
    text.append(&line, "error: the test model has no reply left for the prompt: ");
    show.quoted(&line, prompt);
    text.append(&line, "\n");
    host.writeStderr(line.slice());
    host.exit(1);
}
