"""How much an expression says of its own type, so that what says most is checked first (spec 3.branches)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

from kavachc.semantics.body import Body
from kavachc.semantics.types import NEVER, NOTHING, UNKNOWN, OptionalType, SumType, Type
from kavachc.syntax import ast

# `x` says its type, `1` is an Int unless a Float is wanted, `[]` says nothing without a wanted type.
SETTLED, NUMBER, OPEN = range(3)
LEAVING = (ast.Fail, ast.Return, ast.Break, ast.Continue)


def bare_number(node: ast.Expression) -> tuple[int, bool] | None:
    """(value without sign, is negative) of an Int literal, perhaps negated (more than once); None for others."""
    negative = False
    while isinstance(node, ast.Unary) and node.operator == "-":
        negative = not negative
        node = node.operand
    return (node.value, negative) if isinstance(node, ast.IntLiteral) else None


def by_rank(body: Body, nodes: Sequence[ast.Expression]) -> list[int]:
    """The positions of `nodes`: first of those that say their type; else in the order of the source."""
    return sorted(range(len(nodes)), key=lambda index: rank(body, nodes[index]))


def rank(body: Body, node: ast.Expression) -> int:
    """That of the branch of `node` that says most; one that leaves says nothing."""
    return _least(_rank_of_value(body, item) for item in _results(node, also_unreached=False))


def needs_wanted(body: Body, node: ast.Expression) -> bool:
    """Whether some branch of `node`, also one that leaves before its end, says nothing of its type."""
    return any(_rank_of_value(body, item) == OPEN for item in _results(node, also_unreached=True))


def with_absence(type_: Type, others: Iterable[ast.Expression]) -> Type:
    """The type of branches of which one gives a `type_`: its optional where one of the `others` is `none`."""
    if type_ in (NEVER, NOTHING, UNKNOWN) or isinstance(type_, OptionalType):
        return type_
    results = (item for node in others for item in _results(node, also_unreached=False, also_replaced=False))
    return OptionalType(type_) if any(isinstance(item, ast.NoneLiteral) for item in results) else type_


def _least(ranks: Iterable[int]) -> int:
    least = OPEN
    for found in ranks:
        least = min(least, found)
        if least == SETTLED:
            break
    return least


def _results(node: ast.Expression, also_unreached: bool, also_replaced: bool = True) -> Iterator[ast.Expression]:
    """What the branches of `node` end with. `also_replaced`: the left side of `??`, too, whose `none` nobody gets."""
    pending: list[ast.Expression | None] = [node]
    while pending:
        current = pending.pop()
        match current:
            case ast.Block():
                last = current.statements[-1] if current.statements else None
                if isinstance(last, ast.ExpressionStatement) and (
                    also_unreached or not any(map(_leaves, current.statements[:-1]))
                ):
                    pending.append(last.expression)
            case ast.If() | ast.IfConst():
                pending += [current.then, current.otherwise]
            case ast.Match():
                pending += [arm.body for arm in current.arms]
            case ast.Coalesce():
                pending += [current.value, current.otherwise] if also_replaced else [current.otherwise]
            case None:
                pass
            case _ if not isinstance(current, LEAVING):
                yield current


def _leaves(node: object) -> bool:
    """Whether `return` or its like stands in `node` where it always runs."""
    pending = [node]
    while pending:
        current = pending.pop()
        match current:
            case ast.Fail() | ast.Return() | ast.Break() | ast.Continue():
                return True
            case ast.Closure() | ast.For() | ast.While() | ast.Assert():
                pass
            case ast.If() | ast.IfConst() | ast.Match():
                pending.append(current.subject if isinstance(current, ast.Match) else _condition(current))
            case ast.Coalesce():
                pending.append(current.value)
            case ast.Catch():
                pending.append(current.operand)
            case ast.Binary() if current.operator in ("&&", "||"):
                pending.append(current.left)
            case tuple():
                pending.extend(current)
            case ast.Node():
                pending.extend(getattr(current, item.name) for item in fields(current) if item.name != "span")
    return False


def _condition(node: ast.If | ast.IfConst) -> ast.Expression:
    return node.condition if isinstance(node, ast.If) else node.value


def _rank_of_value(body: Body, node: ast.Expression) -> int:
    if bare_number(node) is not None:
        return NUMBER
    if isinstance(node, ast.ArrayLiteral):
        return _least(rank(body, item) for item in node.elements)
    if isinstance(node, ast.MapLiteral):
        parts_ = [part for entry in node.entries for part in (entry.key, entry.value)]
        return max((rank(body, part) for part in parts_), default=OPEN)
    if isinstance(node, ast.TupleLiteral):
        return max(rank(body, item) for item in node.elements)
    if isinstance(node, ast.NoneLiteral):
        return OPEN
    if isinstance(node, ast.Closure):
        return SETTLED if all(item.type is not None for item in node.parameters) else OPEN
    if isinstance(node, ast.Name):
        named = body.world.functions.get(node.text)
        is_generic = named is not None and named.type_parameters and node.text not in body.scope.names()
        return OPEN if is_generic else SETTLED
    if isinstance(node, ast.FieldAccess) and isinstance(node.target, ast.Name) and not node.type_arguments:
        found = body.world.types.get(node.target.text)
        return OPEN if isinstance(found, SumType) and found.parameters else SETTLED
    if isinstance(node, ast.Call) and isinstance(node.callee, ast.Name) and not node.arguments:
        function = body.world.functions.get(node.callee.text)
        generic = function is not None and function.type_parameters and not node.type_arguments
        return OPEN if generic else SETTLED
    return SETTLED
