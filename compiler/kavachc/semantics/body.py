"""The state while one body (of a function, a constant, a rule) is checked, and the steps that all parts share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kavachc.diagnostics import codes
from kavachc.diagnostics.codes import Code
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.conversions import (
    bound_help,
    convertible,
    is_partly_unknown,
    is_usable_as,
    same_type,
    why_not_shown,
)
from kavachc.semantics.habits import help_for_mismatch
from kavachc.semantics.promises import as_promised
from kavachc.semantics.scope import Scope
from kavachc.semantics.type_names import resolve_type, variables_by_name
from kavachc.semantics.types import (
    ERROR,
    FLOAT,
    INT,
    NEVER,
    NOTHING,
    UNKNOWN,
    CapabilityType,
    FunctionType,
    OptionalType,
    PrimitiveType,
    RecordType,
    SumType,
    Type,
    TypeVariable,
)
from kavachc.semantics.wording import a, single_spaced
from kavachc.semantics.world import Edge, Facts, World
from kavachc.source import Span
from kavachc.syntax import ast

# Wanted where a value is dropped: anything fits, and the branches of an `if` may differ in type.
DROPPED = PrimitiveType("dropped")

# Why a captured name cannot change.
CAPTURED = "captured by this function, which has a copy"
# What is said where the place of an expression would have to say more about its type.
NEEDS_WANTED = (
    codes.EMPTY_ARRAY,
    codes.EMPTY_MAP,
    codes.NONE_TYPE,
    codes.TYPE_NOT_INFERRED,
    codes.CLOSURE_PARAMETER_TYPE,
    codes.RETURN_OF_UNKNOWN,
)
# What is made of several values, which need not have one type where nothing is known of what is wanted.
OF_ANY_TYPE = (ast.If, ast.IfConst, ast.Match, ast.Block, ast.ArrayLiteral)
MAY_BE_NONE = "it may be `none`: say what then with `?? …`, or look with `if const` or `match`"

Dispatch = Callable[["Body", ast.Expression, Type | None], typed.Expr]


@dataclass(slots=True)
class Loop:
    has_break: bool = False


@dataclass(frozen=True, slots=True)
class Capture:
    """What a closure takes along: `value` where it is made is `local` inside."""

    local: typed.Local
    value: typed.Expr


@dataclass(slots=True)
class Body:
    """`function` is None in a constant, a default, a rule and a setting; `agent` is set in a handler.

    `dispatch` is `expressions.check_expression`, handed in so that the modules below it need not import it.
    `rule_target` is set in a rule of a limit, to the limit's target; `type_parameters` in a default of a generic type.
    """

    world: World
    dispatch: Dispatch
    facts: Facts
    function: typed.Function | None = None
    agent: typed.Agent | None = None
    rule_target: str | None = None
    type_parameters: tuple[TypeVariable, ...] = ()
    scope: Scope = field(default_factory=Scope)
    # Where a closure stands, in the body of a closure; what it captures, by what that is outside of it.
    outer: Body | None = None
    captured: dict[object, Capture] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    # How often something was found wrong, also where that was said already.
    reported: int = 0
    # Whether nothing is known of what is wanted, since that was reported: then nothing needs to be.
    guesses: bool = False
    # Why each name that is not a `let` cannot change, for the message.
    fixed: dict[int, str] = field(default_factory=dict)

    def report(
        self,
        code: Code,
        span: Span,
        *,
        labels: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        help: str | None = None,
        **values: object,
    ) -> typed.Expr:
        """Report, and give the expression of unknown type that stands for what was wrong.

        A row's `{a_type}` is `type` with its article. A message that would have to name an unknown type follows
        from one that was given already, and is not given.
        """
        self.reported += 1
        silent = self.guesses and code in NEEDS_WANTED and self.world.bag.has_errors
        if not silent and not any(is_partly_unknown(value) for value in values.values()):
            articles = {f"a_{name}": a(str(values[name])) for name in ("type", "pattern") if name in values}
            self.world.bag.report(code, span, labels=labels, notes=notes, help=help, **values, **articles)
        return unknown(span)

    def said(self, span: Span) -> typed.Expr:
        """As `report`, for what was said elsewhere."""
        self.reported += 1
        return unknown(span)

    def expression(self, node: ast.Expression, wanted: Type | None = None) -> typed.Expr:
        """Check `node`. `wanted` helps where the source leaves the type open; the result need not have it. Where it is
        UNKNOWN, that was reported, and what the place was to say is left open."""
        guessed = self.guesses
        self.guesses = wanted is UNKNOWN or (guessed and wanted is None)
        hint = None if wanted is UNKNOWN and not isinstance(node, OF_ANY_TYPE) else wanted
        checked = self.dispatch(self, node, hint)
        self.guesses = guessed
        return checked

    def value(self, node: ast.Expression, wanted: Type) -> typed.Expr:
        """Check `node` as a value of type `wanted`, converting it if it must be."""
        return self.convert(self.expression(node, wanted), wanted)

    def operand(self, node: ast.Expression, wanted: Type | None = None) -> typed.Expr:
        """Check `node` where its type decides what happens next, so that it must have a value."""
        checked = self.expression(node, wanted)
        if checked.type is NEVER:
            return self.report(codes.NO_VALUE, node.span)
        return checked

    def declared_value(self, name: str, node: ast.Expression) -> typed.Expr:
        """The value of a name without a written type. An `if` that lacks its `else` is hardly meant to be one."""
        value = self.operand(node)
        last: ast.Expression | None = node
        while isinstance(last, ast.If | ast.IfConst):
            last = last.otherwise
        if value.type is NOTHING and last is None:
            return self.report(codes.IF_GIVES_NOTHING, node.span, name=name)
        return value

    def convert(self, value: typed.Expr, wanted: Type) -> typed.Expr:
        """`value` as a `wanted`: as it is, as a present value, as an Error, as a capability; otherwise
        reported."""
        found = value.type
        if wanted is DROPPED or found is NEVER or same_type(found, wanted):
            return value
        if isinstance(wanted, OptionalType) and convertible(found, wanted.element):
            return typed.ToOptional(value.span, wanted, self.convert(value, wanted.element))
        if wanted is ERROR and isinstance(found, RecordType | SumType):
            reason = why_not_shown(found)
            if reason is not None:
                help_text = bound_help(found, "Show") or reason
                return self.report(codes.NOT_AN_ERROR_TYPE, value.span, type=found, help=help_text)
            return typed.ToError(value.span, ERROR, value)
        if isinstance(wanted, CapabilityType) and isinstance(found, RecordType) and wanted in found.capabilities:
            return typed.ToCapability(value.span, wanted, value, wanted)
        if isinstance(found, FunctionType) and isinstance(wanted, FunctionType) and is_usable_as(found, wanted):
            value = as_promised(self, value, wanted) if found.uses != wanted.uses else value
            can_stay = value.type is UNKNOWN or same_type(value.type, wanted)
            return value if can_stay else self.as_fallible(value, wanted)
        if found is NOTHING and isinstance(value, typed.If) and value.otherwise is None:
            return self.report(codes.IF_WITHOUT_ELSE, value.span, type=wanted)
        if found is NOTHING:
            return self.report(codes.NOTHING_GIVEN, value.span, wanted=wanted)
        return self.report(
            codes.TYPE_MISMATCH, value.span, help=_mismatch_help(value, wanted), wanted=wanted, found=found
        )

    def as_fallible(self, value: typed.Expr, wanted: FunctionType) -> typed.Expr:
        """A closure around a function that cannot fail, of a type that can."""
        assert isinstance(value.type, FunctionType)
        span = value.span
        held = typed.Local("function", value.type, False, span)
        parameters = tuple([typed.Local("argument", item, False, span) for item in wanted.parameters])
        shape = self.world.shape(len(parameters), None)
        arguments = tuple([typed.LocalGet(span, item.type, item) for item in parameters])
        call = typed.CallValue(span, wanted.result, typed.LocalGet(span, held.type, held), shape, arguments)
        if wanted.result is NOTHING:
            block = typed.Block(span, NOTHING, (typed.ExpressionStatement(span, call),), None)
        else:
            block = typed.Block(span, wanted.result, (), call)
        function = typed.Function("closure", parameters, wanted.result, wanted.error, span, captures=(held,))
        function.type_parameters, function.body = self.variables(), block
        edge = Edge(shape, span, carries_effects=False, runs_now=True)
        self.world.facts[function] = Facts(edges=[edge])
        self.world.closures.append(function)
        self.world.note_value(self.facts, function, span)
        return typed.Closure(span, wanted, function, (value,))

    def declare(self, name: ast.Identifier, type_: Type, mutable: bool, fixed_because: str = "") -> typed.Local:
        """A new name in the innermost block; `_` is never known by name."""
        local = typed.Local(name.text, type_, mutable, name.span)
        if name.text == "_":
            return local
        first = self.scope.declare(local)
        if first is not None:
            self.report(
                codes.DUPLICATE_NAME, name.span, name=name.text, labels=(Label(first.span, "first declared here"),)
            )
        if fixed_because:
            self.fixed[id(local)] = fixed_because
        return local

    def capture(self, key: object, name: str, span: Span, value: typed.Expr) -> typed.Local:
        """The closure's own name for `value`, which is evaluated where the closure is made. One for each `key`."""
        found = self.captured.get(key)
        if found is None:
            local = typed.Local(name, value.type, False, span)
            found = self.captured[key] = Capture(local, value)
            self.fixed[id(local)] = CAPTURED
        return found.local

    def fresh(self, name: str, value: typed.Expr, type_: Type) -> typed.Declare:
        """A name of the compiler's own that holds `value`."""
        return typed.Declare(value.span, typed.Local(name, type_, False, value.span), value)

    def variables(self) -> tuple[TypeVariable, ...]:
        """The type parameters in scope."""
        return self.type_parameters if self.function is None else self.function.type_parameters

    def resolve(self, written: ast.TypeExpression) -> Type:
        """The type that is written here."""
        return resolve_type(self.world, written, variables_by_name(self.variables()))

    def name(self) -> str:
        return "this" if self.function is None else self.function.name.rpartition(".")[2]


def _mismatch_help(value: typed.Expr, wanted: Type) -> str | None:
    found = value.type
    if {found, wanted} == {INT, FLOAT}:
        return "a number is not converted by itself: use one type for both"
    if isinstance(found, OptionalType) and convertible(found.element, wanted):
        return MAY_BE_NONE
    if isinstance(wanted, CapabilityType) and isinstance(found, RecordType):
        return f"declare that it is one: `type {found}: {wanted} {{ … }}`"
    if isinstance(wanted, SumType) and [item.name for item in wanted.variants if not item.fields] == [str(found)]:
        return f"`type {wanted} = {found}` declares a choice of one variant, not another name for `{found}`"
    return help_for_mismatch(found, wanted, single_spaced(value.span.text, 40))


def unknown(span: Span) -> typed.Expr:
    """Stands for something that was reported: fits everywhere and says nothing more."""
    return typed.NothingValue(span, UNKNOWN)


def branch_value(body: Body, node: ast.Expression, wanted: Type | None) -> typed.Expr:
    """The value of a branch, as a `wanted` where that is known, or dropped."""
    if wanted is DROPPED:
        return drop(body.expression(node, DROPPED))
    return body.expression(node) if wanted is None else body.value(node, wanted)


def as_branch(body: Body, value: typed.Expr, wanted: Type) -> typed.Expr:
    """A branch that was checked before it was known what it is to give."""
    if isinstance(value, typed.Block):
        return as_branch_block(body, value, wanted)
    return body.convert(value, wanted)


def as_branch_block(body: Body, block: typed.Block, wanted: Type) -> typed.Block:
    """As `as_branch`, of a block."""
    if block.result is None or block.type is NEVER:
        return block
    return replace(block, type=wanted, result=body.convert(block.result, wanted))


def drop(value: typed.Expr) -> typed.Expr:
    """The value evaluated and dropped, as an expression that gives nothing."""
    if value.type in (NOTHING, NEVER, UNKNOWN):
        return value
    return typed.Block(value.span, NOTHING, (typed.ExpressionStatement(value.span, value),), None)
