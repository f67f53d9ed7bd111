"""The abstract syntax tree: what the programmer wrote, with a span on every node and nothing resolved yet.

Built by `ast_builder.py` during the parse, read by `semantics`. Every node is immutable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kavachc.source import SourceFile, Span


@dataclass(frozen=True, slots=True)
class Node:
    span: Span


@dataclass(frozen=True, slots=True)
class Identifier(Node):
    text: str


# Types as written.


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    """`Int`, `Payments`, `Task<Bool>`."""

    name: Identifier
    arguments: tuple[TypeExpression, ...] = ()


@dataclass(frozen=True, slots=True)
class ArrayTypeExpression(Node):
    """`[T]`."""

    element: TypeExpression


@dataclass(frozen=True, slots=True)
class MapTypeExpression(Node):
    """`[K: V]`."""

    key: TypeExpression
    value: TypeExpression


@dataclass(frozen=True, slots=True)
class NothingTypeExpression(Node):
    """`()`."""


@dataclass(frozen=True, slots=True)
class OptionalTypeExpression(Node):
    """`T?`."""

    element: TypeExpression


@dataclass(frozen=True, slots=True)
class TupleTypeExpression(Node):
    """`(A, B)`, of two types or more."""

    elements: tuple[TypeExpression, ...]


@dataclass(frozen=True, slots=True)
class FunctionTypeExpression(Node):
    """`fn(A, B) -> C ! E`; `result` and `error` are None where nothing is written."""

    parameters: tuple[TypeExpression, ...]
    result: TypeExpression | None
    error: TypeExpression | None


TypeExpression: TypeAlias = (
    NamedType
    | ArrayTypeExpression
    | MapTypeExpression
    | NothingTypeExpression
    | OptionalTypeExpression
    | TupleTypeExpression
    | FunctionTypeExpression
)


# Expressions.


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
    """`fn(x: Int) -> Int ! E { … }`, or `fn(x) => expression` when `is_short`: then `result` and `error` are None."""

    parameters: tuple[ClosureParameter, ...]
    result: TypeExpression | None
    error: TypeExpression | None
    body: Expression
    is_short: bool


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


# Patterns.


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


# Statements.


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
class ExpressionStatement(Node):
    expression: Expression


Statement: TypeAlias = Declare | TakeApart | Assign | For | While | ExpressionStatement


# Declarations. `documentation` is the text of the `///` comments before, lines joined by `\n`.


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    name: Identifier
    type: TypeExpression
    is_mutable: bool = False


@dataclass(frozen=True, slots=True)
class TypeParameter(Node):
    """`T`, or `T: Ord + Show`."""

    name: Identifier
    bounds: tuple[Identifier, ...]


@dataclass(frozen=True, slots=True)
class CapabilityReference(Node):
    """`Payments` or `Payments.refund`, as `can`, `uses` and `limit` name it."""

    capability: Identifier
    method: Identifier | None


@dataclass(frozen=True, slots=True)
class FunctionSignature(Node):
    """`name<type_parameters>(self, parameters) -> result ! error uses …`; `uses` is None when nothing is promised."""

    name: Identifier
    type_parameters: tuple[TypeParameter, ...]
    takes_self: bool
    parameters: tuple[Parameter, ...]
    result: TypeExpression | None
    error: TypeExpression | None
    uses: tuple[CapabilityReference, ...] | None
    documentation: str | None
    self_is_mutable: bool = False


@dataclass(frozen=True, slots=True)
class Function(Node):
    """A function, a method, or (inside an agent, introduced by `on`) a handler."""

    signature: FunctionSignature
    body: Block


@dataclass(frozen=True, slots=True)
class Field(Node):
    """A record's field, or a variant's."""

    name: Identifier
    type: TypeExpression
    default: Expression | None
    documentation: str | None


@dataclass(frozen=True, slots=True)
class RecordDeclaration(Node):
    """`type R { … }`, `type R<T> { … }`, or `type R: Capability, … { … }`."""

    name: Identifier
    type_parameters: tuple[TypeParameter, ...]
    capabilities: tuple[Identifier, ...]
    fields: tuple[Field, ...]
    methods: tuple[Function, ...]
    documentation: str | None


@dataclass(frozen=True, slots=True)
class Variant(Node):
    name: Identifier
    fields: tuple[Field, ...]
    documentation: str | None


@dataclass(frozen=True, slots=True)
class SumDeclaration(Node):
    """`type S = A | B(x: Int)`, with methods in a `{ }` that may follow."""

    name: Identifier
    type_parameters: tuple[TypeParameter, ...]
    variants: tuple[Variant, ...]
    methods: tuple[Function, ...]
    documentation: str | None


@dataclass(frozen=True, slots=True)
class CapabilityDeclaration(Node):
    name: Identifier
    methods: tuple[FunctionSignature, ...]
    documentation: str | None


@dataclass(frozen=True, slots=True)
class Window(Node):
    """`per day`, `per 10m`; `length` is the written word or a duration."""

    length: Identifier | DurationLiteral


@dataclass(frozen=True, slots=True)
class LimitRule(Node):
    """One rule of a `limit` block.

    With a `window`, `condition` is the comparison whose left side is `sum(…)`, `count` or `tokens`;
    without, it is a per-call condition. `key` is what stands after `by`.
    The rule's text is `span.text` with single spaces (spec 8.3).
    """

    condition: Expression
    window: Window | None
    key: Expression | None


@dataclass(frozen=True, slots=True)
class Limit(Node):
    target: CapabilityReference
    rules: tuple[LimitRule, ...]


@dataclass(frozen=True, slots=True)
class AgentSetting(Node):
    """`model EXPRESSION` or `settings EXPRESSION`."""

    kind: Literal["model", "settings"]
    value: Expression


@dataclass(frozen=True, slots=True)
class AgentDeclaration(Node):
    """`can` holds the references of every `can` line; `settings` holds them as written, repeats too."""

    name: Identifier
    settings: tuple[AgentSetting, ...]
    can: tuple[CapabilityReference, ...]
    limits: tuple[Limit, ...]
    handlers: tuple[Function, ...]
    documentation: str | None


@dataclass(frozen=True, slots=True)
class ConstDeclaration(Node):
    """`const name: type = value` at the top of a file."""

    name: Identifier
    type: TypeExpression | None
    value: Expression
    documentation: str | None


Declaration: TypeAlias = (
    Function | RecordDeclaration | SumDeclaration | CapabilityDeclaration | AgentDeclaration | ConstDeclaration
)


@dataclass(frozen=True, slots=True)
class Import(Node):
    """`import "bank.kav"`; the span is that of the text."""

    path: str


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed file. `public` are the names that are declared with `pub`."""

    file: SourceFile
    declarations: tuple[Declaration, ...]
    imports: tuple[Import, ...] = ()
    public: frozenset[str] = frozenset()


def declared_name(declaration: Declaration) -> Identifier:
    """The name that a declaration of the top level makes known."""
    return declaration.signature.name if isinstance(declaration, Function) else declaration.name
