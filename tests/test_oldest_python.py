"""Python 3.11.0 to 3.11.4 read possessive repeats over a group wrongly (CPython gh-100061); Debian 12 has 3.11.2."""

from __future__ import annotations

import re

from conftest import ROOT

POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)[*+?]\+")


def test_no_pattern_repeats_a_group_possessively() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in (ROOT / "compiler").rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if POSSESSIVE_GROUP.search(line)
    ]
    assert wrong == []


def test_the_check_sees_one() -> None:
    assert POSSESSIVE_GROUP.search(r"(?:[0-9]|x)*+")
    assert not POSSESSIVE_GROUP.search(r"[0-9]*+ f(a)+b")
