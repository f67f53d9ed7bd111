"""Expressions: names, literals, fields, blocks and branches (spec 2, 3). Calls and operators have their own files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kavachc.diagnostics import codes
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import DROPPED, MAY_BE_NONE, Body, as_branch, as_branch_block, branch_value, unknown
from kavachc.semantics.builtin_calls import method_names
from kavachc.semantics.calls import check_call_expression
from kavachc.semantics.closures import check_closure
from kavachc.semantics.construction import check_variant_name, check_with
from kavachc.semantics.conversions import bound_help, why_not_shown
from kavachc.semantics.failures import (
    check_break,
    check_catch,
    check_continue,
    check_fail,
    check_return,
    check_spawn,
    check_try,
)
from kavachc.semantics.habits import help_for_index, help_for_method
from kavachc.semantics.inference import refuse_type_arguments
from kavachc.semantics.library import library_method_names
from kavachc.semantics.literals import (
    check_array,
    check_bool,
    check_duration,
    check_float,
    check_int,
    check_none,
    check_tuple,
)
from kavachc.semantics.maps import check_key_access, check_map
from kavachc.semantics.matches import check_match
from kavachc.semantics.names import check_name, stands_for_any, type_named_by
from kavachc.semantics.operators import check_binary, check_unary
from kavachc.semantics.optionals import check_coalesce, check_if_const
from kavachc.semantics.ranks import rank, with_absence
from kavachc.semantics.statements import check_block
from kavachc.semantics.types import (
    BOOL,
    INT,
    NEVER,
    NOTHING,
    STRING,
    UNKNOWN,
    AgentType,
    ArrayType,
    CapabilityType,
    MapType,
    OptionalType,
    RecordType,
    SumType,
    Type,
    TypeVariable,
)
from kavachc.semantics.wording import near_miss, single_spaced
from kavachc.syntax import ast


def check_expression(body: Body, node: ast.Expression, wanted: Type | None) -> typed.Expr:
    """The typed expression of `node`; `wanted` is what the context hopes for (see `Body.expression`)."""
    return _CHECKS[type(node)](body, node, wanted)


def check_string(body: Body, node: ast.StringLiteral, wanted: Type | None) -> typed.Expr:
    """Text, or an Interpolation of its parts (spec 2.show)."""
    if all(isinstance(part, str) for part in node.parts):
        return typed.StringValue(node.span, STRING, "".join(part for part in node.parts if isinstance(part, str)))
    parts: list[typed.Expr] = []
    for part in node.parts:
        if isinstance(part, str):
            if part:
                parts.append(typed.StringValue(node.span, STRING, part))
            continue
        shown = body.operand(part)
        reason = why_not_shown(shown.type)
        if reason is not None:
            body.report(codes.NOT_SHOWN, part.span, type=shown.type, reason=reason, help=bound_help(shown.type, "Show"))
        parts.append(shown)
    return typed.Interpolation(node.span, STRING, tuple(parts))


def check_field(body: Body, node: ast.FieldAccess, wanted: Type | None) -> typed.Expr:
    """`value.field`, or `Sum.Variant` of a variant without fields."""
    named = type_named_by(body, node.target)
    if isinstance(named, SumType):
        return check_variant_name(body, node, named, wanted)
    target = body.operand(node.target) if named is None else None
    if target is not None and target.type is UNKNOWN:
        return unknown(node.span)
    refuse_type_arguments(body, node.type_arguments, node.target)
    if named is not None:
        return _report_part_of_type(body, node, named)
    assert target is not None
    name = node.name.text
    methods: list[str] = []
    if isinstance(target.type, RecordType):
        index = target.type.field_index(name)
        if index is not None:
            return typed.FieldGet(node.span, target.type.fields[index].type, target, index)
    if isinstance(target.type, RecordType | SumType):
        methods = list(body.world.methods_of(target.type))
    elif isinstance(target.type, CapabilityType):
        methods = [method.name for method in target.type.methods]
    elif isinstance(target.type, AgentType):
        methods = list(body.world.agents[target.type].handlers)
    if target.type is not UNKNOWN:
        methods += [*method_names(target.type), *library_method_names(body.world, target.type)]
    if name in methods:
        return body.report(codes.METHOD_NOT_CALLED, node.name.span, name=name, type=target.type)
    fields = [item.name for item in target.type.fields] if isinstance(target.type, RecordType) else []
    known = [*method_names(target.type), *library_method_names(body.world, target.type)]
    if name in known:
        return body.report(codes.METHOD_NOT_CALLED, node.name.span, name=name, type=target.type)
    text = single_spaced(node.target.span.text, 30)
    habit = help_for_method(target.type, name, text, known)
    help_text = habit or near_miss(name, [*fields, *methods])
    if isinstance(target.type, OptionalType):
        help_text = habit or MAY_BE_NONE
    elif isinstance(target.type, MapType) and habit is None:
        help_text = f'write `{text}["{name}"]`'
    elif isinstance(target.type, TypeVariable):
        help_text = stands_for_any(target.type)
    return body.report(codes.UNKNOWN_FIELD, node.name.span, type=target.type, name=name, help=help_text)


def _report_part_of_type(body: Body, node: ast.FieldAccess, named: Type | str) -> typed.Expr:
    """`R.x`, `Payments.refund` or `Time.sleep` without a call, or something that does not exist at all."""
    name = node.name.text
    if isinstance(named, RecordType):
        if named.field_index(name) is not None or name in body.world.methods_of(named):
            return body.report(codes.METHOD_ON_TYPE, node.span, name=name, type=named, help=f"write `value.{name}`")
        return body.report(codes.UNKNOWN_FIELD, node.name.span, type=named, name=name)
    return body.report(
        codes.NOT_A_VALUE,
        node.span,
        name=single_spaced(node.span.text),
        what="something to call",
        help=f"write `{single_spaced(node.span.text)}(…)`",
    )


def check_index(body: Body, node: ast.IndexAccess, wanted: Type | None) -> typed.Expr:
    """`array[index]` or `map[key]`."""
    target = body.operand(node.target)
    if isinstance(target.type, MapType):
        return check_key_access(body, node, target, target.type)
    if target.type is UNKNOWN:
        body.expression(node.index, UNKNOWN)
        return unknown(node.span)
    text = single_spaced(node.target.span.text, 30)
    if isinstance(node.index, ast.RangeExpression) and (isinstance(target.type, ArrayType) or target.type is STRING):
        bounds = f"{single_spaced(node.index.start.span.text)}, {single_spaced(node.index.end.span.text)}"
        shown = single_spaced(node.index.span.text)
        return body.report(
            codes.RANGE_NOT_ALLOWED, node.index.span, range=shown, help=f"write `{text}.slice({bounds})`"
        )
    index = body.value(node.index, INT)
    if isinstance(target.type, ArrayType):
        if isinstance(index, typed.IntValue) and index.value < 0:
            place = f"{text}.len() - {-index.value}"
            body.report(codes.NEGATIVE_INDEX, node.index.span, text=str(index.value), example=f"{text}[{place}]")
        return typed.IndexGet(node.span, target.type.element, target, index)
    help_text = help_for_index(target.type, text, single_spaced(node.index.span.text, 30))
    if isinstance(target.type, OptionalType):
        help_text = MAY_BE_NONE
    return body.report(codes.NOT_INDEXABLE, node.target.span, type=target.type, help=help_text)


def check_range(body: Body, node: ast.RangeExpression, wanted: Type | None) -> typed.Expr:
    body.value(node.start, INT)
    body.value(node.end, INT)
    return body.report(codes.RANGE_NOT_ALLOWED, node.span, range=single_spaced(node.span.text))


def check_if(body: Body, node: ast.If, wanted: Type | None) -> typed.Expr:
    """`if`, as a value when every branch gives one. Without `else` it gives nothing."""
    condition = body.value(node.condition, BOOL)
    if node.otherwise is None:
        then = check_block(body, node.then, DROPPED)
        return typed.If(node.span, NOTHING, condition, then, None)
    first: typed.Expr | None = None
    if wanted is None and rank(body, node.then) > rank(body, node.otherwise):
        first = body.expression(node.otherwise)
        wanted = None if first.type is NEVER else with_absence(first.type, [node.then])
        first = first if wanted is None else as_branch(body, first, wanted)
    then = check_block(body, node.then, wanted)
    if wanted is not None and then.type is NOTHING:
        body.convert(then, wanted)
    if wanted is None and then.type is not NEVER:
        wanted = with_absence(then.type, [node.otherwise])
        then = as_branch_block(body, then, wanted)
    otherwise = first or branch_value(body, node.otherwise, wanted)
    return typed.If(node.span, joined(wanted, then, otherwise), condition, then, otherwise)


def joined(wanted: Type | None, *branches: typed.Expr) -> Type:
    """The type of what has these branches: that of the first that gives a value, NEVER when none does."""
    giving = [branch.type for branch in branches if branch.type is not NEVER]
    if not giving:
        return NEVER
    return NOTHING if wanted is DROPPED else (wanted or giving[0])


_CHECKS: dict[type[ast.Node], Callable[[Body, Any, Type | None], typed.Expr]] = {
    ast.IntLiteral: check_int,
    ast.FloatLiteral: check_float,
    ast.BoolLiteral: check_bool,
    ast.DurationLiteral: check_duration,
    ast.StringLiteral: check_string,
    ast.ArrayLiteral: check_array,
    ast.MapLiteral: check_map,
    ast.TupleLiteral: check_tuple,
    ast.NoneLiteral: check_none,
    ast.Name: check_name,
    ast.FieldAccess: check_field,
    ast.IndexAccess: check_index,
    ast.Call: check_call_expression,
    ast.Unary: check_unary,
    ast.Binary: check_binary,
    ast.Coalesce: check_coalesce,
    ast.RangeExpression: check_range,
    ast.With: check_with,
    ast.Block: check_block,
    ast.If: check_if,
    ast.IfConst: check_if_const,
    ast.Match: check_match,
    ast.Try: check_try,
    ast.Catch: check_catch,
    ast.Fail: check_fail,
    ast.Return: check_return,
    ast.Break: check_break,
    ast.Continue: check_continue,
    ast.Closure: check_closure,
    ast.Spawn: check_spawn,
}
