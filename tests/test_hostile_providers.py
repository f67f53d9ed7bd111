"""Providers, proxies and settings that are not as they should be, on every engine."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path

import pytest
from http_programs import ENGINES, Connection, Run, Server, raw_server, runner
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


# What an answer says to have taken, and what one counts that cannot be used (spec 8.4.counted).


def said(usage: str, text: str = "t") -> bytes:
    return f'{{"content":[{{"type":"text","text":"{text}"}}]{usage}}}'.encode()


def whole(body: bytes, status: str = "200 OK", headers: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\n{headers}content-length: {len(body)}\r\n\r\n".encode() + body


@dataclass(frozen=True, slots=True)
class Sent:
    """What a server sends, before it closes the connection, and what three asks end with. After `times` such answers
    it sends FINE."""

    content: bytes
    ends: tuple[str, str, str]
    times: int = 99


LARGE = "t" * 600
FEW = ',"usage":{"input_tokens":5,"output_tokens":5}'
FINE = whole(said(FEW))


def answers(body: bytes, count: int, text: str = "t") -> Sent:
    return Sent(
        whole(body), (text, *((text, text) if count == 3 else (text, REFUSED) if count == 2 else (REFUSED,) * 2))
    )


def fails(content: bytes, message: str, count: int, status: int = 200) -> Sent:
    ended = failed(message, status)
    return Sent(content, (ended, ended if count > 1 else REFUSED, ended if count > 2 else REFUSED))


NO_HTTP = "the answer of localhost:PORT is not HTTP"
NOT_JSON = "the provider's answer is not JSON: "
NO_TEXT = "the provider's answer has no text"
CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
COUNTS: dict[str, Sent] = {
    "fits": answers(said(FEW, LARGE), 3, LARGE),
    "beyond an Int": answers(said(f',"usage":{{"input_tokens":{2**63},"output_tokens":1}}'), 1),
    "huge": answers(said(f',"usage":{{"input_tokens":1,"output_tokens":{"9" * 5000}}}'), 1),
    "both are large": answers(said(f',"usage":{{"input_tokens":{2**63 - 1},"output_tokens":{2**63 - 1}}}'), 1),
    "written as a float": answers(said(',"usage":{"input_tokens":0.5,"output_tokens":1e3}'), 1),
    "infinite": answers(said(',"usage":{"input_tokens":0,"output_tokens":1e999}'), 1),
    "negative": answers(said(',"usage":{"input_tokens":-5000,"output_tokens":600}'), 2),
    "negative text": answers(said(',"usage":{"input_tokens":1,"output_tokens":-1}', LARGE), 2, LARGE),
    "a string": answers(said(',"usage":{"input_tokens":"1","output_tokens":"1"}', LARGE), 2, LARGE),
    "not there": answers(said("", LARGE), 2, LARGE),
    "null": answers(said(',"usage":null', LARGE), 2, LARGE),
    # Whole, but of no use: each byte of the prompt and of the body.
    "no JSON": fails(whole(LARGE.encode()), NOT_JSON + LARGE[:80], 2),
    "half a surrogate pair": fails(whole(said(FEW, "\\ud800" * 100)), NOT_JSON + said("", "\\ud800" * 9).decode()[:80]
                                   .replace("\\", "\\\\").replace('"', '\\"').replace("{", "\\{"), 2),
    "no text": fails(whole(b'{"a":"' + LARGE.encode() + b'"}'), NO_TEXT, 2),
    "no text, counted": fails(whole(b'{"a":"' + LARGE.encode() + b'"' + FEW.encode() + b"}"), NO_TEXT, 3),
    "no text, with a large count": fails(whole(b'{"usage":{"input_tokens":600,"output_tokens":600}}'), NO_TEXT, 1),
    "an error": fails(whole(b'{"type":"error","error":{"message":"overloaded"}}'), f"{NO_TEXT}: overloaded", 3),
    "a blank error": fails(whole(b'{"error":" "}'), NO_TEXT, 3),
    "nothing": fails(whole(b""), "the provider's answer is empty", 3),
    "no content": fails(b"HTTP/1.1 204 No Content\r\n\r\n", "the provider's answer is empty", 3, 204),
    # Not whole: each byte of the prompt, and max_tokens.
    "too large": fails(whole(b" " * (16 << 20) + b"1"), "the answer is larger than 16 MB", 1),
    "cut off": Sent(whole(said(FEW))[:-9], ("t", REFUSED, REFUSED), 1),
    "a cut off chunk": Sent(f"{CHUNKED}5\r\nhel".encode(), ("t", REFUSED, REFUSED), 1),
    "a broken chunk": fails(f"{CHUNKED}5\r\nhello, \r\n".encode(), NO_HTTP, 1),
    "broken gzip": fails(whole(b"no", headers="content-encoding: gzip\r\n"), NO_HTTP, 1),
    # No answer that a provider would bill.
    "dropped": Sent(b"", ("t", "t", "t"), 1),
    "dropped in the head": Sent(b"HTTP/1.1 200 OK\r\nconte", ("t", "t", "t"), 1),
    "no HTTP": fails(b"SSH-2.0-OpenSSH\r\n", NO_HTTP, 3, 0),
    "a redirect": fails(whole(b"", "302 Found", "location: x\r\n"),
                        "the provider redirects to x: set base_url to it", 3, 302),
    "a redirect to nowhere": fails(whole(b"", "302 Found", "location: \r\n"), "HTTP 302", 3, 302),
    "an error status": fails(whole(LARGE.encode(), "400 No"), "HTTP 400", 3, 400),
    "a cut off error": Sent(whole(LARGE.encode(), "400 No")[:-1], ("t", "t", "t"), 1),
    "a blank message": fails(whole(b'{"error":{"message":" "}}', "401 No"),
                             "the key in ANTHROPIC_API_KEY was refused", 3, 401),
    "a proxy": fails(whole(b"", "407 No"), "the proxy wants a name and a password: set HTTP_PROXY to"
                     " http://NAME:PASSWORD@HOST:PORT", 3, 407),
}  # fmt: skip


@pytest.mark.parametrize("name", list(COUNTS))
def test_no_answer_evades_a_limit(counted: Run, name: str) -> None:
    sent = COUNTS[name]

    def serve(server: Server, connection: Connection) -> None:
        if (request := connection.read()) is not None:
            server.requests.append(request)
            connection.socket.sendall(sent.content if len(server.requests) <= sent.times else FINE)

    with raw_server(serve) as server:
        ran = counted(**setting(server.url))
    assert ran.out.splitlines() == [end.replace("localhost:PORT", f"localhost:{server.port}") for end in sent.ends]


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
