//! The calls around a panic (spec 4.trace): a line for each, the innermost first.
//!
//! Every function is given the address of a `Caller`, which stands in its caller's frame: where the call stands, and the
//! `Caller` that the caller itself was given. So a panic finds all of them, and what is no panic pays for two stores.

const abi = @import("abi.zig");
const host = @import("host.zig");

// As in semantics/panics.py.
const lines_first = 10;
const lines_last = 9;

/// Where the program is while the runtime works for it, so that a panic of the runtime's own has a place. Generated code
/// sets it before it calls what may need memory; null where the runtime works for nobody.
pub export var kv_here: ?*const abi.Caller = null;

var place: abi.Caller = undefined;

/// The program is at `site`.
pub fn stand(site: ?*const abi.Site, caller: ?*const abi.Caller) void {
    place = .{ .parent = caller, .site = site };
    kv_here = &place;
}

/// `function` is the one that panics, and `first` called it.
pub fn write(function: *const abi.TracedFunction, first: *const abi.Caller) void {
    const total = count(first);
    var name = function.name;
    var next: ?*const abi.Caller = first;
    var index: usize = 0;
    while (next) |caller| : (index += 1) {
        const site = caller.site orelse return; // Of `main`, which nothing called.
        if (total <= lines_first + 1 + lines_last or index < lines_first or index >= total - lines_last) {
            writeCall(name.slice(), caller.parent == null, site);
        } else if (index == lines_first) {
            writeMore(total - lines_first - lines_last);
        }
        name = site.function.name;
        next = caller.parent;
    }
}

fn count(first: *const abi.Caller) usize {
    var total: usize = 0;
    var next: ?*const abi.Caller = first;
    while (next) |caller| : (next = caller.parent) {
        if (caller.site == null) break;
        total += 1;
    }
    return total;
}

fn writeCall(name: []const u8, is_start: bool, site: *const abi.Site) void {
    host.writeStderr("  in ");
    host.writeStderr(name);
    host.writeStderr(if (is_start) ", started at " else ", called at ");
    writePlace(site);
    host.writeStderr("\n");
}

fn writeMore(hidden: usize) void {
    host.writeStderr("  … ");
    writeNumber(hidden);
    host.writeStderr(" more\n");
}

/// `FILE:LINE:COLUMN`.
pub fn writePlace(site: *const abi.Site) void {
    host.writeStderr(site.function.file.slice());
    host.writeStderr(":");
    writeNumber(site.line);
    host.writeStderr(":");
    writeNumber(site.column);
}

/// Without a text, which would need memory: there may be none.
fn writeNumber(number: u64) void {
    var digits: [20]u8 = undefined;
    var start: usize = digits.len;
    var rest = number;
    while (true) {
        start -= 1;
        digits[start] = @intCast('0' + rest % 10);
        rest /= 10;
        if (rest == 0) break;
    }
    host.writeStderr(digits[start..]);
}
