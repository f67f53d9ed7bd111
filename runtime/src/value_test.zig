const std = @import("std");
const abi = @import("abi.zig");
const array = @import("array.zig");
const memory = @import("memory.zig");
const scheduler = @import("scheduler.zig");
const show = @import("show.zig");
const string = @import("string.zig");
const textual = @import("text.zig");
const value = @import("value.zig");

// `type Node = Leaf | Node(children: [Node])`
const Node = extern struct { tag: i32, children: *abi.Array };
const node_variants = [_]abi.Variant{
    .{ .name = abi.TextView.init("Leaf") },
    .{ .name = abi.TextView.init("Node"), .fields = &node_fields, .field_count = 1 },
};
const node_fields = [_]abi.Field{.{ .name = abi.TextView.init("children"), .type = &nodes_type, .offset = 8 }};
const node_type: abi.Type = .{ .kind = .sum, .size = 16, .counted = 1, .variants = &node_variants, .variant_count = 2 };
const nodes_type: abi.Type = .{ .kind = .array, .size = 8, .counted = 1, .element = &node_type };

fn chain(depth: usize) Node {
    var node: Node = .{ .tag = 0, .children = undefined };
    for (0..depth) |_| {
        const children = array.kv_array_new(&node_type, 1);
        const elements: [*]Node = @ptrCast(@alignCast(children.elements()));
        elements[0] = node;
        children.length = 1;
        node = .{ .tag = 1, .children = children };
    }
    return node;
}

test "data nested a million deep is compared, shown and freed without the native stack" {
    const depth = 1_000_000;
    const live_before = memory.liveBlocks();
    var left = chain(depth);
    var right = chain(depth);
    try std.testing.expect(value.equal(&node_type, &left, &right));
    value.retain(&node_type, &left);
    value.release(&node_type, &left);
    var deeper = chain(depth + 1);
    try std.testing.expect(!value.equal(&node_type, &left, &deeper));
    var text: abi.Text = .{};
    show.atTop(&text, &node_type, &left);
    const shown = textual.finish(&text);
    try std.testing.expect(std.mem.startsWith(u8, shown.slice(), "Node(children: [Node(children: [Node("));
    try std.testing.expectEqual(@as(i64, depth * "Node(children: [])".len + "Leaf".len), shown.length);
    string.release(shown);
    value.release(&node_type, &left);
    value.release(&node_type, &right);
    value.release(&node_type, &deeper);
    try std.testing.expectEqual(live_before, memory.liveBlocks());
}

test "floats compare as IEEE says, also inside one shared block" {
    const float_type: abi.Type = .{ .kind = .float, .size = 8 };
    const floats_type: abi.Type = .{ .kind = .array, .size = 8, .counted = 1, .element = &float_type };
    var floats = array.kv_array_new(&float_type, 1);
    const elements: [*]f64 = @ptrCast(@alignCast(floats.elements()));
    elements[0] = std.math.nan(f64);
    floats.length = 1;
    try std.testing.expect(!value.equal(&floats_type, @ptrCast(&floats), @ptrCast(&floats)));
    elements[0] = -0.0;
    var zeros = array.kv_array_new(&float_type, 1);
    const zero_elements: [*]f64 = @ptrCast(@alignCast(zeros.elements()));
    zero_elements[0] = 0.0;
    zeros.length = 1;
    try std.testing.expect(value.equal(&floats_type, @ptrCast(&floats), @ptrCast(&zeros)));
    value.release(&floats_type, @ptrCast(&floats));
    value.release(&floats_type, @ptrCast(&zeros));
}

test "capabilities, agents, errors and ended tasks free what they hold" {
    const live_before = memory.liveBlocks();
    const string_type: abi.Type = .{ .kind = .string, .size = 8, .counted = 1 };
    const agent_type: abi.Type = .{ .kind = .agent, .size = 8, .counted = 1 };
    const task_type: abi.Type = .{ .kind = .task, .size = 8, .counted = 1, .element = &agent_type };
    const vtable: abi.VTable = .{ .payload_type = &string_type };
    const capability: *abi.Capability = @ptrCast(@alignCast(memory.allocateBlock(abi.Capability.payload_offset + 8)));
    capability.vtable = &vtable;
    const payload: **abi.String = @ptrCast(@alignCast(capability.payload()));
    payload.* = string.create("held");
    const handle: *abi.AgentHandle = @ptrCast(@alignCast(memory.allocateBlock(16 + 8)));
    handle.capability_count = 1;
    handle.capabilities()[0] = capability;
    var task = scheduler.kv_task_new(&agent_type);
    task.state = .ended;
    task.count = 1; // The scheduler's is gone.
    const result: **abi.AgentHandle = @ptrCast(@alignCast(task.outcome().value()));
    result.* = handle;
    var made = value.kv_error_new(&task_type, @ptrCast(&task));
    const error_type: abi.Type = .{ .kind = .@"error", .size = 8, .counted = 1 };
    value.retain(&error_type, @ptrCast(&made));
    value.release(&error_type, @ptrCast(&made));
    try std.testing.expectEqual(live_before + 5, memory.liveBlocks());
    value.release(&error_type, @ptrCast(&made));
    try std.testing.expectEqual(live_before, memory.liveBlocks());
}
