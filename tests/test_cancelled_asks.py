"""A task that is cancelled while its ask is under way, on every engine: wherever the request was, it is broken off, its
connection is gone, and what it took of a limit stays taken."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from http_programs import ENGINES, answered, command_of

CANCELLED = """
agent Claude {
    model Model(timeout: 2m)
    can Ai
    limit Ai { count <= 1 per day }
    on go(prompt: String) -> String ! AiError { try ask<String>(prompt) }
}
fn main() {
    let prompt = "0123456789abcdef"
    for _ in 0..(if Env.args().len() > 1 { 20 } else { 1 }) { prompt = "{prompt}{prompt}" }
    const claude = Claude.start()
    const task = spawn claude.go(prompt)
    while !Files.exists(Env.args()[0]) { Time.sleep(20ms) }
    task.cancel()
    const outcome = task.wait() catch e => "{e}"
    print(outcome)
    print(claude.go("again") catch e => "{e}")
    Time.sleep(4s)
}
"""
LIMIT_S = 120.0
STILL_S = 0.3
# While the program goes on.
GONE_S = 3.0

Serve = Callable[[socket.socket, threading.Event], None]


def stay(_peer: socket.socket, reached: threading.Event) -> None:
    """Reads nothing, until the test ends."""
    reached.set()


def read_all(peer: socket.socket, reached: threading.Event) -> None:
    while peer.recv(1 << 16):
        reached.set()


def answer_half(peer: socket.socket, reached: threading.Event) -> None:
    peer.recv(1 << 16)
    answer = answered("fine")
    peer.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(answer), answer[:9]))
    reached.set()
    read_all(peer, reached)


#: What the server does, the URL's scheme, and whether the prompt is large.
STAGES: dict[str, tuple[Serve | None, str, bool]] = {
    "connecting": (None, "http", False),
    "securing the connection": (read_all, "https", False),
    "sending": (stay, "http", True),
    "waiting for the answer": (read_all, "http", False),
    "reading the answer": (answer_half, "http", False),
}


@pytest.fixture(scope="module", params=ENGINES)
def command(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return command_of(str(request.param), CANCELLED, tmp_path_factory.mktemp("asks"))


@contextmanager
def serving(serve: Serve | None, reached: threading.Event) -> Iterator[int]:
    """The port of a server; None: it takes no connection, and has no room for one that waits."""
    with ExitStack() as opened:
        listener = opened.enter_context(socket.socket())
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener.bind(("127.0.0.1", 0))
        listener.listen(0 if serve is None else 8)
        place = listener.getsockname()
        if serve is None:
            reached.set()
            for _ in range(4):
                waiting = opened.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(place)
        else:
            taken: list[socket.socket] = []

            def accept() -> None:
                while True:
                    try:
                        peer, _ = listener.accept()
                        taken.append(peer)
                        serve(peer, reached)
                    except OSError:
                        return

            def close() -> None:
                for peer in taken:
                    peer.close()

            threading.Thread(target=accept, daemon=True).start()
            opened.callback(close)
            opened.callback(lambda: listener.shutdown(socket.SHUT_RDWR))
        yield place[1]


def connection_count(process: int, port: int) -> int:
    """How many connections to the port the process has, or begins."""
    own = set()
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        try:
            own.add(os.readlink(descriptor))
        except OSError:
            continue
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(fields[2].endswith(f":{port:04X}") and f"socket:[{fields[9]}]" in own for fields in lines)


@pytest.mark.parametrize("stage", STAGES)
def test_a_cancelled_ask_is_broken_off(command: list[str], stage: str, tmp_path: Path) -> None:
    serve, scheme, is_large = STAGES[stage]
    reached, sign = threading.Event(), tmp_path / "cancel"
    arguments = [str(sign), *(["large"] if is_large else [])]
    with serving(serve, reached) as port:
        variables = {"ANTHROPIC_API_KEY": "sk-planted-marker-key", "ANTHROPIC_BASE_URL": f"{scheme}://127.0.0.1:{port}"}
        with subprocess.Popen(
            [*command, *(["--"] if "-c" in command else []), *arguments],
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as running:
            assert reached.wait(LIMIT_S)
            assert eventually(1, running.pid, port, LIMIT_S)
            time.sleep(STILL_S)
            still = connection_count(running.pid, port)
            sign.touch()
            is_gone = eventually(0, running.pid, port, GONE_S)
            out, err = running.communicate(timeout=LIMIT_S)
    assert (still, is_gone) == (1, True)
    assert out == 'Cancelled\nDenied(reason: "limit broken: count <= 1 per day")\n'
    assert (err, running.returncode) == ("", 0)


def eventually(count: int, process: int, port: int, limit_s: float) -> bool:
    """The process comes to have so many connections."""
    latest = time.monotonic() + limit_s
    while connection_count(process, port) != count:
        if time.monotonic() > latest:
            return False
        time.sleep(0.02)
    return True
