"""The native ledger against a plain list of entries, and the faults that others had (bug-cases: windows)."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kavachc.bindings.abi import Mode, RuleKind
from kavachc.bindings.descriptors import Agent, Limit, Rule
from kavachc.interpreter.show import show_float
from native_program import Body, MemoryHost, Program, run

DAY = 86_400 * 1_000_000_000
INT_MAX = 2**63 - 1
INT_MIN = -(2**63)
FLOAT_MAX = sys.float_info.max


@dataclass
class PlainWindow:
    """The rule as the spec words it: every entry ever, and a sum over those younger than the window."""

    rule: Rule
    entries: list[tuple[int, int | float]] = field(default_factory=list)

    def inside(self, now_ns: int) -> list[tuple[int, int | float]]:
        return [entry for entry in self.entries if now_ns - entry[0] < self.rule.window_ns]

    def total(self, now_ns: int) -> int | float:
        return self.rounded([amount for _, amount in self.inside(now_ns)])

    def rounded(self, amounts: list[int | float]) -> int | float:
        if self.rule.kind != RuleKind.SUM_FLOAT:
            return sum(amounts)
        if math.inf in amounts:
            return math.inf
        try:
            return float(sum(map(Fraction, amounts), Fraction(0)))
        except OverflowError:
            return math.inf

    def passes(self, now_ns: int, amount: int | float) -> bool:
        if math.isnan(amount):
            return False
        total = self.rounded([*(each for _, each in self.inside(now_ns)), max(amount, 0)])
        return total < self.rule.bound if self.rule.strict else total <= self.rule.bound

    def report(self, now_ns: int) -> str:
        times = ", ".join(str(at) for at, _ in self.inside(now_ns))
        total = self.total(now_ns)
        shown = show_float(total) if isinstance(total, float) else str(total)
        return f"entries {len(self.inside(now_ns))} total {shown} times [{times}]"


def window_rules(kind: RuleKind, amounts: st.SearchStrategy[Any]) -> st.SearchStrategy[Rule]:
    return st.builds(
        Rule,
        kind=st.just(kind),
        text=st.just(kind.name),
        window_ns=st.integers(1, 50),
        bound=amounts,
        strict=st.booleans(),
    )


ints = st.one_of(st.integers(-5, 40), st.integers(INT_MIN, INT_MAX), st.just(INT_MAX))
#: Of all sizes, and such as make ties, carries and infinity.
floats = st.one_of(
    st.floats(),
    st.floats(-5, 40),
    st.integers(-1074, 1023).map(lambda exponent: 2.0**exponent),
    st.sampled_from([math.nan, math.inf, -0.0, 5e-324, FLOAT_MAX, 2.0**53, 1.0, 0.1]),
)
bounds = st.one_of(st.floats(0, allow_nan=False), st.sampled_from([FLOAT_MAX, math.inf, 2.0**53]))
rules = st.one_of(
    window_rules(RuleKind.SUM_INT, ints),
    window_rules(RuleKind.SUM_FLOAT, bounds),
    window_rules(RuleKind.COUNT, st.integers(-1, 8)),
)


@st.composite
def histories(draw: st.DrawFn) -> History:
    chosen = tuple(draw(st.lists(rules, min_size=1, max_size=3)))
    kinds = {RuleKind.SUM_INT: ints, RuleKind.SUM_FLOAT: floats, RuleKind.COUNT: st.just(1)}
    call = st.tuples(st.integers(0, 30), st.tuples(*(kinds[rule.kind] for rule in chosen)).map(list))
    return chosen, draw(st.lists(call, max_size=40))


History = tuple[tuple[Rule, ...], list[tuple[int, list[Any]]]]


@settings(max_examples=300, deadline=None)
@given(histories())
@example(((Rule(RuleKind.SUM_FLOAT, "r", 10, 1e18),), [(0, [2.0**54]), (1, [1.0]), (1, [1.0]), (8, [0.0])]))
@example(((Rule(RuleKind.SUM_FLOAT, "r", 9, 2.0**53),), [(0, [2.0**53]), (1, [1.0]), (1, [1.0]), (8, [0.0])]))
@example(((Rule(RuleKind.SUM_FLOAT, "r", 9, math.inf),), [(0, [FLOAT_MAX])] * 2 + [(1, [math.inf]), (8, [5e-324])]))
@example(((Rule(RuleKind.SUM_INT, "r", 10, INT_MAX),), [(0, [INT_MAX]), (0, [INT_MAX]), (10, [INT_MAX])]))
def test_the_ledger_is_a_list_of_entries(history: History) -> None:
    check_history(history)


def test_the_check_sees_a_window_that_is_closed_at_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def inside(window: PlainWindow, now_ns: int) -> list[tuple[int, int | float]]:
        return [entry for entry in window.entries if now_ns - entry[0] <= window.rule.window_ns]

    monkeypatch.setattr(PlainWindow, "inside", inside)
    with pytest.raises(AssertionError):
        check_history(((Rule(RuleKind.COUNT, "r", 10, 1),), [(0, [1]), (10, [1])]))


def check_history(history: History) -> None:
    chosen, calls = history
    windows = [PlainWindow(rule) for rule in chosen]
    host = MemoryHost()
    refusals: list[tuple[str | None, str | None]] = []

    def main(program: Program) -> Body:
        for wait_ns, amounts in calls:
            yield from program.sleep(wait_ns)
            now_ns = host.now_ns
            broken = next((w for w, amount in zip(windows, amounts, strict=True) if not w.passes(now_ns, amount)), None)
            expected = f"limit broken: {broken.rule.text}" if broken else None
            refusals.append((program.call(0, 0, amounts), expected))
            if broken is None:
                for window, amount in zip(windows, amounts, strict=True):
                    window.entries.append((now_ns, max(amount, 0)))

    result = run(main, agents=[Agent("A", (Limit("P.f", chosen),))], host=host, virtual_time=False, uses_model=False)
    assert [native for native, _ in refusals] == [expected for _, expected in refusals]
    lines = result.report.splitlines()
    assert lines[0] == "live_blocks 0"
    shown = [line.split(": ", 1)[1] for line in lines[1:]]
    assert shown == [window.report(host.now_ns) for window in windows]


def one_rule(rule: Rule, **changes: Any) -> list[Agent]:
    return [Agent("A", (Limit("P.f", (rule,)),), **changes)]


def test_the_first_broken_rule_is_the_reason_and_nothing_is_recorded() -> None:
    rules = (
        Rule(RuleKind.CONDITION, "amount <= 500"),
        Rule(RuleKind.SUM_INT, "sum(amount) <= 700 per day", DAY, 700),
        Rule(RuleKind.COUNT, "count <= 3 per day", DAY, 3),
    )
    refusals: list[str | None] = []

    def main(program: Program) -> Body:
        for amount in (400, 900, 250, 300):
            refusals.append(program.call(0, 0, [amount <= 500, amount, None]))
        yield from program.sleep(DAY)
        refusals.append(program.call(0, 0, [True, 700, None]))

    result = run(main, agents=[Agent("A", (Limit("P.f", rules),))], uses_model=False)
    day_rule = "limit broken: sum(amount) <= 700 per day"
    assert refusals == [None, "limit broken: amount <= 500", None, day_rule, None]
    assert result.report == (
        "live_blocks 0\n"
        f"A P.f sum(amount) <= 700 per day: entries 1 total 700 times [{DAY}]\n"
        f"A P.f count <= 3 per day: entries 1 total 1 times [{DAY}]\n"
    )


def test_midnight_resets_nothing() -> None:
    hour = 3600 * 1_000_000_000
    refusals: list[str | None] = []

    def main(program: Program) -> Body:
        yield from program.sleep(23 * hour)
        for _ in range(3):
            refusals.append(program.call(0, 0, [None]))
        yield from program.sleep(2 * hour)
        refusals.append(program.call(0, 0, [None]))
        yield from program.sleep(22 * hour - 1)
        refusals.append(program.call(0, 0, [None]))
        yield from program.sleep(1)
        refusals.append(program.call(0, 0, [None]))

    run(main, agents=one_rule(Rule(RuleKind.COUNT, "c", DAY, 3)), uses_model=False)
    assert refusals == [None, None, None, "limit broken: c", "limit broken: c", None]


def test_ten_tasks_spend_exactly_the_bound() -> None:
    passed: list[int] = []

    def spend(program: Program, number: int) -> Body:
        yield from program.sleep(number % 3)
        if program.call(0, 0, [100]) is None:
            yield from program.sleep(5)
            passed.append(number)

    def main(program: Program) -> Body:
        for number in range(10):
            program.spawn(spend(program, number))
        yield from program.sleep(1)

    result = run(main, agents=one_rule(Rule(RuleKind.SUM_INT, "s", DAY, 700)), uses_model=False)
    assert len(passed) == 7
    assert "entries 7 total 700" in result.report


def test_observe_reports_each_broken_rule_and_records() -> None:
    rules = (
        Rule(RuleKind.CONDITION, "amount <= 500"),
        Rule(RuleKind.SUM_FLOAT, "sum(amount) <= 700 per day", DAY, 700.0),
    )
    refusals: list[str | None] = []

    def main(program: Program) -> Body:
        for amount in (900.0, math.nan):
            refusals.append(program.call(0, 0, [amount <= 500, amount]))
        yield from program.sleep(0)

    result = run(main, agents=[Agent("A", (Limit("P.f", rules),), mode=Mode.OBSERVE)], uses_model=False)
    assert refusals == [None, None]
    lines = [
        "[observe] A: P.f: limit broken: amount <= 500",
        "[observe] A: P.f: limit broken: sum(amount) <= 700 per day",
    ]
    assert result.err.splitlines() == lines * 2
    assert "entries 2 total 900.0 times [0, 0]" in result.report


def test_a_clock_that_steps_back_moves_no_window() -> None:
    host = MemoryHost()
    refusals: list[str | None] = []

    def main(program: Program) -> Body:
        host.now_ns = 1000
        refusals.append(program.call(0, 0, [None]))
        host.now_ns = 500
        refusals.append(program.call(0, 0, [None]))
        host.now_ns = 1100
        refusals.append(program.call(0, 0, [None]))
        yield from program.sleep(0)

    run(main, agents=one_rule(Rule(RuleKind.COUNT, "c", 100, 1)), host=host, virtual_time=False, uses_model=False)
    assert refusals == [None, "limit broken: c", None]


def test_windows_belong_to_agent_and_limit() -> None:
    rule = Rule(RuleKind.COUNT, "c", DAY, 1)
    agents = [Agent("A", (Limit("P.f", (rule,)), Limit("P.g", (rule,)))), Agent("B", (Limit("P.f", (rule,)),))]
    refusals: list[str | None] = []

    def main(program: Program) -> Body:
        for agent, limit in [(0, 0), (0, 1), (1, 0), (0, 0)]:
            refusals.append(program.call(agent, limit, [None]))
        yield from program.sleep(0)

    run(main, agents=agents, uses_model=False)
    assert refusals == [None, None, None, "limit broken: c"]
