"""Literals, and the types that their place gives them (spec 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kavachc.diagnostics import codes
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import DROPPED, Body
from kavachc.semantics.ranks import bare_number, by_rank, with_absence
from kavachc.semantics.types import BOOL, DURATION, FLOAT, INT, NEVER, UNKNOWN, ArrayType, OptionalType, TupleType, Type
from kavachc.source import Span
from kavachc.syntax import ast

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1


def present(wanted: Type | None) -> Type | None:
    """What is wanted of a value that is there: of `T?` the `T`."""
    while isinstance(wanted, OptionalType):
        wanted = wanted.element
    return wanted


def number_value(body: Body, span: Span, value: int, negative: bool, wanted: Type | None) -> typed.Expr:
    """An Int literal as an Int, or as a Float where one is wanted."""
    if present(wanted) is FLOAT:
        try:
            amount = float(value)
        except OverflowError:
            return body.report(codes.NUMBER_TOO_LARGE, span, text=span.text, type="a Float")
        return typed.FloatValue(span, FLOAT, -amount if negative else amount)
    signed = -value if negative else value
    if not INT_MIN <= signed <= INT_MAX:
        if value == INT_MAX + 1:
            return body.said(span)  # The parser did, unless a `-` stands before it.
        return body.report(
            codes.NUMBER_TOO_LARGE,
            span,
            text=span.text,
            type="an Int",
            help="an Int lies from -9223372036854775808 to 9223372036854775807",
        )
    return typed.IntValue(span, INT, signed)


def check_int(body: Body, node: ast.IntLiteral, wanted: Type | None) -> typed.Expr:
    return number_value(body, node.span, node.value, False, wanted)


def check_float(body: Body, node: ast.FloatLiteral, wanted: Type | None) -> typed.Expr:
    if not math.isfinite(node.value):
        return body.report(codes.NUMBER_TOO_LARGE, node.span, text=node.span.text, type="a Float")
    return typed.FloatValue(node.span, FLOAT, node.value)


def check_bool(body: Body, node: ast.BoolLiteral, wanted: Type | None) -> typed.Expr:
    return typed.BoolValue(node.span, BOOL, node.value)


def check_duration(body: Body, node: ast.DurationLiteral, wanted: Type | None) -> typed.Expr:
    if node.value_ns > INT_MAX:
        return body.report(
            codes.NUMBER_TOO_LARGE,
            node.span,
            text=node.span.text,
            type="a Duration",
            help="a Duration lies within about 292 years",
        )
    return typed.IntValue(node.span, DURATION, node.value_ns)


def check_array(body: Body, node: ast.ArrayLiteral, wanted: Type | None) -> typed.Expr:
    """`[a, b]`: every element has the wanted type, or that of the first that says its own, so that `[1, x]` is an
    array of Floats when `x` is one, and `[[], xs]` one of what `xs` is."""
    wanted = present(wanted)
    known = wanted.element if isinstance(wanted, ArrayType) else UNKNOWN if wanted is UNKNOWN else None
    if known is None and not node.elements:
        return body.report(codes.EMPTY_ARRAY, node.span)
    elements, element = check_alike(body, node.elements, known)
    if element is None:
        return body.report(codes.NO_VALUE, node.span)
    return typed.ArrayMake(node.span, ArrayType(element), tuple(elements))


def check_alike(
    body: Body, nodes: Sequence[ast.Expression], element: Type | None
) -> tuple[list[typed.Expr], Type | None]:
    """The values of `nodes`, all of one type: `element`, or that of the first that says its own. None: none does."""
    checked: dict[int, typed.Expr] = {}
    for index in by_rank(body, nodes) if element is None else range(len(nodes)):
        item = nodes[index]
        if element is None:
            first = body.expression(item)
            element = None if first.type is NEVER else first.type
            if bare_number(nodes[0]) is not None and element not in (None, INT, FLOAT):
                # Of `[1, "a"]` it is the text that is wrong.
                element = INT
            element = None if element is None else with_absence(element, nodes)
            checked[index] = first if element is None else body.convert(first, element)
        else:
            checked[index] = body.value(item, element)
    return [checked[index] for index in range(len(checked))], element


def check_none(body: Body, node: ast.NoneLiteral, wanted: Type | None) -> typed.Expr:
    """`none`, of the optional type that its place wants."""
    if isinstance(wanted, OptionalType):
        return typed.NoneValue(node.span, wanted)
    if wanted is None or wanted is DROPPED:
        return body.report(codes.NONE_TYPE, node.span)
    help_text = f"where it may be absent, the type is `{wanted}?`"
    return body.report(codes.NONE_NOT_WANTED, node.span, type=wanted, help=help_text)


def check_tuple(body: Body, node: ast.TupleLiteral, wanted: Type | None) -> typed.Expr:
    """`(a, b)`: elements of the wanted types, or of their own."""
    wanted = present(wanted)
    if isinstance(wanted, TupleType) and len(wanted.elements) == len(node.elements):
        elements = [body.value(item, type_) for item, type_ in zip(node.elements, wanted.elements, strict=True)]
        # A value that leaves has no type of its own.
        types = [
            type_ if item.type is not UNKNOWN else UNKNOWN
            for item, type_ in zip(elements, wanted.elements, strict=True)
        ]
    else:
        elements = [body.operand(item) for item in node.elements]
        types = [item.type for item in elements]
    return typed.TupleMake(node.span, TupleType(tuple(types)), tuple(elements))
