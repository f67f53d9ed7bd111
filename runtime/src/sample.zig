//! The first legal value of a type, as JSON: what a dry run answers (spec 8.4.dry-run).

const std = @import("std");
const abi = @import("abi.zig");
const Allocator = std.mem.Allocator;

/// A type that is being made, and those around it.
const Making = struct { made: *const abi.Type, around: ?*const Making };

/// Appends the sample of `wanted`; of a String, its bare text, as an answer of that type stands.
pub fn append(list: *std.ArrayList(u8), allocator: Allocator, wanted: *const abi.Type) Allocator.Error!void {
    if (wanted.kind == .string) return list.appendSlice(allocator, "text");
    try value(list, allocator, wanted, null);
}

fn value(list: *std.ArrayList(u8), allocator: Allocator, wanted: *const abi.Type, around: ?*const Making) Allocator.Error!void {
    const making: Making = .{ .made = wanted, .around = around };
    switch (wanted.kind) {
        .bool => try list.appendSlice(allocator, "true"),
        .int => try list.appendSlice(allocator, "1"),
        .float => try list.appendSlice(allocator, "1.0"),
        .string => try list.appendSlice(allocator, "\"text\""),
        .array => {
            try list.append(allocator, '[');
            // One element, except where that would hold itself without end.
            if (!isBeingMade(wanted.element.?, around)) try value(list, allocator, wanted.element.?, &making);
            try list.append(allocator, ']');
        },
        .record => try object(list, allocator, wanted.fieldSlice(), &making),
        .sum => {
            const first = &wanted.variantSlice()[0];
            if (first.field_count == 0) return list.print(allocator, "\"{s}\"", .{first.name.slice()});
            try list.print(allocator, "{{\"{s}\":", .{first.name.slice()});
            try object(list, allocator, first.fieldSlice(), &making);
            try list.append(allocator, '}');
        },
        .nothing, .duration, .instant, .task, .agent, .capability, .@"error" => unreachable,
    }
}

fn object(list: *std.ArrayList(u8), allocator: Allocator, fields: []const abi.Field, making: *const Making) Allocator.Error!void {
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
