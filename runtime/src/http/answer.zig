//! An answer of HTTP/1.1, as it is read: lines of its head, then its body by whatever says where it ends. Nothing in it is
//! trusted: each number is bounded before it is used.

const std = @import("std");
const abi = @import("../exchange_abi.zig");
const Io = std.Io;

const head_lines_max = 200;
const trailer_lines_max = 100;
/// More than any body that is read to its end.
const length_max = 1 << 50;

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

/// Reads the head; each header is given to `report` as it comes. Heads that only say that an answer will come are passed
/// over.
pub fn readHead(in: *Io.Reader, context: anytype, report: fn (@TypeOf(context), Header) void) Error!Head {
    while (true) {
        var head = try readStatus(in);
        const is_final = head.status >= 200;
        var length: ?u64 = null;
        for (0..head_lines_max) |_| {
            const line = try takeLine(in);
            if (line.len == 0) break;
            const header = try parseHeader(line);
            if (!is_final) continue;
            report(context, header);
            try note(&head, &length, header);
        } else return error.Malformed;
        if (!is_final) continue;
        if (head.status == 204 or head.status == 304) {
            head.framing = .{ .length = 0 };
        } else if (head.framing != .chunked) {
            if (length) |bytes| head.framing = .{ .length = bytes };
        }
        return head;
    }
}

fn readStatus(in: *Io.Reader) Error!Head {
    const line = try takeLine(in);
    // `HTTP/1.1 200 OK`, the words may be missing.
    if (line.len < 12 or !std.mem.startsWith(u8, line, "HTTP/1.") or line[8] != ' ') return error.Malformed;
    if (line[7] != '0' and line[7] != '1') return error.Malformed;
    if (line.len > 12 and line[12] != ' ') return error.Malformed;
    const status = parseNumber(line[9..12], 10, 3) orelse return error.Malformed;
    // 101 would make it another protocol.
    if (status < 100 or status == 101) return error.Malformed;
    return .{ .status = @intCast(status), .keep_alive = line[7] == '1' };
}

/// Without its end. The bytes stay until the next read.
fn takeLine(in: *Io.Reader) Error![]const u8 {
    const line = in.takeDelimiterInclusive('\n') catch |failure| return switch (failure) {
        error.EndOfStream => error.Dropped,
        error.StreamTooLong => error.Malformed,
        error.ReadFailed => error.ReadFailed,
    };
    const bare = line[0 .. line.len - 1];
    return if (bare.len > 0 and bare[bare.len - 1] == '\r') bare[0 .. bare.len - 1] else bare;
}

fn parseHeader(line: []const u8) Error!Header {
    const colon = std.mem.findScalar(u8, line, ':') orelse return error.Malformed;
    const name = line[0..colon];
    if (name.len == 0) return error.Malformed;
    for (name) |byte| if (byte <= ' ' or byte >= 0x7f) return error.Malformed;
    const value = std.mem.trim(u8, line[colon + 1 ..], " \t");
    for (value) |byte| if (byte == 0 or byte == '\r') return error.Malformed;
    return .{ .name = name, .value = value };
}

fn note(head: *Head, length: *?u64, header: Header) Error!void {
    if (is(header.name, "content-length")) {
        const bytes = parseNumber(header.value, 10, 15) orelse return error.Malformed;
        if (length.* != null and length.*.? != bytes) return error.Malformed;
        length.* = bytes;
    } else if (is(header.name, "transfer-encoding")) {
        if (!is(header.value, "chunked") or head.framing == .chunked) return error.Malformed;
        head.framing = .chunked;
    } else if (is(header.name, "content-encoding")) {
        if (head.encoding != .identity) {
            head.encoding = .other;
        } else if (is(header.value, "gzip") or is(header.value, "x-gzip")) {
            head.encoding = .gzip;
        } else if (header.value.len > 0 and !is(header.value, "identity")) {
            head.encoding = .other;
        }
    } else if (is(header.name, "connection")) {
        var tokens = std.mem.splitScalar(u8, header.value, ',');
        while (tokens.next()) |token| {
            const word = std.mem.trim(u8, token, " \t");
            if (is(word, "close")) head.keep_alive = false;
        }
    }
}

fn is(text: []const u8, word: []const u8) bool {
    return std.ascii.eqlIgnoreCase(text, word);
}

/// Digits only, at least one, at most so many.
fn parseNumber(digits: []const u8, base: u8, digits_max: usize) ?u64 {
    if (digits.len == 0 or digits.len > digits_max) return null;
    var number: u64 = 0;
    for (digits) |byte| {
        const digit = std.fmt.charToDigit(byte, base) catch return null;
        number = number * base + digit;
    }
    return if (number > length_max) null else number;
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
        if (body.state == .in_chunk and (try takeLine(body.in)).len != 0) return error.Malformed;
        body.state = .in_chunk;
        const line = try takeLine(body.in);
        const end = std.mem.findScalar(u8, line, ';') orelse line.len;
        const digits = std.mem.trim(u8, line[0..end], " \t");
        body.left = parseNumber(digits, 16, 12) orelse return error.Malformed;
        if (body.left > 0) return;
        for (0..trailer_lines_max) |_| {
            if ((try takeLine(body.in)).len != 0) continue;
            body.state = .done;
            return;
        }
        return error.Malformed;
    }
};

const testing = std.testing;

fn ignore(_: void, _: Header) void {}

fn readAll(text: []const u8, out: []u8) ![]u8 {
    var in: Io.Reader = .fixed(text);
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
    };
    for (whole) |text| try testing.expectEqualStrings("hello", try readAll(text, &out));
    try testing.expectEqualStrings("", try readAll("HTTP/1.1 204 No\r\n\r\nx", &out));
}

test "what is cut off, and what is no HTTP" {
    var out: [100]u8 = undefined;
    const dropped = [_][]const u8{
        "",                                                              "HTTP",
        "HTTP/1.1 200 OK\r\nconte",                                      "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    };
    for (dropped) |text| try testing.expectError(error.Dropped, readAll(text, &out));
    const malformed = [_][]const u8{
        "SSH-2.0\r\n\r\n",                                                              "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",                                                      "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",                                          "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",                                "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",            "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n",    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\n",
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
