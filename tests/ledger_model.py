"""The plain model that the simulator's events (runtime/src/simulator.zig) are checked against: lists of everything that
ever happened, searched anew for each question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

SECOND = 10**9


@dataclass(frozen=True, slots=True)
class Call:
    number: int
    time_ns: int
    amount: int
    key: int


@dataclass(frozen=True, slots=True)
class Rule:
    """Sums `value` over the calls that have the same `key`."""

    window_ns: int
    bound: int
    value: Callable[[Call], int]
    key: Callable[[Call], int]


#: Those of runtime/src/simulator_program.zig.
RULES = (
    Rule(1000 * SECOND, 5, lambda call: 1, lambda call: 0),
    Rule(300 * SECOND, 100, lambda call: call.amount, lambda call: 0),
    Rule(700 * SECOND, 2, lambda call: 1, lambda call: call.key),
)
ASKS_WINDOW_NS, ASKS_MAX = 1000 * SECOND, 7
TOKENS_WINDOW_NS, TOKENS_MAX = 600 * SECOND, 150
WAYS: tuple[Literal["average", "largest", "not_counted"], ...] = ("average", "largest", "not_counted")


def admits(calls: list[Call], call: Call) -> bool:
    """Whether the windows before it, which hold those calls, have room."""
    for rule in RULES:
        inside = (
            each for each in calls if call.time_ns - each.time_ns < rule.window_ns and rule.key(each) == rule.key(call)
        )
        if sum(map(rule.value, inside)) + rule.value(call) > rule.bound:
            return False
    return True


@dataclass(slots=True)
class Ask:
    """`reserved_ns`, `reserved`: when it entered, and with how much. `prompt`: the tokens of its prompt. `left`: what
    it left when it ended."""

    agent: int
    reserved_ns: int
    reserved: int
    estimate: int
    prompt: int
    ended_ns: int | None = None
    left: int = 0
    is_lost: bool = False
    is_entry_durable: bool = False
    is_end_durable: bool = False


@dataclass(slots=True)
class Asks:
    """The asks of one process that is killed and started again, where nothing else goes wrong."""

    all: dict[int, Ask] = field(default_factory=dict)

    def answered(self, agent: int, now_ns: int) -> tuple[int, int]:
        """Tokens and number of the asks that count as answered."""
        tokens = [
            each.left
            for each in self._of(agent)
            if each.ended_ns is not None and each.left > 0 and now_ns - each.ended_ns < TOKENS_WINDOW_NS
        ]
        tokens += [
            each.reserved for each in self._of(agent) if each.is_lost and now_ns - each.reserved_ns < TOKENS_WINDOW_NS
        ]
        return sum(tokens), len(tokens)

    def _of(self, agent: int) -> list[Ask]:
        return [each for each in self.all.values() if each.agent == agent]

    def verdict(self, agent: int, now_ns: int, estimate: int) -> Literal["i", "w", "r"]:
        if sum(now_ns - each.reserved_ns < ASKS_WINDOW_NS for each in self._of(agent)) + 1 > ASKS_MAX:
            return "r"
        total, count = self.answered(agent, now_ns)
        under_way = [each for each in self._of(agent) if each.ended_ns is None and not each.is_lost]
        if WAYS[agent] == "largest":
            return "i" if total + sum(each.estimate for each in under_way) + estimate <= TOKENS_MAX else "r"
        if WAYS[agent] == "not_counted" or not under_way:
            return "i" if total <= TOKENS_MAX else "r"
        if count and total * count + len(under_way) * total <= TOKENS_MAX * count:
            return "i"
        return "w"

    def likely(self, agent: int, now_ns: int, estimate: int, prompt: int) -> int:
        total, count = self.answered(agent, now_ns)
        return estimate if WAYS[agent] == "largest" or count == 0 else max(prompt, -(-total // count))

    def end(self, number: int, now_ns: int, tokens: int, is_cancelled: bool) -> int:
        """What it leaves."""
        each = self.all[number]
        each.left = tokens
        if is_cancelled and WAYS[each.agent] != "not_counted":
            each.left = max(tokens + each.prompt, self.likely(each.agent, now_ns, each.estimate, each.prompt))
        each.ended_ns = now_ns
        return each.left

    def become_durable(self) -> None:
        for each in self.all.values():
            each.is_entry_durable = True
            each.is_end_durable = each.ended_ns is not None

    def lose_what_is_not_durable(self) -> None:
        self.all = {number: each for number, each in self.all.items() if each.is_entry_durable}
        for each in self.all.values():
            if not each.is_end_durable:
                each.ended_ns, each.is_lost = None, True


def check_seed(title: str, events: list[str]) -> None:
    """No window of true time holds more than its bound, whatever was done to disks and clocks, and no record blocks for
    longer than a window; and where nothing fails, everything is as the model says."""
    _, seed, exact = title.split()
    split = [event.split() for event in events]
    check_calls(split, seed)
    check_tokens(split, seed)
    if exact == "1":
        check_exactly(split, seed)


def check_calls(events: list[list[str]], seed: str) -> None:
    passed: list[Call] = []
    #: Of each call that may be in the file: when it may have been recorded, and the run of the machine.
    perhaps: dict[int, list[tuple[Call, int]]] = {}
    boot, opened_ns = 0, 0
    for kind, *rest in events:
        if kind == "P":
            # The disk failed while a process started; a file that opens is always in order.
            assert rest[0] in ("cannot_create", "cannot_write", "not_durable", "cannot_open"), f"seed {seed}: {rest}"
        elif kind == "O":
            opened_ns, boot = map(int, rest)
        elif kind in "IYUFN":
            call = Call(*map(int, rest))
            if kind == "Y":
                passed.append(call)
            if kind == "N":
                others = [each for number, times in perhaps.items() if number != call.number for each in times[-1:]]
                held = [_latest(each, made_in, boot, opened_ns) for each, made_in in others]
                assert not admits(held, call), f"seed {seed}: refused though there is room: {rest}"
            else:
                perhaps.setdefault(call.number, []).append((call, boot))
    passed.sort(key=lambda call: call.time_ns)
    for index, call in enumerate(passed):
        assert admits(passed[:index], call), f"seed {seed}: too much at {call}"


def _latest(call: Call, made_in: int, boot: int, opened_ns: int) -> Call:
    """One of an earlier run of the machine can count as made when it was read."""
    return call if made_in == boot else Call(call.number, opened_ns, call.amount, call.key)


def check_tokens(events: list[list[str]], seed: str) -> None:
    """What asks took at least, as far as it must be known wherever the next one enters: never more than the bound when
    one is let through."""
    asks: dict[int, Ask] = {}
    for kind, *rest in events:
        if kind == "a":
            number, agent, time_ns, estimate, reserved, prompt = map(int, rest)
            inside = [
                each for each in asks.values() if each.agent == agent and time_ns - each.reserved_ns < TOKENS_WINDOW_NS
            ]
            if WAYS[agent] == "largest":
                total = estimate + sum(each.left if each.ended_ns is not None else each.estimate for each in inside)
            else:
                total = sum(min(each.left, each.reserved) for each in inside if each.ended_ns is not None)
            assert total <= TOKENS_MAX, f"seed {seed}: {total} tokens at {rest}"
            asks[number] = Ask(agent, time_ns, reserved, estimate, prompt)
        elif kind == "e":
            number, time_ns, _, _, left, _ = map(int, rest)
            if number in asks:
                asks[number].ended_ns, asks[number].left = time_ns, left


def check_exactly(events: list[list[str]], seed: str) -> None:
    calls: list[Call] = []
    asks = Asks()
    for kind, *rest in events:
        where = f"seed {seed}: {kind} {rest}"
        if kind in "YN":
            call = Call(*map(int, rest))
            assert admits(calls, call) == (kind == "Y"), where
            if kind == "Y":
                calls.append(call)
        elif kind in "iwr":
            number, agent, time_ns, estimate, reserved, prompt = map(int, rest)
            assert asks.verdict(agent, time_ns, estimate) == kind, where
            if kind == "i":
                assert asks.likely(agent, time_ns, estimate, prompt) == reserved, where
                asks.all[number] = Ask(agent, time_ns, reserved, estimate, prompt)
        elif kind == "e":
            number, time_ns, tokens, is_cancelled, left, _ = map(int, rest)
            assert asks.end(number, time_ns, tokens, is_cancelled == 1) == left, where
        elif kind == "D":
            asks.become_durable()
        elif kind == "X":
            asks.lose_what_is_not_durable()
