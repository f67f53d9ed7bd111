"""Order and dominators, against their definitions, on any graph."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from kavachc.ir.graph import Graph
from kavachc.ir.module import Block, Cases, Function, Instruction, Value
from kavachc.ir.ops import OPS
from kavachc.ir.types import INT, NOTHING


def function_of(edges: list[list[int]]) -> Function:
    """Block `n` goes to the blocks `edges[n]`; to none: it returns."""
    blocks = [Block(f"b{number}") for number in range(len(edges))]
    for block, targets in zip(blocks, edges, strict=True):
        if targets:
            cases = Cases(tuple((number, blocks[target]) for number, target in enumerate(targets[1:])))
            end = Instruction(OPS["switch"], [Value(INT)], (cases, blocks[targets[0]]), None)
        else:
            end = Instruction(OPS["return"], [Value(NOTHING)], (), None)
        block.instructions.append(end)
    return Function("f", "f.kav", [], NOTHING, None, False, blocks=blocks)


def reachable(function: Function, without: Block | None = None) -> set[Block]:
    found: set[Block] = set()
    waiting = [function.blocks[0]]
    while waiting:
        block = waiting.pop()
        if block not in found and block is not without:
            found.add(block)
            waiting.extend(block.successors())
    return found


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    count = draw(st.integers(1, 8))
    targets = st.lists(st.integers(1, count - 1), max_size=3) if count > 1 else st.just([])
    return [draw(targets) for _ in range(count)]


@given(graphs())
def test_a_block_dominates_what_cannot_be_reached_without_it(edges: list[list[int]]) -> None:
    function = function_of(edges)
    graph = Graph(function)
    everything = reachable(function)
    assert set(graph.order) == everything
    for first in everything:
        rest = reachable(function, without=first)
        for second in everything:
            assert graph.dominates(first, second) == (second not in rest)


@given(graphs())
def test_a_block_that_is_no_target_of_a_way_back_follows_its_predecessors(edges: list[list[int]]) -> None:
    graph = Graph(function_of(edges))
    for block in graph.order:
        for successor in block.successors():
            assert graph.is_back_edge(block, successor) or graph.index[block] < graph.index[successor]


def test_two_ways_into_a_loop() -> None:
    graph = Graph(function_of([[1, 2], [2], [1, 3], []]))
    entry, one, two, end = (graph.order[graph.index[block]] for block in sorted(graph.order, key=lambda b: b.name))
    assert not graph.dominates(one, two)
    assert not graph.dominates(two, one)
    assert graph.dominates(two, end)
    assert graph.dominates(entry, end)
