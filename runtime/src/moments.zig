//! Durations, Instants and Dates read from text, as they show (docs/spec.md 2.show).

const std = @import("std");
const abi = @import("abi.zig");

/// The nanoseconds of a whole number and a unit, `90s`; null for anything else.
pub fn duration(text: []const u8) ?i64 {
    var end: usize = 0;
    if (end < text.len and text[end] == '-') end += 1;
    const first = end;
    while (end < text.len and std.ascii.isDigit(text[end])) end += 1;
    if (end == first or end - first > 19) return null;
    const units = std.StaticStringMap(i128).initComptime(.{
        .{ "ns", 1 },
        .{ "us", std.time.ns_per_us },
        .{ "ms", std.time.ns_per_ms },
        .{ "s", std.time.ns_per_s },
        .{ "m", std.time.ns_per_min },
        .{ "h", std.time.ns_per_hour },
        .{ "d", std.time.ns_per_day },
    });
    const unit_ns = units.get(text[end..]) orelse return null;
    const number = std.fmt.parseInt(i128, text[0..end], 10) catch unreachable;
    return std.math.cast(i64, number * unit_ns);
}

/// The nanoseconds since 1970 of `2026-01-01T00:00:00Z`, perhaps with a fraction of up to nine digits.
pub fn instant(text: []const u8) ?i64 {
    const form = "dddd-dd-ddTdd:dd:dd";
    if (text.len <= form.len or text[text.len - 1] != 'Z') return null;
    if (!hasForm(text[0..form.len], form)) return null;
    var fraction_ns: i128 = 0;
    const fraction = text[form.len .. text.len - 1];
    if (fraction.len > 0) {
        if (fraction[0] != '.' or fraction.len < 2 or fraction.len > 10) return null;
        for (fraction[1..]) |byte| if (!std.ascii.isDigit(byte)) return null;
        fraction_ns = numberIn(fraction[1..]);
        for (fraction.len..10) |_| fraction_ns *= 10;
    }
    const year, const month, const day = .{ numberIn(text[0..4]), numberIn(text[5..7]), numberIn(text[8..10]) };
    const hour, const minute, const second = .{ numberIn(text[11..13]), numberIn(text[14..16]), numberIn(text[17..19]) };
    if (!isDay(year, month, day)) return null;
    if (hour > 23 or minute > 59 or second > 59) return null;
    const seconds = ((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    return std.math.cast(i64, @as(i128, seconds) * std.time.ns_per_s + fraction_ns);
}

/// The prelude's `Date`, whose name no other type can have.
pub fn isDate(kind: *const abi.Type) bool {
    return kind.kind == .record and std.mem.eql(u8, kind.name.slice(), "Date");
}

/// Year, month and day of `2026-01-01`, where there is such a day.
pub fn date(text: []const u8) ?[3]i64 {
    const form = "dddd-dd-dd";
    if (!hasForm(text, form)) return null;
    const year, const month, const day = .{ numberIn(text[0..4]), numberIn(text[5..7]), numberIn(text[8..10]) };
    return if (isDay(year, month, day)) .{ year, month, day } else null;
}

/// Whether `text` has a digit for each `d` of the form, and is the same otherwise.
fn hasForm(text: []const u8, form: []const u8) bool {
    if (text.len != form.len) return false;
    for (form, text) |wanted, byte| {
        if (if (wanted == 'd') !std.ascii.isDigit(byte) else byte != wanted) return false;
    }
    return true;
}

fn isDay(year: i64, month: i64, day: i64) bool {
    return year >= 1 and month >= 1 and month <= 12 and day >= 1 and day <= daysIn(year, month);
}

fn numberIn(digits: []const u8) i64 {
    return std.fmt.parseInt(i64, digits, 10) catch unreachable;
}

fn isLeap(year: i64) bool {
    return @mod(year, 4) == 0 and (@mod(year, 100) != 0 or @mod(year, 400) == 0);
}

fn daysIn(year: i64, month: i64) i64 {
    const lengths = [_]i64{ 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return lengths[@intCast(month - 1)] + @intFromBool(month == 2 and isLeap(year));
}

/// Years are counted from March, so that a leap day is a year's last.
fn daysSince1970(year: i64, month: i64, day: i64) i64 {
    const from_march = if (month > 2) year else year - 1;
    const era = @divFloor(from_march, 400);
    const year_of_era = from_march - era * 400;
    const month_from_march = @mod(month + 9, 12);
    const day_of_year = @divFloor(153 * month_from_march + 2, 5) + day - 1;
    const day_of_era = year_of_era * 365 + @divFloor(year_of_era, 4) - @divFloor(year_of_era, 100) + day_of_year;
    return era * 146_097 + day_of_era - 719_468;
}
