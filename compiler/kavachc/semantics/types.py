"""The types of Kavach, as the checker, the interpreter and the lowering see them (spec 2).

Structural types (`ArrayType`, `OptionalType`, `TupleType`, `TaskType`) are equal when their parts are. Nominal types
(records, sums, agents, capabilities) are equal only to themselves; their parts are filled in after all names are
known, so that types may mention one another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from kavachc.source import Span


@dataclass(frozen=True, slots=True)
class PrimitiveType:
    name: str

    def __str__(self) -> str:
        return self.name


INT = PrimitiveType("Int")
FLOAT = PrimitiveType("Float")
BOOL = PrimitiveType("Bool")
STRING = PrimitiveType("String")
DURATION = PrimitiveType("Duration")
INSTANT = PrimitiveType("Instant")
NOTHING = PrimitiveType("()")
ERROR = PrimitiveType("Error")
# The type of an expression that never gives a value (`return`, `fail`): it fits wherever a value is wanted.
NEVER = PrimitiveType("never")
# The type of something already reported as wrong: it fits everywhere, so that one mistake gives one message.
UNKNOWN = PrimitiveType("unknown")


@dataclass(frozen=True, slots=True)
class ArrayType:
    element: Type

    def __str__(self) -> str:
        return f"[{self.element}]"


@dataclass(frozen=True, slots=True)
class OptionalType:
    """`T?`: `none` or a value."""

    element: Type

    def __str__(self) -> str:
        return f"{self.element}?"


@dataclass(frozen=True, slots=True)
class TupleType:
    """Of two elements or more."""

    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.elements))})"


@dataclass(frozen=True, slots=True)
class TaskType:
    result: Type

    def __str__(self) -> str:
        return f"Task<{self.result}>"


@dataclass(frozen=True, slots=True)
class TypeVariable:
    """A type that a builtin's row leaves open, such as the element in `[T].push`."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field of a record or a variant. Its default, if any, is known only to the checker."""

    name: str
    type: Type
    has_default: bool
    documentation: str | None
    span: Span


@dataclass(eq=False, slots=True)
class RecordType:
    name: str
    span: Span
    documentation: str | None
    fields: list[FieldInfo] = field(default_factory=list)
    capabilities: list[CapabilityType] = field(default_factory=list)

    def __str__(self) -> str:
        return self.name

    def field_index(self, name: str) -> int | None:
        return next((index for index, item in enumerate(self.fields) if item.name == name), None)


@dataclass(frozen=True, slots=True)
class VariantInfo:
    name: str
    fields: tuple[FieldInfo, ...]
    documentation: str | None
    span: Span


@dataclass(eq=False, slots=True)
class SumType:
    name: str
    span: Span
    documentation: str | None
    variants: list[VariantInfo] = field(default_factory=list)

    def __str__(self) -> str:
        return self.name

    def variant_index(self, name: str) -> int | None:
        return next((index for index, item in enumerate(self.variants) if item.name == name), None)


@dataclass(eq=False, slots=True)
class CapabilityMethod:
    """One method that a capability declares. `may_wait` is set by `effects.py`: some implementation may wait."""

    name: str
    index: int
    parameter_names: tuple[str, ...]
    parameter_types: tuple[Type, ...]
    result: Type
    error: Type | None
    span: Span
    may_wait: bool = False


@dataclass(eq=False, slots=True)
class CapabilityType:
    name: str
    span: Span
    documentation: str | None
    methods: list[CapabilityMethod] = field(default_factory=list)

    def __str__(self) -> str:
        return self.name

    def method(self, name: str) -> CapabilityMethod | None:
        return next((item for item in self.methods if item.name == name), None)


@dataclass(eq=False, slots=True)
class AgentType:
    """The type of a started agent's handle."""

    name: str
    span: Span
    documentation: str | None

    def __str__(self) -> str:
        return self.name


NominalType: TypeAlias = RecordType | SumType | CapabilityType | AgentType
Type: TypeAlias = PrimitiveType | ArrayType | OptionalType | TupleType | TaskType | TypeVariable | NominalType
