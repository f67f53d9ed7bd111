"""Expressions, and the variables that they read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kavachc.semantics.builtin_row import Builtin
from kavachc.semantics.types import (
    CapabilityMethod,
    CapabilityType,
    FunctionShape,
    RecordType,
    SumType,
    Type,
)
from kavachc.semantics.types import (
    Effect as Effect,
)
from kavachc.source import Span

if TYPE_CHECKING:
    from kavachc.semantics.typed_ast.declarations import Agent, Constant, Function
    from kavachc.semantics.typed_ast.patterns import Pattern
    from kavachc.semantics.typed_ast.statements import Place, Statement


@dataclass(eq=False, slots=True)
class Local:
    """A parameter, or a name declared in a body. Its identity is the variable; `name` is for people. `is_reference`: a
    `mut` parameter, which is the caller's place."""

    name: str
    type: Type
    mutable: bool
    span: Span
    is_reference: bool = False


@dataclass(frozen=True, slots=True)
class Expr:
    span: Span
    type: Type


@dataclass(frozen=True, slots=True)
class IntValue(Expr):
    """Of type Int, Duration or Instant (nanoseconds)."""

    value: int


@dataclass(frozen=True, slots=True)
class FloatValue(Expr):
    value: float


@dataclass(frozen=True, slots=True)
class BoolValue(Expr):
    value: bool


@dataclass(frozen=True, slots=True)
class StringValue(Expr):
    value: str


@dataclass(frozen=True, slots=True)
class NothingValue(Expr):
    pass


@dataclass(frozen=True, slots=True)
class MapMake(Expr):
    """Keys and values in turn. Of equal keys the last one's value counts, at the place of the first."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class NoneValue(Expr):
    """`none`, of an optional type."""


@dataclass(frozen=True, slots=True)
class Interpolation(Expr):
    """A String made of its parts as they show (spec 2.show)."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ArrayMake(Expr):
    elements: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class TupleMake(Expr):
    elements: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class RecordMake(Expr):
    """`fields` are (index of the field, value) in the order of evaluation: as written, then defaults."""

    record: RecordType
    fields: tuple[tuple[int, Expr], ...]


@dataclass(frozen=True, slots=True)
class VariantMake(Expr):
    sum: SumType
    variant: int
    fields: tuple[tuple[int, Expr], ...]


@dataclass(frozen=True, slots=True)
class RecordUpdate(Expr):
    """`target with { … }`: a copy of the target with some fields replaced."""

    target: Expr
    fields: tuple[tuple[int, Expr], ...]


@dataclass(frozen=True, slots=True)
class LocalGet(Expr):
    local: Local


@dataclass(frozen=True, slots=True)
class ConstGet(Expr):
    constant: Constant


@dataclass(frozen=True, slots=True)
class FieldGet(Expr):
    """A field of a record."""

    target: Expr
    index: int


@dataclass(frozen=True, slots=True)
class IndexGet(Expr):
    """An element of an array; panics at `span` (spec 2.array.index)."""

    target: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class MapGet(Expr):
    """The value of a key in a map; panics at `span` (spec 2.map.index)."""

    target: Expr
    index: Expr


UnaryOperator = Literal["-", "!", "~"]
ArithmeticOperator = Literal["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]
ComparisonOperator = Literal["==", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class UnaryOperation(Expr):
    """`-` on Int, Float, Duration; `!` on Bool; `~` on Int. Overflow panics at `span`."""

    operator: UnaryOperator
    operand: Expr


@dataclass(frozen=True, slots=True)
class ArithmeticOperation(Expr):
    """On Int, Float, Duration, Instant as spec 2 lists them, and `+` on String. Panics at `operator_span`."""

    operator: ArithmeticOperator
    operator_span: Span
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Comparison(Expr):
    """Both sides have one type. Order: Int, Float, String, Duration, Instant; equality: structural."""

    operator: ComparisonOperator
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class LogicalOperation(Expr):
    """The right side is evaluated only when the left does not decide."""

    operator: Literal["&&", "||"]
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class CallFunction(Expr):
    """A function or method with a body; a method's receiver is the first argument.

    `type_arguments` are what the function's type parameters stand for in this call.
    """

    function: Function
    arguments: tuple[Expr, ...]
    type_arguments: tuple[Type, ...] = ()


@dataclass(frozen=True, slots=True)
class CallCapability(Expr):
    """A method of a capability value, found when the program runs."""

    target: Expr
    capability: CapabilityType
    method: CapabilityMethod
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class CallHandler(Expr):
    """A handler of a started agent; `function.agent` is the agent."""

    target: Expr
    function: Function
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class FunctionValue(Expr):
    """A function, named as a value: it is called on behalf of the agent that this stands in. `type_arguments` are
    what its type parameters stand for."""

    function: Function
    type_arguments: tuple[Type, ...] = ()


@dataclass(frozen=True, slots=True)
class Closure(Expr):
    """A function value with what it captures: `captures` are evaluated now, in the order of `function.captures`."""

    function: Function
    captures: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class CallValue(Expr):
    """A call of a function value; the target is evaluated first."""

    target: Expr
    shape: FunctionShape
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class CallBuiltin(Expr):
    """A row of the builtins table; a method's receiver is the first argument."""

    builtin: Builtin
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MutArgument(Expr):
    """A place that is given for a `mut` parameter, or for `mut self`; only as an argument of a CallFunction. Its
    indexes are evaluated in its turn; whether they are in range is looked at when the call begins."""

    place: Place


@dataclass(frozen=True, slots=True)
class CallMutatingBuiltin(Expr):
    """A row that changes its receiver in place (`push`). The place's indexes are evaluated first, then the
    arguments, then the place is changed."""

    builtin: Builtin
    place: Place
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class AgentStart(Expr):
    """`A.start(Cap: value, …)`: (index into agent.capabilities, value of that capability's type), as written."""

    agent: Agent
    capabilities: tuple[tuple[int, Expr], ...]


@dataclass(frozen=True, slots=True)
class AgentCapability(Expr):
    """In a handler, the capability that `start` was given, under the limits of the handler's agent."""

    agent: Agent
    index: int


@dataclass(frozen=True, slots=True)
class Ask(Expr):
    """`ask<T>(prompt)`; `type` is T, the error is the prelude's `AiError`."""

    prompt: Expr


@dataclass(frozen=True, slots=True)
class Spawn(Expr):
    """`call` is a CallFunction, CallValue, CallCapability, CallHandler, CallBuiltin or Ask: its arguments (and
    target) are evaluated now, the call itself runs as a task."""

    call: Expr


@dataclass(frozen=True, slots=True)
class ToError(Expr):
    """A value of an error type as an `Error`."""

    value: Expr


@dataclass(frozen=True, slots=True)
class ToOptional(Expr):
    """A value of the optional type's element, as a value that is present."""

    value: Expr


@dataclass(frozen=True, slots=True)
class ToCapability(Expr):
    """A value of a record that implements `capability`, as that capability."""

    value: Expr
    capability: CapabilityType


@dataclass(frozen=True, slots=True)
class Block(Expr):
    """`result` is evaluated last and gives the value; None: the block gives nothing (or never ends).

    A block in which a statement never ends has the type NEVER and no result: a statement that leaves, or a
    `While` on the literal `true` without a `break` of its own.
    """

    statements: tuple[Statement, ...]
    result: Expr | None


@dataclass(frozen=True, slots=True)
class If(Expr):
    condition: Expr
    then: Block
    otherwise: Expr | None


@dataclass(frozen=True, slots=True)
class MatchArm:
    span: Span
    pattern: Pattern
    guard: Expr | None
    body: Expr


@dataclass(frozen=True, slots=True)
class Match(Expr):
    """Arms are tried in order; the checker has shown that one of them fits. `if const` and `??` are matches, too."""

    subject: Expr
    arms: tuple[MatchArm, ...]


@dataclass(frozen=True, slots=True)
class Try(Expr):
    """The operand's error leaves the function as its error, converted to `Error` when `converts`."""

    operand: Expr
    error: Type
    converts: bool


@dataclass(frozen=True, slots=True)
class Catch(Expr):
    """The operand's value, or the handler's with the error in `binder`. `wraps`: `type` is optional, and the operand's
    value is a present one of it.

    Where the value is not needed `type` is `()` whatever the operand gives: then the value is dropped.
    """

    operand: Expr
    error: Type
    binder: Local | None
    handler: Expr
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class Fail(Expr):
    """Leaves the function with this error, already of the function's error type."""

    error: Expr


@dataclass(frozen=True, slots=True)
class Panic(Expr):
    """Ends the program with this String as the panic's message."""

    message: Expr


@dataclass(frozen=True, slots=True)
class Shown(Expr):
    """A String: the value as it shows inside another, cut after SHOWN_LENGTH_MAX characters."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Return(Expr):
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Break(Expr):
    pass


@dataclass(frozen=True, slots=True)
class Continue(Expr):
    pass
