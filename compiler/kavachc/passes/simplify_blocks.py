"""Removes blocks that cannot be reached, goes past blocks that only jump on, and joins blocks that follow one another.

entry:                                  entry:
  %1: bool = const.bool true              %1: bool = const.bool true
  branch %1 a b                           print %text
a:                                        return %nothing
  jump c
b:
  jump c
c:
  print %text
  return %nothing
"""

from __future__ import annotations

from kavachc.ir.graph import Graph
from kavachc.ir.module import Attribute, Block, Cases, Function, Instruction, Module, Value, instruction


def run(module: Module) -> bool:
    changed = False
    for function in module.functions.values():
        changed = run_function(function) or changed
    return changed


def run_function(function: Function) -> bool:
    changed = _thread_jumps(function)
    changed = _decide_branches(function) or changed
    reachable = set(Graph(function).order)
    if len(reachable) != len(function.blocks):
        function.blocks = [block for block in function.blocks if block in reachable]
        changed = True
    return _join(function) or changed


def _thread_jumps(function: Function) -> bool:
    """Whoever goes to a block that only jumps goes where that leads."""
    targets: dict[Block, Block] = {}
    for block in function.blocks:
        if len(block.instructions) == 1 and block.terminator.op.name == "jump":
            targets[block] = block.successors()[0]
    final = {block: _final(block, targets) for block in targets}
    changed = False
    for block in function.blocks:
        end = block.terminator
        attributes = tuple(_retarget(attribute, final) for attribute in end.attributes)
        if attributes != end.attributes:
            end.attributes = attributes
            changed = True
    return changed


def _final(block: Block, targets: dict[Block, Block]) -> Block:
    """The end of the chain; in an endless ring of jumps, wherever the ring closes."""
    passed = {block}
    while block in targets and targets[block] not in passed:
        block = targets[block]
        passed.add(block)
    return block


def _retarget(attribute: Attribute, final: dict[Block, Block]) -> Attribute:
    if isinstance(attribute, Block):
        return final.get(attribute, attribute)
    if isinstance(attribute, Cases):
        targets = tuple((number, final.get(block, block)) for number, block in attribute.targets)
        return attribute if targets == attribute.targets else Cases(targets)
    return attribute


def _decide_branches(function: Function) -> bool:
    """A branch on a constant, or with one target for both ways, is a jump."""
    constants: dict[Value, bool] = {}
    for block in function.blocks:
        for item in block.instructions:
            if item.op.name == "const.bool" and item.result is not None:
                constants[item.result] = item.attributes[0] is True
    changed = False
    for block in function.blocks:
        end = block.terminator
        if end.op.name != "branch":
            continue
        then, otherwise = block.successors()
        known = constants.get(end.operands[0])
        if known is not None or then is otherwise:
            target = otherwise if known is False else then
            block.instructions[-1] = _jump(target, end)
            changed = True
    return changed


def _jump(target: Block, replaced: Instruction) -> Instruction:
    return instruction("jump", [], (target,), location=replaced.location)


def _join(function: Function) -> bool:
    """A block that is the only one to go to the next, and goes only there, takes it in."""
    entries: dict[Block, int] = {}
    for block in function.blocks:
        for successor in block.successors():
            entries[successor] = entries.get(successor, 0) + 1
    joined: set[Block] = set()
    for block in function.blocks:
        if block in joined:
            continue
        while block.terminator.op.name == "jump":
            successor = block.successors()[0]
            if entries[successor] != 1 or successor is block or successor is function.blocks[0]:
                break
            block.instructions.pop()
            block.instructions.extend(successor.instructions)
            joined.add(successor)
    function.blocks = [block for block in function.blocks if block not in joined]
    return bool(joined)
