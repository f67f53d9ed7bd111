"""Strongly connected components, without recursion, so that a long chain of calls costs no stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

NodeT = TypeVar("NodeT")


def components(
    roots: Iterable[NodeT], successors: Callable[[NodeT], Iterable[NodeT]]
) -> Iterator[tuple[list[NodeT], bool]]:
    """(members, whether they lie on a cycle) of every component reachable from `roots`, callees first (Tarjan)."""
    order: dict[NodeT, int] = {}
    lowest: dict[NodeT, int] = {}
    stack: list[NodeT] = []
    on_stack: set[NodeT] = set()
    for root in roots:
        if root in order:
            continue
        pending: list[tuple[NodeT, Iterator[NodeT]]] = []
        _open(root, pending, successors, order, lowest, stack, on_stack)
        while pending:
            node, remaining = pending[-1]
            for successor in remaining:
                if successor not in order:
                    _open(successor, pending, successors, order, lowest, stack, on_stack)
                    break
                if successor in on_stack:
                    lowest[node] = min(lowest[node], order[successor])
            else:
                pending.pop()
                if pending:
                    caller = pending[-1][0]
                    lowest[caller] = min(lowest[caller], lowest[node])
                if lowest[node] == order[node]:
                    members = [stack.pop()]
                    while members[-1] != node:
                        members.append(stack.pop())
                    members.reverse()
                    on_stack.difference_update(members)
                    yield members, len(members) > 1 or node in set(successors(node))


def _open(
    node: NodeT,
    pending: list[tuple[NodeT, Iterator[NodeT]]],
    successors: Callable[[NodeT], Iterable[NodeT]],
    order: dict[NodeT, int],
    lowest: dict[NodeT, int],
    stack: list[NodeT],
    on_stack: set[NodeT],
) -> None:
    order[node] = lowest[node] = len(order)
    stack.append(node)
    on_stack.add(node)
    pending.append((node, iter(successors(node))))
