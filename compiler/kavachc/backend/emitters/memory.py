"""Ownership, locals, addresses, and arrays that are written to."""

from __future__ import annotations

from kavachc.backend.emitters.arrays import bounds_check, element_at
from kavachc.backend.layout import BOX_VALUE_OFFSET, CAPACITY_OFFSET, LENGTH_OFFSET
from kavachc.backend.llvm_constants import is_static_block
from kavachc.backend.llvm_function import Emitter, FunctionEmitter
from kavachc.backend.llvm_runtime import LIKELY, alias_tag
from kavachc.ir.module import Instruction, Local
from kavachc.ir.types import Address, Array, Box, IrType

_POINTER = alias_tag("ptr")


def _copy(out: FunctionEmitter, instruction: Instruction) -> str:
    value = instruction.operands[0]
    operand = out.operand(value)
    if out.is_counted(value.type) and not is_static_block(operand):
        out.retain(value.type, operand)
    return operand


def _release(out: FunctionEmitter, instruction: Instruction) -> str:
    value = instruction.operands[0]
    operand = out.operand(value)
    if out.is_counted(value.type) and not is_static_block(operand):
        out.release(value.type, operand)
    return ""


def _local(instruction: Instruction) -> Local:
    local = instruction.attributes[0]
    assert isinstance(local, Local)
    return local


def _local_get(out: FunctionEmitter, instruction: Instruction) -> str:
    local = _local(instruction)
    return out.load(local.type, out.local(local))


def _local_set(out: FunctionEmitter, instruction: Instruction) -> str:
    out.store(instruction.operands[0], out.local(_local(instruction)))
    return ""


def _local_address(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.local(_local(instruction))


def target_of(type: IrType) -> IrType:
    assert isinstance(type, Address)
    return type.target


def _field_address(out: FunctionEmitter, instruction: Instruction) -> str:
    address = instruction.operands[0]
    field = instruction.attributes[0]
    assert isinstance(field, int)
    return out.at(out.operand(address), out.layouts.aggregate(target_of(address.type)).offsets[field])


def _load(out: FunctionEmitter, instruction: Instruction) -> str:
    address = instruction.operands[0]
    return out.load(target_of(address.type), out.operand(address))


def _store(out: FunctionEmitter, instruction: Instruction) -> str:
    address, value = instruction.operands
    if not out.is_counted(value.type):
        out.store(value, out.operand(address))
        return ""
    old = out.load(value.type, out.operand(address))
    out.store(value, out.operand(address))
    out.release(value.type, old)
    return ""


def made_unless(out: FunctionEmitter, slot: str, is_ready: str, array: str, make: str) -> str:
    """The array (or box) in the slot, after `make` (a helper) has made it anew where it is not ready."""
    before = out.label
    making, ready, made = out.fresh("make"), out.fresh("ready"), out.fresh("%made")
    out.write(f"br i1 {is_ready}, label %{ready}, label %{making}{LIKELY}")
    call = f"{made} = call ptr {make}(ptr {array})"
    out.write_cold(
        making, [*out.telling_place(), call, f"store ptr {made}, ptr {slot}{_POINTER}", f"br label %{ready}"]
    )
    out.start_block(ready)
    return out.assign(f"phi ptr [{array}, %{before}], [{made}, %{making}]")


def _element_address(out: FunctionEmitter, instruction: Instruction) -> str:
    slot, index = (out.operand(value) for value in instruction.operands)
    array_type = target_of(instruction.operands[0].type)
    assert isinstance(array_type, Array)
    shared = out.assign(f"load ptr, ptr {slot}{_POINTER}")
    is_unique = out.assign(f"icmp eq i64 {out.load_header(shared, 0, 'count')}, 1")
    array = made_unless(out, slot, is_unique, shared, out.helpers.unique(array_type.element))
    bounds_check(out, instruction, array, index)
    return element_at(out, array, array_type.element, index)


def _box_address(out: FunctionEmitter, instruction: Instruction) -> str:
    slot = out.operand(instruction.operands[0])
    box_type = target_of(instruction.operands[0].type)
    assert isinstance(box_type, Box)
    shared = out.assign(f"load ptr, ptr {slot}{_POINTER}")
    is_unique = out.assign(f"icmp eq i64 {out.load_header(shared, 0, 'count')}, 1")
    return out.at(made_unless(out, slot, is_unique, shared, out.helpers.unique_box(box_type)), BOX_VALUE_OFFSET)


def _array_push(out: FunctionEmitter, instruction: Instruction) -> str:
    slot = out.operand(instruction.operands[0])
    value = instruction.operands[1]
    shared = out.assign(f"load ptr, ptr {slot}{_POINTER}")
    is_unique = out.assign(f"icmp eq i64 {out.load_header(shared, 0, 'count')}, 1")
    length = out.load_header(shared, LENGTH_OFFSET, "length")
    has_room = out.assign(f"icmp slt i64 {length}, {out.load_header(shared, CAPACITY_OFFSET, 'capacity')}")
    is_ready = out.assign(f"and i1 {is_unique}, {has_room}")
    array = made_unless(out, slot, is_ready, shared, out.helpers.grow(value.type))
    out.store(value, element_at(out, array, value.type, length))
    out.store_header(out.assign(f"add nuw nsw i64 {length}, 1"), array, LENGTH_OFFSET, "length")
    return ""


EMITTERS: dict[str, Emitter] = {
    "copy": _copy,
    "release": _release,
    "local.get": _local_get,
    "local.set": _local_set,
    "local.take": _local_get,
    "local.address": _local_address,
    "field.address": _field_address,
    "element.address": _element_address,
    "box.address": _box_address,
    "load": _load,
    "store": _store,
    "array.push": _array_push,
}
