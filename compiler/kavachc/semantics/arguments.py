"""Arguments of calls, variants and records: which value goes where, in the order in which they are evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import Body
from kavachc.semantics.habits import help_for_printing, help_for_too_many
from kavachc.semantics.inference import Inference, infer_values
from kavachc.semantics.types import NEVER, UNKNOWN, Type
from kavachc.semantics.wording import are, counted, near_miss, quoted, single_spaced
from kavachc.source import Span
from kavachc.syntax import ast


@dataclass(frozen=True, slots=True)
class Slot:
    """A parameter or a field that an argument may go to; one that takes anything has the type UNKNOWN."""

    name: str
    type: Type
    has_default: bool = False
    is_mutable: bool = False
    takes_anything: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """What the arguments are for: its `name` for messages, `kind` is `parameter` or `field`. Of something generic,
    `inference` finds what its type parameters stand for, perhaps from what the place has `wanted`."""

    name: str
    kind: str
    shape: str
    slots: Sequence[Slot]
    inference: Inference | None = None
    wanted: Type | None = None

    def type_of(self, index: int) -> Type:
        """The slot's type, with what is found of it."""
        slot = self.slots[index].type
        return slot if self.inference is None else self.inference.of(slot)


def check_arguments(
    body: Body, span: Span, target: Target, arguments: Sequence[ast.Argument]
) -> list[tuple[int, typed.Expr]]:
    """(index of the slot, value) as written. What does not fit is reported, and left out."""
    placed = _place_arguments(body, span, target, arguments)
    for argument in arguments[len(placed) :]:
        body.expression(argument.value, UNKNOWN)
    inference = target.inference
    if inference is None:
        return [(index, _value(body, node, target.slots[index])) for index, node in placed]
    values = infer_values(body, inference, placed, [slot.type for slot in target.slots], target.wanted)
    given = {index for index, _ in placed}
    if any(index not in given and not slot.has_default for index, slot in enumerate(target.slots)):
        inference.give_up()
    return values


def _value(body: Body, node: ast.Expression, slot: Slot) -> typed.Expr:
    return body.expression(node) if slot.takes_anything else body.value(node, slot.type)


def _place_arguments(
    body: Body, span: Span, target: Target, arguments: Sequence[ast.Argument]
) -> list[tuple[int, ast.Expression]]:
    """(index of the slot, what is written for it) up to the first that goes nowhere."""
    placed: dict[int, Span] = {}
    values: list[tuple[int, ast.Expression]] = []
    named_seen = False
    for position, argument in enumerate(arguments):
        index: int | None
        if argument.name is None:
            if named_seen:
                example = target.slots[position].name if position < len(target.slots) else "name"
                body.report(codes.POSITIONAL_AFTER_NAMED, argument.span, argument=example)
                return values
            if position >= len(target.slots):
                _report_too_many(body, argument.span, target, arguments)
                return values
            index = position
        else:
            named_seen = True
            index = _slot_named(body, target, argument.name)
            if index is None:
                return values
        if index in placed:
            labels = (Label(placed[index], "first given here"),)
            body.report(codes.ARGUMENT_TWICE, argument.span, argument=target.slots[index].name, labels=labels)
            return values
        _check_mark(body, target, target.slots[index], argument)
        placed[index] = argument.span
        values.append((index, argument.value))
    missing = [slot.name for index, slot in enumerate(target.slots) if index not in placed and not slot.has_default]
    if missing:
        shape = 'print("")' if target.name == "print" and target.slots[0].takes_anything else target.shape
        body.report(codes.ARGUMENT_MISSING, span, name=target.name, missing=quoted(missing), help=f"write `{shape}`")
    return values


def _check_mark(body: Body, target: Target, slot: Slot, argument: ast.Argument) -> None:
    """A call says what it changes."""
    if slot.is_mutable and not argument.is_mutable:
        text = single_spaced(argument.value.span.text)
        body.report(codes.MUT_MISSING, argument.value.span, name=target.name, argument=slot.name, text=text)
    elif argument.is_mutable and not slot.is_mutable:
        body.report(codes.MUT_UNWANTED, argument.span, name=target.name, argument=slot.name)


def _slot_named(body: Body, target: Target, name: ast.Identifier) -> int | None:
    for index, slot in enumerate(target.slots):
        if slot.name == name.text:
            return index
    help_text = near_miss(name.text, [slot.name for slot in target.slots]) or f"write `{target.shape}`"
    body.report(
        codes.ARGUMENT_UNKNOWN, name.span, name=target.name, kind=target.kind, argument=name.text, help=help_text
    )
    return None


def _report_too_many(body: Body, span: Span, target: Target, arguments: Sequence[ast.Argument]) -> None:
    prints = target.name == "print" and target.slots[0].takes_anything
    shape_help = help_for_too_many(target.name, arguments) or f"write `{target.shape}`"
    word = "argument" if target.kind == "parameter" else "field"
    body.report(
        codes.TOO_MANY_ARGUMENTS,
        span,
        name=target.name,
        wanted=counted(len(target.slots), word),
        given=are(len(arguments)),
        help=help_for_printing(arguments) if prints else shape_help,
    )


def in_order(
    body: Body, target: Target, receiver: typed.Expr | None, values: Sequence[tuple[int, typed.Expr]]
) -> tuple[tuple[typed.Statement, ...], typed.Expr | None, tuple[typed.Expr, ...]]:
    """(statements to run first, receiver, arguments by position).

    `f(b: x(), a: y())` becomes `const b = x(); const a = y(); f(a, b)`, so that the order of evaluation is the
    written one; with arguments in order there is nothing to run first.
    """
    if [index for index, _ in values] == sorted(index for index, _ in values):
        return (), receiver, tuple([value for _, value in values])
    statements: list[typed.Statement] = []

    def bind(name: str, value: typed.Expr, type_: Type) -> typed.Expr:
        if isinstance(value, typed.MutArgument):
            steps = [
                replace(step, index=bind("index", step.index, step.index.type))
                if isinstance(step, typed.IndexStep | typed.KeyStep)
                else step
                for step in value.place.steps
            ]
            return replace(value, place=replace(value.place, steps=tuple(steps)))
        declaration = body.fresh(name, value, type_)
        statements.append(declaration)
        return typed.LocalGet(value.span, type_, declaration.local)

    if receiver is not None:
        receiver = bind("receiver", receiver, receiver.type)
    bound = {
        index: bind(target.slots[index].name, value, target.type_of(index) if value.type is NEVER else value.type)
        for index, value in values
    }
    return tuple(statements), receiver, tuple([bound[index] for index in sorted(bound)])
