"""Calls of functions and of capability methods, and `spawn`."""

from __future__ import annotations

from kavachc.backend.emitters.aggregates import result_type
from kavachc.backend.layout import HELD_TYPE_OFFSET, HELD_VALUE_OFFSET
from kavachc.backend.llvm_function import Emitter, FunctionEmitter
from kavachc.ir.facts import capability_method, function_called
from kavachc.ir.module import Instruction
from kavachc.ir.panics import CALL_DEPTH_MAX
from kavachc.ir.runtime_calls import HERE, STACK_LIMIT
from kavachc.ir.types import FunctionValue, IrType, Outcome, Task


def _call(out: FunctionEmitter, instruction: Instruction) -> str:
    name, depth = instruction.attributes
    callee = function_called(str(name), out.emission.module)
    symbol = out.emission.function_names[callee.name]
    return _perform_call(out, symbol, instruction, depth == "counted", callee.call_type, callee.waits)


def _call_capability(out: FunctionEmitter, instruction: Instruction) -> str:
    capability, number, depth = instruction.attributes
    assert isinstance(capability, str)
    assert isinstance(number, int)
    method = capability_method(capability, number, out.emission.module)
    vtable = out.assign(f"load ptr, ptr {out.at(out.operand(instruction.operands[0]), HELD_TYPE_OFFSET)}")
    # The methods follow the payload's type.
    symbol = out.assign(f"load ptr, ptr {out.at(vtable, 8 + 8 * number)}, !invariant.load !0")
    return _perform_call(out, symbol, instruction, depth == "counted", method.call_type, method.waits)


def _call_value(out: FunctionEmitter, instruction: Instruction) -> str:
    """A function value begins like a capability value of one method, the code."""
    value = instruction.operands[0]
    assert isinstance(value.type, FunctionValue)
    waits = value.type.shape in out.emission.module.waiting_shapes
    counted = instruction.attributes[0] == "counted"
    table = out.assign(f"load ptr, ptr {out.at(out.operand(value), HELD_TYPE_OFFSET)}")
    symbol = out.assign(f"load ptr, ptr {out.at(table, 8)}, !invariant.load !0")
    type = value.type.result
    call_type = Outcome(type, value.type.error) if waits or value.type.error is not None else type
    return _perform_call(out, symbol, instruction, counted, call_type, waits)


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


def _perform_call(
    out: FunctionEmitter, symbol: str, instruction: Instruction, counted: bool, type: IrType, waits: bool
) -> str:
    """The result is an operand of the call's type; `0` for nothing."""
    depth = _one_deeper(out, instruction) if counted else out.depth
    caller = out.as_caller(instruction)
    if counted and not waits:
        _check_stack(out, instruction)
    arguments = _arguments(out, instruction, caller, depth)
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


def _arguments(out: FunctionEmitter, instruction: Instruction, caller: str, depth: str) -> str:
    return ", ".join([*map(out.typed, instruction.operands), f"ptr {caller}", f"i64 {depth}"])


def _start(out: FunctionEmitter, symbol: str, arguments: str, outcome: str, parent: str) -> str:
    return out.assign(f"call ptr {symbol}({arguments}, ptr {outcome}, ptr {parent})")


def _one_deeper(out: FunctionEmitter, instruction: Instruction) -> str:
    too_deep = out.assign(f"icmp sge i64 {out.depth}, {CALL_DEPTH_MAX}")
    out.panic_if(too_deep, out.panic_of("depth", instruction))
    return out.assign(f"add nuw nsw i64 {out.depth}, 1")


def _check_stack(out: FunctionEmitter, instruction: Instruction) -> None:
    """Looks whether the stack comes to its end."""
    here = out.assign("call ptr @llvm.stacksave.p0()")
    limit = out.assign(f"load ptr, ptr @{STACK_LIMIT}")
    out.panic_if(out.assign(f"icmp ult ptr {here}, {limit}"), out.panic_of("stack", instruction))


def _spawn(out: FunctionEmitter, instruction: Instruction) -> str:
    type = result_type(instruction)
    assert isinstance(type, Task)
    symbol = out.emission.function_names[str(instruction.attributes[0])]
    task = out.call("kv_task_new", out.emission.descriptors.type(type.result))
    outcome = out.call("kv_task_outcome", task)
    start = out.emission.constants.start(out.site(instruction))
    first = _start(out, symbol, _arguments(out, instruction, start, "0"), outcome, "null")
    # The call has told a place of its own.
    out.write(f"store ptr {start}, ptr @{HERE}")
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
