"""Requests that go out over HTTP: `bindings/http_client.py` carries them, on a thread of its own."""

from __future__ import annotations

from collections.abc import Generator

from kavachc.bindings.abi import ExchangeProblem
from kavachc.bindings.exchange import HttpEngine, HttpRequest
from kavachc.interpreter.model_scheduler import Scheduler
from kavachc.interpreter.provider import BODY_BYTES_MAX, Received

# Headers beyond this are ignored.
HEADER_BYTES_MAX = 64 << 10


class HttpSender:
    """The engine is made for the first request."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._engine: HttpEngine | None = None

    def send(self, request: HttpRequest) -> Generator[None, None, Received]:
        """What came; a task that is cancelled or interrupted breaks the request off."""
        if self._engine is None:
            from kavachc.bindings.http_client import HttpClient

            self._engine = HttpClient()
        engine = self._engine
        receiver = Receiver(self._scheduler)
        engine.send(request, receiver)
        yield from self._scheduler.pause_for_outside(lambda: receiver.abandon(engine))
        return receiver.received()

    def close(self) -> None:
        """The run is over; nothing is reported any more."""
        if self._engine is not None:
            self._engine.close()


class Receiver:
    """An `HttpReceiver`: what the engine's thread reports of one request, to the task that waits for it."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._task = scheduler.current
        self._headers: dict[str, list[str]] = {}
        self._header_bytes = 0
        self._body = bytearray()
        self._status = 0
        self._problem = ExchangeProblem.NO_PROBLEM
        self._is_too_large = False
        self._is_abandoned = False

    # On the engine's thread.

    def header(self, name: str, value: str) -> None:
        length = len(name.encode()) + len(value.encode()) + 2
        if self._header_bytes + length <= HEADER_BYTES_MAX:
            self._header_bytes += length
            self._headers.setdefault(name.lower(), []).append(value)

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
        first = {name: values[0] for name, values in self._headers.items()}
        together = {name: ", ".join(values) for name, values in self._headers.items()}
        return Received(self._status, self._problem, bytes(self._body), first, together)
