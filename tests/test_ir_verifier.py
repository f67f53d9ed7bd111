"""The verifier: what it accepts, and one broken program for each rule."""

from __future__ import annotations

import re

import pytest
from ir_programs import RIGHT, WRONG
from ir_texts import PRELUDE, function_text, module_of
from kavachc.ir.errors import IrError
from kavachc.ir.facts import is_counted
from kavachc.ir.graph import Graph
from kavachc.ir.module import Block, Module
from kavachc.ir.ops import OPS
from kavachc.ir.parser import parse_module
from kavachc.ir.typing_rules import RULES
from kavachc.ir.verifier import verify


def refused(module: Module) -> str:
    with pytest.raises(IrError) as caught:
        verify(module)
    return str(caught.value)


def test_the_prelude_is_right() -> None:
    verify(parse_module(PRELUDE))


def test_every_op_has_a_typing_rule() -> None:
    assert RULES.keys() == OPS.keys()


def test_the_message_names_function_block_and_instruction() -> None:
    module = module_of(
        """
        entry:
          jump next
        next:
          %1: int = const.int 1
          %2: int = bool.not %1 @3:4
          unreachable
        """
    )
    expected = "function f, block next, `%2: int = bool.not %1 @3:4`: int stands where bool is wanted"
    assert refused(module) == expected


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    verify(module_of(RIGHT[name]))


def test_an_outcome_on_its_three_ways() -> None:
    verify(
        module_of(
            """
            entry:
              %1: int = const.int 1
              %2: outcome<int, error> = call wait plain %1
              %3: int = outcome.status %2
              switch %3 [0: ok, 1: failed] cancelled
            ok:
              %4: int = outcome.value %2
              %5: nothing = const.nothing
              return %5
            failed:
              %6: error = outcome.error %2
              fail %6
            cancelled:
              outcome.none %2
              return.cancelled
            """,
            "f() -> nothing ! error waits",
        )
    )


GROW = """
function grow(%xs: address<[string]>, %ys: [string]) -> nothing "g.kav" {
entry:
  %1: [string] = load %xs
  %2: [string] = copy %1
  store %xs, %2
  %3: nothing = const.nothing
  return %3
}
"""


def test_a_place_of_the_callers_is_changed() -> None:
    verify(parse_module(GROW))
    changed = GROW.replace("  store %xs, %2\n", "  store %xs, %2\n  %4: [string] = copy %1\n  release %4\n")
    assert "%1 is used after &xs, where it comes from, was changed" in refused(parse_module(changed))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("%3, %5", None),
        ("%3, %4", "is borrowed from a place that the call changes"),
    ],
)
def test_a_call_changes_places_that_it_borrows_nothing_of(arguments: str, reason: str | None) -> None:
    body = f"""
        local &a: [string]
        entry:
          %1: [string] = array.make
          local.set &a %1
          %4: [string] = local.get &a
          %5: [string] = copy %4
          %3: address<[string]> = local.address &a
          %6: nothing = call grow plain {arguments}
          release %5
          %7: [string] = local.take &a
          release %7
          return %6
        """
    module = parse_module(GROW + function_text(body))
    if reason is None:
        verify(module)
    else:
        assert reason in refused(module)


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str) -> None:
    head, body, message = WRONG[name]
    found = refused(module_of(body, head))
    assert found.startswith("function f")
    assert found.endswith(message), found


TABLES: dict[str, tuple[str, str]] = {
    "two types of one name": ("sum Pair {\n}", "two types are called Pair"),
    "a field of an unknown type": ("record R {\n  x: $What\n}", "record R: there is no type $What"),
    "a field that cannot be kept": ("record R {\n  x: outcome<int>\n}", "record R: outcome<int> cannot be kept"),
    "a vtable with too few functions": (
        "vtable v Payments $Pair [bank.refund]",
        "vtable v: Payments has 2 methods",
    ),
    "a vtable with a function that does not fit": (
        "vtable v Payments $Pair [bank.refund, bank.refund]",
        "vtable v: bank.refund does not fit Payments.later",
    ),
    "a rule without a function": (
        'record Ruled { n: int where "n > 0" a.check }',
        "Ruled, n: there is no function a.check",
    ),
    "a rule with a function that does not fit": (
        'record Ruled { n: int where "n > 0" bank.refund }',
        "Ruled, n: bank.refund does not look at a field of type int",
    ),
    "a vtable of nothing": ("vtable v Nothing $Pair []", "vtable v: there is no capability Nothing"),
    "a vtable of unknown functions": (
        "vtable v Payments $Pair [a, b]",
        "vtable v: there is no function a",
    ),
    "no entry": ("entry main", "there is no function main to enter"),
    "an entry with parameters": ("entry half", "the entry half must be () -> nothing ! error waits"),
    "an agent of unknown capabilities": (
        'agent A {\n model "m" 1 P at "" budget 0 within 1\n settings A M\n capabilities [What]\n}',
        "agent A: there is no capability What",
    ),
    "a rule of an unknown kind": (
        'agent A {\n model "m" 1 P at "" budget 0 within 1\n settings A M\n capabilities []\n'
        ' limit Ai {\n most "x" < 1 per 1\n }\n}',
        "agent A, limit Ai: there is no kind of rule most",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_wrong_tables(name: str) -> None:
    text, message = TABLES[name]
    assert refused(parse_module(PRELUDE + text)) == message


def test_a_value_made_twice_is_refused() -> None:
    module = module_of("entry:\n %1: int = const.int 1\n %2: int = const.int 2\n unreachable")
    first, second, _ = module.functions["f"].blocks[0].instructions
    second.result = first.result
    assert "its result is made twice" in refused(module)


def test_a_value_that_nothing_makes_is_refused() -> None:
    module = module_of('entry:\n %1: string = const.string "a"\n print %1\n unreachable')
    del module.functions["f"].blocks[0].instructions[0]
    assert re.search(r"`print %\?`: nothing makes one of its operands", refused(module))


def test_a_block_of_another_function_is_refused() -> None:
    module = module_of("entry:\n jump next\nnext:\n unreachable")
    module.functions["f"].blocks.pop()
    assert refused(module).endswith("there is no block next in the function")


def test_a_local_of_another_function_is_refused() -> None:
    module = module_of("local &x: int\nentry:\n %1: int = const.int 1\n local.set &x %1\n unreachable")
    module.functions["f"].locals.clear()
    assert refused(module).endswith("there is no local &x in the function")


def test_a_deep_and_long_function_is_checked_in_time() -> None:
    blocks = 20_000
    lines = ["entry:", " %1: bool = const.bool true", " jump b0"]
    for number in range(blocks):
        lines += [f"b{number}:", f" branch %1 b{number + 1} end"]
    lines += [f"b{blocks}:", " jump end", "end:", " %2: nothing = const.nothing", " return %2"]
    verify(parse_module(function_text("\n".join(lines))))


def _faults(module: Module) -> list[tuple[Block, int]]:
    """Where something counted is given up or put away: leaving that out, or doing it twice, must be noticed."""
    constants = {
        item.result
        for block in module.functions["f"].blocks
        for item in block.instructions
        if item.op.name == "const.string"
    }
    return [
        (block, index)
        for block in module.functions["f"].blocks
        for index, item in enumerate(block.instructions)
        if item.op.name in ("release", "local.set", "array.push", "store")
        and is_counted(item.operands[-1].type, module)
        and item.operands[-1] not in constants
    ]


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("doubled", [False, True])
def test_every_planted_fault_is_found(name: str, doubled: bool) -> None:
    if not _faults(module_of(RIGHT[name])):
        pytest.skip("nothing to plant a fault in")
    for number in range(len(_faults(module_of(RIGHT[name])))):
        module = module_of(RIGHT[name])
        block, index = _faults(module)[number]
        if doubled:
            block.instructions.insert(index, block.instructions[index])
        else:
            del block.instructions[index]
        if doubled or block not in Graph(module.functions["f"]).dead_ends():
            refused(module)
