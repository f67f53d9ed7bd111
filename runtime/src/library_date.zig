//! The library's functions on dates and times (spec 10.date) that are not written in Kavach: one export for each row of
//! `compiler/kavachc/ir/library.py`.

const abi = @import("abi.zig");
const panicWith = @import("library_number.zig").panicWith;

fn isLeapYear(year: i64) bool {
    return @mod(year, 4) == 0 and (@mod(year, 100) != 0 or @mod(year, 400) == 0);
}

fn daysIn(year: i64, month: i64) i64 {
    return switch (month) {
        2 => if (isLeapYear(year)) 29 else 28,
        4, 6, 9, 11 => 30,
        else => 31,
    };
}

export fn kv_lib_instant_since_1970(instant_ns: i64) callconv(.c) i64 {
    return instant_ns;
}

export fn kv_lib_duration_after_1970(duration_ns: i64) callconv(.c) i64 {
    return duration_ns;
}

export fn kv_lib_guard_date(year: i64, month: i64, day: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) i64 {
    guard(year, month, day, site, caller);
    return year;
}

/// Panics where there is no such day.
pub fn guard(year: i64, month: i64, day: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) void {
    if (year < 1 or year > 9999) panicWith(&.{"the date is outside the years 1 to 9999"}, &.{}, site, caller);
    if (month < 1 or month > 12 or day < 1 or day > daysIn(year, month)) {
        panicWith(&.{ "there is no date ", "-", "-", "" }, &.{ year, month, day }, site, caller);
    }
}

export fn kv_lib_guard_instant(year: i64, month: i64, day: i64, site: ?*const abi.Site, caller: ?*const abi.Caller) callconv(.c) i64 {
    const checked = kv_lib_guard_date(year, month, day, site, caller);
    const number = checked * 10_000 + month * 100 + day;
    if (number < 1677_09_22 or number > 2262_04_11) {
        panicWith(&.{"the date is outside the Instants, 1677-09-22 to 2262-04-11"}, &.{}, site, caller);
    }
    return checked;
}
