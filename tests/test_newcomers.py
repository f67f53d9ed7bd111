"""The mistakes of people who are new to Kavach: one golden each, whose message says what to write (spec 12.habits)."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT
from kavachc.golden import read_golden

MISTAKES = sorted((ROOT / "golden" / "newcomers").glob("*.golden"))


def test_there_are_many() -> None:
    """Issue 3 asks for 60. The number only grows."""
    assert len(MISTAKES) >= 250


@pytest.mark.parametrize("path", MISTAKES, ids=[path.stem for path in MISTAKES])
def test_each_is_told_once_with_what_to_write(path: Path) -> None:
    text = read_golden(path).sections["err"]
    assert sum(line.startswith(("error: ", "warning: ")) for line in text.splitlines()) == 1
    assert "\n  = help: " in text or "\n   = help: " in text
