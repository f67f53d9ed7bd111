"""Making records and variants, and changed copies of records (spec 2)."""

from __future__ import annotations

from collections.abc import Sequence

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.arguments import Slot, Target, check_arguments
from kavachc.semantics.body import Body, unknown
from kavachc.semantics.constants import default_value
from kavachc.semantics.inference import Inference, refuse_type_arguments
from kavachc.semantics.literals import present
from kavachc.semantics.rules import looked_at
from kavachc.semantics.types import UNKNOWN, FieldInfo, GenericT, RecordType, SumType, Type, apply, own_type
from kavachc.semantics.wording import near_miss, quoted
from kavachc.source import Span
from kavachc.syntax import ast


def shape(name: str, fields: Sequence[FieldInfo]) -> str:
    """`PayError.Denied(reason: …)`, as the help texts write it."""
    return f"{name}({', '.join(f'{item.name}: …' for item in fields)})"


def check_record_make(body: Body, node: ast.Call, record: RecordType, wanted: Type | None) -> typed.Expr:
    """`R(a: 1, b: "x")`, or of a generic record perhaps `R<Int, String>(a: 1, b: "x")`."""
    assert isinstance(node.callee, ast.Name)
    example = f"{record.name}<{', '.join('…' for _ in record.parameters)}>(…)"
    inference = _inference(body, record, record.name, node.callee, node.type_arguments, example)
    fields = _check_fields(body, node, record.name, record.fields, inference, wanted)
    made = _applied(body, record, inference)
    return typed.RecordMake(node.span, made, made, _with_defaults(body, made, None, fields, node.span))


def check_variant_make(
    body: Body, node: ast.Call, callee: ast.FieldAccess, sum_: SumType, wanted: Type | None
) -> typed.Expr:
    """`PayError.Denied(reason: "x")`."""
    name = callee.name
    index = _variant_named(body, sum_, name)
    if index is None:
        return typed.NothingValue(node.span, UNKNOWN)
    variant = sum_.variants[index]
    full_name = f"{sum_}.{variant.name}"
    if not variant.fields:
        return body.report(codes.NO_FIELDS_TO_GIVE, node.span, name=full_name)
    inference = _variant_inference(body, callee, sum_, full_name, "(…)")
    fields = _check_fields(body, node, full_name, variant.fields, inference, wanted)
    made = _applied(body, sum_, inference)
    return typed.VariantMake(node.span, made, made, index, _with_defaults(body, made, index, fields, node.span))


def check_variant_name(body: Body, node: ast.FieldAccess, sum_: SumType, wanted: Type | None) -> typed.Expr:
    """`PayError.Declined`: a variant without fields."""
    index = _variant_named(body, sum_, node.name)
    if index is None:
        return unknown(node.span)
    variant = sum_.variants[index]
    if variant.fields:
        full_name = f"{sum_}.{variant.name}"
        missing = quoted([item.name for item in variant.fields])
        help_text = f"write `{shape(full_name, variant.fields)}`"
        return body.report(codes.ARGUMENT_MISSING, node.span, name=full_name, missing=missing, help=help_text)
    inference = _variant_inference(body, node, sum_, f"{sum_}.{variant.name}", "")
    if inference is not None:
        inference.match_wanted(wanted)
    made = _applied(body, sum_, inference)
    return typed.VariantMake(node.span, made, made, index, ())


def _variant_inference(
    body: Body, callee: ast.FieldAccess, sum_: SumType, full_name: str, end: str
) -> Inference | None:
    example = (type_arguments_example(sum_, callee.name) or "") + end
    return _inference(body, sum_, full_name, callee.target, callee.type_arguments, example)


def type_arguments_example(sum_: SumType, variant: ast.Identifier) -> str | None:
    """`Tree<…>.Leaf`; None for a sum that is not generic."""
    return f"{sum_.name}<{', '.join('…' for _ in sum_.parameters)}>.{variant.text}" if sum_.parameters else None


def _inference(
    body: Body,
    declaration: RecordType | SumType,
    name: str,
    target: ast.Expression,
    written: Sequence[ast.TypeExpression],
    example: str,
) -> Inference | None:
    """What finds the type arguments of a value of a generic type; None for another type."""
    if not declaration.parameters:
        refuse_type_arguments(body, written, target)
        return None
    inference = Inference(name, target.span, declaration.parameters, own_type(declaration), example)
    inference.bind_written(body, written, declaration.name, declaration.parameters)
    return inference


def _applied(body: Body, declaration: GenericT, inference: Inference | None) -> GenericT:
    """The type of the value that is made."""
    return declaration if inference is None else apply(declaration, inference.finish(body))


def _variant_named(body: Body, sum_: SumType, name: ast.Identifier) -> int | None:
    index = sum_.variant_index(name.text)
    if index is None:
        if name.text in body.world.methods_of(sum_):
            body.report(codes.METHOD_ON_TYPE, name.span, name=name.text, type=sum_)
        else:
            help_text = near_miss(name.text, [variant.name for variant in sum_.variants])
            body.report(codes.UNKNOWN_VARIANT, name.span, type=sum_, name=name.text, help=help_text)
    return index


def _check_fields(
    body: Body,
    node: ast.Call,
    name: str,
    fields: Sequence[FieldInfo],
    inference: Inference | None,
    wanted: Type | None,
) -> list[tuple[int, typed.Expr]]:
    """The fields as written."""
    slots = [Slot(item.name, item.type, item.has_default) for item in fields]
    target = Target(name, "field", shape(name, fields), slots, inference, wanted)
    return check_arguments(body, node.span, target, node.arguments)


def _with_defaults(
    body: Body, made: RecordType | SumType, variant: int | None, values: Sequence[tuple[int, typed.Expr]], span: Span
) -> tuple[tuple[int, typed.Expr], ...]:
    """The fields as written, then the defaults of those left out; all that have a rule are looked at."""
    fields = made.fields if isinstance(made, RecordType) else made.variants[variant or 0].fields
    given = {index for index, _ in values}
    defaults = [
        (index, default_value(body, made, variant, index, span))
        for index, item in enumerate(fields)
        if index not in given and item.has_default
    ]
    return tuple([(index, looked_at(body, made, fields[index].rule, value)) for index, value in (*values, *defaults)])


def check_with(body: Body, node: ast.With, wanted: Type | None) -> typed.Expr:
    """`r with { a: 2 }`."""
    # What is wanted here need not be what is changed: a capability, or nothing where the value is dropped.
    target = body.operand(node.target, hint if isinstance(hint := present(wanted), RecordType) else None)
    record = target.type
    if not isinstance(record, RecordType):
        for update in node.updates:
            body.expression(update.value, UNKNOWN)
        if record is UNKNOWN:
            return unknown(node.span)
        return body.report(codes.WITH_NOT_RECORD, node.target.span, type=record)
    placed: dict[int, Span] = {}
    values: list[tuple[int, typed.Expr]] = []
    for update in node.updates:
        index = record.field_index(update.name.text)
        if index is None:
            help_text = near_miss(update.name.text, [item.name for item in record.fields])
            body.report(codes.UNKNOWN_FIELD, update.name.span, type=record, name=update.name.text, help=help_text)
            body.expression(update.value, UNKNOWN)
            continue
        if index in placed:
            labels = (Label(placed[index], "first given here"),)
            body.report(codes.ARGUMENT_TWICE, update.name.span, argument=update.name.text, labels=labels)
            continue
        placed[index] = update.name.span
        field = record.fields[index]
        values.append((index, looked_at(body, record, field.rule, body.value(update.value, field.type))))
    return typed.RecordUpdate(node.span, record, target, tuple(values))
