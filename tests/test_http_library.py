"""`Http.get` and `Http.post` over real sockets, on every engine (spec 10.http)."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from http_programs import ENGINES, Connection, Run, Server, raw_server, runner
from kavachc.mock.command import server_context
from test_http_connections import CA

PROGRAM = """
fn show(answer: HttpAnswer) {
    print(answer.status)
    for (name, value) in answer.headers {
        print("{name}: {value}")
    }
    print("[{answer.body}]")
}

fn given(texts: [String]) -> [String: String] {
    let headers: [String: String] = [:]
    for text in texts {
        const (name, value) = text.split_once("=") ?? ("", text)
        headers.set(name, value)
    }
    headers
}

fn main() ! HttpError {
    const args = Env.args()
    const url = args[1]
    match args[0] {
        "get" => show(try Http.get(url, given(args.drop(2))))
        "post" => show(try Http.post(url, args[2], given(args.drop(3))))
        "plain" => show(try Http.get(url))
        "late" => show(try Http.get(url, timeout: 300ms))
        "cancel" => {
            const task = spawn Http.get(url)
            const got = task.wait_for(300ms) catch e => {
                print(e)
                task.cancel()
                const late = task.wait() catch e => {
                    print(e)
                    return
                }
                print(late)
                return
            }
            print(got)
        }
        "many" => {
            let tasks: [Task<HttpAnswer>] = []
            for _ in 0..(args[2].to_int() ?? 0) {
                tasks.push(spawn Http.get(url))
            }
            let total = 0
            for task in tasks {
                const got = task.wait() catch e => {
                    print(e)
                    return
                }
                total += got.status
            }
            print(total)
        }
        _ => print("what?")
    }
}
"""


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def run(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return runner(engine, PROGRAM, tmp_path_factory.mktemp("http"))


def answering(body: bytes, status: str = "200 OK", headers: str = "") -> Callable[[Server, Connection], None]:
    def serve(server: Server, connection: Connection) -> None:
        while (request := connection.read()) is not None:
            server.requests.append(request)
            connection.answer(body, status, headers)

    return serve


def sending(content: bytes) -> Callable[[Server, Connection], None]:
    """Just these bytes, and the end."""

    def serve(server: Server, connection: Connection) -> None:
        request = connection.read()
        assert request is not None
        server.requests.append(request)
        connection.socket.sendall(content)

    return serve


def headers_of(server: Server) -> list[str]:
    """Of its only request, in lower case, sorted."""
    [request] = server.requests
    return sorted(line.lower() for line in request.head.split("\r\n")[1:] if line)


# What is sent.


def test_a_get_with_its_query(run: Run) -> None:
    with raw_server(answering(b"hello")) as server:
        ran = run("plain", f"{server.url}?q=a%20b&r=@", ANTHROPIC_API_KEY="sk-planted-marker-key")
    assert (ran.out, ran.err, ran.status) == ("200\ncontent-length: 5\n[hello]\n", "", 0)
    assert server.requests[0].line == "GET /?q=a%20b&r=@ HTTP/1.1"
    assert headers_of(server) == [
        "accept-encoding: gzip",
        "accept: */*",
        f"host: localhost:{server.port}",
        "user-agent: kavach",
    ]


def test_a_post_with_its_headers(run: Run) -> None:
    with raw_server(answering(b"")) as server:
        ran = run("post", f"{server.url}/a/b", "größer", "Accept=text/html", "X-One= 1 ", "content-TYPE=text/x")
    assert (ran.out, ran.err) == ("200\ncontent-length: 0\n[]\n", "")
    assert server.requests[0].line == "POST /a/b HTTP/1.1"
    assert server.requests[0].body.decode() == "größer"
    assert headers_of(server) == [
        "accept-encoding: gzip",
        "accept: text/html",
        "content-length: 8",
        "content-type: text/x",
        f"host: localhost:{server.port}",
        "user-agent: kavach",
        "x-one: 1",
    ]


def test_an_empty_post(run: Run) -> None:
    with raw_server(answering(b"")) as server:
        run("post", f"{server.url}/", "", "user-agent=me")
    assert {"content-length: 0", "content-type: text/plain; charset=utf-8", "user-agent: me"} <= {*headers_of(server)}


def test_what_is_no_request_is_not_sent(run: Run) -> None:
    with raw_server(answering(b"")) as server:
        for header in ("a\nb=c", "a=b\r\nc: d", "content-length=3", "Host=x", "=x", "a=ä"):
            ran = run("get", server.url, header)
            assert ran.err.startswith("error: BadRequest(") and ran.status == 1
        for url in (f"{server.url}/a b", f"{server.url}/\r\nx: y", f"{server.url}/ä", f"{server.url}/#x", "localhost"):
            assert run("get", url).err.startswith("error: BadRequest(")
    assert server.connections == 0


# What is answered.


@pytest.mark.parametrize("status", ["302 Found", "404 Not Found", "500 No"])
def test_every_status_is_an_answer(run: Run, status: str) -> None:
    with raw_server(answering(b"x", status, "Location: http://127.0.0.1:1/\r\n")) as server:
        ran = run("plain", server.url)
    assert ran.out == f"{status[:3]}\nlocation: http://127.0.0.1:1/\ncontent-length: 1\n[x]\n"
    assert len(server.requests) == 1


def test_headers_of_one_name_and_broken_text(run: Run) -> None:
    content = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nx-b: \xff\xe2\x82x\r\nx-a: 2\r\ncontent-length: 0\r\n\r\n"
    with raw_server(sending(content)) as server:
        ran = run("plain", server.url)
    assert ran.out == "200\nx-a: 1, 2\nx-b: \ufffd\ufffdx\ncontent-length: 0\n[]\n"


def test_headers_are_read_as_they_were_sent(run: Run) -> None:
    content = (
        b"HTTP/1.1 103 Hints\r\nx: 1\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nX: \t a \r\n  b\r\n\t\r\n"
        b"Content-Length: 3, 3\r\nCONTENT-LENGTH: 3\r\n\r\n"
        b"3\r\nabc\r\n0\r\n\r\n"
    )
    with raw_server(sending(content)) as server:
        ran = run("plain", server.url)
    assert ran.out == "200\ntransfer-encoding: Chunked\nx: a  b\ncontent-length: 3, 3, 3\n[abc]\n"


def test_chunked_and_packed(run: Run) -> None:
    packed = gzip.compress(b"hello " * 1000)
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
    content = head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    with raw_server(sending(content)) as server:
        ran = run("plain", server.url)
    assert ran.out == f"200\ncontent-encoding: gzip\ntransfer-encoding: chunked\n[{'hello ' * 1000}]\n"


def test_no_text(run: Run) -> None:
    with raw_server(answering(b"\xff", "404 No")) as server:
        assert run("plain", server.url).err == "error: NotText(status: 404)\n"


def test_no_answer(run: Run) -> None:
    too_large = b"HTTP/1.1 200 OK\r\n\r\n" + b" " * ((16 << 20) + 1)
    for content, reason in (
        (b"", "connection dropped"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel", "connection dropped"),
        (b"SSH-2.0-x\r\n\r\n", "the answer of localhost:PORT is not HTTP"),
        (too_large, "the answer is larger than 16 MB"),
    ):
        with raw_server(sending(content)) as server:
            ran = run("plain", server.url)
        assert ran.err == f'error: NoAnswer(reason: "{reason.replace("PORT", str(server.port))}")\n'


def test_not_reached(run: Run) -> None:
    ran = run("plain", "http://no-such-host.invalid/x?y=z")
    assert ran.err == 'error: NotReached(reason: "cannot find the host no-such-host.invalid")\n'
    ran = run("plain", "http://127.0.0.1:1")
    assert ran.err == 'error: NotReached(reason: "127.0.0.1:1 refused the connection")\n'
    ran = run("plain", "http://LOCALHOST:1/")
    assert ran.err == 'error: NotReached(reason: "localhost:1 refused the connection")\n'


def test_certificates_are_looked_at(run: Run) -> None:
    with raw_server(answering(b"x"), server_context("localhost")) as server:
        assert run("plain", server.url, SSL_CERT_FILE=CA).out == "200\ncontent-length: 1\n[x]\n"
        ran = run("plain", server.url)
    reason = "the certificate of localhost is not trusted (set SSL_CERT_FILE to the CA that signed it)"
    assert ran.err == f'error: NotReached(reason: "{reason}")\n'


def test_a_proxy_is_told_the_whole_url(run: Run) -> None:
    with raw_server(answering(b"x")) as proxy:
        ran = run("plain", "http://example.test?q=1", http_proxy=f"http://127.0.0.1:{proxy.port}", no_proxy="")
    assert ran.out == "200\ncontent-length: 1\n[x]\n"
    assert proxy.requests[0].line == "GET http://example.test/?q=1 HTTP/1.1"


# Waiting.


def silent(server: Server, connection: Connection) -> None:
    connection.read()
    with suppress(OSError):
        connection.wait_for_close()
    server.closed.set()


def test_a_time_limit(run: Run) -> None:
    with raw_server(silent) as server:
        assert run("late", server.url).err == 'error: NoAnswer(reason: "no answer within 300ms")\n'
        assert server.closed.wait(10)


def test_a_cancelled_call_is_broken_off(run: Run) -> None:
    with raw_server(silent) as server:
        ran = run("cancel", server.url)
        assert (ran.out, ran.err, ran.status) == ("TimedOut\nCancelled\n", "", 0)
        assert server.closed.wait(10)


def test_calls_wait_beside_each_other(run: Run) -> None:
    together = threading.Barrier(20, timeout=60)

    def serve(server: Server, connection: Connection) -> None:
        connection.read()
        together.wait()
        connection.answer(b"")

    with raw_server(serve) as server:
        assert run("many", server.url, "20").out == "4000\n"


def test_no_more_than_256_at_once(run: Run) -> None:
    lock = threading.Lock()
    under_way, most = 0, 0
    full = threading.Event()

    def serve(server: Server, connection: Connection) -> None:
        nonlocal under_way, most
        while connection.read() is not None:
            with lock:
                under_way += 1
                most = max(most, under_way)
                if under_way == 256:
                    full.set()
            full.wait(60)
            time.sleep(0.2)  # Those beyond would come now.
            with lock:
                under_way -= 1
            connection.answer(b"")

    with raw_server(serve) as server:
        assert run("many", server.url, "300").out == "60000\n"
    assert most == 256
