"""Unary and binary operators, and the types that they work on (spec 2)."""

from __future__ import annotations

from typing import cast

from kavachc.diagnostics import codes
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import Body, unknown
from kavachc.semantics.conversions import bound_help, convertible, same_type, why_not_comparable, why_not_ordered
from kavachc.semantics.habits import help_for_adding, help_for_joining
from kavachc.semantics.literals import number_value, present
from kavachc.semantics.ranks import bare_number
from kavachc.semantics.types import (
    BOOL,
    DURATION,
    FLOAT,
    INSTANT,
    INT,
    STRING,
    UNKNOWN,
    OptionalType,
    PrimitiveType,
    Type,
    TypeVariable,
)
from kavachc.semantics.wording import single_spaced
from kavachc.syntax import ast

# (operator, left, right) -> result, for what is not listed in a loop below.
_RESULTS: dict[tuple[str, Type, Type], PrimitiveType] = {
    ("+", STRING, STRING): STRING,
    ("+", DURATION, DURATION): DURATION,
    ("-", DURATION, DURATION): DURATION,
    ("*", DURATION, INT): DURATION,
    ("*", INT, DURATION): DURATION,
    ("/", DURATION, INT): DURATION,
    ("/", DURATION, DURATION): INT,
    ("-", INSTANT, INSTANT): DURATION,
    ("+", INSTANT, DURATION): INSTANT,
    ("-", INSTANT, DURATION): INSTANT,
}
_RESULTS.update({(operator, INT, INT): INT for operator in ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")})
_RESULTS.update({(operator, FLOAT, FLOAT): FLOAT for operator in ("+", "-", "*", "/", "%")})

_UNARY: dict[str, tuple[PrimitiveType, ...]] = {"-": (INT, FLOAT, DURATION), "!": (BOOL,), "~": (INT,)}


def check_unary(body: Body, node: ast.Unary, wanted: Type | None) -> typed.Expr:
    """`-x`, `!x`, `~x`. A negated literal is a literal, so that the smallest Int can be written."""
    number = bare_number(node)
    if number is not None:
        return number_value(body, node.span, *number, wanted)
    operand = body.operand(node.operand, FLOAT if node.operator == "-" and present(wanted) is FLOAT else None)
    if operand.type is UNKNOWN:
        return unknown(node.span)
    if operand.type not in _UNARY[node.operator]:
        return body.report(codes.UNARY_TYPE, node.span, operator=node.operator, type=operand.type)
    if node.operator == "-" and isinstance(operand, typed.FloatValue):
        return typed.FloatValue(node.span, FLOAT, -operand.value)
    return typed.UnaryOperation(node.span, operand.type, node.operator, operand)


def arithmetic_result(operator: str, left: Type, right: Type) -> PrimitiveType | None:
    """The type of `left operator right`; None when there is no such operation."""
    return _RESULTS.get((operator, left, right))


def check_binary(body: Body, node: ast.Binary, wanted: Type | None) -> typed.Expr:
    if node.operator == "&&" or node.operator == "||":
        left = body.expression(node.left, BOOL)
        if node.operator == "||" and isinstance(left.type, OptionalType):
            # As other languages say `??`.
            body.expression(node.right, UNKNOWN)
            help_text = f"write `{_text(node.left)} ?? {_text(node.right)}`"
            return body.report(codes.TYPE_MISMATCH, node.left.span, wanted=BOOL, found=left.type, help=help_text)
        left = body.convert(left, BOOL)
        right = body.value(node.right, BOOL)
        return typed.LogicalOperation(node.span, BOOL, node.operator, left, right)
    comparing = node.operator in ("==", "!=", "<", "<=", ">", ">=")
    left, right = _operands(body, node, None if comparing else wanted, comparing)
    if left.type is UNKNOWN or right.type is UNKNOWN:
        return typed.NothingValue(node.span, BOOL if comparing else UNKNOWN)
    if comparing:
        return _comparison(body, node, left, right)
    result = arithmetic_result(node.operator, left.type, right.type)
    if result is None:
        return _report_operands(body, node, left.type, right.type)
    arithmetic = cast("typed.ArithmeticOperator", node.operator)
    return typed.ArithmeticOperation(node.span, result, arithmetic, node.operator_span, left, right)


def _operands(body: Body, node: ast.Binary, wanted: Type | None, comparing: bool) -> tuple[typed.Expr, typed.Expr]:
    """Both sides. A bare number beside a Float is a Float, and `[]` beside an array has its type."""
    hint = FLOAT if present(wanted) is FLOAT else None
    absent_right = isinstance(node.right, ast.NoneLiteral)
    if bare_number(node.left) is not None and bare_number(node.right) is None and not absent_right:
        right = body.operand(node.right, hint)
        return body.operand(node.left, FLOAT if present(right.type) is FLOAT else None), right
    if comparing and isinstance(node.left, ast.NoneLiteral):
        right = body.operand(node.right)
        return body.operand(node.left, right.type if right.type is not UNKNOWN else None), right
    left = body.operand(node.left, hint)
    if comparing:
        return left, body.operand(node.right, left.type if left.type is not UNKNOWN else None)
    if bare_number(node.right) is not None:
        return left, body.operand(node.right, FLOAT if left.type is FLOAT else None)
    return left, body.operand(node.right, FLOAT if left.type is FLOAT else hint)


def _comparison(body: Body, node: ast.Binary, left: typed.Expr, right: typed.Expr) -> typed.Expr:
    operator = cast("typed.ComparisonOperator", node.operator)
    if operator in ("==", "!="):
        left, right = _as_optional(body, left, right.type), _as_optional(body, right, left.type)
    if not same_type(left.type, right.type):
        return _report_operands(body, node, left.type, right.type)
    if operator in ("==", "!="):
        reason = why_not_comparable(left.type)
        if reason is not None:
            return body.report(
                codes.NOT_COMPARABLE,
                node.operator_span,
                type=left.type,
                operator=operator,
                reason=reason,
                help=bound_help(left.type, "Eq"),
            )
    elif why_not_ordered(left.type) is not None:
        return _report_operands(body, node, left.type, right.type)
    return typed.Comparison(node.span, BOOL, operator, left, right)


def _as_optional(body: Body, value: typed.Expr, other: Type) -> typed.Expr:
    """Beside an optional, what it would hold is compared as present."""
    is_held = isinstance(other, OptionalType) and not same_type(value.type, other) and convertible(value.type, other)
    return body.convert(value, other) if is_held else value


def _report_operands(body: Body, node: ast.Binary, left: Type, right: Type) -> typed.Expr:
    help_text = None
    if isinstance(left, TypeVariable) or isinstance(right, TypeVariable):
        help_text = _variable_help(node.operator, left, right)
    elif {left, right} == {INT, FLOAT}:
        help_text = "a number is not converted by itself: use one type for both"
    elif STRING in (left, right) and node.operator == "+":
        help_text = help_for_joining(node.left, node.right)
    elif left is STRING and node.operator == "%":
        help_text = 'put values into text with braces: `"{a} of {b}"`, `"{x.to_fixed(2)}"`'
    elif left is STRING and node.operator == "*":
        help_text = f"write `{_text(node.left)}.repeat({_text(node.right)})`"
    elif isinstance(left, OptionalType) or isinstance(right, OptionalType):
        optional = node.left if isinstance(left, OptionalType) else node.right
        help_text = f"it may be `none`: say what then, such as `({_text(optional)} ?? …)`, or look with `if const`"
    elif node.operator in ("<", "<=", ">", ">=") and same_type(left, right):
        reason = why_not_ordered(left)
        help_text = None if reason is None else f"{reason}: compare what orders them, such as a field of each"
    elif node.operator == "+":
        help_text = help_for_adding(left, right, _text(node.left), _text(node.right))
    return body.report(
        codes.OPERATOR_TYPES, node.operator_span, operator=node.operator, left=left, right=right, help=help_text
    )


def _text(node: ast.Expression) -> str:
    return single_spaced(node.span.text, 30)


def _variable_help(operator: str, left: Type, right: Type) -> str:
    """What a bound would allow, or that none does."""
    if left is right and operator in ("<", "<=", ">", ">="):
        return bound_help(left, "Ord") or ""
    variable = left if isinstance(left, TypeVariable) else right
    if operator in ("==", "!=", "<", "<=", ">", ">="):
        return f"`{variable}` stands for any type, so its values are compared only with others of `{variable}`"
    return f"`{variable}` stands for any type, and no bound allows `{operator}`: the bounds are Eq, Ord and Show"
