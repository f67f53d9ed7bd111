"""What generic types and functions are used with: that it fits, and comes to an end (spec 2.generic)."""

from __future__ import annotations

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import Body
from kavachc.semantics.conversions import find_inside, is_partly_unknown, why_not_askable, why_not_json
from kavachc.semantics.growth import Edge, edges, growing_edges, report_growth
from kavachc.semantics.inference import check_bounds
from kavachc.semantics.types import (
    TYPE_SIZE_MAX,
    RecordType,
    SumType,
    Type,
    declared,
    is_open,
    is_too_large,
    substitute,
)
from kavachc.semantics.wording import a
from kavachc.semantics.world import World
from kavachc.source import Span

INSTANCES_MAX = 10_000


def check_written_bounds(world: World, maker: Body) -> None:
    """Every application that was written has the bounds of its declaration."""
    for applied, span in world.applied:
        check_bounds(maker, span, applied.name, declared(applied).parameters, applied.arguments)


def check_instances(world: World) -> list[tuple[Type, Span]]:
    """The calls of generic functions come to an end, and what they ask for can be asked for. Gives what the program
    asks for and where, in the order of the places; for an ask in a generic function, each type once."""
    found: list[Edge] = []
    for function in (*(item for item, _ in world.bodies), *(entry.rule.function for entry in world.rules)):
        facts = world.facts.get(function)
        for call in facts.calls_of_generics if facts is not None else ():
            pairs = zip(call.callee.type_parameters, call.type_arguments, strict=True)
            found.extend(edges(function, call.callee, pairs, call.span))
    growing = growing_edges(found)
    for edge in growing:
        assert isinstance(edge.owner, typed.Function)
        report_growth(world, edge.owner.name.rpartition(".")[2], edge)
    if growing or _check_sizes(world):
        return []
    asked = _check_asks(world)
    order = {file: number for number, file in enumerate(world.views)}
    return sorted(asked, key=lambda item: (order[item[1].file], item[1].start))


def _check_sizes(world: World) -> bool:
    """Whether a generic type is applied to types that are too large, by way of whatever its values hold."""
    pending = [item for item in world.all_types if isinstance(item, RecordType | SumType)]
    for type_ in pending:
        # Asking for what an application holds makes the applications in it.
        for applied in [*type_.applications.values()]:
            find_inside(applied, lambda _: False)
    found = [type_ for type_ in pending if type_.is_too_large]
    for type_ in found[:1]:
        world.bag.report(codes.TYPE_TOO_LARGE, type_.span, name=type_.name, limit=TYPE_SIZE_MAX)
    return bool(found)


def _check_asks(world: World) -> dict[tuple[Type, Span], None]:
    """Goes through every instance that a call leads to; `root` is the place of the call that is not in a generic."""
    found = dict.fromkeys(item for facts in world.facts.values() for item in facts.asks if not is_open(item[0]))
    pending: list[tuple[typed.Function, tuple[Type, ...], Span]] = []
    for owner, facts in world.facts.items():
        if not isinstance(owner, typed.Function) or not owner.type_parameters:
            pending.extend((call.callee, call.type_arguments, call.span) for call in facts.calls_of_generics)
    seen: set[tuple[typed.Function, tuple[Type, ...]]] = set()
    while pending:
        function, arguments, root = pending.pop()
        if (function, arguments) in seen or any(map(is_partly_unknown, arguments)):
            continue
        seen.add((function, arguments))
        if len(seen) > INSTANCES_MAX:
            world.bag.report(codes.TOO_MANY_INSTANCES, root, limit=f"{INSTANCES_MAX:,}".replace(",", "_"))
            return found
        if any(map(is_too_large, arguments)):
            world.bag.report(codes.TYPE_TOO_LARGE, root, name=function.name.rpartition(".")[2], limit=TYPE_SIZE_MAX)
            return found
        bindings = dict(zip(function.type_parameters, arguments, strict=True))
        facts = world.facts[function]
        for asked, span in facts.asks:
            answer = substitute(asked, bindings)
            found[answer, span] = None
            reason = why_not_askable(answer) if is_open(asked) else None
            if reason is not None:
                labels = (Label(span, "asked for here"),)
                world.bag.report(codes.NOT_ASKABLE, root, type=answer, a_type=a(answer), reason=reason, labels=labels)
        for kept, span in facts.jsons:
            held = substitute(kept, bindings)
            reason = why_not_json(held) if is_open(kept) else None
            if reason is not None:
                labels = (Label(span, "written or read here"),)
                world.bag.report(codes.NOT_JSON, root, type=held, a_type=a(held), reason=reason, labels=labels)
        for call in facts.calls_of_generics:
            inner = tuple([substitute(item, bindings) for item in call.type_arguments])
            pending.append((call.callee, inner, root))
    return found
