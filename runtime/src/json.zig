//! A strict reader of JSON text (RFC 8259), byte by byte, without a tree: the callers walk the text themselves, with the
//! type in hand that they expect. Nothing is repaired.

const std = @import("std");
const assert = std.debug.assert;
const Allocator = std.mem.Allocator;

/// Deeper nesting than this is refused in an answer, so a walk may recurse.
pub const depth_max = 128;

pub const Error = error{ Syntax, OutOfMemory };

pub const Kind = enum { object, array, string, number, bool, null };

pub const Number = struct {
    text: []const u8,
    /// Written without a point and without an exponent.
    whole: bool,
};

pub const Cursor = struct {
    text: []const u8,
    position: usize = 0,
    /// After error.Syntax: what is wrong at `position`.
    problem: []const u8 = "",
    /// Reads half of a surrogate pair as WTF-8 instead of refusing it.
    keeps_lone_surrogates: bool = false,
    /// How deep `skipValue` and `copyValue` let a value be nested.
    nesting_max: usize = depth_max,

    pub fn fail(cursor: *Cursor, problem: []const u8) error{Syntax} {
        cursor.problem = problem;
        return error.Syntax;
    }

    pub fn skipSpace(cursor: *Cursor) void {
        while (cursor.position < cursor.text.len) : (cursor.position += 1) {
            switch (cursor.text[cursor.position]) {
                ' ', '\t', '\n', '\r' => {},
                else => return,
            }
        }
    }

    /// The next byte after white space, or null at the end.
    pub fn peek(cursor: *Cursor) ?u8 {
        cursor.skipSpace();
        return if (cursor.position < cursor.text.len) cursor.text[cursor.position] else null;
    }

    pub fn peekKind(cursor: *Cursor) error{Syntax}!Kind {
        const byte = cursor.peek() orelse return cursor.fail("the text ends too early");
        return switch (byte) {
            '{' => .object,
            '[' => .array,
            '"' => .string,
            '-', '0'...'9' => .number,
            't', 'f' => .bool,
            'n' => .null,
            else => cursor.fail("there is no JSON value here"),
        };
    }

    /// Steps over `byte` when it comes next.
    pub fn take(cursor: *Cursor, byte: u8) bool {
        if (cursor.peek() != byte) return false;
        cursor.position += 1;
        return true;
    }

    pub fn expect(cursor: *Cursor, byte: u8) error{Syntax}!void {
        if (cursor.take(byte)) return;
        if (cursor.position == cursor.text.len) return cursor.fail("the text ends too early");
        return cursor.fail(switch (byte) {
            ':' => "a `:` is missing here",
            '"' => "a string is missing here",
            '{' => "an object is missing here",
            '[' => "an array is missing here",
            ']' => "a `,` or `]` is missing here",
            '}' => "a `,` or `}` is missing here",
            else => unreachable,
        });
    }

    /// The start of an object or array; `next` then steps from one member to the next.
    pub fn open(cursor: *Cursor, byte: u8) error{Syntax}!Members {
        assert(byte == '{' or byte == '[');
        try cursor.expect(byte);
        return .{ .cursor = cursor, .close = if (byte == '{') '}' else ']' };
    }

    pub fn end(cursor: *Cursor) error{Syntax}!void {
        if (cursor.peek() != null) return cursor.fail("there is more text after the value");
    }

    pub fn boolean(cursor: *Cursor) error{Syntax}!bool {
        const is_true = cursor.peek() == 't';
        try cursor.word(if (is_true) "true" else "false");
        return is_true;
    }

    fn word(cursor: *Cursor, expected: []const u8) error{Syntax}!void {
        cursor.skipSpace();
        for (expected) |letter| {
            const byte = cursor.current() orelse return cursor.fail("the text ends too early");
            if (byte != letter) return cursor.fail("there is no JSON value here");
            cursor.position += 1;
        }
    }

    pub fn number(cursor: *Cursor) error{Syntax}!Number {
        cursor.skipSpace();
        const start = cursor.position;
        var whole = true;
        cursor.skipByte('-');
        if (cursor.current() == '0') {
            cursor.position += 1;
        } else {
            try cursor.digits();
        }
        if (cursor.current() == '.') {
            whole = false;
            cursor.position += 1;
            try cursor.digits();
        }
        if (cursor.current() == 'e' or cursor.current() == 'E') {
            whole = false;
            cursor.position += 1;
            if (cursor.current() == '+' or cursor.current() == '-') cursor.position += 1;
            try cursor.digits();
        }
        switch (cursor.current() orelse ' ') {
            '0'...'9', 'a'...'z', 'A'...'Z', '.', '+', '-', '_' => return cursor.fail("this is no JSON number"),
            else => {},
        }
        return .{ .text = cursor.text[start..cursor.position], .whole = whole };
    }

    fn current(cursor: *const Cursor) ?u8 {
        return if (cursor.position < cursor.text.len) cursor.text[cursor.position] else null;
    }

    fn skipByte(cursor: *Cursor, byte: u8) void {
        if (cursor.current() == byte) cursor.position += 1;
    }

    fn digits(cursor: *Cursor) error{Syntax}!void {
        const start = cursor.position;
        while (cursor.position < cursor.text.len and std.ascii.isDigit(cursor.text[cursor.position])) {
            cursor.position += 1;
        }
        if (cursor.position == start) return cursor.fail("this is no JSON number");
    }

    /// Steps over a string, and appends its text to `out` unless that is null.
    pub fn string(cursor: *Cursor, allocator: Allocator, out: ?*std.ArrayList(u8)) Error!void {
        try cursor.expect('"');
        while (true) {
            const start = cursor.position;
            while (cursor.position < cursor.text.len) : (cursor.position += 1) {
                const byte = cursor.text[cursor.position];
                if (byte == '"' or byte == '\\' or byte < 0x20) break;
            }
            if (out) |list| try list.appendSlice(allocator, cursor.text[start..cursor.position]);
            const byte = cursor.current() orelse return cursor.fail("a string does not end");
            if (byte < 0x20) return cursor.fail("a control character stands bare in a string");
            cursor.position += 1;
            if (byte == '"') return;
            try cursor.escape(allocator, out);
        }
    }

    fn escape(cursor: *Cursor, allocator: Allocator, out: ?*std.ArrayList(u8)) Error!void {
        const byte = cursor.current() orelse return cursor.fail("a string does not end");
        const plain: u8 = switch (byte) {
            '"', '\\', '/' => byte,
            'b' => 0x08,
            'f' => 0x0c,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return cursor.escapeUnicode(allocator, out),
            else => return cursor.fail("an escape that JSON does not have"),
        };
        cursor.position += 1;
        if (out) |list| try list.append(allocator, plain);
    }

    fn escapeUnicode(cursor: *Cursor, allocator: Allocator, out: ?*std.ArrayList(u8)) Error!void {
        const start = cursor.position - 1; // The backslash.
        const first = try cursor.codeUnit();
        const code_point = try cursor.secondHalf(first) orelse first;
        const is_lone = code_point >= 0xd800 and code_point < 0xe000;
        if (is_lone and !cursor.keeps_lone_surrogates) {
            cursor.position = start;
            return cursor.fail("half of a surrogate pair stands alone");
        }
        var bytes: [4]u8 = undefined;
        const length = std.unicode.wtf8Encode(code_point, &bytes) catch unreachable;
        if (out) |list| try list.appendSlice(allocator, bytes[0..length]);
    }

    /// The code point of a surrogate pair, when `first` begins one and its other half follows.
    fn secondHalf(cursor: *Cursor, first: u16) error{Syntax}!?u21 {
        if (first < 0xd800 or first >= 0xdc00) return null;
        const after_first = cursor.position;
        if (std.mem.startsWith(u8, cursor.text[cursor.position..], "\\u")) {
            cursor.position += 1;
            const second = try cursor.codeUnit();
            if (second >= 0xdc00 and second < 0xe000) {
                return 0x10000 + ((@as(u21, first) - 0xd800) << 10) + (second - 0xdc00);
            }
        }
        cursor.position = after_first;
        return null;
    }

    /// The four digits after `\u`.
    fn codeUnit(cursor: *Cursor) error{Syntax}!u16 {
        assert(cursor.current() == 'u');
        cursor.position += 1;
        var value: u16 = 0;
        for (0..4) |_| {
            const byte = cursor.current() orelse return cursor.fail("a string does not end");
            const digit = std.fmt.charToDigit(byte, 16) catch return cursor.fail("`\\u` needs four hexadecimal digits");
            value = value * 16 + digit;
            cursor.position += 1;
        }
        return value;
    }

    /// Checks that the text is one whole value, and goes back to its start.
    pub fn checkForm(cursor: *Cursor, allocator: Allocator) Error!void {
        assert(cursor.position == 0);
        try cursor.skipValue(allocator, 0);
        try cursor.end();
        cursor.position = 0;
    }

    /// Steps over any value and checks its form; `depth` is the number of containers around it.
    pub fn skipValue(cursor: *Cursor, allocator: Allocator, depth: usize) Error!void {
        switch (try cursor.peekKind()) {
            .object => {
                if (depth == cursor.nesting_max) return cursor.fail("the value is nested too deeply");
                var members = try cursor.open('{');
                while (try members.next()) {
                    try cursor.string(allocator, null);
                    try cursor.expect(':');
                    try cursor.skipValue(allocator, depth + 1);
                }
            },
            .array => {
                if (depth == cursor.nesting_max) return cursor.fail("the value is nested too deeply");
                var members = try cursor.open('[');
                while (try members.next()) try cursor.skipValue(allocator, depth + 1);
            },
            .string => try cursor.string(allocator, null),
            .number => _ = try cursor.number(),
            .bool => _ = try cursor.boolean(),
            .null => try cursor.word("null"),
        }
    }
};

/// Steps through the members of an object or the elements of an array.
pub const Members = struct {
    cursor: *Cursor,
    close: u8,
    first: bool = true,

    /// True with the cursor at the next member; false after the closing bracket.
    pub fn next(members: *Members) error{Syntax}!bool {
        defer members.first = false;
        if (members.first) return !members.cursor.take(members.close);
        if (members.cursor.take(',')) return true;
        try members.cursor.expect(members.close);
        return false;
    }
};

/// Copies the value at the cursor without the white space in it. Numbers stay as they are written, and strings are
/// escaped anew, only where they must be.
pub fn copyValue(cursor: *Cursor, list: *std.ArrayList(u8), allocator: Allocator, depth: usize) Error!void {
    const kind = try cursor.peekKind();
    const start = cursor.position;
    switch (kind) {
        .object, .array => {
            if (depth == cursor.nesting_max) return cursor.fail("the value is nested too deeply");
            const open_byte: u8 = if (kind == .object) '{' else '[';
            try list.append(allocator, open_byte);
            var members = try cursor.open(open_byte);
            while (true) {
                const is_first = members.first;
                if (!try members.next()) break;
                if (!is_first) try list.append(allocator, ',');
                if (kind == .object) {
                    try copyString(cursor, list, allocator);
                    try cursor.expect(':');
                    try list.append(allocator, ':');
                }
                try copyValue(cursor, list, allocator, depth + 1);
            }
            try list.append(allocator, members.close);
        },
        .string => try copyString(cursor, list, allocator),
        .number, .bool, .null => {
            try cursor.skipValue(allocator, depth);
            try list.appendSlice(allocator, cursor.text[start..cursor.position]);
        },
    }
}

fn copyString(cursor: *Cursor, list: *std.ArrayList(u8), allocator: Allocator) Error!void {
    var text: std.ArrayList(u8) = .empty;
    defer text.deinit(allocator);
    try cursor.string(allocator, &text);
    try appendString(list, allocator, text.items);
}

/// Appends WTF-8 text as a JSON string. Text with half of a surrogate pair, which is no UTF-8, comes out in ASCII.
pub fn appendString(list: *std.ArrayList(u8), allocator: Allocator, text: []const u8) Allocator.Error!void {
    const is_utf8 = std.unicode.utf8ValidateSlice(text);
    try list.append(allocator, '"');
    var code_points = std.unicode.Wtf8View.initUnchecked(text).iterator();
    while (code_points.nextCodepointSlice()) |bytes| {
        const code_point = std.unicode.wtf8Decode(bytes) catch unreachable;
        switch (code_point) {
            '"', '\\' => try list.appendSlice(allocator, &.{ '\\', bytes[0] }),
            0x08 => try list.appendSlice(allocator, "\\b"),
            0x0c => try list.appendSlice(allocator, "\\f"),
            '\n' => try list.appendSlice(allocator, "\\n"),
            '\r' => try list.appendSlice(allocator, "\\r"),
            '\t' => try list.appendSlice(allocator, "\\t"),
            0...0x07, 0x0b, 0x0e...0x1f => try appendUnit(list, allocator, @intCast(code_point)),
            else => {
                if (is_utf8 or code_point < 0x80) {
                    try list.appendSlice(allocator, bytes);
                } else if (code_point < 0x10000) {
                    try appendUnit(list, allocator, @intCast(code_point));
                } else {
                    try appendUnit(list, allocator, @intCast(0xd800 + ((code_point - 0x10000) >> 10)));
                    try appendUnit(list, allocator, @intCast(0xdc00 + ((code_point - 0x10000) & 0x3ff)));
                }
            },
        }
    }
    try list.append(allocator, '"');
}

fn appendUnit(list: *std.ArrayList(u8), allocator: Allocator, unit: u16) Allocator.Error!void {
    try list.print(allocator, "\\u{x:0>4}", .{unit});
}

const testing = std.testing;

fn isValid(text: []const u8) bool {
    var cursor: Cursor = .{ .text = text };
    cursor.checkForm(testing.allocator) catch return false;
    return true;
}

test "what is JSON and what is not" {
    const valid = [_][]const u8{
        "{}",          "[]",    " [1, 2.5e-3, -0, 0.5] ", "{\"a\": {\"b\": null}, \"a\": true}",
        "\"\\u0041\"", "false", "\"\\ud83d\\ude00\"",     "1e400",
    };
    for (valid) |text| try testing.expect(isValid(text));
    const invalid = [_][]const u8{
        "",         "01",           "1.",          "-",               "+1",     ".5",       "NaN",     "nul",   "[1,]", "{,}",
        "{\"a\"}",  "{a: 1}",       "\"\\ud83d\"", "\"\\ude00\"",     "\"\n\"", "\"\\x\"",  "tru",     "1 2",   "'a'",  "1_000",
        "\"\\u00g", "\"\\ud83d\\n", "[1 2]",       "{\"a\": 1 \"b\"", "\"a",    "Infinity", "/* */ 1", "truex",
    };
    for (invalid) |text| try testing.expect(!isValid(text));
}

test "nesting of 128 is read, 129 and 100,000 are refused" {
    const open_brackets: [100_000]u8 = @splat('[');
    const close_brackets: [depth_max]u8 = @splat(']');
    try testing.expect(isValid(open_brackets[0..depth_max] ++ close_brackets));
    var cursor: Cursor = .{ .text = &open_brackets };
    try testing.expectError(error.Syntax, cursor.skipValue(testing.allocator, 0));
    try testing.expectEqual(@as(usize, depth_max), cursor.position);
}

test "what is no JSON is said with its place" {
    const cases = [_]struct { []const u8, usize, []const u8 }{
        .{ "", 0, "the text ends too early" },
        .{ " [1, ", 5, "the text ends too early" },
        .{ "tru", 3, "the text ends too early" },
        .{ "{\"a\":1", 6, "the text ends too early" },
        .{ "The answer", 0, "there is no JSON value here" },
        .{ "trye", 2, "there is no JSON value here" },
        .{ "[1,]", 3, "there is no JSON value here" },
        .{ "1 2", 2, "there is more text after the value" },
        .{ "nullx", 4, "there is more text after the value" },
        .{ "{\"a\" 1}", 5, "a `:` is missing here" },
        .{ "{\"a\":1,}", 7, "a string is missing here" },
        .{ "[1 2]", 3, "a `,` or `]` is missing here" },
        .{ "{\"a\":1]", 6, "a `,` or `}` is missing here" },
        .{ "01", 1, "this is no JSON number" },
        .{ "-", 1, "this is no JSON number" },
        .{ "1.e5", 2, "this is no JSON number" },
        .{ "\"a", 2, "a string does not end" },
        .{ "\"a\\", 3, "a string does not end" },
        .{ "\"\\u12", 5, "a string does not end" },
        .{ "\"a\n\"", 2, "a control character stands bare in a string" },
        .{ "\"\\x\"", 2, "an escape that JSON does not have" },
        .{ "\"\\u12g4\"", 5, "`\\u` needs four hexadecimal digits" },
        .{ "\"\u{e9}\\ud83d\"", 3, "half of a surrogate pair stands alone" },
        .{ "\"\\ud83d\\u00\"", 11, "`\\u` needs four hexadecimal digits" },
    };
    for (cases) |case| {
        var cursor: Cursor = .{ .text = case[0] };
        try testing.expectError(error.Syntax, cursor.checkForm(testing.allocator));
        try testing.expectEqualStrings(case[2], cursor.problem);
        try testing.expectEqual(case[1], cursor.position);
    }
}

test "strings are read to their text and written back" {
    var list: std.ArrayList(u8) = .empty;
    defer list.deinit(testing.allocator);
    var cursor: Cursor = .{ .text = "\"a\\n\\u00e9\\ud83d\\ude00\\/\\\"\"" };
    try cursor.string(testing.allocator, &list);
    try testing.expectEqualStrings("a\n\u{e9}\u{1f600}/\"", list.items);
    list.clearRetainingCapacity();
    const copies = [_][2][]const u8{
        .{ " { \"a b\" : [ 1.0 , \"\\\" }\", [ ] , { } ] } ", "{\"a b\":[1.0,\"\\\" }\",[],{}]}" },
        .{ "\"\\u0061\\u000b\\b\\/\\u00e9\\u007f\"", "\"a\\u000b\\b/\u{e9}\x7f\"" },
        .{ "\"\u{e9}\\ud83d\\ud83d\\ude00\"", "\"\\u00e9\\ud83d\\ud83d\\ude00\"" },
        .{ "[true, null, -0, 1e400]", "[true,null,-0,1e400]" },
    };
    for (copies) |copy| {
        list.clearRetainingCapacity();
        cursor = .{ .text = copy[0], .keeps_lone_surrogates = true };
        try copyValue(&cursor, &list, testing.allocator, 0);
        try testing.expectEqualStrings(copy[1], list.items);
    }
}
