"""Real HTTP servers for tests: the mock provider in a process of its own, with faults that no script knows."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kavachc.interpreter.scripted_model import read_script
from kavachc.mock.command import server_context
from kavachc.mock.provider import MockProvider, Turn, WireReply
from kavachc.mock.server import Connection, port_of, start_server

HUGE_BYTES = 100 << 20
LOCATION = "http://127.0.0.1:1/elsewhere"


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that runs. `url` is its base URL, as `Model(base_url:)` takes it."""

    url: str
    port: int
    log_path: Path

    def log(self) -> list[dict[str, Any]]:
        """One entry for each request that has ended, in the order of their ends."""
        return [json.loads(line) for line in self.log_path.read_text(encoding="utf-8").splitlines()]


def _message(status: str, headers: dict[str, str], body: bytes) -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def _sized(status: str, body: bytes, **headers: str) -> bytes:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return _message(status, {"content-type": "application/json", **named, "content-length": str(len(body))}, body)


def _chunked(body: bytes) -> bytes:
    pieces = [body[at : at + 7] for at in range(0, len(body), 7)]
    chunks = b"".join(b"%x;note=1\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return _message("200 OK", {"transfer-encoding": "chunked"}, chunks + b"0\r\ntrailer: 1\r\n\r\n")


PAGE = b"<!doctype html>\n<html><body><h1>It works!</h1></body></html>\n"

#: What goes out instead of an answer, and whether the connection closes after it.
FAULTS: dict[str, tuple[Callable[[WireReply, bytes], bytes], bool]] = {
    "drop_after_first_byte": (lambda _, content: content[:1], True),
    "drop_in_the_body": (lambda _, content: content[:-20], True),
    "gzip": (lambda reply, _: _sized("200 OK", gzip.compress(reply.body), content_encoding="gzip"), False),
    "chunked": (lambda reply, _: _chunked(reply.body), False),
    "until_close": (lambda reply, _: _message("200 OK", {"connection": "close"}, reply.body), True),
    "huge": (lambda _reply, _content: _sized("200 OK", b" " * HUGE_BYTES), False),
    "gzip_bomb": (
        lambda _reply, _content: _sized("200 OK", gzip.compress(b" " * HUGE_BYTES), content_encoding="gzip"),
        False,
    ),
    "gzip_that_is_none": (lambda reply, _: _sized("200 OK", reply.body, content_encoding="gzip"), False),
    "truncated_json": (lambda reply, _: _sized("200 OK", reply.body[: len(reply.body) // 2]), False),
    "page": (lambda _reply, _content: _sized("200 OK", PAGE, content_type="text/html"), False),
    "page_502": (lambda _reply, _content: _sized("502 Bad Gateway", PAGE, content_type="text/html"), False),
    "page_404": (lambda _reply, _content: _sized("404 Not Found", PAGE, content_type="text/html"), False),
    "no_text": (lambda _reply, _content: _sized("200 OK", b'{"type":"message"}'), False),
    "redirect": (lambda _reply, _content: _sized("307 Temporary Redirect", b"", location=LOCATION), False),
    "not_http": (lambda _reply, _content: b"SSH-2.0-OpenSSH_9.2\r\n\r\n", True),
    "silent": (lambda _reply, _content: b"", False),
}


def faulty(faults: Mapping[str, tuple[str, int | None]]) -> type[Connection]:
    """A connection with spoiled answers: a piece of the prompt, how they are spoiled, and how many (None: all)."""
    left = {piece: times for piece, (_, times) in faults.items()}

    class Faulty(Connection):
        def deliver(self, turn: Turn, content: bytes) -> None:
            assert turn.reply is not None
            for piece, (name, _) in faults.items():
                times = left[piece]
                if piece in str(turn.log.get("prompt", "")) and times != 0:
                    left[piece] = None if times is None else times - 1
                    spoil, closes = FAULTS[name]
                    self.transport.write(spoil(turn.reply, content))
                    if closes:
                        self.transport.close()
                    return None
            return super().deliver(turn, content)

    return Faulty


@contextmanager
def serving(
    script: dict[str, Any], *, certificate: str = "", faults: Mapping[str, tuple[str, int | None]] | None = None
) -> Iterator[Serving]:
    """Plays the script on a free port, with TLS where a certificate of the package is named."""
    with tempfile.TemporaryDirectory(prefix="kavachc-serving-") as folder:
        log_path = Path(folder) / "log"
        log_path.touch()
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            try:
                connection = faulty(faults) if faults else Connection
                asyncio.run(_serve(script, certificate, connection, log_path, writer))
            finally:
                os._exit(0)
        os.close(writer)
        try:
            with os.fdopen(reader) as pipe:
                port = int(pipe.readline())
            yield Serving(f"https://localhost:{port}" if certificate else f"http://127.0.0.1:{port}", port, log_path)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


async def _serve(
    script: dict[str, Any], certificate: str, connection: type[Connection], log_path: Path, ready: int
) -> None:
    with log_path.open("w", encoding="utf-8") as log:
        provider = MockProvider(read_script(json.dumps(script)), log)
        server = await start_server(provider, 0, server_context(certificate) if certificate else None, connection)
        os.write(ready, f"{port_of(server)}\n".encode())
        os.close(ready)
        await asyncio.Event().wait()
