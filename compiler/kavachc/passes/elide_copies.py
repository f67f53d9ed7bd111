"""Removes copies that nobody needs, with their releases.

A copy that is only borrowed, then released, while what it was made from stands all the time:

    %2: string = copy %1                    %3: string = string.concat %1, %1
    %3: string = string.concat %2, %2
    release %2

A copy of an owned value that is released right after, in the same block, is that value moved:

    %2: [int] = copy %1                     local.set &x %1
    release %1
    local.set &x %2
"""

from __future__ import annotations

from kavachc.ir.module import Function, Instruction, Module
from kavachc.passes.uses import Uses


def run(module: Module) -> bool:
    changed = False
    for function in module.functions.values():
        changed = run_function(function, module) or changed
    return changed


def run_function(function: Function, module: Module) -> bool:
    copies = [item for block in function.blocks for item in block.instructions if item.op.name == "copy"]
    if not copies:
        return False
    uses = Uses(function, module)
    for copy in copies:
        if not _is_borrow(copy, uses):
            _is_move(copy, uses)
    return uses.finish()


def _is_borrow(copy: Instruction, uses: Uses) -> bool:
    """Removes `copy` when its source can stand for it."""
    assert copy.result is not None
    source = copy.operands[0]
    borrowing = uses.family(copy.result)
    releases = [use for use in borrowing if use.instruction.op.name == "release"]
    borrowing = [use for use in borrowing if use.instruction.op.name != "release"]
    if any(use.consumes for use in borrowing):
        return False
    if uses.ends_between(uses.root(source), copy, borrowing):
        return False
    if any(uses.root(source) in uses.changed_by(use.instruction) for use in borrowing):
        # The call changes what it would borrow.
        return False
    for release in releases:
        uses.delete(release.instruction)
    uses.delete(copy)
    uses.replace(copy.result, source)
    return True


def _is_move(copy: Instruction, uses: Uses) -> bool:
    """Removes `copy` when its source is owned, and is given up before the copy is."""
    assert copy.result is not None
    source = copy.operands[0]
    maker = uses.makers.get(source)
    if uses.root(source) is not source or (maker is not None and maker.op.name == "const.string"):
        return False
    block, position = uses.places[copy]
    release = next(
        (
            use.instruction
            for use in uses.of(source)
            if use.instruction.op.name == "release" and uses.places[use.instruction][0] is block
        ),
        None,
    )
    if release is None or uses.places[release][1] < position:
        return False
    end = uses.places[release][1]
    for use in uses.of(copy.result):
        place, index = uses.places[use.instruction]
        if use.consumes and place is block and position < index < end:
            return False
    uses.delete(copy)
    uses.delete(release)
    uses.replace(copy.result, source)
    return True
