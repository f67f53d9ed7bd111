//! The report that `--report` and `KAVACH_REPORT` ask for, written when the program ends (docs/spec.md, Reports).

const std = @import("std");
const abi = @import("abi.zig");
const host = @import("host.zig");
const memory = @import("memory.zig");
const show = @import("show.zig");
const textual = @import("text.zig");

/// Appends the lines of the windowed rules. The ledger sets it when it starts: a program without limits has none, and
/// does not link the ledger.
pub var ledger_lines: ?LedgerLines = null;

pub const LedgerLines = *const fn (text: *abi.Text) void;

/// Blocks that were alive before the run are not the program's.
var live_blocks_before: i64 = 0;

pub fn reset() void {
    ledger_lines = null;
    live_blocks_before = memory.liveBlocks();
}

/// False when the file could not be written; that has been said then.
pub fn write() bool {
    const path = host.options.report.optional() orelse return true;
    const live_blocks = memory.liveBlocks() - live_blocks_before; // Before the report makes blocks of its own.
    var text: abi.Text = .{};
    defer textual.drop(&text);
    textual.append(&text, "live_blocks ");
    show.int(&text, live_blocks);
    textual.append(&text, "\n");
    // Volatile, so that LLVM does not see that there is but one function that it can be: it would call that one by name,
    // and every program would link the ledger.
    const append_lines: *volatile ?LedgerLines = &ledger_lines;
    if (append_lines.*) |append| append(&text);
    if (host.writeFile(path, text.slice())) return true;
    host.writeStderr("error: cannot write the report to ");
    host.writeStderr(path);
    host.writeStderr("\n");
    return false;
}
