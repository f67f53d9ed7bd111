"""Puts a lowered function in order: blocks as they run, without what nothing needs.

Before                              After
  entry:                              entry:
    %1 = const.nothing                  jump end
    jump end                          end:
  if.end:                               …
    unreachable
  end:
    …
"""

from __future__ import annotations

from kavachc.ir.module import Block, Function


def tidy(function: Function) -> None:
    """Drops the blocks that no way leads to, and values of nothing that nobody uses."""
    function.blocks[:] = _in_order(function.blocks[0])
    used = {value for block in function.blocks for item in block.instructions for value in item.operands}
    for block in function.blocks:
        block.instructions[:] = [
            item for item in block.instructions if item.op.name != "const.nothing" or item.result in used
        ]


def _in_order(entry: Block) -> list[Block]:
    """The blocks that ways from `entry` lead to, each before those that it leads to, loops aside."""
    seen = {entry}
    finished: list[Block] = []
    # Each block with those of its successors that are still to be visited; the first comes last, so that it ends up
    # right behind its block.
    open_blocks = [(entry, entry.successors())]
    while open_blocks:
        block, waiting = open_blocks[-1]
        if not waiting:
            finished.append(block)
            open_blocks.pop()
            continue
        successor = waiting.pop()
        if successor not in seen:
            seen.add(successor)
            open_blocks.append((successor, successor.successors()))
    return finished[::-1]
