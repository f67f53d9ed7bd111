"""A call after its check, before the expression around it has decided what becomes of its error."""

from __future__ import annotations

from dataclasses import dataclass

from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import Body, unknown
from kavachc.semantics.types import UNKNOWN, Type
from kavachc.semantics.world import Edge
from kavachc.source import Span
from kavachc.syntax import ast


@dataclass(frozen=True, slots=True)
class Checked:
    """`error` is what the call can fail with. `before` are bindings that keep the order of evaluation.

    `edge`, `effect` (a built-in capability), `uses` (what the called value's type says), `waits` and `acts` (see
    `Facts`) are for `record_call`.
    """

    call: typed.Expr
    name: str
    error: Type | None = None
    before: tuple[typed.Statement, ...] = ()
    edge: Edge | None = None
    effect: str | None = None
    waits: bool = False
    acts: str | None = None
    is_wrong: bool = False
    uses: tuple[typed.Effect, ...] = ()

    def wrap(self, inner: typed.Expr) -> typed.Expr:
        """`inner`, made of the call, behind the bindings that must run first."""
        if not self.before:
            return inner
        return typed.Block(inner.span, inner.type, self.before, inner)


def no_call(span: Span) -> Checked:
    """What stands for a call that was reported as wrong."""
    return Checked(unknown(span), "", is_wrong=True)


def wrong_call(body: Body, node: ast.Call) -> Checked:
    """What stands for the call `node`, which was reported as wrong. Its arguments may have mistakes of their own."""
    for argument in node.arguments:
        body.expression(argument.value, UNKNOWN)
    return no_call(node.span)
