"""What a function type says with `uses`, and what that asks of the values that are given to it (spec 5.type).

fn each(xs: [Int], log: fn(Int) uses Console)

each(xs, fn(x) => print(x))        the closure, which uses no more, is of that type; it adds nothing to its maker
log(1)                             uses Console
const plain: fn(Int) = log         uses Console, since calls of `plain` add nothing
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kavachc.diagnostics import codes
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.capability_names import beyond
from kavachc.semantics.types import UNKNOWN_USES, FunctionType
from kavachc.semantics.wording import quoted
from kavachc.semantics.world import Given, Use
from kavachc.source import Span

if TYPE_CHECKING:
    from kavachc.semantics.body import Body


def take_promise(body: Body, function: typed.Function, type_: FunctionType, span: Span) -> None:
    """The function becomes a value of the type, at `span`. What it uses is its callers' where the type says so."""
    body.world.note_value(body.facts, function, span, is_promised=bool(type_.uses))
    if type_.uses and type_.uses != UNKNOWN_USES:
        body.world.given.append(Given(function, type_, span))


def as_promised(body: Body, value: typed.Expr, wanted: FunctionType) -> typed.Expr:
    """`value`, a function of another type only in what it says with `uses`, as what `wanted` says."""
    found = value.type
    assert isinstance(found, FunctionType)
    if UNKNOWN_USES in (found.uses, wanted.uses):
        return replace(value, type=wanted)
    if not wanted.uses:
        body.facts.uses.extend(Use(effect, value.span) for effect in found.uses)
    elif found.uses:
        more = beyond(found.uses, wanted.uses)
        if more:
            help_text = f"a function that may use {quoted(list(map(str, more)))} does more than is wanted here"
            return body.report(codes.TYPE_MISMATCH, value.span, wanted=wanted, found=found, help=help_text)
    else:
        function = _function_of(body, value)
        if function is None:
            uses = ", ".join(map(str, wanted.uses))
            help_text = f"its type does not say what it uses: write `{replace(found, uses=wanted.uses)}` there"
            return body.report(codes.USES_NOT_SAID, value.span, uses=uses, type=found, help=help_text)
        body.world.given.append(Given(function, wanted, value.span))
    return replace(value, type=replace(found, uses=wanted.uses))


def _function_of(body: Body, value: typed.Expr) -> typed.Function | None:
    """The function that `value` is, where that is plain to see: it is made here, or is a `const` name that was."""
    if isinstance(value, typed.Closure | typed.FunctionValue):
        return value.function
    return body.world.functions_in.get(value.local) if isinstance(value, typed.LocalGet) else None


def note_held(body: Body, local: typed.Local, value: typed.Expr) -> None:
    """A name that does not change holds the value."""
    if isinstance(value.type, FunctionType) and not value.type.uses:
        function = _function_of(body, value)
        if function is not None:
            body.world.functions_in[local] = function
