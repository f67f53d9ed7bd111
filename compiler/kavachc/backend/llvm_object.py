"""LLVM's part: parse, verify, optimise, and write machine code. The same input gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from llvmlite import binding

from kavachc.backend.llvm_emit import emit_llvm
from kavachc.backend.targets import host_machine, host_target, initialize_llvm, target_machine, target_named
from kavachc.ir.module import Module

LEVEL_MAX = 3


class LlvmError(Exception):
    """LLVM refused what the backend emitted: a fault of the compiler."""


def compile_object(module: Module, target: str, level: int, *, debug: bool = False) -> bytes:
    """The object file that a binary for `target` is linked from, perhaps with debug information."""
    optimized, machine = _optimized(module, target, partial(target_machine, target_named(target)), level, debug=debug)
    return bytes(machine.emit_object(optimized))


def compile_for_this_process(module: Module, level: int) -> bytes:
    """An object file for this very machine, that may be loaded anywhere in memory."""
    optimized, machine = _optimized(module, host_target(), host_machine, level)
    return bytes(machine.emit_object(optimized))


def emit_text(module: Module, target: str, level: int, form: Literal["llvm", "asm"]) -> str:
    """What `compile_object` compiles or writes, to read: optimised LLVM IR, or assembly."""
    optimized, machine = _optimized(module, target, partial(target_machine, target_named(target)), level)
    return str(machine.emit_assembly(optimized)) if form == "asm" else str(optimized)


def parse(text: str) -> Any:
    """A verified LLVM module."""
    initialize_llvm()
    try:
        module = binding.parse_assembly(text, binding.create_context())
        module.verify()
    except RuntimeError as error:
        raise LlvmError(str(error)) from None
    return module


def _optimized(
    module: Module, target: str, machine_of: Callable[[int], Any], level: int, *, debug: bool = False
) -> tuple[Any, Any]:
    """The module after LLVM's pipeline, and the machine to write it with. At level 0 the pipeline runs too: it splits
    coroutines, and inlines what must be inlined."""
    assert 0 <= level <= LEVEL_MAX
    text, has_huge = emit_llvm(module, target_named(target), debug=debug)
    parsed = parse(text)
    machine = machine_of(0 if has_huge else level)
    options = binding.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = level >= 2
    options.slp_vectorization = level >= 2
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(parsed, builder)
    return parsed, machine
