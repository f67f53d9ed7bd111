"""Expressions as written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from kavachc.source import Span
from kavachc.syntax.ast.types import CapabilityReference, Identifier, Node, TypeExpression

if TYPE_CHECKING:
    from kavachc.syntax.ast.patterns import Pattern
    from kavachc.syntax.ast.statements import Statement


@dataclass(frozen=True, slots=True)
class IntLiteral(Node):
    value: int


@dataclass(frozen=True, slots=True)
class FloatLiteral(Node):
    value: float


@dataclass(frozen=True, slots=True)
class BoolLiteral(Node):
    value: bool


@dataclass(frozen=True, slots=True)
class NoneLiteral(Node):
    """`none`."""


@dataclass(frozen=True, slots=True)
class DurationLiteral(Node):
    """`5s`; `value_ns` in nanoseconds."""

    value_ns: int


@dataclass(frozen=True, slots=True)
class StringLiteral(Node):
    """Text and the expressions between its `{ }`, in order. Escapes are already resolved."""

    parts: tuple[str | Expression, ...]


@dataclass(frozen=True, slots=True)
class ArrayLiteral(Node):
    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class TupleLiteral(Node):
    """`(a, b)`, of two elements or more."""

    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MapEntry(Node):
    key: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class MapLiteral(Node):
    """`["a": 1]`, `[:]`."""

    entries: tuple[MapEntry, ...]


@dataclass(frozen=True, slots=True)
class Name(Node):
    text: str


@dataclass(frozen=True, slots=True)
class FieldAccess(Node):
    """`target.name`: a field, a method before its call, a variant (`AiError.Denied`, `Tree<Int>.Leaf`)."""

    target: Expression
    name: Identifier
    type_arguments: tuple[TypeExpression, ...] = ()

    @property
    def in_parentheses(self) -> bool:
        """`(target.name)`: what is called then is the field's value, never a method."""
        return self.span.end > self.name.span.end


@dataclass(frozen=True, slots=True)
class IndexAccess(Node):
    target: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Argument(Node):
    """`value`, or `name: value`; with `mut` before the value, a place that the call changes."""

    name: Identifier | None
    value: Expression
    is_mutable: bool = False


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`callee<type_arguments>(arguments)`."""

    callee: Expression
    type_arguments: tuple[TypeExpression, ...]
    arguments: tuple[Argument, ...]


UnaryOperator = Literal["-", "!", "~"]
BinaryOperator = Literal[
    "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "&", "|", "^", "<<", ">>"
]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    operator: UnaryOperator
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """`operator_span` is where the operator itself stands; panics point there."""

    operator: BinaryOperator
    operator_span: Span
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Coalesce(Node):
    """`value ?? otherwise`."""

    value: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class RangeExpression(Node):
    """`start..end`, or `start..=end` when `inclusive`."""

    start: Expression
    end: Expression
    inclusive: bool


@dataclass(frozen=True, slots=True)
class FieldUpdate(Node):
    name: Identifier
    value: Expression


@dataclass(frozen=True, slots=True)
class With(Node):
    """`target with { name: value, … }`."""

    target: Expression
    updates: tuple[FieldUpdate, ...]


@dataclass(frozen=True, slots=True)
class Block(Node):
    """`{ … }`. Its value is that of its last statement when that is an expression."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If(Node):
    """`otherwise` is a `Block`, a further `If` or `IfConst`, or None."""

    condition: Expression
    then: Block
    otherwise: Expression | None


@dataclass(frozen=True, slots=True)
class IfConst(Node):
    """`if const binder = value { … } else …`; `otherwise` as for `If`."""

    binder: Pattern
    value: Expression
    then: Block
    otherwise: Expression | None


@dataclass(frozen=True, slots=True)
class MatchArm(Node):
    pattern: Pattern
    guard: Expression | None
    body: Expression


@dataclass(frozen=True, slots=True)
class Match(Node):
    subject: Expression
    arms: tuple[MatchArm, ...]


@dataclass(frozen=True, slots=True)
class Try(Node):
    """`try operand`: pass the operand's error on to the caller."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Catch(Node):
    """`operand catch binder => handler`; `binder` is None for `_`."""

    operand: Expression
    binder: Identifier | None
    handler: Expression


@dataclass(frozen=True, slots=True)
class Fail(Node):
    error: Expression


@dataclass(frozen=True, slots=True)
class Return(Node):
    value: Expression | None


@dataclass(frozen=True, slots=True)
class Break(Node):
    pass


@dataclass(frozen=True, slots=True)
class Continue(Node):
    pass


@dataclass(frozen=True, slots=True)
class ClosureParameter(Node):
    """`type` is None where it is left to the context."""

    name: Identifier
    type: TypeExpression | None


@dataclass(frozen=True, slots=True)
class Closure(Node):
    """`fn(x: Int) -> Int ! E uses C { … }`, or `fn(x) => expression` when `is_short`: then `result`, `error` and `uses`
    are None."""

    parameters: tuple[ClosureParameter, ...]
    result: TypeExpression | None
    error: TypeExpression | None
    body: Expression
    is_short: bool
    uses: tuple[CapabilityReference, ...] | None = None


@dataclass(frozen=True, slots=True)
class Spawn(Node):
    """`spawn call`. Anything but a call is refused by the checker."""

    call: Expression


Expression: TypeAlias = (
    IntLiteral
    | FloatLiteral
    | BoolLiteral
    | DurationLiteral
    | StringLiteral
    | ArrayLiteral
    | MapLiteral
    | TupleLiteral
    | NoneLiteral
    | Name
    | FieldAccess
    | IndexAccess
    | Call
    | Unary
    | Binary
    | Coalesce
    | RangeExpression
    | With
    | Block
    | If
    | IfConst
    | Match
    | Try
    | Catch
    | Fail
    | Return
    | Break
    | Continue
    | Closure
    | Spawn
)
