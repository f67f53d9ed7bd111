"""`kavachc mock-provider`: the command, and what it says to httpx (docs/mock-provider.md)."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from kavachc.mock.command import CA_FILE
from kavachc.mock.schema_rules import anthropic_problem, openai_problem
from programs import kavachc
from serving import Serving, serving

ANTHROPIC = "/v1/messages"
OPENAI = "/v1/chat/completions"
HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01", "authorization": "Bearer k"}
TIMEOUT_S = 60


def question(prompt: str = "hi", **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": prompt}], **more}


def asked(server: Serving, path: str = ANTHROPIC, content: Any = None, **headers: str) -> httpx.Response:
    body = question() if content is None else content
    return httpx.post(server.url + path, json=body, headers=HEADERS | headers, timeout=TIMEOUT_S, trust_env=False)


def test_answers_in_both_formats() -> None:
    with serving({"replies": [{"answer": {"ok": True}, "input_tokens": 7, "output_tokens": 8}]}) as server:
        reply = asked(server)
        content = reply.json()
        assert (reply.status_code, reply.headers["request-id"]) == (200, "req_mock_1")
        assert content["content"] == [{"type": "text", "text": '{"ok":true}'}]
        assert content["stop_reason"] == "end_turn"
        assert (content["usage"]["input_tokens"], content["usage"]["output_tokens"]) == (7, 8)
        content = asked(server, OPENAI).json()
        assert content["choices"][0]["message"]["content"] == '{"ok":true}'
        assert content["choices"][0]["finish_reason"] == "stop"
        assert content["usage"] == {"prompt_tokens": 7, "completion_tokens": 8, "total_tokens": 15}


def test_refusals_and_answers_cut_off() -> None:
    replies = [{"stop_reason": "refusal", "text": "no"}, {"stop_reason": "max_tokens", "text": "{"}]
    with serving({"replies": [{**reply, "times": 2} for reply in replies]}) as server:
        assert asked(server).json()["stop_reason"] == "refusal"
        message = asked(server, OPENAI).json()["choices"][0]["message"]
        assert (message["refusal"], message["content"]) == ("no", None)
        assert asked(server).json()["stop_reason"] == "max_tokens"
        assert asked(server, OPENAI).json()["choices"][0]["finish_reason"] == "length"


def test_errors_in_the_format_of_each_provider() -> None:
    busy = {"status": 429, "headers": {"Retry-After": "3"}, "message": "slow", "error_code": "insufficient_quota"}
    with serving({"replies": [{**busy, "times": 2}, {"status": 418}]}) as server:
        reply = asked(server)
        assert (reply.status_code, reply.headers["retry-after"]) == (429, "3")
        error = reply.json()["error"]
        assert error == {
            "type": "rate_limit_error",
            "message": "slow",
            "details": {"error_code": "insufficient_quota"},
        }
        error = asked(server, OPENAI).json()["error"]
        assert (error["message"], error["code"]) == ("slow", "insufficient_quota")
        assert "message" not in asked(server).json()["error"]


def test_when_times_drop_and_the_end_of_the_script() -> None:
    replies = [{"text": "one", "times": 2}, {"drop": True}, {"text": "special", "when": "magic"}]
    with serving({"replies": replies, "then": "fail"}) as server:
        assert asked(server).json()["content"][0]["text"] == "one"
        assert asked(server, content=question("some magic")).json()["content"][0]["text"] == "special"
        assert asked(server).json()["content"][0]["text"] == "one"
        with pytest.raises(httpx.RemoteProtocolError):
            asked(server)
        reply = asked(server, content=question('more "a"'))
        assert reply.status_code == 400
        message = 'the test model has no reply left for the prompt: "more \\"a\\""'
        assert reply.json()["error"]["message"] == message
        assert [entry["end"] for entry in server.log()] == ["answered", "answered", "answered", "dropped", "answered"]


@pytest.mark.parametrize(
    ("path", "content", "headers", "status", "message"),
    [
        ("/v1/complete", None, {}, 404, "Not Found: /v1/complete; there are /v1/messages and /v1/chat/completions"),
        (ANTHROPIC, None, {"x-api-key": "", "authorization": ""}, 401, "x-api-key header is required"),
        (OPENAI, None, {"authorization": ""}, 401, "authorization header is required"),
        (ANTHROPIC, {"max_tokens": 1}, {}, 400, "model: Field required"),
        (ANTHROPIC, {"model": "m", "max_tokens": True}, {}, 400, "max_tokens: Input should be a valid integer"),
        (ANTHROPIC, {"model": "m", "max_tokens": 0}, {}, 400, "max_tokens: must be greater than or equal to 1"),
        (
            ANTHROPIC,
            {"model": "m", "max_tokens": 1, "messages": []},
            {},
            400,
            "messages: at least one message is required",
        ),
        (ANTHROPIC, [], {}, 400, "The request body is not a JSON object"),
        (ANTHROPIC, question(""), {}, 400, "messages: text content blocks must be non-empty"),
        (OPENAI, {"model": "m"}, {}, 400, "messages: Field required"),
    ],
)
def test_requests_that_a_provider_refuses(
    path: str, content: Any, headers: dict[str, str], status: int, message: str
) -> None:
    with serving({"replies": [{"text": "never"}]}) as server:
        reply = asked(server, path, content, **headers)
        assert (reply.status_code, reply.json()["error"]["message"]) == (status, message)


def test_schemas_that_a_provider_refuses() -> None:
    closed = {"additionalProperties": False}
    number: dict[str, Any] = {"type": "integer"}
    fine = {"type": "object", "properties": {"a": number}, "required": ["a"], **closed}
    assert anthropic_problem(fine) is None and openai_problem(fine) is None
    for schema, word in (
        ({"type": "object", "properties": {"a": number}}, "additionalProperties"),
        ({"type": "integer", "minimum": 1}, "minimum"),
        ({"type": "array", "items": number, "minItems": 2}, "minItems"),
        ({"$ref": "https://example.com/a"}, "external"),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "array", "items": {"$ref": "#/$defs/A"}}}}, "recursive"),
        ({"type": "object", "properties": {f"a{index}": number for index in range(25)}, **closed}, "optional"),
        ({"type": "object", "properties": {}, **closed, "$defs": {str(i): {"anyOf": []} for i in range(17)}}, "union"),
    ):
        assert word in (anthropic_problem(schema) or ""), schema
    assert "Missing 'a'" in (openai_problem({"type": "object", "properties": {"a": number}, **closed}) or "")
    with serving({"replies": [{"text": "x"}]}) as server:
        bad: Any = {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}
        assert asked(server, content=question(**bad)).status_code == 400
        good: Any = {"output_config": {"format": {"type": "json_schema", "schema": fine}}}
        assert asked(server, content=question(**good)).status_code == 200
        assert [entry.get("has_schema") for entry in server.log()] == [None, True]


def test_capacity_and_300_connections_at_once() -> None:
    async def all_at_once(url: str) -> list[int]:
        limits = httpx.Limits(max_connections=300)
        async with httpx.AsyncClient(limits=limits, timeout=TIMEOUT_S, trust_env=False) as client:
            posts = [client.post(url + ANTHROPIC, json=question(), headers=HEADERS) for _ in range(300)]
            return [reply.status_code for reply in await asyncio.gather(*posts)]

    with serving({"replies": [{"text": "a", "delay": "10s"}], "capacity": 0}) as server:
        assert set(asyncio.run(all_at_once(server.url))) == {429}
    with serving({"replies": [{"text": "a", "delay": "300ms"}]}) as server:
        began_s = time.monotonic()
        assert asyncio.run(all_at_once(server.url)) == [200] * 300
        assert time.monotonic() - began_s < 30
        assert max(entry["under_way_after"] for entry in server.log()) > 20


def test_a_client_that_leaves_is_under_way_no_more() -> None:
    with serving({"replies": [{"text": "a", "delay": "1h"}, {"text": "b"}], "capacity": 1}) as server:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(server.url + ANTHROPIC, json=question(), headers=HEADERS, timeout=0.3, trust_env=False)
        for _ in range(100):
            if server.log():
                break
            time.sleep(0.02)
        assert server.log()[0]["end"] == "left"
        assert asked(server).json()["content"][0]["text"] == "b"


def test_what_is_not_http_gets_an_answer_and_the_end() -> None:
    with serving({"replies": [{"text": "a"}]}) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S) as connection:
            connection.sendall(b"what is this\r\n\r\n")
            answer = b""
            while piece := connection.recv(4096):
                answer += piece
        assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")


@contextmanager
def command(*arguments: str, cwd: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command itself, running, and the URL that it says."""
    call = [sys.executable, "-c", "from kavachc.cli import main; main()", "mock-provider", *arguments]
    with subprocess.Popen(call, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            for line in running.stdout:
                if line.startswith("listening on "):
                    yield running, line.removeprefix("listening on ").strip()
                    break
        finally:
            running.kill()


def write_script(folder: Path, script: dict[str, Any]) -> None:
    (folder / "model.json").write_text(json.dumps(script), encoding="utf-8")


def test_the_command_ends_when_told_and_says_how_much_it_served(tmp_path: Path) -> None:
    write_script(tmp_path, {"replies": [{"text": "hello"}]})
    with command("model.json", "--log", "log", cwd=tmp_path) as (running, url):
        marker = "MARKER-KEY"
        httpx.post(url + ANTHROPIC, json=question("a ü"), headers=HEADERS | {"x-api-key": marker}, trust_env=False)
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=TIMEOUT_S)
    assert (running.returncode, out, err) == (0, "1 request\n", "")
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert '"prompt": "a ü"' in log and marker not in log


def test_what_cannot_be_written_ends_no_answer(tmp_path: Path) -> None:
    write_script(tmp_path, {"replies": []})
    with command("model.json", "--log", "/dev/full", cwd=tmp_path) as (running, url):
        for prompt in ("a", "\udc00"):
            body = json.dumps(question(prompt))
            assert httpx.post(url + ANTHROPIC, content=body, headers=HEADERS, trust_env=False).status_code == 400
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=TIMEOUT_S)
    assert (running.returncode, out) == (1, "2 requests\n")
    assert err == (
        'error: the test model has no reply left for the prompt: "a"\n'
        "error: cannot write the log: No space left on device\n"
    )


def test_ctrl_c_ends_the_command_silently(tmp_path: Path) -> None:
    write_script(tmp_path, {"replies": [{"text": "hello"}]})
    with command("model.json", cwd=tmp_path) as (running, _):
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=TIMEOUT_S)
    assert (running.returncode, out, err) == (130, "", "")


def test_tls_is_trusted_with_the_ca_in_the_package(tmp_path: Path) -> None:
    write_script(tmp_path, {"replies": [{"text": "hello"}]})
    with command("model.json", "--tls", cwd=tmp_path) as (_, url):
        assert url.startswith("https://localhost:")
        trusting = ssl.create_default_context(cafile=str(CA_FILE))
        reply = httpx.post(url + ANTHROPIC, json=question(), headers=HEADERS, verify=trusting, trust_env=False)
        assert reply.status_code == 200
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.post(url + ANTHROPIC, json=question(), trust_env=False)
    wrong_name = serving({"replies": [{"text": "a"}]}, certificate="wrong-name")
    with wrong_name as server, pytest.raises(httpx.ConnectError, match="mismatch"):
        httpx.post(server.url + ANTHROPIC, json=question(), verify=trusting, trust_env=False)


def test_scripts_that_cannot_be_played(tmp_path: Path) -> None:
    for script, message in (
        ({"replies": [{"statuss": 1}]}, 'replies[0]: unknown key "statuss"'),
        ({"replies": [{"status": 400, "headers": {"a b": ""}}]}, 'replies[0].headers: the header "a b" cannot be sent'),
        ({"replies": [{"status": 400, "headers": {"a": "\n"}}]}, 'replies[0].headers: the header "a" cannot be sent'),
    ):
        write_script(tmp_path, script)
        ended = kavachc("mock-provider", "model.json", cwd=tmp_path)
        assert (ended.returncode, ended.stderr) == (2, f"error: test model model.json: {message}\n")
    ended = kavachc("mock-provider", "nowhere.json", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (2, "error: test model nowhere.json: cannot be read\n")
    write_script(tmp_path, {"replies": []})
    ended = kavachc("mock-provider", "model.json", "--log", "nowhere/log", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (1, "error: cannot write nowhere/log: No such file or directory\n")
    with serving({"replies": []}) as server:
        ended = kavachc("mock-provider", "model.json", "--port", str(server.port), cwd=tmp_path)
        assert ended.returncode == 1
        assert ended.stderr.startswith(f"error: cannot listen on 127.0.0.1:{server.port}: ")
