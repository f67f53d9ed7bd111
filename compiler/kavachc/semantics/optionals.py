"""What looks into an optional: `??` and `if const` (spec 2.optional). Both are matches of two arms."""

from __future__ import annotations

from kavachc.diagnostics import codes
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.binders import check_binder
from kavachc.semantics.body import DROPPED, Body, as_branch, as_branch_block, branch_value, drop
from kavachc.semantics.conversions import same_type
from kavachc.semantics.ranks import rank, with_absence
from kavachc.semantics.statements import check_block
from kavachc.semantics.types import ERROR, NEVER, NOTHING, UNKNOWN, CapabilityType, OptionalType, Type
from kavachc.syntax import ast


def check_coalesce(body: Body, node: ast.Coalesce, wanted: Type | None) -> typed.Expr:
    """`x ?? other`: what `x` holds; otherwise `other`, which may be absent itself, or leave."""
    hint = None if wanted is None or wanted is DROPPED or _is_converted_to(wanted) else wanted
    first: typed.Expr | None = None
    if hint is None and rank(body, node.value) > rank(body, node.otherwise):
        first = body.expression(node.otherwise)
        hint = None if first.type is NEVER else first.type
    value = body.operand(node.value, hint if hint is None or isinstance(hint, OptionalType) else OptionalType(hint))
    element = _element(body, value, "`??`")
    other = first or body.expression(node.otherwise, hint if isinstance(hint, OptionalType) else element)
    result = element
    if other.type is not NEVER and not same_type(other.type, element):
        if same_type(other.type, OptionalType(element)):
            result = OptionalType(element)
        else:
            other = body.convert(other, element)
    held = typed.Local("value", element, False, value.span)
    found: typed.Expr = typed.LocalGet(value.span, element, held)
    if result is not element:
        found = typed.ToOptional(value.span, result, found)
    present = typed.PresentPattern(value.span, typed.BindPattern(value.span, held))
    return _two_arms(node, result, value, (present, found), other)


def _is_converted_to(wanted: Type) -> bool:
    """Whether other types become `wanted`: then it does not say what `x` of `x ?? other` holds."""
    while isinstance(wanted, OptionalType):
        wanted = wanted.element
    return wanted is ERROR or isinstance(wanted, CapabilityType)


def check_if_const(body: Body, node: ast.IfConst, wanted: Type | None) -> typed.Expr:
    """`if const x = optional { … } else { … }`: `x` is known in the first block only."""
    value = body.operand(node.value)
    element = _element(body, value, "`if const`")
    first: typed.Expr | None = None
    if wanted is None and node.otherwise is not None and rank(body, node.then) > rank(body, node.otherwise):
        first = body.expression(node.otherwise)
        wanted = None if first.type is NEVER else with_absence(first.type, [node.then])
        first = first if wanted is None else as_branch(body, first, wanted)
    body.scope.enter()
    binder = check_binder(body, node.binder, element, False)
    wants_none = node.otherwise is None or wanted is DROPPED
    then = check_block(body, node.then, DROPPED if wants_none else wanted)
    body.scope.leave()
    if node.otherwise is None:
        otherwise: typed.Expr = typed.NothingValue(node.span, NOTHING)
        result: Type = NOTHING
    elif wanted is DROPPED:
        otherwise = drop(body.expression(node.otherwise, DROPPED))
        result = NEVER if then.type is NEVER and otherwise.type is NEVER else NOTHING
    else:
        if wanted is not None and then.type is NOTHING:
            body.convert(then, wanted)
        if wanted is None and then.type is not NEVER:
            wanted = with_absence(then.type, [node.otherwise])
            then = as_branch_block(body, then, wanted)
        otherwise = first or branch_value(body, node.otherwise, wanted)
        giving = [item.type for item in (then, otherwise) if item.type is not NEVER]
        result = (wanted or giving[0]) if giving else NEVER
    present = typed.PresentPattern(node.binder.span, binder)
    return _two_arms(node, result, value, (present, then), otherwise)


def _element(body: Body, value: typed.Expr, what: str) -> Type:
    if isinstance(value.type, OptionalType):
        return value.type.element
    if value.type is not UNKNOWN:
        body.report(codes.NOT_OPTIONAL, value.span, what=what, type=value.type)
    return UNKNOWN


def _two_arms(
    node: ast.Expression, result: Type, value: typed.Expr, found: tuple[typed.Pattern, typed.Expr], other: typed.Expr
) -> typed.Match:
    arms = (
        typed.MatchArm(node.span, found[0], None, found[1]),
        typed.MatchArm(other.span, typed.WildcardPattern(other.span), None, other),
    )
    return typed.Match(node.span, result, value, arms)
