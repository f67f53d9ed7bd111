"""What the bodies of generated programs know: names, and what can be called."""

from __future__ import annotations

from dataclasses import dataclass

from generated_types import Ty


@dataclass(slots=True)
class Name:
    """A name in scope. `readable` is False where a name of an inner block hides it, or it is the program's fuel."""

    text: str
    type: Ty
    mutable: bool = False
    readable: bool = True


@dataclass(slots=True)
class Unit:
    """Something that can be called. `receiver` is None for functions; `is_own`: a capability, as handlers name it."""

    text: str
    receiver: Ty | None
    parameters: list[tuple[str, Ty]]
    result: Ty
    error: Ty | None
    cost: int = 1
    is_own: bool = False
    fuel: bool = False
    # The `mut` parameters, `self` among them.
    mutable: frozenset[str] = frozenset()
    type_arguments: tuple[Ty, ...] = ()
    # Whether its type arguments can be written.
    is_written: bool = True

    @property
    def changed(self) -> list[Ty]:
        """The types of the places that a call is given."""
        own = [self.receiver] if self.receiver is not None and "self" in self.mutable else []
        return own + [type_ for name, type_ in self.parameters if name in self.mutable]
