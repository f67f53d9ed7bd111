"""The wire formats of the plain-Python runtime and of the native one: the same bytes are sent, and whatever comes back
means the same (spec 8.4.failed)."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from http_programs import IN_PROCESS, Connection, Server, raw_server, set_in_environment
from kavachc.driver import Compilation
from kavachc.engines import run_engine
from kavachc.options import RunOptions

PROGRAM = """
/// What was seen: "a", \\\\b
type Seen {
    /// ä
    name: String
    count: Int?
    many: [Float]
}
agent Claude {
    model Model(name: "claude \\"q\\" ü", max_tokens: 77, timeout: 20s)
    can Ai
    limit Ai { tokens <= 9_000_000_000_000_000_000 per day }
    on text(prompt: String) -> String ! AiError { try ask<String>(prompt) }
    on number(prompt: String) -> Int ! AiError { try ask<Int>(prompt) }
    on seen(prompt: String) -> Seen ! AiError { try ask<Seen>(prompt) }
    on mapped(prompt: String) -> [String: Int] ! AiError { try ask<[String: Int]>(prompt) }
}
agent Gpt {
    model Model(name: "gpt", provider: Provider.OpenAi, timeout: 20s)
    can Ai
    limit Ai { tokens <= 9_000_000_000_000_000_000 per day }
    on text(prompt: String) -> String ! AiError { try ask<String>(prompt) }
    on number(prompt: String) -> Int ! AiError { try ask<Int>(prompt) }
    on seen(prompt: String) -> Seen ! AiError { try ask<Seen>(prompt) }
    on mapped(prompt: String) -> [String: Int] ! AiError { try ask<[String: Int]>(prompt) }
}
fn shown(n: Int, prompt: String) -> String ! AiError {
    const claude = Claude.start()
    const gpt = Gpt.start()
    match n % 8 {
        0 => "{try claude.text(prompt)}",
        1 => "{try gpt.text(prompt)}",
        2 => "{try claude.number(prompt)}",
        3 => "{try gpt.number(prompt)}",
        4 => "{try claude.seen(prompt)}",
        5 => "{try gpt.seen(prompt)}",
        6 => "{try claude.mapped(prompt)}",
        _ => "{try gpt.mapped(prompt)}",
    }
}
fn main() {
    let n = 0
    for prompt in Env.args() {
        const text = shown(n, prompt) catch e => "{e} {e.class()} {e.retry_after()}"
        print("{n}: {text}")
        n += 1
    }
}
"""
ASKS = 160
REPLIES = 3 * ASKS
KEYS = ("sk-a/long/key", "e", 'sk-\\"odd-long-key')
KEY = KEYS[0]
PIECES = ("a", "ü", "\n", "\t", '"', "\\", "\x01", "\x7f", "\u2028", "😀", "{", "}", *KEYS, "</s>", " ")
STATUSES = (200, 200, 200, 200, 200, 201, 299, 301, 307, 400, 401, 403, 404, 413, 418, 422, 429, 499)
ANSWERS = ("7", '{"answer":7}', '{"answer": 7 }', '{"answer":7,"x":1}', '{"answer":"\\ud800"}', "", "x", '"7"', "{}")
MANY = '{"name":"n","many":[1,2.5]}'


def text(random_: random.Random) -> str:
    return "".join(random_.choices(PIECES, k=random_.randrange(1, 9)))


def value(random_: random.Random, depth: int = 0) -> Any:
    """Any JSON value, of the wrong kind wherever it stands."""
    kind = random_.randrange(8 if depth < 2 else 6)
    if kind >= 6:
        return [value(random_, depth + 1)] if kind == 6 else {text(random_): value(random_, depth + 1)}
    return (None, True, 12, -3.5, text(random_), 10**19)[kind]


def or_else(random_: random.Random, wanted: Any) -> Any:
    return wanted if random_.random() < 0.85 else value(random_)


def count(random_: random.Random) -> Any:
    """Nothing so large that it alone would break the limit."""
    number = or_else(random_, random_.randrange(99))
    return number if not isinstance(number, int | float) or number < 10**15 else 7


def answer_text(random_: random.Random) -> str:
    return random_.choice(
        (*ANSWERS, MANY, f'{{"answer":{MANY}}}', text(random_), f"```\n{random_.choice(ANSWERS)}\n```")
    )


def anthropic_body(random_: random.Random) -> Any:
    blocks = [
        or_else(random_, {"type": "text", "text": or_else(random_, answer_text(random_))})
        for _ in range(random_.choice((0, 1, 1, 1, 2)))
    ]
    counts = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "other")
    usage = {name: count(random_) for name in counts}
    reasons = ("end_turn", "refusal", "max_tokens", "model_context_window_exceeded", "length", "new")
    return {
        "content": or_else(random_, blocks),
        "stop_reason": or_else(random_, random_.choice(("end_turn", *reasons))),
        "usage": or_else(random_, usage),
    }


def openai_body(random_: random.Random) -> Any:
    message: dict[str, Any] = {"content": or_else(random_, answer_text(random_))}
    if random_.random() < 0.2:
        message["refusal"] = or_else(random_, text(random_))
    choice = {
        "finish_reason": or_else(random_, random_.choice(("stop", "length", "content_filter", "refusal"))),
        "message": or_else(random_, message),
    }
    usage = {name: count(random_) for name in ("prompt_tokens", "completion_tokens", "x")}
    choices = [or_else(random_, choice) for _ in range(random_.choice((0, 1, 1, 1, 2)))]
    return {"choices": or_else(random_, choices), "usage": or_else(random_, usage)}


def error_body(random_: random.Random) -> Any:
    details = {"error_code": or_else(random_, "enforced_spend_limit_reached")}
    error = {
        "message": or_else(random_, text(random_)),
        "code": or_else(random_, "insufficient_quota"),
        "details": or_else(random_, details),
    }
    return {"error": or_else(random_, error), "message": or_else(random_, text(random_))}


def spoiled(random_: random.Random, body: bytes) -> bytes:
    """The body with a piece cut out, doubled, or made into something else."""
    at = random_.randrange(len(body) + 1)
    end = min(len(body), at + random_.randrange(9))
    middle = random_.choice((b"", body[at:end] * 2, b"\xff", b"\xed\xa0\x80", b"\\ud800", b"[" * 200, b"\x00"))
    return body[:at] + middle + body[end:]


def reply(random_: random.Random, path: str) -> tuple[int, str, bytes]:
    status = random_.choice(STATUSES)
    is_anthropic = path.endswith("/messages")
    if status == 429:
        content: Any = {"error": {"message": text(random_), "code": "insufficient_quota"}}
    elif status >= 300:
        content = error_body(random_)
    else:
        content = anthropic_body(random_) if is_anthropic else openai_body(random_)
    body = json.dumps(content, ensure_ascii=random_.random() < 0.5).encode("utf-8", "surrogatepass")
    if random_.random() < 0.2:
        body = body.replace(b"/", b"\\/").replace(b"sk", b"\\u0073k")
    if status != 429 and random_.random() < 0.3:
        body = spoiled(random_, body)
    headers = random_.choice(("", f"Location: http://a/{KEY}\r\n", "Retry-After: 7\r\nretry-after: 9\r\n"))
    return status, headers, body


@pytest.fixture(scope="module")
def compilation(tmp_path_factory: pytest.TempPathFactory) -> Compilation:
    source = tmp_path_factory.mktemp("wire") / "asks.kav"
    source.write_text(PROGRAM, encoding="utf-8")
    return Compilation(str(source))


@pytest.mark.parametrize("seed", range(3))
def test_what_is_sent_and_what_comes_back(compilation: Compilation, seed: int) -> None:
    words = random.Random(seed)
    prompts = tuple(text(words) for _ in range(ASKS))
    results = []
    for engine in IN_PROCESS:
        replies = random.Random(seed)

        def serve(server: Server, connection: Connection, replies: random.Random = replies) -> None:
            while (request := connection.read()) is not None:
                server.requests.append(request)
                status, headers, body = reply(replies, request.line.split(" ")[1])
                connection.answer(body, f"{status} Word", headers)

        with raw_server(serve) as server:
            variables = {"ANTHROPIC_API_KEY": KEYS[seed % 3], "OPENAI_API_KEY": KEYS[seed % 3]}
            urls = {"ANTHROPIC_BASE_URL": f"{server.url}//", "OPENAI_BASE_URL": f"{server.url}/v1"}
            with set_in_environment({**variables, **urls}):
                ran = run_engine(engine, compilation, RunOptions(arguments=prompts))
            sent = [(request.line, told(request.head), request.body) for request in server.requests]
            out = ran.stdout.replace(str(server.port), "PORT")
        results.append((out.splitlines(), ran.stderr, ran.status, re.sub(r"times \[.*\]", "", ran.ledger), sent))
    first, *others = results
    understood = "\n".join(first[0]).replace('\\"', '"').replace("\\\\", "\\")
    assert seed % 3 == 1 or KEYS[seed % 3] not in understood
    assert (first[1], first[2]) == ("", 0)
    assert len(first[0]) >= ASKS and len(first[4]) > ASKS
    for other in others:
        for wanted, given in zip(first[0], other[0], strict=False):
            assert given == wanted
        for wanted_request, given_request in zip(first[4], other[4], strict=False):
            assert given_request == wanted_request
        assert other == first


def told(head: str) -> list[str]:
    """The headers that are ours, in their order."""
    names = ("x-api-key:", "anthropic-version:", "authorization:", "content-type:", "accept", "user-agent:")
    return sorted(line.lower() for line in head.split("\r\n") if line.lower().startswith(names))


def test_every_body_is_valid_json(compilation: Compilation, tmp_path: Path) -> None:
    """What is sent reads back as what was asked, whatever the prompt holds."""
    prompts = ("".join(chr(code) for code in range(1, 0x250)), "\ud7ff\ue000\U0010ffff", "😀" * 3)

    def serve(server: Server, connection: Connection) -> None:
        while (request := connection.read()) is not None:
            server.requests.append(request)
            connection.answer(b'{"content":[{"type":"text","text":"7"}],"choices":[{"message":{"content":"7"}}]}')

    with raw_server(serve) as server:
        variables = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
        urls = {"ANTHROPIC_BASE_URL": server.url, "OPENAI_BASE_URL": server.url}
        with set_in_environment({**variables, **urls}):
            run_engine(IN_PROCESS[0], compilation, RunOptions(arguments=prompts))
    bodies = [json.loads(request.body) for request in server.requests]
    assert [body["messages"][0]["content"] for body in bodies] == list(prompts)
    assert bodies[0]["model"] == 'claude "q" ü' and bodies[0]["max_tokens"] == 77
    assert bodies[1]["max_completion_tokens"] == 4_096
