//! What an access to memory that is not the program's becomes: in the guard below a stack it is a panic, elsewhere a
//! mistake of ours. Programs look before a recursive call whether the stack comes to its end, and panic with a place
//! then; so only what does not fit into the rest of it, a single frame perhaps, meets the guard.

const std = @import("std");
const linux = std.os.linux;
const host = @import("host.zig");
const panic = @import("panic.zig");

/// More than one page, so that a function with a large frame does not step over it.
pub const guard_size: usize = 1 << 20;

/// Where the guard begins; 0 where there is none.
var guard_address: usize = 0;

/// Below this address a recursive call is a stack overflow; 0 where that is not known. Generated code reads it.
pub export var kv_stack_limit: usize = 0;
/// What is left there, for frames of calls that are not recursive and for the runtime: this, or a part of the stack.
const rest_size: usize = 64 << 20;
const rest_part = 8;

/// Handlers that were there before.
pub const Before = struct { segmentation: linux.Sigaction, bus: linux.Sigaction, stack: linux.stack_t };
/// Set in a process that is not only the program's: it then takes the mistakes.
var before: ?Before = null;

/// The lowest part of a stack of this size becomes its guard; false where the system does not allow it.
pub fn guard(address: usize, size: usize) bool {
    std.debug.assert(guard_address == 0 and size >= rest_part * guard_size);
    kv_stack_limit = address + guard_size + @min(rest_size, size / rest_part);
    const start: [*]u8 = @ptrFromInt(address);
    if (linux.errno(linux.mprotect(start, guard_size, .{})) != .SUCCESS) return false;
    guard_address = address;
    return true;
}

/// The guard is stack again.
pub fn unguard() void {
    kv_stack_limit = 0;
    if (guard_address == 0) return;
    const start: [*]u8 = @ptrFromInt(guard_address);
    const result = linux.mprotect(start, guard_size, .{ .READ = true, .WRITE = true });
    std.debug.assert(linux.errno(result) == .SUCCESS);
    guard_address = 0;
}

/// Signals are handled on `signal_stack`, since the other one may be full.
pub fn catchSignals(signal_stack: []u8) Before {
    var result: Before = undefined;
    const stack: linux.stack_t = .{ .sp = signal_stack.ptr, .flags = 0, .size = signal_stack.len };
    _ = linux.sigaltstack(&stack, &result.stack);
    const action: linux.Sigaction = .{
        .handler = .{ .sigaction = onBadAccess },
        .mask = linux.sigemptyset(),
        .flags = linux.SA.SIGINFO | linux.SA.ONSTACK | linux.SA.RESETHAND,
    };
    _ = linux.sigaction(.SEGV, &action, &result.segmentation);
    _ = linux.sigaction(.BUS, &action, &result.bus);
    return result;
}

/// As `catchSignals`, in a process that has handlers of its own, until `giveBack`.
pub fn borrowSignals(signal_stack: []u8) void {
    std.debug.assert(before == null);
    before = catchSignals(signal_stack);
}

pub fn giveBackSignals() void {
    const handlers = before orelse return;
    before = null;
    _ = linux.sigaction(.SEGV, &handlers.segmentation, null);
    _ = linux.sigaction(.BUS, &handlers.bus, null);
    _ = linux.sigaltstack(&handlers.stack, null);
}

fn onBadAccess(_: linux.SIG, information: *const linux.siginfo_t, _: ?*anyopaque) callconv(.c) void {
    const address = @intFromPtr(information.fields.sigfault.addr);
    if (guard_address != 0 and address >= guard_address and address < guard_address + guard_size) {
        // The stack of signals is too small for more than to say so.
        host.last_act = null;
        panic.panicAt("stack overflow", null, null);
    }
    // The access is made again on return, and then is the process's own matter.
    if (before != null) return giveBackSignals();
    panic.internalError("an access to memory that is not the program's");
}
