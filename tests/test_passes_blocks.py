"""The passes about what is never reached, needed or called, and the pipeline. Results are worked out by hand."""

from __future__ import annotations

import pytest
from ir_texts import PRELUDE, body_of, function_text, module_of, same_body
from kavachc.ir.errors import IrError
from kavachc.ir.module import Module
from kavachc.ir.parser import parse_module
from kavachc.ir.printer import print_module
from kavachc.ir.verifier import verify
from kavachc.passes import pipeline, remove_dead, remove_unused, simplify_blocks
from test_passes_copies import after, unchanged

# simplify_blocks


def test_empty_blocks_and_unreachable_ones_go() -> None:
    result = after(
        simplify_blocks.run,
        """
        entry:
          %1: bool = int.compare < %n, %n
          branch %1 a b
        a:
          jump c
        b:
          jump a
        lost:
          jump c
        c:
          return %n
        """,
        "f(%n: int) -> int",
    )
    assert same_body(result, "entry:\n%1: bool = int.compare < %n, %n\nreturn %n")


def test_a_branch_on_a_constant_is_a_jump() -> None:
    result = after(
        simplify_blocks.run,
        """
        entry:
          jump loop
        loop:
          %1: bool = const.bool true
          branch %1 body done
        body:
          %2: string = const.string "again"
          print %2
          jump loop
        done:
          return %n
        """,
        "f(%n: int) -> int",
    )
    assert same_body(
        result,
        """
        entry:
        jump loop
        loop:
        %1: bool = const.bool true
        %2: string = const.string "again"
        print %2
        jump loop
        """,
    )


def test_the_targets_of_a_switch_are_threaded() -> None:
    result = after(
        simplify_blocks.run,
        """
        entry:
          switch %n [0: a, 1: b] c
        a:
          jump d
        b:
          unreachable
        c:
          jump d
        d:
          return %n
        """,
        "f(%n: int) -> int",
    )
    assert same_body(result, "entry:\nswitch %n [0: d, 1: b] d\nb:\nunreachable\nd:\nreturn %n")


def test_a_ring_of_empty_blocks_stays_a_ring() -> None:
    result = after(simplify_blocks.run, "entry:\n jump a\na:\n jump b\nb:\n jump a")
    assert same_body(result, "entry:\njump b\nb:\njump b")


def test_blocks_that_do_something_stay() -> None:
    assert unchanged(
        simplify_blocks.run,
        """
        entry:
          %1: bool = int.compare < %n, %n
          branch %1 a b
        a:
          %2: int = int.neg %n @1:1
          jump b
        b:
          return %n
        """,
        "f(%n: int) -> int",
    )


# remove_dead


def test_what_nobody_needs_goes_with_what_only_that_needed() -> None:
    result = after(
        remove_dead.run,
        """
        local &unused: int
        local &x: string
        entry:
          %1: int = const.int 5
          %2: string = text.make %1
          %3: string = string.concat %2, %2
          release %2
          release %3
          local.set &x %text
          %4: string = local.get &x
          %5: string = local.take &x
          return %5
        """,
        "f(%text: string) -> string ! error waits owns",
    )
    assert same_body(
        result,
        """
        local &x: string
        entry:
        local.set &x %text
        %1: string = local.take &x
        return %1
        """,
    )


@pytest.mark.parametrize(
    "line",
    [
        "%9: int = int.add %n, %n @1:1",
        "%9: string = array.get %xs, %n @1:1",
        "%9: int = call pure plain %n",
        "%9: instant = now",
        "print %text",
    ],
)
def test_what_may_panic_or_does_something_stays(line: str) -> None:
    body = f"entry:\n {line}\n %10: nothing = const.nothing\n return %10"
    text = PRELUDE + function_text("entry:\n return %n", "pure(%n: int) -> int")
    text += function_text(body, "f(%n: int, %xs: [string], %text: string) -> nothing")
    module = parse_module(text)
    verify(module)
    assert not remove_dead.run(module)


def test_what_takes_over_something_counted_stays() -> None:
    assert unchanged(
        remove_dead.run,
        """
        entry:
          %1: string = text.make %n
          %2: [string] = array.make %1
          release %2
          %3: nothing = const.nothing
          return %3
        """,
        "f(%n: int) -> nothing",
    )


# remove_unused


def test_only_what_the_entry_reaches_stays() -> None:
    main = function_text(
        """
        entry:
          %1: int = const.int 1
          %2: string = const.string "a"
          %3: $Pair = record.make %1, %2
          %4: $Payments = capability.make bank %3
          release %4
          %5: task<string> = spawn job %2
          release %5
          %6: nothing = const.nothing
          return %6
        """,
        "main() -> nothing ! error waits",
    )
    module = parse_module("entry main\n" + PRELUDE + main)
    verify(module)
    assert remove_unused.run(module)
    verify(module)
    assert list(module.functions) == ["bank.refund", "bank.later", "job", "main"]
    assert list(module.records) == ["Pair"]
    assert list(module.sums) == ["Shape"]
    assert list(module.capabilities) == ["Payments"]
    assert list(module.vtables) == ["bank"]
    assert [agent.name for agent in module.agents] == ["Refunder"]
    assert not remove_unused.run(module)


def test_types_reached_through_types_and_attributes_stay() -> None:
    main = function_text(
        """
        local &points: [[$Point]]
        entry:
          %1: error = const.nothing
          unreachable
        """,
        "main() -> nothing ! error waits",
    ).replace(
        "%1: error = const.nothing",
        '%1: int = const.int -1\n%2: string = const.string ""\n%3: outcome<answer> = ask $List none "" "" "" %1, %2',
    )
    text = PRELUDE.replace("vtable bank Payments $Pair [bank.refund, bank.later]\n", "")
    module = parse_module("entry main\n" + text + main)
    verify(module)
    assert remove_unused.run(module)
    verify(module)
    assert list(module.functions) == ["main"]
    assert list(module.records) == ["Point"]
    # Shape is the error of a method of the agent's capability.
    assert list(module.sums) == ["Shape", "List"]


def test_without_an_entry_nothing_goes() -> None:
    module = parse_module(PRELUDE)
    assert not remove_unused.run(module)
    assert print_module(module) == PRELUDE.lstrip("\n")


# The pipeline

PROGRAM = PRELUDE + function_text(
    """
    local &x: string
    entry:
      %1: string = const.string "a"
      local.set &x %1
      jump next
    next:
      %2: string = local.get &x
      %3: string = copy %2
      %4: string = string.concat %3, %3
      print %4
      release %3
      release %4
      %5: string = local.take &x
      release %5
      %6: nothing = const.nothing
      return %6
    """,
    "main() -> nothing ! error waits",
)


def test_level_0_only_removes_what_is_unused() -> None:
    module = parse_module("entry main\n" + PROGRAM)
    before = body_of(module, "main")
    pipeline.optimise(module, 0, verify_each=True)
    assert list(module.functions) == ["main"]
    assert body_of(module, "main") == before


def test_higher_levels_run_every_pass() -> None:
    module = parse_module("entry main\n" + PROGRAM)
    pipeline.optimise(module, 1, verify_each=True)
    assert same_body(
        body_of(module, "main"),
        """
        local &x: string
        entry:
        %1: string = const.string "a"
        local.set &x %1
        %2: string = local.get &x
        %3: string = string.concat %2, %2
        print %3
        release %3
        %4: string = local.take &x
        release %4
        %5: nothing = const.nothing
        return %5
        """,
    )


def test_a_pass_that_breaks_the_ir_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_it(module: Module) -> bool:
        module.functions["main"].blocks[-1].instructions.pop()
        return True

    monkeypatch.setattr(pipeline, "REQUIRED", (("break_it", break_it),))
    module = parse_module("entry main\n" + PROGRAM)
    with pytest.raises(IrError, match="after break_it: function main, block next: it does not end with a terminator"):
        pipeline.optimise(module, 0, verify_each=True)


def test_a_program_that_is_wrong_before_is_refused_as_such() -> None:
    module = module_of("entry:\n jump entry")
    with pytest.raises(IrError, match=r"^function f"):
        pipeline.optimise(module, 0, verify_each=True)
