"""Requests to real providers, over HTTP: `bindings/http_client.py` carries them, on a thread of its own."""

from __future__ import annotations

from collections.abc import Generator

from kavachc.bindings.abi import ExchangeProblem
from kavachc.bindings.exchange import HttpEngine
from kavachc.interpreter.host import Answer
from kavachc.interpreter.model_scheduler import Scheduler
from kavachc.interpreter.provider import (
    BODY_BYTES_MAX,
    KEY_VARIABLES,
    Endpoint,
    Received,
    obstacle,
    read,
    request,
)
from kavachc.interpreter.replies import ModelReply
from kavachc.semantics.schema import Schema


class HttpCarrier:
    """A `Carrier`. The engine is made for the first request."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._engine: HttpEngine | None = None

    def obstacle(self, endpoint: Endpoint) -> Answer | None:
        if not endpoint.key:
            return Answer("NoKey", KEY_VARIABLES[endpoint.model.provider])
        problem = obstacle(endpoint)
        return Answer("Failed", problem) if problem is not None else None

    def reply(self, endpoint: Endpoint, schema: Schema, asked: str, prompt: str) -> Generator[None, None, ModelReply]:
        if self._engine is None:
            from kavachc.bindings.http_client import HttpClient

            self._engine = HttpClient()
        engine = self._engine
        receiver = Receiver(self._scheduler)
        engine.send(request(endpoint, schema, prompt), receiver)
        yield from self._scheduler.pause_for_outside(lambda: receiver.abandon(engine))
        return read(endpoint, schema, prompt, receiver.received())

    def close(self) -> None:
        """The run is over; nothing is reported any more."""
        if self._engine is not None:
            self._engine.close()


class Receiver:
    """An `HttpReceiver`: what the engine's thread reports of one request, to the task that waits for it."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._task = scheduler.current
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self._status = 0
        self._problem = ExchangeProblem.NO_PROBLEM
        self._is_too_large = False
        self._is_abandoned = False

    # On the engine's thread.

    def header(self, name: str, value: str) -> None:
        self._headers.setdefault(name.lower(), value)

    def body(self, content: bytes) -> bool:
        if len(self._body) + len(content) > BODY_BYTES_MAX:
            self._is_too_large = True
        if self._is_too_large or self._is_abandoned:
            return False
        self._body += content
        return True

    def end(self, status: int, problem: ExchangeProblem) -> None:
        self._status = status
        self._problem = ExchangeProblem.TOO_LARGE if self._is_too_large else problem
        self._scheduler.complete(self._wake)

    # On the program's.

    def _wake(self) -> None:
        if not self._is_abandoned:
            self._scheduler.wake_from_outside(self._task)

    def abandon(self, engine: HttpEngine) -> None:
        """Nobody waits any more."""
        self._is_abandoned = True
        engine.abort(self)

    def received(self) -> Received:
        return Received(self._status, self._problem, bytes(self._body), self._headers)
