"""`json.encode(value)` and `json.decode<T>(text)` (spec 10.json)."""

from __future__ import annotations

from kavachc.diagnostics import codes
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.arguments import Slot, Target, check_arguments
from kavachc.semantics.body import Body
from kavachc.semantics.builtin_row import Builtin
from kavachc.semantics.checked_call import Checked, wrong_call
from kavachc.semantics.conversions import find_inside, why_not_json
from kavachc.semantics.inference import refuse_type_arguments
from kavachc.semantics.rules import note_use
from kavachc.semantics.types import NEVER, STRING, UNKNOWN, FieldRule, RecordType, SumType, Type
from kavachc.source import Span
from kavachc.syntax import ast


def check_json(body: Body, node: ast.Call, callee: ast.FieldAccess, row: Builtin) -> Checked:
    """A call of a row of `json`."""
    return (_check_encode if row.key == "json.encode" else _check_decode)(body, node, callee, row)


def _check_encode(body: Body, node: ast.Call, callee: ast.FieldAccess, row: Builtin) -> Checked:
    refuse_type_arguments(body, node.type_arguments, callee.name)
    target = Target(row.name, "parameter", "json.encode(…)", [Slot("value", UNKNOWN, takes_anything=True)])
    values = check_arguments(body, node.span, target, node.arguments)
    if not values:
        return wrong_call(body, node)
    value = values[0][1]
    if value.type is NEVER:
        body.report(codes.NO_VALUE, value.span)
    _note(body, value.type, value.span)
    return Checked(typed.CallBuiltin(node.span, STRING, row, (value,)), row.name)


def _check_decode(body: Body, node: ast.Call, callee: ast.FieldAccess, row: Builtin) -> Checked:
    made: Type = UNKNOWN
    if len(node.type_arguments) == 1:
        made = body.resolve(node.type_arguments[0])
        _note(body, made, node.type_arguments[0].span)
        for rule, arguments in _rules_in(made):
            note_use(body, rule, arguments, node.span)
    else:
        given = f"{len(node.type_arguments) or 'none'} {'is' if len(node.type_arguments) < 2 else 'are'} given"
        wanted = "one type argument, the type of what is read"
        body.report(codes.TYPE_ARGUMENTS, node.span, name="json.decode", wanted=wanted, given=given)
    target = Target(row.name, "parameter", "json.decode<T>(text)", [Slot("text", STRING)])
    values = check_arguments(body, node.span, target, node.arguments)
    if not values:
        return wrong_call(body, node)
    call = typed.CallBuiltin(node.span, made, row, (values[0][1],))
    return Checked(call, row.name, body.world.sum("JsonError"))


def _note(body: Body, kept: Type, span: Span) -> None:
    reason = why_not_json(kept)
    if reason is not None:
        body.report(codes.NOT_JSON, span, type=kept, reason=reason)
    body.facts.jsons.append((kept, span))


def _rules_in(type_: Type) -> list[tuple[FieldRule, tuple[Type, ...]]]:
    """The rules that are looked at when such a value is read, each with the arguments of the type that has it."""
    found: list[tuple[FieldRule, tuple[Type, ...]]] = []

    def look(part: Type) -> bool:
        if isinstance(part, RecordType | SumType):
            fields = part.fields if isinstance(part, RecordType) else [x for item in part.variants for x in item.fields]
            found.extend((item.rule, part.arguments) for item in fields if item.rule is not None)
        return False

    find_inside(type_, look)
    return found
