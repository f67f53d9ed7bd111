"""`ask` in plain Python: limits, tries, busy answers, refusals, dry runs (spec 8.4)."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from kavachc.audit.format import Field
from kavachc.interpreter.arithmetic import INT_MAX
from kavachc.interpreter.decode import Holds, Misfit, decode_answer, fitting_json
from kavachc.interpreter.host import Answer
from kavachc.interpreter.model_admission import TRIES, Admission, Entrant, largest_tokens, send_tokens
from kavachc.interpreter.model_audit import AuditLog, usage_fields
from kavachc.interpreter.model_gate import Gate
from kavachc.interpreter.model_journal import Journal, Refused, Verdict
from kavachc.interpreter.model_ledger import Ledger, Record
from kavachc.interpreter.model_retry import (
    RETRY_WAITS_S,
    SplitMix64,
    ending_of,
    host_random,
    is_busy,
    retry_after_ns,
    wait_ns,
)
from kavachc.interpreter.model_scheduler import Interrupted, Scheduler, Task
from kavachc.interpreter.output import Output
from kavachc.interpreter.provider import Endpoint, endpoint_of, failure_text, gate_key, prompt_as_sent, refusal_text
from kavachc.interpreter.replies import Carrier, Dropped, ModelAnswer, ModelFailure, ModelReply, Usage
from kavachc.interpreter.show import quote, show_duration, show_inside
from kavachc.semantics.schema import Sample, Schema
from kavachc.semantics.typed_ast import Agent, ModelSettings
from kavachc.semantics.types import Type

PROMPT_BYTES_PER_TOKEN = 4
DEFAULT_MODEL = ModelSettings()
DROPPED_MESSAGE = "connection dropped"
NO_USAGE = Usage()


class LimitBroken(Exception):
    """The ask is denied, for the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


AskSteps: TypeAlias = Generator[None, None, Answer]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an answer is to be: of the type, which has the schema; a dry run answers the sample."""

    type: Type
    schema: Schema
    sample: Sample
    holds: Holds


class ModelClient:
    """`carrier` carries requests to the model, None in a dry run."""

    def __init__(
        self,
        scheduler: Scheduler,
        ledger: Ledger,
        output: Output,
        carrier: Carrier | None,
        journal: Journal | None = None,
        audit: AuditLog | None = None,
    ) -> None:
        self._scheduler = scheduler
        self._journal = journal
        self._output = output
        self._carrier = carrier
        self._audit = audit
        self._asks_begun = 0
        self._admission = Admission(ledger, journal)
        self._gates: dict[tuple[str, str], Gate] = {}
        self._random: Callable[[], int] = SplitMix64() if scheduler.clock.is_virtual else host_random

    def ask(self, agent: Agent | None, wanted: Wanted, prompt: str) -> AskSteps:
        """One ask, from the check for a key to its end."""
        model = agent.model if agent else DEFAULT_MODEL
        self._asks_begun += 1
        ask = Ask(self._asks_begun, agent, model, endpoint_of(model, os.environ), wanted, prompt)
        if self._audit is not None:
            self._audit.record_ask(ask.number, agent.name if agent else None, model.name, prompt)
        with self._scheduler.calling_off(partial(self._note_end, ask, "Cancelled")):
            answer = yield from self._asked(ask)
        says = answer.kind in ("NoKey", "Denied") or (answer.kind == "Failed" and answer.status != 200)
        self._note_end(ask, answer.kind, answer.status, answer.text if says else None)
        return answer

    def _note(self, ask: Ask, event: str, **fields: Field) -> None:
        if self._audit is not None:
            self._audit.record(event, ask=ask.number, **fields)

    def _note_end(self, ask: Ask, result: str, status: int = 0, message: str | None = None) -> None:
        """What the model wrote is in no line: neither an answer, nor why it refuses one."""
        self._note(ask, "end", result=result, status=status, message=message, **usage_fields(ask.usage))

    def _asked(self, ask: Ask) -> AskSteps:
        agent, model, endpoint = ask.agent, ask.model, ask.endpoint
        prompt = prompt_as_sent(ask.wanted.schema, ask.prompt)
        obstacle = self._carrier.obstacle(endpoint) if self._carrier is not None else None
        if obstacle is not None:
            return obstacle
        tokens = -(-len(prompt.encode()) // PROMPT_BYTES_PER_TOKEN)
        if model.context_budget is not None and tokens > model.context_budget:
            return Answer("Failed", f"context budget: about {tokens} tokens, budget {model.context_budget}")
        limit = next((limit for limit in agent.limits if limit.capability is None), None) if agent else None
        if agent is None or limit is None:
            return (yield from self._answered(ask))
        largest = largest_tokens(prompt, model.max_tokens)
        ask.entrant = Entrant(agent, limit, largest, self._carrier is None, prompt_tokens=tokens)
        return (yield from self._limited(ask, ask.entrant))

    def _limited(self, ask: Ask, entrant: Entrant) -> AskSteps:
        try:
            yield from self._pass_limit(ask, entrant)
        except LimitBroken as broken:
            return Answer("Denied", broken.reason)
        with self._scheduler.calling_off(lambda: self._leave(entrant, is_abandoned=True)):
            answer = yield from self._answered(ask)
        self._leave(entrant, is_abandoned=ask.is_abandoned)
        return answer

    def _pass_limit(self, ask: Ask, entrant: Entrant) -> Generator[None, None, None]:
        """Once the limit lets it through and that is durable; raises LimitBroken."""
        while (verdict := (yield from self._enter(ask, entrant))) != "recorded":
            if isinstance(verdict, Refused):
                self._note_limit(ask, entrant, "refused", verdict.reason)
                raise LimitBroken(verdict.reason)
        self._note_limit(ask, entrant, "allowed")

    def _go_further(self, ask: Ask, note: str) -> Generator[None, None, None]:
        """An ask that may take more than it counts as settles what it took, and enters again for its next send."""
        entrant = ask.entrant
        next_tokens = send_tokens(prompt_as_sent(ask.wanted.schema, ask.prompt + note), ask.model.max_tokens)
        if entrant is None or not self._admission.exceeds(entrant, next_tokens):
            return
        self._leave(entrant, is_abandoned=False)
        ask.settled_tokens = ask.usage.total
        entrant.tokens, entrant.estimate, entrant.is_further = 0, min(next_tokens, INT_MAX), True
        yield from self._pass_limit(ask, entrant)

    def _note_limit(self, ask: Ask, entrant: Entrant, decision: str, reason: str | None = None) -> None:
        self._note(ask, "limit", agent=entrant.agent.name, decision=decision, reason=reason)

    def _enter(self, ask: Ask, entrant: Entrant) -> Generator[None, None, Verdict]:
        """Once past the limit; with a state file, until that is durable."""
        found = self._admission.enter(entrant)
        if isinstance(found, Refused):
            return found
        if found == "wait":
            self._note_limit(ask, entrant, "waits")
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
        self._leave(recording.entrant, is_abandoned=True)

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

    def _leave(self, entrant: Entrant, *, is_abandoned: bool) -> None:
        for task in self._admission.leave(entrant, is_abandoned=is_abandoned):
            self._scheduler.wake(task)

    def _answered(self, ask: Ask) -> AskSteps:
        """The limit has let it through, and that is durable."""
        if self._carrier is None:
            return (yield from self._dry_run(ask))
        task = self._scheduler.current
        timer = self._scheduler.add_timer(
            ask.model.timeout_ns, partial(self._time_is_up, ask, task, len(task.call_offs))
        )
        try:
            with self._scheduler.calling_off(timer.turn_off):
                answer = yield from self._tries(self._carrier, ask)
        except Interrupted:
            return Answer("Failed", f"no answer within {show_duration(ask.model.timeout_ns)}")
        except LimitBroken as broken:
            answer = Answer("Denied", broken.reason)
        timer.turn_off()
        return answer

    def _time_is_up(self, ask: Ask, task: Task, mark: int) -> None:
        """A task that was woken in this moment has its turn, which may end the ask."""
        ask.is_late = True
        if task.is_waiting:
            self._scheduler.interrupt(task, mark)

    def _dry_run(self, ask: Ask) -> AskSteps:
        yield from self._scheduler.sleep(0)
        wanted = ask.wanted
        if wanted.sample.text is None:
            return Answer("Failed", wanted.sample.problem)
        value = decode_answer(wanted.sample.text, wanted.type, wanted.holds)
        self._output.error_line(f"[dry run] ask({quote(ask.prompt)}) -> {show_inside(value, wanted.type)}")
        return Answer("Answered", wanted.sample.text)

    def _tries(self, carrier: Carrier, ask: Ask) -> AskSteps:
        """At most three tries for an answer that fits; each re-ask says what did not (spec 8.4.tries)."""
        note = ""
        answer = ""
        for ask.tries in range(1, TRIES + 1):
            reply = yield from self._sends(carrier, ask, note)
            if isinstance(reply, Dropped):
                return Answer("Failed", DROPPED_MESSAGE)
            if isinstance(reply, ModelFailure):
                after_ns = self._retry_after_ns(reply)
                retry_after = 0 if after_ns is None else min(after_ns + 1, INT_MAX)
                return Answer("Failed", failure_text(ask.endpoint, reply), reply.status, retry_after)
            answer = reply.text
            if reply.stop == "refusal":
                return Answer("Failed", refusal_text(answer), 200)
            if reply.stop == "cut_off":
                return Answer("InvalidOutput", answer)
            try:
                return Answer("Answered", fitting_json(answer, ask.wanted.type, ask.wanted.holds))
            except Misfit as misfit:
                note = f"\n\nYour last answer did not fit: {misfit}. Answer again with the JSON value only."
        return Answer("InvalidOutput", answer)

    def _sends(self, carrier: Carrier, ask: Ask, note: str) -> Generator[None, None, ModelReply]:
        """One try: sent again after a wait while the model is busy, at most six sends (spec 8.4.busy)."""
        for ask.sends, wait_s in enumerate(RETRY_WAITS_S, start=1):
            reply = yield from self._send(carrier, ask, note)
            if not is_busy(reply):
                return reply
            ask.go_on()
            duration_ns = wait_ns(wait_s, self._random(), self._retry_after_ns(reply))
            self._note(ask, "retry", wait=duration_ns)
            yield from self._scheduler.sleep(duration_ns)
        ask.sends += 1
        return (yield from self._send(carrier, ask, note))

    def _retry_after_ns(self, reply: ModelReply) -> int | None:
        if not isinstance(reply, ModelFailure):
            return None
        return retry_after_ns(reply.retry_after, self._scheduler.clock.utc_ns())

    def _send(self, carrier: Carrier, ask: Ask, note: str) -> Generator[None, None, ModelReply]:
        """One request, from the gate to its end (spec 8.4.gate)."""
        ask.go_on()
        yield from self._go_further(ask, note)
        gate = self._gate(ask.endpoint)
        task = self._scheduler.current
        if not gate.enter(task):
            queued_ns = self._scheduler.clock.monotonic_ns()
            yield from self._scheduler.pause(partial(gate.leave, task))
            if ask.is_late:
                gate.leave(task)
            ask.go_on()
            self._note(ask, "gate", waited=self._scheduler.clock.monotonic_ns() - queued_ns)
        self._note(ask, "send", **{"try": ask.tries, "send": ask.sends})
        send = gate.begin()

        def abandon() -> None:
            ask.is_abandoned = True
            gate.end(send, "other")

        with self._scheduler.calling_off(abandon):
            reply = yield from carrier.reply(ask.endpoint, ask.wanted.schema, ask.prompt, ask.prompt + note)
        gate.end(send, ending_of(reply))
        self._note_reply(ask, reply)
        return reply

    def _note_reply(self, ask: Ask, reply: ModelReply) -> None:
        ask.usage = ask.usage.plus(reply.usage)
        if ask.entrant is not None:
            ask.entrant.tokens = ask.usage.total - ask.settled_tokens
        match reply:
            case ModelAnswer(usage=usage):
                self._note(ask, "answer", model=ask.model.name, **usage_fields(usage))
            case ModelFailure(status=status):
                self._note(ask, "failure", status=status, message=failure_text(ask.endpoint, reply))
            case Dropped():
                self._note(ask, "failure", status=0, message=DROPPED_MESSAGE)

    def _gate(self, endpoint: Endpoint) -> Gate:
        key = gate_key(endpoint)
        if key not in self._gates:
            self._gates[key] = Gate(self._scheduler.wake)
        return self._gates[key]


@dataclass(eq=False, slots=True)
class Ask:
    """One ask. `agent` is None outside agents, `entrant` without `limit Ai`. `usage` is that of all tries, of
    which `settled_tokens` are those with which it left its limit to enter it again; `tries` and
    `sends` count those begun, of the last try. `is_late`: its time is up. `is_abandoned`: a
    request was given up while it was under way, so that it may be billed."""

    number: int
    agent: Agent | None
    model: ModelSettings
    endpoint: Endpoint
    wanted: Wanted
    prompt: str
    entrant: Entrant | None = None
    usage: Usage = NO_USAGE
    settled_tokens: int = 0
    tries: int = 0
    sends: int = 0
    is_late: bool = False
    is_abandoned: bool = False

    def go_on(self) -> None:
        """Before each new wait: there is time for it."""
        if self.is_late:
            raise Interrupted


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
