"""Every rule of docs/spec.md is shown by a golden, and every id that a golden names exists."""

from __future__ import annotations

import re

from conftest import ROOT
from kavachc.golden import read_golden

RULE = re.compile(r"^- \[([0-9a-z.-]+)\] ", re.MULTILINE)


def spec_rules() -> list[str]:
    return RULE.findall((ROOT / "docs" / "spec.md").read_text(encoding="utf-8"))


def shown_rules() -> dict[str, list[str]]:
    shown: dict[str, list[str]] = {}
    for path in (ROOT / "golden").rglob("*.golden"):
        for rule in read_golden(path).shows:
            shown.setdefault(rule, []).append(str(path.relative_to(ROOT)))
    return shown


def test_ids_are_unique() -> None:
    rules = spec_rules()
    assert len(rules) > 50
    assert sorted(set(rules)) == sorted(rules)


def test_every_rule_is_shown() -> None:
    missing = [rule for rule in spec_rules() if rule not in shown_rules()]
    assert not missing, f"no golden shows {', '.join(missing)}"


def test_goldens_name_rules_that_exist() -> None:
    known = set(spec_rules())
    unknown = {rule: places for rule, places in shown_rules().items() if rule not in known}
    assert not unknown


def test_every_golden_shows_a_rule() -> None:
    without = [str(path) for path in (ROOT / "golden").rglob("*.golden") if not read_golden(path).shows]
    assert not without
