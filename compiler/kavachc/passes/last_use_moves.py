"""The copy of a local that is emptied later in the same block, without another use before, takes the value out of it.

    %1: [int] = local.get &x                %2: [int] = local.take &x
    %2: [int] = copy %1                     local.set &y %2
    local.set &y %2
    %3: [int] = local.take &x
    release %3

The array then keeps one owner, so that a later write to it need not copy it.
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
    touched: dict[Local, list[Instruction]] = {}
    changed = False
    for block in function.blocks:
        # Backwards, so that the last copy before a drop is the one that becomes a move.
        touched.clear()
        for instruction in reversed(block.instructions):
            if uses.is_deleted(instruction):
                continue
            if instruction.op.name == "copy":
                changed = _move(instruction, touched, uses) or changed
            for local in _locals_of(instruction, uses):
                touched.setdefault(local, []).append(instruction)
    return uses.finish() or changed


def _locals_of(instruction: Instruction, uses: Uses) -> list[Local]:
    """The locals that it reads, writes, or uses something borrowed from."""
    found = [attribute for attribute in instruction.attributes if isinstance(attribute, Local)]
    for operand in instruction.operands:
        root = uses.root(operand)
        if isinstance(root, Local):
            found.append(root)
    return found


def _move(copy: Instruction, touched: dict[Local, list[Instruction]], uses: Uses) -> bool:
    """`touched` are the instructions after `copy` that have to do with each local, the nearest last."""
    get = uses.makers.get(copy.operands[0])
    if get is None or get.op.name != "local.get" or not uses.is_counted(copy.operands[0]):
        return False
    local = get.attributes[0]
    assert isinstance(local, Local)
    later = touched.get(local, [])
    if not later or later[-1].op.name != "local.take":
        return False
    take = later[-1]
    assert take.result is not None
    ends = uses.of(take.result)
    if len(ends) != 1 or ends[0].instruction.op.name != "release":
        return False
    uses.delete(take)
    uses.delete(ends[0].instruction)
    later.pop()
    if all(use.instruction is copy for use in uses.of(copy.operands[0])):
        uses.delete(get)
    uses.rewrite(copy, "local.take", (local,))
    return True
