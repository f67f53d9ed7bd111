"""Ways that leave part of a function, and release what is owned there: failures, returns, cancelled waits, `break`.

What several of them release in the same order, and then go the same way, is written once. The first writes everything
out; when another comes to a place that the first has been at, the rest of the first becomes a block of its own:

    failed:                                 failed:
      %5: $Bad = outcome.error %3             %5: $Bad = outcome.error %3
      local.drop &b                           local.set &failure %5
      local.drop &a                           jump leave
      fail %5                               failed1:
    failed1:                                  %9: $Bad = outcome.error %7
      …                                       local.drop &c
                                              local.set &failure %9
                                              jump leave
                                            leave:
                                              local.drop &b
                                              local.drop &a
                                              %12: $Bad = local.take &failure
                                              fail %12

So a function's size stays in proportion to its source, however many ways leave it. A short rest is written again: a
jump would not make it shorter, and what stands in one block is easier to improve.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from kavachc.ir import module as ir
from kavachc.ir.builder import FunctionBuilder
from kavachc.ir.module import Block, Instruction, Value
from kavachc.ir.types import NOTHING

SHARED_RELEASES_MIN = 4


@dataclass(eq=False, slots=True)
class Held:
    """Something owned, on the stack of what is owned. While it stands there, what stands below it does not change: so
    it stands for all of that, too."""

    item: Value | ir.Local


@dataclass(eq=False, slots=True)
class Exit:
    """Where ways lead. `op` ends them: `fail`, `return` or `return.cancelled`, or `jump` to `target`. What they bring
    to a `fail` or `return` stands in `value` once they share a block."""

    op: str
    target: Block | None = None
    value: ir.Local | None = None


@dataclass(eq=False, slots=True)
class _Rest:
    """The end of a block, from the release of something on."""

    block: Block
    position: int


# To an exit, with this on top of what is to be released.
_Place: TypeAlias = tuple[Exit, Held]


@dataclass(slots=True)
class Leaving:
    """The ways that leave one function. Its exits come and go with what they leave; these three are the function's."""

    build: FunctionBuilder
    failure: Exit = field(default_factory=lambda: Exit("fail"))
    result: Exit = field(default_factory=lambda: Exit("return"))
    cancelled: Exit = field(default_factory=lambda: Exit("return.cancelled"))
    # Those that take what was brought from the exit's local.
    _ends_by_local: set[Instruction] = field(default_factory=set)
    _rests: dict[_Place, _Rest] = field(default_factory=dict)
    _rests_in: dict[Block, list[_Rest]] = field(default_factory=dict)

    def leave(self, exit: Exit, held: list[Held], brought: Value | None = None) -> None:
        """Ends the current block: releases what is held, the last first, and leaves with the owned value `brought`."""
        shared, rest = self._shared(exit, held)
        if rest is not None:
            block = self._block_of(exit, rest)
            if exit.value is not None and brought is not None:
                self.build.local_set(exit.value, brought)
        for index in range(len(held) - 1, shared - 1, -1):
            if index + 1 >= SHARED_RELEASES_MIN:
                self._remember(exit, held[index])
            self.release(held[index])
        if rest is not None:
            self.build.jump(block)
        else:
            self._end(exit, brought)

    def release(self, held: Held) -> None:
        if isinstance(held.item, ir.Local):
            self.build.local_drop(held.item)
        else:
            self.build.release(held.item)

    def _shared(self, exit: Exit, held: list[Held]) -> tuple[int, _Rest | None]:
        """How many of the held things, from the bottom, another way releases too, and where it does."""
        for count in range(len(held), SHARED_RELEASES_MIN - 1, -1):
            rest = self._rests.get((exit, held[count - 1]))
            if rest is not None:
                return count, rest
        return 0, None

    def _remember(self, exit: Exit, held: Held) -> None:
        block = self.build.block
        rest = self._rests[exit, held] = _Rest(block, len(block.instructions))
        self._rests_in.setdefault(block, []).append(rest)

    def _end(self, exit: Exit, brought: Value | None) -> None:
        if exit.op == "fail":
            assert brought is not None
            self.build.fail(brought)
        elif exit.op == "return":
            assert brought is not None
            self.build.return_value(brought)
        elif exit.op == "return.cancelled":
            self.build.return_cancelled()
        else:
            assert exit.target is not None
            self.build.jump(exit.target)

    def _block_of(self, exit: Exit, rest: _Rest) -> Block:
        """The rest as a block, split off from the one that it is the end of."""
        source = rest.block
        brings_its_own = exit.op == source.terminator.op.name and source.terminator.operands != []
        brings_its_own = brings_its_own and source.terminator not in self._ends_by_local
        if rest.position == 0 and not brings_its_own:
            return source
        block = self.build.new_block("leave")
        block.instructions = source.instructions[rest.position :]
        del source.instructions[rest.position :]
        self._move_rests(source, rest.position, block)
        before, location = self.build.block, self.build.location
        self.build.location = block.terminator.location
        self.build.position(source)
        if brings_its_own:
            self._bring_by_local(exit, block)
        self.build.jump(block)
        self.build.position(before)
        self.build.location = location
        return block

    def _bring_by_local(self, exit: Exit, block: Block) -> None:
        """What the current block brought to the end of `block` by itself goes there in a local, as for all others."""
        source = self.build.block
        end = block.instructions.pop()
        (brought,) = end.operands
        if brought.type != NOTHING:
            if exit.value is None:
                exit.value = self.build.new_local("failure" if exit.op == "fail" else "result", brought.type)
            self.build.local_set(exit.value, brought)
        self.build.position(block)
        end.operands[0] = self.build.nothing() if exit.value is None else self.build.local_take(exit.value)
        block.instructions.append(end)
        self._ends_by_local.add(end)
        self.build.position(source)

    def _move_rests(self, source: Block, position: int, block: Block) -> None:
        here: list[_Rest] = []
        for rest in self._rests_in.pop(source, []):
            if rest.position < position:
                here.append(rest)
                continue
            rest.block, rest.position = block, rest.position - position
            self._rests_in.setdefault(block, []).append(rest)
        self._rests_in[source] = here
