//! The first legal value of a type, as JSON: what a dry run answers (spec 8.4.dry-run).

const std = @import("std");
const abi = @import("abi.zig");
const Allocator = std.mem.Allocator;

/// A type that is being made, and those around it.
const Making = struct { made: *const abi.Type, around: ?*const Making };

/// A sample would hold another of a type that is being made, and so on without end.
const Error = error{Endless} || Allocator.Error;

/// Appends the sample of `wanted`; of a String, its bare text, as an answer of that type stands.
pub fn append(list: *std.ArrayList(u8), allocator: Allocator, wanted: *const abi.Type) Allocator.Error!void {
    if (wanted.kind == .string) return list.appendSlice(allocator, "text");
    value(list, allocator, wanted, null) catch |problem| switch (problem) {
        error.OutOfMemory => return error.OutOfMemory,
        error.Endless => unreachable, // The compiler refuses types without a value that ends.
    };
}

fn value(list: *std.ArrayList(u8), allocator: Allocator, wanted: *const abi.Type, around: ?*const Making) Error!void {
    switch (wanted.kind) {
        .bool => try list.appendSlice(allocator, "true"),
        .int => try list.appendSlice(allocator, "1"),
        .float => try list.appendSlice(allocator, "1.0"),
        .string => try list.appendSlice(allocator, "\"text\""),
        .array => {
            try list.append(allocator, '[');
            _ = try orNothing(list, allocator, wanted.element.?, around);
            try list.append(allocator, ']');
        },
        .map => {
            const length = list.items.len;
            try list.appendSlice(allocator, "{\"text\":");
            if (!try orNothing(list, allocator, wanted.element.?, around)) {
                list.shrinkRetainingCapacity(length);
                try list.append(allocator, '{');
            }
            try list.append(allocator, '}');
        },
        .optional => if (!try orNothing(list, allocator, wanted.element.?, around)) try list.appendSlice(allocator, "null"),
        .box => try value(list, allocator, wanted.element.?, around),
        .tuple => {
            try list.append(allocator, '[');
            for (wanted.fieldSlice(), 0..) |*field, index| {
                if (index > 0) try list.append(allocator, ',');
                try value(list, allocator, field.type, around);
            }
            try list.append(allocator, ']');
        },
        .record, .sum => {
            if (isBeingMade(wanted, around)) return error.Endless;
            const making: Making = .{ .made = wanted, .around = around };
            if (wanted.kind == .record) return object(list, allocator, wanted.fieldSlice(), &making);
            const length = list.items.len;
            for (wanted.variantSlice()) |*variant| {
                return oneVariant(list, allocator, variant, &making) catch |problem| {
                    if (problem != error.Endless) return problem;
                    list.shrinkRetainingCapacity(length);
                    continue;
                };
            }
            return error.Endless;
        },
        .nothing, .duration, .instant, .task, .agent, .capability, .@"error", .function => unreachable,
    }
}

/// Nothing, and false, where the sample would have no end.
fn orNothing(list: *std.ArrayList(u8), allocator: Allocator, wanted: *const abi.Type, around: ?*const Making) Error!bool {
    const length = list.items.len;
    value(list, allocator, wanted, around) catch |problem| {
        if (problem != error.Endless) return problem;
        list.shrinkRetainingCapacity(length);
        return false;
    };
    return true;
}

fn oneVariant(list: *std.ArrayList(u8), allocator: Allocator, variant: *const abi.Variant, making: *const Making) Error!void {
    if (variant.field_count == 0) return list.print(allocator, "\"{s}\"", .{variant.name.slice()});
    try list.print(allocator, "{{\"{s}\":", .{variant.name.slice()});
    try object(list, allocator, variant.fieldSlice(), making);
    try list.append(allocator, '}');
}

fn object(list: *std.ArrayList(u8), allocator: Allocator, fields: []const abi.Field, making: *const Making) Error!void {
    try list.append(allocator, '{');
    for (fields, 0..) |*field, index| {
        try list.print(allocator, "{s}\"{s}\":", .{ if (index == 0) "" else ",", field.name.slice() });
        try value(list, allocator, field.type, making);
    }
    try list.append(allocator, '}');
}

fn isBeingMade(wanted: *const abi.Type, around: ?*const Making) bool {
    var making = around;
    while (making) |each| : (making = each.around) {
        if (each.made == wanted) return true;
    }
    return false;
}
