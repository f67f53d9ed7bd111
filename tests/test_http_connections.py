"""Connections to providers, on every engine: TLS, proxies, what cannot be reached, what nobody wants any more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import ROOT
from http_programs import ENGINES, TARGETS, Connection, Run, Server, answered, raw_server, runner
from serving import serving

CERTIFICATES = ROOT / "compiler" / "kavachc" / "mock" / "certificates"
CA = str(CERTIFICATES / "ca.pem")
KEY = "sk-planted-marker-key"

ONE_AFTER_ANOTHER = """
agent Claude {
    model Model(name: "m", timeout: 20s)
    can Ai
    on number() -> Int ! AiError { try ask<Int>("n") }
}
agent Gpt {
    model Model(name: "m", provider: Provider.OpenAi, timeout: 20s)
    can Ai
    on number() -> Int ! AiError { try ask<Int>("n") }
}
fn claude() -> String {
    const n = Claude.start().number() catch e => return "{e}"
    "{n}"
}
fn gpt() -> String {
    const n = Gpt.start().number() catch e => return "{e}"
    "{n}"
}
fn main() {
    for who in Env.args() {
        if who == "claude" { print(claude()) } else { print(gpt()) }
    }
}
"""

GIVEN_UP = """
agent Hasty {
    model Model(timeout: 1s)
    can Ai
    on number() -> Int ! AiError { try ask<Int>("n") }
}
fn main() {
    if Env.args() == ["late"] {
        print(Hasty.start().number() catch e => {
            print("{e}")
            0
        })
    } else {
        const task = spawn ask<Int>("n")
        Time.sleep(700ms)
        task.cancel()
        print("cancelled")
    }
    if Env.args() == ["cancel", "stay"] { Time.sleep(3s) }
}
"""


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def run(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return runner(engine, ONE_AFTER_ANOTHER, tmp_path_factory.mktemp("asks"))


@pytest.fixture(scope="module")
def give_up(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return runner(engine, GIVEN_UP, tmp_path_factory.mktemp("gives_up"))


def setting(claude: str, gpt: str = "http://127.0.0.1:1", key: str = KEY, **more: str) -> dict[str, str]:
    return {
        "ANTHROPIC_API_KEY": key,
        "OPENAI_API_KEY": key,
        "ANTHROPIC_BASE_URL": claude,
        "OPENAI_BASE_URL": gpt,
        "SSL_CERT_FILE": CA,
        "NO_PROXY": "",
        **more,
    }


def failed(message: str, status: int = 0) -> str:
    return f'Failed(status: {status}, message: "{message}")'


def seven(server: Server, connection: Connection) -> None:
    while (request := connection.read()) is not None:
        server.requests.append(request)
        connection.answer(answered("7"))


# What cannot be reached.


def test_no_such_host_and_no_such_server(run: Run) -> None:
    ran = run("claude", "gpt", **setting("http://no-such-host.invalid", "http://127.0.0.1:1/v1"))
    assert ran.out.splitlines() == [
        failed("cannot find the host no-such-host.invalid"),
        failed("127.0.0.1:1 refused the connection"),
    ]


def test_what_is_refused_before_anything_is_sent(run: Run) -> None:
    ran = run("claude", "gpt", **setting("ftp://x", "localhost:80"))
    assert ran.out.splitlines() == [
        failed('the base URL \\"ftp://x\\" is no http or https URL'),
        failed('the base URL \\"localhost:80\\" is no http or https URL'),
    ]
    ran = run("claude", "gpt", **setting("http://127.0.0.1:1", key="sk-\x07"))
    assert ran.out.splitlines() == [
        failed("the key in ANTHROPIC_API_KEY has characters that no key has"),
        failed("the key in OPENAI_API_KEY has characters that no key has"),
    ]


# TLS.


def test_tls(run: Run) -> None:
    script = {"replies": [{"answer": 7}]}
    with serving(script, certificate="localhost") as good, serving(script, certificate="wrong-name") as wrong:
        ran = run("claude", "claude", "gpt", **setting(good.url, wrong.url))
        assert ran.out.splitlines() == ["7", "7", failed("the certificate is not for localhost")]
        ran = run("claude", **setting(good.url, SSL_CERT_FILE=""))
        trusted = "is not trusted (set SSL_CERT_FILE to the CA that signed it)"
        assert ran.out.splitlines() == [failed(f"the certificate of localhost {trusted}")]
        assert len(wrong.log()) == 0


def test_a_server_without_tls(run: Run) -> None:
    def greet(_: Server, connection: Connection) -> None:
        connection.socket.sendall(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        connection.wait_for_close()

    with raw_server(greet) as server:
        ran = run("claude", **setting(server.url.replace("http:", "https:")))
    assert ran.out.splitlines() == [failed("TLS with localhost failed")]


# Connections are kept, and their ends noticed.


def test_one_connection_for_many_requests(run: Run) -> None:
    with raw_server(seven) as server:
        ran = run("claude", "claude", "claude", **setting(server.url))
    assert (ran.out, server.connections, len(server.requests)) == ("7\n7\n7\n", 1, 3)


def test_a_connection_that_the_server_closed_is_not_used_again(run: Run) -> None:
    def once(server: Server, connection: Connection) -> None:
        request = connection.read()
        assert request is not None
        server.requests.append(request)
        connection.answer(answered("7"))

    with raw_server(once) as server:
        ran = run("claude", "claude", "claude", **setting(server.url))
    assert ran.out == "7\n7\n7\n"
    assert server.connections == 3


# Names.


def test_names_that_are_this_machine(run: Run) -> None:
    """A dot at the end, and what is below `localhost`."""
    with raw_server(seven) as server, serving({"replies": [{"answer": 7}]}, certificate="localhost") as secure:
        for host in ("localhost.", "A.b.LocalHost", "127.0.0.1"):
            ran = run("claude", **setting(server.url.replace("localhost", host)))
            assert ran.out.splitlines() == ["7"], host
            assert f"host: {host.lower()}:{server.port}\r\n" in server.requests[-1].head.lower()
        ran = run("claude", **setting(secure.url.replace("localhost", "localhost.")))
        assert ran.out.splitlines() == ["7"]


# Requests that nobody wants any more.


def never(server: Server, connection: Connection) -> None:
    request = connection.read()
    assert request is not None
    server.requests.append(request)
    try:
        connection.wait_for_close()
    finally:
        server.closed.set()


def test_a_late_answer_is_not_waited_for(give_up: Run) -> None:
    with raw_server(never) as server:
        ran = give_up("late", **setting(server.url))
        assert ran.out.splitlines() == [failed("no answer within 1s"), "0"]
        assert server.closed.wait(10) and len(server.requests) == 1


def test_cancelling_closes_the_connection(give_up: Run) -> None:
    with raw_server(never) as server:
        ended: list[str] = []
        thread = threading.Thread(target=lambda: ended.append(give_up("cancel", "stay", **setting(server.url)).out))
        thread.start()
        assert server.closed.wait(60) and not ended, "the connection was closed before the program ended"
        thread.join()
    assert ended == ["cancelled\n"]


def test_the_end_waits_for_no_answer(give_up: Run) -> None:
    with raw_server(never) as server:
        ran = give_up("cancel", **setting(server.url))
        assert (ran.out, ran.err, ran.status) == ("cancelled\n", "", 0)
        assert server.closed.wait(10)


@pytest.mark.parametrize("command", ["run", "interp", "interp --host native"])
def test_ctrl_c_ends_a_program_that_waits_for_an_answer(command: str, tmp_path: Path) -> None:
    def unanswered(server: Server, connection: Connection) -> None:
        connection.read()
        server.closed.set()
        connection.wait_for_close()

    source = tmp_path / "asks.kav"
    source.write_text('fn main() ! AiError { print(try ask<Int>("n")) }\n')
    starting = [sys.executable, "-c", "from kavachc.cli import main; main()", *command.split(), str(source)]
    with raw_server(unanswered) as server:
        environment = {**os.environ, **setting(server.url)}
        with subprocess.Popen(
            starting, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as running:
            assert server.closed.wait(120)
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err.strip()) == (130, "", "")


# Keys.


def echo(server: Server, connection: Connection) -> None:
    """Says the key wherever a server can."""
    request = connection.read()
    assert request is not None
    server.requests.append(request)
    number = len(server.requests)
    if number == 1:
        connection.answer(f'{{"error":{{"message":"{KEY}"}}}}'.encode(), "400 Bad Request")
    elif number == 2:
        connection.answer(f"<html>{KEY}".encode())
    elif number == 3:
        connection.answer(b"", "302 Found", f"location: http://x/{KEY}\r\n")
    else:
        connection.answer(answered(f"no number: {KEY}"))


def test_a_key_is_never_said(run: Run) -> None:
    with raw_server(echo) as server:
        ran = run("claude", "claude", "claude", "claude", **setting(server.url))
    assert KEY not in ran.out + ran.err
    assert ran.out.splitlines() == [
        failed("[key]", 400),
        failed("the provider's answer is not JSON: <html>[key]", 200),
        failed("the provider redirects to http://x/[key]: set base_url to it", 302),
        'InvalidOutput(answer: "no number: [key]")',
    ]
    assert f"x-api-key: {KEY}" in server.requests[0].head


# Binaries.


def test_many_requests_at_once_under_tls_take_little_memory(tmp_path: Path) -> None:
    from programs import build, run_binary

    source = """
fn main() {
    let tasks: [Task<Int>] = []
    for _ in 0..300 { tasks.push(spawn ask<Int>("n")) }
    let sum = 0
    for task in tasks { sum += task.wait() catch e => 0 }
    print(sum)
}
"""
    binary = build(tmp_path, source, TARGETS[0])
    with serving({"replies": [{"answer": 1, "delay": "1s"}]}, certificate="localhost") as server:
        start = time.monotonic()
        ended = run_binary(binary, TARGETS[0], **setting(server.url))
        took_s = time.monotonic() - start
    assert (ended.stdout, ended.stderr) == ("300\n", "")
    assert ended.memory_bytes_max < 80_000_000
    assert took_s < 30
