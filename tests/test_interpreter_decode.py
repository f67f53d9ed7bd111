"""A model's answer checked against its type (spec 8.4.strict), and the scripted model's file (spec 8.4.script)."""

from __future__ import annotations

import pytest
from kavachc.interpreter.decode import Misfit, decode_answer, fitting_json, no_rules
from kavachc.interpreter.replies import Dropped, ModelAnswer, ModelFailure, Usage
from kavachc.interpreter.samples import sample_of
from kavachc.interpreter.scripted_model import ScriptError, read_script
from kavachc.interpreter.show import show
from kavachc.semantics.types import (
    BOOL,
    FLOAT,
    INT,
    STRING,
    ArrayType,
    FieldInfo,
    RecordType,
    SumType,
    Type,
    VariantInfo,
)
from kavachc.source import SourceFile, Span

SPAN = Span(SourceFile("a.kav", ""), 0, 0)


def fitting(text: str, wanted: Type) -> str:
    return fitting_json(text, wanted, no_rules)


def fields(**types: Type) -> list[FieldInfo]:
    return [FieldInfo(name, field_type, False, None, SPAN) for name, field_type in types.items()]


ITEM = RecordType("Item", SPAN, None, fields(id=INT, name=STRING))
COLOUR = SumType("Colour", SPAN, None, [VariantInfo("Red", (), None, SPAN), VariantInfo("Blue", (), None, SPAN)])
SHAPE = SumType(
    "Shape",
    SPAN,
    None,
    [VariantInfo("Circle", tuple(fields(radius=FLOAT)), None, SPAN), VariantInfo("Dot", (), None, SPAN)],
)
TREE = RecordType("Tree", SPAN, None)
TREE.fields = fields(children=ArrayType(TREE))


@pytest.mark.parametrize(
    ("text", "wanted", "shown"),
    [
        ("5", INT, "5"),
        (" -9223372036854775808 ", INT, "-9223372036854775808"),
        ("2512292042121000001", INT, "2512292042121000001"),
        ("1", FLOAT, "1.0"),
        ("-0", FLOAT, "-0.0"),
        ("1e2", FLOAT, "100.0"),
        ("true", BOOL, "true"),
        ('"a\\ud83d\\ude00"', ArrayType(STRING), None),
        ('["a\\ud83d\\ude00"]', ArrayType(STRING), '["a😀"]'),
        ('{"name": "x", "id": 1}', ITEM, 'Item(id: 1, name: "x")'),
        ('"Blue"', COLOUR, "Blue"),
        ('"Dot"', SHAPE, "Dot"),
        ('{"Dot": {}}', SHAPE, "Dot"),
        ('{"Circle": {"radius": 2}}', SHAPE, "Circle(radius: 2.0)"),
        ('```json\n{"name": "a ``` b", "id": 1}\n```', ITEM, 'Item(id: 1, name: "a ``` b")'),
        ("```\n5\n```", INT, "5"),
        ("  ``` json\r\n5\r\n```  ", INT, "5"),
        # None: does not fit.
        ("1.0", INT, None),
        ("1e2", INT, None),
        ("-0", INT, None),
        ('"5"', INT, None),
        ("9223372036854775808", INT, None),
        ("9" * 5_000, INT, None),
        ("01", INT, None),
        ("1e400", FLOAT, None),
        ("NaN", FLOAT, None),
        ("-Infinity", FLOAT, None),
        ("1", BOOL, None),
        ("null", BOOL, None),
        ('["\\ud83d"]', ArrayType(STRING), None),
        ('["a\nb"]', ArrayType(STRING), None),
        ("5 6", INT, None),
        ("", INT, None),
        ('{"id": 1, "name": "x", "id": 2}', ITEM, None),
        ('{"id": 1}', ITEM, None),
        ('{"id": 1, "name": "x", "more": 2}', ITEM, None),
        ('[1, "x"]', ITEM, None),
        ('"blue"', COLOUR, None),
        ('{"Blue": {}}', COLOUR, None),
        ('{"Circle": {"radius": 2}, "Dot": {}}', SHAPE, None),
        ('"Circle"', SHAPE, None),
        ("````\n5\n````", INT, None),
        ("```5```", INT, None),
        ("text ```\n5\n```", INT, None),
    ],
)
def test_an_answer_fits_exactly_or_not_at_all(text: str, wanted: Type, shown: str | None) -> None:
    if shown is None:
        with pytest.raises(Misfit):
            fitting(text, wanted)
    else:
        assert show(decode_answer(fitting(text, wanted), wanted, no_rules), wanted) == shown


def test_a_string_is_the_text_as_it_stands() -> None:
    assert decode_answer(fitting("```\n5\n```", STRING), STRING, no_rules) == "```\n5\n```"


def nested_tree(depth: int) -> str:
    """`depth` objects and as many arrays inside one another."""
    return '{"children":[' * depth + "]}" * depth


def test_nesting_beyond_128_does_not_fit() -> None:
    fitting(nested_tree(64), TREE)
    for depth in (65, 100_000):
        with pytest.raises(Misfit):
            fitting(nested_tree(depth), TREE)
    with pytest.raises(Misfit):
        fitting("[" * 1_000_000, ArrayType(INT))
    assert fitting('["[[[[' + "[" * 500 + '"]', ArrayType(STRING))


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        (INT, "1"),
        (STRING, "text"),
        (ITEM, 'Item(id: 1, name: "text")'),
        (ArrayType(COLOUR), "[Red]"),
        (SHAPE, "Circle(radius: 1.0)"),
        (TREE, "Tree(children: [])"),
    ],
)
def test_the_sample_of_a_type_is_its_first_legal_value(wanted: Type, shown: str) -> None:
    sample = sample_of(wanted, no_rules, lambda _rule, _arguments: None)
    assert sample.text is not None
    assert show(decode_answer(sample.text, wanted, no_rules), wanted) == shown


def test_a_script_is_read_exactly() -> None:
    script = read_script(
        '{"replies": [{"answer": {"a" : 1.0, "b": "é\\n"}, "input_tokens": 1, "output_tokens": 2},'
        '{"status": 429, "headers": {"Retry-After": "3"}, "message": "m", "error_code": "c", "times": 2},'
        '{"drop": true, "delay": "50ms"}, {"text": "", "stop_reason": "refusal", "when": "cat"}],'
        '"then": "fail", "capacity": [[0, 50], ["2s", 7]]}'
    )
    assert [reply.reply for reply in script.replies] == [
        ModelAnswer('{"a":1.0,"b":"é\\n"}', "complete", Usage(1, 2)),
        ModelFailure(429, "m", "c", "3"),
        Dropped(),
        ModelAnswer("", "refusal", Usage(60, 10)),
    ]
    assert script.replies[1].times_left == 2
    assert script.replies[2].delay_ns == 50_000_000
    assert script.capacity_at(1_999_999_999) == 50
    assert script.capacity_at(2_000_000_000) == 7
    taken = [script.next("a cat"), script.next("a cat"), script.next(""), script.next(""), script.next(""), None]
    indexes = [3, 0, 1, 1, 2]
    assert taken == [*(script.replies[index] for index in indexes), None]
    assert script.next("a cat") is None


def test_the_last_reply_repeats() -> None:
    script = read_script('{"replies": [{"text": "a"}, {"text": "b"}, {"text": "c", "when": "cat"}]}')
    taken = [script.next("x") for _ in range(4)]
    assert [reply and reply.reply for reply in taken] == [
        ModelAnswer(text, "complete", Usage(60, 10)) for text in ("a", "b", "b", "b")
    ]
    assert read_script('{"replies": []}').next("x") is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", 'the key "replies" is missing'),
        ("[]", "expected an object"),
        ('{"replies": [], "foo": 1}', 'unknown key "foo"'),
        ('{"replies": 5}', "replies: expected an array of replies"),
        ('{"replies": [{"statuss": 1}]}', 'replies[0]: unknown key "statuss"'),
        ('{"replies": [{"status": 200}]}', "replies[0].status: expected a whole number from 400 to 599"),
        ('{"replies": [{}]}', 'replies[0]: needs exactly one of "answer", "text", "status" and "drop"'),
        ('{"replies": [{"drop": false}]}', "replies[0].drop: expected true"),
        ('{"replies": [{"text": 5}]}', "replies[0].text: expected a text"),
        ('{"replies": [{"text": "", "times": 0}]}', "replies[0].times: expected a whole number from 1 up"),
        ('{"replies": [{"text": "", "delay": "5 s"}]}', 'replies[0].delay: expected a duration such as "50ms"'),
        ('{"replies": [{"text": "", "text": ""}]}', "replies[0].text: the key is given twice"),
        ('{"replies": [{"text": "", "message": "m"}]}', 'replies[0]: "message" goes with "status" only'),
        ('{"replies": [], "then": "stop"}', 'then: expected "repeat_last" or "fail"'),
        (
            '{"replies": [], "capacity": [[0, 5], [0, 6]]}',
            "capacity: expected a number, or a list of [time, number] with ascending times",
        ),
        ('{"replies": [], "capacity": [[1, 5]]}', 'capacity: expected 0, or a text such as "2s"'),
    ],
)
def test_what_is_wrong_with_a_script_is_named_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(ScriptError) as raised:
        read_script(text)
    assert str(raised.value) == problem
