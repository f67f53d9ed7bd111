//! The parts of an answer that count: its text, how it ended, its tokens; or what went wrong (docs/providers.md).

const std = @import("std");
const json = @import("json.zig");
const transport = @import("transport.zig");
const Allocator = std.mem.Allocator;
const List = std.ArrayList(u8);

/// What is read of a JSON text whose form is checked. What has another type than expected is as if it were not there.
pub const Parts = struct {
    arena: Allocator,
    cursor: *json.Cursor,
    text: ?[]const u8 = null,
    stop: transport.Stop = .complete,
    counted: transport.Usage = .{},
    has_input_count: bool = false,
    has_output_count: bool = false,
    message: ?[]const u8 = null,
    error_code: []const u8 = "",

    const Reading = json.Error;

    pub fn anthropic(parts: *Parts) Reading!void {
        var object = try parts.open(.object) orelse return;
        while (try object.next()) |key| {
            if (eql(key, "content")) {
                try parts.contentBlocks();
            } else if (eql(key, "stop_reason")) {
                const reason = try parts.string() orelse "";
                parts.stop = if (eql(reason, "refusal")) .refusal else if (eql(reason, "max_tokens") or eql(reason, "model_context_window_exceeded")) .cut_off else .complete;
            } else if (eql(key, "usage")) {
                try parts.usage(&.{ "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens" }, "output_tokens");
            } else try parts.skip();
        }
    }

    fn contentBlocks(parts: *Parts) Reading!void {
        var blocks = try parts.open(.array) orelse return;
        var text: List = .empty;
        while (try blocks.nextElement()) {
            var block = try parts.open(.object) orelse continue;
            while (try block.next()) |key| {
                if (eql(key, "text")) try text.appendSlice(parts.arena, try parts.string() orelse "") else try parts.skip();
            }
        }
        parts.text = text.items;
    }

    pub fn openai(parts: *Parts) Reading!void {
        var object = try parts.open(.object) orelse return;
        while (try object.next()) |key| {
            if (eql(key, "choices")) {
                var choices = try parts.open(.array) orelse continue;
                var index: usize = 0;
                while (try choices.nextElement()) : (index += 1) {
                    if (index == 0) try parts.choice() else try parts.skip();
                }
            } else if (eql(key, "usage")) {
                try parts.usage(&.{"prompt_tokens"}, "completion_tokens");
            } else try parts.skip();
        }
    }

    fn choice(parts: *Parts) Reading!void {
        var object = try parts.open(.object) orelse return;
        var refusal: ?[]const u8 = null;
        while (try object.next()) |key| {
            if (eql(key, "message")) {
                var message = try parts.open(.object) orelse continue;
                while (try message.next()) |name| {
                    if (eql(name, "content")) {
                        parts.text = try parts.string();
                    } else if (eql(name, "refusal")) {
                        refusal = try parts.string();
                    } else try parts.skip();
                }
            } else if (eql(key, "finish_reason")) {
                const reason = try parts.string() orelse "";
                parts.stop = if (eql(reason, "content_filter")) .refusal else if (eql(reason, "length")) .cut_off else .complete;
            } else try parts.skip();
        }
        const text = refusal orelse return;
        parts.stop = .refusal;
        parts.text = text;
    }

    /// Counts the tokens under these names.
    fn usage(parts: *Parts, inputs: []const []const u8, output: []const u8) Reading!void {
        var object = try parts.open(.object) orelse return;
        while (try object.next()) |key| {
            const is_input = for (inputs) |name| {
                if (eql(key, name)) break true;
            } else false;
            const is_output = eql(key, output);
            if ((is_input or is_output) and try parts.cursor.peekKind() == .number) {
                const count = countOf((try parts.cursor.number()).text) orelse continue;
                parts.counted.add(if (is_input) .{ .input_tokens = count } else .{ .output_tokens = count });
                if (is_input) parts.has_input_count = true else parts.has_output_count = true;
            } else try parts.skip();
        }
    }

    /// What is not counted by the provider has at most one token for each byte.
    pub fn tokens(parts: *const Parts, prompt_bytes: usize, text_bytes: usize) transport.Usage {
        return .{
            .input_tokens = if (parts.has_input_count) parts.counted.input_tokens else @intCast(prompt_bytes),
            .output_tokens = if (parts.has_output_count) parts.counted.output_tokens else @intCast(text_bytes),
        };
    }

    /// `{"error": {"message": …, "code": …, "details": {"error_code": …}}}`, or with a text as `error` or `message`.
    pub fn failure(parts: *Parts) Reading!void {
        var object = try parts.open(.object) orelse return;
        while (try object.next()) |key| {
            if (eql(key, "error") and try parts.cursor.peekKind() == .object) {
                try parts.failureDetails();
            } else if (eql(key, "error") or eql(key, "message")) {
                parts.message = try parts.string() orelse parts.message;
            } else try parts.skip();
        }
    }

    fn failureDetails(parts: *Parts) Reading!void {
        var object = try parts.open(.object) orelse return;
        while (try object.next()) |key| {
            if (eql(key, "message")) {
                parts.message = try parts.string();
            } else if (eql(key, "code")) {
                parts.error_code = try parts.string() orelse parts.error_code;
            } else if (eql(key, "details")) {
                var details = try parts.open(.object) orelse continue;
                while (try details.next()) |name| {
                    if (eql(name, "error_code")) parts.error_code = try parts.string() orelse parts.error_code else try parts.skip();
                }
            } else try parts.skip();
        }
    }

    const Members = struct {
        parts: *Parts,
        members: json.Members,

        fn next(self: *Members) Reading!?[]const u8 {
            if (!try self.members.next()) return null;
            var key: List = .empty;
            try self.parts.cursor.string(self.parts.arena, &key);
            try self.parts.cursor.expect(':');
            return key.items;
        }

        fn nextElement(self: *Members) Reading!bool {
            return self.members.next();
        }
    };

    /// Null for a value of another kind, which is passed over.
    fn open(parts: *Parts, kind: json.Kind) Reading!?Members {
        if (try parts.cursor.peekKind() != kind) {
            try parts.skip();
            return null;
        }
        return .{ .parts = parts, .members = try parts.cursor.open(if (kind == .object) '{' else '[') };
    }

    fn string(parts: *Parts) Reading!?[]const u8 {
        if (try parts.cursor.peekKind() != .string) {
            try parts.skip();
            return null;
        }
        var text: List = .empty;
        try parts.cursor.string(parts.arena, &text);
        return text.items;
    }

    fn skip(parts: *Parts) Reading!void {
        try parts.cursor.skipValue(parts.arena, 0);
    }
};

/// The tokens that a JSON number says, rounded up; null for fewer than none.
fn countOf(number: []const u8) ?i64 {
    if (number[0] == '-') return null;
    if (std.mem.findAny(u8, number, ".eE") == null) return std.fmt.parseInt(i64, number, 10) catch std.math.maxInt(i64);
    const count = @ceil(std.fmt.parseFloat(f64, number) catch unreachable);
    return if (count < 0x1p63) @intFromFloat(count) else std.math.maxInt(i64);
}

fn eql(left: []const u8, right: []const u8) bool {
    return std.mem.eql(u8, left, right);
}
