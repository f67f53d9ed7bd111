"""Whether an agent's `limit Ai` lets an ask through, and what it leaves behind (spec 8.3.tokens to 8.3.observe)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kavachc.interpreter.arithmetic import INT_MAX
from kavachc.interpreter.model_journal import Journal, Refused
from kavachc.interpreter.model_ledger import Ledger, Record, within
from kavachc.interpreter.model_scheduler import Task
from kavachc.semantics.typed_ast import Agent, Limit, Rule
from kavachc.state.windows import Window

TRIES = 3


def largest_tokens(prompt: str, max_tokens: int) -> int:
    """The most that an ask can take: no token is shorter than a byte (spec 8.3.largest)."""
    return min(TRIES * send_tokens(prompt, max_tokens), INT_MAX)


def send_tokens(prompt: str, max_tokens: int) -> int:
    """The most that one send can take."""
    return len(prompt.encode()) + max_tokens


@dataclass(eq=False, slots=True)
class Entrant:
    """One ask, as its agent's limit sees it. `estimate` is the most that it can take, or, once it goes further than
    that, that its next send can take; `tokens` is what it took since it entered, `prompt_tokens` about what its prompt
    takes. `reference` names what it reserved in the state file; 0 without one."""

    agent: Agent
    limit: Limit
    estimate: int
    is_dry_run: bool
    tokens: int = 0
    reference: int = 0
    is_further: bool = False
    prompt_tokens: int = 0


@dataclass(eq=False, slots=True)
class AgentAsks:
    """The asks of one agent that are under way, and the tasks whose asks wait for one of those to end."""

    under_way: set[Entrant] = field(default_factory=set)
    waiting: dict[Task, None] = field(default_factory=dict)


class Admission:
    def __init__(self, ledger: Ledger, journal: Journal | None = None) -> None:
        self._ledger = ledger
        self._journal = journal
        self._asks: dict[Agent, AgentAsks] = {}

    def asks_of(self, agent: Agent) -> AgentAsks:
        return self._asks.setdefault(agent, AgentAsks())

    def enter(self, entrant: Entrant) -> Literal["wait"] | list[Record] | Refused:
        """Checks the rules from the first on: the ask is under way (what the windows hold of it is given back), or
        must wait and enter again, or is refused, for the reason given back."""
        ledger = self._ledger
        ledger.begin(entrant.agent, entrant.limit)
        for rule in entrant.limit.rules:
            if rule.kind == "tokens":
                verdict = self._tokens(rule, entrant)
                if verdict == "wait":
                    ledger.abandon()
                    return "wait"
                holds = verdict == "within" or ledger.broken(rule)
            else:
                assert rule.kind == "count", "`limit Ai` has `tokens` and `count` rules only"
                holds = entrant.is_further or ledger.amount(rule, 1)
            if not holds:
                return Refused(ledger.refuse(rule))
        self._reserve(entrant)
        records = ledger.commit()
        self.asks_of(entrant.agent).under_way.add(entrant)
        return records

    def exceeds(self, entrant: Entrant, next_tokens: int) -> bool:
        """Whether one that counts as the most that it can take could take more by a send of `next_tokens`."""
        is_under_way = entrant in self.asks_of(entrant.agent).under_way and not entrant.is_dry_run
        is_largest = entrant.agent.settings.asks_under_way == "Largest"
        return is_under_way and is_largest and entrant.tokens + next_tokens > entrant.estimate

    def _reserve(self, entrant: Entrant) -> None:
        """Until it tells what it took, an ask counts in the state file as one that was cancelled would."""
        entrant.reference = 0
        if self._journal is None or entrant.is_dry_run:
            return
        entrant.reference = self._journal.new_reference()
        for rule in entrant.limit.rules:
            if rule.kind == "tokens":
                self._ledger.reserve(rule, entrant.reference, _likely_tokens(entrant, self._ledger.window(rule)))

    def leave_unrecorded(self, entrant: Entrant) -> list[Task]:
        """What was recorded was taken back; gives the tasks whose asks may enter again now."""
        asks = self.asks_of(entrant.agent)
        asks.under_way.remove(entrant)
        woken = list(asks.waiting)
        asks.waiting.clear()
        return woken

    def _tokens(self, rule: Rule, entrant: Entrant) -> Literal["within", "broken", "wait"]:
        agent = entrant.agent
        window = self._ledger.window(rule)
        under_way = self.asks_of(agent).under_way
        if agent.settings.asks_under_way == "Largest":
            total = window.answered_total + sum(each.estimate for each in under_way) + entrant.estimate
            return "within" if within(rule, total) else "broken"
        if agent.settings.asks_under_way == "NotCounted" or not under_way:
            return "within" if within(rule, window.answered_total) else "broken"
        return _average(rule, window, len(under_way), agent.settings.mode == "Enforce")

    def leave(self, entrant: Entrant, *, is_abandoned: bool) -> list[Task]:
        """The ask has ended; gives the tasks whose asks may enter again now. Does nothing the second time."""
        asks = self.asks_of(entrant.agent)
        if entrant not in asks.under_way:
            return []
        woken = self.leave_unrecorded(entrant)
        settled = self._ledger.record_tokens(
            entrant.agent,
            entrant.limit,
            entrant.reference,
            lambda window: _abandoned_tokens(entrant, window) if is_abandoned else entrant.tokens,
        )
        if self._journal is not None:
            self._journal.submit_settled(settled)
        return woken


def _average(rule: Rule, window: Window, under_way: int, may_wait: bool) -> Literal["within", "broken", "wait"]:
    """UnderWay.Average with others under way (spec 8.3.average): T + U·T/A within N, exactly."""
    answered, total = window.count, window.answered_total
    if answered:
        bound = rule.bound * answered
        estimated = total * answered + under_way * total
        is_within = estimated < bound if rule.strict else estimated <= bound
    else:
        # Their size is not known yet. Where nothing waits (Observe), what is known decides.
        is_within = not may_wait and within(rule, total)
    if is_within:
        return "within"
    return "wait" if may_wait else "broken"


def _abandoned_tokens(entrant: Entrant, window: Window) -> int:
    """What an ask leaves that was given up: it may still be billed (spec 8.3.ask-cancelled). A dry run sent nothing."""
    if entrant.is_dry_run or entrant.agent.settings.asks_under_way == "NotCounted":
        return entrant.tokens
    return max(min(entrant.tokens + entrant.prompt_tokens, INT_MAX), _likely_tokens(entrant, window))


def _likely_tokens(entrant: Entrant, window: Window) -> int:
    """What an ask counts as whose size will never be known."""
    answered = window.count
    if entrant.agent.settings.asks_under_way == "Largest" or not answered:
        return entrant.estimate
    return max(entrant.prompt_tokens, (window.answered_total + answered - 1) // answered)
