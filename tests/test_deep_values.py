"""Values nested a million deep, on the native engines: made, compared, shown and freed without native recursion."""

from __future__ import annotations

from pathlib import Path

import pytest
from kavachc.driver import Compilation
from kavachc.engines import ENGINES, Engine, run_engine, skip_reason
from kavachc.options import RunOptions

PROGRAM = """
type List { value: Int, next: List? }
type Tree = Leaf | Node(left: Tree, value: Int, right: Tree)
type Even = Zero | After(odd: Odd)
type Odd { even: Even, name: String }

fn main() {
    let list: List? = none
    let tree = Tree.Leaf
    let even = Even.Zero
    for i in 0..1_000_000 {
        list = List(i, list)
        tree = if i % 2 == 0 { Tree.Node(tree, i, Tree.Leaf) } else { Tree.Node(Tree.Leaf, i, tree) }
        even = Even.After(Odd(even, "n{i}"))
    }
    const same = tree
    print(tree == same && list == list && even == even)
    print("{list}" == "{list}")
    tree = Tree.Leaf
    print(tree == same)
}
"""
NATIVE = [engine for engine in ENGINES if not engine.name.startswith("interp")]


@pytest.mark.parametrize("engine", NATIVE, ids=[engine.name for engine in NATIVE])
def test_a_million_deep(engine: Engine, tmp_path: Path) -> None:
    if (reason := skip_reason(engine)) is not None:
        pytest.skip(reason)
    source = tmp_path / "deep.kav"
    source.write_text(PROGRAM)
    result = run_engine(engine, Compilation(str(source)), RunOptions())
    assert (result.stdout, result.stderr, result.status) == ("true\ntrue\nfalse\n", "", 0)
    assert result.live_blocks == 0
