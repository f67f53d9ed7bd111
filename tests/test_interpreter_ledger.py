"""The plain-Python ledger, without any program (spec 8.3)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from kavachc.interpreter.model_admission import Admission, Entrant, largest_tokens
from kavachc.interpreter.model_journal import Refused
from kavachc.interpreter.model_ledger import Ledger
from kavachc.semantics.typed_ast import Agent, AgentSettings, Limit, ModelSettings, Program, Rule, RuleKind
from kavachc.semantics.types import AgentType
from kavachc.source import SourceFile, Span
from kavachc.state.format import Name
from kavachc.state.windows import Window

SPAN = Span(SourceFile("a.kav", ""), 0, 0)
DAY = 86_400_000_000_000


def rule(kind: RuleKind, bound: int | float, *, window_ns: int = DAY, strict: bool = False) -> Rule:
    return Rule(kind, SPAN, f"{kind} {bound}", None, bound, strict, window_ns)


class Bench:
    """One agent with one limit, and a clock that the test moves."""

    def __init__(self, *rules: Rule, way: str = "Average", mode: str = "Enforce") -> None:
        self.now_ns = 0
        self.lines: list[str] = []
        self.limit = Limit(SPAN, "Ai", None, None, (), rules, 0)
        self.agent = Agent("Bot", 0, AgentType("Bot", SPAN, None), SPAN, limits=(self.limit,))
        self.agent.model = ModelSettings("m", 10, "Anthropic")
        self.agent.settings = AgentSettings(way, mode)  # type: ignore[arg-type]
        program = Program.__new__(Program)
        program.agents = [self.agent]
        self.ledger = Ledger(program, lambda: self.now_ns, self.lines.append)
        self.admission = Admission(self.ledger)

    def call(self, *amounts: int | float | bool) -> str | None:
        """One call, with what each rule is given; the reason when it is refused."""
        self.ledger.begin(self.agent, self.limit)
        for each, amount in zip(self.limit.rules, amounts, strict=True):
            if each.kind == "condition":
                passes = self.ledger.condition(each, bool(amount))
            else:
                passes = self.ledger.amount(each, amount)
            if not passes:
                return self.ledger.refuse(each)
        self.ledger.commit()
        return None

    def entries(self, index: int = 0) -> list[tuple[int, int | float]]:
        self.ledger.begin(self.agent, self.limit)
        entries = list(self.ledger.window(self.limit.rules[index]).entries)
        self.ledger.abandon()
        return entries

    def enter(self, tokens: int = 0) -> Entrant | str:
        entrant = Entrant(self.agent, self.limit, largest_tokens("a", 10), False, tokens)
        verdict = self.admission.enter(entrant)
        if isinstance(verdict, Refused):
            return verdict.reason
        return "wait" if verdict == "wait" else entrant


def test_a_window_is_half_open() -> None:
    bench = Bench(rule("count", 1))
    assert bench.call(1) is None
    bench.now_ns = DAY - 1
    assert bench.call(1) == "limit broken: count 1"
    bench.now_ns = DAY
    assert bench.call(1) is None
    assert bench.entries() == [(DAY, 1)]


def test_rules_record_together_or_not_at_all() -> None:
    bench = Bench(rule("sum", 100), rule("count", 1), rule("condition", 0))
    assert bench.call(60, 1, False) == "limit broken: condition 0"
    assert bench.entries(0) == bench.entries(1) == []
    assert bench.call(60, 1, True) is None
    assert bench.call(30, 1, True) == "limit broken: count 1"
    assert bench.entries(0) == [(0, 60)]


@pytest.mark.parametrize(("strict", "amount", "passes"), [(False, 100, True), (True, 100, False), (True, 99, True)])
def test_bounds(strict: bool, amount: int, passes: bool) -> None:
    assert (Bench(rule("sum", 100, strict=strict)).call(amount) is None) == passes


def test_totals_are_exact_far_beyond_64_bits() -> None:
    most = 2**63 - 1
    window = Window(Name("A", "P.f", "r", DAY, False))
    for _ in range(10):
        window.add(0, most)
    assert window.total.value == 10 * most
    assert Bench(rule("sum", most)).call(most) is None


def test_what_leaves_a_float_total_leaves_nothing_behind() -> None:
    bench = Bench(rule("sum", 1e300))
    for moment, amount in enumerate((2.0**54, 1.0, 1.0)):
        bench.now_ns = moment
        assert bench.call(amount) is None
    bench.now_ns = DAY
    assert bench.entries() == [(1, 1.0), (2, 1.0)]
    assert bench.ledger.report_lines() == ["Bot Ai sum 1e+300: entries 2 total 2.0 times [1, 2]"]


@pytest.mark.parametrize(
    ("amount", "reason"),
    [
        (float("nan"), "limit broken: sum 5.0"),
        (float("inf"), "limit broken: sum 5.0"),
        (float("-inf"), None),
        (-1.0, None),
    ],
)
def test_strange_amounts(amount: float, reason: str | None) -> None:
    bench = Bench(rule("sum", 5.0))
    assert bench.call(amount) == reason
    assert bench.call(5.0) is None, "no room was bought"
    assert bench.call(1.0) == "limit broken: sum 5.0"


def test_observe_mode_reports_and_records() -> None:
    bench = Bench(rule("sum", 5.0), mode="Observe")
    assert bench.call(float("nan")) is None
    assert bench.call(7.0) is None
    assert bench.lines == ["[observe] Bot: Ai: limit broken: sum 5.0"] * 2
    assert bench.entries() == [(0, 0.0), (0, 7.0)]


def test_the_average_of_asks_under_way_is_exact() -> None:
    """With A answered taking T, and U under way, an ask goes on exactly when T + U * T / A <= N."""
    for bound in range(60, 130):
        bench = Bench(rule("tokens", bound))
        for tokens in (20, 11, 20):
            entrant = bench.enter(tokens)
            assert isinstance(entrant, Entrant)
            bench.admission.leave(entrant, is_abandoned=False)
        under_way = 0
        while isinstance(bench.enter(), Entrant):
            under_way += 1
            assert under_way < 100
        most = max(number for number in range(100) if number == 0 or 51 + Fraction(51 * number, 3) <= bound)
        assert under_way == most + 1


def test_an_ask_waits_while_nothing_is_known() -> None:
    bench = Bench(rule("tokens", 1_000))
    first = bench.enter(70)
    assert isinstance(first, Entrant)
    assert bench.enter() == "wait"
    bench.admission.leave(first, is_abandoned=False)
    assert isinstance(bench.enter(), Entrant)


def test_largest_refuses_at_once() -> None:
    bench = Bench(rule("tokens", 66), way="Largest")
    assert isinstance(bench.enter(), Entrant)
    assert isinstance(bench.enter(), Entrant)
    assert bench.enter() == "limit broken: tokens 66"


def test_largest_tokens() -> None:
    assert largest_tokens("a", 30) == 93
    assert largest_tokens("é", 1) == 9
    assert largest_tokens("", 2**63 - 1) == 2**63 - 1


@pytest.mark.parametrize(("way", "left"), [("Average", 34), ("Largest", 33), ("NotCounted", 5)])
def test_what_a_cancelled_ask_leaves(way: str, left: int) -> None:
    """Answered: 30 and 37, so the average is 33.5, rounded up; the estimate is 3 * (1 + 10)."""
    bench = Bench(rule("tokens", 1_000), way=way)
    for tokens in (30, 37):
        entrant = bench.enter(tokens)
        assert isinstance(entrant, Entrant)
        bench.admission.leave(entrant, is_abandoned=False)
    cancelled = bench.enter(5)
    assert isinstance(cancelled, Entrant)
    bench.now_ns = 9
    bench.admission.leave(cancelled, is_abandoned=True)
    bench.admission.leave(cancelled, is_abandoned=True)
    assert bench.entries() == [(0, 30), (0, 37), (9, left)]
