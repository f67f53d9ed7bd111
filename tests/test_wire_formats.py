"""The wire formats in Zig and in Python: the same requests to the byte, and the same reading of what comes back."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kavachc.bindings.abi import ExchangeProblem, Provider, SchemaWay
from kavachc.bindings.descriptors import STRING, Agent
from kavachc.bindings.exchange import HttpEngine, HttpReceiver, HttpRequest
from kavachc.interpreter import provider
from kavachc.interpreter.replies import Dropped, ModelAnswer
from kavachc.semantics.schema import Schema
from kavachc.semantics.typed_ast import ModelSettings
from native_program import Answer, Body, MemoryHost, Program, run

KEY = "sk-marker-key"
URL = "http://provider.example"
WAYS = {
    "none": SchemaWay.FREE_TEXT,
    "structured": SchemaWay.STRUCTURED,
    "wrapped": SchemaWay.WRAPPED,
    "prompt": SchemaWay.IN_PROMPT,
}
PROVIDERS = {"Anthropic": Provider.ANTHROPIC, "OpenAi": Provider.OPENAI}


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    problem: ExchangeProblem = ExchangeProblem.NO_PROBLEM


@dataclass
class Engine:
    """Answers at once."""

    reply: Reply
    requests: list[HttpRequest] = field(default_factory=list)

    def send(self, request: HttpRequest, receiver: HttpReceiver) -> None:
        self.requests.append(request)
        for name, value in self.reply.headers:
            receiver.header(name, value)
        receiver.body(self.reply.body)
        receiver.end(self.reply.status, self.reply.problem)

    def abort(self, receiver: HttpReceiver) -> None:
        raise AssertionError("nothing is given up here")

    def close(self) -> None:
        pass


@dataclass
class WireHost(MemoryHost):
    engine: Any = None

    def http_engine(self) -> HttpEngine:
        made: HttpEngine = self.engine
        return made

    def wait(self, woken: threading.Event, duration_ns: int | None) -> None:
        """The clock stands still but for this."""
        if not woken.is_set() and duration_ns is not None:
            self.now_ns += duration_ns
        else:
            super().wait(woken, duration_ns)


def host_with(engine: Any) -> WireHost:
    values = {b"ANTHROPIC_API_KEY": KEY.encode(), b"OPENAI_API_KEY": KEY.encode()}
    return WireHost(environment_values=values, engine=engine)


def ask_natively(engine: Any, model: ModelSettings, schema: Schema, prompt: str) -> Answer:
    agent = Agent(
        "A", (), model.name, model.max_tokens, PROVIDERS[model.provider], model.base_url, None, model.timeout_ns
    )

    def main(program: Program) -> Body:
        yield from program.ask(0, STRING, prompt, '"x"', WAYS[schema.way], schema.text)

    result = run(main, agents=[agent], virtual_time=False, host=host_with(engine))
    assert (result.status, result.err) == (0, ""), result
    return result.answers[0]


def read_in_python(model: ModelSettings, schema: Schema, reply: Reply) -> tuple[str, int, str]:
    """What a program is told, by the other implementation."""
    endpoint = provider.Endpoint(model, URL, KEY)
    headers: dict[str, str] = {}
    for name, value in reply.headers:
        headers.setdefault(name.lower(), value)
    read = provider.read(endpoint, schema, "p", provider.Received(reply.status, reply.problem, reply.body, headers))
    if isinstance(read, Dropped):
        return ("FAILED_ASK", 0, "connection dropped")
    if isinstance(read, ModelAnswer):
        if read.stop == "refusal":
            return ("FAILED_ASK", 200, provider.refusal_text(read.text))
        return ("ANSWERED" if read.stop == "complete" else "INVALID_OUTPUT", 0, read.text)
    return ("FAILED_ASK", read.status, provider.failure_text(endpoint, read))


def models(name: str) -> ModelSettings:
    return ModelSettings(name="m", base_url=URL, provider="OpenAi" if name == "OpenAi" else "Anthropic")


TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(list(PROVIDERS)),
    st.sampled_from(list(WAYS)),
    TEXTS,
    TEXTS,
    st.integers(1, 2**63 - 1),
    st.sampled_from(["http://a", "http://a/", "https://a:8/v1", "https://[::1]/x/v1//"]),
)
def test_requests(name: str, way: Any, model_name: str, prompt: str, max_tokens: int, url: str) -> None:
    anthropic = ModelSettings(name=model_name, max_tokens=max_tokens, base_url=url)
    model = anthropic if name == "Anthropic" else ModelSettings(model_name, max_tokens, "OpenAi", url)
    schema = Schema("" if way == "none" else '{"type":"object","description":"é\\n"}', way)
    engine = Engine(Reply(400))
    ask_natively(engine, model, schema, prompt)
    assert engine.requests == [provider.request(provider.Endpoint(model, url, KEY), schema, prompt)]
    assert json.loads(engine.requests[0].body)["model"] == model_name


PIECES = st.sampled_from(
    [
        "content", "text", "type", "stop_reason", "refusal", "max_tokens", "length", "content_filter", "usage",
        "input_tokens", "choices", "message", "finish_reason", "error", "code", "details", "error_code", "answer",
        "insufficient_quota", KEY, "", "é", '{"answer": 5}', '{"answer":[1, 2] }', '{"answer":1,"b":2}', "a\nb",
        "\\u0073k-marker-ke\\u0079", '["sk-\\u006Darker-key"]',
    ]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**20) | st.floats(allow_nan=False, allow_infinity=False) | PIECES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PIECES, inner, max_size=4),
    max_leaves=12,
)
ANTHROPIC = {"content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn", "usage": {"input_tokens": 1}}
OPENAI = {"choices": [{"message": {"content": "hi", "refusal": None}, "finish_reason": "stop"}]}
ERROR = {"error": {"message": "no", "code": "c", "details": {"error_code": "d"}}}


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """Answers and errors with something else in the place of a part; other JSON; damaged text."""
    root: Any = json.loads(json.dumps(draw(st.sampled_from([ANTHROPIC, OPENAI, ERROR]))))
    place = root
    while draw(st.booleans()):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or draw(st.booleans()):
            place[key] = draw(VALUES)
            break
        place = place[key]
    if draw(st.integers(0, 5)) == 0:
        root = draw(VALUES)
    text = bytearray(json.dumps(root, ensure_ascii=draw(st.booleans())).encode())
    if draw(st.integers(0, 3)) == 0:
        for _ in range(draw(st.integers(1, 4))):
            at = draw(st.integers(0, len(text)))
            text[at : at + draw(st.integers(0, 2))] = draw(st.binary(max_size=2))
    return bytes(text)


REPLIES = st.builds(
    Reply,
    st.sampled_from([200, 200, 200, 201, 302, 400, 401, 403, 404, 408, 413, 418, 429, 500, 529]),
    bodies(),
    st.lists(
        st.sampled_from([("Location", "http://x"), ("location", f"/{KEY}"), ("retry-after", "1"), ("x", "y")]),
        max_size=2,
    ).map(tuple),
)


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(list(PROVIDERS)), st.sampled_from(["none", "wrapped"]), REPLIES)
def test_replies(name: str, way: Any, reply: Reply) -> None:
    model, schema = models(name), Schema("" if way == "none" else "{}", way)
    answer = ask_natively(Engine(reply), model, schema, "p")
    assert (answer.kind, answer.status, answer.text) == read_in_python(model, schema, reply)
    assert KEY not in answer.text


@pytest.mark.parametrize("problem", list(ExchangeProblem)[1:])
@pytest.mark.parametrize("status", [0, 401, 503])
def test_problems(problem: ExchangeProblem, status: int) -> None:
    reply = Reply(status, problem=problem)
    model, schema = models("Anthropic"), Schema("", "none")
    answer = ask_natively(Engine(reply), model, schema, "p")
    assert (answer.kind, answer.status, answer.text) == read_in_python(model, schema, reply)


# Requests that end when nobody waits.


class Slow:
    """Ends a request only when it is told to, on a thread of its own."""

    def __init__(self) -> None:
        self.receivers: list[HttpReceiver] = []
        self.aborted: list[HttpReceiver] = []

    def send(self, _request: HttpRequest, receiver: HttpReceiver) -> None:
        self.receivers.append(receiver)

    def abort(self, receiver: HttpReceiver) -> None:
        self.aborted.append(receiver)

    def close(self) -> None:
        pass

    def end_all(self) -> None:
        def end() -> None:
            for receiver in self.receivers:
                receiver.header("retry-after", "1")
                assert not receiver.body(b"{}")
                receiver.end(200, ExchangeProblem.NO_PROBLEM)

        thread = threading.Thread(target=end)
        thread.start()
        thread.join()
        self.receivers.clear()


def test_a_request_that_ends_after_the_run() -> None:
    def one(program: Program) -> Body:
        yield from program.ask(0, STRING, "p")

    def main(program: Program) -> Body:
        task = program.spawn(one(program))
        yield from program.sleep(1)
        program.cancel(task)
        yield from program.wait(task)

    agent = Agent("A", base_url=URL)
    for _ in range(3):
        slow = Slow()
        result = run(main, agents=[agent], virtual_time=False, host=host_with(slow))
        assert result.status == 0 and result.report.startswith("live_blocks 0\n")
        assert len(slow.receivers) == 1 and slow.aborted == slow.receivers
        # The next run begins before the end of this one's request comes, or after it.
        slow.end_all()
        model, schema = models("Anthropic"), Schema("", "none")
        assert ask_natively(Engine(Reply(400)), model, schema, "p").text == "HTTP 400"
