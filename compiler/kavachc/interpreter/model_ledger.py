"""The ledger in plain Python: a rolling window for each windowed rule, and the check of a call (spec 8.3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from kavachc.interpreter.show import quote, show_float
from kavachc.semantics.typed_ast import Agent, Limit, Program, Rule
from kavachc.state.format import ItemKind, Name
from kavachc.state.windows import Reservation, Window, Windows


@dataclass(frozen=True, slots=True)
class Record:
    """What one rule remembers of a call. `reference` is that of a reservation, and of what settles it."""

    window: Window
    rule: Rule
    kind: ItemKind
    time_ns: int
    amount: int | float
    reference: int = 0


@dataclass(slots=True)
class Check:
    """One call between `begin` and `commit` or `refuse`: what each rule's window is to record."""

    agent: Agent
    limit: Limit
    now_ns: int
    records: list[Record] = field(default_factory=list)
    keys: dict[int, str] = field(default_factory=dict)


class Ledger:
    """`now` gives the monotonic time; `report_broken` takes the lines of Observe mode, `record_broken` what
    they tell of."""

    def __init__(
        self,
        program: Program,
        now: Callable[[], int],
        report_broken: Callable[[str], None],
        record_broken: Callable[[Agent, Limit, Rule], None] = lambda _agent, _limit, _rule: None,
    ) -> None:
        self._program = program
        self._now = now
        self._report_broken = report_broken
        self._record_broken = record_broken
        self._check: Check | None = None
        self._latest_ns = 0
        self.windows = Windows()
        # By the identity of the rule: rules of the same text in two limits are two rules.
        self._names: dict[int, Name] = {}
        for agent in program.agents:
            for limit in agent.limits:
                self._names.update(_rule_names(agent, limit))
        for agent in program.agents:
            for limit in agent.limits:
                for rule in limit.rules:
                    if rule.kind != "condition" and rule.key is None:
                        self.windows.get(self._names[id(rule)])

    @property
    def pinned(self) -> set[object]:
        """The names of the windows that stay though they are empty."""
        return set(self._names.values())

    def now(self) -> int:
        """Windows never see the time go back."""
        self._latest_ns = max(self._latest_ns, self._now())
        return self._latest_ns

    @property
    def checked_agent(self) -> Agent:
        return self._open.agent

    def begin(self, agent: Agent, limit: Limit) -> None:
        assert self._check is None, "check and record are one step (spec 8.3.atomic)"
        self._check = Check(agent, limit, self.now())

    def key(self, rule: Rule, key: str) -> None:
        self._open.keys[id(rule)] = key

    def condition(self, rule: Rule, holds: bool) -> bool:
        return holds or self.broken(rule)

    def amount(self, rule: Rule, amount: int | float) -> bool:
        """For `sum`, and for `count` with 1. A negative amount counts as 0; NaN is refused (spec 8.3.sum)."""
        is_nan = isinstance(amount, float) and math.isnan(amount)
        counted = amount if amount > 0 else type(amount)(0)
        holds = self._entry(rule, self.window(rule), counted)
        return (not is_nan and holds) or self.broken(rule)

    def _entry(self, rule: Rule, window: Window, counted: int | float) -> bool:
        """Will record the amount; whether the total with it is within the bound."""
        self._open.records.append(Record(window, rule, ItemKind.ENTRY, self._open.now_ns, counted))
        return within(rule, window.total.with_one_more(counted))

    def window(self, rule: Rule) -> Window:
        """The rule's window as it is for the call that is being checked."""
        name = self._names[id(rule)]
        if rule.key is not None:
            name = name._replace(key=self._open.keys[id(rule)])
        window = self.windows.get(name)
        window.expire(self._open.now_ns)
        return window

    def reserve(self, rule: Rule, reference: int, amount: int) -> None:
        """`commit` will reserve it in the window of a `tokens` rule."""
        record = Record(self.window(rule), rule, ItemKind.RESERVE, self._open.now_ns, amount, reference)
        self._open.records.append(record)

    def broken(self, rule: Rule) -> bool:
        """What a broken rule answers: False, or in Observe mode a line on stderr and True (spec 8.3.observe)."""
        check = self._open
        if check.agent.settings.mode == "Enforce":
            return False
        self._record_broken(check.agent, check.limit, rule)
        self._report_broken(f"[observe] {check.agent.name}: {check.limit.target}: limit broken: {rule.text}")
        return True

    def commit(self) -> list[Record]:
        """Every rule let the call pass: all of them record it."""
        check = self._open
        for record in check.records:
            if record.kind == ItemKind.RESERVE:
                assert isinstance(record.amount, int)
                record.window.reserve(record.reference, Reservation(record.time_ns, record.amount, True))
            else:
                record.window.add(record.time_ns, record.amount)
        self._check = None
        return check.records

    def abandon(self) -> None:
        self._check = None

    def refuse(self, rule: Rule) -> str:
        """Records nothing; the reason (spec 8.3.reason)."""
        self.abandon()
        return f"limit broken: {rule.text}"

    def commit_again(self, agent: Agent, limit: Limit, records: list[Record]) -> list[Record] | str:
        """A call whose records were taken back: checks again what it then found. The reason where it is refused now."""
        self.begin(agent, limit)
        for record in records:
            record.window.expire(self._open.now_ns)
            holds = self._entry(record.rule, record.window, record.amount)
            # In Observe mode nothing is refused, and a broken rule has been reported.
            if not holds and agent.settings.mode == "Enforce":
                return self.refuse(record.rule)
        return self.commit()

    @property
    def _open(self) -> Check:
        assert self._check is not None
        return self._check

    def record_tokens(
        self, agent: Agent, limit: Limit, reference: int, tokens: Callable[[Window], int]
    ) -> list[Record]:
        """An ask has ended: `tokens` gives what it leaves in each `tokens` rule's window, 0 for no entry. Gives what
        settles its reservation."""
        self.begin(agent, limit)
        settled: list[Record] = []
        for rule in limit.rules:
            if rule.kind == "tokens":
                window = self.window(rule)
                taken = tokens(window)
                if taken > 0:
                    window.add(self._open.now_ns, taken)
                if reference:
                    window.reservations.pop(reference, None)
                    settled.append(Record(window, rule, ItemKind.SETTLE, self._open.now_ns, taken, reference))
        self._check = None
        return settled

    def is_changed(self, name: Name) -> bool:
        """Whether the program has the limit that a window is of, and no such rule in it."""
        unkeyed = name._replace(key=None)
        return unkeyed not in self._names.values() and any(
            (agent.name, limit.target) == (name.agent, name.target)
            for agent in self._program.agents
            for limit in agent.limits
        )

    def report_lines(self) -> list[str]:
        """One line for each windowed rule, in order of declaration (spec, Reports)."""
        lines: list[str] = []
        now_ns = self.now()
        for agent in self._program.agents:
            for limit in agent.limits:
                for rule in limit.rules:
                    if rule.kind != "condition":
                        title = f"{agent.name} {limit.target} {rule.text}"
                        lines += self._report_rule(rule, title, now_ns)
        return lines

    def _report_rule(self, rule: Rule, title: str, now_ns: int) -> list[str]:
        """A rule with a key has a line for each key that its windows hold something of, in the order of the keys."""
        name = self._names[id(rule)]
        if rule.key is None:
            window = self.windows.get(name)
            window.expire(now_ns)
            return [f"{title}: {_shown(window)}"]
        lines: list[str] = []
        windows = {each.key or "": each for each in self.windows.by_name if each._replace(key=None) == name}
        for key in sorted(windows, key=str.encode):
            window = self.windows.get(windows[key])
            window.expire(now_ns)
            if window.entries:
                lines.append(f"{title} {quote(key)}: {_shown(window)}")
        return lines


def _rule_names(agent: Agent, limit: Limit) -> dict[int, Name]:
    """Agent, target and text name a rule. Of two with one text in one limit, the second is told apart by its number."""
    names: dict[int, Name] = {}
    texts: list[str] = []
    for rule in limit.rules:
        texts.append(rule.text)
        occurrence = texts.count(rule.text)
        text = rule.text if occurrence == 1 else f"{rule.text} ({occurrence})"
        if rule.kind != "condition":
            names[id(rule)] = Name(agent.name, limit.target, text, rule.window_ns, isinstance(rule.bound, float))
    return names


def within(rule: Rule, total: int | float) -> bool:
    return total < rule.bound if rule.strict else total <= rule.bound


def _shown(window: Window) -> str:
    value = window.total.value
    total = show_float(value) if isinstance(value, float) else str(value)
    times = ", ".join(str(time_ns) for time_ns, _ in window.entries)
    return f"entries {len(window.entries)} total {total} times [{times}]"
