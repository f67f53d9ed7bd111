"""Declarations: filled in step by step by the checker, and complete when it ends without errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kavachc.semantics import panics
from kavachc.semantics.schema import Sample
from kavachc.semantics.typed_ast.expressions import Block, Effect, Expr, Local
from kavachc.semantics.types import (
    AgentType,
    CapabilityMethod,
    CapabilityType,
    FieldRule,
    FunctionShape,
    RecordType,
    SumType,
    Type,
    TypeVariable,
)
from kavachc.source import Span


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
    listed: frozenset[Effect] = frozenset()  # the same without function values whose types say what they use
    may_wait: bool = False  # it sleeps, waits or asks, or calls something that may
    is_recursive: bool = False  # it can reach itself; only such calls count toward spec 4.depth

    @property
    def traced_name(self) -> str | None:
        """How the trace after a panic names its calls; None for the library's functions, which it does not show."""
        if self.span.file.is_library:
            return None
        if self.captures is not None:
            return panics.CLOSURE_NAME.format(place=self.span.place())
        return self.name.partition("<")[0]

    @property
    def needs_agent(self) -> bool:
        """It may ask, or send, on behalf of whichever agent called it, so the caller's agent is handed along."""
        return self.agent is None and not self.effects.isdisjoint((Effect("Ai"), Effect("Http")))


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
    """What the compiler made of `model` (spec 8.5). Without arguments: the model of asks outside agents."""

    name: str = "claude-haiku-5-5"
    max_tokens: int = 4_096
    provider: Literal["Anthropic", "OpenAi"] = "Anthropic"
    base_url: str | None = None
    context_budget: int | None = None
    timeout_ns: int = 600_000_000_000


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
    model: ModelSettings = ModelSettings()
    settings: AgentSettings = AgentSettings("Average", "Enforce")


@dataclass(frozen=True, slots=True)
class Implementation:
    """How `record` implements `capability`: one method for each of the capability's, in its order."""

    record: RecordType
    capability: CapabilityType
    methods: tuple[Function, ...]


@dataclass(frozen=True, slots=True)
class Test:
    """`test "name" { … }` of the file that was named. It passes when `function`, as the program's `main`, ends well."""

    name: str
    span: Span
    function: Function


@dataclass(slots=True)
class Program:
    """Everything that one program declares, the prelude's types included. `functions` are all that have a body:
    functions, methods and handlers, as they stand in the source, without those of tests. `generic_types` are the
    records and sums that have type parameters; values are of their applications. `records` and `sums` are the others.
    `asks` are the types that are asked for, and where; those in generic functions for each instance;
    `samples`, by the compiler, what a dry run answers for them. `rules` are those of fields."""

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
    tests: list[Test]
    ai_error: SumType
    task_error: SumType
    file_error: SumType
    json_error: SumType
    http_error: SumType
    http_answer: RecordType
    asks: list[tuple[Type, Span]]
    rules: list[FieldRule]
    samples: dict[Type, Sample] = field(default_factory=dict)

    @property
    def can_ask(self) -> bool:
        """Whether a run may ask a model."""
        return self._may_use("Ai")

    @property
    def can_send(self) -> bool:
        """Whether a run may call `Http`."""
        return self._may_use("Http")

    def _may_use(self, capability: str) -> bool:
        """In `main`, or in what implements a capability, whose effects are its own."""
        methods = (method for implementation in self.implementations for method in implementation.methods)
        return any(Effect(capability) in function.effects for function in (self.main, *methods))
