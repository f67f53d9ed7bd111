//! What a dry run says of an ask (spec 8.4.dry-run).

const abi = @import("abi.zig");
const decode = @import("decode.zig");
const host = @import("host.zig");
const memory = @import("memory.zig");
const show = @import("show.zig");
const text = @import("text.zig");
const value = @import("value.zig");

/// Shows on stderr the prompt and its answer, the JSON of a sample of `expected`.
pub fn tell(expected: *const abi.Type, prompt: []const u8, sample: []const u8) void {
    const made = memory.allocateRaw(@intCast(@max(1, expected.size)));
    defer memory.freeRaw(made);
    decode.decode(expected, sample, made);
    defer value.release(expected, made);

    var line: abi.Text = .{};
    defer text.drop(&line);
    text.append(&line, "[dry run] ask(");
    show.quoted(&line, prompt);
    text.append(&line, ") -> ");
    show.inside(&line, expected, made);
    text.append(&line, "\n");
    host.writeStderr(line.slice());
}
