"""Places that can change, and statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kavachc.semantics.typed_ast.expressions import ArithmeticOperator, Block, Expr, Local
from kavachc.semantics.typed_ast.patterns import Pattern
from kavachc.semantics.types import FieldRule, Type
from kavachc.source import Span


@dataclass(frozen=True, slots=True)
class FieldStep:
    """`rule` is the field's, which must hold when the place has been changed; `type_arguments` are those of the record
    that the field is in."""

    index: int
    type: Type
    rule: FieldRule | None = None
    type_arguments: tuple[Type, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexStep:
    """An element of an array; panics at `span` when out of range."""

    index: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class KeyStep:
    """The value of a key in a map. Where it is missing, `span` panics, except for a store, which puts it there."""

    index: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Place:
    """A `let` variable, or a part of one: `a.b[i].c`. `type` is that of what stands there; each step's `type`
    is that of the part it leads to."""

    span: Span
    local: Local
    steps: tuple[FieldStep | IndexStep | KeyStep, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Declare:
    span: Span
    local: Local
    value: Expr


@dataclass(frozen=True, slots=True)
class TakeApart:
    """Binds the names of a pattern that always fits: of names, wildcards and tuples."""

    span: Span
    pattern: Pattern
    value: Expr


@dataclass(frozen=True, slots=True)
class Assign:
    """The place's indexes are evaluated, then (with an `operator`) what stands there is read, then `value` is
    evaluated, then the result is stored. An index that the value's evaluation put out of range panics at the
    store. Arithmetic panics at `operator_span`."""

    span: Span
    place: Place
    operator: ArithmeticOperator | None
    operator_span: Span
    value: Expr


@dataclass(frozen=True, slots=True)
class ForRange:
    """The bounds are evaluated once; `local` is None for `_`. Counting never overflows."""

    span: Span
    local: Local | None
    start: Expr
    end: Expr
    inclusive: bool
    body: Block


@dataclass(frozen=True, slots=True)
class ForEach:
    """Over the array as it was when the loop began: a change to it inside the loop is not seen."""

    span: Span
    local: Local | None
    array: Expr
    body: Block


@dataclass(frozen=True, slots=True)
class While:
    span: Span
    condition: Expr
    body: Block


@dataclass(frozen=True, slots=True)
class ExpressionStatement:
    span: Span
    expression: Expr


Statement: TypeAlias = Declare | TakeApart | Assign | ForRange | ForEach | While | ExpressionStatement
