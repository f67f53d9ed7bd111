"""The types of IR values.

Text form: `int float bool nothing string duration instant error answer`, `[T]`, `task<T>`, `$Name` for the
records, sums, agents and capabilities of the module, `outcome<T, E>` (`outcome<T>` when there is no error), and
`address<T>`. Names that are not plain words are quoted (`text.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kavachc.ir.text import name_text


@dataclass(frozen=True, slots=True)
class Scalar:
    """A type without parts. `answer` is what the model client gives back (kv_answer)."""

    name: str

    def __str__(self) -> str:
        return self.name


INT = Scalar("int")
FLOAT = Scalar("float")
BOOL = Scalar("bool")
NOTHING = Scalar("nothing")
STRING = Scalar("string")
DURATION = Scalar("duration")
INSTANT = Scalar("instant")
ERROR = Scalar("error")
ANSWER = Scalar("answer")
SCALARS = {item.name: item for item in (INT, FLOAT, BOOL, NOTHING, STRING, DURATION, INSTANT, ERROR, ANSWER)}


@dataclass(frozen=True, slots=True)
class Array:
    element: IrType

    def __str__(self) -> str:
        return f"[{self.element}]"


@dataclass(frozen=True, slots=True)
class Task:
    result: IrType

    def __str__(self) -> str:
        return f"task<{self.result}>"


@dataclass(frozen=True, slots=True)
class Named:
    """A record, sum, agent or capability; the module's tables say which."""

    name: str

    def __str__(self) -> str:
        return f"${name_text(self.name)}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call that can fail or may wait gives: a status (0 ok, 1 failed, 2 cancelled) and the value or error."""

    value: IrType
    error: IrType | None

    def __str__(self) -> str:
        return f"outcome<{self.value}>" if self.error is None else f"outcome<{self.value}, {self.error}>"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a value of type `target` stands: a local, or a part of one."""

    target: IrType

    def __str__(self) -> str:
        return f"address<{self.target}>"


IrType: TypeAlias = Scalar | Array | Task | Named | Outcome | Address
