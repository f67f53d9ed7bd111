"""What the mock provider answers to each request: checks it, takes the script's next reply, and keeps the log."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TextIO

from kavachc.interpreter.replies import Dropped, ModelAnswer, ModelFailure
from kavachc.interpreter.scripted_model import Script, ScriptedReply
from kavachc.interpreter.show import quote
from kavachc.mock.formats import ANTHROPIC, FORMATS, Asked, ModelText, Refused, WireFormat

NS_PER_S = 1_000_000_000
TOO_MANY = "too many requests"


@dataclass(frozen=True, slots=True)
class WireRequest:
    """`headers` have lower-case names. `client` is the port of the client's end."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    client: int = 0


@dataclass(frozen=True, slots=True)
class WireReply:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(eq=False, slots=True)
class Turn:
    """One request and what becomes of it. `reply` is None where the connection is to close without an answer."""

    number: int
    reply: WireReply | None
    delay_ns: int = 0
    is_under_way: bool = False
    log: dict[str, object] = field(default_factory=dict)


class MockProvider:
    """A script, being played. The `log` gets one JSON line for each request, when it has ended."""

    def __init__(self, script: Script, log: TextIO | None = None) -> None:
        self._script = script
        self._log = log
        self._start_ns: int | None = None
        self._under_way: set[Turn] = set()
        self.requests_served = 0
        # The prompts that came when no reply was left.
        self.beyond_the_script = 0

    def begin(self, request: WireRequest) -> Turn:
        """A request has come in whole. `end` must follow."""
        now_ns = time.monotonic_ns()
        if self._start_ns is None:
            self._start_ns = now_ns
        self.requests_served += 1
        turn = Turn(self.requests_served, None)
        turn.log = {
            "request": turn.number,
            "client": request.client,
            "path": request.target,
            "began_ms": self._ms(now_ns),
        }
        form = FORMATS.get(request.target.partition("?")[0])
        try:
            asked = _checked(form, request)
        except Refused as refused:
            turn.reply = self._error(form or ANTHROPIC, turn, refused.status, refused.message)
            return turn
        assert form is not None
        turn.log.update(model=asked.model, prompt=asked.prompt, has_schema=asked.schema is not None)
        capacity = self._script.capacity_at(now_ns - self._start_ns)
        if capacity is not None and len(self._under_way) >= capacity:
            turn.reply = self._error(form, turn, 429, TOO_MANY)
            return turn
        scripted = self._script.next(asked.prompt)
        if scripted is None:
            self.beyond_the_script += 1
            message = f"the test model has no reply left for the prompt: {quote(asked.prompt)}"
            print(f"error: {message}", file=sys.stderr)
            turn.reply = self._error(form, turn, 400, message)
            return turn
        self._under_way.add(turn)
        turn.is_under_way = True
        turn.delay_ns = scripted.delay_ns
        turn.reply = self._reply(form, turn, asked, scripted)
        return turn

    def end(self, turn: Turn, how: str) -> None:
        """`how` is "answered", "dropped", or "left" where the client went away first."""
        self._under_way.discard(turn)
        if self._log is None:
            return
        turn.log.update(
            status=turn.reply.status if turn.reply else 0,
            end=how,
            ended_ms=self._ms(time.monotonic_ns()),
            under_way_after=len(self._under_way),
        )
        try:
            self._log.write(json.dumps(turn.log, ensure_ascii=False) + "\n")
            self._log.flush()
        except OSError as problem:
            print(f"error: cannot write the log: {problem.strerror}", file=sys.stderr)
            self._log = None

    def error_reply(self, status: int, message: str) -> WireReply:
        """For what is no request of HTTP at all."""
        return WireReply(status, (("content-type", "application/json"),), ANTHROPIC.error(status, message, "", "req_0"))

    def _reply(self, form: WireFormat, turn: Turn, asked: Asked, scripted: ScriptedReply) -> WireReply | None:
        wire = scripted.wire
        match scripted.reply:
            case Dropped():
                return None
            case ModelFailure(status=status, message=message, error_code=code):
                return self._error(form, turn, status, message, code, wire.headers)
            case ModelAnswer(text=text):
                said = ModelText(text, wire.stop_reason, wire.input_tokens, wire.output_tokens)
                body = form.answer(f"mock_{turn.number}", asked.model, said)
                return WireReply(200, self._headers(form, turn, ()), body)

    def _error(
        self,
        form: WireFormat,
        turn: Turn,
        status: int,
        message: str | None,
        code: str = "",
        headers: tuple[tuple[str, str], ...] = (),
    ) -> WireReply:
        body = form.error(status, message, code, f"req_mock_{turn.number}")
        return WireReply(status, self._headers(form, turn, headers), body)

    def _headers(
        self, form: WireFormat, turn: Turn, scripted: tuple[tuple[str, str], ...]
    ) -> tuple[tuple[str, str], ...]:
        own = {"content-type": "application/json", form.request_id_header: f"req_mock_{turn.number}"}
        return tuple((own | dict(scripted)).items())

    def _ms(self, moment_ns: int) -> float:
        assert self._start_ns is not None
        return round((moment_ns - self._start_ns) / 1e6, 3)


def _checked(form: WireFormat | None, request: WireRequest) -> Asked:
    if form is None:
        raise Refused(404, f"Not Found: {request.target}; there are {' and '.join(FORMATS)}")
    if request.method != "POST":
        raise Refused(405, "Method Not Allowed")
    if not (request.headers.get(form.key_header) or request.headers.get("authorization")):
        raise Refused(401, f"{form.key_header} header is required")
    return form.read(request.headers, request.body)
