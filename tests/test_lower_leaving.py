"""Ways out of a function that owns much share what they release (lower/leaving.py)."""

from __future__ import annotations

import pytest
from kavachc.ir.module import Function
from kavachc.lower import leaving
from lowering import body_of, module_of

RISKY = """
    type E = Bad
    fn risky(n: Int) -> String ! E { if n == 0 { fail E.Bad }
        "{n}" }
    """
FOUR = "".join(f'const {name} = "{{n}}"\n' for name in "abcd")


def many_tries(count: int) -> str:
    lines = "".join(f"const a{number} = try risky(n + {number})\n" for number in range(count))
    return f"{RISKY} fn much(n: Int) -> Int ! E {{ {lines} n }}"


def size(function: Function) -> int:
    return sum(len(each.instructions) for each in function.blocks)


def test_size_grows_with_the_source() -> None:
    small, large = (size(module_of(many_tries(count)).functions["much"]) for count in (100, 200))
    assert large <= 2 * small
    assert large < 200 * 20


def test_two_failures_with_the_same_things_to_release() -> None:
    source = RISKY + f"fn much(n: Int) -> Int ! E {{ {FOUR} const x = try risky(n)\n const y = try risky(n)\n n }}"
    text = body_of(source, "much")
    # Both bring their error in one local, to one block; the second releases `x` by itself before.
    assert text.count("local.set &failure") == 2
    assert text.count("local.take &failure") == 1
    assert text.count("local.take &x") == 2  # the way on, and the second failure
    assert text.count("local.take &a") == 2  # the way on, and both failures


def test_few_things_are_released_where_they_are() -> None:
    source = RISKY + 'fn little(n: Int) -> Int ! E { const a = "{n}"\n print(try risky(n))\n print(try risky(n))\n n }'
    text = body_of(source, "little")
    assert "leave" not in text
    assert text.count("local.take &a") == 3


@pytest.mark.parametrize(
    ("rest", "ends"),
    [
        ("if n == 1 { return n }\n if n == 2 { return 5 }\n n", ["return %"]),
        (
            "for i in 0..n { "
            + FOUR.replace("{n}", "{i}")
            + ' if i == 1 { const e = "{i}"\n break }\n if i == 2 { break } }\n n',
            ["jump for.end"],
        ),
        ("Time.sleep(1s)\n Time.sleep(1s)\n n", ["return.cancelled"]),
        ("const x = { " + FOUR + " print(try risky(1))\n try risky(2) }\n n", ["fail %"]),
    ],
    ids=["return", "break", "cancelled", "inner block"],
)
def test_the_other_ways_out(rest: str, ends: list[str]) -> None:
    source = RISKY + f"fn much(n: Int) -> Int ! E {{ {FOUR} {rest} }}"
    text = body_of(source, "much")
    assert "\nleave:\n" in text
    for end in ends:
        assert end in text[text.index("\nleave:\n") :]


def test_without_sharing_the_programs_are_the_same_but_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = size(module_of(many_tries(30)).functions["much"])
    monkeypatch.setattr(leaving, "SHARED_RELEASES_MIN", 1_000_000)
    assert size(module_of(many_tries(30)).functions["much"]) > 2 * shared


@pytest.mark.parametrize("least", [1, 2, 3])
def test_any_least_number_gives_verified_programs(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "SHARED_RELEASES_MIN", least)
    for count in (1, 2, 3, 10):
        module_of(many_tries(count))
