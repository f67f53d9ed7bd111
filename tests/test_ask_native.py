"""`ask` on the native runtime, in virtual time: limits, tries, retries, cancellation (spec 8.3 and 8.4)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from kavachc.bindings.abi import Mode, Provider, RuleKind, UnderWay
from kavachc.bindings.descriptors import BOOL, INT, STRING, Agent, ArrayOf, FieldOf, Limit, RecordOf, Rule
from native_program import SECOND, Answer, Body, MemoryHost, Program, Result, run, run_to_exit

DAY = 86_400 * SECOND
YES = RecordOf("Yes", [FieldOf("ok", BOOL)])
FIT = {"answer": {"ok": True}}


def writer(bound: int, way: UnderWay = UnderWay.AVERAGE, **changes: Any) -> Agent:
    rule = Rule(RuleKind.TOKENS, f"tokens <= {bound} per day", DAY, bound)
    return Agent("Writer", (Limit("Ai", (rule,)),), max_tokens=30, asks_under_way=way, **changes)


def ask_once(
    test_model: Any, kind: Any = YES, prompt: str = "a", agent: Agent | None = None, sample: str = "", **options: Any
) -> Result:
    def main(program: Program) -> Body:
        yield from program.ask(0, kind, prompt, sample)
        program.print(str(program.now_ns()))

    return run(main, agents=[agent or writer(10**6)], test_model=test_model, **options)


def ask_together(count: int, agent: Agent, test_model: Any, **options: Any) -> Result:
    def one(program: Program) -> Body:
        yield from program.ask(0, YES, "a", '{"ok": true}')

    def main(program: Program) -> Body:
        tasks = [program.spawn(one(program)) for _ in range(count)]
        for task in tasks:
            yield from program.wait(task)
        program.print(str(program.now_ns()))

    return run(main, agents=[agent], test_model=test_model, **options)


def kinds(result: Result) -> list[str]:
    return [answer.kind for answer in result.answers]


def splitmix64() -> Generator[int, None, None]:
    state = 0
    mask = 2**64 - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & mask
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & mask
        yield mixed ^ (mixed >> 31)


def waits(seconds: list[int], numbers: Generator[int, None, None] | None = None) -> list[int]:
    numbers = numbers or splitmix64()
    halves = [second * SECOND // 2 for second in seconds]
    return [half + next(numbers) % (half + 1) for half in halves]


# ---- Limits


@pytest.mark.parametrize(
    ("way", "answered"), [(UnderWay.AVERAGE, 3), (UnderWay.LARGEST, 2), (UnderWay.NOT_COUNTED, 10)]
)
@pytest.mark.parametrize("delay", ["0s", "1s"])
def test_ten_asks_at_once_as_on_the_page(way: UnderWay, answered: int, delay: str) -> None:
    result = ask_together(10, writer(200, way), {"replies": [{**FIT, "delay": delay}]})
    assert kinds(result).count("ANSWERED") == answered
    assert kinds(result).count("DENIED") == 10 - answered
    assert f"entries {answered} total {70 * answered} " in result.report


def test_one_after_another_as_on_the_page() -> None:
    def main(program: Program) -> Body:
        for _ in range(3):
            yield from program.ask(0, YES, "a")

    result = run(main, agents=[writer(100)], test_model={"replies": [FIT]})
    assert kinds(result) == ["ANSWERED", "ANSWERED", "DENIED"]
    assert result.answers[2].text == "limit broken: tokens <= 100 per day"


def test_an_average_that_fits_runs_side_by_side() -> None:
    # At 0 s the first, alone, since no size is known; at 1 s all the others: the last with 70 + 4·70 = 350 before it.
    model = {"replies": [{**FIT, "delay": "1s"}]}
    result = ask_together(6, writer(350), model)
    assert kinds(result) == ["ANSWERED"] * 6
    assert result.out == f"{2 * SECOND}\n"
    # One token less, and the last waits for the others, which take it past the limit.
    result = ask_together(6, writer(349), model)
    assert kinds(result) == ["ANSWERED"] * 5 + ["DENIED"]
    assert result.out == f"{2 * SECOND}\n"


def test_count_counts_asks_not_tries_and_rules_record_together() -> None:
    rules = (
        Rule(RuleKind.COUNT, "count <= 2 per day", DAY, 2),
        Rule(RuleKind.TOKENS, "tokens < 300 per day", DAY, 300, strict=True),
    )
    unfit = {"text": "no"}
    model = {"replies": [unfit, unfit, unfit, unfit, FIT]}
    result = ask_together(4, Agent("A", (Limit("Ai", rules),)), model)
    # The first takes 3 tries, 210 tokens; the second 2 tries, 140; then the count refuses.
    assert sorted(kinds(result)) == ["ANSWERED", "DENIED", "DENIED", "INVALID_OUTPUT"]
    assert {answer.text for answer in result.answers if answer.kind == "DENIED"} == {"limit broken: count <= 2 per day"}
    assert "count <= 2 per day: entries 2 total 2 " in result.report
    assert "tokens < 300 per day: entries 2 total 350 " in result.report


def test_observe_refuses_nothing_and_waits_for_nothing() -> None:
    result = ask_together(10, writer(200, mode=Mode.OBSERVE), {"replies": [{**FIT, "delay": "1s"}]})
    assert kinds(result) == ["ANSWERED"] * 10
    assert result.out == f"{SECOND}\n"
    assert result.err == ""

    result = ask_together(1, writer(-1, mode=Mode.OBSERVE), {"replies": [FIT]})
    assert kinds(result) == ["ANSWERED"]
    assert result.err == "[observe] Writer: Ai: limit broken: tokens <= -1 per day\n"


def test_the_largest_estimate_is_refused_at_once() -> None:
    result = ask_together(2, writer(92, UnderWay.LARGEST), {"replies": [FIT]})
    assert kinds(result) == ["DENIED", "DENIED"]
    huge = Agent("A", writer(2**63 - 1, UnderWay.LARGEST).limits, max_tokens=2**63 - 1, asks_under_way=UnderWay.LARGEST)
    assert kinds(ask_together(2, huge, {"replies": [FIT]})) == ["DENIED", "ANSWERED"]


# ---- Tries


def test_three_unfit_answers_cost_what_they_took() -> None:
    result = ask_once({"replies": [{"text": "one"}, {"text": "two"}, {"text": "three"}], "then": "fail"})
    assert result.answers == [Answer("INVALID_OUTPUT", 0, "three")]
    assert "entries 1 total 210 " in result.report


def test_a_re_ask_says_what_the_last_answer_lacked_and_does_not_grow() -> None:
    first = "a\n\nYour last answer did not fit: answer.ok: expected `true` or `false`, found 1. Answer again"
    second = 'a\n\nYour last answer did not fit: answer: there is no field "x". Answer again'
    model = {
        "replies": [
            {"answer": {"ok": 1}},
            {"when": first, "answer": {"x": 1}},
            {"when": second, "answer": {"ok": False}},
        ],
        "then": "fail",
    }
    result = ask_once(model)
    assert result.answers == [Answer("ANSWERED", 0, '{"ok":false}', {"ok": False})]


def test_a_fence_is_removed_and_a_string_is_left_alone() -> None:
    fenced = '```json\n{"ok": true}\n```'
    assert ask_once({"replies": [{"text": fenced}]}).answers[0].value == {"ok": True}
    assert ask_once({"replies": [{"text": fenced}]}, STRING).answers[0].value == fenced


def test_a_refusal_is_one_send() -> None:
    result = ask_once({"replies": [{"stop_reason": "refusal", "text": "I won't."}], "then": "fail"})
    assert result.answers == [Answer("FAILED_ASK", 200, "refused: I won't.")]
    assert "entries 1 total 70 " in result.report


def test_an_answer_cut_off_is_never_a_value() -> None:
    for text in ('{"ok": tr', '{"ok": true}'):
        result = ask_once({"replies": [{"stop_reason": "max_tokens", "text": text}], "then": "fail"})
        assert result.answers == [Answer("INVALID_OUTPUT", 0, text)]
    cut = {"replies": [{"stop_reason": "max_tokens", "text": "half"}], "then": "fail"}
    assert ask_once(cut, STRING).answers == [Answer("INVALID_OUTPUT", 0, "half")]


def test_an_exact_integer() -> None:
    assert ask_once({"replies": [{"text": "2512292042121000001"}]}, INT).answers[0].value == 2512292042121000001
    for text in ("9223372036854775808", "1.0", "1e400", "NaN", '"5"', "-0"):
        assert kinds(ask_once({"replies": [{"text": text}]}, INT)) == ["INVALID_OUTPUT"], text


# ---- Busy


@pytest.mark.parametrize("status", [408, 429, 500, 501, 503, 520, 529, 599])
def test_a_busy_provider_gets_six_sends(status: int) -> None:
    result = ask_once({"replies": [{"status": status, "message": "busy", "times": 6}], "then": "fail"})
    assert result.answers == [Answer("FAILED_ASK", status, "busy")]
    assert result.out == f"{sum(waits([1, 2, 4, 8, 8]))}\n"
    assert "entries 0 total 0 " in result.report


def test_five_busy_answers_are_no_failure() -> None:
    assert kinds(ask_once({"replies": [{"status": 529, "times": 5}, FIT], "then": "fail"})) == ["ANSWERED"]


def test_sends_are_bounded_when_answers_are_busy_and_unfit() -> None:
    busy = {"status": 529, "times": 5}
    model = {"replies": [busy, {"text": "1"}, busy, {"text": "2"}, busy, {"text": "3"}], "then": "fail"}
    result = ask_once(model)
    assert result.answers == [Answer("INVALID_OUTPUT", 0, "3")]
    assert result.out == f"{sum(waits([1, 2, 4, 8, 8] * 3))}\n"


@pytest.mark.parametrize("status", [*{*range(400, 500)} - {401, 403, 404, 407, 408, 413, 429}])
def test_other_failures_are_sent_once(status: int) -> None:
    result = ask_once({"replies": [{"status": status}], "then": "fail"})
    assert result.answers == [Answer("FAILED_ASK", status, f"HTTP {status}")]


@pytest.mark.parametrize("code", ["enforced_spend_limit_reached", "insufficient_quota"])
def test_a_spent_quota_is_not_busy(code: str) -> None:
    result = ask_once({"replies": [{"status": 429, "error_code": code, "message": "spent"}], "then": "fail"})
    assert result.answers == [Answer("FAILED_ASK", 429, "spent")]


def test_a_dropped_connection_is_busy() -> None:
    result = ask_once({"replies": [{"drop": True, "times": 6}], "then": "fail"})
    assert result.answers == [Answer("FAILED_ASK", 0, "connection dropped")]


@pytest.mark.parametrize(
    ("value", "wait_ns"),
    [("3", 3 * SECOND), ("31536000", 60 * SECOND), *((nonsense, None) for nonsense in ("-1", "", "1e999", "soon"))],
)
def test_retry_after_raises_the_wait(value: str, wait_ns: int | None) -> None:
    result = ask_once({"replies": [{"status": 429, "headers": {"Retry-After": value}}, FIT]})
    assert kinds(result) == ["ANSWERED"]
    assert result.out == f"{wait_ns or waits([1])[0]}\n"


def test_three_hundred_asks_turned_away_together_come_back_apart() -> None:
    times: list[int] = []

    def one(program: Program) -> Body:
        yield from program.ask(0, YES, "a")
        times.append(program.now_ns())

    def main(program: Program) -> Body:
        for _ in range(300):
            program.spawn(one(program))
        yield from program.sleep(0)

    run(main, agents=[Agent("A")], test_model={"replies": [{"status": 529, "times": 300}, FIT]})
    assert len(set(times)) == 300
    assert min(times) >= SECOND // 2
    assert max(times) <= SECOND
    assert max(times) - min(times) > SECOND // 4


def test_three_hundred_asks_pass_a_capacity_of_fifty() -> None:
    result = ask_together(300, Agent("A"), {"replies": [{**FIT, "delay": "100ms"}], "capacity": 50})
    assert kinds(result) == ["ANSWERED"] * 300


# ---- Keys and dry runs


def test_without_a_key_nothing_is_asked_and_nothing_counted() -> None:
    for values in ({}, {b"ANTHROPIC_API_KEY": b""}, {b"ANTHROPIC_API_KEY": b" \t"}):
        host = MemoryHost(environment_values=values)
        result = ask_once(None, host=host, virtual_time=False)
        assert result.answers == [Answer("NO_KEY", 0, "ANTHROPIC_API_KEY")]
        assert "entries 0 " in result.report
    result = ask_once(None, agent=writer(5, provider=Provider.OPENAI), virtual_time=False)
    assert result.answers == [Answer("NO_KEY", 0, "OPENAI_API_KEY")]


def test_what_keeps_a_request_from_being_sent() -> None:
    for key, url, message in (
        (b"k\xff", b"", "the key in ANTHROPIC_API_KEY has characters that no key has"),
        (b"k\nk", b"", "the key in ANTHROPIC_API_KEY has characters that no key has"),
        (b"k", b"ftp://a", 'the base URL "ftp://a" is no http or https URL'),
    ):
        host = MemoryHost(environment_values={b"ANTHROPIC_API_KEY": key, b"ANTHROPIC_BASE_URL": url})
        assert ask_once(None, host=host, virtual_time=False).answers == [Answer("FAILED_ASK", 0, message)]


def test_a_dry_run_shows_the_prompt_and_the_sample() -> None:
    tree = RecordOf("Tree")
    tree.fields = [FieldOf("name", STRING), FieldOf("sizes", ArrayOf(INT)), FieldOf("children", ArrayOf(tree))]
    result = ask_once(
        None, tree, 'say "{x}"\n', writer(5), '{"sizes": [1], "name": "text", "children": []}', dry_run=True
    )
    assert result.answers[0].value == {"name": "text", "sizes": [1], "children": []}
    shown = 'Tree(name: "text", sizes: [1], children: [])'
    assert result.err == f'[dry run] ask("say \\"\\{{x\\}}\\"\\n") -> {shown}\n'
    assert result.report.startswith("live_blocks 0\n")
    assert "entries 0 " in result.report

    result = ask_once(None, STRING, sample="text", dry_run=True)
    assert result.answers[0].value == "text"
    assert result.err == '[dry run] ask("a") -> "text"\n'


def test_a_dry_run_is_counted_and_denied() -> None:
    agent = Agent("A", (Limit("Ai", (Rule(RuleKind.COUNT, "count <= 2 per day", DAY, 2),)),))
    result = ask_together(3, agent, None, dry_run=True)
    assert sorted(kinds(result)) == ["ANSWERED", "ANSWERED", "DENIED"]


# ---- Cancelling


@pytest.mark.parametrize(
    ("way", "answered_before", "entries"),
    [
        (UnderWay.AVERAGE, 0, "entries 1 total 93 "),
        (UnderWay.AVERAGE, 2, "entries 3 total 17 "),  # 5, 6, and their average of 5.5 rounded up
        (UnderWay.LARGEST, 0, "entries 1 total 93 "),
        (UnderWay.NOT_COUNTED, 0, "entries 0 total 0 "),
    ],
)
def test_a_cancelled_ask_leaves_its_estimate(way: UnderWay, answered_before: int, entries: str) -> None:
    before = [{**FIT, "input_tokens": tokens, "output_tokens": 0} for tokens in (5, 6)]
    model = {"replies": [*before[:answered_before], {**FIT, "delay": "10s"}]}

    def one(program: Program) -> Body:
        yield from program.ask(0, YES, "a")

    def main(program: Program) -> Body:
        for _ in range(answered_before):
            yield from program.ask(0, YES, "a")
        task = program.spawn(one(program))
        yield from program.sleep(SECOND)
        program.cancel(task)
        yield from program.wait(task)
        program.print(str(program.now_ns()))

    result = run(main, agents=[writer(1000, way)], test_model=model)
    assert entries in result.report
    assert result.out == f"{SECOND}\n"
    assert result.report.startswith("live_blocks 0\n")


def test_a_waiter_that_is_cancelled_as_it_wakes_takes_nothing_with_it() -> None:
    def one(program: Program) -> Body:
        yield from program.ask(0, YES, "a")

    def main(program: Program) -> Body:
        tasks = [program.spawn(one(program)) for _ in range(4)]
        # The first is answered in the same round in which this runs again, just before: so the others were woken.
        yield from program.sleep(SECOND)
        program.cancel(tasks[1])
        for task in tasks:
            yield from program.wait(task)

    result = run(main, agents=[writer(1000)], test_model={"replies": [{**FIT, "delay": "1s"}]})
    assert kinds(result) == ["ANSWERED"] * 3
    assert "entries 3 total 210 " in result.report
    assert result.report.startswith("live_blocks 0\n")


@pytest.mark.parametrize("after_ns", [0, 1, SECOND - 1, SECOND, SECOND + 1, 3 * SECOND])
@pytest.mark.parametrize("cancelled", [0, 1, 2])
def test_cancelling_at_any_step_leaves_no_task_behind(after_ns: int, cancelled: int) -> None:
    def one(program: Program) -> Body:
        yield from program.ask(0, YES, "a")

    def main(program: Program) -> Body:
        tasks = [program.spawn(one(program)) for _ in range(3)]
        yield from program.sleep(after_ns)
        program.cancel(tasks[cancelled])
        for task in tasks:
            yield from program.wait(task)

    for replies in ([{**FIT, "delay": "1s"}], [{"status": 529}, {**FIT, "delay": "1s"}], [{"text": "x"}, FIT]):
        result = run(main, agents=[writer(150)], test_model={"replies": replies})
        assert result.status == 0
        assert result.report.startswith("live_blocks 0\n")


# ---- The end of the program


def test_beyond_the_last_reply_the_program_stops() -> None:
    def action() -> None:
        def main(program: Program) -> Body:
            program.print("before")
            yield from program.ask(0, YES, "a")
            yield from program.ask(0, YES, 'b "{"')

        run(main, agents=[Agent("A")], test_model={"replies": [FIT], "then": "fail"})

    status, out, err = run_to_exit(action)
    assert (status, out) == (1, "before\n")
    assert err == 'error: the test model has no reply left for the prompt: "b \\"\\{\\""\n'


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"replies": [{"answr": 1}]}', 'replies[0]: unknown key "answr"'),
        (b'{"replies": [{"answer": 1, "times": "2"}]}', "replies[0].times: expected a whole number from 1 up"),
        (b"{", "no valid JSON at line 1, column 2: the text ends too early"),
    ],
)
def test_a_wrong_test_model_is_refused_before_main(content: bytes, problem: str) -> None:
    status, out, err = run_to_exit(lambda: ask_once(content))
    assert (status, out, err) == (2, "", f"error: test model model.json: {problem}\n")


def test_a_test_model_that_is_not_there_is_refused() -> None:
    class Forgetful(MemoryHost):
        def read_file(self, path: bytes) -> bytes | None:
            return None

    status, _, err = run_to_exit(lambda: ask_once(FIT, host=Forgetful()))
    assert (status, err) == (2, "error: test model model.json: cannot be read\n")
