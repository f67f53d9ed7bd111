"""How answers are framed: what each engine reads, takes for nonsense or for a dropped connection, and whether it uses
the connection again (docs/providers.md). By RFC 9112, and where that leaves a choice, as h11 does it."""

from __future__ import annotations

import gzip
import json
import threading
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from http_programs import ENGINES, Connection, Run, Server, answered, raw_server, runner
from test_http_connections import failed, setting

PROGRAM = """
agent Claude {
    model Model(name: "m", timeout: 20s)
    can Ai
    on number(prompt: String) -> Int ! AiError { try ask<Int>(prompt) }
}
fn asked(prompt: String) -> String {
    const n = Claude.start().number(prompt) catch e => return "{e}"
    "{n}"
}
fn main() {
    for prompt in Env.args() { print(asked(prompt)) }
}
"""

BODY = answered("7")
LENGTH = f"content-length: {len(BODY)}"
PACKED = gzip.compress(BODY, mtime=0)
CHUNKED = "transfer-encoding: chunked"
CHUNK = b"%x\r\n%s\r\n" % (len(BODY), BODY)
NO_HTTP = "the answer of localhost:PORT is not HTTP"


def head(*lines: str, status: str = "HTTP/1.1 200 OK", end: str = "\r\n") -> bytes:
    return "".join(line + end for line in (status, *lines, "")).encode("latin-1")


def chunked(*pieces: bytes) -> bytes:
    return head(CHUNKED) + b"".join(pieces)


def packed(content: bytes, *lines: str) -> bytes:
    return head(f"content-length: {len(content)}", *(lines or ("content-encoding: gzip",))) + content


@dataclass(frozen=True, slots=True)
class Row:
    """What is sent, and whether the server closes then. `ends` is what the program is told. A dropped connection is
    sent again, and gets a good answer. `is_kept`: the connection is used for the next request."""

    content: bytes
    ends: str = "7"
    is_kept: bool = False
    closes: bool = False
    is_dropped: bool = False


def good(content: bytes) -> Row:
    return Row(content, is_kept=True)


def closed(content: bytes) -> Row:
    return Row(content, closes=True)


def dropped(content: bytes) -> Row:
    return Row(content, closes=True, is_dropped=True)


def nonsense(content: bytes, status: int = 0) -> Row:
    return Row(content, failed(NO_HTTP, status))


def nonsense_in_body(content: bytes) -> Row:
    return nonsense(content, 200)


GOOD_HEAD = head(LENGTH) + BODY
GOOD = {
    "plain": head(LENGTH) + BODY,
    "folded": head("x: a", " b", "\tc", LENGTH, " ") + BODY,
    "a folded length": head("content-length:", f"  {len(BODY)} ") + BODY,
    "one length twice": head(f"content-length: {len(BODY)}, {len(BODY)}") + BODY,
    "two equal lengths": head(LENGTH, LENGTH.upper()) + BODY,
    "a later version": head(LENGTH, status="HTTP/1.2 200 OK") + BODY,
    "no words": head(LENGTH, status="HTTP/1.1 200") + BODY,
    "odd words": head(LENGTH, status="HTTP/1.1 200 \xff\x01\t ") + BODY,
    "bare line ends": head(LENGTH, end="\n") + BODY,
    "odd characters": head("x!#$%&'*+-.^_`|~: \x01\x7f\xff", "y:", LENGTH) + BODY,
    "answers to come": head(status="HTTP/1.1 100 Continue") + head("x: y", status="HTTP/1.1 103 X") + GOOD_HEAD,
    "many answers to come": head(status="HTTP/1.1 102 Wait") * 5000 + head(LENGTH) + BODY,
    "a long line": head("x: " + "a" * 60_000, LENGTH) + BODY,
    "many headers": head(*["x: y"] * 9_000, LENGTH) + BODY,
    "an empty encoding": head("content-encoding:", LENGTH) + BODY,
    "no encoding": head("content-encoding: identity, ,IDENTITY", LENGTH) + BODY,
    "chunks": chunked(b"00000000000000001;a=\"b ; c\" \t\r\n", BODY[:1], b"\r\n", b"%X \r\n" % (len(BODY) - 1),
                      BODY[1:], b"\r\n0\r\nx: y\r\n z\r\n\r\n"),
    "chunks with a bare end": chunked(CHUNK, b"0\r\n\n"),
    "gzip": packed(PACKED),
    "gzip by its old name": packed(PACKED, "Content-Encoding: X-GZIP"),
    "gzip and nothing": packed(PACKED, "content-encoding: identity", "content-encoding: gzip"),
    "gzip in members": packed(gzip.compress(BODY[:9]) + gzip.compress(b"") + gzip.compress(BODY[9:])),
    "gzip with a name": packed(PACKED[:3] + b"\x18" + PACKED[4:10] + b"n" * 3000 + b"\x00words\x00" + PACKED[10:]),
}  # fmt: skip
CLOSED = {
    "an old version": head(LENGTH, "connection: keep-alive", status="HTTP/1.0 200 OK") + BODY,
    "close": head(LENGTH, "connection: x, Close") + BODY,
    "framed twice": head(CHUNKED, "content-length: 3") + CHUNK + b"0\r\n\r\n",
    "more than the answer": head(LENGTH) + BODY + head(LENGTH) + answered("8"),
    "more than the chunks": chunked(CHUNK, b"0\r\n\r\n") + head(LENGTH) + answered("8"),
}
UNTIL_CLOSE = {
    "until close": head() + BODY,
    "until close, packed": head("content-encoding: gzip") + PACKED,
}
NONSENSE = {
    "another version": head(LENGTH, status="HTTP/2.0 200 OK") + BODY,
    "a version of two digits": head(LENGTH, status="HTTP/1.10 200 OK") + BODY,
    "small letters": head(LENGTH, status="http/1.1 200 OK") + BODY,
    "another protocol": b"SSH-2.0-OpenSSH\r\n",
    "TLS": b"\x15\x03\x01\x00\x02\x02\x46",
    "an empty line first": b"\r\n" + head(LENGTH) + BODY,
    "two blanks": head(LENGTH, status="HTTP/1.1  200 OK") + BODY,
    "a status of four digits": head(LENGTH, status="HTTP/1.1 2000 OK") + BODY,
    "a status of letters": head(LENGTH, status="HTTP/1.1 2x0 OK") + BODY,
    "a status below 100": head(LENGTH, status="HTTP/1.1 099 OK") + BODY,
    "another protocol from here": head("upgrade: x", status="HTTP/1.1 101 Switching") + BODY,
    "no colon": b"HTTP/1.1 200 OK\r\nx\r\n",
    "no name": b"HTTP/1.1 200 OK\r\n: x\r\n",
    "a blank before the colon": b"HTTP/1.1 200 OK\r\nx : y\r\n",
    "folded at once": b"HTTP/1.1 200 OK\r\n x: y\r\n",
    "a zero byte": b"HTTP/1.1 200 OK\r\nx: \x00\r\n",
    "a lone return": b"HTTP/1.1 200 OK\r\nx: a\rb\r\n",
    "two returns": b"HTTP/1.1 200 OK\r\nx: a\r\r\n",
    "a form feed": b"HTTP/1.1 200 OK\r\nx: a\r\n b\x0c\r\n",
    "a large head": head("x: " + "a" * 70_000, LENGTH) + BODY,
    "a head without end": b"HTTP/1.1 200 OK\r\nx: " + b"a" * 70_000,
    "two lengths": head(LENGTH, "content-length: 1") + BODY,
    "two lengths in one": head(f"content-length: {len(BODY)}, 1") + BODY,
    "two ways to write it": head(LENGTH, f"content-length: 0{len(BODY)}") + BODY,
    "half a list": head(f"content-length: {len(BODY)},") + BODY,
    "no length": head("content-length: ") + BODY,
    "less than nothing": head("content-length: -1") + BODY,
    "a plus": head(f"content-length: +{len(BODY)}") + BODY,
    "no number": head("content-length: 1x") + BODY,
    "21 digits": head("content-length: " + "9" * 21) + BODY,
    "5000 digits": head("content-length: " + "9" * 5000) + BODY,
    "a wrong length of an answer to come": head("content-length: x", status="HTTP/1.1 100 Go on") + head(LENGTH) + BODY,
    "packed by the transfer": head("transfer-encoding: gzip, chunked") + BODY,
    "an unknown transfer": head("transfer-encoding: x") + BODY,
    "chunked twice": head(CHUNKED, CHUNKED) + CHUNK,
    "chunked, no content": head("transfer-encoding: identity", status="HTTP/1.1 204 No Content"),
}
NONSENSE_IN_BODY = {
    "a blank before a chunk's words": chunked(b"5 ;x\r\nhello\r\n0\r\n\r\n"),
    "a chunk's bare end": chunked(b"5\nhello\r\n0\r\n\r\n"),
    "a chunk of less than nothing": chunked(b"-5\r\nhello\r\n0\r\n\r\n"),
    "0x": chunked(b"0x5\r\nhello\r\n0\r\n\r\n"),
    "a chunk of 21 digits": chunked(b"0" * 21 + b"\r\n\r\n"),
    "no chunk": chunked(b"\r\n"),
    "a chunk that goes on": chunked(b"5\r\nhelloX\r\n0\r\n\r\n"),
    "a chunk that ends in a line feed": chunked(b"5\r\nhello\n0\r\n\r\n"),
    "a trailer without a colon": chunked(CHUNK, b"0\r\nx\r\n\r\n"),
    "a trailer with a wrong length": chunked(CHUNK, b"0\r\ncontent-length: x\r\n\r\n"),
    "br": packed(BODY, "content-encoding: br"),
    "deflate": packed(BODY, "content-encoding: deflate"),
    "gzip twice": packed(PACKED, "content-encoding: gzip, gzip"),
    "gzip, but another sum": packed(PACKED[:-8] + b"\x00" * 4 + PACKED[-4:]),
    "gzip, but another length": packed(PACKED[:-1] + b"\x01"),
    "gzip, cut off": packed(PACKED[:-1]),
    "gzip, and more": packed(PACKED + b"x"),
    "gzip with unknown flags": packed(PACKED[:3] + b"\x80" + PACKED[4:]),
    "no gzip": packed(BODY),
}
DROPPED = {
    "nothing": b"",
    "a part of a word": b"HTTP",
    "a part of a head": b"HTTP/1.1 200 OK\r\n" + LENGTH.encode(),
    "no empty line": head(LENGTH)[:-2],
    "an answer to come": head(status="HTTP/1.1 100 Continue"),
    "a part of a body": head(LENGTH) + BODY[:-1],
    "a huge length": head(f"content-length: {2**64}") + BODY,
    "a huge chunk": chunked(b"f" * 20 + b"\r\n", BODY),
    "a part of a chunk": chunked(CHUNK[:9]),
    "a chunk without end": chunked(CHUNK[:-1]),
    "no last chunk": chunked(CHUNK),
    "a bare end, and no more": chunked(b"5\nhello"),
    "a part of the trailers": chunked(CHUNK, b"0\r\nx: y\r\n"),
    "a part of a pack": head("content-encoding: gzip") + PACKED[:-1],
}
EMPTY = "the provider's answer is empty"
ROWS: dict[str, Row] = {
    **{name: good(content) for name, content in GOOD.items()},
    **{name: Row(content) for name, content in CLOSED.items()},
    **{name: closed(content) for name, content in UNTIL_CLOSE.items()},
    **{name: nonsense(content) for name, content in NONSENSE.items()},
    **{name: nonsense_in_body(content) for name, content in NONSENSE_IN_BODY.items()},
    **{name: dropped(content) for name, content in DROPPED.items()},
    "no content": Row(head(LENGTH, status="HTTP/1.1 204 No Content"), failed(EMPTY, 204), is_kept=True),
    "no content, and a body": Row(head(LENGTH, status="HTTP/1.1 204 No Content") + BODY, failed(EMPTY, 204)),
    "chunked, and no content": Row(head(CHUNKED, status="HTTP/1.1 204 No Content"), failed(EMPTY, 204), is_kept=True),
    "not changed": Row(head(LENGTH, status="HTTP/1.1 304 Not Modified"), failed("HTTP 304", 304), is_kept=True),
    "an empty pack": Row(head("content-length: 0", "content-encoding: gzip"), failed(EMPTY, 200), is_kept=True),
}


@pytest.fixture(scope="module", params=ENGINES)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return runner(str(request.param), PROGRAM, tmp_path_factory.mktemp("asks"))


def test_framing(run: Run) -> None:
    """One ask after another, a row each."""
    lock = threading.Lock()
    #: Of each row: on which connections it was asked.
    asked: dict[str, list[int]] = {name: [] for name in ROWS}

    def serve(server: Server, connection: Connection) -> None:
        number = server.connections
        while (request := connection.read()) is not None:
            name = json.loads(request.body)["messages"][0]["content"]
            with lock:
                asked[name].append(number)
            row = ROWS[name]
            is_again = row.is_dropped and len(asked[name]) > 1
            connection.socket.sendall(GOOD["plain"] if is_again else row.content)
            if row.closes and not is_again:
                return

    with raw_server(serve) as server:
        ran = run(*ROWS, **setting(server.url))
    lines = ran.out.splitlines()
    assert (len(lines), ran.err, ran.status) == (len(ROWS), "", 0), ran
    wrong: list[str] = []
    for (name, row), line in zip(ROWS.items(), lines, strict=True):
        wanted = row.ends.replace("localhost:PORT", f"localhost:{server.port}")
        sends = 2 if row.is_dropped else 1
        if (line, len(asked[name])) != (wanted, sends):
            wrong.append(f"{name}: {line} after {len(asked[name])} sends; expected {wanted} after {sends}")
    names = list(ROWS)
    for before, after in pairwise(names):
        is_kept = asked[before][-1:] == asked[after][:1]
        if is_kept != (ROWS[before].is_kept or ROWS[before].is_dropped):
            wrong.append(f"{before}: the connection was {'' if is_kept else 'not '}used for the next request")
    assert not wrong, "\n".join(wrong)


def test_an_answer_before_all_was_sent(run: Run, tmp_path: Path) -> None:
    """What a server says before it has read everything counts."""

    def serve(server: Server, connection: Connection) -> None:
        file = connection.socket.makefile("rb")
        while file.readline().strip():
            pass
        connection.answer(b'{"error":{"message":"no"}}', "413 Large", "connection: close\r\n")
        connection.wait_for_close()

    with raw_server(serve) as server:
        ran = run("a" * 120_000, **setting(server.url))
    assert ran.out.splitlines() == [failed("the prompt is too large: no", 413)]
