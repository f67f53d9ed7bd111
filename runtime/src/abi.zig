//! The C ABI of the runtime as Zig types: one extern struct for each struct of `runtime/include/kavach.h`, in its order.
//! Sizes and offsets are checked at compile time at the end of this file, so that a drift is a build error.

const std = @import("std");
const exchange_abi = @import("exchange_abi.zig");

// ---- Values

pub const TextView = exchange_abi.TextView;

/// The start of every counted block. A count of 0 marks a static block, which is never counted and never freed.
pub const Block = extern struct { count: i64 };

pub const String = extern struct {
    count: i64,
    length: i64,

    pub const bytes_offset = 16;

    pub fn slice(string: *const String) []const u8 {
        const base: [*]const u8 = @ptrCast(string);
        return (base + bytes_offset)[0..@intCast(string.length)];
    }

    pub fn bytes(string: *String) [*]u8 {
        const base: [*]u8 = @ptrCast(string);
        return base + bytes_offset;
    }
};

pub const Array = extern struct {
    count: i64,
    length: i64,
    capacity: i64,

    pub const elements_offset = 24;

    pub fn elements(array: *Array) [*]u8 {
        const base: [*]u8 = @ptrCast(array);
        return base + elements_offset;
    }
};

pub const Map = extern struct {
    count: i64,
    length: i64,
    /// Entries that were ever added, those that were taken away since included.
    used: i64,
    capacity: i64,

    pub const entries_offset = 32;

    pub fn entries(map: *Map) [*]u8 {
        const base: [*]u8 = @ptrCast(map);
        return base + entries_offset;
    }
};

pub const Error = extern struct {
    count: i64,
    type: *const Type,

    pub const payload_offset = 16;

    pub fn payload(self: *Error) *anyopaque {
        const base: [*]u8 = @ptrCast(self);
        return base + payload_offset;
    }
};

/// Holds one value of a recursive type, apart from what it is a part of.
pub const Box = extern struct {
    count: i64,

    pub const value_offset = 8;

    pub fn value(box: *Box) *anyopaque {
        const base: [*]u8 = @ptrCast(box);
        return base + value_offset;
    }
};

pub const VTable = extern struct {
    payload_type: *const Type,
    // The methods follow; only generated code calls them.
};

pub const Capability = extern struct {
    count: i64,
    vtable: *const VTable,

    pub const payload_offset = 16;

    pub fn payload(self: *Capability) *anyopaque {
        const base: [*]u8 = @ptrCast(self);
        return base + payload_offset;
    }
};

pub const AgentHandle = extern struct {
    count: i64,
    capability_count: i64,

    pub fn capabilities(handle: *AgentHandle) []?*Capability {
        const base: [*]u8 = @ptrCast(handle);
        const first: [*]?*Capability = @ptrCast(@alignCast(base + 16));
        return first[0..@intCast(handle.capability_count)];
    }
};

/// Opaque: the frame of an LLVM coroutine, or a number from Python.
pub const Coroutine = ?*anyopaque;

// ---- Type descriptors

pub const Kind = enum(i32) {
    int = 0,
    float = 1,
    bool = 2,
    nothing = 3,
    string = 4,
    duration = 5,
    instant = 6,
    array = 7,
    record = 8,
    sum = 9,
    task = 10,
    agent = 11,
    capability = 12,
    @"error" = 13,
    optional = 14,
    tuple = 15,
    box = 16,
    map = 17,
    /// As a capability: its vtable has the code as its one method, and its payload is what it captured.
    function = 18,
};

pub const Field = extern struct {
    name: TextView,
    type: *const Type,
    offset: i64,
    rule: TextView = .{},
    /// Whether the rule holds for a value of the field; null where there is none.
    holds: ?*const fn (value: *const anyopaque) callconv(.c) i64 = null,

    /// The address of this field in the value at `base`.
    pub fn in(field: *const Field, base: *const anyopaque) *const anyopaque {
        const bytes: [*]const u8 = @ptrCast(base);
        return bytes + @as(usize, @intCast(field.offset));
    }
};

pub const Variant = extern struct {
    name: TextView,
    fields: ?[*]const Field = null,
    field_count: i64 = 0,

    pub fn fieldSlice(variant: *const Variant) []const Field {
        const fields = variant.fields orelse return &.{};
        return fields[0..@intCast(variant.field_count)];
    }
};

pub const Type = extern struct {
    kind: Kind,
    counted: i32 = 0,
    size: i64,
    alignment: i64 = 8,
    name: TextView = .{},
    element: ?*const Type = null,
    fields: ?[*]const Field = null,
    field_count: i64 = 0,
    variants: ?[*]const Variant = null,
    variant_count: i64 = 0,
    key: ?*const Type = null,

    pub fn fieldSlice(self: *const Type) []const Field {
        const fields = self.fields orelse return &.{};
        return fields[0..@intCast(self.field_count)];
    }

    pub fn variantSlice(self: *const Type) []const Variant {
        const variants = self.variants orelse return &.{};
        return variants[0..@intCast(self.variant_count)];
    }

    /// The variant that the sum at `value` holds.
    pub fn variantOf(self: *const Type, value: *const anyopaque) *const Variant {
        std.debug.assert(self.kind == .sum);
        const tag: *const i32 = @ptrCast(@alignCast(value));
        return &self.variantSlice()[@intCast(tag.*)];
    }

    /// The value of the optional at `value`; null when there is none.
    pub fn held(self: *const Type, value: *const anyopaque) ?*const anyopaque {
        std.debug.assert(self.kind == .optional);
        const tag: *const i32 = @ptrCast(@alignCast(value));
        return if (tag.* == 0) null else self.heldAt(value);
    }

    /// Where the optional at `value` keeps its value.
    pub fn heldAt(self: *const Type, value: *const anyopaque) *const anyopaque {
        const bytes: [*]const u8 = @ptrCast(value);
        return bytes + @max(@sizeOf(i32), @as(usize, @intCast(self.element.?.alignment)));
    }

    /// What a box stands for, which is the type itself when it is none.
    pub fn unboxed(self: *const Type) *const Type {
        return if (self.kind == .box) self.element.? else self;
    }

    /// Bytes of one element when values stand side by side in an array.
    pub fn stride(self: *const Type) usize {
        const mask: usize = @intCast(self.alignment - 1);
        return (@as(usize, @intCast(self.size)) + mask) & ~mask;
    }
};

// ---- Text, tasks

pub const Text = extern struct {
    bytes: ?[*]u8 = null,
    length: i64 = 0,
    capacity: i64 = 0,

    pub fn slice(text: *const Text) []const u8 {
        const bytes = text.bytes orelse return "";
        return bytes[0..@intCast(text.length)];
    }
};

pub const status_ok: i64 = 0;
pub const status_failed: i64 = 1;
pub const status_cancelled: i64 = 2;

pub const Outcome = extern struct {
    status: i64,
    @"error": ?*Error,

    pub const value_offset = 16;

    pub fn value(outcome: *Outcome) *anyopaque {
        const base: [*]u8 = @ptrCast(outcome);
        return base + value_offset;
    }
};

// ---- Agents

pub const RuleKind = enum(i32) { condition = 0, sum_int = 1, sum_float = 2, count = 3, tokens = 4 };

pub const Rule = extern struct {
    kind: RuleKind,
    strict: i32 = 0,
    text: TextView,
    window_ns: i64 = 0,
    bound_int: i64 = 0,
    bound_float: f64 = 0,
    keyed: i64 = 0,
};

pub const Limit = extern struct {
    target: TextView,
    rules: ?[*]const Rule,
    rule_count: i64,

    pub fn ruleSlice(limit: *const Limit) []const Rule {
        const rules = limit.rules orelse return &.{};
        return rules[0..@intCast(limit.rule_count)];
    }
};

pub const UnderWay = enum(i32) { average = 0, largest = 1, not_counted = 2 };
pub const Mode = enum(i32) { enforce = 0, observe = 1 };
pub const Provider = enum(i32) { anthropic = 0, openai = 1 };

/// Without values: the model of asks outside agents.
pub const Model = extern struct {
    name: TextView = .init("claude-haiku-5-5"),
    base_url: TextView = .{},
    max_tokens: i64 = 4_096,
    /// In tokens; 0 for none.
    context_budget: i64 = 0,
    timeout_ns: i64 = 10 * std.time.ns_per_min,
    provider: Provider = .anthropic,
    reserved: i32 = 0,
};

pub const Agent = extern struct {
    name: TextView,
    model: Model,
    asks_under_way: UnderWay,
    mode: Mode,
    ai_limit: i32,
    reserved: i32 = 0,
    limits: ?[*]const Limit,
    limit_count: i64,

    pub fn limitSlice(agent: *const Agent) []const Limit {
        const limits = agent.limits orelse return &.{};
        return limits[0..@intCast(agent.limit_count)];
    }
};

pub const AnswerKind = enum(i64) { answered = 0, no_key = 1, failed = 2, invalid_output = 3, denied = 4 };

pub const SchemaWay = enum(i32) { free_text = 0, structured = 1, wrapped = 2, in_prompt = 3 };

/// The JSON schema of what is asked for, and how it goes to the model.
pub const Schema = extern struct {
    way: SchemaWay,
    text: TextView = .{},
    /// What a dry run answers; none where no value is known, and `problem` says why.
    sample: TextView = .{},
    problem: TextView = .{},
};

pub const Answer = extern struct {
    kind: AnswerKind,
    status: i64,
    text: ?*String,
    /// 1 more than the nanoseconds that the provider asked to be left alone for; 0 where it did not.
    retry_after: i64 = 0,
};

// ---- Host, options, program

pub const LookUp = exchange_abi.LookUp;

pub const Host = extern struct {
    context: ?*anyopaque,
    write: *const fn (?*anyopaque, i32, [*]const u8, i64) callconv(.c) bool,
    is_terminal: *const fn (?*anyopaque, i32) callconv(.c) bool,
    monotonic_ns: *const fn (?*anyopaque) callconv(.c) i64,
    utc_ns: *const fn (?*anyopaque) callconv(.c) i64,
    random: *const fn (?*anyopaque) callconv(.c) u64,
    sleep: *const fn (?*anyopaque, i64) callconv(.c) void,
    environment: LookUp,
    read_file: LookUp,
    write_file: *const fn (?*anyopaque, [*]const u8, i64, [*]const u8, i64) callconv(.c) bool,
    exit: *const fn (?*anyopaque, i32) callconv(.c) void,
    file: ?*const fn (?*anyopaque, i32, [*]const u8, i64, [*]const u8, i64, *TextView) callconv(.c) i32 = null,
    send: ?*const fn (?*anyopaque, *Exchange) callconv(.c) void = null,
    abort: ?*const fn (?*anyopaque, *Exchange) callconv(.c) void = null,
    wait: ?*const fn (?*anyopaque, i64) callconv(.c) void = null,
    wake: ?*const fn (?*anyopaque) callconv(.c) void = null,
};

pub const Header = exchange_abi.Header;
pub const Exchange = exchange_abi.Exchange;
pub const ExchangeProblem = exchange_abi.Problem;

pub const FileOperation = enum(i32) { read = 0, write = 1, append = 2, exists = 3, remove = 4, _ };
pub const FileStatus = enum(i32) { ok = 0, not_found = 1, not_allowed = 2, not_text = 3, other = 4 };

pub const Options = extern struct {
    dry_run: i32 = 0,
    virtual_time: i32 = 0,
    test_model: TextView = .{},
    report: TextView = .{},
    state_file: TextView = .{},
    arguments: ?[*]const TextView = null,
    argument_count: i64 = 0,
    audit_log: TextView = .{},
    audit_prompts: i32 = 0,
    reserved: i32 = 0,
};

/// What the trace after a panic knows of a function. Without a name it is in no trace.
pub const TracedFunction = extern struct {
    name: TextView,
    file: TextView,
};

pub const Site = extern struct {
    function: *const TracedFunction,
    line: u32,
    column: u32,
};

/// Who called a function: `main` has one without a site, the first function of a task one without a parent.
pub const Caller = extern struct {
    parent: ?*const Caller,
    site: ?*const Site,
};

pub const PartFn = *const fn (moment: i32) callconv(.c) void;
pub const moment_start: i32 = 0;
pub const moment_end: i32 = 1;

pub const Program = extern struct {
    main: *const fn (out: *Outcome, parent: Coroutine) callconv(.c) Coroutine,
    @"resume": *const fn (coroutine: Coroutine) callconv(.c) void,
    agents: ?[*]const Agent = null,
    agent_count: i64 = 0,
    ledger_part: ?PartFn = null,
    model_part: ?PartFn = null,

    pub fn agentSlice(program: *const Program) []const Agent {
        const agents = program.agents orelse return &.{};
        return agents[0..@intCast(program.agent_count)];
    }
};

// ---- The layout that the header promises

fn check(comptime T: type, comptime size: usize, comptime offsets: anytype) void {
    if (@sizeOf(T) != size) @compileError("the size of " ++ @typeName(T) ++ " differs from kavach.h");
    for (@typeInfo(@TypeOf(offsets)).@"struct".field_names) |name| {
        if (@offsetOf(T, name) != @field(offsets, name)) {
            @compileError("the offset of " ++ @typeName(T) ++ "." ++ name ++ " differs from kavach.h");
        }
    }
}

comptime {
    check(TextView, 16, .{ .length = 8 });
    check(String, 16, .{ .length = 8 });
    check(Array, 24, .{ .length = 8, .capacity = 16 });
    check(Map, 32, .{ .length = 8, .used = 16, .capacity = 24 });
    check(Error, 16, .{ .type = 8 });
    check(Box, 8, .{ .count = 0 });
    check(VTable, 8, .{ .payload_type = 0 });
    check(Capability, 16, .{ .vtable = 8 });
    check(AgentHandle, 16, .{ .capability_count = 8 });
    check(Field, 56, .{ .type = 16, .offset = 24, .rule = 32, .holds = 48 });
    check(Variant, 32, .{ .fields = 16, .field_count = 24 });
    check(Type, 88, .{ .counted = 4, .size = 8, .alignment = 16, .name = 24, .element = 40, .fields = 48, .field_count = 56, .variants = 64, .variant_count = 72, .key = 80 });
    check(Text, 24, .{ .length = 8, .capacity = 16 });
    check(Outcome, 16, .{ .@"error" = 8 });
    check(Rule, 56, .{ .strict = 4, .text = 8, .window_ns = 24, .bound_int = 32, .bound_float = 40, .keyed = 48 });
    check(Limit, 32, .{ .rules = 16, .rule_count = 24 });
    check(Model, 64, .{ .base_url = 16, .max_tokens = 32, .context_budget = 40, .timeout_ns = 48, .provider = 56, .reserved = 60 });
    check(Agent, 112, .{ .model = 16, .asks_under_way = 80, .mode = 84, .ai_limit = 88, .reserved = 92, .limits = 96, .limit_count = 104 });
    check(Schema, 56, .{ .text = 8, .sample = 24, .problem = 40 });
    check(Answer, 32, .{ .status = 8, .text = 16, .retry_after = 24 });
    check(Header, 32, .{ .value = 16 });
    check(Exchange, 96, .{ .url = 16, .headers = 32, .header_count = 40, .body = 48, .connect_limit_ns = 64, .limit_ns = 72, .body_bytes_max = 80, .host = 88 });
    check(Host, 128, .{ .write = 8, .is_terminal = 16, .monotonic_ns = 24, .utc_ns = 32, .random = 40, .sleep = 48, .environment = 56, .read_file = 64, .write_file = 72, .exit = 80, .file = 88, .send = 96, .abort = 104, .wait = 112, .wake = 120 });
    check(Options, 96, .{ .virtual_time = 4, .test_model = 8, .report = 24, .state_file = 40, .arguments = 56, .argument_count = 64, .audit_log = 72, .audit_prompts = 88, .reserved = 92 });
    check(TracedFunction, 32, .{ .file = 16 });
    check(Site, 16, .{ .line = 8, .column = 12 });
    check(Caller, 16, .{ .site = 8 });
    check(Program, 48, .{ .@"resume" = 8, .agents = 16, .agent_count = 24, .ledger_part = 32, .model_part = 40 });
}
