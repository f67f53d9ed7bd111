"""The passes about ownership: copies, releases, moves and string constants. Results are worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from ir_texts import body_of, module_of, same_body
from kavachc.ir.module import Module
from kavachc.ir.verifier import verify
from kavachc.passes import elide_copies, last_use_moves, static_strings


def after(run: Callable[[Module], bool], body: str, head: str = "f() -> nothing") -> str:
    """The body after the pass; the module is right before and after, and the pass says whether it did anything."""
    module = module_of(body, head)
    verify(module)
    before = body_of(module)
    changed = run(module)
    verify(module)
    assert changed == (body_of(module) != before)
    return body_of(module)


def unchanged(run: Callable[[Module], bool], body: str, head: str = "f() -> nothing") -> bool:
    return same_body(after(run, body, head), body_of(module_of(body, head)))


# elide_copies


def test_a_borrowed_copy_of_a_parameter_goes() -> None:
    result = after(
        elide_copies.run,
        """
        entry:
          %1: string = copy %text
          %2: string = string.concat %1, %1
          release %1
          return %2
        """,
        "f(%text: string) -> string",
    )
    assert same_body(result, "entry:\n%1: string = string.concat %text, %text\nreturn %1")


def test_a_borrowed_copy_goes_with_its_releases_on_every_way() -> None:
    result = after(
        elide_copies.run,
        """
        local &x: string
        entry:
          %1: int = const.int 1
          %2: string = text.make %1
          local.set &x %2
          %3: string = local.get &x
          %4: string = copy %3
          %5: bool = equal %1, %1
          branch %5 a b
        a:
          print %4
          release %4
          jump c
        b:
          release %4
          jump c
        c:
          %6: string = local.take &x
          release %6
          %7: nothing = const.nothing
          return %7
        """,
    )
    assert same_body(
        result,
        """
        local &x: string
        entry:
        %1: int = const.int 1
        %2: string = text.make %1
        local.set &x %2
        %3: string = local.get &x
        %4: bool = equal %1, %1
        branch %4 a b
        a:
        print %3
        jump c
        b:
        jump c
        c:
        %5: string = local.take &x
        release %5
        %6: nothing = const.nothing
        return %6
        """,
    )


def test_what_is_borrowed_from_the_copy_comes_from_the_source() -> None:
    result = after(
        elide_copies.run,
        """
        entry:
          %1: $Pair = copy %p
          %2: string = record.get 1 %1
          print %2
          release %1
          %3: nothing = const.nothing
          return %3
        """,
        "f(%p: $Pair) -> nothing",
    )
    assert same_body(result, "entry:\n%1: string = record.get 1 %p\nprint %1\n%2: nothing = const.nothing\nreturn %2")


def test_a_number_in_the_copy_stands_on_its_own() -> None:
    result = after(
        elide_copies.run,
        """
        entry:
          %1: $Pair = copy %p
          %2: int = record.get 0 %1
          release %1
          return %2
        """,
        "f(%p: $Pair) -> int",
    )
    assert same_body(result, "entry:\n%1: int = record.get 0 %p\nreturn %1")


def test_a_copy_of_a_copy() -> None:
    result = after(
        elide_copies.run,
        """
        entry:
          %1: string = copy %text
          %2: string = copy %1
          print %2
          release %2
          release %1
          %3: nothing = const.nothing
          return %3
        """,
        "f(%text: string) -> nothing",
    )
    assert same_body(result, "entry:\nprint %text\n%1: nothing = const.nothing\nreturn %1")


START = """
        local &x: [string]
        entry:
          %1: [string] = array.make
          local.set &x %1
          %2: [string] = local.get &x
          %3: [string] = copy %2
"""
END = """
          %97: [string] = local.take &x
          release %97
          %98: nothing = const.nothing
          return %98
"""
KEPT = {
    "the local is written": """
          %4: address<[string]> = local.address &x
          %5: string = const.string "a"
          array.push %4, %5
          %6: int = array.length %3
          release %3
    """,
    "the local is taken and filled again": """
          %4: [string] = local.take &x
          release %4
          %5: [string] = array.make
          local.set &x %5
          %6: int = array.length %3
          release %3
    """,
    "what is borrowed from the copy is used after the write": """
          %4: int = const.int 0
          %5: string = array.get %3, %4
          %6: address<[string]> = local.address &x
          %7: address<string> = element.address %6, %4
          print %5
          release %3
    """,
    "a loop comes back after the write": """
          jump loop
        loop:
          %4: int = array.length %3
          %5: address<[string]> = local.address &x
          %6: string = const.string "a"
          array.push %5, %6
          %7: bool = int.compare == %4, %4
          branch %7 loop done
        done:
          release %3
    """,
    "the write is on one of two ways": """
          %4: bool = const.bool true
          branch %4 a b
        a:
          %5: address<[string]> = local.address &x
          %6: string = const.string "a"
          array.push %5, %6
          jump b
        b:
          %7: int = array.length %3
          release %3
    """,
    "the copy is kept in another value": """
          %4: [[string]] = array.make %3
          release %4
    """,
}


@pytest.mark.parametrize("why", KEPT)
def test_a_copy_stays_when(why: str) -> None:
    assert unchanged(elide_copies.run, START + KEPT[why] + END)


def test_a_write_after_the_last_use_does_not_matter() -> None:
    body = (
        START
        + """
          %4: int = array.length %3
          release %3
          %5: address<[string]> = local.address &x
          %6: string = const.string "a"
          array.push %5, %6
        """
        + END
    )
    result = after(elide_copies.run, body)
    assert "copy" not in result
    assert result.count("release") == 1


def test_an_owned_value_given_up_after_its_copy_is_moved() -> None:
    result = after(
        elide_copies.run,
        """
        local &x: string
        entry:
          %1: int = const.int 1
          %2: string = text.make %1
          %3: string = copy %2
          print %2
          release %2
          local.set &x %3
          %4: string = local.take &x
          return %4
        """,
        "f() -> string",
    )
    assert same_body(
        result,
        """
        local &x: string
        entry:
        %1: int = const.int 1
        %2: string = text.make %1
        print %2
        local.set &x %2
        %3: string = local.take &x
        return %3
        """,
    )


def test_an_owned_value_used_after_its_copy_was_consumed_is_not_moved() -> None:
    assert unchanged(
        elide_copies.run,
        """
        local &x: string
        entry:
          %1: int = const.int 1
          %2: string = text.make %1
          %3: string = copy %2
          local.set &x %3
          print %2
          release %2
          %4: string = local.take &x
          return %4
        """,
        "f() -> string",
    )


# last_use_moves


def test_the_last_copy_of_a_local_takes_it() -> None:
    result = after(
        last_use_moves.run,
        """
        local &x: [string]
        local &y: [string]
        entry:
          %1: [string] = array.make
          local.set &x %1
          %2: [string] = local.get &x
          %3: [string] = copy %2
          local.set &y %3
          %4: [string] = local.take &x
          release %4
          %5: [string] = local.take &y
          return %5
        """,
        "f() -> [string]",
    )
    assert same_body(
        result,
        """
        local &x: [string]
        local &y: [string]
        entry:
        %1: [string] = array.make
        local.set &x %1
        %2: [string] = local.take &x
        local.set &y %2
        %3: [string] = local.take &y
        return %3
        """,
    )


def test_a_get_that_is_used_before_stays() -> None:
    result = after(
        last_use_moves.run,
        """
        local &x: [string]
        entry:
          %1: [string] = array.make
          local.set &x %1
          %2: [string] = local.get &x
          %3: int = array.length %2
          %4: [string] = copy %2
          %5: [string] = local.take &x
          release %5
          return %4
        """,
        "f() -> [string]",
    )
    assert same_body(
        result,
        """
        local &x: [string]
        entry:
        %1: [string] = array.make
        local.set &x %1
        %2: [string] = local.get &x
        %3: int = array.length %2
        %4: [string] = local.take &x
        return %4
        """,
    )


@pytest.mark.parametrize(
    "between",
    [
        "%5: int = array.length %2",
        "%5: [string] = local.get &x",
        "%5: address<[string]> = local.address &x",
    ],
)
def test_a_copy_of_a_local_used_again_stays(between: str) -> None:
    assert unchanged(
        last_use_moves.run,
        f"""
        local &x: [string]
        entry:
          %1: [string] = array.make
          local.set &x %1
          %2: [string] = local.get &x
          %3: [string] = copy %2
          {between}
          %6: [string] = local.take &x
          release %6
          return %3
        """,
        "f() -> [string]",
    )


def test_of_two_copies_the_last_takes_the_local() -> None:
    result = after(
        last_use_moves.run,
        """
        local &x: [string]
        entry:
          %1: [string] = array.make
          local.set &x %1
          %2: [string] = local.get &x
          %3: [string] = copy %2
          %4: [string] = local.get &x
          %5: [string] = copy %4
          %6: [string] = local.take &x
          release %6
          %7: [[string]] = array.make %3, %5
          return %7
        """,
        "f() -> [[string]]",
    )
    assert same_body(
        result,
        """
        local &x: [string]
        entry:
        %1: [string] = array.make
        local.set &x %1
        %2: [string] = local.get &x
        %3: [string] = copy %2
        %4: [string] = local.take &x
        %5: [[string]] = array.make %3, %4
        return %5
        """,
    )


# static_strings


def test_string_constants_are_not_counted() -> None:
    result = after(
        static_strings.run,
        """
        entry:
          %1: string = const.string "a"
          %2: string = copy %1
          %3: string = copy %2
          print %2
          release %2
          release %1
          return %3
        """,
        "f() -> string",
    )
    assert same_body(result, 'entry:\n%1: string = const.string "a"\nprint %1\nreturn %1')
