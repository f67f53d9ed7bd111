//! The start of a standalone binary: no libc. Reads the options from the environment, and runs `kv_program` on a stack of
//! its own, whose overflow is a panic like any other.

const std = @import("std");
const builtin = @import("builtin");
const linux = std.os.linux;
const abi = @import("abi.zig");
const bad_access = @import("bad_access.zig");
const native = @import("native.zig");
const run = @import("run.zig");

extern const kv_program: abi.Program;

/// Reserved, not used: pages are taken as the stack grows. Where so much is refused, less will do.
const stack_sizes = [_]usize{ 1 << 30, 1 << 28, 1 << 26, 1 << 23 };
const signal_stack_size = 64 * 1024;

var signal_stack: [signal_stack_size]u8 align(16) = undefined;

export fn _start() callconv(.naked) noreturn {
    switch (builtin.cpu.arch) {
        .x86_64 => asm volatile (
            \\ xorl %%ebp, %%ebp
            \\ movq %%rsp, %%rdi
            \\ andq $-16, %%rsp
            \\ callq %[begin:P]
            :
            : [begin] "X" (&begin),
        ),
        .aarch64 => asm volatile (
            \\ mov x29, #0
            \\ mov x30, #0
            \\ mov x0, sp
            \\ and sp, x0, #-16
            \\ b %[begin]
            :
            : [begin] "X" (&begin),
        ),
        else => @compileError("no start code for this processor"),
    }
}

/// `words` as the kernel leaves them: the argument count, the arguments, null, the environment, null.
fn begin(words: [*]const usize) callconv(.c) noreturn {
    const argument_count = words[0];
    native.arguments = @as([*]const [*:0]const u8, @ptrCast(words + 1))[0..argument_count];
    native.environment_entries = @ptrCast(words + 1 + argument_count + 1);
    findAuxiliary(words + 1 + argument_count + 1);
    holdStandardDescriptors();
    catchSignals();
    const stack_top = allocateStack() orelse runProgram();
    switchStack(stack_top);
}

/// After the environment the kernel leaves a table that std reads: where the program's headers are (for thread-local
/// variables, which std's threads need), and where the kernel's fast clock is.
fn findAuxiliary(environment: [*]const usize) void {
    var index: usize = 0;
    while (environment[index] != 0) index += 1;
    linux.elf_aux_maybe = @ptrCast(@constCast(environment + index + 1));
    const headers: [*]std.elf.ElfN.Phdr = @ptrFromInt(getauxval(std.elf.AT.PHDR));
    linux.tls.initStatic(headers[0..getauxval(std.elf.AT.PHNUM)]);
}

/// std has it for executables only, and this is an object.
export fn getauxval(key: usize) callconv(.c) usize {
    const table = linux.elf_aux_maybe orelse return 0;
    var index: usize = 0;
    while (table[index].a_type != std.elf.AT.NULL) : (index += 1) {
        if (table[index].a_type == key) return table[index].a_un.a_val;
    }
    return 0;
}

/// Standard descriptors that were closed are opened again, in the direction in which every use of them fails: otherwise
/// the next file would get the number, and what is printed would land in it.
fn holdStandardDescriptors() void {
    for ([_]linux.O{ .{ .ACCMODE = .WRONLY }, .{ .ACCMODE = .RDONLY }, .{ .ACCMODE = .RDONLY } }, 0..) |flags, descriptor| {
        if (linux.errno(linux.fcntl(@intCast(descriptor), linux.F.GETFD, 0)) == .SUCCESS) continue;
        _ = linux.openat(linux.AT.FDCWD, "/dev/null", flags, 0); // The lowest number that is free: this one.
    }
}

fn runProgram() callconv(.c) noreturn {
    const options: abi.Options = .{
        .dry_run = @intFromBool(isSet("KAVACH_DRY_RUN")),
        .virtual_time = @intFromBool(isSet("KAVACH_VIRTUAL_TIME")),
        .test_model = pathOption("KAVACH_TEST_MODEL"),
        .report = pathOption("KAVACH_REPORT"),
        .state_file = pathOption("KAVACH_STATE_FILE"),
        .audit_log = pathOption("KAVACH_AUDIT_LOG"),
        .audit_prompts = @intFromBool(isSet("KAVACH_AUDIT_PROMPTS")),
    };
    const status = run.kv_run(&kv_program, &native.table, &options);
    std.debug.assert(status >= 0 and status <= 255);
    native.exitProcess(@intCast(status));
}

fn isSet(name: []const u8) bool {
    const text = native.variable(name) orelse "";
    return text.len > 0 and !std.mem.eql(u8, text, "0");
}

fn pathOption(name: []const u8) abi.TextView {
    const path = native.variable(name) orelse "";
    return if (path.len == 0) .{} else abi.TextView.init(path);
}

// ---- The stack

fn allocateStack() ?usize {
    for (stack_sizes) |size| {
        const flags: linux.MAP = .{ .TYPE = .PRIVATE, .ANONYMOUS = true, .NORESERVE = true, .STACK = true };
        const address = linux.mmap(null, size, .{ .READ = true, .WRITE = true }, flags, -1, 0);
        if (linux.errno(address) != .SUCCESS) continue;
        _ = bad_access.guard(address, size);
        return address + size;
    }
    return null;
}

fn switchStack(top: usize) noreturn {
    std.debug.assert(top % 16 == 0);
    switch (builtin.cpu.arch) {
        .x86_64 => asm volatile (
            \\ movq %[top], %%rsp
            \\ xorl %%ebp, %%ebp
            \\ callq *%[entry]
            :
            : [top] "r" (top),
              [entry] "r" (&runProgram),
        ),
        .aarch64 => asm volatile (
            \\ mov sp, %[top]
            \\ mov x29, #0
            \\ mov x30, #0
            \\ br %[entry]
            :
            : [top] "r" (top),
              [entry] "r" (&runProgram),
        ),
        else => @compileError("no start code for this processor"),
    }
    unreachable;
}

// ---- Signals

fn catchSignals() void {
    // Writing to a closed pipe, or beyond the limit on a file's size, shall fail, with a message, and not kill.
    const ignore: linux.Sigaction = .{ .handler = .{ .handler = linux.SIG.IGN }, .mask = linux.sigemptyset(), .flags = 0 };
    _ = linux.sigaction(.PIPE, &ignore, null);
    _ = linux.sigaction(.XFSZ, &ignore, null);
    _ = bad_access.catchSignals(&signal_stack);
}
