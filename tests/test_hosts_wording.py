"""The two hosts say the same: the note of a re-ask (spec 8.4.note), and what is wrong with a test model
(spec 8.4.script-invalid)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kavachc.bindings.descriptors import INT, Agent, Description
from kavachc.interpreter import decode, json_text
from kavachc.interpreter.decode import Misfit, fitting_json, no_rules
from kavachc.interpreter.scripted_model import ScriptError, read_script
from native_program import Body, Program, run, run_to_exit
from test_hosts_agree import NOISE, SCRAPS, WANTED, answers, model_type

FAILED = {"status": 400, "message": "other words"}


def re_ask_prompt(prompt: str, note: str) -> str:
    return f"{prompt}\n\nYour last answer did not fit: {note}. Answer again with the JSON value only."


def note_of(text: str, wanted: Description) -> str | None:
    """What the plain-Python host says of an answer; None when it fits."""
    try:
        fitting_json(text, model_type(wanted, {}), no_rules)
    except Misfit as misfit:
        return str(misfit)
    return None


def native_answers(text: str, wanted: Description, note: str | None) -> list[str]:
    """How an ask ends on the native host whose first answer is `text`, and whose second is a refusal, by a text that
    tells whether the re-ask's prompt held the note."""
    by_note: list[dict[str, Any]] = []
    if note is not None:
        by_note = [{"when": re_ask_prompt("a", note), "text": "", "stop_reason": "refusal"}]
    script = {"replies": [{"text": text}, FAILED, *by_note]}

    def main(program: Program) -> Body:
        yield from program.ask(0, wanted, "a")

    return [f"{each.kind} {each.text}" for each in run(main, agents=[Agent("A")], test_model=script).answers]


def assert_same_note(text: str, wanted: Description) -> None:
    note = note_of(text, wanted)
    ended = native_answers(text, wanted, note)
    if note is None:
        assert ended[0].startswith("ANSWERED ")
    else:
        assert ended == ["FAILED_ASK refused"], f"the native host says something other than: {note}"


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(answers())
def test_notes_of_answers_that_almost_fit(answer: tuple[Description, str]) -> None:
    wanted, text = answer
    assert_same_note(text, wanted)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(WANTED),
    st.lists(st.sampled_from([*SCRAPS, *NOISE, "\\", "u00", '"a"', "true", "nul", "é" * 50, "\U0001f600"])).map(
        "".join
    ),
)
def test_notes_of_any_text(wanted: Description, text: str) -> None:
    assert_same_note(text, wanted)


def test_notes_of_deep_answers() -> None:
    for depth in (127, 128, 129, 5000):
        for text in ("[" * depth, "[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
            for wanted in WANTED:
                assert_same_note(text, wanted)


def test_the_comparison_sees_other_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same_note('"5"', INT)
    assert_same_note("5 x", INT)
    monkeypatch.setattr(decode, "NOT_AN_INT", "an Int")
    with pytest.raises(AssertionError):
        assert_same_note('"5"', INT)
    monkeypatch.setattr(json_text, "MORE_TEXT", "more")
    with pytest.raises(AssertionError):
        assert_same_note("5 x", INT)


# ---- Test models that are not valid

KEYS: dict[str, list[Any]] = {
    "answer": [{"a": [1.5, None]}, "x"],
    "text": ["x", 5, None],
    "status": [400, 599, 600, 399, "400", 4.5, True],
    "drop": [True, False, 1],
    "input_tokens": [0, 5, -1, 2**63, "5"],
    "output_tokens": [1, 1.0],
    "stop_reason": ["refusal", "end_turn", "other", 5],
    "headers": [{"Retry-After": "3"}, {"a": 5}, [], "x"],
    "message": ["m", 5],
    "error_code": ["c", {}],
    "delay": ["5s", "0007ms", "5 s", "9999999999999d", "00000000000000000000005s", "s", "5", 5],
    "times": [1, 0, 3, "3"],
    "when": ["w", "", 5],
    "other": [1, {"a": 1}],
}
SPELLINGS = {"true": "tru", '"': "'", ",": ",,", ":": "", "{": "[", "}": "", "4": "04", "s": "\\ud83d", "5": "\\u005"}
steps = st.lists(
    st.lists(st.sampled_from([0, "1s", "2s", 5, "x", True, -1, None]), max_size=3) | st.sampled_from([5, "x"]),
    max_size=3,
)


@st.composite
def models(draw: st.DrawFn) -> str:
    """A test model, most often with something wrong in it."""
    names = st.sampled_from(list(KEYS))
    reply = st.lists(names, max_size=3).map(
        lambda chosen: [(name, draw(st.sampled_from(KEYS[name]))) for name in chosen]
    )
    replies = draw(st.lists(reply, max_size=3))
    parts = [f'"replies": [{", ".join(_object(each) for each in replies)}]']
    parts += draw(st.lists(st.sampled_from(['"then": "fail"', '"then": 5', '"then": "x"', '"foo": 1', '"replies": 5'])))
    if draw(st.booleans()):
        parts.append(f'"capacity": {json.dumps(draw(steps | st.sampled_from([5, -1, "x"])))}')
    text = f"{{{', '.join(draw(st.permutations(parts)))}}}"
    if draw(st.booleans()):
        old, new = draw(st.sampled_from(list(SPELLINGS.items())))
        at = text.find(old, draw(st.integers(0, len(text))))
        text = text if at < 0 else text[:at] + new + text[at + len(old) :]
    return text


def _object(members: list[tuple[str, Any]]) -> str:
    return f"{{{', '.join(f'{json.dumps(name)}: {json.dumps(value)}' for name, value in members)}}}"


def problem_of(text: str) -> str | None:
    try:
        read_script(text)
    except ScriptError as problem:
        return str(problem)
    return None


def no_body(_: Program) -> Body:
    return
    yield


def assert_same_problem(text: str) -> None:
    problem = problem_of(text)
    ended = run_to_exit(lambda: run(no_body, test_model=text.encode(), agents=[]))
    if problem is None:
        assert ended == (99, "", "")  # It ran, and was not ended.
    else:
        assert ended == (2, "", f"error: test model model.json: {problem}\n")


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(models())
def test_test_models_that_are_not_valid(text: str) -> None:
    assert_same_problem(text)


DEEP = "[" * 128 + "]" * 128


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ufeff{}",
        "[]",
        '{"replies": [{"answer": "\\ud83d"}]}',
        '{"replies": [{"text": "\\ud83d"}]}',
        '{"replies": [{"\\ud83d": 1}]}',
        '{"\\ud83d": 1}',
        '{"replies": [{"status": 400, "headers": {"\\udc00": "a"}}]}',
        '{"replies": [{"drop": true}],\n "é\U0001f600": tru}',
        '{"replies": [{"answer": %s}]}' % DEEP,  # noqa: UP031 - braces
        '{"replies": [{"answer": [%s]}]}' % DEEP,  # noqa: UP031
        '{"replies": [], "then": %s}' % DEEP,  # noqa: UP031
        '{"replies": [], "then": [[[%s]]]}' % DEEP,  # noqa: UP031
    ],
)
def test_test_models_at_the_edges(text: str) -> None:
    assert_same_problem(text)


def test_the_comparison_sees_another_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "NO_VALUE", "no value")
    with pytest.raises(AssertionError):
        assert_same_problem('{"replies": [nonsense]}')
