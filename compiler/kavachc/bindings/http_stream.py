"""Connections for httpcore, whose bytes we see: heads are looked at before h11 reads them, and proxies are opened here,
since httpcore forgets what a proxy says, and the brackets of an address."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any

import httpcore
from httpcore._backends.auto import AutoBackend

from kavachc.bindings.abi import ExchangeProblem
from kavachc.bindings.exchange import Ends
from kavachc.bindings.http_head import HeadWatch, NotHttp
from kavachc.bindings.http_proxy import Proxy

READ_BYTES = 64 << 10


class Backend(httpcore.AsyncNetworkBackend):
    """Connects, through the proxy if there is one; `is_tls`: by a tunnel."""

    def __init__(self, proxy: Proxy | None, is_tls: bool) -> None:
        self._inner = AutoBackend()
        self._proxy = proxy
        self._is_tls = is_tls
        self.watch = HeadWatch()
        """Of the answer that comes, or that came last: there is one connection at a time."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        proxy = self._proxy
        if proxy is None:
            return Stream(await self._inner.connect_tcp(host, port, timeout, local_address, socket_options), self)
        stream = await self._inner.connect_tcp(proxy.host, proxy.port, timeout, local_address, socket_options)
        if self._is_tls:
            try:
                await _open_tunnel(stream, f"[{host}]:{port}" if ":" in host else f"{host}:{port}", proxy)
            except BaseException:
                await stream.aclose()
                raise
        return Stream(stream, self)


async def _open_tunnel(stream: httpcore.AsyncNetworkStream, target: str, proxy: Proxy) -> None:
    login = "" if proxy.authorization is None else f"proxy-authorization: {proxy.authorization}\r\n"
    watch = HeadWatch()
    try:
        await stream.write(f"CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n{login}\r\n".encode())
        while not watch.status:
            content = await stream.read(READ_BYTES)
            if not content:
                raise Ends(ExchangeProblem.UNREACHABLE)
            watch.feed(content)
    except (NotHttp, httpcore.NetworkError):
        raise Ends(ExchangeProblem.UNREACHABLE) from None
    if watch.status == 407:
        raise Ends(ExchangeProblem.NO_PROBLEM, 407)
    if watch.status >= 300:
        raise Ends(ExchangeProblem.UNREACHABLE)
    # In TLS the client speaks first, so this is nobody who speaks it.
    if watch.rest:
        raise Ends(ExchangeProblem.TLS)


class Stream(httpcore.AsyncNetworkStream):
    def __init__(self, inner: httpcore.AsyncNetworkStream, backend: Backend) -> None:
        self._inner = inner
        self._backend = backend

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        content = await self._inner.read(max_bytes, timeout)
        try:
            self._backend.watch.feed(content)
        except NotHttp:
            raise Ends(ExchangeProblem.MALFORMED) from None
        return content

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Of a request, all of which is written before its answer is read."""
        self._backend.watch = HeadWatch()
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        """No certificate has the dot that may stand at a name's end."""
        name = None if server_hostname is None else server_hostname.removesuffix(".")
        return Stream(await self._inner.start_tls(ssl_context, name, timeout), self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
