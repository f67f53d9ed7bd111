"""Which local names are known at one place of a body: a stack of blocks (spec 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kavachc.semantics.typed_ast import Local


class Scope:
    """Inner blocks shadow outer ones; within one block a name is declared once."""

    def __init__(self, outside: Callable[[str], Local | None] | None = None, around: Scope | None = None) -> None:
        """`outside` finds the names that a closure captures, and `around` is where those are from."""
        self._blocks: list[dict[str, Local]] = [{}]
        self._outside = outside
        self._around = around

    def enter(self) -> None:
        self._blocks.append({})

    def leave(self) -> None:
        self._blocks.pop()

    def declare(self, local: Local) -> Local | None:
        """Make `local` known; gives the name's earlier declaration in the same block, which then stays."""
        block = self._blocks[-1]
        if local.name in block:
            return block[local.name]
        block[local.name] = local
        return None

    def find(self, name: str) -> Local | None:
        for block in reversed(self._blocks):
            if name in block:
                return block[name]
        return None if self._outside is None else self._outside(name)

    def names(self) -> Iterator[str]:
        for block in reversed(self._blocks):
            yield from block
        if self._around is not None:
            yield from self._around.names()
