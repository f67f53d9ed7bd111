"""Removes pure instructions whose results nobody needs; an owned result goes with its releases.

    %1: int = const.int 5                   return %3
    %2: string = text.make %1
    release %2
    return %3

Locals that nothing mentions go, too. Operations that may panic stay, and so do those that take over something counted.
"""

from __future__ import annotations

from kavachc.ir.module import Function, Instruction, Local, Module
from kavachc.passes.uses import Uses


def run(module: Module) -> bool:
    changed = False
    for function in module.functions.values():
        changed = run_function(function, module) or changed
    return changed


def run_function(function: Function, module: Module) -> bool:
    uses = Uses(function, module)
    waiting = [maker for maker in uses.makers.values() if maker.op.pure]
    while waiting:
        instruction = waiting.pop()
        if uses.is_deleted(instruction) or not _is_dead(instruction, uses):
            continue
        assert instruction.result is not None
        for use in uses.of(instruction.result):
            uses.delete(use.instruction)
        uses.delete(instruction)
        for operand in instruction.operands:
            maker = uses.makers.get(operand)
            if maker is not None and maker.op.pure:
                waiting.append(maker)
    changed = uses.finish()
    return _remove_locals(function) or changed


def _remove_locals(function: Function) -> bool:
    mentioned: set[Local] = set()
    for block in function.blocks:
        for instruction in block.instructions:
            mentioned.update(item for item in instruction.attributes if isinstance(item, Local))
    kept = [local for local in function.locals if local in mentioned]
    removed = len(kept) != len(function.locals)
    function.locals = kept
    return removed


def _is_dead(instruction: Instruction, uses: Uses) -> bool:
    assert instruction.result is not None
    if any(use.instruction.op.name != "release" for use in uses.of(instruction.result)):
        return False
    return not any(
        instruction.op.consumes(index) and uses.is_counted(operand)
        for index, operand in enumerate(instruction.operands)
    )
