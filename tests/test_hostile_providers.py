"""Providers, proxies and settings that are not as they should be, on every engine."""

from __future__ import annotations

import json
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


# The key, which neither a program nor the audit log ever reads.


KEY = 'sk-MARKER/7f"3a9c'
SEVERAL = """
type Noted { notes: [String: [String]] }
fn main() {
    const text = ask<String>("text") catch e => "{e}"
    print(text)
    const texts = ask<[String]>("texts") catch e => ["{e}"]
    print(texts)
    const noted = ask<Noted>("noted") catch e => Noted(notes: ["{e}": []])
    print(noted)
    const number = ask<Int>("number") catch e => {
        print(e)
        return
    }
    print(number)
}
"""
# As JSON may write it inside a string.
WRITTEN = (
    'sk-MARKER/7f\\"3a9c',
    "sk-MARKER\\/7f\\u00223a9c",
    "\\u0073\\u006B-MARKER/7f\\u00223a9\\u0063",
    "".join(f"\\u{ord(character):04x}" for character in KEY),
)


@pytest.fixture(scope="module")
def several(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return runner(engine, SEVERAL, tmp_path_factory.mktemp("several"))


def test_a_key_that_an_answer_writes_in_another_way(several: Run) -> None:
    texts = {
        "text": f"{KEY} {WRITTEN[3]} \\u0073k-MARKER \\",
        "texts": "[" + ",".join(f'"{each}"' for each in (*WRITTEN, f"\\\\{WRITTEN[2]}!")) + "]",
        "noted": f'{{"notes":{{"{WRITTEN[1]}":["{WRITTEN[2]}{WRITTEN[0]}"]}}}}',
        "number": f'"{WRITTEN[2]}"',
    }

    def serve(_: Server, connection: Connection) -> None:
        while (request := connection.read()) is not None:
            asked = json.loads(request.body)["messages"][0]["content"].split()[0]
            connection.answer(json.dumps({"content": [{"type": "text", "text": texts[asked]}]}).encode())

    with raw_server(serve) as server:
        ran = several(**setting(server.url, key=f" \t{KEY}\r\n"))
    assert (ran.err, ran.status) == ("", 0)
    assert ran.out.splitlines() == [
        "[key] [key] \\u0073k-MARKER \\",
        '["[key]", "[key]", "[key]", "[key]", "\\\\[key]!"]',
        'Noted(notes: ["[key]": ["[key][key]"]])',
        'InvalidOutput(answer: "\\"[key]\\"")',
    ]


def test_a_key_with_blanks_around_it_is_the_one_without(run: Run, tmp_path: Path) -> None:
    def serve(server: Server, connection: Connection) -> None:
        while (request := connection.read()) is not None:
            server.requests.append(request)
            connection.answer(b'{"error":{"message":"bad sk-MARKER-7f3a9c"}}', "400 Bad")

    audit_log = tmp_path / "audit.log"
    with raw_server(serve) as server:
        blank = {"key": " sk-MARKER-7f3a9c\t\n", "KAVACH_AUDIT_LOG": str(audit_log)}
        ran = run("claude", "gpt", **setting(server.url, server.url, **blank))
    assert ran.out.splitlines() == [failed("bad [key]", 400)] * 2
    assert "x-api-key: sk-marker-7f3a9c\r\n" in server.requests[0].head.lower()
    assert "MARKER" not in audit_log.read_text(encoding="utf-8")
    assert run("claude", **setting("http://127.0.0.1:1", key=" \n")).out.splitlines() == [
        'NoKey(variable: "ANTHROPIC_API_KEY")'
    ]


def test_a_key_in_a_base_url_is_not_repeated(run: Run, tmp_path: Path) -> None:
    key = "sk-MARKER-7f3a9c"

    def serve(_: Server, connection: Connection) -> None:
        while connection.read() is not None:
            connection.answer(b"{}", "404 Not Found")

    audit_log = tmp_path / "audit.log"
    with raw_server(serve) as server:
        for url, message, status in (
            (f"{server.url}/{key}", f'there is no model \\"m\\" at {server.url}/[key]', 404),
            (f"{server.url}/?{key}", f'the base URL \\"{server.url}/?[key]\\" is no http or https URL', 0),
            (f"http://{key}!", 'the host in the base URL \\"http://[key]!\\" is neither a name nor an address', 0),
            (
                f"{server.url}/{key}/..",
                f'the base URL \\"{server.url}/[key]/..\\" has \\".\\" or \\"..\\" in its path',
                0,
            ),
            (f"http://{key}.invalid", "cannot find the host [key].invalid", 0),
        ):
            ran = run("claude", **setting(url, key=key, KAVACH_AUDIT_LOG=str(audit_log)))
            assert ran.out.splitlines() == [failed(message, status)]
    assert "marker" not in audit_log.read_text(encoding="utf-8").lower()
