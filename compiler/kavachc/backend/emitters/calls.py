"""Calls of functions and of capability methods, and `spawn`."""

from __future__ import annotations

from kavachc.backend.emitters.aggregates import result_type
from kavachc.backend.layout import HELD_TYPE_OFFSET, HELD_VALUE_OFFSET
from kavachc.backend.llvm_function import Emitter, FunctionEmitter
from kavachc.backend.llvm_runtime import alias_tag
from kavachc.ir.facts import capability_method, function_called
from kavachc.ir.module import Instruction
from kavachc.ir.panics import CALL_DEPTH_MAX
from kavachc.ir.types import FunctionValue, IrType, Outcome, Task

CALL_DEPTH = "@call_depth"
_DEPTH = alias_tag("call_depth")


def _call(out: FunctionEmitter, instruction: Instruction) -> str:
    name, depth = instruction.attributes
    callee = function_called(str(name), out.emission.module)
    symbol = out.emission.function_names[callee.name]
    before = _enter(out, instruction) if depth == "counted" else ""
    result = _perform_call(out, symbol, out.arguments(instruction.operands), callee.call_type, callee.waits)
    if before:
        _leave(out, before, callee.waits)
    return result


def _call_capability(out: FunctionEmitter, instruction: Instruction) -> str:
    capability, number, depth = instruction.attributes
    assert isinstance(capability, str)
    assert isinstance(number, int)
    method = capability_method(capability, number, out.emission.module)
    vtable = out.assign(f"load ptr, ptr {out.at(out.operand(instruction.operands[0]), HELD_TYPE_OFFSET)}")
    # The methods follow the payload's type.
    symbol = out.assign(f"load ptr, ptr {out.at(vtable, 8 + 8 * number)}, !invariant.load !0")
    before = _enter(out, instruction) if depth == "counted" else ""
    result = _perform_call(out, symbol, out.arguments(instruction.operands), method.call_type, method.waits)
    if before:
        _leave(out, before, method.waits)
    return result


def _call_value(out: FunctionEmitter, instruction: Instruction) -> str:
    """A function value begins like a capability value of one method, the code."""
    value = instruction.operands[0]
    assert isinstance(value.type, FunctionValue)
    waits = value.type.shape in out.emission.module.waiting_shapes
    counted = instruction.attributes[0] == "counted"
    before = _enter(out, instruction) if counted else ""
    table = out.assign(f"load ptr, ptr {out.at(out.operand(value), HELD_TYPE_OFFSET)}")
    symbol = out.assign(f"load ptr, ptr {out.at(table, 8)}, !invariant.load !0")
    type = value.type.result
    call_type = Outcome(type, value.type.error) if waits or value.type.error is not None else type
    result = _perform_call(out, symbol, out.arguments(instruction.operands), call_type, waits)
    if counted:
        _leave(out, before, waits)
    return result


def _function_make(out: FunctionEmitter, instruction: Instruction) -> str:
    name = str(instruction.attributes[0])
    values = instruction.operands
    if not values:
        return f'@"function.{name}"'
    layout = out.layouts.captures(tuple([value.type for value in values]))
    block = out.call("kv_allocate", str(HELD_VALUE_OFFSET + layout.size))
    out.write(f'store ptr @"code.{name}", ptr {out.at(block, HELD_TYPE_OFFSET)}')
    for value, offset in zip(values, layout.offsets, strict=True):
        out.store(value, out.at(block, HELD_VALUE_OFFSET + offset))
    return block


def _function_capture(out: FunctionEmitter, instruction: Instruction) -> str:
    number = instruction.attributes[0]
    assert isinstance(number, int)
    offset = out.layouts.captures(out.function.captures or ()).offsets[number]
    address = out.at(out.operand(instruction.operands[0]), HELD_VALUE_OFFSET + offset)
    return out.load(result_type(instruction), address)


def _perform_call(out: FunctionEmitter, symbol: str, arguments: str, type: IrType, waits: bool) -> str:
    """The result is an operand of the call's type; `0` for nothing."""
    if not waits:
        llvm_type = out.emission.result_type(type)
        if llvm_type == "void":
            out.write(f"call void {symbol}({arguments})")
            return "0"
        return out.assign(f"call {llvm_type} {symbol}({arguments})")
    scratch = out.scratch(out.layouts.size(type))
    child = _start(out, symbol, arguments, scratch, "%frame")
    out.perform("kv_call", child)
    out.suspend()
    # A cancelled task runs its innermost call first, which answers with that status: nothing to ask for here.
    return out.load(type, scratch)


def _start(out: FunctionEmitter, symbol: str, arguments: str, outcome: str, parent: str) -> str:
    separator = ", " if arguments else ""
    return out.assign(f"call ptr {symbol}({arguments}{separator}ptr {outcome}, ptr {parent})")


def _enter(out: FunctionEmitter, instruction: Instruction) -> str:
    before = out.assign(f"load i64, ptr {CALL_DEPTH}{_DEPTH}")
    too_deep = out.assign(f"icmp sge i64 {before}, {CALL_DEPTH_MAX}")
    out.panic_if(too_deep, out.panic_of("depth", instruction))
    out.write(f"store i64 {out.assign(f'add nsw i64 {before}, 1')}, ptr {CALL_DEPTH}{_DEPTH}")
    return before


def _leave(out: FunctionEmitter, before: str, waited: bool) -> None:
    if waited:
        # Read again: cheaper than a place in the frame.
        now = out.assign(f"load i64, ptr {CALL_DEPTH}{_DEPTH}")
        before = out.assign(f"add nsw i64 {now}, -1")
    out.write(f"store i64 {before}, ptr {CALL_DEPTH}{_DEPTH}")


def _spawn(out: FunctionEmitter, instruction: Instruction) -> str:
    type = result_type(instruction)
    assert isinstance(type, Task)
    symbol = out.emission.function_names[str(instruction.attributes[0])]
    task = out.call("kv_task_new", out.emission.descriptors.type(type.result))
    outcome = out.call("kv_task_outcome", task)
    first = _start(out, symbol, out.arguments(instruction.operands), outcome, "null")
    out.perform("kv_task_start", task, first)
    return task


EMITTERS: dict[str, Emitter] = {
    "call": _call,
    "call.capability": _call_capability,
    "call.value": _call_value,
    "function.make": _function_make,
    "function.capture": _function_capture,
    "spawn": _spawn,
}
