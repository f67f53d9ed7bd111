"""Asks over real sockets: the same answers, errors and numbers of sends on every engine (docs/providers.md)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from http_programs import ENGINES, Run, runner
from serving import serving

PROGRAM = """
agent Claude {
    model Model(name: "claude", timeout: 60s)
    can Ai
    limit Ai { count <= 1_000 per day }
    on number(prompt: String) -> Int ! AiError { try ask<Int>(prompt) }
}
agent Gpt {
    model Model(name: "gpt", provider: Provider.OpenAi, timeout: 60s)
    can Ai
    on number(prompt: String) -> Int ! AiError { try ask<Int>(prompt) }
}
fn claude(prompt: String) -> String {
    const number = Claude.start().number(prompt) catch e => return "{e}"
    "{number}"
}
fn gpt(prompt: String) -> String {
    const number = Gpt.start().number(prompt) catch e => return "{e}"
    "{number}"
}
fn main() {
    let tasks: [Task<String>] = []
    for prompt in Env.args() {
        if prompt.starts_with("claude") { tasks.push(spawn claude(prompt)) }
        if prompt.starts_with("gpt") { tasks.push(spawn gpt(prompt)) }
    }
    for task in tasks { print(task.wait() catch e => "{e}") }
}
"""


@pytest.fixture(scope="module", params=ENGINES)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs PROGRAM on one engine, with these arguments and this environment."""
    return runner(str(request.param), PROGRAM, tmp_path_factory.mktemp("program"))


MARKER = "sk-MARKER-5f0c"


def keys(url: str, key: str = MARKER) -> dict[str, str]:
    return {
        "ANTHROPIC_API_KEY": key,
        "OPENAI_API_KEY": key,
        "ANTHROPIC_BASE_URL": url,
        "OPENAI_BASE_URL": url + "/v1/",
    }


@dataclass(frozen=True, slots=True)
class Row:
    """One way in which a request can go. In `expected`, VARIABLE, MODEL, URL and PLACE stand for those of the provider.
    A `fault` spoils the first `times` answers."""

    name: str
    replies: tuple[dict[str, Any], ...]
    expected: str
    sends: int = 1
    fault: str = ""
    times: int | None = 1


FINE = {"answer": 7}


def failed(status: int, message: str) -> str:
    return f'Failed(status: {status}, message: "{message}")'


def refused_at_once(status: int, text: str, **more: Any) -> Row:
    return Row(f"status {status} {more}", ({"status": status, **more},), failed(status, text))


def busy(status: int, **more: Any) -> Row:
    return Row(f"busy {status}", ({"status": status, **more}, FINE), "7", 2)


def spoiled(fault: str, expected: str, sends: int = 1) -> Row:
    return Row(fault, (FINE,), expected, sends, fault, 1 if sends > 1 else None)


REFUSED = "the key in VARIABLE was refused"
PAGE = "<!doctype html>\\n<html><body><h1>It works!</h1></body></html>\\n"
ROWS = (
    Row("fine", (FINE,), "7"),
    Row("wrapped", ({"answer": {"answer": 7}},), "7"),
    Row("fenced", ({"text": "```json\n7\n```"},), "7"),
    Row("slow", ({**FINE, "delay": "300ms"},), "7"),
    refused_at_once(400, "no", message="no"),
    refused_at_once(401, REFUSED + ": no", message="no"),
    refused_at_once(401, REFUSED),
    refused_at_once(403, "the key in VARIABLE may not use MODEL: no", message="no"),
    refused_at_once(404, 'there is no model \\"MODEL\\" at URL: no', message="no"),
    refused_at_once(413, "the prompt is too large: no", message="no"),
    refused_at_once(418, "HTTP 418"),
    refused_at_once(422, "no", message="no"),
    refused_at_once(429, "no", message="no", error_code="enforced_spend_limit_reached"),
    refused_at_once(429, "no", message="no", error_code="insufficient_quota"),
    *(busy(status, message="later") for status in (408, 429, 500, 502, 503, 504, 529)),
    Row("dropped", ({"drop": True}, FINE), "7", 2),
    spoiled("drop_after_first_byte", "7", 2),
    spoiled("drop_in_the_body", "7", 2),
    spoiled("page_502", "7", 2),
    spoiled("gzip", "7"),
    spoiled("chunked", "7"),
    spoiled("until_close", "7"),
    spoiled("huge", failed(200, "the answer is larger than 16 MB")),
    spoiled("gzip_bomb", failed(200, "the answer is larger than 16 MB")),
    spoiled("gzip_that_is_none", failed(200, "the answer of PLACE is not HTTP")),
    spoiled("not_http", failed(0, "the answer of PLACE is not HTTP")),
    spoiled("page", failed(200, f"the provider's answer is not JSON: {PAGE}")),
    spoiled("page_404", failed(404, 'there is no model \\"MODEL\\" at URL')),
    spoiled("no_text", failed(200, "the provider's answer has no text")),
    spoiled("redirect", failed(307, "the provider redirects to http://127.0.0.1:1/elsewhere: set base_url to it")),
    Row("the key in an error", ({"status": 400, "message": f"{MARKER} is no key"},), failed(400, "[key] is no key")),
    Row("the key in an answer", ({"text": MARKER, "times": 3},), 'InvalidOutput(answer: "[key]")', 3),
    Row("refusal", ({"stop_reason": "refusal", "text": "no"},), failed(200, "refused: no")),
    Row("empty refusal", ({"stop_reason": "refusal", "text": ""},), failed(200, "refused")),
    Row("cut off", ({"stop_reason": "max_tokens", "text": "12"},), 'InvalidOutput(answer: "12")'),
    Row("cut off at once", ({"stop_reason": "max_tokens", "text": ""},), 'InvalidOutput(answer: "")'),
    Row("unfit", ({"text": "x"}, {"answer": "7"}, FINE), "7", 3),
    Row("never fit", ({"text": "x"},), 'InvalidOutput(answer: "x")', 3),
)


def prompts() -> list[tuple[str, Row]]:
    return [(f"{who} <{number}>", row) for who in ("claude", "gpt") for number, row in enumerate(ROWS)]


def expected_text(row: Row, who: str, url: str, port: int) -> str:
    is_claude = who == "claude"
    return (
        row.expected.replace("VARIABLE", "ANTHROPIC_API_KEY" if is_claude else "OPENAI_API_KEY")
        .replace("MODEL", who)
        .replace("URL", url if is_claude else f"{url}/v1")
        .replace("PLACE", f"127.0.0.1:{port}")
    )


def test_every_way_in_which_a_request_can_go(run: Run, tmp_path: Path) -> None:
    script: dict[str, Any] = {"replies": []}
    faults: dict[str, tuple[str, int | None]] = {}
    for prompt, row in prompts():
        script["replies"] += [{**reply, "when": prompt} for reply in row.replies]
        if row.fault:
            faults[prompt] = (row.fault, row.times)
    state_file, audit_log = tmp_path / "windows.state", tmp_path / "audit.log"
    kept = {"KAVACH_STATE_FILE": str(state_file), "KAVACH_AUDIT_LOG": str(audit_log), "KAVACH_AUDIT_PROMPTS": "1"}
    with serving(script, faults=faults) as server:
        ran = run(*(prompt for prompt, _ in prompts()), **keys(server.url), **kept)
        assert '"status":400,"message":"[key] is no key"' in audit_log.read_text(encoding="utf-8")
        for text in (ran.out, ran.err, *(path.read_text(encoding="latin-1") for path in (state_file, audit_log))):
            assert MARKER not in text
        assert MARKER not in server.log_path.read_text(encoding="utf-8")
        sends = Counter(entry["prompt"].split(">")[0] + ">" for entry in server.log())
    wrong: list[str] = []
    lines = ran.out.splitlines()
    assert (len(lines), ran.err, ran.status) == (len(prompts()), "", 0), ran
    for (prompt, row), line in zip(prompts(), lines, strict=True):
        wanted = (expected_text(row, prompt.split()[0], server.url, server.port), row.sends)
        if (line, sends[prompt]) != wanted:
            wrong.append(f"{prompt} {row.name}: {line} after {sends[prompt]} sends; expected {wanted}")
    assert not wrong, "\n".join(wrong)


def test_three_hundred_asks_at_once(run: Run) -> None:
    with serving({"replies": [{**FINE, "delay": "500ms"}]}) as server:
        ran = run(*["gpt <0>"] * 300, **keys(server.url))
        assert (ran.out, ran.err, ran.status) == ("7\n" * 300, "", 0)
        assert max(entry["under_way_after"] for entry in server.log()) < 256
        assert len(server.log()) == 300
