"""That generic types and functions come to an end (spec 2.generic).

They do when no type parameter feeds a larger type back into itself. So there is a graph: an edge from parameter to
parameter wherever one stands in the argument for the other, *growing* where it is not that argument itself. A growing
edge on a cycle has no end, and without one there is always an end. A parameter is that of one type or function: the
methods of a type, which share its parameters, are a node each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kavachc.diagnostics import codes
from kavachc.semantics.graph import components
from kavachc.semantics.types import (
    UNKNOWN,
    FieldInfo,
    RecordType,
    SumType,
    Type,
    TypeVariable,
    bindings_of,
    declared,
    parts,
    variables,
)
from kavachc.semantics.world import World
from kavachc.source import Span

Node = tuple[object, TypeVariable]


@dataclass(frozen=True, slots=True)
class Edge:
    """The parameter `start` of `owner` stands in `argument`, which `owner` gives for the parameter `end` at `span`."""

    owner: object
    start: Node
    end: Node
    argument: Type
    span: Span


def check_growth_of_types(world: World) -> None:
    """Reports generic types that hold ever larger applications of themselves, and takes the fields that do so out of
    play, so that everything else may follow fields to their end."""
    found: list[Edge] = []
    for type_ in world.all_types:
        if isinstance(type_, RecordType | SumType) and type_.parameters:
            for field in _fields(type_):
                for applied in _applications(field.type):
                    found.extend(edges(type_, declared(applied), bindings_of(applied).items(), field.span))
    growing = growing_edges(found)
    for edge in growing:
        report_growth(world, str(edge.owner), edge)
    for owner in dict.fromkeys(edge.owner for edge in growing):
        spans = {edge.span for edge in growing}
        if isinstance(owner, RecordType):
            owner.fields = [_unless_at(item, spans) for item in owner.fields]
        elif isinstance(owner, SumType):
            owner.variants = [
                replace(item, fields=tuple(_unless_at(part, spans) for part in item.fields)) for item in owner.variants
            ]


def edges(owner: object, target: object, pairs: Iterable[tuple[TypeVariable, Type]], span: Span) -> Iterable[Edge]:
    """For what `owner` gives for the parameters of `target`."""
    for parameter, argument in pairs:
        for variable in variables(argument):
            yield Edge(owner, (owner, variable), (target, parameter), argument, span)


def growing_edges(edges: Sequence[Edge]) -> list[Edge]:
    """Of each place the first edge that grows and lies on a cycle."""
    successors: dict[Node, list[Node]] = {}
    for edge in edges:
        successors.setdefault(edge.start, []).append(edge.end)
    component: dict[Node, int] = {}
    for number, (members, has_cycle) in enumerate(components(list(successors), lambda item: successors.get(item, []))):
        component.update(dict.fromkeys(members, number if has_cycle else -1 - number))
    found: dict[object, Edge] = {}
    for edge in edges:
        on_cycle = component[edge.start] == component[edge.end] >= 0
        if on_cycle and edge.argument is not edge.start[1]:
            found.setdefault((edge.owner, edge.span), edge)
    return list(found.values())


def report_growth(world: World, name: str, edge: Edge) -> None:
    world.bag.report(codes.GROWS_WITHOUT_END, edge.span, name=name, parameter=edge.end[1].name, larger=edge.argument)


def _fields(type_: RecordType | SumType) -> list[FieldInfo]:
    if isinstance(type_, RecordType):
        return type_.fields
    return [item for variant in type_.variants for item in variant.fields]


def _unless_at(field: FieldInfo, spans: set[Span]) -> FieldInfo:
    return replace(field, type=UNKNOWN) if field.span in spans else field


def _applications(type_: Type) -> Iterable[RecordType | SumType]:
    """All that stand in a type as it is written."""
    pending = [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, RecordType | SumType) and current.arguments:
            yield current
        pending.extend(parts(current))
