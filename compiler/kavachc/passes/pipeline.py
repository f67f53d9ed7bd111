"""Which passes run at which level, in which order."""

from __future__ import annotations

from collections.abc import Callable

from kavachc.ir.errors import IrError
from kavachc.ir.module import Module
from kavachc.ir.verifier import verify
from kavachc.passes import (
    elide_copies,
    last_use_moves,
    remove_dead,
    remove_unused,
    simplify_blocks,
    static_strings,
)

Pass = tuple[str, Callable[[Module], bool]]

# At every level: binaries hold only what they can reach.
REQUIRED: tuple[Pass, ...] = (("remove_unused", remove_unused.run),)
# Blocks first, since the others see further in long blocks; unused things last, since code that goes may be their user.
OPTIMISING: tuple[Pass, ...] = (
    ("simplify_blocks", simplify_blocks.run),
    ("static_strings", static_strings.run),
    ("elide_copies", elide_copies.run),
    ("last_use_moves", last_use_moves.run),
    ("remove_dead", remove_dead.run),
    ("remove_unused", remove_unused.run),
)


def passes_for(level: int) -> tuple[Pass, ...]:
    """The passes of -O`level`, in order."""
    return REQUIRED if level == 0 else REQUIRED + OPTIMISING


def optimise(module: Module, level: int, verify_each: bool = False) -> None:
    """Changes `module` in place. With `verify_each`, a pass that breaks a rule is named by the IrError."""
    if verify_each:
        verify(module)
    for name, run in passes_for(level):
        run(module)
        if verify_each:
            try:
                verify(module)
            except IrError as error:
                raise IrError(f"after {name}: {error}") from None
