"""Patterns. A pattern is tested against the subject from left to right and binds its names as it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kavachc.semantics.typed_ast.expressions import Local
from kavachc.semantics.types import (
    RecordType,
    SumType,
    Type,
)
from kavachc.source import Span


@dataclass(frozen=True, slots=True)
class WildcardPattern:
    span: Span


@dataclass(frozen=True, slots=True)
class BindPattern:
    span: Span
    local: Local


@dataclass(frozen=True, slots=True)
class LiteralPattern:
    """Equal to an Int, Duration, Bool, Float or String of the subject's type."""

    span: Span
    value: int | float | bool | str
    type: Type


@dataclass(frozen=True, slots=True)
class RangePattern:
    span: Span
    start: int
    end: int
    inclusive: bool


@dataclass(frozen=True, slots=True)
class VariantPattern:
    """`fields` are (index of the field, pattern); a field not named fits anything."""

    span: Span
    sum: SumType
    variant: int
    fields: tuple[tuple[int, Pattern], ...]


@dataclass(frozen=True, slots=True)
class RecordPattern:
    span: Span
    record: RecordType
    fields: tuple[tuple[int, Pattern], ...]


@dataclass(frozen=True, slots=True)
class NonePattern:
    span: Span


@dataclass(frozen=True, slots=True)
class PresentPattern:
    """On a `T?`: a value is there, and `inner` fits it."""

    span: Span
    inner: Pattern


@dataclass(frozen=True, slots=True)
class TuplePattern:
    """One pattern for each element."""

    span: Span
    elements: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class ArrayPattern:
    """An array that begins with `elements`, and has no more unless `is_open`; the others go into `rest`."""

    span: Span
    elements: tuple[Pattern, ...]
    is_open: bool
    rest: Local | None


@dataclass(frozen=True, slots=True)
class ErrorPattern:
    """On an `Error`: it holds a value of `inner`'s type, and `inner` fits that value."""

    span: Span
    held: RecordType | SumType
    inner: Pattern


@dataclass(frozen=True, slots=True)
class OrPattern:
    """The alternatives bind no names."""

    span: Span
    alternatives: tuple[Pattern, ...]


Pattern: TypeAlias = (
    WildcardPattern
    | BindPattern
    | LiteralPattern
    | RangePattern
    | VariantPattern
    | RecordPattern
    | NonePattern
    | PresentPattern
    | TuplePattern
    | ArrayPattern
    | ErrorPattern
    | OrPattern
)
