"""Terminators. How a function ends depends on what it gives: a plain value, an outcome, or an outcome at `out`."""

from __future__ import annotations

from kavachc.backend.llvm_function import Emitter, FunctionEmitter
from kavachc.backend.llvm_runtime import alias_tag
from kavachc.ir.module import Block, Cases, Instruction, Value
from kavachc.ir.types import NOTHING, Outcome

_OK, _FAILED, _CANCELLED = 0, 1, 2


def _label(out: FunctionEmitter, instruction: Instruction, place: int) -> str:
    block = instruction.attributes[place]
    assert isinstance(block, Block)
    return f"label %{out.block_label(block)}"


def _jump(out: FunctionEmitter, instruction: Instruction) -> str:
    out.write(f"br {_label(out, instruction, 0)}")
    return ""


def _branch(out: FunctionEmitter, instruction: Instruction) -> str:
    condition = out.operand(instruction.operands[0])
    out.write(f"br i1 {condition}, {_label(out, instruction, 0)}, {_label(out, instruction, 1)}")
    return ""


def _switch(out: FunctionEmitter, instruction: Instruction) -> str:
    cases = instruction.attributes[0]
    assert isinstance(cases, Cases)
    rows = "\n    ".join(f"i64 {number}, label %{out.block_label(block)}" for number, block in cases.targets)
    out.write(f"switch i64 {out.operand(instruction.operands[0])}, {_label(out, instruction, 1)} [{rows}]")
    return ""


def _end(out: FunctionEmitter, status: int, part: str, value: Value | None) -> None:
    """Ends the function with an outcome. `part` says what `value` is: the `value` or the `error`."""
    type = out.function.call_type
    assert isinstance(type, Outcome)
    member = None if value is None else out.layouts.member_of_outcome(type, part)
    if out.function.waits:
        out.write(f"store i64 {status}, ptr %out{alias_tag('i64')}")
        if value is not None and member is not None:
            out.store(value, out.at("%out", out.layouts.aggregate(type).offsets[member]))
        out.write("br label %finish")
        return
    outcome_type = out.layouts.memory_type(type)
    made = out.assign(f"insertvalue {outcome_type} poison, i64 {status}, 0")
    if value is not None and member is not None:
        made = out.assign(f"insertvalue {outcome_type} {made}, {out.member(value)}, {member}")
    out.write(f"ret {outcome_type} {made}")


def _return(out: FunctionEmitter, instruction: Instruction) -> str:
    value = instruction.operands[0]
    if isinstance(out.function.call_type, Outcome):
        _end(out, _OK, "value", value)
    elif value.type == NOTHING:
        out.write("ret void")
    else:
        out.write(f"ret {out.typed(value)}")
    return ""


def _fail(out: FunctionEmitter, instruction: Instruction) -> str:
    _end(out, _FAILED, "error", instruction.operands[0])
    return ""


def _return_cancelled(out: FunctionEmitter, instruction: Instruction) -> str:
    _end(out, _CANCELLED, "value", None)
    return ""


def _unreachable(out: FunctionEmitter, instruction: Instruction) -> str:
    out.write("unreachable")
    return ""


EMITTERS: dict[str, Emitter] = {
    "jump": _jump,
    "branch": _branch,
    "switch": _switch,
    "return": _return,
    "fail": _fail,
    "return.cancelled": _return_cancelled,
    "unreachable": _unreachable,
}
