"""Patterns as written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kavachc.syntax.ast.expressions import (
    BoolLiteral,
    DurationLiteral,
    FloatLiteral,
    IntLiteral,
    NoneLiteral,
    StringLiteral,
)
from kavachc.syntax.ast.types import Identifier, Node


@dataclass(frozen=True, slots=True)
class WildcardPattern(Node):
    """`_`."""


@dataclass(frozen=True, slots=True)
class NamePattern(Node):
    """A plain name: binds the value."""

    name: Identifier


@dataclass(frozen=True, slots=True)
class LiteralPattern(Node):
    """An Int (perhaps negated), Float, Bool, Duration or plain String literal, or `none`."""

    value: IntLiteral | FloatLiteral | BoolLiteral | DurationLiteral | StringLiteral | NoneLiteral


@dataclass(frozen=True, slots=True)
class RangePattern(Node):
    """`1..5` or `1..=5`, of Int or Duration literals."""

    start: IntLiteral | DurationLiteral
    end: IntLiteral | DurationLiteral
    inclusive: bool


@dataclass(frozen=True, slots=True)
class PatternArgument(Node):
    """`pattern` by position, or `name: pattern` by field."""

    name: Identifier | None
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class ConstructorPattern(Node):
    """`AiError.Denied(r)`, `AiError.Denied`, `Point(x: 0, y: _)`; `path` is the dotted name."""

    path: tuple[Identifier, ...]
    arguments: tuple[PatternArgument, ...]
    has_arguments: bool


@dataclass(frozen=True, slots=True)
class TuplePattern(Node):
    """`(a, b)`, of two patterns or more."""

    elements: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class RestPattern(Node):
    """`..` or `..rest` in an array pattern; `name` is None where nobody needs the rest."""

    name: Identifier | None


@dataclass(frozen=True, slots=True)
class ArrayPattern(Node):
    """`[]`, `[a, b]`, `[first, ..rest]`. A `RestPattern` stands last; the builder reports any other."""

    elements: tuple[Pattern, ...]
    rest: RestPattern | None


@dataclass(frozen=True, slots=True)
class OrPattern(Node):
    """`A | B`."""

    alternatives: tuple[Pattern, ...]


Pattern: TypeAlias = (
    WildcardPattern
    | NamePattern
    | LiteralPattern
    | RangePattern
    | ConstructorPattern
    | TuplePattern
    | ArrayPattern
    | OrPattern
)
