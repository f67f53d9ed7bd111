//! Panics of the program, and the runtime's own mistakes.

const abi = @import("abi.zig");
const host = @import("host.zig");
const show = @import("show.zig");
const text = @import("text.zig");
const trace = @import("trace.zig");

pub const status_panic = 101;

/// A bug of the program: the message, where it happened, if known, and the calls around it; then the end.
pub fn panicAt(message: []const u8, site: ?*const abi.Site, caller: ?*const abi.Caller) noreturn {
    @branchHint(.cold);
    if (host.isEnding()) host.exit(status_panic);
    host.beginStopping();
    host.writeStderr("panic: ");
    host.writeStderr(message);
    if (site) |known| {
        host.writeStderr(" at ");
        trace.writePlace(known);
    }
    host.writeStderr("\n");
    if (site) |known| if (caller) |first| trace.write(known.function, first);
    host.exit(status_panic);
}

pub fn outOfMemory() noreturn {
    @branchHint(.cold);
    const here = trace.kv_here orelse panicAt("out of memory", null, null);
    panicAt("out of memory", here.site, here.parent);
}

/// A bug of the runtime or of the compiler.
pub fn internalError(message: []const u8) noreturn {
    @branchHint(.cold);
    host.beginStopping();
    host.writeStderr("internal error in the Kavach runtime: ");
    host.writeStderr(message);
    host.writeStderr("\n");
    host.exit(status_panic);
}

/// Between the objects of the runtime, so no part of its ABI.
export fn kavach_internal_error(message: [*]const u8, length: usize) callconv(.c) noreturn {
    internalError(message[0..length]);
}

pub export fn kv_panic(message: [*]const u8, message_length: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) noreturn {
    panicAt(message[0..@intCast(message_length)], site, caller);
}

pub export fn kv_panic_index(index: i64, length: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) noreturn {
    trace.stand(site, caller);
    var message: abi.Text = .{};
    text.append(&message, "index ");
    show.int(&message, index);
    text.append(&message, " is out of range: the length is ");
    show.int(&message, length);
    panicAt(message.slice(), site, caller);
}

pub export fn kv_panic_shift(amount: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) noreturn {
    trace.stand(site, caller);
    var message: abi.Text = .{};
    text.append(&message, "shift by ");
    show.int(&message, amount);
    text.append(&message, " is outside 0..63");
    panicAt(message.slice(), site, caller);
}
