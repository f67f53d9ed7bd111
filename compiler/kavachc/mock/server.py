"""HTTP/1.1 for the mock provider: connections of asyncio, with h11 for the protocol."""

from __future__ import annotations

import asyncio
import http.client
import ssl
from typing import Any

import h11

from kavachc.mock.provider import MockProvider, Turn, WireReply, WireRequest

REQUEST_BYTES_MAX = 64 << 20
WAITING_CONNECTIONS_MAX = 4_096


class Connection(asyncio.Protocol):
    """One connection; requests on it are answered one after another. A test's server overrides `deliver`."""

    def __init__(self, provider: MockProvider) -> None:
        self._provider = provider
        self._machine = h11.Connection(h11.SERVER, max_incomplete_event_size=64 << 10)
        self._request: h11.Request | None = None
        self._body = bytearray()
        self._turn: Turn | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._client = 0
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._client = transport.get_extra_info("peername")[1]

    def connection_lost(self, _problem: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._end_turn("left")

    def data_received(self, data: bytes) -> None:
        if self._machine.their_state is h11.ERROR:
            return
        try:
            self._machine.receive_data(data)
            self._read_on()
        except h11.RemoteProtocolError as problem:
            self._refuse(problem.error_status_hint, str(problem))

    def _read_on(self) -> None:
        while True:
            event = self._machine.next_event()
            if isinstance(event, h11.Request):
                self._request = event
                self._body.clear()
            elif isinstance(event, h11.Data):
                self._body += event.data
                if len(self._body) > REQUEST_BYTES_MAX:
                    return self._refuse(413, "the request is larger than 64 MB")
            elif isinstance(event, h11.EndOfMessage):
                return self._begin_turn()
            elif event is h11.NEED_DATA:
                if self._machine.they_are_waiting_for_100_continue:
                    self.transport.write(self._machine.send(h11.InformationalResponse(status_code=100, headers=[])))
                return None
            else:
                # Closed, or more of it than fits one answer: then after that.
                return None

    def _begin_turn(self) -> None:
        request = self._request
        assert request is not None
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers}
        turn = self._provider.begin(
            WireRequest(
                request.method.decode("ascii"),
                request.target.decode("latin-1"),
                headers,
                bytes(self._body),
                self._client,
            )
        )
        self._turn = turn
        if turn.delay_ns > 0:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(turn.delay_ns / 1e9, self._answer)
        else:
            self._answer()

    def _answer(self) -> None:
        turn = self._turn
        assert turn is not None
        self._timer = None
        if turn.reply is None:
            self._end_turn("dropped")
            self.transport.close()
            return
        content = self._encoded(turn.reply)
        self._end_turn("answered")
        self.deliver(turn, content)
        if self._machine.our_state is h11.MUST_CLOSE:
            self.transport.close()
        elif self._machine.our_state is h11.DONE:
            self._machine.start_next_cycle()
            self._read_on()

    def deliver(self, _turn: Turn, content: bytes) -> None:
        """Writes the whole answer, which is `content`."""
        self.transport.write(content)

    def _encoded(self, reply: WireReply) -> bytes:
        headers = [*reply.headers, ("content-length", str(len(reply.body)))]
        parts = [
            self._machine.send(h11.Response(status_code=reply.status, headers=headers, reason=_reason(reply.status))),
            self._machine.send(h11.Data(data=reply.body)),
            self._machine.send(h11.EndOfMessage()),
        ]
        return b"".join(part for part in parts if part)

    def _end_turn(self, how: str) -> None:
        if self._turn is not None:
            turn, self._turn = self._turn, None
            self._provider.end(turn, how)

    def _refuse(self, status: int, message: str) -> None:
        """What came is not HTTP, or too much of it: an answer where one is still possible, and the end."""
        if self._machine.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            reply = self._provider.error_reply(status, message)
            closing = (*reply.headers, ("connection", "close"))
            self.transport.write(self._encoded(WireReply(reply.status, closing, reply.body)))
        self.transport.close()


def _reason(status: int) -> str:
    return http.client.responses.get(status, "")


async def start_server(
    provider: MockProvider,
    port: int = 0,
    tls: ssl.SSLContext | None = None,
    connection: type[Connection] = Connection,
) -> asyncio.Server:
    """Listens on 127.0.0.1; raises OSError."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(
        lambda: connection(provider), "127.0.0.1", port, ssl=tls, backlog=WAITING_CONNECTIONS_MAX
    )


def port_of(server: asyncio.Server) -> int:
    port: int = server.sockets[0].getsockname()[1]
    return port
