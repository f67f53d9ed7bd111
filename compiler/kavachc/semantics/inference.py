"""What the type parameters of a function, a record or a variant stand for at one place (spec 2.generic).

They are written, `f<Int>(x)`, or found: from the type that the place wants, unless that could be converted to; from the
arguments whose types are settled by themselves, in order; from the type wanted after all; from bare numbers; and what
then is known settles `[]` and its like. So `max(1, 2.5)` is of Floats, and `const xs: [Float] = repeat(1, 3)` too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import DROPPED, Body
from kavachc.semantics.conversions import BOUNDS, bound_help, is_partly_unknown
from kavachc.semantics.literals import present
from kavachc.semantics.ranks import NUMBER, OPEN, SETTLED, rank
from kavachc.semantics.type_names import report_type_arguments
from kavachc.semantics.types import (
    INFERRED,
    NEVER,
    UNKNOWN,
    FunctionType,
    OptionalType,
    Type,
    TypeVariable,
    error_or_none,
    parts,
    same_head,
    substitute,
    variables,
)
from kavachc.semantics.wording import single_spaced
from kavachc.source import Span
from kavachc.syntax import ast


@dataclass(slots=True)
class Inference:
    """`parameters` are to be found for `name`; `result` is what the whole is, written with them. `example` shows how to
    write them. `span` is where the name stands."""

    name: str
    span: Span
    parameters: tuple[TypeVariable, ...]
    result: Type
    example: str
    bindings: dict[TypeVariable, Type] = field(default_factory=dict)

    def bind_written(
        self, body: Body, written: Sequence[ast.TypeExpression], name: str, parameters: Sequence[TypeVariable]
    ) -> None:
        """The type arguments as written after `name`, for `parameters`; nothing when none are written."""
        arguments = [body.resolve(item) for item in written]
        if not arguments:
            return
        if report_type_arguments(body.world, self.span, name, parameters, len(arguments)):
            self.bindings.update(zip(parameters, arguments, strict=True))
        else:
            self.give_up()

    def knows(self, type_: Type) -> bool:
        """Whether everything in `type_` is found already."""
        return all(item in self.bindings for item in variables(type_) if item in self.parameters)

    def of(self, type_: Type) -> Type:
        """`type_` with what is found."""
        return substitute(type_, self.bindings)

    def match(self, pattern: Type, actual: Type) -> None:
        """Finds what `pattern` leaves open from what stands there in `actual`. Where their shapes differ nothing is
        found; that they do is reported when the value is converted."""
        if isinstance(pattern, TypeVariable):
            if pattern in self.parameters and actual is not NEVER:
                self.bindings.setdefault(pattern, actual)
        elif actual is UNKNOWN:
            self.give_up()
        elif isinstance(pattern, OptionalType) and not isinstance(actual, OptionalType):
            # A value that is there will be converted.
            self.match(pattern.element, actual)
        elif isinstance(pattern, FunctionType) and isinstance(actual, FunctionType) and pattern.uses != actual.uses:
            # What is not as the pattern says is converted, or refused then.
            self.match(replace(pattern, uses=actual.uses), actual)
        elif isinstance(pattern, FunctionType) and isinstance(pattern.error, TypeVariable):
            self._match_function(pattern, pattern.error, actual)
        elif same_head(pattern, actual):
            for part, actual_part in zip(parts(pattern), parts(actual), strict=True):
                self.match(part, actual_part)

    def _match_function(self, pattern: FunctionType, error: TypeVariable, actual: Type) -> None:
        """The pattern's error stands for NEVER where the function cannot fail."""
        if not isinstance(actual, FunctionType) or len(actual.parameters) != len(pattern.parameters):
            return
        if actual.error is not None:
            self.match(error, actual.error)
        elif error in self.parameters:
            self.bindings.setdefault(error, NEVER)
        self.match(replace(pattern, error=None), replace(actual, error=None))

    def is_open_error(self, error: Type | None) -> bool:
        """Whether it is a parameter that is still to be found."""
        return isinstance(error, TypeVariable) and error in self.parameters and error not in self.bindings

    def match_wanted(self, wanted: Type | None) -> None:
        """From what the place wants, where that is a type at all."""
        if not isinstance(self.result, OptionalType):
            wanted = present(wanted)
        if wanted is not None and wanted is not DROPPED and wanted is not UNKNOWN:
            self.match(self.result, wanted)

    def give_up(self) -> None:
        """Something is wrong and reported: what is not found is unknown, so that nothing more is said of it."""
        for item in self.parameters:
            self.bindings.setdefault(item, UNKNOWN)

    def finish(self, body: Body) -> tuple[Type, ...]:
        """What each parameter stands for; what was not found, or lacks a bound, is reported."""
        for item in self.parameters:
            if item not in self.bindings:
                labels = () if item.span is None else (Label(item.span, f"`{item}` is declared here"),)
                body.report(
                    codes.TYPE_NOT_INFERRED,
                    self.span,
                    parameter=item.name,
                    name=self.name,
                    labels=labels,
                    help=f"write it: `{self.example}`",
                )
                self.give_up()
        arguments = tuple([self.bindings[item] for item in self.parameters])
        check_bounds(body, self.span, self.name, self.parameters, arguments)
        return arguments


def refuse_type_arguments(
    body: Body, written: Sequence[ast.TypeExpression], name: ast.Expression | ast.Identifier, example: str | None = None
) -> None:
    """Type arguments after the name of something that is not generic; `example` shows where they belong."""
    if written:
        text = single_spaced(name.span.text, 30)
        help_text = None if example is None else f"write `{example}`"
        report_type_arguments(body.world, name.span, text, (), len(written), help_text)


def check_bounds(
    body: Body, span: Span, name: str, parameters: Sequence[TypeVariable], arguments: Sequence[Type]
) -> None:
    """Each argument has the bounds of its parameter."""
    for parameter, argument in zip(parameters, arguments, strict=True):
        for bound in parameter.bounds:
            reason = BOUNDS[bound].why_not(argument) if bound in BOUNDS else None
            if reason is None:
                continue
            labels = () if parameter.span is None else (Label(parameter.span, f"`{parameter}` is declared here"),)
            body.report(
                codes.BOUND_MISSING,
                span,
                name=name,
                parameter=parameter.name,
                bound=bound,
                type=argument,
                reason=reason,
                labels=labels,
                help=bound_help(argument, bound),
            )
            break


def infer_values(
    body: Body,
    inference: Inference,
    placed: Sequence[tuple[int, ast.Expression]],
    slots: Sequence[Type],
    wanted: Type | None,
) -> list[tuple[int, typed.Expr]]:
    """The arguments (slot, value), checked in the order in which they settle types, and given in that of the source."""
    if not isinstance(inference.result, TypeVariable):
        # Only a whole value is converted to what is wanted, so the parts of its type are as wanted.
        inference.match_wanted(wanted)
    checked: dict[int, typed.Expr] = {}
    ranks = [rank(body, node) for _, node in placed]
    for current in (SETTLED, NUMBER, OPEN):
        if current == NUMBER:
            inference.match_wanted(wanted)
        for position, (index, node) in enumerate(placed):
            if ranks[position] == current:
                checked[position] = _infer_value(body, inference, node, slots[index])
    if any(is_partly_unknown(item) for item in (*slots, inference.result)):
        # What was wrong there may be what would have told.
        inference.give_up()
    return [(index, checked[position]) for position, (index, _) in enumerate(placed)]


def _infer_value(body: Body, inference: Inference, node: ast.Expression, slot: Type) -> typed.Expr:
    if inference.knows(slot):
        return body.value(node, inference.of(slot))
    value = body.operand(node, _wanted_of_function(body, inference, node, slot))
    inference.match(slot, value.type)
    value = body.convert(value, inference.of(slot))
    if not inference.knows(slot):
        inference.give_up()
    return value


def _wanted_of_function(body: Body, inference: Inference, node: ast.Expression, slot: Type) -> Type | None:
    """What is known of the function type that a function is wanted for, with its result unknown where it is to tell."""
    slot = present(slot) or slot
    if not isinstance(slot, FunctionType) or not isinstance(node, ast.Closure | ast.Name):
        return None
    if isinstance(node, ast.Name) and not all(map(inference.knows, slot.parameters)):
        return None
    for written, type_ in zip(node.parameters if isinstance(node, ast.Closure) else (), slot.parameters, strict=False):
        if written.type is None and not inference.knows(type_):
            body.report(codes.CLOSURE_PARAMETER_TYPE, written.span, name=written.name.text)
            inference.give_up()
    result: Type = UNKNOWN
    if inference.knows(slot.result):
        result = inference.of(slot.result)
    elif isinstance(node, ast.Closure) and isinstance(slot.result, OptionalType):
        result = OptionalType(UNKNOWN)
    parameters = tuple([inference.of(item) for item in slot.parameters])
    if not inference.is_open_error(slot.error):
        return FunctionType(parameters, result, error_or_none(slot.error and inference.of(slot.error)), slot.uses)
    if isinstance(node, ast.Closure):
        return FunctionType(parameters, result, INFERRED, slot.uses)
    named = body.world.functions.get(node.text)
    return FunctionType(parameters, result, None if named is None or named.error is None else UNKNOWN, slot.uses)
