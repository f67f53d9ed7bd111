"""What a row of `builtins.py` says of a built-in function or method."""

from __future__ import annotations

from dataclasses import dataclass

from kavachc.semantics.types import Type


@dataclass(frozen=True, slots=True)
class Default:
    """What stands for a parameter that a call leaves out: as it is written, and its value, None for an empty map."""

    text: str
    value: int | None


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function (`owner` None), a method of a type (`owner` the receiver's type), or a method of a built-in
    capability, or of a name space (`owner` its name). `waits`: the caller may be suspended. `mutates`: the receiver is
    a place."""

    key: str
    name: str
    owner: Type | str | None
    parameters: tuple[tuple[str, Type], ...]
    result: Type | str  # Or the name of a record of the prelude.
    documentation: str  # With it, and the names and types, `library_page.py` makes docs/library.md.
    error: Type | str | None = None  # Or the name of a type of the prelude.
    effect: str | None = None
    waits: bool = False
    mutates: bool = False
    defaults: tuple[tuple[str, Default], ...] = ()  # Of the parameters that have one, by their names.

    def default(self, parameter: str) -> Default | None:
        return dict(self.defaults).get(parameter)


def method(
    key: str,
    owner: Type,
    parameters: str,
    types: tuple[Type, ...],
    result: Type,
    documentation: str,
    *,
    mutates: bool = False,
) -> Builtin:
    """A method that only computes, named by the last word of its key; the names of its parameters are one text."""
    name = "sum" if key.startswith("array.sum_") else key.partition(".")[2]
    names = parameters.split()
    return Builtin(key, name, owner, tuple(zip(names, types, strict=True)), result, documentation, mutates=mutates)
