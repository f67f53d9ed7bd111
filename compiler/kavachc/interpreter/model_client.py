"""`ask` in plain Python: limits, tries, busy answers, refusals, dry runs (spec 8.4)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from kavachc.interpreter.decode import Misfit, encode, fitting_json, sample_value
from kavachc.interpreter.host import Answer
from kavachc.interpreter.model_admission import TRIES, Admission, Entrant, largest_tokens
from kavachc.interpreter.model_journal import Journal, Refused, Verdict
from kavachc.interpreter.model_ledger import Ledger, Record
from kavachc.interpreter.model_scheduler import Scheduler, Task
from kavachc.interpreter.output import Output
from kavachc.interpreter.scripted_model import Dropped, ModelAnswer, ModelFailure, ModelReply, Script
from kavachc.interpreter.show import quote, show_inside
from kavachc.interpreter.signals import ProgramStops
from kavachc.semantics.schema import Schema
from kavachc.semantics.typed_ast import Agent
from kavachc.semantics.types import Type

KEY_VARIABLES = {"Anthropic": "ANTHROPIC_API_KEY", "OpenAi": "OPENAI_API_KEY"}
UNREACHABLE = "this version of kavachc cannot reach a provider yet: use a test model or a dry run"
RETRY_WAITS_S = (1, 2, 4, 8, 8)
RETRY_AFTER_S_MAX = 60
SPENT_CODES = ("enforced_spend_limit_reached", "insufficient_quota")
SECOND_NS = 1_000_000_000

AskSteps: TypeAlias = Generator[None, None, Answer]


class SplitMix64:
    """The random numbers of virtual time (spec 8.4.jitter), and those of a program (10.random)."""

    def __init__(self, seed: int = 0) -> None:
        self._state = seed

    def __call__(self) -> int:
        mask = 2**64 - 1
        self._state = (self._state + 0x9E3779B97F4A7C15) & mask
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        return mixed ^ (mixed >> 31)


def host_random() -> int:
    return int.from_bytes(os.urandom(8), "little")


class ModelClient:
    """`script` is the test model, None without one."""

    def __init__(
        self,
        scheduler: Scheduler,
        ledger: Ledger,
        output: Output,
        script: Script | None,
        *,
        is_dry_run: bool,
        journal: Journal | None = None,
    ) -> None:
        self._scheduler = scheduler
        self._journal = journal
        self._output = output
        self._script = script
        self._is_dry_run = is_dry_run
        self._admission = Admission(ledger, journal)
        self._requests_under_way = 0
        self._start_ns = scheduler.clock.monotonic_ns()
        self._random: Callable[[], int] = SplitMix64() if scheduler.clock.is_virtual else host_random

    def ask(self, agent: Agent | None, wanted: Type, schema: Schema, prompt: str) -> AskSteps:
        """One ask, from the check for a key to its end."""
        if self._script is None and not self._is_dry_run:
            variable = KEY_VARIABLES[agent.model.provider if agent else "Anthropic"]
            if not os.environ.get(variable):
                return Answer("NoKey", variable)
        limit = next((limit for limit in agent.limits if limit.capability is None), None) if agent else None
        if agent is None or limit is None:
            return (yield from self._answered(wanted, prompt, None))
        estimate = largest_tokens(prompt, agent.model.max_tokens)
        return (yield from self._limited(Entrant(agent, limit, estimate, self._is_dry_run), wanted, prompt))

    def _limited(self, entrant: Entrant, wanted: Type, prompt: str) -> AskSteps:
        while (verdict := (yield from self._enter(entrant))) != "recorded":
            if isinstance(verdict, Refused):
                return Answer("Denied", verdict.reason)
        with self._scheduler.calling_off(lambda: self._leave(entrant, is_cancelled=True)):
            answer = yield from self._answered(wanted, prompt, entrant)
        self._leave(entrant, is_cancelled=False)
        return answer

    def _enter(self, entrant: Entrant) -> Generator[None, None, Verdict]:
        """Once past the limit; with a state file, until that is durable."""
        found = self._admission.enter(entrant)
        if isinstance(found, Refused):
            return found
        if found == "wait":
            waiting = self._admission.asks_of(entrant.agent).waiting
            task = self._scheduler.current
            waiting[task] = None
            yield from self._scheduler.pause(partial(waiting.pop, task, None))
            return "again"
        if self._journal is None or not found:
            return "recorded"
        recording = Recording(self, entrant, self._scheduler.current)
        self._journal.submit(recording, found)
        yield from self._scheduler.pause(partial(self._call_off, recording))
        return recording.verdict

    def _call_off(self, recording: Recording) -> None:
        """Cancelled before it was sent: what was recorded stays."""
        assert self._journal is not None
        self._journal.forget(recording)
        self._leave(recording.entrant, is_cancelled=True)

    def undo(self, entrant: Entrant) -> None:
        for task in self._admission.leave_unrecorded(entrant):
            self._scheduler.wake(task)

    def enter_again(self, recording: Recording) -> Verdict | None:
        assert self._journal is not None
        found = self._admission.enter(recording.entrant)
        if isinstance(found, Refused):
            return found
        if found == "wait":
            return "again"
        self._journal.submit(recording, found)
        return None

    def wake(self, task: Task) -> None:
        self._scheduler.wake(task)

    def _leave(self, entrant: Entrant, *, is_cancelled: bool) -> None:
        for task in self._admission.leave(entrant, is_cancelled=is_cancelled):
            self._scheduler.wake(task)

    def _answered(self, wanted: Type, prompt: str, entrant: Entrant | None) -> AskSteps:
        if self._is_dry_run:
            return (yield from self._dry_run(wanted, prompt))
        if self._script is None:
            # The place for a real provider: everything below speaks of requests and replies only.
            return Answer("Failed", UNREACHABLE)
        return (yield from self._tries(self._script, wanted, prompt, entrant))

    def _dry_run(self, wanted: Type, prompt: str) -> AskSteps:
        yield from self._scheduler.sleep(0)
        value = sample_value(wanted)
        self._output.error_line(f"[dry run] ask({quote(prompt)}) -> {show_inside(value, wanted)}")
        return Answer("Answered", encode(value))

    def _tries(self, script: Script, wanted: Type, prompt: str, entrant: Entrant | None) -> AskSteps:
        """At most three tries for an answer that fits; each re-ask says what did not (spec 8.4.tries)."""
        note = ""
        answer = ""
        for _ in range(TRIES):
            reply = yield from self._sends(script, prompt, note)
            if isinstance(reply, Dropped):
                return Answer("Failed", "connection dropped")
            if isinstance(reply, ModelFailure):
                return Answer("Failed", reply.message, reply.status)
            if entrant is not None:
                entrant.tokens += reply.tokens
            answer = reply.text
            if reply.stop == "refusal":
                return Answer("Failed", f"refused: {answer}", 200)
            if reply.stop == "cut_off":
                return Answer("InvalidOutput", answer)
            try:
                return Answer("Answered", fitting_json(answer, wanted))
            except Misfit as misfit:
                note = f"\n\nYour last answer did not fit: {misfit}. Answer again with the JSON value only."
        return Answer("InvalidOutput", answer)

    def _sends(self, script: Script, prompt: str, note: str) -> Generator[None, None, ModelReply]:
        """One try: sent again after a wait while the model is busy, at most six sends (spec 8.4.busy)."""
        for wait_s in RETRY_WAITS_S:
            reply = yield from self._send(script, prompt, note)
            if not _is_busy(reply):
                return reply
            retry_after = reply.retry_after if isinstance(reply, ModelFailure) else ""
            yield from self._scheduler.sleep(wait_ns(wait_s, self._random(), retry_after))
        return (yield from self._send(script, prompt, note))

    def _send(self, script: Script, prompt: str, note: str) -> Generator[None, None, ModelReply]:
        """One request to the scripted model, which counts as under way until its reply is taken."""
        capacity = script.capacity_at(self._scheduler.clock.monotonic_ns() - self._start_ns)
        if capacity is not None and self._requests_under_way >= capacity:
            yield from self._scheduler.sleep(0)
            return ModelFailure(429, "too many requests")
        scripted = script.next(prompt + note)
        if scripted is None:
            raise ProgramStops(f"error: the test model has no reply left for the prompt: {quote(prompt)}", 1)
        self._requests_under_way += 1
        with self._scheduler.calling_off(self._request_ended):
            yield from self._scheduler.sleep(scripted.delay_ns)
        self._request_ended()
        return scripted.reply

    def _request_ended(self) -> None:
        self._requests_under_way -= 1


@dataclass(eq=False, slots=True)
class Recording:
    """An ask that the limit let through, until that is durable (`Waiter`)."""

    client: ModelClient
    entrant: Entrant
    task: Task
    verdict: Verdict = "again"

    def finish(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.client.wake(self.task)

    def undo(self) -> None:
        self.client.undo(self.entrant)

    def again(self, records: list[Record]) -> Verdict | None:
        return self.client.enter_again(self)


def _is_busy(reply: ModelReply) -> bool:
    match reply:
        case ModelAnswer():
            return False
        case Dropped():
            return True
        case ModelFailure(status=429):
            return reply.error_code not in SPENT_CODES
        case ModelFailure(status=status):
            return status == 408 or 500 <= status <= 599


def wait_ns(wait_s: int, random: int, retry_after: str) -> int:
    """The wait before another send: between half and all of `wait_s`, and no less than a sensible `Retry-After`."""
    half_ns = wait_s * SECOND_NS // 2
    jittered_ns = half_ns + random % (half_ns + 1)
    return max(jittered_ns, _retry_after_s(retry_after) * SECOND_NS)


def _retry_after_s(header: str) -> int:
    """Whole seconds, at most 60; 0 for anything else, which is ignored."""
    digits = header.strip(" \t")
    if not re.fullmatch("[0-9]+", digits):
        return 0
    significant = digits.lstrip("0")
    return RETRY_AFTER_S_MAX if len(significant) > 2 else min(int(significant or "0"), RETRY_AFTER_S_MAX)
