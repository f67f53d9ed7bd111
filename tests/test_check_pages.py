"""The reference pages' programs are accepted, and their compile errors are theirs to the byte."""

from __future__ import annotations

from checking import error_of, program_of

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
}
"""

READER = """
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

WRITER = """
type Yes {
    ok: Bool
}

agent Writer {
    model Model(name: "claude-haiku-5-5", max_tokens: 30)
    settings AgentSettings(asks_under_way: UnderWay.Average)
    can Ai
    limit Ai {
        tokens <= 200 per day
    }
    on write() -> Bool ! Error {
        const _y = ask<Yes>("a") catch _ => {
            return false
        }
        true
    }
}

fn main() ! Error uses Ai, Console {
    const w = Writer.start()
    let asked: [Task<Bool>] = []
    for _ in 0..10 {
        asked.push(spawn w.write())
    }
    let answered = 0
    for a in asked {
        if try a.wait() {
            answered += 1
        }
    }
    print("answered {answered}")
}
"""


def test_limit_page_program_is_typed() -> None:
    agent = program_of(PAYMENTS).agents[0]
    assert [str(effect) for effect in agent.can] == ["Payments.refund"]
    limit = agent.limits[0]
    assert (limit.target, limit.denied) == ("Payments.refund", 1)
    assert [rule.text for rule in limit.rules] == ["amount <= 500", "sum(amount) <= 700 per day"]
    assert [(rule.kind, rule.bound, rule.window_ns) for rule in limit.rules] == [
        ("condition", 0, 0),
        ("sum", 700, 86_400 * 10**9),
    ]


def test_ask_page_program_is_typed() -> None:
    program = program_of(READER)
    review = program.agents[0].handlers["review"]
    assert review.may_wait
    assert {str(effect) for effect in review.effects} == {"Ai", "Console"}
    assert next(item for item in program.records if item.name == "Verdict").fields[0].documentation == (
        "true if the review is positive"
    )


def test_token_page_programs_are_typed() -> None:
    assert program_of(BUDGET).agents[0].limits[0].capability is None
    agent = program_of(WRITER).agents[0]
    assert agent.model_expression is not None
    assert agent.settings_expression is not None


def test_tokens_of_another_capability_has_the_pages_message() -> None:
    found = error_of(PAYMENTS.replace("amount <= 500\n        sum(amount) <= 700 per day", "tokens <= 100 per day"))
    assert found.message == "`tokens` counts what AI calls took: it is for `limit Ai` rules (spec 8.3)"
    assert found.span is not None
    assert found.span.text == "tokens <= 100"


def test_settings_by_a_call_with_arguments_has_the_pages_message() -> None:
    found = error_of(
        """
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
    )
    assert found.message == (
        "an agent's settings are chosen when the program is built: write `AgentSettings(…)` with plain values, or "
        "call a function with no parameters that gives one, such as `standard()`, perhaps `with { … }` (spec 8.5)"
    )
    assert found.span is not None
    assert found.span.text == "way(true)"
