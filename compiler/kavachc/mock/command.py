"""`kavachc mock-provider`: reads the script, serves until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import re
import resource
import signal
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from kavachc.errors import ToolError
from kavachc.interpreter.scripted_model import Script, ScriptError, load_script
from kavachc.mock.provider import MockProvider
from kavachc.mock.server import port_of, start_server

CERTIFICATES = Path(__file__).parent / "certificates"
CA_FILE = CERTIFICATES / "ca.pem"
STATUS_INTERRUPTED = 130
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
HEADER_VALUE = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?")
# These say where an answer ends, which is the server's business.
FRAMING_HEADERS = ("content-length", "transfer-encoding", "connection", "upgrade")


def serve(path: str, port: int, *, tls: bool, log_path: str | None) -> int:
    """Plays the script at `path`; the exit status when it was told to stop."""
    script = read_sendable(path)
    _, files_max = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files_max, files_max))
    with _log_file(log_path) as log:
        provider = MockProvider(script, log)
        try:
            asyncio.run(_serve(provider, port, tls))
        except KeyboardInterrupt:
            return STATUS_INTERRUPTED
    return 1 if provider.beyond_the_script else 0


async def _serve(provider: MockProvider, port: int, tls: bool) -> None:
    told_to_stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, told_to_stop.set)
    # Such as too many connections for the system.
    loop.set_exception_handler(lambda _, context: print(f"error: {context['message']}", file=sys.stderr))
    try:
        server = await start_server(provider, port, server_context("localhost") if tls else None)
    except OSError as problem:
        raise ToolError(f"cannot listen on 127.0.0.1:{port}: {problem.strerror or problem}") from None
    if tls:
        print(f"the CA of its certificate, to set SSL_CERT_FILE to: {CA_FILE}")
    scheme, name = ("https", "localhost") if tls else ("http", "127.0.0.1")
    print(f"listening on {scheme}://{name}:{port_of(server)}", flush=True)
    await told_to_stop.wait()
    server.close()
    count = provider.requests_served
    print(f"{count} {'request' if count == 1 else 'requests'}", flush=True)


def server_context(name: str) -> ssl.SSLContext:
    """TLS with the certificate `name` of those in the package."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / f"{name}.pem")
    return context


def read_sendable(path: str) -> Script:
    """The script, of which everything can be sent over HTTP; the messages are those of `--test-model`."""
    try:
        script = load_script(path)
        for index, reply in enumerate(script.replies):
            for name, value in reply.wire.headers:
                if name in FRAMING_HEADERS or not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
                    raise ScriptError(f'replies[{index}].headers: the header "{name}" cannot be sent')
    except ScriptError as problem:
        raise ToolError(f"test model {path}: {problem}", 2) from None
    return script


@contextlib.contextmanager
def _log_file(path: str | None) -> Iterator[TextIO | None]:
    if path is None:
        yield None
        return
    try:
        file = open(path, "w", encoding="utf-8")  # noqa: SIM115
    except OSError as problem:
        raise ToolError(f"cannot write {path}: {problem.strerror}") from None
    with contextlib.suppress(OSError), file:  # What it did not take was said before.
        yield file
