"""An httpx transport with one connection of ours."""

from __future__ import annotations

import ssl

import httpcore
import httpx

from kavachc.bindings.http_stream import Backend


class Carrier(httpx.AsyncHTTPTransport):
    def __init__(self, backend: Backend, context: ssl.SSLContext | None, idle_s_max: float) -> None:
        self._backend = backend
        # Its own pool, of which httpx says neither the network nor the connections.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context, max_connections=1, keepalive_expiry=idle_s_max, network_backend=backend
        )

    @property
    def fields(self) -> list[tuple[bytes, bytes]]:
        """Those of the answer's head as they were sent, of which h11 writes some in its own way."""
        return self._backend.watch.fields

    def has_more(self) -> bool:
        """Something came behind the answer, which would be read as the next one: h11 has it, httpcore does not look."""
        for connection in self._pool.connections:
            talk = getattr(connection, "_connection", None)
            if talk is not None and talk._h11_state.trailing_data[0]:
                return True
        return False
