"""The HTTP engine: httpx on one background thread, with up to 256 requests under way (`shortage.py`).

It reports problems in the words of `ExchangeProblem`, which are the same on every engine, so what httpx, h11 and ssl
raise is told apart here and nowhere else.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kavachc.bindings.abi import ExchangeProblem
from kavachc.bindings.authorities import Authorities
from kavachc.bindings.exchange import Ends, HttpReceiver, HttpRequest
from kavachc.bindings.http_proxy import Proxy, UnusableProxy, proxy_for
from kavachc.bindings.http_url import parse_with_query
from kavachc.bindings.shortage import Places, check_files, shortage_of

if TYPE_CHECKING:
    import httpx

    from kavachc.bindings.http_carrier import Carrier

Problem = ExchangeProblem
STACK_BYTES = 1 << 20
PIECE_BYTES = 64 << 10
IDLE_S_MAX = 30.0
CLOSING_S_MAX = 2.0
# OpenSSL's codes for a certificate of another name, or another address.
NAME_MISMATCH_CODES = (62, 64)
UNREACHABLE_ERRNOS = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.EADDRNOTAVAIL)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where connections lead, and so which requests they can carry."""

    origin: str
    is_tls: bool
    proxy: Proxy | None

    @property
    def is_forwarded(self) -> bool:
        """The proxy reads the requests: it is told the whole URL, and who we are."""
        return self.proxy is not None and not self.is_tls


@dataclass(eq=False, slots=True)
class _Sending:
    """One request under way. `phase` is what it does: it connects, secures the connection, or talks. `reason` is why it
    was called off. `status` is that of the answer that has begun. `stream` is the connection, if a new one was made."""

    request: HttpRequest
    receiver: HttpReceiver
    task: asyncio.Task[Problem] | None = None
    phase: str = "connect"
    reason: Problem | None = None
    status: int = 0
    stream: Any = None

    def call_off(self, reason: Problem) -> None:
        if self.reason is None and self.task is not None and not self.task.done():
            self.reason = reason
            self.task.cancel()


class HttpClient:
    """An `HttpEngine`. Its thread begins with the first request and ends with `close`."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._sendings: dict[HttpReceiver, _Sending] = {}
        self._idle: dict[_Place, list[Carrier]] = {}
        self._authorities: Authorities | None = None
        self._places: Places | None = None

    def send(self, request: HttpRequest, receiver: HttpReceiver) -> None:
        if self._loop is None:
            try:
                self._start()
            except (OSError, RuntimeError) as error:
                receiver.end(0, shortage_of([error]) or Problem.NO_FILES)
                return
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._begin, _Sending(request, receiver))

    def _start(self) -> None:
        loop = _Loop()
        try:
            self._thread = start_thread(self._run, loop)
        except RuntimeError:
            loop.close()
            raise
        self._loop = loop

    def abort(self, receiver: HttpReceiver) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._call_off, receiver)

    def close(self) -> None:
        """Calls off what is under way, and ends the thread."""
        if self._loop is None or self._thread is None:
            return
        with suppress(RuntimeError):  # It has ended already.
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(2 * CLOSING_S_MAX)
        self._loop = self._thread = None

    # The rest runs on the thread.

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        # What libraries leave behind is not the program's, so nothing is said of it.
        loop.set_exception_handler(lambda _loop, _problem: None)
        try:
            loop.run_forever()
            loop.run_until_complete(self._wind_up())
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()

    async def _wind_up(self) -> None:
        sendings = list(self._sendings.values())
        for sending in sendings:
            sending.call_off(Problem.ABORTED)
        tasks = [sending.task for sending in sendings if sending.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSING_S_MAX)
        await self._close_idle()

    async def _close_idle(self) -> bool:
        """Closes the connections that carry nothing; False: there is none."""
        carriers = [each for carriers in self._idle.values() for each in carriers]
        self._idle.clear()
        for carrier in carriers:
            with suppress(Exception):
                await asyncio.wait_for(carrier.aclose(), CLOSING_S_MAX)
        return bool(carriers)

    def _begin(self, sending: _Sending) -> None:
        self._sendings[sending.receiver] = sending
        sending.task = asyncio.get_running_loop().create_task(self._perform(sending))
        # Called also for a task that is called off before its first step.
        sending.task.add_done_callback(lambda task: self._ended(sending, task))

    def _ended(self, sending: _Sending, task: asyncio.Task[Problem]) -> None:
        del self._sendings[sending.receiver]
        problem = Problem.ABORTED if task.cancelled() else task.result()
        sending.receiver.end(sending.status, sending.reason or problem)

    def _call_off(self, receiver: HttpReceiver) -> None:
        sending = self._sendings.get(receiver)
        if sending is not None:
            sending.call_off(Problem.ABORTED)

    async def _perform(self, sending: _Sending) -> Problem:
        if self._places is None:
            self._places = Places()
        return await self._places.carry(lambda: self._attempt(sending), self._close_idle)

    async def _attempt(self, sending: _Sending) -> Problem:
        loop = asyncio.get_running_loop()
        request = sending.request
        sending.phase = "connect"
        connecting = loop.call_later(request.connect_limit_ns / 1e9, sending.call_off, Problem.TIMED_OUT)
        whole = loop.call_later(request.limit_ns / 1e9, sending.call_off, Problem.LATE)
        try:
            place = _place(request.url)
            try:
                await self._converse(sending, place, connecting.cancel)
            except Ends:
                raise
            except Exception as error:
                problem = problem_of(error, sending.phase)
                if problem is Problem.UNTRUSTED and self._authorities and self._authorities.are_missing:
                    return Problem.NO_AUTHORITIES
                # What is wrong with a proxy is not said of the server behind it.
                is_of_proxy = place.proxy is not None and problem in (Problem.REFUSED, Problem.UNKNOWN_HOST)
                return Problem.UNREACHABLE if is_of_proxy else problem
        except Ends as end:
            sending.status = sending.status or end.status
            return end.problem
        finally:
            connecting.cancel()
            whole.cancel()
        return Problem.NO_PROBLEM

    async def _converse(self, sending: _Sending, place: _Place, connected: Callable[[], object]) -> None:
        import httpx

        carrier = self._take(place)
        given = [(name, value.strip(" \t")) for name, value in sending.request.headers]
        headers = [("accept-encoding", "gzip"), *given]
        extensions: dict[str, Any] = {"trace": _follow(sending, connected)}
        if place.proxy is not None and place.is_forwarded:
            extensions["target"] = sending.request.url.encode()
            if place.proxy.authorization is not None:
                headers.append(("proxy-authorization", place.proxy.authorization))
        request = httpx.Request(
            sending.request.method,
            sending.request.url,
            headers=headers,
            content=sending.request.body,
            extensions=extensions,
        )
        try:
            response = await carrier.handle_async_request(request)
        except BaseException:
            # httpx forgets a connection that was called off before it was secured.
            if sending.stream is not None:
                with suppress(Exception):
                    await sending.stream.aclose()
            raise
        try:
            sending.status = response.status_code
            for name, value in carrier.fields:
                sending.receiver.header(name.decode(), value.decode("utf-8", "replace"))
            await _read_body(response, sending.receiver)
        finally:
            await response.aclose()
        if _is_framed_twice(response) or carrier.has_more():
            await carrier.aclose()
        else:
            self._idle.setdefault(place, []).append(carrier)

    def _take(self, place: _Place) -> Carrier:
        """The one that was used last for this place, or a new one.

        Each carries one request at a time, and so has one connection: httpx's own pool looks at every connection, for
        every connection, whenever a request begins or ends, which with 256 takes all the time there is.
        """
        from kavachc.bindings.http_carrier import Carrier
        from kavachc.bindings.http_stream import Backend

        idle = self._idle.get(place)
        if idle:
            return idle.pop()
        if self._authorities is None and place.is_tls:
            self._authorities = Authorities()
        context = self._authorities.context if self._authorities is not None else None
        return Carrier(Backend(place.proxy, place.is_tls), context, IDLE_S_MAX)


def _place(url: str) -> _Place:
    parsed = parse_with_query(url)
    if isinstance(parsed, str):
        raise Ends(Problem.UNKNOWN_HOST)
    try:
        return _Place(parsed.origin, parsed.is_tls, proxy_for(parsed, os.environ))
    except UnusableProxy:
        raise Ends(Problem.UNREACHABLE) from None


def _follow(sending: _Sending, connected: Callable[[], object]) -> Callable[[str, dict[str, Any]], Any]:
    """Tells from httpx's own events how far the request is."""

    async def follow(event: str, details: dict[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            sending.stream = details["return_value"]
        elif event == "connection.start_tls.started":
            sending.phase = "secure"
        elif event.endswith("send_request_headers.started"):
            sending.phase = "talk"
            connected()

    return follow


async def _read_body(response: httpx.Response, receiver: HttpReceiver) -> None:
    """Hands the body on, unpacked, in pieces of bounded size."""
    written = response.headers.get("content-encoding", "").lower().split(",")
    codings = [each for each in (one.strip() for one in written) if each not in ("", "identity")]
    if not codings:
        async for content in response.aiter_raw():
            _deliver(content, receiver)
        return
    if codings not in (["gzip"], ["x-gzip"]):
        raise Ends(Problem.MALFORMED)  # Not what we asked for.
    unpacker = Unpacker()
    async for content in response.aiter_raw():
        for piece in unpacker.unpack(content):
            _deliver(piece, receiver)
    if not unpacker.is_between_members:
        # Where only the end of the connection is the body's, it came too early.
        is_until_close = not {"content-length", "transfer-encoding"} & {name.lower() for name in response.headers}
        raise Ends(Problem.DROPPED if is_until_close else Problem.MALFORMED)


class Unpacker:
    """Of gzip: its members follow each other, each with its checksum. No body at all is no member."""

    def __init__(self) -> None:
        self.is_between_members = True
        self._member = zlib.decompressobj(16 + zlib.MAX_WBITS)

    def unpack(self, content: bytes) -> Iterator[bytes]:
        while content:
            if self._member.eof:
                self._member = zlib.decompressobj(16 + zlib.MAX_WBITS)
            try:
                yield self._member.decompress(content, PIECE_BYTES)
            except zlib.error:
                raise Ends(Problem.MALFORMED) from None
            self.is_between_members = self._member.eof
            content = self._member.unused_data if self._member.eof else self._member.unconsumed_tail


def _is_framed_twice(response: httpx.Response) -> bool:
    """A server that says both may mean another end than we read."""
    return "content-length" in response.headers and "transfer-encoding" in response.headers


def _deliver(content: bytes, receiver: HttpReceiver) -> None:
    if content and not receiver.body(content):
        raise Ends(Problem.ABORTED)


# What went wrong.


def problem_of(error: BaseException, phase: str) -> Problem:
    """`phase` is how far the request was."""
    import httpx

    chain = list(_chain(error))
    if phase == "talk":
        return _while_talking(chain)
    shortage = shortage_of(chain)
    if shortage is not None:
        return shortage
    for each in chain:
        if isinstance(each, ssl.SSLCertVerificationError):
            return Problem.WRONG_NAME if each.verify_code in NAME_MISMATCH_CODES else Problem.UNTRUSTED
    if phase == "secure":
        return Problem.TLS if any(_is_of_tls(each) for each in chain) else Problem.DROPPED
    # httpx knows by itself that an address such as 256.0.0.1 is none.
    if any(isinstance(each, socket.gaierror | UnicodeError | httpx.InvalidURL) for each in chain):
        return Problem.UNKNOWN_HOST
    numbers = [each.errno for each in chain if isinstance(each, OSError)]
    if errno.ECONNREFUSED in numbers:
        return Problem.REFUSED
    if errno.ETIMEDOUT in numbers:
        return Problem.TIMED_OUT
    return Problem.UNREACHABLE


def _while_talking(chain: list[BaseException]) -> Problem:
    """h11 tells a connection that closed too early from nonsense by its text only."""
    import httpx

    for each in chain:
        if isinstance(each, httpx.LocalProtocolError):
            return Problem.MALFORMED
        if isinstance(each, httpx.RemoteProtocolError):
            text = str(each)
            is_dropped = text.startswith(("Server disconnected", "peer closed", "peer unexpectedly closed"))
            return Problem.DROPPED if is_dropped else Problem.MALFORMED
        if isinstance(each, httpx.DecodingError | httpx.InvalidURL):
            return Problem.MALFORMED
        if _is_of_tls(each):
            return Problem.TLS
    return Problem.DROPPED


def _is_of_tls(error: BaseException) -> bool:
    """Not that a connection ended, nor that ssl waited for it when it did."""
    ends = ssl.SSLEOFError | ssl.SSLZeroReturnError | ssl.SSLSyscallError | ssl.SSLWantReadError | ssl.SSLWantWriteError
    return isinstance(error, ssl.SSLError) and not isinstance(error, ends)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and all that led to it, those in groups too."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop(0)
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        if isinstance(each, BaseExceptionGroup):
            waiting.extend(each.exceptions)
        waiting += [each.__cause__, each.__context__]


# Threads.


class _Loop(asyncio.SelectorEventLoop):
    """Looks names up on threads that nobody waits for: a resolver can be silent for a minute, and asyncio's own threads
    would keep the process from ending."""

    async def getaddrinfo(
        self, host: Any, port: Any, *, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> Any:
        found: asyncio.Future[Any] = self.create_future()

        def look_up() -> None:
            result: Any = None
            problem: Exception | None = None
            try:
                result = socket.getaddrinfo(host, port, family, type, proto, flags)
            except Exception as error:
                problem = error
                try:
                    check_files()
                    # Every such name is this machine, also where the resolver does not say so (RFC 6761).
                    if is_localhost(host):
                        result = socket.getaddrinfo("localhost", port, family, type, proto, flags)
                        problem = None
                except OSError as shortage:
                    problem = shortage
            with suppress(RuntimeError):  # The loop is closed.
                self.call_soon_threadsafe(settle, result, problem)

        def settle(result: Any, problem: Exception | None) -> None:
            if found.done():
                return
            if problem is not None:
                found.set_exception(problem)
            else:
                found.set_result(result)

        start_thread(look_up)
        return await found


def is_localhost(host: str | bytes | None) -> bool:
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host or ""
    return f".{name}".lower().removesuffix(".").endswith(".localhost")


def start_thread(function: Callable[..., None], *arguments: Any) -> threading.Thread:
    """A small one, whatever size threads have here (`interpreter/stack.py`), which ends with the process."""
    size_before = threading.stack_size()
    threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=function, args=arguments, daemon=True)
        thread.start()
    finally:
        threading.stack_size(size_before)
    return thread
