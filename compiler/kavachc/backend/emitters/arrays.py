"""Where the elements of an array are. Shared by the emitters that read and write them."""

from __future__ import annotations

from kavachc.backend.layout import ELEMENTS_OFFSET, LENGTH_OFFSET
from kavachc.backend.llvm_function import FunctionEmitter
from kavachc.ir.module import Instruction
from kavachc.ir.types import IrType


def bounds_check(out: FunctionEmitter, instruction: Instruction, array: str, index: str) -> None:
    length = out.load_header(array, LENGTH_OFFSET, "length")
    panic = out.runtime.use("kv_panic_index")
    outside = out.assign(f"icmp uge i64 {index}, {length}")
    out.panic_if(outside, f"call void {panic}(i64 {index}, i64 {length}, {out.place(instruction)})")


def element_at(out: FunctionEmitter, array: str, element: IrType, index: str) -> str:
    """`index` is known to be inside."""
    first = out.at(array, ELEMENTS_OFFSET)
    return out.assign(f"getelementptr inbounds nuw {out.layouts.memory_type(element)}, ptr {first}, i64 {index}")
