"""`Http` in plain Python (spec 10.http)."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

from kavachc.audit.format import Field
from kavachc.interpreter.http_sender import HttpSender
from kavachc.interpreter.model_audit import AuditLog
from kavachc.interpreter.model_scheduler import Interrupted, Scheduler
from kavachc.interpreter.output import Output
from kavachc.interpreter.show import quote
from kavachc.interpreter.signals import ProgramStops
from kavachc.interpreter.web import (
    DRY_RUN_ANSWER,
    WebAnswer,
    WebRequest,
    answer_of,
    http_request,
    obstacle,
    place_of,
    too_late,
)
from kavachc.semantics.typed_ast import Agent

WebSteps = Generator[None, None, WebAnswer]


class WebClient:
    def __init__(
        self, scheduler: Scheduler, sender: HttpSender, output: Output, audit: AuditLog | None, *, dry_run: bool
    ) -> None:
        self._scheduler = scheduler
        self._sender = sender
        self._output = output
        self._audit = audit
        self._dry_run = dry_run
        self._requests_begun = 0

    def answer(self, agent: Agent | None, request: WebRequest) -> WebSteps:
        """What becomes of the request."""
        reason = obstacle(request)
        if reason is not None:
            return WebAnswer("BadRequest", reason)
        if self._scheduler.clock.is_virtual and not self._dry_run:
            raise ProgramStops(f"error: nothing is sent under virtual time: {request.shown()} needs --dry-run", 1)
        self._requests_begun += 1
        number = self._requests_begun
        name = agent.name if agent else None
        self._note("request", number, agent=name, method=request.method, host=place_of(request))
        with self._scheduler.calling_off(partial(self._note_end, number, "Cancelled")):
            answer = yield from self._made_up(request) if self._dry_run else self._sent(request)
        says = answer.ending in ("NotReached", "NoAnswer")
        self._note_end(number, answer.ending, answer.status, answer.text if says else None)
        return answer

    def _note(self, event: str, number: int, **fields: Field) -> None:
        if self._audit is not None:
            self._audit.record(event, request=number, **fields)

    def _note_end(self, number: int, result: str, status: int = 0, message: str | None = None) -> None:
        self._note("response", number, result=result, status=status, message=message)

    def _made_up(self, request: WebRequest) -> WebSteps:
        yield from self._scheduler.sleep(0)
        made = DRY_RUN_ANSWER
        shown = f"HttpAnswer(status: {made.status}, headers: [:], body: {quote(made.text)})"
        self._output.error_line(f"[dry run] {request.shown()} -> {shown}")
        return made

    def _sent(self, request: WebRequest) -> WebSteps:
        task = self._scheduler.current
        mark = len(task.call_offs)

        def time_is_up() -> None:
            """A task that was woken in this moment has its answer."""
            if task.is_waiting:
                self._scheduler.interrupt(task, mark)

        timer = self._scheduler.add_timer(max(0, request.timeout_ns), time_is_up)
        try:
            with self._scheduler.calling_off(timer.turn_off):
                received = yield from self._sender.send(http_request(request))
        except Interrupted:
            return too_late(request)
        timer.turn_off()
        return answer_of(request, received)
