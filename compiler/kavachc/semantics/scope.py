"""Which local names are known at one place of a body: a stack of blocks (spec 2)."""

from __future__ import annotations

from collections.abc import Iterator

from kavachc.semantics.typed_ast import Local


class Scope:
    """Inner blocks shadow outer ones; within one block a name is declared once."""

    def __init__(self) -> None:
        self._blocks: list[dict[str, Local]] = [{}]

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
        return None

    def names(self) -> Iterator[str]:
        for block in reversed(self._blocks):
            yield from block
