"""The typed program: every name resolved, every type known, every implicit step written out.

Made by the checker; walked by the interpreter and by the lowering, which agree on the program because they read
the same tree. Rules that hold for every tree without errors:
  - children are evaluated in the order in which they stand in the node, left to right;
  - conversions (to `Error`, to a capability) are nodes of their own;
  - an expression of type NEVER leaves (return, break, continue, fail) and gives no value;
  - a fallible call stands directly inside a `Try` or a `Catch` (or is what a `Spawn` starts).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kavachc.semantics.builtins import Builtin
from kavachc.semantics.types import (
    AgentType,
    CapabilityMethod,
    CapabilityType,
    FunctionShape,
    RecordType,
    SumType,
    Type,
    TypeVariable,
)
from kavachc.source import Span


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
class Effect:
    """A capability that a function uses; `method` is None for all of it, and for built-in ones."""

    capability: str
    method: str | None = None

    def __str__(self) -> str:
        return self.capability if self.method is None else f"{self.capability}.{self.method}"


# Expressions.


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
class Return(Expr):
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Break(Expr):
    pass


@dataclass(frozen=True, slots=True)
class Continue(Expr):
    pass


# Patterns. A pattern is tested against the subject from left to right and binds its names as it goes.


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


# Places and statements.


@dataclass(frozen=True, slots=True)
class FieldStep:
    index: int
    type: Type


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


# Declarations. These are filled in step by step by the checker, and complete when it ends without errors.


@dataclass(eq=False, slots=True)
class Function:
    """A function (`main`), a method (`Bank.refund`, whose first parameter is `self`) or a handler
    (`Refunder.refund`, which also sees its agent's capabilities).

    `type_parameters` are first those of a method's type, then its own; types in the body are written with them.
    """

    name: str
    parameters: tuple[Local, ...]
    result: Type
    error: Type | None
    span: Span
    agent: Agent | None = None
    body: Block | None = None
    type_parameters: tuple[TypeVariable, ...] = ()
    # Of a closure: the names under which it knows what it captured.
    captures: tuple[Local, ...] | None = None
    # Set by effects.py over the whole program:
    effects: frozenset[Effect] = frozenset()  # all that it uses, also through the functions that it calls
    may_wait: bool = False  # it sleeps, waits or asks, or calls something that may
    is_recursive: bool = False  # it can reach itself; only such calls count toward spec 4.depth

    @property
    def needs_agent(self) -> bool:
        """It may `ask` on behalf of whichever agent called it, so the caller's agent is handed along."""
        return self.agent is None and Effect("Ai") in self.effects


@dataclass(eq=False, slots=True)
class Constant:
    """A top-level `const`. `value` is an expression without effects until the compiler has evaluated it
    (`interpreter/constants.py`), and then a tree of plain values."""

    name: str
    type: Type
    value: Expr
    span: Span


RuleKind = Literal["condition", "sum", "count", "tokens"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a limit (spec 8.3). `expression` is the condition, or what is summed. `bound` is a Float for a
    sum of Floats, otherwise an Int (nanoseconds for Durations). `strict` is `<` instead of `<=`. There is
    a window for each value of `key`."""

    kind: RuleKind
    span: Span
    text: str
    expression: Expr | None
    bound: int | float
    strict: bool
    window_ns: int
    key: Expr | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """`capability` and `method` are None for `limit Ai`. `parameters` are what the rules see. `denied` is the
    variant of the method's error type that a refusal becomes."""

    span: Span
    target: str
    capability: CapabilityType | None
    method: CapabilityMethod | None
    parameters: tuple[Local, ...]
    rules: tuple[Rule, ...]
    denied: int


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What the compiler made of `model` (spec 8.5)."""

    name: str
    max_tokens: int
    provider: Literal["Anthropic", "OpenAi"]


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What the compiler made of `settings` (spec 8.5)."""

    asks_under_way: Literal["Average", "Largest", "NotCounted"]
    mode: Literal["Enforce", "Observe"]


@dataclass(eq=False, slots=True)
class Agent:
    """`capabilities` are those that `start` must be given, in the order in which `can` names them. `model` and
    `settings` are evaluated by the compiler from the two expressions (`interpreter/constants.py`)."""

    name: str
    index: int
    type: AgentType
    span: Span
    can: tuple[Effect, ...] = ()
    capabilities: tuple[CapabilityType, ...] = ()
    limits: tuple[Limit, ...] = ()
    handlers: dict[str, Function] = field(default_factory=dict)
    model_expression: Expr | None = None
    settings_expression: Expr | None = None
    model: ModelSettings = ModelSettings("claude-haiku-5-5", 4_096, "Anthropic")
    settings: AgentSettings = AgentSettings("Average", "Enforce")


@dataclass(frozen=True, slots=True)
class Implementation:
    """How `record` implements `capability`: one method for each of the capability's, in its order."""

    record: RecordType
    capability: CapabilityType
    methods: tuple[Function, ...]


@dataclass(slots=True)
class Program:
    """Everything that one program declares, the prelude's types included. `functions` are all that have a body:
    functions, methods and handlers, as they stand in the source. `generic_types` are the records and sums that have
    type parameters; values are of their applications. `records` and `sums` are the others."""

    functions: list[Function]
    records: list[RecordType]
    sums: list[SumType]
    generic_types: list[RecordType | SumType]
    capabilities: list[CapabilityType]
    implementations: list[Implementation]
    agents: list[Agent]
    constants: list[Constant]
    shapes: list[FunctionShape]
    main: Function
    ai_error: SumType
    task_error: SumType
    file_error: SumType
