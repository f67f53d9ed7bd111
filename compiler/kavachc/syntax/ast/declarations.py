"""Declarations as written. `documentation` is the text of the `///` comments before, lines joined by a line break."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kavachc.source import SourceFile
from kavachc.syntax.ast.expressions import Block, DurationLiteral, Expression
from kavachc.syntax.ast.types import CapabilityReference, Identifier, Node, TypeExpression


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
    rule: Expression | None
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


@dataclass(frozen=True, slots=True)
class TestDeclaration(Node):
    """`test "name" { … }`, as a function that can fail with any error. The name's span is that of the text."""

    function: Function

    @property
    def name(self) -> Identifier:
        return self.function.signature.name


Declaration: TypeAlias = (
    Function
    | RecordDeclaration
    | SumDeclaration
    | CapabilityDeclaration
    | AgentDeclaration
    | ConstDeclaration
    | TestDeclaration
)


@dataclass(frozen=True, slots=True)
class Import(Node):
    """`import "bank.kav"`; the span is that of the text."""

    path: str


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed file. `public` are the names that are declared with `pub`.

    `spoiled` are the names that declarations with syntax errors may declare; with `lacks_names`, there are further
    ones: an import could not be read, or the name of a declaration is missing.
    """

    file: SourceFile
    declarations: tuple[Declaration, ...]
    imports: tuple[Import, ...] = ()
    public: frozenset[str] = frozenset()
    spoiled: frozenset[str] = frozenset()
    lacks_names: bool = False


def declared_name(declaration: Declaration) -> Identifier:
    """The name that a declaration of the top level makes known."""
    return declaration.signature.name if isinstance(declaration, Function) else declaration.name
