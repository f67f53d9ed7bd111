"""Making records and variants, and changed copies of records (spec 2)."""

from __future__ import annotations

from collections.abc import Sequence

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.arguments import Slot, Target, check_arguments
from kavachc.semantics.body import Body, unknown
from kavachc.semantics.constants import default_value
from kavachc.semantics.literals import present
from kavachc.semantics.types import UNKNOWN, FieldInfo, RecordType, SumType, Type
from kavachc.semantics.wording import near_miss, quoted
from kavachc.source import Span
from kavachc.syntax import ast


def shape(name: str, fields: Sequence[FieldInfo]) -> str:
    """`PayError.Denied(reason: …)`, as the help texts write it."""
    return f"{name}({', '.join(f'{item.name}: …' for item in fields)})"


def check_record_make(body: Body, node: ast.Call, record: RecordType) -> typed.Expr:
    """`R(a: 1, b: "x")`."""
    fields = _check_fields(body, node.span, record.name, record, None, record.fields, node.arguments)
    return typed.RecordMake(node.span, record, record, fields)


def check_variant_make(body: Body, node: ast.Call, sum_: SumType, name: ast.Identifier) -> typed.Expr:
    """`PayError.Denied(reason: "x")`."""
    index = _variant_named(body, sum_, name)
    if index is None:
        return typed.NothingValue(node.span, UNKNOWN)
    variant = sum_.variants[index]
    full_name = f"{sum_}.{variant.name}"
    if not variant.fields:
        return body.report(codes.NO_FIELDS_TO_GIVE, node.span, name=full_name)
    fields = _check_fields(body, node.span, full_name, sum_, index, variant.fields, node.arguments)
    return typed.VariantMake(node.span, sum_, sum_, index, fields)


def check_variant_name(body: Body, node: ast.FieldAccess, sum_: SumType) -> typed.Expr:
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
    return typed.VariantMake(node.span, sum_, sum_, index, ())


def _variant_named(body: Body, sum_: SumType, name: ast.Identifier) -> int | None:
    index = sum_.variant_index(name.text)
    if index is None:
        if name.text in body.world.methods.get(sum_, {}):
            body.report(codes.METHOD_ON_TYPE, name.span, name=name.text, type=sum_)
        else:
            help_text = near_miss(name.text, [variant.name for variant in sum_.variants])
            body.report(codes.UNKNOWN_VARIANT, name.span, type=sum_, name=name.text, help=help_text)
    return index


def _check_fields(
    body: Body,
    span: Span,
    name: str,
    owner: RecordType | SumType,
    variant: int | None,
    fields: Sequence[FieldInfo],
    arguments: Sequence[ast.Argument],
) -> tuple[tuple[int, typed.Expr], ...]:
    """The fields as written, then the defaults of those left out."""
    slots = [Slot(item.name, item.type, item.has_default) for item in fields]
    values = check_arguments(body, span, Target(name, "field", shape(name, fields), slots), arguments)
    given = {index for index, _ in values}
    for index, item in enumerate(fields):
        if index not in given and item.has_default:
            values.append((index, default_value(body, owner, variant, index, item.type)))
    return tuple(values)


def check_with(body: Body, node: ast.With, wanted: Type | None) -> typed.Expr:
    """`r with { a: 2 }`."""
    # What is wanted here need not be what is changed: a capability, or nothing where the value is dropped.
    target = body.operand(node.target, hint if isinstance(hint := present(wanted), RecordType) else None)
    record = target.type
    if not isinstance(record, RecordType):
        for update in node.updates:
            body.expression(update.value)
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
            body.expression(update.value)
            continue
        if index in placed:
            labels = (Label(placed[index], "first given here"),)
            body.report(codes.ARGUMENT_TWICE, update.name.span, argument=update.name.text, labels=labels)
            continue
        placed[index] = update.name.span
        values.append((index, body.value(update.value, record.fields[index].type)))
    return typed.RecordUpdate(node.span, record, target, tuple(values))
