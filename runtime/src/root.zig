//! The Kavach runtime: everything that `runtime/include/kavach.h` declares.

const std = @import("std");
const builtin = @import("builtin");

/// Zig's own checks: a failed one is a bug of ours.
pub const panic = if (builtin.is_test) std.debug.FullPanic(std.debug.defaultPanic) else @import("checks.zig");

/// Threads need no stack for signals: there is but the program's.
pub const std_options: std.Options = .{ .signal_stack_size = null };

comptime {
    _ = @import("abi.zig");
    _ = @import("array.zig");
    _ = @import("ask.zig");
    _ = @import("decode.zig");
    _ = @import("exchange.zig");
    _ = @import("ledger.zig");
    _ = @import("library_array.zig");
    _ = @import("library_date.zig");
    _ = @import("library_http.zig");
    _ = @import("library_number.zig");
    _ = @import("library_json.zig");
    _ = @import("library_string.zig");
    _ = @import("library_world.zig");
    _ = @import("map.zig");
    _ = @import("memory.zig");
    _ = @import("panic.zig");
    _ = @import("run.zig");
    _ = @import("scheduler.zig");
    _ = @import("string.zig");
    _ = @import("text.zig");
    _ = @import("value.zig");
    if (!builtin.link_libc and !builtin.is_test) _ = @import("standalone.zig");
}

test {
    _ = @import("allocator.zig");
    _ = @import("audit.zig");
    _ = @import("case_table.zig");
    _ = @import("entry_queue.zig");
    _ = @import("exact_total.zig");
    _ = @import("futex.zig");
    _ = @import("gate.zig");
    _ = @import("http_date.zig");
    _ = @import("http.zig");
    _ = @import("json_check.zig");
    _ = @import("provider_test.zig");
    _ = @import("retry.zig");
    _ = @import("script_reader.zig");
    _ = @import("window.zig");
    _ = @import("windows.zig");
    _ = @import("show_test.zig");
    _ = @import("timers.zig");
    _ = @import("value_test.zig");
}
