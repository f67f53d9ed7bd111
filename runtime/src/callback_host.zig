//! For a host whose callbacks cannot return a structure, as Python's ctypes cannot: two entries for its `kv_host` table
//! that call it back with an address for the result. The table's context is then a `Callbacks`.

const abi = @import("abi.zig");

const Lookup = *const fn (context: ?*anyopaque, bytes: [*]const u8, length: i64, out: *abi.TextView) callconv(.c) void;

pub const Callbacks = extern struct {
    context: ?*anyopaque,
    environment: Lookup,
    read_file: Lookup,
};

export fn kv_callback_environment(context: ?*anyopaque, name: [*]const u8, length: i64) callconv(.c) abi.TextView {
    const callbacks: *const Callbacks = @ptrCast(@alignCast(context.?));
    var value: abi.TextView = .{};
    callbacks.environment(callbacks.context, name, length, &value);
    return value;
}

export fn kv_callback_read_file(context: ?*anyopaque, path: [*]const u8, length: i64) callconv(.c) abi.TextView {
    const callbacks: *const Callbacks = @ptrCast(@alignCast(context.?));
    var content: abi.TextView = .{};
    callbacks.read_file(callbacks.context, path, length, &content);
    return content;
}
