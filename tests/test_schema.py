"""The JSON schema of an ask's type (spec 8.4.schema), written by hand from the rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kavachc.driver import Compilation
from kavachc.semantics.schema import Schema, answer_schema
from programs import kavachc

NULL = {"type": "null"}
INT = {"type": "integer"}


def schema_of(type_: str, folder: Path, declarations: str = "") -> Schema:
    program = folder / "shop.kav"
    asking = f'const x = ask<{type_}>("?") catch _ => {{ return }}'
    program.write_text(f'{declarations}\nfn main() {{\n    {asking}\n    print("{{x}}")\n}}\n')
    [(wanted, _)] = Compilation(str(program)).program.asks
    return answer_schema(wanted)


def record(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


def assert_written(schema: Schema, way: str, node: Any) -> None:
    """The text is compact, and its keys stand in the order of `node`."""
    assert (schema.way, schema.text) == (way, json.dumps(node, separators=(",", ":"), ensure_ascii=False))


def test_free_text_has_none(tmp_path: Path) -> None:
    assert schema_of("String", tmp_path) == Schema("", "none")


@pytest.mark.parametrize(
    ("type_", "node"),
    [
        ("Int", INT),
        ("Float", {"type": "number"}),
        ("Bool", {"type": "boolean"}),
        ("[String]", {"type": "array", "items": {"type": "string"}}),
        ("Int?", {"anyOf": [INT, NULL]}),
        ("Int??", {"anyOf": [INT, NULL]}),
        ("[Int?]", {"type": "array", "items": {"anyOf": [INT, NULL]}}),
    ],
)
def test_what_is_no_object_is_wrapped(type_: str, node: Any, tmp_path: Path) -> None:
    assert_written(schema_of(type_, tmp_path), "wrapped", record(answer=node))


def test_a_record_is_an_object_with_what_its_comments_say(tmp_path: Path) -> None:
    written = """
        /// A person,
        /// as the law has it.
        type Person {
            /// First \\ "last".
            name: String
            age: Int?
            /// Where.
            home: Place
            work: Place?
        }
        /// On Earth.
        type Place { town: String }
    """
    place = {"description": "On Earth.", **record(town={"type": "string"})}
    node = {
        "description": "A person,\nas the law has it.",
        **record(
            name={"description": 'First \\ "last".', "type": "string"},
            age={"anyOf": [INT, NULL]},
            home={"description": "Where.\nOn Earth.", **record(town={"type": "string"})},
            work={"anyOf": [place, NULL]},
        ),
    }
    assert_written(schema_of("Person", tmp_path, written), "structured", node)


def test_the_rules_of_fields_are_told(tmp_path: Path) -> None:
    written = (
        "type P {\n    /// In years.\n    age: Int = 1 where age > 0 &&\n        age < 150\n    n: Int where n != 5\n}"
    )
    age = {"description": "In years.\nMust hold: age > 0 && age < 150", "type": "integer"}
    node = record(age=age, n={"description": "Must hold: n != 5", "type": "integer"})
    assert_written(schema_of("P", tmp_path, written), "structured", node)


def test_a_date_is_text_of_that_format(tmp_path: Path) -> None:
    written = "type Invoice {\n    /// The last day.\n    due: Date\n    from: Date\n    paid: Date?\n}"
    date = {"type": "string", "format": "date"}
    node = record(due={"description": "The last day.", **date}, **{"from": date}, paid={"anyOf": [date, NULL]})
    assert_written(schema_of("Invoice", tmp_path, written), "structured", node)
    assert_written(schema_of("Date", tmp_path, ""), "wrapped", record(answer=date))


def test_sums_are_names_and_objects_with_one_key(tmp_path: Path) -> None:
    assert_written(
        schema_of("Mood", tmp_path, "/// How.\ntype Mood =\n    Calm\n    /// Very.\n    | Angry\n"),
        "wrapped",
        record(answer={"description": "How.\nAngry: Very.", "type": "string", "enum": ["Calm", "Angry"]}),
    )
    written = (
        "type Shape =\n    Point\n    /// Round.\n    | Circle(radius: Float)\n    /// Not there.\n    | Nothing\n"
    )
    names = {"description": "Nothing: Not there.", "type": "string", "enum": ["Point", "Nothing"]}
    circle = {"description": "Round.", **record(Circle=record(radius={"type": "number"}))}
    assert_written(schema_of("Shape", tmp_path, written), "wrapped", record(answer={"anyOf": [names, circle]}))
    only = schema_of("Only", tmp_path, "type Only = Yes(sure: Bool)")
    assert_written(only, "structured", record(Yes=record(sure={"type": "boolean"})))


def test_an_application_has_its_arguments(tmp_path: Path) -> None:
    schema = schema_of("Pair<Int>", tmp_path, "type Pair<T> { first: T, all: [T] }")
    assert_written(schema, "structured", record(first=INT, all={"type": "array", "items": INT}))


def test_maps_and_tuples_go_into_the_prompt(tmp_path: Path) -> None:
    of_map = schema_of("[String: Int]", tmp_path)
    assert_written(of_map, "prompt", {"type": "object", "additionalProperties": INT})
    assert of_map.reason == "`[String: Int]` is a map, whose keys are not known before"
    pair = {"type": "array", "prefixItems": [INT, {"type": "string"}], "minItems": 2, "maxItems": 2}
    assert_written(schema_of("(Int, String)", tmp_path), "prompt", pair)
    # What stands in two places is written once.
    written = "type Both { pair: (Place, Place) }\ntype Place { town: String }"
    reference = {"$ref": "#/$defs/Place"}
    pair = {"type": "array", "prefixItems": [reference, reference], "minItems": 2, "maxItems": 2}
    node = {**record(pair=pair), "$defs": {"Place": record(town={"type": "string"})}}
    assert_written(schema_of("Both", tmp_path, written), "prompt", node)


def test_what_holds_itself_goes_into_the_prompt(tmp_path: Path) -> None:
    schema = schema_of("List", tmp_path, "/// A list.\ntype List {\n    /// The rest.\n    next: List?\n}")
    inner = {"description": "The rest.", "anyOf": [{"$ref": "#/$defs/List"}, NULL]}
    node = {"$ref": "#/$defs/List", "$defs": {"List": {"description": "A list.", **record(next=inner)}}}
    assert_written(schema, "prompt", node)
    assert schema.reason == "`List` holds itself"
    tree = {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
    node = {**tree, "$defs": {"Tree": record(below=tree)}}
    assert_written(schema_of("[Tree]", tmp_path, "type Tree { below: [Tree] }"), "prompt", node)


def fields(count: int, type_: str) -> str:
    return ", ".join(f"f{number}: {type_}" for number in range(count))


@pytest.mark.parametrize(
    ("inside", "outside", "reason"),
    [
        (fields(16, "Int?"), fields(17, "Int?"), "17 places with a choice (`?` is one), and providers take at most 16"),
        (fields(8, "Two"), fields(9, "Two"), "18 places with a choice (`?` is one), and providers take at most 16"),
        (fields(100, "Ten"), fields(101, "Ten"), "1010 names of variants, and providers take at most 1000"),
        (fields(1, "D9"), fields(1, "D10"), "11 levels of objects, and providers take at most 10"),
        (
            fields(10, "Long"),
            fields(11, "Long"),
            "131033 characters in names of fields and variants, and providers take at most 120000",
        ),
        (
            fields(1, "Fewer"),
            fields(1, "Many"),
            "15060 characters in so many names of one sum, and providers take at most 15000",
        ),
        (fields(44, "Wide"), fields(50, "Wide"), "5100 fields, and providers take at most 5000"),
    ],
)
def test_the_bounds_of_structured_output(inside: str, outside: str, reason: str, tmp_path: Path) -> None:
    shared = "type Two { a: Int?, b: Either }\ntype Either = A | B(x: Int)\n"
    shared += f"type Wide {{ {', '.join(f'w{number}: Int' for number in range(101))} }}\n"
    long = "a" * 1190
    shared += f"type Long {{ {', '.join(f'{long}{number}: Int' for number in range(10))} }}\n"
    for name, count in (("Fewer", 250), ("Many", 251)):
        shared += f"type {name} = {' | '.join(f'V{number:03}{name[0] * 56}' for number in range(count))}\n"
    shared += f"type Ten = {' | '.join(f'V{number}' for number in range(10))}\ntype D1 {{ a: Int }}\n"
    shared += "".join(f"type D{number} {{ a: D{number - 1} }}\n" for number in range(2, 11))
    assert schema_of("T", tmp_path, f"{shared}type T {{ {inside} }}").way == "structured"
    schema = schema_of("T", tmp_path, f"{shared}type T {{ {outside} }}")
    assert (schema.way, schema.reason) == ("prompt", f"it has {reason}")


def test_a_type_that_stands_everywhere_does_not_explode(tmp_path: Path) -> None:
    doubling = "".join(f"type D{number} {{ a: D{number - 1}, b: D{number - 1} }}\n" for number in range(1, 60))
    schema = schema_of("D59", tmp_path, f"type D0 {{ a: Int }}\n{doubling}")
    assert schema.way == "prompt"
    assert len(schema.text) < 20_000


def test_the_command_says_which_asks_fall_back(tmp_path: Path) -> None:
    schema_of("[String: Int]", tmp_path)
    ended = kavachc("check", "--verbose", str(tmp_path / "shop.kav"))
    assert (ended.returncode, ended.stdout) == (0, "")
    first, _ = ended.stderr.split("\n", 1)
    reason = "`[String: Int]` is a map, whose keys are not known before"
    assert first == f"note: the schema for `ask<[String: Int]>` goes into the prompt: {reason}"
    assert kavachc("check", str(tmp_path / "shop.kav")).stderr == ""
