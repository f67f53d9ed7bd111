"""Calls of rows of the builtins table, and `ask` (spec 8.4)."""

from __future__ import annotations

from collections.abc import Sequence

from kavachc.diagnostics import codes
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.arguments import Slot, Target, check_arguments, in_order
from kavachc.semantics.body import Body
from kavachc.semantics.builtin_row import Builtin
from kavachc.semantics.builtins import BUILTINS, SHOWN
from kavachc.semantics.checked_call import Checked, no_call, wrong_call
from kavachc.semantics.conversions import bound_help, why_not_askable, why_not_shown
from kavachc.semantics.inference import check_bounds
from kavachc.semantics.statements import place_of
from kavachc.semantics.types import (
    NEVER,
    STRING,
    UNKNOWN,
    TaskType,
    Type,
    TypeVariable,
    parts,
    same_head,
    substitute,
    variables,
)
from kavachc.syntax import ast

Bindings = dict[TypeVariable, Type]


def builtin_named(owner: Type | str | None, name: str) -> Builtin | None:
    """The row for `name` of `owner`: a receiver's type, a built-in capability's name, or None for a function."""
    return next((row for row in BUILTINS if row.name == name and _belongs(row, owner)), None)


def method_names(owner: Type | str) -> list[str]:
    """The names of everything that `owner` has, for help."""
    return [row.name for row in BUILTINS if _belongs(row, owner)]


def _belongs(row: Builtin, owner: Type | str | None) -> bool:
    if row.owner is None or owner is None or isinstance(row.owner, str) or isinstance(owner, str):
        return row.owner == owner
    return matches(row.owner, owner)


def matches(row_type: Type, actual: Type) -> bool:
    """Whether `actual` has the shape of `row_type`, whatever the variables in that stand for."""
    return _match(row_type, actual, {})


def _match(row_type: Type, actual: Type, bindings: Bindings) -> bool:
    """Whether `actual` has the shape of `row_type`; what its variables stand for goes into `bindings`."""
    if isinstance(row_type, TypeVariable):
        bindings[row_type] = actual
        return True
    if not same_head(row_type, actual):
        return False
    return all(_match(part, other, bindings) for part, other in zip(parts(row_type), parts(actual), strict=True))


def _substitute(row_type: Type, bindings: Bindings) -> Type:
    """`row_type` with what its variables stand for; SHOWN and its like stand for anything."""
    return substitute(row_type, {item: bindings.get(item, UNKNOWN) for item in variables(row_type)})


def check_builtin(body: Body, node: ast.Call, row: Builtin, receiver: typed.Expr | None) -> Checked:
    """A call of `row`; `receiver` is the checked value before the dot, if the row belongs to a type."""
    bindings: Bindings = {}
    if receiver is not None and row.owner is not None and not isinstance(row.owner, str):
        _match(row.owner, receiver.type, bindings)
    if not isinstance(row.owner, str):
        bounded = [item for item in bindings if item.bounds and bindings[item] is not UNKNOWN]
        check_bounds(body, node.span, row.name, bounded, [bindings[item] for item in bounded])
    place = place_of(body, receiver) if row.mutates and receiver is not None else None
    if row.mutates and place is None:
        return wrong_call(body, node)
    slots = [
        Slot(name, _substitute(type_, bindings), row.default(name) is not None, takes_anything=type_ is SHOWN)
        for name, type_ in row.parameters
    ]
    inside = ", ".join("…" for slot in slots if not slot.has_default)
    target = Target(row.name, "parameter", f"{row.name}({inside})", slots)
    if any(type_ is SHOWN for _, type_ in row.parameters):
        values = _check_shown(body, node, target)
    else:
        values = check_arguments(body, node.span, target, node.arguments)
    values += _defaults(node, row, [index for index, _ in values])
    result = body.world.record(row.result) if isinstance(row.result, str) else _substitute(row.result, bindings)
    before, receiver, arguments = in_order(body, target, None if row.mutates else receiver, values)
    if place is not None:
        call: typed.Expr = typed.CallMutatingBuiltin(node.span, result, row, place, arguments)
    else:
        arguments = arguments if receiver is None else (receiver, *arguments)
        call = typed.CallBuiltin(node.span, result, row, arguments)
    # What is done to a task is seen by others, so it stands in no rule and no constant.
    acts = f"calls `{row.name}`" if row.waits or isinstance(row.owner, TaskType) else None
    error = body.world.sum(row.error) if isinstance(row.error, str) else row.error
    return Checked(call, row.name, error, before, None, row.effect, row.waits, acts)


def _defaults(node: ast.Call, row: Builtin, given: Sequence[int]) -> list[tuple[int, typed.Expr]]:
    """What stands for the parameters that the call leaves out."""
    values: list[tuple[int, typed.Expr]] = []
    for index, (name, type_) in enumerate(row.parameters):
        default = row.default(name)
        if default is None or index in given:
            continue
        if default.value is None:
            values.append((index, typed.MapMake(node.span, type_, ())))
        else:
            values.append((index, typed.IntValue(node.span, type_, default.value)))
    return values


def _check_shown(body: Body, node: ast.Call, target: Target) -> list[tuple[int, typed.Expr]]:
    """The argument of `print`: anything that has a text."""
    values = check_arguments(body, node.span, target, node.arguments)
    for position, (_, value) in enumerate(values):
        span = node.arguments[position].value.span
        reason = why_not_shown(value.type)
        if value.type is NEVER:
            body.report(codes.NO_VALUE, span)
        elif reason is not None:
            body.report(codes.NOT_SHOWN, span, type=value.type, reason=reason, help=bound_help(value.type, "Show"))
    return values


def check_ask(body: Body, node: ast.Call) -> Checked:
    """`ask<T>(prompt)`."""
    answer: Type = UNKNOWN
    if len(node.type_arguments) == 1:
        written = node.type_arguments[0]
        answer = body.resolve(written)
        reason = why_not_askable(answer)
        if reason is not None:
            body.report(codes.NOT_ASKABLE, written.span, type=answer, reason=reason)
        body.facts.asks.append((answer, written.span))
    elif node.type_arguments:
        body.report(
            codes.TYPE_ARGUMENTS, node.span, name="ask", wanted="one type argument", given=_given(node.type_arguments)
        )
    else:
        body.report(codes.ASK_TYPE_MISSING, node.callee.span)
    target = Target("ask", "parameter", "ask<T>(prompt)", [Slot("prompt", STRING)])
    values = check_arguments(body, node.span, target, node.arguments)
    if not values:
        return no_call(node.span)
    call = typed.Ask(node.span, answer, values[0][1])
    return Checked(call, "ask", body.world.sum("AiError"), (), None, "Ai", True)


def _given(items: Sequence[object]) -> str:
    return f"{len(items)} are given"
