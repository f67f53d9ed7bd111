//! An answer of HTTP/1.1, as it is read: lines of its head, then its body by whatever says where it ends. Nothing in it is
//! trusted: each number is bounded before it is used.

const std = @import("std");
const abi = @import("../exchange_abi.zig");
const Io = std.Io;

/// Of a head, or of the trailers. A reader of answers has a buffer at least as large.
pub const head_bytes_max = 64 * 1024;
/// More than any length has.
const length_digits_max = 20;
/// What begins an answer.
const start = "HTTP/1.";

pub const Error = error{ Dropped, Malformed, ReadFailed };

pub const Framing = union(enum) { length: u64, chunked, until_close };
pub const Encoding = enum { identity, gzip, other };

pub const Head = struct {
    status: u16,
    framing: Framing = .until_close,
    encoding: Encoding = .identity,
    keep_alive: bool,
};

pub const Header = struct { name: []const u8, value: []const u8 };

/// Reads the head; each header is given to `report`. Heads that only say that an answer will come are passed over.
pub fn readHead(in: *Io.Reader, context: anytype, report: fn (@TypeOf(context), Header) void) Error!Head {
    while (true) {
        var lines: Lines = .{ .text = try takeLines(in, .head) };
        var head = try parseStatus(lines.next().?);
        const is_final = head.status >= 200;
        if (!is_final) {
            try parseFields(&lines, &head, {}, ignore);
            continue;
        }
        try parseFields(&lines, &head, context, report);
        return head;
    }
}

/// Up to the empty line, and with it; good until the next read. Each line is looked at as soon as it has come.
fn takeLines(in: *Io.Reader, part: enum { head, trailers }) Error![]u8 {
    var looked_at: usize = 0;
    var may_fold = false;
    while (true) {
        const text = in.buffered()[0..@min(in.bufferedLen(), head_bytes_max)];
        if (part == .head and looked_at == 0 and !std.mem.eql(u8, text[0..@min(text.len, start.len)], start[0..@min(text.len, start.len)])) return error.Malformed;
        while (std.mem.findScalarPos(u8, text, looked_at, '\n')) |end| {
            const line = withoutReturn(text[looked_at..end]);
            const is_first = looked_at == 0;
            looked_at = end + 1;
            if (part == .head and is_first) {
                _ = try parseStatus(line);
            } else if (line.len == 0) {
                in.toss(looked_at);
                return text[0..looked_at];
            } else {
                if (may_fold and isFolded(line)) try checkText(line) else _ = try parseField(line);
                may_fold = true;
            }
        }
        if (text.len == head_bytes_max) return error.Malformed;
        in.fillMore() catch |failure| return switch (failure) {
            error.EndOfStream => error.Dropped,
            error.ReadFailed => error.ReadFailed,
        };
    }
}

/// Of what `takeLines` took. A line that is folded is unfolded in its place, with one blank.
const Lines = struct {
    text: []u8,

    fn next(lines: *Lines) ?[]const u8 {
        const end = std.mem.findScalar(u8, lines.text, '\n').?;
        const line = withoutReturn(lines.text[0..end]);
        if (line.len == 0) return null;
        var length = line.len;
        const all = lines.text;
        lines.text = all[end + 1 ..];
        while (isFolded(lines.text)) {
            const next_end = std.mem.findScalar(u8, lines.text, '\n').?;
            const more = std.mem.trimStart(u8, withoutReturn(lines.text[0..next_end]), " \t");
            all[length] = ' ';
            std.mem.copyForwards(u8, all[length + 1 ..][0..more.len], more);
            length += 1 + more.len;
            lines.text = lines.text[next_end + 1 ..];
        }
        return all[0..length];
    }
};

fn withoutReturn(line: []u8) []u8 {
    return if (line.len > 0 and line[line.len - 1] == '\r') line[0 .. line.len - 1] else line;
}

fn isFolded(line: []const u8) bool {
    return line.len > 0 and (line[0] == ' ' or line[0] == '\t');
}

fn parseStatus(line: []const u8) Error!Head {
    // `HTTP/1.1 200 OK`, the words may be missing. A later version of HTTP/1 is read as 1.1 is.
    if (line.len < 12 or !std.mem.startsWith(u8, line, start) or line[8] != ' ') return error.Malformed;
    if (!std.ascii.isDigit(line[7])) return error.Malformed;
    if (line.len > 12 and line[12] != ' ') return error.Malformed;
    try checkText(line);
    for (line[9..12]) |digit| if (!std.ascii.isDigit(digit)) return error.Malformed;
    const status = std.fmt.parseInt(u16, line[9..12], 10) catch return error.Malformed;
    // 101 would make it another protocol.
    if (status < 100 or status == 101) return error.Malformed;
    return .{ .status = status, .keep_alive = line[7] != '0' };
}

fn parseField(line: []const u8) Error!Header {
    const colon = std.mem.findScalar(u8, line, ':') orelse return error.Malformed;
    const name = line[0..colon];
    if (name.len == 0) return error.Malformed;
    for (name) |byte| {
        if (!std.ascii.isAlphanumeric(byte) and std.mem.findScalar(u8, "-!#$%&'*+.^_`|~", byte) == null) return error.Malformed;
    }
    try checkText(line[colon + 1 ..]);
    return .{ .name = name, .value = std.mem.trim(u8, line[colon + 1 ..], " \t") };
}

/// Other control characters do no harm, and some servers send them.
fn checkText(text: []const u8) Error!void {
    if (std.mem.findAny(u8, text, "\x00\r\x0b\x0c") != null) return error.Malformed;
}

fn parseFields(lines: *Lines, head: *Head, context: anytype, report: fn (@TypeOf(context), Header) void) Error!void {
    var length: ?[]const u8 = null;
    var is_chunked = false;
    while (lines.next()) |line| {
        const header = try parseField(line);
        report(context, header);
        if (is(header.name, "content-length")) {
            length = try sameLength(length, header.value);
        } else if (is(header.name, "transfer-encoding")) {
            if (is_chunked or !is(header.value, "chunked")) return error.Malformed;
            is_chunked = true;
        } else if (is(header.name, "content-encoding")) {
            noteEncoding(head, header.value);
        } else if (is(header.name, "connection")) {
            if (hasWord(header.value, "close")) head.keep_alive = false;
        }
    }
    // A server that says both may mean another end than we read.
    if (is_chunked and length != null) head.keep_alive = false;
    head.framing = if (head.status == 204 or head.status == 304)
        .{ .length = 0 }
    else if (is_chunked)
        .chunked
    else if (length) |digits|
        .{ .length = number(digits, 10) }
    else
        .until_close;
}

/// `5`, or the same number several times, as in `5, 5`.
fn sameLength(before: ?[]const u8, value: []const u8) Error![]const u8 {
    var length = before;
    var values = std.mem.splitScalar(u8, value, ',');
    while (values.next()) |written| {
        const digits = std.mem.trim(u8, written, " \t");
        if (digits.len == 0 or digits.len > length_digits_max) return error.Malformed;
        for (digits) |digit| if (!std.ascii.isDigit(digit)) return error.Malformed;
        if (length != null and !std.mem.eql(u8, length.?, digits)) return error.Malformed;
        length = digits;
    }
    return length.?;
}

fn noteEncoding(head: *Head, value: []const u8) void {
    var codings = std.mem.splitScalar(u8, value, ',');
    while (codings.next()) |written| {
        const coding = std.mem.trim(u8, written, " \t");
        if (coding.len == 0 or is(coding, "identity")) continue;
        const is_gzip = is(coding, "gzip") or is(coding, "x-gzip");
        head.encoding = if (head.encoding == .identity and is_gzip) .gzip else .other;
    }
}

fn hasWord(value: []const u8, word: []const u8) bool {
    var words = std.mem.splitScalar(u8, value, ',');
    while (words.next()) |each| if (is(std.mem.trim(u8, each, " \t"), word)) return true;
    return false;
}

fn is(text: []const u8, word: []const u8) bool {
    return std.ascii.eqlIgnoreCase(text, word);
}

/// Of digits; the largest there is, if it is larger.
fn number(digits: []const u8, base: u8) u64 {
    var value: u64 = 0;
    for (digits) |byte| value = value *| base +| (std.fmt.charToDigit(byte, base) catch unreachable);
    return value;
}

/// The body's bytes, without what frames them.
pub const Body = struct {
    in: *Io.Reader,
    framing: Framing,
    /// Of the length, or of the chunk that is being read.
    left: u64,
    state: enum { first_chunk, in_chunk, done } = .first_chunk,
    /// Why reading failed; null: `in` failed.
    failure: ?Error = null,
    reader: Io.Reader,

    pub fn init(in: *Io.Reader, framing: Framing, buffer: []u8) Body {
        const length = if (framing == .length) framing.length else 0;
        return .{
            .in = in,
            .framing = framing,
            .left = length,
            .state = if (framing == .length and length == 0) .done else .first_chunk,
            .reader = .{ .vtable = &.{ .stream = stream }, .buffer = buffer, .seek = 0, .end = 0 },
        };
    }

    /// All of it has been read, and what follows is the next answer.
    pub fn isDone(body: *const Body) bool {
        return body.state == .done;
    }

    fn stream(reader: *Io.Reader, out: *Io.Writer, limit: Io.Limit) Io.Reader.StreamError!usize {
        const body: *Body = @alignCast(@fieldParentPtr("reader", reader));
        return body.streamSome(out, limit) catch |failure| switch (failure) {
            error.EndOfStream, error.WriteFailed => |same| return same,
            error.Dropped, error.Malformed, error.ReadFailed => |reason| {
                if (reason != error.ReadFailed) body.failure = reason;
                return error.ReadFailed;
            },
        };
    }

    fn streamSome(body: *Body, out: *Io.Writer, limit: Io.Limit) (Error || error{ EndOfStream, WriteFailed })!usize {
        if (body.state == .done) return error.EndOfStream;
        if (body.framing == .until_close) return body.in.stream(out, limit);
        if (body.framing == .chunked and body.left == 0) {
            try body.nextChunk();
            if (body.state == .done) return error.EndOfStream;
        }
        const count = body.in.stream(out, limit.min(.limited64(body.left))) catch |failure| switch (failure) {
            error.EndOfStream => return error.Dropped,
            else => |other| return other,
        };
        body.left -= count;
        if (body.framing == .length and body.left == 0) body.state = .done;
        return count;
    }

    /// The end of the chunk before, and the size of the next one; after the last, the trailers.
    fn nextChunk(body: *Body) Error!void {
        if (body.state == .in_chunk) {
            for ("\r\n") |wanted| if (try takeByte(body.in) != wanted) return error.Malformed;
        }
        body.state = .in_chunk;
        body.left = try chunkSize(try takeChunkLine(body.in));
        if (body.left > 0) return;
        var lines: Lines = .{ .text = try takeLines(body.in, .trailers) };
        var ignored: Head = .{ .status = 200, .keep_alive = false };
        try parseFields(&lines, &ignored, {}, ignore);
        body.state = .done;
    }
};

fn takeByte(in: *Io.Reader) Error!u8 {
    return in.takeByte() catch |failure| return switch (failure) {
        error.EndOfStream => error.Dropped,
        error.ReadFailed => error.ReadFailed,
    };
}

/// The lines between chunks end in CR LF, and in nothing else.
fn takeChunkLine(in: *Io.Reader) Error![]const u8 {
    var has_bare_end = false;
    while (true) {
        const line = in.takeDelimiterInclusive('\n') catch |failure| return switch (failure) {
            error.EndOfStream => error.Dropped,
            error.StreamTooLong => error.Malformed,
            error.ReadFailed => error.ReadFailed,
        };
        if (!std.mem.endsWith(u8, line, "\r\n")) {
            has_bare_end = true;
        } else return if (has_bare_end) error.Malformed else line[0 .. line.len - 2];
    }
}

/// `5`, `5;name=value`; blanks may follow.
fn chunkSize(line: []const u8) Error!u64 {
    const digits = line[0 .. std.mem.findNone(u8, line, "0123456789abcdefABCDEF") orelse line.len];
    if (digits.len == 0 or digits.len > length_digits_max) return error.Malformed;
    const rest = std.mem.trim(u8, line[digits.len..], " \t");
    if (rest.len > 0 and line[digits.len] != ';') return error.Malformed;
    return number(digits, 16);
}

fn ignore(_: void, _: Header) void {}

const testing = std.testing;

fn readAll(text: []const u8, out: []u8) ![]u8 {
    // What is read is unfolded in its place.
    var copy: [500]u8 = undefined;
    @memcpy(copy[0..text.len], text);
    var in: Io.Reader = .fixed(copy[0..text.len]);
    const head = try readHead(&in, {}, ignore);
    var buffer: [16]u8 = undefined;
    var body: Body = .init(&in, head.framing, &buffer);
    const length = body.reader.readSliceShort(out) catch return body.failure orelse error.ReadFailed;
    if (!body.isDone() and head.framing != .until_close) return error.Dropped;
    return out[0..length];
}

test "bodies end where they say" {
    var out: [100]u8 = undefined;
    const whole = [_][]const u8{
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more",
        "HTTP/1.0 200\r\n\r\nhello",
        "HTTP/1.1 100 Continue\r\nx: y\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\na: b\r\n\r\n",
        "HTTP/1.1 200 OK\ncontent-length: 5\n\nhello",
        "HTTP/1.9 200\r\ncontent-length:\r\n 5 ,\n\t5\r\n\r\nhello",
        "HTTP/1.1 200 \r\ncontent-length: 05\r\ncontent-length: 05\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 9\r\n\r\n00005 \t\r\nhello\r\n0;\r\na: b\r\n c\r\n\r\n",
    };
    for (whole) |text| try testing.expectEqualStrings("hello", try readAll(text, &out));
    try testing.expectEqualStrings("", try readAll("HTTP/1.1 204 No\r\n\r\nx", &out));
}

test "what is cut off, and what is no HTTP" {
    var out: [100]u8 = undefined;
    const dropped = [_][]const u8{
        "",                                                              "HTTP/1.",
        "HTTP/1.1 200 OK\r\nconte",                                      "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    };
    for (dropped) |text| try testing.expectError(error.Dropped, readAll(text, &out));
    const malformed = [_][]const u8{
        "SSH-2.0\r\n\r\n",                                                                 "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",                                                         "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",                                             "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",                                   "HTTP/1.1 200 OK\r\ncontent-length: 999999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",               "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5 ;x\r\nhello\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n",
    };
    for (malformed) |text| try testing.expectError(error.Malformed, readAll(text, &out));
}

test "damage of any kind is noticed or harmless" {
    var random: std.Random.DefaultPrng = .init(1);
    const whole = [_][]const u8{
        "HTTP/1.1 200 OK\r\ncontent-length: 11\r\nretry-after: 1\r\n\r\nhello world",
        "HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 429 No\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\nx: y\r\n\r\n",
        "HTTP/1.0 200 OK\r\nconnection: close\r\ncontent-encoding: gzip\r\n\r\nhello world",
    };
    var text: [400]u8 = undefined;
    var out: [400]u8 = undefined;
    for (0..30_000) |_| {
        const source = whole[random.random().uintLessThan(usize, whole.len)];
        @memcpy(text[0..source.len], source);
        var length = source.len;
        for (0..random.random().uintLessThan(usize, 6)) |_| {
            const at = random.random().uintLessThan(usize, length);
            switch (random.random().uintLessThan(u8, 4)) {
                0 => text[at] = random.random().int(u8),
                1 => text[at] = "\r\n :0123456789abcdef;,"[random.random().uintLessThan(usize, 22)],
                2 => length = @max(1, at),
                else => {
                    std.mem.copyBackwards(u8, text[at + 1 .. length + 1], text[at..length]);
                    length += 1;
                },
            }
        }
        _ = readAll(text[0..length], &out) catch continue;
    }
}
