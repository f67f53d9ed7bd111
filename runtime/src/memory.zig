//! The allocator: one for counted blocks, coroutine frames and the runtime's own tables. One thread, no locks.
//!
//! Small sizes (up to 32 KiB) come from free lists, one per size class. A class takes its memory from spans: 256 KiB,
//! aligned to their size, so that the span of a block, and with it the block's class, is found by masking its address.
//! Larger sizes get a mapping of their own with the same header; the sizes up to 4 MiB are kept for reuse when freed.
//! Spans are never given back: what a program used once it may use again, so a loop runs in constant memory.

const std = @import("std");
const linux = std.os.linux;
const panic = @import("panic.zig");

const assert = std.debug.assert;

const span_size: usize = 256 * 1024;
const header_size: usize = 64;
pub const small_size_max: usize = 32 * 1024;
/// Spans are cut from regions, so that a program with many spans asks the kernel rarely.
const region_size: usize = 32 * 1024 * 1024;
/// ARM64 kernels know pages of 4, 16 and 64 KiB.
const page_size_max: usize = 64 * 1024;
/// The largest block that fits into one span.
pub const span_block_size = span_size - header_size;
/// No block is larger: sums of sizes below it cannot overflow.
pub const size_max: usize = 1 << 47;

/// At the start of every span and of every large mapping.
const Span = extern struct {
    class: u32,
    /// Large: the bytes mapped, header included.
    mapped_size: usize,
};

const FreeBlock = extern struct { next: ?*FreeBlock };

const Memory = struct {
    free_lists: [class_count]?*FreeBlock = @splat(null),
    /// Of each class, the part of its newest span that is not in its free list yet.
    fresh: [class_count][]u8 = @splat(&.{}),
    /// Freed large mappings by their number of spans, for reuse.
    large_lists: [large_class_count]?*FreeBlock = @splat(null),
    region: []u8 = &.{},
    region_count: usize = 0,
    live_blocks: i64 = 0,
};
var state: Memory = .{};

// ---- Size classes: every 16 bytes up to 128, then four to each doubling

const class_count = 8 + 4 * 8;
const class_large: u32 = class_count;
/// Large mappings that are kept: of 1 to 16 spans, so up to 4 MiB.
const large_class_count = 16;

const class_sizes: [class_count]u32 = sizes: {
    var sizes: [class_count]u32 = undefined;
    for (0..8) |index| sizes[index] = 16 * (index + 1);
    for (8..class_count) |index| {
        const doubling = (index - 8) / 4;
        const quarter = (index - 8) % 4 + 1;
        sizes[index] = (128 << doubling) + quarter * (32 << doubling);
    }
    assert(sizes[class_count - 1] == small_size_max);
    break :sizes sizes;
};

const table_size_max = 1024;
const class_table: [table_size_max / 16 + 1]u8 = table: {
    @setEvalBranchQuota(10_000);
    var table: [table_size_max / 16 + 1]u8 = undefined;
    for (&table, 0..) |*entry, index| {
        entry.* = 0;
        while (class_sizes[entry.*] < index * 16) entry.* += 1;
    }
    break :table table;
};

fn classOf(size: usize) usize {
    @setRuntimeSafety(false);
    assert(size <= small_size_max);
    if (size <= table_size_max) return class_table[(size + 15) >> 4];
    const doubling = std.math.log2_int(usize, size - 1) - 7;
    const quarter = ((size - 1) >> doubling) / 32 - 4;
    return 8 + 4 * @as(usize, doubling) + quarter;
}

/// The bytes that a block of `size` really has.
pub fn usableSize(size: usize) usize {
    if (size <= small_size_max) return class_sizes[classOf(size)];
    return largeMappingSize(size) - header_size;
}

// ---- Allocation

/// Memory without a header and without a count. Aligned to 16 bytes.
pub fn allocateRaw(size: usize) *anyopaque {
    @setRuntimeSafety(false); // The fast path of nearly everything.
    if (size <= small_size_max) {
        @branchHint(.likely);
        const class = classOf(size);
        const block = state.free_lists[class] orelse refill(class);
        state.free_lists[class] = block.next;
        return @ptrCast(block);
    }
    return allocateLarge(size);
}

pub fn freeRaw(pointer: *anyopaque) void {
    @setRuntimeSafety(false);
    const span = spanOf(pointer);
    if (span.class < class_count) {
        @branchHint(.likely);
        const block: *FreeBlock = @ptrCast(@alignCast(pointer));
        block.next = state.free_lists[span.class];
        state.free_lists[span.class] = block;
        return;
    }
    assert(span.class == class_large);
    freeLarge(span);
}

/// Frees it, and gives the memory of a large block back to the kernel, which `freeRaw` may keep for reuse.
pub fn freeToKernel(pointer: *anyopaque) void {
    const span = spanOf(pointer);
    if (span.class != class_large) return freeRaw(pointer);
    unmap(@as([*]u8, @ptrCast(span))[0..span.mapped_size]);
}

fn spanOf(pointer: *anyopaque) *Span {
    return @ptrFromInt(@intFromPtr(pointer) & ~(span_size - 1));
}

/// A block with an owner: its first word is the count.
pub fn allocateBlock(size: usize) *anyopaque {
    const block = allocateRaw(size);
    const count: *i64 = @ptrCast(@alignCast(block));
    count.* = 1;
    state.live_blocks += 1;
    return block;
}

pub fn freeBlock(block: *anyopaque) void {
    state.live_blocks -= 1;
    freeRaw(block);
}

pub fn liveBlocks() i64 {
    return state.live_blocks;
}

/// The size of `count` things of `size` bytes after a header; out of memory where no memory could hold them.
pub fn sizeOfMany(header: usize, size: usize, count: usize) usize {
    const product = std.math.mul(usize, size, count) catch panic.outOfMemory();
    if (product > size_max - header) panic.outOfMemory();
    return header + product;
}

pub fn allocateSlice(comptime T: type, count: usize) []T {
    comptime assert(@alignOf(T) <= 16);
    const pointer: [*]T = @ptrCast(@alignCast(allocateRaw(sizeOfMany(0, @sizeOf(T), count))));
    return pointer[0..count];
}

pub fn freeSlice(comptime T: type, slice: []T) void {
    if (slice.len > 0) freeRaw(@ptrCast(slice.ptr));
}

/// Threads the next few blocks of a class into its free list, and answers the first of them.
fn refill(class: usize) *FreeBlock {
    @branchHint(.unlikely);
    const size = class_sizes[class];
    if (state.fresh[class].len < size) {
        const bytes = allocateSpan();
        const span: *Span = @ptrCast(@alignCast(bytes.ptr));
        span.* = .{ .class = @intCast(class), .mapped_size = 0 };
        state.fresh[class] = bytes[header_size..];
    }
    // About a page at a time, so that memory is touched only when it is about to be used.
    const fresh = state.fresh[class];
    const count = @min(fresh.len / size, @max(1, 4096 / size));
    assert(count >= 1);
    var list: ?*FreeBlock = null;
    var index = count;
    while (index > 0) {
        index -= 1;
        const block: *FreeBlock = @ptrCast(@alignCast(fresh.ptr + index * size));
        block.next = list;
        list = block;
    }
    state.fresh[class] = fresh[count * size ..];
    return list.?;
}

fn allocateSpan() []u8 {
    if (state.region.len < span_size) {
        const is_first = state.region_count == 0;
        state.region_count += 1;
        state.region = mapAligned(region_size, .reserved) orelse mapAligned(span_size, .reserved) orelse panic.outOfMemory();
        // A program that needs a second region is large: with huge pages it takes far fewer page faults.
        if (!is_first) _ = linux.madvise(state.region.ptr, state.region.len, linux.MADV.HUGEPAGE);
    }
    const span = state.region[0..span_size];
    state.region = state.region[span_size..];
    return span;
}

// ---- Large blocks

/// Rounded up to whole spans while it will be kept for reuse, else to the largest page size of any target.
fn largeMappingSize(size: usize) usize {
    const needed = size + header_size;
    const spans = std.mem.alignForward(usize, needed, span_size) / span_size;
    if (spans <= large_class_count) return spans * span_size;
    return std.mem.alignForward(usize, needed, page_size_max);
}

fn isKept(mapped_size: usize) bool {
    return mapped_size <= large_class_count * span_size;
}

fn allocateLarge(size: usize) *anyopaque {
    @branchHint(.unlikely);
    if (size > size_max) panic.outOfMemory();
    const mapped_size = largeMappingSize(size);
    if (isKept(mapped_size)) {
        const list = &state.large_lists[mapped_size / span_size - 1];
        if (list.*) |block| {
            list.* = block.next;
            return @ptrCast(block);
        }
    }
    const bytes = mapAligned(mapped_size, .used) orelse panic.outOfMemory();
    const span: *Span = @ptrCast(@alignCast(bytes.ptr));
    span.* = .{ .class = class_large, .mapped_size = mapped_size };
    return bytes.ptr + header_size;
}

fn freeLarge(span: *Span) void {
    @branchHint(.unlikely);
    const base: [*]u8 = @ptrCast(span);
    if (isKept(span.mapped_size)) {
        const list = &state.large_lists[span.mapped_size / span_size - 1];
        const block: *FreeBlock = @ptrCast(@alignCast(base + header_size));
        block.next = list.*;
        list.* = block;
        return;
    }
    unmap(base[0..span.mapped_size]);
}

/// What is to be `used` soon the kernel refuses where the machine could never hold it.
const Purpose = enum { reserved, used };

/// Whole pages at a multiple of the span size; null when the kernel refuses.
fn mapAligned(size: usize, purpose: Purpose) ?[]u8 {
    assert(size % page_size_max == 0);
    const total = size + span_size;
    const flags: linux.MAP = .{ .TYPE = .PRIVATE, .ANONYMOUS = true, .NORESERVE = purpose == .reserved };
    const address = linux.mmap(null, total, .{ .READ = true, .WRITE = true }, flags, -1, 0);
    if (linux.errno(address) != .SUCCESS) return null;
    const whole = @as([*]u8, @ptrFromInt(address))[0..total];
    const skip = std.mem.alignForward(usize, address, span_size) - address;
    if (skip > 0) unmap(whole[0..skip]);
    unmap(whole[skip + size ..]);
    return whole[skip..][0..size];
}

fn unmap(bytes: []u8) void {
    if (bytes.len == 0) return;
    // Fails only where the kernel is out of mappings; then the pages stay, which costs address space.
    _ = linux.munmap(bytes.ptr, bytes.len);
}

// ---- Exports

pub export fn kv_allocate(size: i64) callconv(.c) *anyopaque {
    if (size < 0) panic.outOfMemory();
    return allocateBlock(@intCast(size));
}

pub export fn kv_free(block: *anyopaque) callconv(.c) void {
    freeBlock(block);
}

pub export fn kv_live_blocks() callconv(.c) i64 {
    return state.live_blocks;
}

pub export fn kv_frame_allocate(size: i64) callconv(.c) *anyopaque {
    if (size < 0) panic.outOfMemory();
    return allocateRaw(@intCast(size));
}

pub export fn kv_frame_free(frame: *anyopaque) callconv(.c) void {
    freeRaw(frame);
}

test "every size gets a class that holds it, with little waste" {
    for (1..small_size_max + 1) |size| {
        const class = classOf(size);
        try std.testing.expect(class_sizes[class] >= size);
        if (class > 0) try std.testing.expect(class_sizes[class - 1] < size);
    }
}

test "blocks are aligned, apart, and reused" {
    const sizes = [_]usize{ 1, 16, 17, 100, 1000, 5000, 32768, 32769, 300_000, 5_000_000, 40_000_000 };
    var blocks: [sizes.len * 3][]u8 = undefined;
    for (0..20) |_| {
        for (&blocks, 0..) |*block, index| {
            const size = sizes[index % sizes.len];
            const pointer: [*]u8 = @ptrCast(allocateBlock(size));
            try std.testing.expect(@intFromPtr(pointer) % 16 == 0);
            block.* = pointer[0..size];
            @memset(block.*, @intCast(index));
        }
        for (blocks, 0..) |block, index| {
            for ([_]usize{ 0, block.len / 2, block.len - 1 }) |place| try std.testing.expectEqual(index, block[place]);
        }
        for (blocks) |block| freeBlock(block.ptr);
    }
    try std.testing.expectEqual(0, liveBlocks());
    const first = allocateBlock(48);
    freeBlock(first);
    const second = allocateBlock(40);
    defer freeBlock(second);
    try std.testing.expectEqual(first, second);
}
