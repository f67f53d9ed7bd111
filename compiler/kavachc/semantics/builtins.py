"""The built-in functions and methods: one row each, from which every other fact about them is derived.

The checker types calls by these rows; the interpreter (`interpreter/builtins.py`) and the lowering
(`lower/builtins.py`) each have one implementation per row, found by `key`; tests check that none is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

from kavachc.semantics.types import (
    DURATION,
    ERROR,
    INSTANT,
    INT,
    NOTHING,
    ArrayType,
    TaskType,
    Type,
    TypeVariable,
)

T = TypeVariable("T")
# Any value that can be shown (spec 2.show).
SHOWN = TypeVariable("Shown")


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function (`owner` None), a method of a type (`owner` the receiver's type), or a method of a built-in
    capability (`owner` its name). `waits`: the caller may be suspended. `mutates`: the receiver is a place."""

    key: str
    name: str
    owner: Type | str | None
    parameters: tuple[tuple[str, Type], ...]
    result: Type
    documentation: str
    error: Type | None = None
    effect: str | None = None
    waits: bool = False
    mutates: bool = False


BUILTIN_CAPABILITIES = ("Ai", "Console", "Time", "Random", "Env", "Files", "Http")

BUILTINS: tuple[Builtin, ...] = (
    Builtin(
        "print",
        "print",
        None,
        (("value", SHOWN),),
        NOTHING,
        "Writes the value and a line break.",
        effect="Console",
    ),
    Builtin("array.len", "len", ArrayType(T), (), INT, "The number of elements."),
    Builtin(
        "array.push",
        "push",
        ArrayType(T),
        (("value", T),),
        NOTHING,
        "Adds an element at the end.",
        mutates=True,
    ),
    Builtin(
        "task.wait",
        "wait",
        TaskType(T),
        (),
        T,
        "The call's result, when it has one.",
        error=ERROR,
        waits=True,
    ),
    Builtin("task.cancel", "cancel", TaskType(T), (), NOTHING, "Ends the task at its next wait."),
    Builtin("time.sleep", "sleep", "Time", (("duration", DURATION),), NOTHING, "Waits.", effect="Time", waits=True),
    Builtin("time.now", "now", "Time", (), INSTANT, "The UTC time.", effect="Time"),
)
