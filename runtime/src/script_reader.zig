//! Reads the scripted model's file. Every key is known or refused by name; so is a value of the wrong type, with its
//! place, since a script that is quietly misread makes a test that proves nothing.

const std = @import("std");
const json = @import("json.zig");
const transport = @import("transport.zig");
const assert = std.debug.assert;
const Allocator = std.mem.Allocator;

pub const Error = error{ Invalid, OutOfMemory };
/// Also what a walk over the text gives, before `read` has put it into words.
const ReadError = error{ Syntax, Invalid, OutOfMemory };

/// An answer stands inside the file's object, the array of replies and its reply.
const nesting_max = json.depth_max + 3;

pub const Reply = struct {
    reply: transport.Reply,
    delay_ns: i64 = 0,
    /// How often it is still to be used.
    times_left: i64 = 1,
    when: ?[]const u8 = null,
};

pub const Then = enum { repeat_last, fail };
pub const CapacityStep = struct { start_ns: i64, capacity: u64 };

pub const Script = struct {
    replies: []Reply = &.{},
    then: Then = .repeat_last,
    /// In ascending order of time.
    capacity: []const CapacityStep = &.{},
    /// Every reply without `when` before this one is used up.
    next_plain: usize = 0,

    /// The reply for a request that arrives now; null when there is none left.
    pub fn next(script: *Script, prompt: []const u8) ?*const Reply {
        for (script.replies) |*reply| {
            if (reply.times_left > 0 and matches(reply, prompt)) return use(reply);
        }
        while (script.next_plain < script.replies.len) : (script.next_plain += 1) {
            const reply = &script.replies[script.next_plain];
            if (reply.when == null and reply.times_left > 0) return use(reply);
        }
        return if (script.then == .repeat_last) script.last(prompt) else null;
    }

    fn use(reply: *Reply) *const Reply {
        assert(reply.times_left > 0);
        reply.times_left -= 1;
        return reply;
    }

    /// The last reply without `when`, else the last one whose `when` matches.
    fn last(script: *const Script, prompt: []const u8) ?*const Reply {
        var found: ?*const Reply = null;
        for (script.replies) |*reply| {
            if (reply.when == null) found = reply;
        }
        if (found != null) return found;
        for (script.replies) |*reply| {
            if (matches(reply, prompt)) found = reply;
        }
        return found;
    }

    /// How many requests may be under way; null: any number.
    pub fn capacityAt(script: *const Script, since_start_ns: i64) ?u64 {
        var capacity: ?u64 = null;
        for (script.capacity) |step| {
            if (step.start_ns <= since_start_ns) capacity = step.capacity;
        }
        return capacity;
    }
};

fn matches(reply: *const Reply, prompt: []const u8) bool {
    const when = reply.when orelse return false;
    return std.mem.indexOf(u8, prompt, when) != null;
}

/// The script in `content`; it lives in the arena. On error.Invalid, `problem` says what is wrong and where.
pub fn read(arena: Allocator, content: []const u8, problem: *std.ArrayList(u8)) Error!Script {
    const cursor: json.Cursor = .{ .text = content, .nesting_max = nesting_max, .keeps_lone_surrogates = true };
    var reader: Reader = .{ .arena = arena, .cursor = cursor };
    return reader.script() catch |failure| switch (failure) {
        error.OutOfMemory => error.OutOfMemory,
        error.Invalid => {
            try problem.appendSlice(arena, reader.problem.items);
            return error.Invalid;
        },
        error.Syntax => {
            const before = content[0..reader.cursor.position];
            const line = std.mem.count(u8, before, "\n") + 1;
            const line_start = if (std.mem.lastIndexOfScalar(u8, before, '\n')) |index| index + 1 else 0;
            const column = (std.unicode.utf8CountCodepoints(before[line_start..]) catch unreachable) + 1;
            const arguments = .{ line, column, reader.cursor.problem };
            try problem.print(arena, "no valid JSON at line {d}, column {d}: {s}", arguments);
            return error.Invalid;
        },
    };
}

/// The keys of a reply while they are read.
const Keys = struct {
    answer: ?[]const u8 = null,
    text: ?[]const u8 = null,
    status: ?i64 = null,
    drop: ?bool = null,
    input_tokens: ?i64 = null,
    output_tokens: ?i64 = null,
    stop_reason: ?transport.Stop = null,
    headers: ?Headers = null,
    message: ?[]const u8 = null,
    error_code: ?[]const u8 = null,
    delay: ?i64 = null,
    times: ?i64 = null,
    when: ?[]const u8 = null,
};

const Headers = struct { retry_after: ?[]const u8 };

const TopKeys = struct { replies: ?[]Reply = null, then: ?Then = null, capacity: ?[]const CapacityStep = null };

/// Every key there is.
const Key = enum {
    replies,
    then,
    capacity,
    answer,
    text,
    status,
    drop,
    input_tokens,
    output_tokens,
    stop_reason,
    headers,
    message,
    error_code,
    delay,
    times,
    when,
};

const stop_reasons = std.StaticStringMap(transport.Stop).initComptime(.{
    .{ "end_turn", .complete },
    .{ "stop_sequence", .complete },
    .{ "refusal", .refusal },
    .{ "max_tokens", .cut_off },
    .{ "model_context_window_exceeded", .cut_off },
});

const Reader = struct {
    arena: Allocator,
    cursor: json.Cursor,
    problem: std.ArrayList(u8) = .empty,
    /// Where the walk is, as `replies[2].status`.
    path: std.ArrayList(u8) = .empty,

    fn script(reader: *Reader) ReadError!Script {
        if (!std.unicode.utf8ValidateSlice(reader.cursor.text)) return reader.invalid("not valid UTF-8", .{});
        try reader.cursor.checkForm(reader.arena);
        const keys = try reader.object(TopKeys);
        return .{
            .replies = keys.replies orelse return reader.invalid("the key \"replies\" is missing", .{}),
            .then = keys.then orelse .repeat_last,
            .capacity = keys.capacity orelse &.{},
        };
    }

    /// An object with some of the fields of `T` as keys, each at most once; `readKey` reads each value.
    fn object(reader: *Reader, comptime T: type) ReadError!T {
        var keys: T = .{};
        if (try reader.cursor.peekKind() != .object) return reader.invalid("expected an object", .{});
        const path_length = reader.path.items.len;
        var members = try reader.cursor.open('{');
        members: while (try members.next()) {
            const name = try reader.string();
            try reader.cursor.expect(':');
            inline for (@typeInfo(T).@"struct".field_names) |field_name| {
                if (std.mem.eql(u8, name, field_name)) {
                    try reader.path.print(reader.arena, "{s}{s}", .{ if (path_length == 0) "" else ".", name });
                    if (@field(keys, field_name) != null) return reader.invalid("the key is given twice", .{});
                    @field(keys, field_name) = try reader.readKey(field_name);
                    reader.path.shrinkRetainingCapacity(path_length);
                    continue :members;
                }
            }
            return reader.invalid("unknown key \"{s}\"", .{name});
        }
        return keys;
    }

    fn KeyValue(comptime name: []const u8) type {
        const T = if (@hasField(TopKeys, name)) TopKeys else Keys;
        return @typeInfo(@FieldType(T, name)).optional.child;
    }

    fn readKey(reader: *Reader, comptime name: []const u8) ReadError!KeyValue(name) {
        return switch (comptime std.meta.stringToEnum(Key, name).?) {
            .replies => reader.replies(),
            .then => std.meta.stringToEnum(Then, try reader.stringValue()) orelse
                reader.invalid("expected \"repeat_last\" or \"fail\"", .{}),
            .capacity => reader.capacity(),
            .answer => reader.answer(),
            .text, .message, .error_code => reader.stringValue(),
            .when => {
                const piece = try reader.stringValue();
                return if (piece.len > 0) piece else reader.invalid("expected a text that is not empty", .{});
            },
            .status => reader.wholeNumber(400, 599),
            .drop => reader.literallyTrue(),
            .input_tokens, .output_tokens => reader.wholeNumber(0, std.math.maxInt(i64)),
            .times => reader.wholeNumber(1, std.math.maxInt(i64)),
            .delay => reader.duration(),
            .headers => reader.headers(),
            .stop_reason => stop_reasons.get(try reader.stringValue()) orelse reader.invalid(
                "expected \"end_turn\", \"stop_sequence\", \"refusal\", \"max_tokens\" or \"model_context_window_exceeded\"",
                .{},
            ),
        };
    }

    fn replies(reader: *Reader) ReadError![]Reply {
        if (try reader.cursor.peekKind() != .array) return reader.invalid("expected an array of replies", .{});
        var list: std.ArrayList(Reply) = .empty;
        const path_length = reader.path.items.len;
        var members = try reader.cursor.open('[');
        while (try members.next()) {
            try reader.path.print(reader.arena, "[{d}]", .{list.items.len});
            try list.append(reader.arena, try reader.reply(try reader.object(Keys)));
            reader.path.shrinkRetainingCapacity(path_length);
        }
        return list.items;
    }

    fn reply(reader: *Reader, keys: Keys) ReadError!Reply {
        const has_text = keys.answer != null or keys.text != null;
        const kinds = [_]bool{ keys.answer != null, keys.text != null, keys.status != null, keys.drop != null };
        if (std.mem.count(bool, &kinds, &.{true}) != 1) {
            return reader.invalid("needs exactly one of \"answer\", \"text\", \"status\" and \"drop\"", .{});
        }
        inline for (.{ "input_tokens", "output_tokens", "stop_reason" }) |name| {
            if (!has_text and @field(keys, name) != null) {
                return reader.invalid("\"{s}\" goes with \"answer\" or \"text\" only", .{name});
            }
        }
        inline for (.{ "headers", "message", "error_code" }) |name| {
            if (keys.status == null and @field(keys, name) != null) {
                return reader.invalid("\"{s}\" goes with \"status\" only", .{name});
            }
        }
        return .{
            .reply = try modelReply(keys),
            .delay_ns = keys.delay orelse 0,
            .times_left = keys.times orelse 1,
            .when = keys.when,
        };
    }

    fn modelReply(keys: Keys) ReadError!transport.Reply {
        if (keys.drop != null) return .{ .dropped = .{} };
        if (keys.status) |status| return .{ .failure = .{
            .status = status,
            .message = keys.message,
            .error_code = keys.error_code orelse "",
            .retry_after = if (keys.headers) |values| values.retry_after else null,
        } };
        return .{ .answer = .{
            .text = keys.answer orelse keys.text.?,
            .stop = keys.stop_reason orelse .complete,
            .usage = .{ .input_tokens = keys.input_tokens orelse 60, .output_tokens = keys.output_tokens orelse 10 },
        } };
    }

    /// Any value at all: what does not fit is for the answer's check to say.
    fn answer(reader: *Reader) ReadError![]const u8 {
        var copy: std.ArrayList(u8) = .empty;
        try json.copyValue(&reader.cursor, &copy, reader.arena, 0);
        return copy.items;
    }

    fn headers(reader: *Reader) ReadError!Headers {
        if (try reader.cursor.peekKind() != .object) return reader.invalid("expected an object of texts", .{});
        var values: Headers = .{ .retry_after = null };
        var members = try reader.cursor.open('{');
        while (try members.next()) {
            const name = try reader.string();
            try reader.cursor.expect(':');
            const value = try reader.stringValue();
            if (std.ascii.eqlIgnoreCase(name, "retry-after")) values.retry_after = value;
        }
        return values;
    }

    fn capacity(reader: *Reader) ReadError![]const CapacityStep {
        const kind = try reader.cursor.peekKind();
        var list: std.ArrayList(CapacityStep) = .empty;
        if (kind == .number) {
            try list.append(reader.arena, .{ .start_ns = 0, .capacity = try reader.capacityNumber() });
            return list.items;
        }
        const wanted = "expected a number, or a list of [time, number] with ascending times";
        if (kind != .array) return reader.invalid(wanted, .{});
        var members = try reader.cursor.open('[');
        while (try members.next()) {
            if (try reader.cursor.peekKind() != .array) return reader.invalid(wanted, .{});
            var pair = try reader.cursor.open('[');
            if (!try pair.next()) return reader.invalid(wanted, .{});
            const is_number = try reader.cursor.peekKind() == .number;
            const start_ns = if (is_number) try reader.wholeNumber(0, 0) else try reader.duration();
            if (list.items.len > 0 and list.getLast().start_ns >= start_ns) return reader.invalid(wanted, .{});
            if (!try pair.next()) return reader.invalid(wanted, .{});
            try list.append(reader.arena, .{ .start_ns = start_ns, .capacity = try reader.capacityNumber() });
            if (try pair.next()) return reader.invalid(wanted, .{});
        }
        return list.items;
    }

    fn capacityNumber(reader: *Reader) ReadError!u64 {
        return @intCast(try reader.wholeNumber(0, std.math.maxInt(i64)));
    }

    fn literallyTrue(reader: *Reader) ReadError!bool {
        if (try reader.cursor.peekKind() != .bool) return reader.invalid("expected true", .{});
        return if (try reader.cursor.boolean()) true else reader.invalid("expected true", .{});
    }

    fn wholeNumber(reader: *Reader, least: i64, most: i64) ReadError!i64 {
        if (try reader.cursor.peekKind() == .number) {
            const number = try reader.cursor.number();
            if (@import("json_check.zig").parseInt(number)) |value| {
                if (value >= least and value <= most) return value;
            }
        }
        if (least == most) return reader.invalid("expected {d}, or a text such as \"2s\"", .{least});
        if (most == std.math.maxInt(i64)) return reader.invalid("expected a whole number from {d} up", .{least});
        return reader.invalid("expected a whole number from {d} to {d}", .{ least, most });
    }

    /// A text such as `50ms`: a whole number and a unit.
    fn duration(reader: *Reader) ReadError!i64 {
        const value = try reader.stringValue();
        return parseDuration(value) orelse reader.invalid("expected a duration such as \"50ms\"", .{});
    }

    fn stringValue(reader: *Reader) ReadError![]const u8 {
        if (try reader.cursor.peekKind() != .string) return reader.invalid("expected a text", .{});
        return reader.string();
    }

    fn string(reader: *Reader) ReadError![]const u8 {
        var list: std.ArrayList(u8) = .empty;
        try reader.cursor.string(reader.arena, &list);
        // The cursor reads such a half as three bytes that are no UTF-8.
        if (!std.unicode.utf8ValidateSlice(list.items)) return reader.invalid("half of a surrogate pair is no text", .{});
        return list.items;
    }

    fn invalid(reader: *Reader, comptime format: []const u8, arguments: anytype) error{ Invalid, OutOfMemory } {
        if (reader.path.items.len > 0) try reader.problem.print(reader.arena, "{s}: ", .{reader.path.items});
        try reader.problem.print(reader.arena, format, arguments);
        return error.Invalid;
    }
};

fn parseDuration(text: []const u8) ?i64 {
    const units = [_]struct { name: []const u8, length_ns: i64 }{
        .{ .name = "ns", .length_ns = 1 },
        .{ .name = "us", .length_ns = std.time.ns_per_us },
        .{ .name = "ms", .length_ns = std.time.ns_per_ms },
        .{ .name = "s", .length_ns = std.time.ns_per_s },
        .{ .name = "m", .length_ns = 60 * std.time.ns_per_s },
        .{ .name = "h", .length_ns = 3600 * std.time.ns_per_s },
        .{ .name = "d", .length_ns = 86_400 * std.time.ns_per_s },
    };
    var digit_count: usize = 0;
    while (digit_count < text.len and std.ascii.isDigit(text[digit_count])) digit_count += 1;
    const number = std.fmt.parseInt(i64, text[0..digit_count], 10) catch return null;
    for (units) |unit| {
        if (std.mem.eql(u8, text[digit_count..], unit.name)) {
            return std.math.mul(i64, number, unit.length_ns) catch null;
        }
    }
    return null;
}

test {
    _ = @import("script_reader_test.zig");
}
