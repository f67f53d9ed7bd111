"""Statements as written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kavachc.source import Span
from kavachc.syntax.ast.expressions import Block, Expression
from kavachc.syntax.ast.patterns import Pattern, TuplePattern
from kavachc.syntax.ast.types import Identifier, Node, TypeExpression


@dataclass(frozen=True, slots=True)
class Declare(Node):
    """`const name: type = value`, or `let` when `mutable`."""

    name: Identifier
    mutable: bool
    type: TypeExpression | None
    value: Expression


@dataclass(frozen=True, slots=True)
class TakeApart(Node):
    """`const (a, b) = value`, or `let` when `mutable`. `binder` is made of names, `_` and tuples."""

    binder: TuplePattern
    mutable: bool
    type: TypeExpression | None
    value: Expression


AssignOperator = Literal["=", "+=", "-=", "*=", "/=", "%="]


@dataclass(frozen=True, slots=True)
class Assign(Node):
    """`target operator value`; the checker refuses a target that is not a place."""

    target: Expression
    operator: AssignOperator
    operator_span: Span
    value: Expression


@dataclass(frozen=True, slots=True)
class For(Node):
    """`for binder in iterable { … }`: a name, `_` or a tuple of them; `iterable` may be a `RangeExpression`."""

    binder: Pattern
    iterable: Expression
    body: Block


@dataclass(frozen=True, slots=True)
class While(Node):
    condition: Expression
    body: Block


@dataclass(frozen=True, slots=True)
class Assert(Node):
    """`assert condition, message`."""

    condition: Expression
    message: Expression | None


@dataclass(frozen=True, slots=True)
class ExpressionStatement(Node):
    expression: Expression


Statement: TypeAlias = Declare | TakeApart | Assign | For | While | Assert | ExpressionStatement
