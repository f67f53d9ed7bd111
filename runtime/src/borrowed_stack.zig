//! A program that runs in a process which is not its own (`kavachc run`): its thread's stack gets a guard while it runs, so
//! that an overflow is the same panic as in a standalone binary.

const std = @import("std");
const bad_access = @import("bad_access.zig");

// The pthread_attr_t of glibc, whose content is its own matter.
const Attributes = extern struct { bytes: [64]u8 align(8) };
extern "c" fn pthread_self() usize;
extern "c" fn pthread_getattr_np(thread: usize, attributes: *Attributes) c_int;
extern "c" fn pthread_attr_getstack(attributes: *const Attributes, address: *usize, size: *usize) c_int;
extern "c" fn pthread_attr_destroy(attributes: *Attributes) c_int;

/// A smaller stack is not taken a part of.
const stack_size_min: usize = 16 << 20;
/// A panic is written by the host, which may be Python.
var signal_stack: [1 << 20]u8 align(16) = undefined;

/// Where there can be no guard, an overflow ends the process as the system has it.
pub fn enter() void {
    const stack = stackOfThread() orelse return;
    if (bad_access.guard(@intFromPtr(stack.ptr), stack.len)) bad_access.borrowSignals(&signal_stack);
}

pub fn leave() void {
    bad_access.giveBackSignals();
    bad_access.unguard();
}

/// The running thread's stack, from a page on.
fn stackOfThread() ?[]const u8 {
    var attributes: Attributes = undefined;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return null;
    defer _ = pthread_attr_destroy(&attributes);
    var address: usize = 0;
    var size: usize = 0;
    if (pthread_attr_getstack(&attributes, &address, &size) != 0 or size < stack_size_min) return null;
    const start = std.mem.alignForward(usize, address, std.heap.pageSize());
    return @as([*]const u8, @ptrFromInt(start))[0 .. address + size - start];
}
