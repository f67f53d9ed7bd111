//! The library's functions that need the host (spec 10.env, 10.random, 10.files): one export for each row of
//! `compiler/kavachc/ir/library.py`.

const std = @import("std");
const abi = @import("abi.zig");
const array = @import("array.zig");
const host = @import("host.zig");
const native = @import("native.zig");
const native_files = @import("native_files.zig");
const panicEmptyRange = @import("library_number.zig").panicEmptyRange;
const splitMix64 = @import("retry.zig").splitMix64;
const string = @import("string.zig");
const textual = @import("text.zig");

const String = abi.String;

const string_type: abi.Type = .{ .kind = .string, .counted = 1, .size = 8 };

const OptionalString = extern struct { is_there: i32, value: ?*String };
const FileResult = extern struct { status: i64, text: *String };

/// Text from outside: every byte that is no part of valid UTF-8 becomes U+FFFD.
fn repaired(bytes: []const u8) *String {
    if (std.unicode.utf8ValidateSlice(bytes)) return string.create(bytes);
    var made: abi.Text = .{};
    var offset: usize = 0;
    while (offset < bytes.len) {
        const length = std.unicode.utf8ByteSequenceLength(bytes[offset]) catch 1;
        const end = offset + length;
        if (end <= bytes.len and std.unicode.utf8ValidateSlice(bytes[offset..end])) {
            textual.append(&made, bytes[offset..end]);
            offset = end;
        } else {
            textual.append(&made, "\u{fffd}");
            offset += 1;
        }
    }
    return textual.finish(&made);
}

export fn kv_lib_env_get(name: *const String, out: *OptionalString) callconv(.c) void {
    out.is_there = 0;
    const text = name.slice();
    if (text.len == 0 or std.mem.findAny(u8, text, "=\x00") != null) return;
    const found = host.environment(text) orelse return;
    out.* = .{ .is_there = 1, .value = repaired(found) };
}

export fn kv_lib_env_args() callconv(.c) *abi.Array {
    var made = array.kv_array_new(&string_type, 0);
    if (host.options.arguments) |arguments| {
        for (arguments[0..@intCast(host.options.argument_count)]) |argument| push(&made, repaired(argument.slice()));
    } else if (native.arguments.len > 0) {
        for (native.arguments[1..]) |argument| push(&made, repaired(std.mem.span(argument)));
    }
    return made;
}

fn push(strings: **abi.Array, text: *String) void {
    array.kv_array_grow(strings, &string_type);
    const elements: [*]*String = @ptrCast(@alignCast(strings.*.elements()));
    elements[@intCast(strings.*.length)] = text;
    strings.*.length += 1;
}

// ---- Random numbers

fn next() u64 {
    var state = host.generator orelse host.random();
    const number = splitMix64(&state);
    host.generator = state;
    return number;
}

export fn kv_lib_random_seed(seed: i64) callconv(.c) void {
    host.generator = @bitCast(seed);
}

export fn kv_lib_random_int(low: i64, high: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) i64 {
    if (low > high) panicEmptyRange(low, high, site, caller);
    const span = @as(u64, @bitCast(high -% low)) +% 1; // 0: all of them.
    if (span == 0) return @bitCast(next());
    // The last, incomplete run of `span` numbers would make some results likelier than others.
    const refused = (0 -% span) % span;
    while (true) {
        const number = next();
        if (number <= std.math.maxInt(u64) - refused) return low +% @as(i64, @bitCast(number % span));
    }
}

export fn kv_lib_random_float() callconv(.c) f64 {
    return @as(f64, @floatFromInt(next() >> 11)) * 0x1p-53;
}

// ---- Files

export fn kv_lib_files_read(path: *const String, out: *FileResult) callconv(.c) void {
    perform(.read, path, "", out);
}

export fn kv_lib_files_write(path: *const String, text: *const String, out: *FileResult) callconv(.c) void {
    perform(.write, path, text.slice(), out);
}

export fn kv_lib_files_append(path: *const String, text: *const String, out: *FileResult) callconv(.c) void {
    perform(.append, path, text.slice(), out);
}

export fn kv_lib_files_remove(path: *const String, out: *FileResult) callconv(.c) void {
    perform(.remove, path, "", out);
}

export fn kv_lib_files_exists(path: *const String) callconv(.c) bool {
    var view: abi.TextView = .{};
    return ask(.exists, path, "", &view) == @backingInt(abi.FileStatus.ok);
}

fn ask(operation: abi.FileOperation, path: *const String, text: []const u8, view: *abi.TextView) i32 {
    // Not in the native table, so that a program that uses no files has none of this.
    const file = host.table.file orelse native_files.file;
    const name = path.slice();
    return file(host.table.context, @backingInt(operation), name.ptr, @intCast(name.len), text.ptr, @intCast(text.len), view);
}

fn perform(operation: abi.FileOperation, path: *const String, text: []const u8, out: *FileResult) void {
    var view: abi.TextView = .{};
    var status = ask(operation, path, text, &view);
    var given = view.slice();
    if (!std.unicode.utf8ValidateSlice(given)) {
        status = @backingInt(abi.FileStatus.not_text);
        given = "";
    }
    out.* = .{ .status = status, .text = string.create(given) };
}
