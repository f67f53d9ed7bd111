//! Why a state file cannot be used, in words: what is wrong, and what to do.
//! `compiler/kavachc/state/problem.py` has the same words; a test compares them.

const std = @import("std");
const linux = std.os.linux;
const abi = @import("abi.zig");
const show = @import("show.zig");
const text = @import("text.zig");

pub const Kind = enum {
    cannot_create,
    cannot_open,
    cannot_read,
    cannot_write,
    not_durable,
    not_regular,
    empty,
    other_kind,
    newer,
    damaged,
    lost_records,
    replaced,
};

pub const Problem = struct {
    kind: Kind,
    /// For the kinds that come from the system.
    code: linux.E = .SUCCESS,
    /// A version, or places in the file.
    number: u64 = 0,
    number_2: u64 = 0,

    pub fn appendWhat(problem: Problem, out: *abi.Text) void {
        switch (problem.kind) {
            .cannot_create => appendReason(out, "cannot be created: ", problem.code),
            .cannot_open => appendReason(out, "cannot be opened for reading and writing: ", problem.code),
            .cannot_read => appendReason(out, "cannot be read: ", problem.code),
            .cannot_write => appendReason(out, "cannot be written: ", problem.code),
            .not_durable => appendReason(out, "cannot be made durable: ", problem.code),
            .not_regular => text.append(out, "is not a regular file"),
            .empty => text.append(out, "is empty, which a state file never is"),
            .other_kind => text.append(out, "is not a state file of Kavach"),
            .newer => {
                text.append(out, "has format ");
                show.int(out, @intCast(problem.number));
                text.append(out, ", and this program knows format 1 only");
            },
            .damaged => {
                text.append(out, "is damaged at byte ");
                show.int(out, @intCast(problem.number));
            },
            .lost_records => {
                text.append(out, "has lost records: it once had ");
                show.int(out, @intCast(problem.number));
                text.append(out, " bytes of them, and now ");
                show.int(out, @intCast(problem.number_2));
            },
            .replaced => text.append(out, "was removed or replaced while the program ran"),
        }
    }

    pub fn help(problem: Problem) []const u8 {
        return switch (problem.kind) {
            .cannot_create => switch (problem.code) {
                .EXIST => "remove what has that name, or name another file",
                else => "name a file in a folder that exists and can be written to",
            },
            .cannot_open => "let this program read and write the file, or name another one",
            .cannot_read => "see whether its disk is in order",
            .cannot_write => switch (problem.code) {
                .NOSPC, .DQUOT => "make room on its disk, then call again",
                .FBIG => "allow larger files (`ulimit -f`), then call again",
                else => "let this program write the file, and see whether its disk is in order",
            },
            .not_durable => "see whether its disk is in order, then start the program again",
            .not_regular => "name a file that is one, or that does not exist yet",
            .empty => "restore it from a backup, or remove it to begin with empty windows",
            .other_kind => "name another file",
            .newer => "use a newer version of kavachc, or name another file",
            .damaged, .lost_records => "restore it from a backup, or move it away to begin with empty windows",
            .replaced => "start the program again",
        };
    }

    /// `state file PATH WHAT: HELP`, for the reason of a refused call.
    pub fn appendReasonOf(problem: Problem, path: []const u8, out: *abi.Text) void {
        text.append(out, "state file ");
        text.append(out, path);
        text.append(out, " ");
        problem.appendWhat(out);
        text.append(out, "; ");
        text.append(out, problem.help());
    }
};

fn appendReason(out: *abi.Text, what: []const u8, code: linux.E) void {
    text.append(out, what);
    appendReasonOfSystem(out, code);
}

pub fn appendReasonOfSystem(out: *abi.Text, code: linux.E) void {
    const reason: []const u8 = switch (code) {
        .PERM => "operation not permitted",
        .NOENT => "no such file or directory",
        .IO => "input/output error",
        .ACCES => "permission denied",
        .EXIST => "its name with `.new` at the end is taken",
        .NOTDIR => "not a directory",
        .ISDIR => "is a directory",
        .MFILE => "too many open files",
        .FBIG => "file too large",
        .NOSPC => "no space left on device",
        .ROFS => "read-only file system",
        .NOLCK => "no locks available",
        .LOOP => "too many levels of symbolic links",
        .DQUOT => "disk quota exceeded",
        .NAMETOOLONG => "file name too long",
        .TXTBSY => "text file busy",
        else => "",
    };
    if (reason.len > 0) return text.append(out, reason);
    text.append(out, "error ");
    show.int(out, @backingInt(code));
}
