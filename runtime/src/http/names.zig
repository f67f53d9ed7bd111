//! Finds the addresses of a host: in `/etc/hosts`, or from the name servers of `/etc/resolv.conf`.

const std = @import("std");
const linux = std.os.linux;
const abi = @import("../exchange_abi.zig");
const files = @import("files.zig");
const sockets = @import("socket.zig");
const urls = @import("url.zig");
const IpAddress = std.Io.net.IpAddress;

const Problem = abi.Problem;
const address_count_max = 16;
const server_count_max = 3;
const search_count_max = 6;
const name_length_max = 253;
const file_size_max = 4 << 20;
const packet_size_max = 1500;
const header_size = 12;

pub const Addresses = struct {
    items: [address_count_max]IpAddress = undefined,
    count: usize = 0,
    port: u16,

    pub fn slice(addresses: *const Addresses) []const IpAddress {
        return addresses.items[0..addresses.count];
    }

    fn add(addresses: *Addresses, address: IpAddress) void {
        if (addresses.count == address_count_max) return;
        addresses.items[addresses.count] = address;
        addresses.count += 1;
    }

    fn addBytes(addresses: *Addresses, bytes: []const u8) void {
        switch (bytes.len) {
            4 => addresses.add(.{ .ip4 = .{ .bytes = bytes[0..4].*, .port = addresses.port } }),
            16 => addresses.add(.{ .ip6 = .{ .bytes = bytes[0..16].*, .port = addresses.port } }),
            else => {},
        }
    }
};

/// No problem, and no address: there is no such host.
pub fn find(host: []const u8, watch: *const sockets.Watch, addresses: *Addresses) Problem {
    if (parseAddress(host, addresses.port)) |address| {
        addresses.add(address);
        return .no_problem;
    }
    if (!urls.isHost(host)) return .no_problem;
    const name = std.mem.trimEnd(u8, host, ".");
    if (name.len > name_length_max) return .no_problem;
    if (files.read("/etc/hosts", file_size_max) catch return .no_files) |content| {
        defer files.free(content);
        findInHosts(content, name, addresses);
        if (addresses.count > 0) return .no_problem;
    }
    if (isLocalhost(name)) {
        addresses.addBytes(&.{ 127, 0, 0, 1 });
        addresses.add(.{ .ip6 = .loopback(addresses.port) });
        return .no_problem;
    }
    const content = files.read("/etc/resolv.conf", file_size_max) catch return .no_files;
    defer if (content) |text| files.free(text);
    const settings: Settings = .parse(content orelse "");
    return ask(name, host.len > name.len, &settings, watch, addresses);
}

fn parseAddress(text: []const u8, port: u16) ?IpAddress {
    if (IpAddress.parseIp4(text, port)) |address| return address else |_| {}
    if (IpAddress.parseIp6(text, port)) |address| return address else |_| {}
    return null;
}

fn isLocalhost(name: []const u8) bool {
    return std.ascii.eqlIgnoreCase(name, "localhost") or std.ascii.endsWithIgnoreCase(name, ".localhost");
}

fn findInHosts(content: []const u8, name: []const u8, addresses: *Addresses) void {
    var lines = std.mem.splitScalar(u8, content, '\n');
    while (lines.next()) |line| {
        var words = std.mem.tokenizeAny(u8, withoutComment(line), " \t\r");
        const address = parseAddress(words.next() orelse continue, addresses.port) orelse continue;
        while (words.next()) |word| {
            if (std.ascii.eqlIgnoreCase(word, name)) addresses.add(address);
        }
    }
}

fn withoutComment(line: []const u8) []const u8 {
    return line[0 .. std.mem.findAny(u8, line, "#;") orelse line.len];
}

/// What `/etc/resolv.conf` says.
const Settings = struct {
    servers: [server_count_max]IpAddress = undefined,
    server_count: usize = 0,
    search: [search_count_max][]const u8 = undefined,
    search_count: usize = 0,
    dots: usize = 1,
    timeout_s: u8 = 5,
    attempts: u8 = 2,

    fn parse(content: []const u8) Settings {
        var settings: Settings = .{};
        var lines = std.mem.splitScalar(u8, content, '\n');
        while (lines.next()) |line| {
            var words = std.mem.tokenizeAny(u8, withoutComment(line), " \t\r");
            const key = words.next() orelse continue;
            if (std.mem.eql(u8, key, "nameserver")) {
                const address = parseAddress(words.next() orelse continue, 53) orelse continue;
                if (settings.server_count == server_count_max) continue;
                settings.servers[settings.server_count] = address;
                settings.server_count += 1;
            } else if (std.mem.eql(u8, key, "search") or std.mem.eql(u8, key, "domain")) {
                settings.search_count = 0;
                while (words.next()) |word| {
                    if (settings.search_count == search_count_max) break;
                    settings.search[settings.search_count] = std.mem.trim(u8, word, ".");
                    settings.search_count += 1;
                }
            } else if (std.mem.eql(u8, key, "options")) {
                while (words.next()) |word| settings.option(word);
            }
        }
        if (settings.server_count == 0) {
            settings.servers[0] = .{ .ip4 = .loopback(53) };
            settings.server_count = 1;
        }
        return settings;
    }

    fn option(settings: *Settings, word: []const u8) void {
        const colon = std.mem.findScalar(u8, word, ':') orelse return;
        const number = std.fmt.parseInt(u8, word[colon + 1 ..], 10) catch return;
        const key = word[0..colon];
        if (std.mem.eql(u8, key, "ndots")) settings.dots = @min(number, 15);
        if (std.mem.eql(u8, key, "timeout")) settings.timeout_s = @max(1, @min(number, 30));
        if (std.mem.eql(u8, key, "attempts")) settings.attempts = @max(1, @min(number, 5));
    }
};

const Answered = enum { found, no_such_name, no_answer, aborted, no_files };

/// The name as it stands, and with the domains to search behind it; first which, is told by its dots.
fn ask(name: []const u8, is_absolute: bool, settings: *const Settings, watch: *const sockets.Watch, addresses: *Addresses) Problem {
    const stands_first = std.mem.count(u8, name, ".") >= settings.dots;
    var buffer: [name_length_max]u8 = undefined;
    const search = if (is_absolute) settings.search[0..0] else settings.search[0..settings.search_count];
    var index: usize = 0;
    while (index <= search.len) : (index += 1) {
        const is_bare = if (stands_first) index == 0 else index == search.len;
        const domain = if (is_bare) "" else search[if (stands_first) index - 1 else index];
        const whole = if (domain.len == 0) name else std.mem.print(&buffer, "{s}.{s}", .{ name, domain }) catch continue;
        switch (askServers(whole, settings, watch, addresses)) {
            .found, .no_answer => return .no_problem,
            .no_such_name => {},
            .aborted => return .aborted,
            .no_files => return .no_files,
        }
    }
    return .no_problem;
}

fn askServers(name: []const u8, settings: *const Settings, watch: *const sockets.Watch, addresses: *Addresses) Answered {
    for (0..settings.attempts) |_| {
        for (settings.servers[0..settings.server_count]) |server| {
            if (sockets.now() >= watch.deadline_ns) return .no_answer;
            const answered = askServer(name, server, settings, watch, addresses);
            if (answered != .no_answer) return answered;
        }
    }
    return .no_answer;
}

const kind_a = 1;
const kind_aaaa = 28;

/// Both kinds of addresses are asked for at once; IPv4 comes first, since every network has it.
fn askServer(name: []const u8, server: IpAddress, settings: *const Settings, watch: *const sockets.Watch, addresses: *Addresses) Answered {
    const descriptor = (sockets.openDatagram(server) catch return .no_files) orelse return .no_answer;
    defer _ = linux.close(descriptor);
    var ids: [4]u8 = undefined;
    if (linux.getrandom(&ids, ids.len, 0) != ids.len) return .no_answer;
    const kinds = [2]u8{ kind_a, kind_aaaa };
    for (kinds, 0..) |kind, index| {
        var buffer: [header_size + name_length_max + 2 + 4]u8 = undefined;
        const packet = writeQuestion(&buffer, name, kind, ids[2 * index ..][0..2].*) orelse return .no_such_name;
        if (linux.errno(linux.sendto(descriptor, packet.ptr, packet.len, linux.MSG.NOSIGNAL, null, 0)) != .SUCCESS) return .no_answer;
    }
    var patience = watch.*;
    patience.deadline_ns = @min(watch.deadline_ns, sockets.now() + @as(i64, settings.timeout_s) * std.time.ns_per_s);
    var found: [2]Addresses = @splat(.{ .port = addresses.port });
    var has_answered: [2]bool = @splat(false);
    var is_refused = false;
    while (!has_answered[0] or !has_answered[1]) {
        switch (sockets.waitFor(descriptor, linux.POLL.IN, &patience)) {
            .no_problem => {},
            .aborted => return .aborted,
            else => break,
        }
        var buffer: [packet_size_max]u8 = undefined;
        const count = linux.recvfrom(descriptor, &buffer, buffer.len, 0, null, null);
        switch (linux.errno(count)) {
            .SUCCESS => {},
            .INTR, .AGAIN => continue,
            else => break, // Nobody listens there.
        }
        const packet = buffer[0..count];
        for (kinds, 0..) |kind, index| {
            if (has_answered[index] or packet.len < header_size or !std.mem.eql(u8, packet[0..2], ids[2 * index ..][0..2])) continue;
            has_answered[index] = true;
            readAnswer(packet, kind, &found[index]) catch |failure| {
                if (failure == error.Refused) is_refused = true;
            };
        }
    }
    for (found) |each| {
        for (each.slice()) |address| addresses.add(address);
    }
    if (addresses.count > 0) return .found;
    return if (has_answered[0] and has_answered[1] and !is_refused) .no_such_name else .no_answer;
}

/// Null where the name has a part that no name has.
fn writeQuestion(buffer: []u8, name: []const u8, kind: u8, id: [2]u8) ?[]const u8 {
    @memset(buffer[0..header_size], 0);
    buffer[0..2].* = id;
    buffer[2] = 1; // The server is to ask others.
    buffer[5] = 1;
    var end: usize = header_size;
    var labels = std.mem.splitScalar(u8, name, '.');
    while (labels.next()) |label| {
        if (label.len == 0 or label.len > 63 or end + 1 + label.len + 5 > buffer.len) return null;
        buffer[end] = @intCast(label.len);
        @memcpy(buffer[end + 1 ..][0..label.len], label);
        end += 1 + label.len;
    }
    buffer[end..][0..5].* = .{ 0, 0, kind, 0, 1 };
    return buffer[0 .. end + 5];
}

/// Refused: the server cannot say. A packet that is damaged tells nothing.
fn readAnswer(packet: []const u8, kind: u8, addresses: *Addresses) error{ Refused, Damaged }!void {
    if (packet.len < header_size or packet[2] & 0x80 == 0) return error.Damaged;
    switch (packet[3] & 15) {
        0 => {},
        3 => return, // No such name.
        else => return error.Refused,
    }
    var at: usize = header_size;
    for (0..readNumber(packet, 4) orelse return error.Damaged) |_| {
        at = (skipName(packet, at) orelse return error.Damaged) + 4;
    }
    for (0..readNumber(packet, 6) orelse return error.Damaged) |_| {
        at = skipName(packet, at) orelse return error.Damaged;
        const record_kind = readNumber(packet, at) orelse return error.Damaged;
        const length = readNumber(packet, at + 8) orelse return error.Damaged;
        const data = at + 10;
        if (data + length > packet.len) return error.Damaged;
        if (record_kind == kind) addresses.addBytes(packet[data..][0..length]);
        at = data + length;
    }
}

fn readNumber(packet: []const u8, at: usize) ?usize {
    if (at + 2 > packet.len) return null;
    return @as(usize, packet[at]) << 8 | packet[at + 1];
}

fn skipName(packet: []const u8, start: usize) ?usize {
    var at = start;
    while (at < packet.len) {
        const length = packet[at];
        if (length >= 0xc0) return at + 2; // The rest stands elsewhere.
        at += 1 + @as(usize, length);
        if (length == 0) return at;
    }
    return null;
}

const testing = std.testing;

test "hosts and settings" {
    var addresses: Addresses = .{ .port = 80 };
    findInHosts("# none\n127.0.0.1 localhost\tBox # me\n::1 box\nx box\n10.0.0.1 boxer", "box", &addresses);
    try testing.expectEqual(@as(usize, 2), addresses.count);
    try testing.expect(addresses.items[0] == .ip4 and addresses.items[1] == .ip6);

    const settings: Settings = .parse("nameserver 10.0.0.1\nnameserver fe80::1%eth0\nnameserver ::1\nsearch a.example b.\noptions ndots:2 timeout:1 attempts:9 rotate\n; nameserver 1.1.1.1");
    try testing.expectEqual(@as(usize, 2), settings.search_count);
    try testing.expectEqualStrings("b", settings.search[1]);
    try testing.expectEqual(@as(usize, 2), settings.dots);
    try testing.expectEqual(@as(u8, 5), settings.attempts);
    try testing.expectEqual(@as(usize, 1), Settings.parse("").server_count);
}

test "a question, and its answer" {
    var buffer: [300]u8 = undefined;
    const question = writeQuestion(&buffer, "a.example", kind_a, .{ 1, 2 }).?;
    try testing.expectEqualStrings("\x01\x02\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x07example\x00\x00\x01\x00\x01", question);
    try testing.expectEqual(@as(?[]const u8, null), writeQuestion(&buffer, "a..b", kind_a, .{ 1, 2 }));

    const asked = "\x01a\x07example\x00\x00\x01\x00\x01";
    const alias = "\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x00\x00\x04\x01b\xc0\x0e";
    const address = "\xc0\x1d\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04\x0a\x00\x00\x07";
    const answer = "\x01\x02\x81\x80\x00\x01\x00\x02\x00\x00\x00\x00" ++ asked ++ alias ++ address;
    var addresses: Addresses = .{ .port = 443 };
    try readAnswer(answer, kind_a, &addresses);
    try testing.expectEqual(@as(usize, 1), addresses.count);
    try testing.expectEqual([4]u8{ 10, 0, 0, 7 }, addresses.items[0].ip4.bytes);
    try testing.expectError(error.Refused, readAnswer("\x01\x02\x81\x82\x00\x00\x00\x00\x00\x00\x00\x00", kind_a, &addresses));
    for (0..answer.len) |length| {
        var some: Addresses = .{ .port = 443 };
        readAnswer(answer[0..length], kind_a, &some) catch continue;
    }
    var damaged: [answer.len]u8 = answer.*;
    var random: std.Random.DefaultPrng = .init(1);
    for (0..20_000) |_| {
        damaged[random.random().uintLessThan(usize, damaged.len)] = random.random().int(u8);
        var some: Addresses = .{ .port = 443 };
        readAnswer(&damaged, kind_aaaa, &some) catch continue;
    }
}
