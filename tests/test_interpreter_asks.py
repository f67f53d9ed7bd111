"""`ask` under a scripted model, limits and cancellation, on both of the interpreter's hosts (spec 8.3, 8.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interpreting import Ran, run

HOSTS = pytest.mark.parametrize("native", [False, True], ids=["model", "native"])

ASKER = """
type Size = Small | Large(metres: Int)
type Yes { ok: Bool }

agent Bot {
    SETTINGS
    can Ai
    on yes(prompt: String) -> Bool ! AiError { (try ask<Yes>(prompt)).ok }
    on size(prompt: String) -> Size ! AiError { try ask<Size>(prompt) }
    on text(prompt: String) -> String ! AiError { try ask<String>(prompt) }
}
"""


def asked(call: str, replies: list[dict[str, Any]], folder: Path, native: bool, **script: Any) -> Ran:
    """What `call` on `bot` prints, and when it ended."""
    source = (
        ASKER.replace("SETTINGS", "")
        + f"""
    fn main() {{
        const bot = Bot.start()
        print({call} catch e => {{
            print("{{e}} after {{Time.now() - Time.now()}}")
            print(Time.now())
            return
        }})
        print(Time.now())
    }}
    """.replace(" after {Time.now() - Time.now()}", "")
    )
    return run(source, model={"replies": replies, **script}, folder=folder, native=native)


def seconds(count: int) -> str:
    return f"2026-01-01T00:00:{count:02}Z"


@HOSTS
def test_three_tries_for_an_answer_that_fits(tmp_path: Path, native: bool) -> None:
    unfit = [{"text": "one"}, {"text": '{"ok": 1}', "delay": "1s"}]
    ran = asked('bot.yes("a")', [*unfit, {"answer": {"ok": False}}], tmp_path, native)
    assert ran == Ran(f"false\n{seconds(1)}\n", "", 0, ran.report)
    ran = asked('bot.yes("a")', [*unfit, {"text": '{"ok": "true"}'}], tmp_path, native, then="fail")
    assert ran.out == f'InvalidOutput(answer: "\\{{\\"ok\\": \\"true\\"\\}}")\n{seconds(1)}\n'


@HOSTS
def test_kinds_of_answers(tmp_path: Path, native: bool) -> None:
    assert asked('bot.size("a")', [{"answer": "Small"}], tmp_path, native).out.startswith("Small\n")
    large = {"answer": {"Large": {"metres": 9007199254740993}}}
    assert asked('bot.size("a")', [large], tmp_path, native).out.startswith("Large(metres: 9007199254740993)\n")
    fenced = {"text": '```json\n{"ok": true}\n```'}
    assert asked('bot.yes("a")', [fenced], tmp_path, native).out.startswith("true\n")
    assert asked('bot.text("a")', [fenced], tmp_path, native).out.startswith('```json\n{"ok": true}\n```\n')


@HOSTS
def test_refusals_and_answers_cut_off_are_sent_once(tmp_path: Path, native: bool) -> None:
    refusal = {"stop_reason": "refusal", "text": "no"}
    ran = asked('bot.text("a")', [refusal], tmp_path, native, then="fail")
    assert ran.out.startswith('Failed(status: 200, message: "refused: no")\n')
    cut_off = {"stop_reason": "max_tokens", "text": '{"ok": true}'}
    ran = asked('bot.yes("a")', [cut_off], tmp_path, native, then="fail")
    assert ran.out.startswith('InvalidOutput(answer: "\\{\\"ok\\": true\\}")\n')


@HOSTS
def test_six_sends_at_most(tmp_path: Path, native: bool) -> None:
    busy = {"status": 529, "message": "busy", "times": 5}
    ran = asked('bot.yes("a")', [busy, {"answer": {"ok": True}}], tmp_path, native)
    assert ran.out.startswith("true\n2026-01-01T00:00:1")
    ran = asked('bot.yes("a")', [busy, {"drop": True}], tmp_path, native, then="fail")
    assert ran.out.startswith('Failed(status: 0, message: "connection dropped")\n2026-01-01T00:00:1')
    for status in (408, 429, 500, 599):
        replies = [{"status": status, "message": "busy", "times": 6}]
        ran = asked('bot.yes("a")', replies, tmp_path, native, then="fail")
        assert ran.out.startswith(f'Failed(status: {status}, message: "busy")\n2026-01-01T00:00:1'), status


@HOSTS
def test_other_failures_are_final(tmp_path: Path, native: bool) -> None:
    endpoint = '\\"claude-haiku-5-5\\" at https://api.anthropic.com'
    for status, own in (
        (400, ""),
        (401, "the key in ANTHROPIC_API_KEY was refused"),
        (403, "the key in ANTHROPIC_API_KEY may not use claude-haiku-5-5"),
        (404, f"there is no model {endpoint}"),
        (409, ""),
        (413, "the prompt is too large"),
        (422, ""),
    ):
        ran = asked('bot.yes("a")', [{"status": status}], tmp_path, native, then="fail")
        message = own or f"HTTP {status}"
        assert ran.out == f'Failed(status: {status}, message: "{message}")\n{seconds(0)}\n'
        ran = asked('bot.yes("a")', [{"status": status, "message": "no"}], tmp_path, native, then="fail")
        message = f"{own}: no" if own else "no"
        assert ran.out == f'Failed(status: {status}, message: "{message}")\n{seconds(0)}\n'
    for code in ("enforced_spend_limit_reached", "insufficient_quota"):
        ran = asked(
            'bot.yes("a")', [{"status": 429, "error_code": code, "message": "m"}], tmp_path, native, then="fail"
        )
        assert ran.out == f'Failed(status: 429, message: "m")\n{seconds(0)}\n'


@HOSTS
def test_retry_after_raises_a_wait(tmp_path: Path, native: bool) -> None:
    for header, time in (
        ("20", seconds(20)),
        ("31536000", "2026-01-01T00:01:00Z"),
        (" 9 ", seconds(9)),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "2026-01-01T00:01:00Z"),
    ):
        replies: list[dict[str, Any]] = [{"status": 429, "headers": {"Retry-After": header}}, {"answer": {"ok": True}}]
        assert asked('bot.yes("a")', replies, tmp_path, native).out == f"true\n{time}\n"
    # The first number of SplitMix64 is 0xe220a8397b1dcdaf; modulo 500000001 that is 369447158.
    first_ns = 500_000_000 + 0xE220A8397B1DCDAF % 500_000_001
    for header in ("-1", "1e999", "", "Tue, 21 Oct 2025 07:28:00 GMT"):
        replies = [{"status": 429, "headers": {"retry-after": header}}, {"answer": {"ok": True}}]
        ran = asked('bot.yes("a")', replies, tmp_path, native)
        assert ran.out == f"true\n2026-01-01T00:00:00.{first_ns:09}Z\n"


@HOSTS
def test_a_script_without_a_reply_left_stops_the_program(tmp_path: Path, native: bool) -> None:
    ran = asked('bot.yes("a \\"b\\"")', [], tmp_path, native)
    assert ran == Ran("", 'error: the test model has no reply left for the prompt: "a \\"b\\""\n', 1)


@HOSTS
def test_a_script_that_is_not_valid_is_refused_before_main(tmp_path: Path, native: bool) -> None:
    ran = asked('bot.yes("a")', [{"statuss": 1}], tmp_path, native)
    path = tmp_path / "model.json"
    assert ran == Ran("", f'error: test model {path}: replies[0]: unknown key "statuss"\n', 2)


TOGETHER = """
type Yes { ok: Bool }
agent Bot {
    model Model(max_tokens: 10)
    settings AgentSettings(asks_under_way: UnderWay.WAY)
    can Ai
    limit Ai {
        RULES
    }
    on yes(prompt: String) -> Bool ! AiError { (try ask<Yes>(prompt)).ok }
}
fn one(bot: Bot, name: Int) {
    const ok = bot.yes("p{name}") catch e => {
        print("{name} at {Time.now()}: {e}")
        return
    }
    print("{name} at {Time.now()}: {ok}")
}
fn main() {
    const bot = Bot.start()
    let tasks: [Task<()>] = []
    for name in 0..COUNT { tasks.push(spawn one(bot, name)) }
    BODY
}
"""


def together(
    way: str, rules: str, count: int, body: str, replies: list[dict[str, Any]], folder: Path, **more: Any
) -> Ran:
    source = TOGETHER.replace("WAY", way).replace("RULES", rules).replace("COUNT", str(count)).replace("BODY", body)
    native = more.pop("native")
    return run(source, model={"replies": replies, **more}, folder=folder, native=native)


ANSWER = {"answer": {"ok": True}, "delay": "1s"}


@HOSTS
def test_average_lets_asks_go_one_after_another_near_the_limit(tmp_path: Path, native: bool) -> None:
    """One at first. Then 70 are known: 70 and 70 + 70 let two in, 70 + 140 does not; at 210 the rest is refused."""
    ran = together("Average", "tokens <= 150 per day", 5, "", [ANSWER], tmp_path, native=native)
    refused = '{} at 2026-01-01T00:00:02Z: Denied(reason: "limit broken: tokens <= 150 per day")'
    assert ran.out.splitlines() == [
        f"0 at {seconds(1)}: true",
        f"1 at {seconds(2)}: true",
        f"2 at {seconds(2)}: true",
        refused.format(3),
        refused.format(4),
    ]
    assert "entries 3 total 210 times [1000000000, 2000000000, 2000000000]" in ran.report


@HOSTS
def test_a_waiting_ask_is_checked_again_from_the_first_rule(tmp_path: Path, native: bool) -> None:
    rules = "count <= 2 per day\ntokens <= 1_000 per day"
    ran = together("Average", rules, 4, "", [ANSWER], tmp_path, native=native)
    reason = 'Denied(reason: "limit broken: count <= 2 per day")'
    assert ran.out.splitlines() == [
        f"0 at {seconds(1)}: true",
        f"2 at {seconds(1)}: {reason}",
        f"3 at {seconds(1)}: {reason}",
        f"1 at {seconds(2)}: true",
    ]


@HOSTS
@pytest.mark.parametrize(
    ("way", "left"),
    [("Average", "entries 1 total 36"), ("Largest", "entries 1 total 36"), ("NotCounted", "entries 0 total 0")],
)
def test_a_cancelled_ask_leaves_its_estimate(way: str, left: str, tmp_path: Path, native: bool) -> None:
    """3 times (2 bytes + 10 tokens) = 36, also under Average while none is answered."""
    body = "Time.sleep(500ms)\ntasks[0].cancel()"
    ran = together(way, "tokens <= 1_000 per day", 1, body, [ANSWER], tmp_path, native=native)
    assert (ran.out, ran.err, ran.status) == ("", "", 0)
    assert left in ran.report
    if way != "NotCounted":
        assert "times [500000000]" in ran.report


@HOSTS
def test_a_cancelled_ask_lets_a_waiting_one_go_on(tmp_path: Path, native: bool) -> None:
    body = "Time.sleep(500ms)\ntasks[0].cancel()"
    ran = together("Average", "tokens <= 1_000 per day", 2, body, [ANSWER], tmp_path, native=native)
    assert ran.out == "1 at 2026-01-01T00:00:01.500Z: true\n"
    assert "entries 2 total 106 times [500000000, 1500000000]" in ran.report


@HOSTS
def test_the_average_of_a_cancelled_ask_is_rounded_up(tmp_path: Path, native: bool) -> None:
    """Two answered, 70 and 71 tokens: the average of 70.5 counts as 71."""
    body = (
        "for t in tasks { t.wait() catch _ => { } }\n const late = spawn one(bot, 9)\n Time.sleep(1ms)\n late.cancel()"
    )
    replies: list[dict[str, Any]] = [ANSWER, {**ANSWER, "input_tokens": 61}]
    ran = together("Average", "tokens <= 1_000 per day", 2, body, replies, tmp_path, native=native)
    assert "entries 3 total 212" in ran.report


@HOSTS
def test_an_ask_cancelled_while_it_waits_leaves_nothing(tmp_path: Path, native: bool) -> None:
    body = "Time.sleep(500ms)\ntasks[1].cancel()"
    ran = together("Average", "tokens <= 1_000 per day", 2, body, [ANSWER], tmp_path, native=native)
    assert ran.out == f"0 at {seconds(1)}: true\n"
    assert "entries 1 total 70" in ran.report


@HOSTS
def test_tokens_of_every_try_count(tmp_path: Path, native: bool) -> None:
    """Bug case 17: three unfit answers of 70 tokens are 210. A call that got no answer leaves no entry."""
    ran = together("Average", "tokens <= 1_000 per day", 1, "", [{"text": "x"}], tmp_path, native=native)
    assert "entries 1 total 210 times [0]" in ran.report
    ran = together("Average", "tokens <= 1_000 per day", 1, "", [{"status": 400}], tmp_path, native=native)
    assert "entries 0 total 0 times []" in ran.report


@HOSTS
def test_capacity(tmp_path: Path, native: bool) -> None:
    """Two at once; the third is turned away, and comes back within 0.5 to 1 s."""
    replies = [{**ANSWER, "delay": "400ms"}]
    ran = together("NotCounted", "count <= 9 per day", 3, "", replies, tmp_path, native=native, capacity=2)
    assert ran.out.startswith("0 at 2026-01-01T00:00:00.400Z: true\n1 at 2026-01-01T00:00:00.400Z: true\n2 at ")
    assert ran.out.endswith("Z: true\n")


@HOSTS
def test_count_in_a_dry_run(tmp_path: Path, native: bool) -> None:
    source = TOGETHER.replace("WAY", "Average").replace("RULES", "count <= 1 per day\ntokens <= 5 per day")
    source = source.replace("COUNT", "2").replace("BODY", "")
    ran = run(source, folder=tmp_path, dry_run=True, native=native)
    assert ran.out.splitlines() == [
        f'1 at {seconds(0)}: Denied(reason: "limit broken: count <= 1 per day")',
        f"0 at {seconds(0)}: true",
    ]
    assert ran.err == '[dry run] ask("p0") -> Yes(ok: true)\n'
    assert "count <= 1 per day: entries 1 total 1 times [0]\n" in ran.report
    assert "tokens <= 5 per day: entries 0 total 0 times []\n" in ran.report
