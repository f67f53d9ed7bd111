//! Dates as HTTP writes them (RFC 9110, IMF-fixdate): `Sun, 06 Nov 1994 08:49:37 GMT`.

const std = @import("std");

const length = "Sun, 06 Nov 1994 08:49:37 GMT".len;
const day_names = [_][]const u8{ "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };
const month_names = [_][]const u8{ "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
const month_lengths = [_]u8{ 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

/// Seconds since 1970; null where the text is no such date. The day's name need not be the right one.
pub fn parse(text: []const u8) ?i64 {
    if (text.len != length) return null;
    for ([_]struct { usize, []const u8 }{ .{ 3, ", " }, .{ 7, " " }, .{ 11, " " }, .{ 16, " " }, .{ 19, ":" }, .{ 22, ":" }, .{ 25, " GMT" } }) |mark| {
        if (!std.mem.startsWith(u8, text[mark[0]..], mark[1])) return null;
    }
    _ = nameIndex(&day_names, text[0..3]) orelse return null;
    const month = nameIndex(&month_names, text[8..11]) orelse return null;
    const day = number(text[5..7]) orelse return null;
    const year = number(text[12..16]) orelse return null;
    const hour = number(text[17..19]) orelse return null;
    const minute = number(text[20..22]) orelse return null;
    const second = number(text[23..25]) orelse return null;
    const is_leap = @mod(year, 4) == 0 and (@mod(year, 100) != 0 or @mod(year, 400) == 0);
    const days_in_month = month_lengths[month] + @intFromBool(is_leap and month == 1);
    // A minute may end in a leap second.
    if (year == 0 or day == 0 or day > days_in_month or hour > 23 or minute > 59 or second > 60) return null;
    return ((daysBefore(year, month, is_leap) + day - 1) * 24 + hour) * 3600 + minute * 60 + second;
}

/// From 1970-01-01 to the first of the month.
fn daysBefore(year: i64, month: usize, is_leap: bool) i64 {
    const past = year - 1;
    var days = past * 365 + @divFloor(past, 4) - @divFloor(past, 100) + @divFloor(past, 400);
    for (month_lengths[0..month]) |each| days += each;
    if (is_leap and month > 1) days += 1;
    return days - 719_162;
}

fn nameIndex(names: []const []const u8, wanted: []const u8) ?usize {
    for (names, 0..) |name, index| {
        if (std.mem.eql(u8, name, wanted)) return index;
    }
    return null;
}

fn number(digits: []const u8) ?i64 {
    var value: i64 = 0;
    for (digits) |digit| {
        if (!std.ascii.isDigit(digit)) return null;
        value = value * 10 + (digit - '0');
    }
    return value;
}

const testing = std.testing;

test "dates" {
    try testing.expectEqual(@as(?i64, 784_111_777), parse("Sun, 06 Nov 1994 08:49:37 GMT"));
    try testing.expectEqual(@as(?i64, 0), parse("Thu, 01 Jan 1970 00:00:00 GMT"));
    try testing.expectEqual(@as(?i64, 951_868_800), parse("Wed, 01 Mar 2000 00:00:00 GMT"));
    try testing.expectEqual(@as(?i64, 951_782_400), parse("Tue, 29 Feb 2000 00:00:00 GMT"));
    try testing.expectEqual(@as(?i64, 1_483_228_800), parse("Sat, 31 Dec 2016 23:59:60 GMT"));
    try testing.expectEqual(@as(?i64, -1), parse("Wed, 31 Dec 1969 23:59:59 GMT"));
    for ([_][]const u8{
        "",                              "Sun, 06 Nov 1994 08:49:37 UTC", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",      "Sun, 31 Feb 1994 08:49:37 GMT", "Wed, 29 Feb 1900 00:00:00 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT",
    }) |text| try testing.expectEqual(@as(?i64, null), parse(text));
}
