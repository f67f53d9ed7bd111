"""Coverage of `match` against brute force (spec 3.exhaustive): random types and arms, and all values tried."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from checking import checked
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from kavachc.semantics import exhaustiveness, pattern_rows
from kavachc.syntax import ast
from pattern_oracle import (
    BOOL,
    INT,
    INT_LITERALS,
    INT_MAX,
    STRING,
    STRING_LITERALS,
    Small,
    fits,
    inner_alternatives,
    reached,
    read_patterns,
    values,
)

EXAMPLES = 300
VALUES_MAX = 200
# A name stands for a value in many places, and is bound but once.
_NAME = re.compile(r"\bname\b")


@dataclass(frozen=True)
class Arm:
    alternatives: tuple[str, ...]
    is_guarded: bool

    @property
    def text(self) -> str:
        return f"{' | '.join(self.alternatives)}{' if yes' if self.is_guarded else ''}"


@dataclass
class Outcome:
    """What is said of a match: cases that it misses (with `more` unnamed ones), arms that never run, and alternatives
    (arm, text) that never fit."""

    missing: list[str] = field(default_factory=list)
    has_more: bool = False
    idle_arms: list[int] = field(default_factory=list)
    idle_alternatives: list[tuple[int, str]] = field(default_factory=list)


class Types:
    """Draws types; every record and sum has a name of its own."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._count = 0

    def type(self, depth: int, values_max: int = VALUES_MAX) -> Small:
        type_ = self._any(depth, values_max)
        return type_ if len(values(type_)) <= values_max else BOOL

    def _any(self, depth: int, values_max: int) -> Small:
        kind = self._draw(
            st.sampled_from(("Bool", "Int", "String") if depth == 0 else ("Int", "?", "()", "[]", "S", "R"))
        )
        if kind in ("Bool", "Int", "String"):
            return Small(kind)
        if kind == "?":
            element = self.type(depth - 1, values_max)
            # No pattern fits only the `none` inside a `T??`.
            return element if element.name == "?" else Small("?", (element,))
        if kind == "[]":
            return Small("[]", (self.type(depth - 1, 4),))
        self._count += 1
        name = f"{kind}{self._count}"
        if kind == "S":
            count = self._draw(st.integers(1, 3))
            return Small(name, variants=tuple(self._several(depth, 0) for _ in range(count)))
        return Small(kind if kind == "()" else name, self._several(depth, 2 if kind == "()" else 1))

    def _several(self, depth: int, least: int) -> tuple[Small, ...]:
        count = self._draw(st.integers(least, 2))
        return tuple(self.type(depth - 1, 14) for _ in range(count))


class Patterns:
    """Draws patterns for a type, as they are written."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def _chance(self, percent: int) -> bool:
        return self._draw(st.integers(1, 100)) <= percent

    def arm(self, type_: Small) -> Arm:
        count = self._draw(st.sampled_from((1, 1, 1, 2, 3)))
        alternatives = [self.pattern(type_, 10) for _ in range(count)]
        if count == 1:
            # Each name is bound once in an arm.
            number = iter(range(100))
            alternatives = [_NAME.sub(lambda _: f"n{next(number)}", alternatives[0])]
        else:
            alternatives = [_without_names(text) for text in alternatives]
        return Arm(tuple(alternatives), self._chance(15))

    def pattern(self, type_: Small, any_percent: int = 30) -> str:
        if self._chance(any_percent):
            return self._draw(st.sampled_from(("_", "name")))
        if type_.name == "?":
            return "none" if self._chance(40) else self.pattern(type_.parts[0])
        if type_.variants:
            index = self._draw(st.integers(0, len(type_.variants) - 1))
            return f"{type_.name}.V{index}{self._fields(type_.variants[index], True)}"
        if type_.name == "()":
            return f"({', '.join(self._part(part) for part in type_.parts)})"
        if type_.name == "[]":
            elements = [self._part(type_.parts[0]) for _ in range(self._draw(st.integers(0, 2)))]
            rest = self._draw(st.sampled_from(("", "..", "..name")))
            return f"[{', '.join([*elements, rest] if rest else elements)}]"
        return type_.name + self._fields(type_.parts, False) if type_.parts else self._plain(type_)

    def _part(self, type_: Small) -> str:
        if self._chance(20):
            return " | ".join(_without_names(self.pattern(type_, 5)) for _ in range(2))
        return self.pattern(type_)

    def _fields(self, types: Sequence[Small], is_variant: bool) -> str:
        if not types or (is_variant and self._chance(10)):
            return ""
        if self._chance(70):
            return f"({', '.join(self._part(item) for item in types)})"
        chosen = self._draw(st.lists(st.integers(0, len(types) - 1), unique=True, min_size=1))
        return f"({', '.join(f'f{index}: {self._part(types[index])}' for index in chosen)})"

    def _plain(self, type_: Small) -> str:
        if type_ == BOOL:
            return self._draw(st.sampled_from(("true", "false")))
        if type_ == STRING:
            return f'"{self._draw(st.sampled_from(STRING_LITERALS))}"'
        assert type_ == INT
        if self._chance(50):
            return str(self._draw(st.sampled_from(INT_LITERALS)))
        start = self._draw(st.sampled_from(INT_LITERALS))
        end = self._draw(st.sampled_from([item for item in (*INT_LITERALS, INT_MAX) if item >= start]))
        dots = "..=" if end == start else self._draw(st.sampled_from(("..", "..=")))
        return f"{start}{dots}{end}"


def _without_names(text: str) -> str:
    return _NAME.sub("_", text.replace("..name", ".."))


@st.composite
def matches(draw: st.DrawFn) -> tuple[Small, list[Arm]]:
    type_ = Types(draw).type(draw(st.integers(0, 3)))
    patterns = Patterns(draw)
    return type_, [patterns.arm(type_) for _ in range(draw(st.integers(0, 6)))]


def said(type_: Small, arms: Sequence[Arm]) -> Outcome:
    """What the checker says."""
    before = "\n".join(type_.declarations().values())
    body = "\n".join(f"        {arm.text} => {number}" for number, arm in enumerate(arms))
    source = f"{before}\nfn f(v: {type_}, yes: Bool) -> Int {{\n    match v {{\n{body}\n    }}\n}}\n".lstrip()
    first = source[: source.index("    match v {")].count("\n") + 2
    outcome = Outcome()
    for item in checked(source)[1]:
        assert item.span is not None, item.message
        arm = item.span.file.position(item.span.start)[0] - first
        if item.code == "K0701":
            outcome.missing = re.findall(r"`([^`]*)`", item.message)[1:]
            outcome.has_more = item.message.endswith(" and more")
        elif item.code == "K0702":
            outcome.idle_arms.append(arm)
        else:
            assert item.code == "K0703", f"{item.message} in {source}"
            outcome.idle_alternatives.append((arm, item.span.text))
    return outcome


def found(type_: Small, arms: Sequence[Arm]) -> tuple[set[object], Outcome]:
    """The values that no arm takes, and what there is to say of the arms."""
    texts = [text for arm in arms for text in arm.alternatives]
    patterns = dict(zip(texts, read_patterns(texts), strict=True)) if texts else {}
    rest: set[object] = set(values(type_))
    outcome = Outcome()
    for number, arm in enumerate(arms):
        left, before = set(rest), set(rest)
        idle: list[tuple[int, str]] = []
        for text in arm.alternatives:
            taken = {value for value in left if fits(patterns[text], type_, value)}
            if not taken:
                idle.append((number, text))
            else:
                used = {id(item) for value in taken for item in reached(patterns[text], type_, value)}
                end = 0
                for item in inner_alternatives(patterns[text]):
                    # What stands inside an idle one is not said again.
                    if id(item) not in used and item.span.start >= end:
                        idle.append((number, item.span.text))
                        end = item.span.end
            left -= taken
        if left == before:
            outcome.idle_arms.append(number)
        else:
            outcome.idle_alternatives.extend(idle)
        if not arm.is_guarded:
            rest = left
    return rest, outcome


def assert_right(type_: Small, arms: Sequence[Arm]) -> None:
    rest, expected = found(type_, arms)
    outcome = said(type_, arms)
    assert bool(outcome.missing) == bool(rest), f"missed: {rest}"
    assert outcome.idle_arms == expected.idle_arms
    assert outcome.idle_alternatives == expected.idle_alternatives
    if not rest:
        return
    further = [Arm((case,), False) for case in outcome.missing]
    for case, arm in zip(read_patterns(outcome.missing), further, strict=True):
        assert_names_what_is_missed(case, type_, rest)
        # It is a pattern, and it can run.
        assert said(type_, [*arms, arm]).idle_arms == expected.idle_arms
    if not outcome.has_more:
        after = said(type_, [*arms, *further])
        assert not after.missing
        assert after.idle_arms == expected.idle_arms, "one of the arms that the message gives never runs"


def assert_names_what_is_missed(case: ast.Pattern, type_: Small, rest: set[object]) -> None:
    taken = {value for value in values(type_) if fits(case, type_, value)}
    assert taken & rest, f"{case.span.text} fits nothing that is missed"
    if type_.is_finite:
        assert taken <= rest, f"{case.span.text} fits what an arm takes"


def check_all(count: int, phases: Sequence[Phase]) -> None:
    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(matches())
    def check(match: tuple[Small, list[Arm]]) -> None:
        assert_right(*match)

    check()


def test_the_checker_and_brute_force_agree() -> None:
    check_all(EXAMPLES, (Phase.generate, Phase.shrink))


FAULTS: dict[str, tuple[str, Callable[..., object]]] = {
    "an array pattern fits longer ones": ("_has_length", lambda shape, key: key.low >= shape.low),
    "ranges are not cut at their ends": (
        "_split",
        lambda intervals: [pattern_rows.Interval(item.low, item.high) for item in intervals],
    ),
    "alternatives inside are not looked at": ("_idle_inside", lambda *_: []),
    "a message says `none` for a value": ("_named", lambda case: case.replace(exhaustiveness.NAME, "none")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exhaustiveness, *FAULTS[fault])
    with pytest.raises(AssertionError):
        check_all(EXAMPLES, (Phase.generate,))
