"""Calls of the library's entries in the runtime (`ir/library.py`)."""

from __future__ import annotations

from kavachc.backend.emitters.aggregates import result_type
from kavachc.backend.llvm_function import Emitter, FunctionEmitter
from kavachc.ir.library import LIBRARY, in_memory
from kavachc.ir.module import Instruction
from kavachc.ir.types import NOTHING


def _builtin(out: FunctionEmitter, instruction: Instruction) -> str:
    entry = LIBRARY[str(instruction.attributes[0])]
    variable = entry.variable([operand.type for operand in instruction.operands])
    result = result_type(instruction)
    arguments = [
        out.member(operand) if in_memory(declared) else out.typed(operand)
        for operand, declared in zip(instruction.operands, entry.parameters, strict=True)
    ]
    if entry.needs_memory:
        out.tell_place()
    if entry.panics:
        arguments.append(out.place(instruction))
    if entry.result == NOTHING:
        out.write(f"call void {out.helpers.library(entry, variable)}({', '.join(arguments)})")
        return "0"
    returned = out.layouts.memory_type(result) if in_memory(entry.result) else out.layouts.register_type(result)
    call = out.assign(f"call {returned} {out.helpers.library(entry, variable)}({', '.join(arguments)})")
    return out.from_member(result, call) if in_memory(entry.result) else call


EMITTERS: dict[str, Emitter] = {"builtin": _builtin, "builtin.change": _builtin}
