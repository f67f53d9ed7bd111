"""Names for a value or for the parts of a tuple: in `const (a, b) = …`, `for (a, b) in …`, `if const (a, b) = …`."""

from __future__ import annotations

from dataclasses import replace

from kavachc.diagnostics import codes
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import Body
from kavachc.semantics.types import UNKNOWN, TupleType, Type
from kavachc.semantics.wording import are, counted
from kavachc.syntax import ast


def check_binder(body: Body, node: ast.Pattern, type_: Type, mutable: bool, fixed: str = "bound here") -> typed.Pattern:
    """The pattern, which always fits; its names are declared, and may change when `mutable`."""
    if isinstance(node, ast.NamePattern):
        return typed.BindPattern(node.span, body.declare(node.name, type_, mutable, "" if mutable else fixed))
    if not isinstance(node, ast.TuplePattern):
        return typed.WildcardPattern(node.span)
    types = tuple_types(body, node, type_)
    elements = [
        check_binder(body, item, element, mutable, fixed) for item, element in zip(node.elements, types, strict=True)
    ]
    return typed.TuplePattern(node.span, tuple(elements))


def tuple_types(body: Body, node: ast.TuplePattern, type_: Type) -> tuple[Type, ...]:
    """The type for each part of the pattern; unknown after a report."""
    if isinstance(type_, TupleType) and len(type_.elements) == len(node.elements):
        return type_.elements
    if isinstance(type_, TupleType):
        wanted, given = counted(len(type_.elements), "element"), are(len(node.elements))
        inside = ", ".join("_" for _ in type_.elements)
        body.report(codes.TUPLE_LENGTH, node.span, wanted=wanted, given=given, help=f"write `({inside})`")
    elif type_ is not UNKNOWN:
        body.report(codes.NOT_A_TUPLE, node.span, type=type_)
    return (UNKNOWN,) * len(node.elements)


def check_take_apart(body: Body, node: ast.TakeApart, value: typed.Expr) -> typed.TakeApart:
    fixed = "declared with `const`"
    pattern = check_binder(body, node.binder, value.type, node.mutable, fixed)
    return typed.TakeApart(node.span, pattern, value)


def with_parts(block: typed.Block, pattern: typed.Pattern, whole: typed.Local) -> typed.Block:
    """The body of a loop over tuples, which begins by taking `whole` apart."""
    value = typed.LocalGet(pattern.span, whole.type, whole)
    return replace(block, statements=(typed.TakeApart(pattern.span, pattern, value), *block.statements))
