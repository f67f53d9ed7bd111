//! Calls of code that reads what a server sent, or a file of certificates holds. std's TLS indexes some of that unchecked,
//! and trusts Zig's own checks; where one fails, only the call ends, and not the process.
//!
//! The way out is a return from the call, with the registers that a callee keeps: for the compiler the call is one like
//! any other, which returns once. What the code left behind held stays as it was, so that it must own nothing: no lock, no
//! descriptor, no memory.

const std = @import("std");
const builtin = @import("builtin");

comptime {
    // Otherwise there would be nothing to catch.
    std.debug.assert(std.debug.runtime_safety);
}

/// In Zig's own tests, which are not linked with assembly, every call is as it stands.
const is_there = !builtin.is_test;

/// Where the innermost guarded call of this thread keeps its registers; 0 where there is none.
threadlocal var innermost: usize = 0;

/// What the function returns; null: one of Zig's checks failed in it.
pub fn call(comptime function: anytype, arguments: std.meta.ArgsTuple(@TypeOf(function))) ?Returned(function) {
    const Call = struct {
        arguments: std.meta.ArgsTuple(@TypeOf(function)),
        result: Returned(function),

        fn run(pointer: *anyopaque) callconv(.c) void {
            const this: *@This() = @ptrCast(@alignCast(pointer));
            this.result = @call(.auto, function, this.arguments);
        }
    };
    if (!is_there) return @call(.auto, function, arguments);
    var this: Call = .{ .arguments = arguments, .result = undefined };
    const outer = innermost;
    if (builtin.is_test) { // Which has no assembly, so that a failed check ends it as anywhere.
        Call.run(&this);
        return this.result;
    }
    const has_returned = kavach_guarded(Call.run, &this, &innermost);
    innermost = outer;
    return if (has_returned) this.result else null;
}

fn Returned(comptime function: anytype) type {
    return @typeInfo(@TypeOf(function)).@"fn".return_type.?;
}

/// A check has failed. Comes back only where no call is guarded.
pub fn escape() void {
    if (!builtin.is_test and innermost != 0) kavach_leave_guarded(innermost);
}

/// Calls the function; true when it returned. Where the registers are goes to `place` first.
extern fn kavach_guarded(function: *const fn (argument: *anyopaque) callconv(.c) void, argument: *anyopaque, place: *usize) callconv(.c) bool;
/// Lets the call that keeps its registers there return false.
extern fn kavach_leave_guarded(place: usize) callconv(.c) noreturn;

comptime {
    if (is_there) asm (switch (builtin.cpu.arch) {
            .x86_64 =>
            \\ .section .text.kavach_guarded,"ax",@progbits
            \\ .hidden kavach_guarded
            \\ .globl kavach_guarded
            \\ .type kavach_guarded, @function
            \\kavach_guarded:
            \\ pushq %rbp
            \\ pushq %rbx
            \\ pushq %r12
            \\ pushq %r13
            \\ pushq %r14
            \\ pushq %r15
            \\ subq $8, %rsp
            \\ movq %rsp, (%rdx)
            \\ movq %rdi, %rax
            \\ movq %rsi, %rdi
            \\ callq *%rax
            \\ movl $1, %eax
            \\ jmp 1f
            \\ .hidden kavach_leave_guarded
            \\ .globl kavach_leave_guarded
            \\ .type kavach_leave_guarded, @function
            \\kavach_leave_guarded:
            \\ movq %rdi, %rsp
            \\ xorl %eax, %eax
            \\1:
            \\ addq $8, %rsp
            \\ popq %r15
            \\ popq %r14
            \\ popq %r13
            \\ popq %r12
            \\ popq %rbx
            \\ popq %rbp
            \\ retq
            \\ .text
            ,
            .aarch64 =>
            \\ .section .text.kavach_guarded,"ax",@progbits
            \\ .hidden kavach_guarded
            \\ .globl kavach_guarded
            \\ .type kavach_guarded, @function
            \\kavach_guarded:
            \\ sub sp, sp, #160
            \\ stp x29, x30, [sp]
            \\ stp x19, x20, [sp, #16]
            \\ stp x21, x22, [sp, #32]
            \\ stp x23, x24, [sp, #48]
            \\ stp x25, x26, [sp, #64]
            \\ stp x27, x28, [sp, #80]
            \\ stp d8, d9, [sp, #96]
            \\ stp d10, d11, [sp, #112]
            \\ stp d12, d13, [sp, #128]
            \\ stp d14, d15, [sp, #144]
            \\ mov x9, sp
            \\ str x9, [x2]
            \\ mov x9, x0
            \\ mov x0, x1
            \\ blr x9
            \\ mov w0, #1
            \\ b 1f
            \\ .hidden kavach_leave_guarded
            \\ .globl kavach_leave_guarded
            \\ .type kavach_leave_guarded, @function
            \\kavach_leave_guarded:
            \\ mov sp, x0
            \\ mov w0, #0
            \\1:
            \\ ldp x29, x30, [sp]
            \\ ldp x19, x20, [sp, #16]
            \\ ldp x21, x22, [sp, #32]
            \\ ldp x23, x24, [sp, #48]
            \\ ldp x25, x26, [sp, #64]
            \\ ldp x27, x28, [sp, #80]
            \\ ldp d8, d9, [sp, #96]
            \\ ldp d10, d11, [sp, #112]
            \\ ldp d12, d13, [sp, #128]
            \\ ldp d14, d15, [sp, #144]
            \\ add sp, sp, #160
            \\ ret
            \\ .text
            ,
            else => @compileError("no guarded calls for this processor"),
        });
}
