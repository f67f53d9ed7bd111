"""The HTTP engine on httpx by itself, and its choice of a proxy."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from http_programs import Connection, Server, raw_server
from kavachc.bindings.abi import ExchangeProblem
from kavachc.bindings.exchange import HttpRequest
from kavachc.bindings.http_client import HttpClient
from kavachc.bindings.http_proxy import Proxy, UnusableProxy, proxy_for
from kavachc.bindings.http_url import parse_url
from kavachc.mock.command import CERTIFICATES, server_context
from serving import serving

SECOND_NS = 1_000_000_000
BODY = b'{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}'


class Receiver:
    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.content = bytearray()
        self.status = 0
        self.problem = ExchangeProblem.NO_PROBLEM
        self.ends = 0
        self.has_ended = threading.Event()

    def header(self, name: str, value: str) -> None:
        self.headers[name.lower()] = value

    def body(self, content: bytes) -> bool:
        self.content += content
        return True

    def end(self, status: int, problem: ExchangeProblem) -> None:
        self.status, self.problem = status, problem
        self.ends += 1
        self.has_ended.set()

    def result(self) -> tuple[int, ExchangeProblem]:
        assert self.has_ended.wait(30)
        return self.status, self.problem


def request(url: str, connect_s: float = 10, limit_s: float = 30) -> HttpRequest:
    headers = (("x-api-key", " k "), ("anthropic-version", "2023-06-01"))
    return HttpRequest(
        "POST", f"{url}/v1/messages", headers, BODY, int(connect_s * SECOND_NS), int(limit_s * SECOND_NS)
    )


@pytest.fixture
def client() -> Iterator[HttpClient]:
    made = HttpClient()
    yield made
    made.close()


@contextmanager
def silent_server() -> Iterator[str]:
    """Takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_limits(client: HttpClient) -> None:
    with silent_server() as place:
        connecting, whole = Receiver(), Receiver()
        client.send(request(f"https://{place}", connect_s=0.3), connecting)
        client.send(request(f"http://{place}", connect_s=0.3, limit_s=0.6), whole)
        assert connecting.result() == (0, ExchangeProblem.TIMED_OUT)
        assert whole.result() == (0, ExchangeProblem.LATE)


def test_an_abort_is_reported_soon_and_once(client: HttpClient) -> None:
    with silent_server() as place:
        receivers = [Receiver() for _ in range(50)]
        for receiver in receivers:
            client.send(request(f"http://{place}"), receiver)
        for receiver in receivers:
            client.abort(receiver)
            client.abort(receiver)
        began_s = time.monotonic()
        assert all(receiver.result() == (0, ExchangeProblem.ABORTED) for receiver in receivers)
        assert time.monotonic() - began_s < 5
    with serving({"replies": [{"answer": 1}]}) as server:
        late = Receiver()
        client.send(request(server.url), late)
        assert late.result() == (200, ExchangeProblem.NO_PROBLEM)
        client.abort(late)
        assert late.ends == 1 and late.headers["request-id"] == "req_mock_1"


def test_closing_ends_what_is_under_way_and_the_thread() -> None:
    before = threading.active_count()
    client = HttpClient()
    client.close()
    with silent_server() as place:
        client = HttpClient()
        receiver = Receiver()
        client.send(request(f"http://{place}"), receiver)
        client.close()
        assert receiver.result() == (0, ExchangeProblem.ABORTED)
    assert threading.active_count() == before


def test_connections_are_kept(client: HttpClient) -> None:
    with serving({"replies": [{"answer": 1}]}) as server:
        for _ in range(20):
            receiver = Receiver()
            client.send(request(server.url), receiver)
            assert receiver.result() == (200, ExchangeProblem.NO_PROBLEM)
        ports = {entry["client"] for entry in server.log()}
        assert len(ports) == 1


def test_many_at_once_keep_their_connections(client: HttpClient) -> None:
    with serving({"replies": [{"answer": 1, "delay": "300ms"}]}) as server:
        for _ in range(2):
            receivers = [Receiver() for _ in range(256)]
            for receiver in receivers:
                client.send(request(server.url), receiver)
            assert all(receiver.result() == (200, ExchangeProblem.NO_PROBLEM) for receiver in receivers)
        assert len({entry["client"] for entry in server.log()}) <= 300


URL = "https://api.example.com:8443/v1"


def chosen(url: str, **environment: str) -> Proxy | None:
    parsed = parse_url(url)
    assert not isinstance(parsed, str)
    return proxy_for(parsed, environment)


@pytest.mark.parametrize(
    "exempt",
    ["*", "a *", "api.example.com", "api.example.com.", "example.com", ".example.com", "*.example.com",
     "a, Example.COM ", "a.com example.com", "example.com:8443", "com"],
)  # fmt: skip
def test_hosts_that_need_no_proxy(exempt: str) -> None:
    assert chosen(URL, HTTPS_PROXY="proxy:3128", NO_PROXY=exempt) is None


@pytest.mark.parametrize(
    "exempt", ["", ",", ".", "ample.com", "example.com:443", "x.api.example.com", "api.example.org", "0.0.0.0/0"]
)
def test_hosts_that_need_one(exempt: str) -> None:
    assert chosen(URL, HTTPS_PROXY="proxy:3128", NO_PROXY=exempt) == Proxy("proxy", 3128, None)


#: The host of a URL, and what exempts it or does not.
ADDRESSES = (
    ("10.1.2.3", ["10.1.2.3", "10.1.2.3:80", "10.0.0.0/8", "10.1.2.3/32", "0.0.0.0/0", "11.0.0.0/7"],
     ["10.1.2.4", "10.1.2.3:81", "11.0.0.0/8", "10.0.0.0/33", "10/8", "::/0", "3", ".2.3"]),
    ("[::1]", ["::1", "[::1]", "[::1]:80", "0:0::1", "::/64", "::1/128"],
     ["::2", "[::1]:81", "::2/127", "0.0.0.0/0", "::1/129"]),
)  # fmt: skip


def test_addresses_that_need_no_proxy() -> None:
    for host, exempt, others in ADDRESSES:
        for text in exempt:
            assert chosen(f"http://{host}", HTTP_PROXY="proxy", NO_PROXY=text) is None, text
        for text in others:
            assert chosen(f"http://{host}", HTTP_PROXY="proxy", NO_PROXY=text) is not None, text


def test_what_a_proxy_variable_may_hold() -> None:
    for text, proxy in (
        ("http://me:secret@proxy.example:3128/", Proxy("proxy.example", 3128, "Basic bWU6c2VjcmV0")),
        ("http://m%65:s/e?c ret@proxy", Proxy("proxy", 80, "Basic bWU6cy9lP2MgcmV0")),
        ("me@proxy", Proxy("proxy", 80, "Basic bWU6")),
        ("proxy", Proxy("proxy", 80, None)),
        ("http://[::1]:3128", Proxy("::1", 3128, None)),
    ):
        assert chosen(URL, https_proxy=text, HTTPS_PROXY="other") == proxy
        assert chosen(URL, ALL_PROXY=text) == proxy
        assert chosen(URL, HTTP_PROXY=text) is None
        assert chosen("http://a.com", HTTP_PROXY=text) == proxy


@pytest.mark.parametrize("text", [
    "socks5://proxy", "https://proxy", "http://", "proxy:x", "proxy:70000", "proxy:0", "proxy/x", "proxy?x", "http://proxy//",
    "pro xy", "proxy\r\nx: y", "proxy\n", "127.1", "http://a@b@", f"{'p' * 4097}@proxy",
])  # fmt: skip
def test_what_no_proxy_variable_may_hold(text: str) -> None:
    with pytest.raises(UnusableProxy):
        chosen(URL, HTTPS_PROXY=text)


@pytest.mark.parametrize("command", [["interp"], ["interp", "--host", "native"], ["run"]], ids=" ".join)
def test_ctrl_c_gets_through_to_a_program_that_waits_for_an_answer(command: list[str], tmp_path: Path) -> None:
    source = tmp_path / "program.kav"
    source.write_text('fn main() { print(ask<Int>("a") catch _ => 0) }\n')
    has_come = threading.Event()

    def say_nothing(_: Server, connection: Connection) -> None:
        connection.read()
        has_come.set()
        connection.wait_for_close()

    call = [sys.executable, "-c", "from kavachc.cli import main; main()", *command, str(source)]
    with raw_server(say_nothing) as server:
        environment = {**os.environ, "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        with subprocess.Popen(call, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            try:
                assert has_come.wait(60)
                running.send_signal(signal.SIGINT)
                out, err = running.communicate(timeout=30)
            finally:
                running.kill()
    assert (running.returncode, out) == (130, b"") and not err.strip()


def test_a_connection_that_is_reset_under_tls(client: HttpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is secured, and while the answer is waited for."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "ca.pem"))

    def reset(accepted: socket.socket) -> None:
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        accepted.close()

    def serve(listener: socket.socket) -> None:
        accepted, _ = listener.accept()
        accepted.recv(10)
        reset(accepted)
        accepted, _ = listener.accept()
        secure = server_context("localhost").wrap_socket(accepted, server_side=True)
        secure.recv(10)
        reset(secure)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        for _ in range(2):
            receiver = Receiver()
            client.send(request(f"https://localhost:{listener.getsockname()[1]}"), receiver)
            assert receiver.result() == (0, ExchangeProblem.DROPPED)
