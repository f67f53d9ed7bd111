"""Programs that ask over real sockets, on every engine; and a server that says exactly what a test wants."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kavachc.backend.runtime_build import runtime_library
from kavachc.driver import Compilation
from kavachc.engines import Engine, emulator_for, run_engine
from kavachc.options import RunOptions

IN_PROCESS = (Engine("interp", "interp-model"), Engine("interp native", "interp-native"), Engine("run", "run", 2))
TARGETS = tuple(target for target in ("x86_64-linux", "aarch64-linux") if emulator_for(target) is not None)
ENGINES = (*(engine.name for engine in IN_PROCESS), *TARGETS)
TIME_LIMIT_S = 180.0


@dataclass(frozen=True, slots=True)
class Ran:
    out: str
    err: str
    status: int


#: Runs the program with these arguments and this environment, besides which there is none that matters.
Run = Callable[..., Ran]


def runner(engine_name: str, text: str, folder: Path) -> Run:
    source = folder / "asks.kav"
    source.write_text(text, encoding="utf-8")
    compilation = Compilation(str(source))
    if engine_name in TARGETS:
        binary = folder / "asks"
        compilation.build(str(binary), engine_name, 2)
        emulator = emulator_for(engine_name)
        assert emulator is not None
        return lambda *arguments, **variables: _run_binary([*emulator, str(binary), *arguments], variables)
    engine = next(each for each in IN_PROCESS if each.name == engine_name)

    def run_in_process(*arguments: str, **variables: str) -> Ran:
        options = RunOptions(
            arguments=arguments,
            state_file=variables.pop("KAVACH_STATE_FILE", None),
            audit_log=variables.pop("KAVACH_AUDIT_LOG", None),
            audit_prompts=bool(variables.pop("KAVACH_AUDIT_PROMPTS", None)),
        )
        with set_in_environment(variables):
            result = run_engine(engine, compilation, options, TIME_LIMIT_S)
        return Ran(result.stdout, result.stderr, result.status)

    return run_in_process


def command_of(engine_name: str, text: str, folder: Path) -> list[str]:
    """What runs the program in a process of its own."""
    source = folder / "asks.kav"
    source.write_text(text, encoding="utf-8")
    if engine_name in TARGETS:
        binary = folder / "asks"
        Compilation(str(source)).build(str(binary), engine_name, 2)
        emulator = emulator_for(engine_name)
        assert emulator is not None
        return [*emulator, str(binary)]
    options = {"interp": ["interp"], "interp native": ["interp", "--host", "native"], "run": ["run"]}[engine_name]
    if engine_name != "interp":
        runtime_library()
    return [sys.executable, "-c", "from kavachc.cli import main; main()", *options, str(source)]


def _run_binary(command: list[str], variables: dict[str, str]) -> Ran:
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
    return Ran(done.stdout, done.stderr, done.returncode)


@contextmanager
def set_in_environment(variables: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


# ---- A server


@dataclass(eq=False, slots=True)
class Request:
    """`head` is the request line and the headers, as they came."""

    head: str
    body: bytes

    @property
    def line(self) -> str:
        return self.head.split("\r\n", 1)[0]


class Connection:
    """One connection of a client, in a thread of its own."""

    def __init__(self, accepted: socket.socket) -> None:
        self.socket = accepted
        self._file = accepted.makefile("rb")

    def read(self) -> Request | None:
        """The next request, None when the client has closed."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self._file.readline()
            if not line:
                return None
            head += line
        text = head.decode("latin-1")
        length = next((int(line[15:]) for line in text.split("\r\n") if line.lower().startswith("content-length:")), 0)
        return Request(text, self._file.read(length))

    def answer(self, body: bytes, status: str = "200 OK", headers: str = "") -> None:
        self.socket.sendall(f"HTTP/1.1 {status}\r\n{headers}content-length: {len(body)}\r\n\r\n".encode() + body)

    def wait_for_close(self) -> None:
        while self.socket.recv(4096):
            pass


class Server:
    """`url` is where; `connections` how many there were; `requests` those that `serve` noted."""

    def __init__(self, listener: socket.socket, scheme: str) -> None:
        self.port: int = listener.getsockname()[1]
        self.url = f"{scheme}://localhost:{self.port}"
        self.connections = 0
        self.requests: list[Request] = []
        self.closed = threading.Event()
        """A client went away without its answer."""


Serve = Callable[[Server, Connection], None]


@contextmanager
def raw_server(serve: Serve, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Each connection is given to `serve`, and closed when that returns."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(listener, "https" if tls else "http")
        threads: list[threading.Thread] = []

        def handle(accepted: socket.socket) -> None:
            try:
                if tls is not None:
                    accepted = tls.wrap_socket(accepted, server_side=True)
                with accepted:
                    serve(server, Connection(accepted))
            except OSError:
                pass

        def accept() -> None:
            while True:
                try:
                    accepted, _ = listener.accept()
                except OSError:
                    return
                server.connections += 1
                threads.append(threading.Thread(target=handle, args=(accepted,), daemon=True))
                threads[-1].start()

        threading.Thread(target=accept, daemon=True).start()
        yield server
        listener.shutdown(socket.SHUT_RDWR)


def answered(text: str) -> bytes:
    """Anthropic's answer with this text."""
    content: Any = {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "usage": {}}
    return json.dumps(content).encode()
