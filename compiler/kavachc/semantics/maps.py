"""Map literals and what stands behind a key (spec 2.map)."""

from __future__ import annotations

from kavachc.diagnostics import codes
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import Body
from kavachc.semantics.builtins import BUILTINS
from kavachc.semantics.conversions import bound_help, why_not_key
from kavachc.semantics.literals import check_alike, present
from kavachc.semantics.types import ArrayType, MapType, TupleType, Type
from kavachc.semantics.world import World
from kavachc.source import Span
from kavachc.syntax import ast


def check_map(body: Body, node: ast.MapLiteral, wanted: Type | None) -> typed.Expr:
    """`["a": 1]`: keys have one type, and values have one, found as an array's is."""
    wanted = present(wanted)
    known = wanted if isinstance(wanted, MapType) else None
    if known is None and not node.entries:
        return body.report(codes.EMPTY_MAP, node.span)
    keys, key = check_alike(body, [entry.key for entry in node.entries], None if known is None else known.key)
    values, value = check_alike(body, [entry.value for entry in node.entries], None if known is None else known.value)
    if key is None or value is None:
        return body.report(codes.NO_VALUE, node.span)
    if known is None:
        check_key(body.world, node.entries[0].key.span, key)
    parts = tuple([part for pair in zip(keys, values, strict=True) for part in pair])
    return typed.MapMake(node.span, MapType(key, value), parts)


def check_key(world: World, span: Span, key: Type) -> None:
    """Keys are of types whose values are equal to themselves and cannot be large by surprise."""
    reason = why_not_key(key)
    if reason is not None:
        help_text = bound_help(key, "Key") or codes.NOT_A_KEY.help
        world.bag.report(codes.NOT_A_KEY, span, type=key, reason=reason, help=help_text)


def check_key_access(body: Body, node: ast.IndexAccess, target: typed.Expr, map_type: MapType) -> typed.Expr:
    """`map[key]`."""
    key = body.value(node.index, map_type.key)
    return typed.MapGet(node.span, map_type.value, target, key)


def entries_of(map_: typed.Expr, type_: MapType) -> typed.Expr:
    """What `for (k, v) in map` goes over: the pairs, as they are when the loop begins."""
    row = next(row for row in BUILTINS if row.key == "map.entries")
    return typed.CallBuiltin(map_.span, ArrayType(TupleType((type_.key, type_.value))), row, (map_,))
