"""One HTTP request: what an engine takes, and to whom it reports. `http_client.py` is the engine there is.

The interpreter on the plain-Python runtime uses an engine directly; native code does through `Exchanges`, which hands
its `kv_exchange`s to an engine.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import CDLL, addressof, string_at
from dataclasses import dataclass
from typing import Any, Protocol

from kavachc.bindings import abi
from kavachc.bindings.abi import ExchangeProblem


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """`connect_limit_ns` is for the name, the connection and TLS together, `limit_ns` for all of it."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    connect_limit_ns: int
    limit_ns: int


class HttpReceiver(Protocol):
    """Called from any thread, in this order; `end` comes last and once, also after an abort."""

    def header(self, name: str, value: str) -> None: ...

    def body(self, content: bytes) -> bool:
        """A piece of the body, decoded. False: the engine reads no more of it, and reports the end."""

    def end(self, status: int, problem: ExchangeProblem) -> None:
        """The status is 0 when no answer began."""


class HttpEngine(Protocol):
    """Redirects are not followed: their status and `location` are reported like any answer's."""

    def send(self, request: HttpRequest, receiver: HttpReceiver) -> None:
        """Begins the request, and returns at once."""

    def abort(self, receiver: HttpReceiver) -> None:
        """Nobody wants the answer any more. Its end is still reported, soon; nothing happens if it was."""

    def close(self) -> None:
        """The run is over: ends what is under way."""


class Ends(Exception):
    """Of an engine: the request ends here, for this reason; the status is 0 where no answer has begun."""

    def __init__(self, problem: ExchangeProblem, status: int = 0) -> None:
        super().__init__(problem.name)
        self.problem = problem
        self.status = status


class Exchanges:
    """Carries the native runtime's requests to an engine, which is made when the first one is sent."""

    def __init__(self, library: CDLL, make_engine: Callable[[], HttpEngine]) -> None:
        self._library = library
        self._make_engine = make_engine
        self._engine: HttpEngine | None = None
        self._receivers: dict[int, _NativeReceiver] = {}

    def send(self, exchange: Any) -> None:
        if self._engine is None:
            self._engine = self._make_engine()
        receiver = _NativeReceiver(self._library, exchange, self._receivers)
        self._receivers[receiver.address] = receiver
        self._engine.send(_request(exchange.contents), receiver)

    def abort(self, exchange: Any) -> None:
        receiver = self._receivers.get(addressof(exchange.contents))
        if receiver is not None and self._engine is not None:
            self._engine.abort(receiver)

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()


class _NativeReceiver:
    """Reports to the runtime. Its exchange lives until its end is reported."""

    def __init__(self, library: CDLL, exchange: Any, receivers: dict[int, _NativeReceiver]) -> None:
        self._library = library
        self._exchange = exchange
        self._receivers = receivers
        self.address = addressof(exchange.contents)

    def header(self, name: str, value: str) -> None:
        name_bytes, value_bytes = name.encode(), value.encode()
        self._library.kv_exchange_header(self._exchange, name_bytes, len(name_bytes), value_bytes, len(value_bytes))

    def body(self, content: bytes) -> bool:
        return bool(self._library.kv_exchange_body(self._exchange, content, len(content)))

    def end(self, status: int, problem: ExchangeProblem) -> None:
        # First, since the runtime may give a new exchange the same address.
        del self._receivers[self.address]
        self._library.kv_exchange_end(self._exchange, status, problem)


def _request(exchange: abi.Exchange) -> HttpRequest:
    headers = (exchange.headers[index] for index in range(exchange.header_count))
    return HttpRequest(
        _text(exchange.method),
        _text(exchange.url),
        tuple((_text(header.name), _text(header.value)) for header in headers),
        _bytes(exchange.body),
        exchange.connect_limit_ns,
        exchange.limit_ns,
    )


def _text(view: abi.TextView) -> str:
    return _bytes(view).decode("utf-8", "replace")


def _bytes(view: abi.TextView) -> bytes:
    return string_at(view.bytes, view.length) if view.bytes is not None and view.length > 0 else b""
