"""The programs of the reference pages, in the interpreter, print what the pages show."""

from __future__ import annotations

from pathlib import Path

import pytest
from interpreting import Ran, compiled, run

PAYMENTS = """
type PayError = Declined | Denied(reason: String)

capability Payments {
    fn refund(order: Int, amount: Int) ! PayError
}

type Bank: Payments {
    fn refund(self, order: Int, amount: Int) ! PayError {
        print("refunded {amount} on order {order}")
    }
}
"""

REFUNDER = (
    PAYMENTS
    + """
agent Refunder {
    can Payments.refund

    limit Payments.refund {
        amount <= 500
        sum(amount) <= 700 per day
    }

    on refund(order: Int, amount: Int) ! PayError {
        try Payments.refund(order, amount)
    }
}

fn main() {
    const bot = Refunder.start(Payments: Bank())
    bot.refund(1, 400) catch e => print("refused: {e}")
    bot.refund(2, 900) catch e => print("refused: {e}")
    bot.refund(3, 250) catch e => print("refused: {e}")
    bot.refund(4, 300) catch e => print("refused: {e}")
}
"""
)

YES = {"replies": [{"answer": {"ok": True}, "input_tokens": 60, "output_tokens": 10}]}


def test_limit_on_a_capability(tmp_path: Path) -> None:
    ran = run(REFUNDER, folder=tmp_path)
    assert ran.out == (
        "refunded 400 on order 1\n"
        'refused: Denied(reason: "limit broken: amount <= 500")\n'
        "refunded 250 on order 3\n"
        'refused: Denied(reason: "limit broken: sum(amount) <= 700 per day")\n'
    )
    assert (ran.err, ran.status) == ("", 0)
    assert ran.report == (
        "live_blocks 0\nRefunder Payments.refund sum(amount) <= 700 per day: entries 2 total 650 times [0, 0]\n"
    )


BUDGET = """
type Yes {
    ok: Bool
}

agent Bot {
    can Ai
    limit Ai {
        tokens <= 100 per day
    }
    on check() -> Bool ! Error {
        (try ask<Yes>("a")).ok
    }
}

fn main() ! Error uses Ai, Console {
    const b = Bot.start()
    for _ in 0..3 {
        const ok = b.check() catch e => {
            print("refused: {e}")
            continue
        }
        print(ok)
    }
}
"""


def test_a_token_budget(tmp_path: Path) -> None:
    ran = run(BUDGET, model=YES, folder=tmp_path)
    assert ran.out == 'true\ntrue\nrefused: Denied(reason: "limit broken: tokens <= 100 per day")\n'
    assert ran.report == "live_blocks 0\nBot Ai tokens <= 100 per day: entries 2 total 140 times [0, 0]\n"


def writer(way: str, mode: str = "Enforce") -> str:
    return f"""
type Yes {{
    ok: Bool
}}

agent Writer {{
    model Model(name: "claude-haiku-5-5", max_tokens: 30)
    settings AgentSettings(asks_under_way: UnderWay.{way}, mode: Mode.{mode})
    can Ai
    limit Ai {{
        tokens <= 200 per day
    }}
    on write() -> Bool ! Error {{
        const _y = ask<Yes>("a") catch _ => {{
            return false
        }}
        true
    }}
}}

fn main() ! Error uses Ai, Console {{
    const w = Writer.start()
    let asked: [Task<Bool>] = []
    for _ in 0..10 {{
        asked.push(spawn w.write())
    }}
    let answered = 0
    for a in asked {{
        if try a.wait() {{
            answered += 1
        }}
    }}
    print("answered {{answered}}")
}}
"""


@pytest.mark.parametrize(("way", "answered"), [("Average", 3), ("Largest", 2), ("NotCounted", 10)])
def test_ten_asks_at_once(way: str, answered: int, tmp_path: Path) -> None:
    for delay in ("0s", "50ms"):
        model = {"replies": [{"answer": {"ok": True}, "delay": delay}]}
        ran = run(writer(way), model=model, folder=tmp_path)
        assert ran == Ran(f"answered {answered}\n", "", 0, ran.report)
        assert f"entries {answered} total {70 * answered}" in ran.report


def test_in_observe_mode_nothing_waits(tmp_path: Path) -> None:
    """All ten start at once, each unbroken as far as is known, since none has answered: so no line either."""
    ran = run(writer("Average", "Observe"), model=YES, folder=tmp_path)
    assert (ran.out, ran.err, ran.status) == ("answered 10\n", "", 0)
    largest = run(writer("Largest", "Observe"), model=YES, folder=tmp_path)
    assert largest.out == "answered 10\n"
    assert largest.err == "[observe] Writer: Ai: limit broken: tokens <= 200 per day\n" * 8


ASK_FAIL = """
type Verdict {
    /// true if the review is positive
    positive: Bool
}

agent Reader {
    can Ai, Console

    on review(text: String) ! AiError {
        const v = ask<Verdict>("Is this review positive? {text}") catch e => match e {
            AiError.InvalidOutput(_) => Verdict(positive: false),
            _ => fail e,
        }
        print("positive: {v.positive}")
    }
}

fn main() {
    const bot = Reader.start()
    bot.review("Arrived late, but works well") catch e => print("no answer: {e}")
}
"""


def test_ask_in_a_dry_run() -> None:
    assert run(ASK_FAIL, dry_run=True) == Ran(
        "positive: true\n",
        '[dry run] ask("Is this review positive? Arrived late, but works well") -> Verdict(positive: true)\n',
        0,
    )


def test_an_answer_that_never_fits_becomes_the_fallback(tmp_path: Path) -> None:
    ran = run(ASK_FAIL, model={"replies": [{"text": "not json"}]}, folder=tmp_path)
    assert (ran.out, ran.err, ran.status) == ("positive: false\n", "", 0)


def test_ask_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    missing = 'no answer: NoKey(variable: "ANTHROPIC_API_KEY")\n'
    assert run(ASK_FAIL, virtual_time=False) == Ran(missing, "", 0)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    assert run(ASK_FAIL, virtual_time=False) == Ran(missing, "", 0)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    refused = 'no answer: Failed(status: 0, message: "127.0.0.1:1 refused the connection")\n'
    assert run(ASK_FAIL, virtual_time=False) == Ran(refused, "", 0)


def test_virtual_time_needs_a_test_model() -> None:
    refused = run(ASK_FAIL)
    assert (refused.out, refused.status) == ("", 2)
    assert refused.err == (
        "error: virtual time needs a test model or a dry run, since a real model answers in real time\n"
    )


def test_the_pages_refusals() -> None:
    tokens = REFUNDER.replace("amount <= 500", "tokens <= 100 per day")
    assert compiled(tokens)[1] == ["`tokens` counts what AI calls took: it is for `limit Ai` rules (spec 8.3)"]
    known = """
    fn way(careful: Bool) -> UnderWay {
        if careful { UnderWay.Largest } else { UnderWay.Average }
    }
    agent Writer {
        settings AgentSettings(asks_under_way: way(true))
        can Ai
        limit Ai {
            tokens <= 200_000 per day
        }
    }
    fn main() {
        print("never runs")
    }
    """
    assert compiled(known)[1] == [
        "an agent's settings are chosen when the program is built: write `AgentSettings(…)` with plain values, or call "
        "a function with no parameters that gives one, such as `standard()`, perhaps `with { … }` (spec 8.5)"
    ]


def test_a_window_rolls_over_two_days(tmp_path: Path) -> None:
    """`count <= 3 per day`: calls at hours 5, 8, 20 of day 1; refused at 4:59 of day 2, let through at 5:00."""
    source = (
        PAYMENTS
        + """
    agent Refunder {
        can Payments.refund
        limit Payments.refund { count <= 3 per day }
        on refund(order: Int) ! PayError { try Payments.refund(order, 1) }
    }
    fn main() {
        const bot = Refunder.start(Payments: Bank())
        const again = Refunder.start(Payments: Bank())
        let order = 0
        for pause in [5h, 3h, 12h, 539m, 1m, 1ns, 3h] {
            Time.sleep(pause)
            order += 1
            const chosen = if order % 2 == 0 { bot } else { again }
            chosen.refund(order) catch e => print("{Time.now()} {order} {e}")
        }
    }
    """
    )
    ran = run(source, folder=tmp_path)
    assert ran.out == (
        "refunded 1 on order 1\n"
        "refunded 1 on order 2\n"
        "refunded 1 on order 3\n"
        '2026-01-02T04:59:00Z 4 Denied(reason: "limit broken: count <= 3 per day")\n'
        "refunded 1 on order 5\n"
        '2026-01-02T05:00:00.000000001Z 6 Denied(reason: "limit broken: count <= 3 per day")\n'
        "refunded 1 on order 7\n"
    )
    hour = 3_600_000_000_000
    times = f"[{20 * hour}, {29 * hour}, {32 * hour + 1}]"
    assert ran.report.endswith(f"count <= 3 per day: entries 3 total 3 times {times}\n")
