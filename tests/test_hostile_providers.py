"""Providers, proxies and settings that are not as they should be, on every engine."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from http_programs import ENGINES, Connection, Run, Server, answered, raw_server, runner
from test_http_connections import ONE_AFTER_ANOTHER, failed, setting

COUNTED = """
agent Counted {
    model Model(name: "m", timeout: 20s)
    can Ai
    limit Ai { tokens <= 1_000 per day }
    on text(prompt: String) -> String ! AiError { try ask<String>(prompt) }
}
fn main() {
    const desk = Counted.start()
    for i in 0..3 {
        const text = desk.text("{i}") catch e => "{e}"
        print(text)
    }
}
"""
REFUSED = 'Denied(reason: "limit broken: tokens <= 1_000 per day")'


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def run(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return runner(engine, ONE_AFTER_ANOTHER, tmp_path_factory.mktemp("asks"))


@pytest.fixture(scope="module")
def counted(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return runner(engine, COUNTED, tmp_path_factory.mktemp("counted"))


# What an answer says to have taken.


def said(usage: str, text: str = "t") -> bytes:
    return f'{{"content":[{{"type":"text","text":"{text}"}}]{usage}}}'.encode()


LARGE = "t" * 600
#: An answer, and how many of three asks get it.
COUNTS: dict[str, tuple[bytes, int]] = {
    "fits": (said(',"usage":{"input_tokens":5,"output_tokens":5}', LARGE), 3),
    "beyond an Int": (said(f',"usage":{{"input_tokens":{2**63},"output_tokens":1}}'), 1),
    "huge": (said(f',"usage":{{"input_tokens":1,"output_tokens":{"9" * 5000}}}'), 1),
    "both are large": (said(f',"usage":{{"input_tokens":{2**63 - 1},"output_tokens":{2**63 - 1}}}'), 1),
    "written as a float": (said(',"usage":{"input_tokens":0.5,"output_tokens":1e3}'), 1),
    "infinite": (said(',"usage":{"input_tokens":0,"output_tokens":1e999}'), 1),
    "negative": (said(',"usage":{"input_tokens":-5000,"output_tokens":600}'), 2),
    "negative text": (said(',"usage":{"input_tokens":1,"output_tokens":-1}', LARGE), 2),
    "a string": (said(',"usage":{"input_tokens":"1","output_tokens":"1"}', LARGE), 2),
    "not there": (said("", LARGE), 2),
    "null": (said(',"usage":null', LARGE), 2),
}  # fmt: skip


@pytest.mark.parametrize("name", list(COUNTS))
def test_no_count_evades_a_limit(counted: Run, name: str) -> None:
    body, answers = COUNTS[name]

    def serve(_: Server, connection: Connection) -> None:
        while connection.read() is not None:
            connection.answer(body)

    with raw_server(serve) as server:
        ran = counted(**setting(server.url))
    text = LARGE if LARGE.encode() in body else "t"
    assert ran.out.splitlines() == [text] * answers + [REFUSED] * (3 - answers)


def test_an_answer_without_text_counts(counted: Run) -> None:
    def serve(_: Server, connection: Connection) -> None:
        while connection.read() is not None:
            connection.answer(b'{"usage":{"input_tokens":600,"output_tokens":600}}')

    with raw_server(serve) as server:
        ran = counted(**setting(server.url))
    assert ran.out.splitlines() == [failed("the provider's answer has no text", 200), REFUSED, REFUSED]


# What is no text.


def test_a_header_that_is_not_utf8(run: Run) -> None:
    def serve(server: Server, connection: Connection) -> None:
        connection.read()
        server.requests.append(None)  # type: ignore[arg-type]
        value = b"http://x/\xe9" if len(server.requests) == 1 else "http://x/é".encode()
        connection.socket.sendall(b"HTTP/1.1 302 Found\r\nlocation: " + value + b"\r\ncontent-length: 0\r\n\r\n")

    with raw_server(serve) as server:
        ran = run("claude", "claude", **setting(server.url))
    told = "the provider redirects to http://x/{}: set base_url to it"
    assert ran.out.splitlines() == [failed(told.format("�"), 302), failed(told.format("é"), 302)]


# What the environment says.


def test_base_urls_that_are_none(run: Run) -> None:
    """More of them are in test_base_urls.py."""
    for url in ("http://127.0.0.1:1?key=x", "http://127.0.0.1:1/{x}", "http://h\udcffst"):
        ran = run("claude", **setting(url))
        shown = url.replace("\udcff", "�").replace("{", "\\{").replace("}", "\\}")
        assert ran.out.splitlines() == [failed(f'the base URL \\"{shown}\\" is no http or https URL')], url


def test_a_password_in_a_base_url_is_not_repeated(run: Run) -> None:
    ran = run("claude", **setting("http://me:secret@127.0.0.1:1"))
    assert ran.out.splitlines() == [failed("the base URL has a name or a password in it, which no request would carry")]


def test_a_proxy_that_is_not_there(run: Run) -> None:
    for proxy in ("http://127.0.0.1:1", "http://no-such-proxy.invalid:1"):
        ran = run("claude", **setting("http://provider.example:8", HTTP_PROXY=proxy))
        assert ran.out.splitlines() == [failed("cannot reach provider.example:8")], proxy


def test_a_long_password_for_a_proxy(run: Run) -> None:
    def serve(server: Server, connection: Connection) -> None:
        request = connection.read()
        assert request is not None
        server.requests.append(request)
        connection.answer(answered("7"))

    with raw_server(serve) as through:
        proxy = f"http://me:{'p' * 1000}@127.0.0.1:{through.port}"
        ran = run("claude", **setting("http://provider.example", HTTP_PROXY=proxy))
    assert ran.out.splitlines() == ["7"]
    assert "proxy-authorization: basic bwu6chbw" in through.requests[0].head.lower()


# A server that never pauses.


def test_a_server_that_talks_for_ever_is_left(engine: str, tmp_path: Path) -> None:
    program = """
    fn main() {
        const task = spawn ask<Int>("n")
        Time.sleep(500ms)
        task.cancel()
        Time.sleep(1500ms)
    }
    """

    def serve(server: Server, connection: Connection) -> None:
        connection.read()
        connection.socket.settimeout(1)
        try:
            while True:
                connection.socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)
        except OSError as error:
            if not isinstance(error, socket.timeout):
                server.closed.set()

    with raw_server(serve) as server:
        ran = runner(engine, program, tmp_path)(**setting(server.url))
        assert (ran.out, ran.err, ran.status) == ("", "", 0)
        assert server.closed.is_set()
