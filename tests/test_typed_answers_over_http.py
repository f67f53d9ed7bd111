"""Answers of every kind of type over HTTP: the schema that is sent is one that the provider takes, and the same value
comes back whatever way it went (spec 8.4.schema)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from http_programs import ENGINES, Run, runner
from serving import serving

# Type, answers that mean the same, what the program shows, and how the schema goes.
CASES: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("Int", ("7", '{"answer":7}', '{ "answer" : 7 }', "```json\n7\n```"), "7", "wrapped"),
    ("Bool", ("true", '{"answer":true}'), "true", "wrapped"),
    ("[Float]", ("[1,2.5]", '{"answer":[1,2.5]}'), "[1.0, 2.5]", "wrapped"),
    ("Int?", ("null", '{"answer":null}'), "none", "wrapped"),
    ("Mood", ('"Good"', '{"answer":"Good"}'), "Good", "wrapped"),
    (
        "Shape",
        ('{"Round":{"radius":2}}', '{"answer":{"Round":{"radius":2}}}'),
        "Round(radius: 2.0)",
        "wrapped",
    ),
    ("[Shape]", ('["Point",{"Round":{"radius":2}}]',), "[Point, Round(radius: 2.0)]", "wrapped"),
    (
        "Person",
        ('{"name":"a","age":null,"moods":["Bad"]}', '{"moods":["Bad"],"name":"a"}'),
        'Person(name: "a", age: none, moods: [Bad])',
        "structured",
    ),
    ("Boxed", ('{"answer":7}',), "Boxed(answer: 7)", "structured"),
    ("(Int, String)", ('[1,"a"]',), '(1, "a")', "prompt"),
    ("[String: Int]", ('{"a":1}', '{\n"a": 1}'), '["a": 1]', "prompt"),
    ("[String: Int]", ('{"answer":1}',), '["answer": 1]', "prompt"),
    (
        "Tree",
        ('{"value":1,"children":[{"value":2,"children":[]}]}',),
        "Tree(value: 1, children: [Tree(value: 2, children: [])])",
        "prompt",
    ),
    ("String", ("7", "7"), "7", "none"),
)
PROMPT = "\n\nAnswer with JSON only, which fits this JSON schema:\n"


TYPES = """
/// How it feels.
type Mood = Good | Bad
type Shape = Point | Round(radius: Float) | Square(side: Float)
type Person {
    /// "Her" name
    name: String
    age: Int?
    moods: [Mood]
}
type Boxed { answer: Int }
type Tree { value: Int, children: [Tree] }
"""


def handler(number: int) -> str:
    type_, answers, _, _ = CASES[number]
    ask = f'print("{{try ask<{type_}>("<{number}>")}}")'
    return f"    on ask{number}() ! AiError {{ for _ in 0..{len(answers)} {{ {ask} }} }}\n"


def agent(name: str, provider: str) -> str:
    model = f'model Model(name: "m", provider: Provider.{provider}, timeout: 20s)'
    handlers = "".join(handler(number) for number in range(len(CASES)))
    return f"agent {name} {{\n    {model}\n    can Ai, Console\n{handlers}}}\n"


def program() -> str:
    agents = agent("Claude", "Anthropic") + agent("Gpt", "OpenAi")
    calls = "".join(f"    try a.ask{number}()\n    try b.ask{number}()\n" for number in range(len(CASES)))
    start = "    const a = Claude.start()\n    const b = Gpt.start()\n"
    return f"{TYPES}{agents}fn main() ! AiError {{\n{start}{calls}}}\n"


@pytest.fixture(scope="module", params=ENGINES)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return runner(str(request.param), program(), tmp_path_factory.mktemp("typed"))


def test_every_kind_of_type_in_both_formats(run: Run) -> None:
    replies: list[dict[str, Any]] = [
        {"text": answer, "when": f"<{number}>"} for number, case in enumerate(CASES) for answer in case[1] * 2
    ]
    with serving({"replies": replies}) as server:
        urls = {"ANTHROPIC_BASE_URL": server.url, "OPENAI_BASE_URL": server.url}
        ran = run(ANTHROPIC_API_KEY="k", OPENAI_API_KEY="k", **urls)
        shown = [case[2] for case in CASES for _ in range(2 * len(case[1]))]
        assert (ran.out.splitlines(), ran.err, ran.status) == (shown, "", 0)
        ways = [case[3] for case in CASES for _ in range(2 * len(case[1]))]
        for entry, way in zip(server.log(), ways, strict=True):
            assert (entry["status"], entry["has_schema"]) == (200, way in ("structured", "wrapped")), entry
            _, separator, schema = entry["prompt"].partition(PROMPT)
            assert bool(separator) == (way == "prompt")
            if separator:
                assert isinstance(json.loads(schema), dict)
