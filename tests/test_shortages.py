"""More asks than the process has file descriptors or threads for, on every engine: they wait for each other, and fail,
with words that say why, only where waiting would not end."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from http_programs import ENGINES, TARGETS, Connection, Server, answered, command_of, raw_server
from kavachc.bindings import http_client
from kavachc.bindings.abi import ExchangeProblem
from kavachc.bindings.http_client import HttpClient
from test_http_client import Receiver
from test_http_client import request as request_to

ASKS = 300
MANY = """
agent Claude {
    model Model(timeout: 2m)
    can Ai
    on go() -> String ! AiError { try ask<String>("p") }
}
fn one() -> String { Claude.start().go() catch e => "{e}" }
fn main() {
    let tasks: [Task<String>] = []
    for _ in 0..COUNT { tasks.push(spawn one()) }
    let seen: [String: Int] = [:]
    for task in tasks {
        const text = task.wait() catch e => "{e}"
        seen[text] = (seen.get(text) ?? 0) + 1
    }
    for (text, count) in seen { print("{count} {text}") }
}
""".replace("COUNT", str(ASKS))
NO_FILES = "this process is out of file descriptors: raise ulimit -n"
NO_THREADS = "the system gives this process no more threads: raise ulimit -u"


def answer_each(_server: Server, connection: Connection) -> None:
    while connection.read() is not None:
        time.sleep(0.002)
        connection.answer(answered("fine"))


@pytest.fixture(scope="module", params=ENGINES)
def command(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return command_of(str(request.param), MANY, tmp_path_factory.mktemp("asks"))


def run(command: list[str], before: Callable[[], object], close_fds: bool = True) -> tuple[str, str, int]:
    with raw_server(answer_each) as server:
        variables = {"ANTHROPIC_API_KEY": "sk-planted-marker-key", "ANTHROPIC_BASE_URL": server.url}
        done = subprocess.run(
            command,
            env={**os.environ, **variables},
            preexec_fn=before,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            close_fds=close_fds,
        )
    return done.stdout, done.stderr, done.returncode


def limited(count: int) -> Callable[[], object]:
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


def test_asks_wait_for_each_others_descriptors(command: list[str]) -> None:
    assert run(command, limited(40)) == (f"{ASKS} fine\n", "", 0)


def test_asks_wait_also_when_others_took_the_descriptors(command: list[str]) -> None:
    """All but six of them, of which the emulator and Python need some."""
    free = 6 if command[0].endswith("asks") else 14

    def take() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
        for descriptor in range(3 + free, 60):
            os.dup2(2, descriptor, inheritable=True)

    assert run(command, take, close_fds=False) == (f"{ASKS} fine\n", "", 0)


# A process needs its own descriptors for more than asks, so the rest is of binaries.

BINARIES = [target for target in TARGETS if target == TARGETS[0]]


@pytest.mark.parametrize("command", BINARIES, indirect=True)
def test_without_any_descriptor_an_ask_says_so(command: list[str]) -> None:
    assert run(command, limited(3)) == (f'{ASKS} Failed(status: 0, message: "{NO_FILES}")\n', "", 0)


@pytest.mark.skipif(os.getuid() != 0, reason="another user's processes are counted, which only root can start")
@pytest.mark.parametrize("target", BINARIES)
@pytest.mark.parametrize(
    ("threads", "out"),
    [(1, f'{ASKS} Failed(status: 0, message: "{NO_THREADS}")\n'), (4, f"{ASKS} fine\n")],
)
def test_threads_may_be_short_too(target: str, threads: int, out: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = command_of(target, MANY, folder)
        folder.chmod(0o755)

        def before() -> None:
            resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))
            os.setuid(61_234)

        assert run(command, before) == (out, "", 0)


def test_without_a_thread_the_engine_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> threading.Thread:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(http_client, "start_thread", refuse)
    client, receiver = HttpClient(), Receiver()
    client.send(request_to("http://localhost:1"), receiver)
    assert receiver.result() == (0, ExchangeProblem.NO_THREADS)
    client.close()
