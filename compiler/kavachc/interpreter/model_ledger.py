"""The ledger in plain Python: a rolling window for each windowed rule, and the check of a call (spec 8.3)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from kavachc.interpreter.show import show_float
from kavachc.semantics.typed_ast import Agent, Limit, Program, Rule


class Window:
    """The entries of the last `window_ns`, half open: one exactly that old is gone (spec 8.3.window)."""

    def __init__(self, window_ns: int, zero: int | float) -> None:
        self.entries: deque[tuple[int, int | float]] = deque()
        self.total = zero
        self._zero = zero
        self._window_ns = window_ns

    def expire(self, now_ns: int) -> None:
        """Drops what is too old. The total is made anew from what is left, so that Floats do not drift (8.3.sum)."""
        count_before = len(self.entries)
        while self.entries and self.entries[0][0] <= now_ns - self._window_ns:
            self.entries.popleft()
        if len(self.entries) < count_before:
            self.total = self._zero
            for _time_ns, amount in self.entries:
                self.total += amount

    def add(self, now_ns: int, amount: int | float) -> None:
        self.entries.append((now_ns, amount))
        self.total += amount


@dataclass(slots=True)
class Check:
    """One call between `begin` and `commit` or `refuse`: what each rule's window is to record."""

    agent: Agent
    limit: Limit
    now_ns: int
    records: list[tuple[Window, int | float]] = field(default_factory=list)


class Ledger:
    """`now` gives the monotonic time; `report_broken` takes the lines of Observe mode."""

    def __init__(self, program: Program, now: Callable[[], int], report_broken: Callable[[str], None]) -> None:
        self._program = program
        self._now = now
        self._report_broken = report_broken
        self._check: Check | None = None
        # By the identity of the rule: rules of the same text in two limits are two rules.
        self._windows: dict[int, Window] = {}
        for agent in program.agents:
            for limit in agent.limits:
                for rule in limit.rules:
                    if rule.kind != "condition":
                        zero = 0.0 if isinstance(rule.bound, float) else 0
                        self._windows[id(rule)] = Window(rule.window_ns, zero)

    def begin(self, agent: Agent, limit: Limit) -> None:
        assert self._check is None, "check and record are one step (spec 8.3.atomic)"
        self._check = Check(agent, limit, self._now())

    def condition(self, rule: Rule, holds: bool) -> bool:
        return holds or self.broken(rule)

    def amount(self, rule: Rule, amount: int | float) -> bool:
        """For `sum`, and for `count` with 1. A negative amount counts as 0; NaN is refused (spec 8.3.sum)."""
        window = self.window(rule)
        is_nan = isinstance(amount, float) and math.isnan(amount)
        counted = amount if amount > 0 else type(amount)(0)
        self._open.records.append((window, counted))
        return (not is_nan and within(rule, window.total + counted)) or self.broken(rule)

    def window(self, rule: Rule) -> Window:
        """The rule's window as it is for the call that is being checked."""
        window = self._windows[id(rule)]
        window.expire(self._open.now_ns)
        return window

    def broken(self, rule: Rule) -> bool:
        """What a broken rule answers: False, or in Observe mode a line on stderr and True (spec 8.3.observe)."""
        check = self._open
        if check.agent.settings.mode == "Enforce":
            return False
        self._report_broken(f"[observe] {check.agent.name}: {check.limit.target}: limit broken: {rule.text}")
        return True

    def commit(self) -> None:
        """Every rule let the call pass: all of them record it."""
        check = self._open
        for window, amount in check.records:
            window.add(check.now_ns, amount)
        self._check = None

    def abandon(self) -> None:
        self._check = None

    def refuse(self, rule: Rule) -> str:
        """Records nothing; the reason (spec 8.3.reason)."""
        self.abandon()
        return f"limit broken: {rule.text}"

    @property
    def _open(self) -> Check:
        assert self._check is not None
        return self._check

    def record_tokens(self, agent: Agent, limit: Limit, tokens: Callable[[Window], int]) -> None:
        """An ask has ended: `tokens` gives what it leaves in each `tokens` rule's window, 0 for no entry."""
        self.begin(agent, limit)
        for rule in limit.rules:
            if rule.kind == "tokens":
                window = self.window(rule)
                taken = tokens(window)
                if taken > 0:
                    self._open.records.append((window, taken))
        self.commit()

    def report_lines(self) -> list[str]:
        """One line for each windowed rule, in order of declaration (spec, Reports)."""
        lines: list[str] = []
        now_ns = self._now()
        for agent in self._program.agents:
            for limit in agent.limits:
                for rule in limit.rules:
                    if rule.kind != "condition":
                        window = self._windows[id(rule)]
                        window.expire(now_ns)
                        lines.append(f"{agent.name} {limit.target} {rule.text}: {_shown(window)}")
        return lines


def within(rule: Rule, total: int | float) -> bool:
    return total < rule.bound if rule.strict else total <= rule.bound


def _shown(window: Window) -> str:
    total = show_float(window.total) if isinstance(window.total, float) else str(window.total)
    times = ", ".join(str(time_ns) for time_ns, _ in window.entries)
    return f"entries {len(window.entries)} total {total} times [{times}]"
