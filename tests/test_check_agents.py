"""Agents: what they can, how they start, their limits and settings (spec 6, 8)."""

from __future__ import annotations

import pytest
from checking import error_of, errors_of, messages_in, program_of
from kavachc.semantics import typed_ast as typed

BEFORE = """
type E = No | Denied(reason: String)
capability Pay {
    fn refund(order: Int, amount: Int) ! E
    fn ping() -> Bool
    fn free(d: Duration, f: Float) ! E
    fn wrong() ! AiErr
}
type AiErr = Denied(why: String)
type Bank: Pay {
    fn refund(self, o: Int, a: Int) ! E { print(o) }
    fn ping(self) -> Bool { true }
    fn free(self, d: Duration, f: Float) ! E { Time.sleep(d) }
    fn wrong(self) ! AiErr { }
}
agent A {
    can Pay
    on h(n: Int) -> Bool ! E {
        try Pay.refund(amount: n, order: 1)
        take(Pay)
    }
}
fn take(p: Pay) -> Bool { p.ping() }
"""


def test_capabilities_of_a_handler() -> None:
    program = program_of(BEFORE)
    handler = program.agents[0].handlers["h"]
    assert sorted(str(effect) for effect in handler.effects) == ["Pay", "Pay.refund"]
    assert [implementation.record.name for implementation in program.implementations] == ["Bank"]


@pytest.mark.parametrize(
    ("statement", "message", "help_text"),
    [
        ("A.start()", "`A` cannot start without `Pay`", "write `A.start(Pay: Bank())`"),
        ("A.start(Bank())", "`start` takes its capabilities by name", "write `A.start(Pay: Bank())`"),
        ("A.start(Pay: Bank(), Foo: 1)", "`A` is not started with `Foo`", "write `A.start(Pay: Bank())`"),
        ("A.start(Pay: Bank(), Pay: Bank())", "`Pay` is given twice", "leave one of them out"),
        ("A.start(Pay: 1)", "expected `Pay`, but this is `Int`", None),
        ("A()", "an agent is started, not called", "write `A.start(Pay: …)`"),
        ("A.h(1)", "`h` is a handler of `A`: call it on a started agent",
         "write `const bot = A.start(Pay: Bank())`, then `bot.h(…)`"),
        ("A.stat()", "`A` has no method `stat`", "did you mean `start`?"),
        ("Pay.ping()", "`Pay` is a capability: only an agent's handlers can use it by name",
         "take it as a parameter, `pay: Pay`, and use that"),
        ("take(Pay)", "`Pay` is a capability: only an agent's handlers can use it by name",
         "take it as a parameter, `pay: Pay`, and use that"),
        ("A.start(Pay: Bank()).h(1)", "`h` can fail with `E`, and nothing handles that", None),
        ("const a: A = A.start(Pay: Bank())\ntry a.h(n: 1)", None, None),
    ],
)  # fmt: skip
def test_starting_and_calling(statement: str, message: str | None, help_text: str | None) -> None:
    assert messages_in(statement, BEFORE) == ([] if message is None else [message])
    if help_text is not None:
        assert error_of(f"{BEFORE}\nfn main() ! Error {{\n    {statement}\n}}").help == help_text


@pytest.mark.parametrize(
    ("source", "message", "help_text"),
    [
        ("type B: Pay2 { }\ncapability Pay2 { fn m(x: Int) -> Bool ! Error }",
         "`B` does not have every method of `Pay2`: `m` is missing", "add `fn m(self, x: Int) -> Bool ! Error { … }`"),
        ("capability C { fn m(x: Int) }\ntype B: C { fn m(self, x: Float) { } }",
         "`m` of `B` is not as `C` declares it", "write `fn m(self, x: Int)`"),
        ("capability C { fn m() }\ntype B: C { fn m(self) -> Int { 1 } }",
         "`m` of `B` is not as `C` declares it", "write `fn m(self)`"),
        ("capability C { fn m() }\ntype B: C { fn m(self) ! Error { } }",
         "`m` of `B` is not as `C` declares it", "write `fn m(self)`"),
        ("type B: Console { }", "`Console` is built in, not a capability", None),
        ("type T { }\ntype B: T { }", "`T` is a type, not a capability", None),
        ("type B: Nothing { }", "there is no capability `Nothing`", None),
        ("capability C { fn m() uses Console }",
         "a capability's method has no `uses`: what an implementation uses is its own affair", "leave `uses` out"),
        ("agent B { can Pay, Console, Pay.ping }\ncapability Pay { fn ping() }",
         "the agent `B` can `Pay.ping` already", "leave it out here"),
        ("agent B { can Consol }", "there is no capability `Consol`", "did you mean `Console`?"),
        ("agent B { can Time.sleep }", "`Time` is built in, and is given as a whole", "write `Time`"),
        ("agent B { can Pay.pong }\ncapability Pay { fn ping() }", "`Pay` has no method `pong`",
         "did you mean `ping`?"),
    ],
)  # fmt: skip
def test_capabilities(source: str, message: str, help_text: str | None) -> None:
    found = error_of(source)
    assert found.message == message
    assert help_text is None or found.help == help_text


def limit_messages(rules: str, target: str = "Pay.refund", can: str = "Pay") -> list[str]:
    source = f"{BEFORE}\nagent L {{\n    can {can}\n    limit {target} {{\n        {rules}\n    }}\n}}"
    return [line.split(" ", 1)[1] for line in errors_of(source)]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("amount", "expected `Bool`, but this is `Int`"),
        ("sum(amount) <= 5", "`sum` needs a window to count in"),
        ("count <= 5", "`count` needs a window to count in"),
        ("tokens <= 5", "`tokens` counts what AI calls took: it is for `limit Ai` rules (spec 8.3)"),
        ("tokens <= 5 per day", "`tokens` counts what AI calls took: it is for `limit Ai` rules (spec 8.3)"),
        ("amount <= 5 per day", "a rule with `per` compares `sum(…)` or `count` with `<=` or `<`"),
        ("count >= 5 per day", "a rule with `per` compares `sum(…)` or `count` with `<=` or `<`"),
        ("sum(amount, order) <= 5 per day", "a rule with `per` compares `sum(…)` or `count` with `<=` or `<`"),
        ('sum("a") <= 5 per day', "`sum` adds up Int, Float or Duration, and this is a `String`"),
        ("sum(amount) <= 2.5 per day", "expected `Int`, but this is `Float`"),
        ("count <= amount per day", "the bound of a rule is a plain number"),
        ("count <= -1 per day", "`count` is never below zero: this rule would refuse everything"),
        ("sum(amount) <= 9223372036854775807 + 1 per day",
         "the bound of a rule is a plain number, and this one is too large"),
        ("sum(amount) <= 1 / 0 per day", "the bound of a rule is a plain number, and this divides by zero"),
        ("count <= 5 per decade", "`decade` is not a length of time"),
        ("count <= 5 per 0s", "a window is longer than nothing"),
        ("amount <= limit_now()",
         "a rule only computes with the call's parameters, and this uses `Time`, in `limit_now`"),
        ("amount <= try risky()", "`try` stands outside a function"),
        ("amount <= risky()", "`risky` can fail with `Error`, and nothing handles that"),
    ],
)  # fmt: skip
def test_rules_that_cannot_be(rules: str, message: str) -> None:
    helpers = "fn limit_now() -> Int { Time.sleep(1s)\n 1 }\nfn risky() -> Int ! Error { 1 }"
    source = f"{BEFORE}\n{helpers}\nagent L {{\n    can Pay\n    limit Pay.refund {{\n        {rules}\n    }}\n}}"
    assert [line.split(" ", 1)[1] for line in errors_of(source)] == [message]


@pytest.mark.parametrize(
    ("target", "can", "rules", "message"),
    [
        ("Ai", "Ai", "amount <= 5", "a rule of `limit Ai` counts asks or tokens"),
        ("Ai", "Ai", "sum(1) <= 5 per day", "a rule of `limit Ai` counts asks or tokens"),
        ("Ai", "Ai", "tokens <= 5", "`tokens` needs a window to count in"),
        ("Ai", "Console", "count <= 5 per day", "`Ai` is limited, but the agent `L` cannot use it"),
        ("Pay.refund", "Console", "amount <= 5", "`Pay.refund` is limited, but the agent `L` cannot use it"),
        ("Pay", "Pay", "", "a limit is on one method of `Pay`"),
        ("Time", "Time", "", "of the built-in capabilities only `Ai` can be limited, not `Time`"),
        ("Pay.ping", "Pay", "count <= 5 per day",
         "`Pay.ping` is limited, but its error type is not written, so it has no variant `Denied(reason: String)` for "
         "a refusal"),
        ("Pay.wrong", "Pay", "count <= 5 per day",
         "`Pay.wrong` is limited, but its error type `AiErr` has no variant `Denied(reason: String)` for a refusal"),
        ("Foo", "Pay", "", "there is no capability `Foo`"),
    ],
)  # fmt: skip
def test_targets_of_limits(target: str, can: str, rules: str, message: str) -> None:
    assert limit_messages(rules, target, can) == [message]


def rule_of(rule: str, target: str = "Pay.free") -> typed.Rule:
    program = program_of(f"{BEFORE}\nagent L {{\n    can Pay, Ai\n    limit {target} {{\n        {rule}\n    }}\n}}")
    return program.agents[1].limits[0].rules[0]


def test_rules_as_the_runtimes_see_them() -> None:
    rule = rule_of("sum(f   *  2)\t<  1 + 0.5 per 10m")
    assert (rule.kind, rule.bound, rule.strict, rule.window_ns) == ("sum", 1.5, True, 600 * 10**9)
    assert rule.text == "sum(f * 2) < 1 + 0.5 per 10m"
    assert rule_of("sum(d) <= 2 * 30s per week").bound == 60 * 10**9
    assert rule_of("tokens <= 200_000 per month", "Ai").bound == 200_000
    assert rule_of("count <= 7 / 2 * -(-3) per minute").bound == 9


def test_rule_words_are_ordinary_names_without_a_window() -> None:
    program_of(
        """
        type E = Denied(reason: String)
        capability C { fn m(count: Int, tokens: Int) ! E }
        agent A {
            can C
            limit C.m {
                count <= 5 && tokens > 0
                count <= 5 per day
                sum(count) <= 5 per day
            }
        }
        """
    )


def test_two_limits_on_one_target() -> None:
    source = f"{BEFORE}\nagent L {{\n    can Pay\n    limit Pay.refund {{ }}\n    limit Pay.refund {{ }}\n}}"
    assert error_of(source).message == "the agent `L` limits `Pay.refund` twice"


SETTINGS = (
    "an agent's settings are chosen when the program is built: write `AgentSettings(…)` with plain values, or call a "
    "function with no parameters that gives one, such as `standard()`, perhaps `with { … }` (spec 8.5)"
)
MODEL = SETTINGS.replace("settings are", "model is").replace("AgentSettings", "Model")
HELPERS = """
const MODE = Mode.Observe
fn standard() -> AgentSettings { AgentSettings(mode: MODE) }
fn with_parameter(m: Mode) -> AgentSettings { AgentSettings(mode: m) }
fn failing() -> AgentSettings ! Error { AgentSettings() }
fn acting() -> AgentSettings {
    print(1)
    AgentSettings()
}
fn small() -> Model { Model(max_tokens: 30) }
"""


@pytest.mark.parametrize(
    ("line", "offending"),
    [
        ("settings with_parameter(MODE)", "with_parameter(MODE)"),
        ("settings failing()", "failing()"),
        ("settings acting()", "acting()"),
        ("settings small()", "small()"),
        ("settings Model()", "Model()"),
        ("settings MODE", "MODE"),
        ("settings AgentSettings(mode: { Mode.Enforce })", "{ Mode.Enforce }"),
        ("settings standard() with { mode: if true { MODE } else { MODE } }", "if true { MODE } else { MODE }"),
        ("model standard()", "standard()"),
        ('model if true { Model() } else { Model() }', "if true { Model() } else { Model() }"),
    ],
)  # fmt: skip
def test_settings_that_are_not_known(line: str, offending: str) -> None:
    found = error_of(f"{HELPERS}\nagent A {{\n    {line}\n}}")
    assert found.message == (MODEL if line.startswith("model") else SETTINGS)
    assert found.span is not None
    assert found.span.text == offending


@pytest.mark.parametrize(
    "line",
    [
        "settings AgentSettings(mode: MODE)",
        "settings standard()",
        "settings standard() with { asks_under_way: UnderWay.Largest }",
        "model small() with { max_tokens: 2 * 50 }",
        'model Model(name: "m", provider: Provider.OpenAi)',
    ],
)
def test_settings_that_are_known(line: str) -> None:
    program_of(f"{HELPERS}\nagent A {{\n    {line}\n}}")


def test_settings_are_written_once_and_fit_their_fields() -> None:
    assert (
        error_of("agent A {\n    model Model()\n    model Model()\n}").message == "the agent `A` has two `model` lines"
    )
    assert error_of("agent A {\n    model Model(name: 1)\n}").message == "expected `String`, but this is `Int`"
