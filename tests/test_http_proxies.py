"""Proxies, on every engine: tunnels, plain requests, what a proxy refuses, and what is none."""

from __future__ import annotations

import base64
import socket
import threading
from contextlib import suppress

import pytest
from http_programs import ENGINES, Connection, Run, Server, answered, raw_server, runner
from serving import serving
from test_http_connections import KEY, ONE_AFTER_ANOTHER, failed, setting, seven


@pytest.fixture(scope="module", params=ENGINES)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return runner(str(request.param), ONE_AFTER_ANOTHER, tmp_path_factory.mktemp("asks"))


def pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while content := source.recv(65536):
            target.sendall(content)
    except OSError:
        pass
    finally:
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


def proxy(server: Server, connection: Connection) -> None:
    """Opens tunnels, and answers requests in plain text itself."""
    request = connection.read()
    if request is None:
        return
    server.requests.append(request)
    method, target = request.line.split()[:2]
    if method != "CONNECT":
        connection.answer(answered("8"))
        return
    if "refuse" in target:
        connection.answer(b"no", "403 Forbidden")
        return
    host, _, port = target.rpartition(":")
    with socket.create_connection((host, int(port))) as upstream:
        connection.socket.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        back = threading.Thread(target=pump, args=(upstream, connection.socket), daemon=True)
        back.start()
        pump(connection.socket, upstream)
        back.join(10)


def test_a_tunnel_through_a_proxy(run: Run) -> None:
    with raw_server(proxy) as through, serving({"replies": [{"answer": 7}]}, certificate="localhost") as server:
        address = f"http://me:p%40ss@localhost:{through.port}"
        ran = run("claude", "gpt", **setting(server.url, "https://refuse.example/v1", HTTPS_PROXY=address))
        assert ran.out.splitlines() == ["7", failed("cannot reach refuse.example:443")]
        heads = [request.head for request in through.requests]
        assert [head.split("\r\n")[0] for head in heads] == [
            f"CONNECT localhost:{server.port} HTTP/1.1",
            "CONNECT refuse.example:443 HTTP/1.1",
        ]
        login = base64.b64encode(b"me:p@ss").decode()
        assert all(f"proxy-authorization: basic {login}".lower() in head.lower() for head in heads)
        assert KEY not in "".join(heads)


def test_plain_requests_through_a_proxy_and_those_that_need_none(run: Run) -> None:
    with raw_server(proxy) as through, raw_server(seven) as server:
        ran = run(
            "claude",
            "gpt",
            **setting("http://provider.example/gate", server.url, http_proxy=through.url, no_proxy="localhost"),
        )
    assert ran.out.splitlines()[0] == "8"
    assert through.requests[0].line == "POST http://provider.example/gate/v1/messages HTTP/1.1"
    assert len(through.requests) == 1 and len(server.requests) == 1


#: What a proxy says to CONNECT, and what the program is told. In TLS the client speaks first, so that what comes behind
#: a head is nobody who speaks it.
WANTS_LOGIN = "the proxy wants a name and a password: set {} to http://NAME:PASSWORD@HOST:PORT"
NO_WAY = failed("cannot reach provider.example:443")
NO_TLS = failed("TLS with provider.example failed")
ANSWERS = {
    b"HTTP/1.1 407 No\r\nproxy-authenticate: Basic\r\ncontent-length: 2\r\n\r\nno":
        failed(WANTS_LOGIN.format("HTTPS_PROXY"), 407),
    b"HTTP/1.1 502 No\r\ncontent-length: 0\r\n\r\n": NO_WAY,
    b"HTTP/1.1 302 No\r\nlocation: http://x\r\n\r\n": NO_WAY,
    b"HTTP/2.0 200 OK\r\n\r\n": NO_WAY,
    b"HTTP/1.1 200 OK\r\n": NO_WAY,
    b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 100_000 + b"\r\n": NO_WAY,
    b"HTTP/1.1 407 No\r\n" + b"a: b\r\n" * 10_000 + b"\r\n": failed(WANTS_LOGIN.format("HTTPS_PROXY"), 407),
    b"": NO_WAY,
    b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello": NO_TLS,
    b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 400 No TLS here\r\n\r\n": NO_TLS,
}  # fmt: skip


def test_what_a_proxy_says_to_a_tunnel(run: Run) -> None:
    for content, told in ANSWERS.items():

        def serve(server: Server, connection: Connection, content: bytes = content) -> None:
            if (request := connection.read()) is not None:
                server.requests.append(request)
                # A head that is too large is not read to its end.
                with suppress(OSError):
                    connection.socket.sendall(content)

        with raw_server(serve) as through:
            url = f"http://me:secret@127.0.0.1:{through.port}"
            ran = run("claude", **setting("https://provider.example", HTTPS_PROXY=url))
        assert (ran.out.splitlines(), ran.err) == ([told], ""), content
        assert len(through.requests) == 1


def test_a_plain_server_behind_a_tunnel(run: Run) -> None:
    with raw_server(proxy) as through, raw_server(greet) as server:
        ran = run("claude", **setting(server.url.replace("http:", "https:"), HTTPS_PROXY=through.url))
    assert ran.out.splitlines() == [failed("TLS with localhost failed")]


def greet(_: Server, connection: Connection) -> None:
    connection.socket.recv(10)
    connection.socket.sendall(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
    connection.wait_for_close()


def test_a_tunnel_to_an_address(run: Run) -> None:
    def refuse(server: Server, connection: Connection) -> None:
        if (request := connection.read()) is not None:
            server.requests.append(request)
            connection.answer(b"", "403 Forbidden")

    with raw_server(refuse) as through:
        ran = run("claude", **setting("https://[2001:DB8::1]:8", HTTPS_PROXY=f"me@localhost:{through.port}/"))
    assert ran.out.splitlines() == [failed("cannot reach [2001:db8::1]:8")]
    head = through.requests[0].head
    assert head.startswith("CONNECT [2001:db8::1]:8 HTTP/1.1\r\nhost: [2001:db8::1]:8\r\n")
    assert f"proxy-authorization: Basic {base64.b64encode(b'me:').decode()}\r\n" in head


def test_a_plain_request_that_a_proxy_refuses(run: Run) -> None:
    def refuse(_: Server, connection: Connection) -> None:
        connection.read()
        connection.answer(b'{"message":"who are you?"}', "407 Proxy Authentication Required")

    with raw_server(refuse) as through:
        ran = run("claude", **setting("http://provider.example", HTTP_PROXY=f"me:secret@localhost:{through.port}"))
    assert ran.out.splitlines() == [failed(WANTS_LOGIN.format("HTTP_PROXY") + ": who are you?", 407)]


def test_variables_that_name_no_proxy(run: Run) -> None:
    """No password is said. More of them are in test_http_client.py, and beside proxy.zig."""
    for text in (
        "http://me:secret@pro xy",
        "http://me:secret@localhost\r\nx: y",
        "http://me:secret@localhost?x",
        "socks5://x",
    ):
        ran = run("claude", **setting("http://provider.example:8", ALL_PROXY=text))
        assert (ran.out.splitlines(), ran.err) == ([failed("cannot reach provider.example:8")], ""), text


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
