//! What the runtime knows of the world while a program runs: the host's table, the options and the program's tables.
//! Standard output is buffered here; everything that leaves the process goes through this file.

const std = @import("std");
const abi = @import("abi.zig");
const native = @import("native.zig");

/// Before `kv_run` (and in tests of single entries) the native host stands in, so that a panic can always be written.
pub var table: abi.Host = native.table;
pub var options: abi.Options = .{};
pub var program: ?*const abi.Program = null;
/// The state of the program's random numbers, null until the first is asked for.
pub var generator: ?u64 = null;

const stdout_descriptor = 1;
const stderr_descriptor = 2;

const Output = struct {
    buffer: [16 * 1024]u8 = undefined,
    used: usize = 0,
    /// A person reads it: each line is written as soon as it is printed.
    by_line: bool = false,
};
var output: Output = .{};
/// A panic or the like is being written: a failing stdout no longer matters.
var is_stopping = false;

/// Called by `kv_run`: everything starts anew, so that one process can run several programs.
pub fn begin(new_program: *const abi.Program, new_table: *const abi.Host, new_options: *const abi.Options) void {
    table = new_table.*;
    options = new_options.*;
    program = new_program;
    generator = null;
    output.used = 0;
    output.by_line = table.is_terminal(table.context, stdout_descriptor);
    is_stopping = false;
}

// ---- Output

/// The text and a line break, on stdout.
pub fn writeLine(text: []const u8) void {
    writeStdout(text);
    writeStdout("\n");
    if (output.by_line) flush();
}

fn writeStdout(text: []const u8) void {
    if (text.len > output.buffer.len - output.used) {
        flush();
        if (text.len >= output.buffer.len) return writeAllOrStop(text);
    }
    @memcpy(output.buffer[output.used..][0..text.len], text);
    output.used += text.len;
    std.debug.assert(output.used <= output.buffer.len);
}

pub fn flush() void {
    if (output.used == 0) return;
    const pending = output.buffer[0..output.used];
    output.used = 0; // First, since a failing write leads back here through `exit`.
    writeAllOrStop(pending);
}

fn writeAllOrStop(text: []const u8) void {
    if (table.write(table.context, stdout_descriptor, text.ptr, @intCast(text.len))) return;
    output.used = 0;
    if (is_stopping) return; // What stops the program is of more use than that its output went nowhere.
    is_stopping = true;
    writeStderr("error: cannot write to stdout\n");
    exit(1);
}

/// What was printed before comes first, whoever reads both ends.
pub fn writeStderr(text: []const u8) void {
    flush();
    _ = table.write(table.context, stderr_descriptor, text.ptr, @intCast(text.len)); // There is nowhere left to report a failure.
}

/// From here on the program only says why it stops.
pub fn beginStopping() void {
    is_stopping = true;
}

/// What is still to be made durable when the program ends in the middle of a round; the journal sets it.
pub var last_act: ?*const fn () void = null;
var is_ending = false;

/// Whether the program ends already: what goes wrong in its last act ends it silently.
pub fn isEnding() bool {
    return is_ending;
}

/// Ends the program.
pub fn exit(status: u8) noreturn {
    // Read as something unknown: otherwise the one function that it ever holds is linked into programs without a journal.
    if (@as(*volatile ?*const fn () void, &last_act).*) |act| {
        last_act = null;
        is_ending = true;
        act();
    }
    is_ending = false;
    flush();
    table.exit(table.context, status);
    native.exitProcess(status); // A host that came back from `exit` would let a stopped program run on.
}

// ---- The rest of the table

pub fn monotonic() i64 {
    return table.monotonic_ns(table.context);
}

pub fn utc() i64 {
    return table.utc_ns(table.context);
}

pub fn random() u64 {
    return table.random(table.context);
}

/// Blocks the only thread: whatever was printed must be visible before.
pub fn sleep(duration_ns: i64) void {
    std.debug.assert(duration_ns >= 0);
    flush();
    table.sleep(table.context, duration_ns);
}

/// The value of an environment variable, null when it is not set. Borrowed from the host.
pub fn environment(name: []const u8) ?[]const u8 {
    return lookUp(table.environment, name);
}

/// A file's content, null when it could not be read. Borrowed from the host, and stays valid.
pub fn readFile(path: []const u8) ?[]const u8 {
    return lookUp(table.read_file, path);
}

fn lookUp(find: abi.LookUp, key: []const u8) ?[]const u8 {
    var found: abi.TextView = .{};
    return if (find(table.context, key.ptr, @intCast(key.len), &found)) found.slice() else null;
}

pub fn writeFile(path: []const u8, content: []const u8) bool {
    return table.write_file(table.context, path.ptr, @intCast(path.len), content.ptr, @intCast(content.len));
}
