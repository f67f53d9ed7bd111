"""`assert` (spec 4.assert): what it means in terms of the rest of the language.

assert x == f(), "why"                   const left = x
                                         const right = f()
                                         if left == right { } else { panic("assertion failed: …") }
"""

from __future__ import annotations

from kavachc.semantics import panics
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import Body
from kavachc.semantics.types import BOOL, NEVER, NOTHING, STRING
from kavachc.semantics.wording import single_spaced
from kavachc.source import Span
from kavachc.syntax import ast

_CONDITION_LENGTH_MAX = 200


def check_assert(body: Body, node: ast.Assert) -> typed.ExpressionStatement:
    """Its type is NEVER when the condition is the literal `false`."""
    span = node.span
    condition = body.value(node.condition, BOOL)
    failed = panics.ASSERTION_FAILED.format(condition=single_spaced(node.condition.span.text, _CONDITION_LENGTH_MAX))
    parts: list[typed.Expr] = [_text(span, failed)]
    names: list[typed.Declare] = []
    if isinstance(condition, typed.Comparison):
        names = [body.fresh("left", condition.left, condition.left.type)]
        names.append(body.fresh("right", condition.right, condition.right.type))
        left, right = (typed.LocalGet(name.span, name.local.type, name.local) for name in names)
        condition = typed.Comparison(condition.span, BOOL, condition.operator, left, right)
        before, between, after = panics.ASSERTION_SIDES.format(left="\0", right="\0").split("\0")
        parts += [_text(span, before), typed.Shown(span, STRING, left), _text(span, between)]
        parts += [typed.Shown(span, STRING, right), _text(span, after)]
    if node.message is not None:
        message = body.value(node.message, STRING)
        parts += [_text(span, panics.ASSERTION_MESSAGE.format(message="")), message]
    panic = typed.Panic(span, NEVER, typed.Interpolation(span, STRING, tuple(parts)))
    if isinstance(condition, typed.BoolValue) and not condition.value:
        return typed.ExpressionStatement(span, panic)
    check = typed.If(span, NOTHING, condition, typed.Block(span, NOTHING, (), None), panic)
    if not names:
        return typed.ExpressionStatement(span, check)
    block = typed.Block(span, NOTHING, (*names, typed.ExpressionStatement(span, check)), None)
    return typed.ExpressionStatement(span, block)


def _text(span: Span, text: str) -> typed.StringValue:
    return typed.StringValue(span, STRING, text)
