"""The types of IR values.

Text form: `int float bool nothing string duration instant error answer`, `[T]`, `[K: V]`, `optional<T>`, `(A, B)` for
tuples, `box<T>` for a counted block that holds one value, `task<T>`, `$Name` for the records, sums, agents and
capabilities of the module, `fn(A, B) -> T ! E` for function values, `outcome<T, E>` (`outcome<T>` when there is no
error), and `address<T>`. Names that are not plain words are quoted (`text.py`).
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
class Map:
    key: IrType
    value: IrType

    def __str__(self) -> str:
        return f"[{self.key}: {self.value}]"


@dataclass(frozen=True, slots=True)
class Optional:
    element: IrType

    def __str__(self) -> str:
        return f"optional<{self.element}>"


@dataclass(frozen=True, slots=True)
class Tuple:
    """Of two elements or more."""

    elements: tuple[IrType, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.elements))})"


@dataclass(frozen=True, slots=True)
class Box:
    """A field of a recursive record or sum, stored apart; only fields have this type, and what is taken from them."""

    element: IrType

    def __str__(self) -> str:
        return f"box<{self.element}>"


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
class FunctionValue:
    """A function as a value. Whether its calls may wait, the module says of all with this many parameters."""

    parameters: tuple[IrType, ...]
    result: IrType
    error: IrType | None

    @property
    def shape(self) -> tuple[int, bool]:
        """How many parameters, and whether it can fail."""
        return len(self.parameters), self.error is not None

    def __str__(self) -> str:
        inside = ", ".join(str(item) for item in self.parameters)
        return f"fn({inside}){ending_text(self.result, self.error)}"


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


IrType: TypeAlias = Scalar | Array | Map | Optional | Tuple | Box | Task | Named | FunctionValue | Outcome | Address


def made_of(type: IrType) -> tuple[IrType, ...]:
    """The types that a type is written with."""
    if isinstance(type, Array | Optional | Box):
        return (type.element,)
    if isinstance(type, Map):
        return (type.key, type.value)
    if isinstance(type, Tuple):
        return type.elements
    if isinstance(type, Task):
        return (type.result,)
    if isinstance(type, Address):
        return (type.target,)
    if isinstance(type, FunctionValue):
        return (*type.parameters, type.result, *(() if type.error is None else (type.error,)))
    if isinstance(type, Outcome):
        return (type.value,) if type.error is None else (type.value, type.error)
    return ()


def ending_text(result: IrType, error: IrType | None) -> str:
    """The result and the error of a function. A result that could take the error itself stands in parentheses."""
    if error is None:
        return f" -> {result}"
    is_open = isinstance(result, FunctionValue) and result.error is None
    return f" -> {f'({result})' if is_open else result} ! {error}"
