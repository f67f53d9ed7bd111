"""`json.encode` and `json.decode`, over generated types and values: what is written is what Python's reader finds, and
is read back as the same value, on every engine (spec 10.json)."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kavachc.interpreter.decode import Misfit, decode, duration_of, instant_of, no_rules
from kavachc.interpreter.json_library import encode
from kavachc.interpreter.json_text import quote_json
from kavachc.interpreter.show import show_duration, show_instant
from kavachc.interpreter.values import ArrayValue
from kavachc.semantics.types import FLOAT, INT, STRING, ArrayType
from programs import kavachc

TEXTS = ["", "a", 'q"\\', "line\nbreak\t", "\x01\x1f\x7f", "é€😀", "{}[],:", "null"]
INTS = [0, 1, -1, 2**63 - 1, -(2**63), 10**18, 42]
FLOATS = [0.0, -0.0, 1.0, 0.1, -2.5, 1e16, 1.5e300, 1e-7, 5e-324, 123456.789]
DURATIONS = ["0s", "90s", "-1500ms", "7ns", "2h", "-1d"]


@dataclass
class Made:
    """A value as Kavach text, and as Python reads its JSON."""

    text: str
    plain: Any


@dataclass
class Generator:
    """Types with their declarations, and values of them."""

    random: random.Random
    declarations: list[str] = field(default_factory=list)

    def type(self, depth: int) -> tuple[str, Any]:
        """A type's text, and what makes a value of it."""
        kinds = ["Int", "Float", "Bool", "String", "Duration"]
        if depth > 0:
            kinds += ["array", "map", "pairs", "tuple", "optional", "record", "sum"] * 2
        found: tuple[str, Any] = getattr(self, f"_{self.random.choice(kinds).lower()}")(depth)
        return found

    def _int(self, _: int) -> tuple[str, Any]:
        return "Int", lambda: self._plain(self.random.choice(INTS))

    def _float(self, _: int) -> tuple[str, Any]:
        return "Float", lambda: self._plain(self.random.choice(FLOATS))

    def _bool(self, _: int) -> tuple[str, Any]:
        return "Bool", lambda: Made(*self.random.choice([("true", True), ("false", False)]))

    def _string(self, _: int) -> tuple[str, Any]:
        return "String", lambda: self._text(self.random.choice(TEXTS))

    def _duration(self, _: int) -> tuple[str, Any]:
        def make() -> Made:
            chosen = self.random.choice(DURATIONS)
            return Made(chosen, chosen)

        return "Duration", make

    @staticmethod
    def _plain(value: int | float) -> Made:
        text = repr(value).replace("e+", "e") if isinstance(value, float) else str(value)
        return Made(text, value)

    @staticmethod
    def _text(value: str) -> Made:
        escapes = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\", "{": "\\{", "}": "\\}"}
        inside = "".join(escapes.get(c) or (c if c >= " " and c != "\x7f" else f"\\u{{{ord(c):x}}}") for c in value)
        return Made(f'"{inside}"', value)

    def _array(self, depth: int) -> tuple[str, Any]:
        kind, element = self.type(depth - 1)

        def make() -> Made:
            items = [element() for _ in range(self.random.randrange(3))]
            return Made(f"[{', '.join(item.text for item in items)}]", [item.plain for item in items])

        return f"[{kind}]", make

    def _map(self, depth: int) -> tuple[str, Any]:
        kind, element = self.type(depth - 1)

        def make() -> Made:
            keys = self.random.sample(TEXTS, self.random.randrange(3))
            entries = [(self._text(key), element()) for key in keys]
            text = ", ".join(f"{key.text}: {value.text}" for key, value in entries)
            return Made(f"[{text}]" if entries else "[:]", {key.plain: value.plain for key, value in entries})

        return f"[String: {kind}]", make

    def _pairs(self, depth: int) -> tuple[str, Any]:
        kind, element = self.type(depth - 1)

        def make() -> Made:
            keys = self.random.sample(INTS, self.random.randrange(3))
            entries = [(key, element()) for key in keys]
            text = ", ".join(f"({key}, true): {value.text}" for key, value in entries)
            return Made(f"[{text}]" if entries else "[:]", [[[key, True], value.plain] for key, value in entries])

        return f"[(Int, Bool): {kind}]", make

    def _tuple(self, depth: int) -> tuple[str, Any]:
        parts = [self.type(depth - 1) for _ in range(2 + self.random.randrange(2))]

        def make() -> Made:
            items = [part() for _, part in parts]
            return Made(f"({', '.join(item.text for item in items)})", [item.plain for item in items])

        return f"({', '.join(kind for kind, _ in parts)})", make

    def _optional(self, depth: int) -> tuple[str, Any]:
        kind, element = self.type(depth - 1)
        if kind.endswith("?"):
            return kind, element

        def make() -> Made:
            return element() if self.random.random() < 0.7 else Made("none", None)

        return f"{kind}?", make

    def _record(self, depth: int) -> tuple[str, Any]:
        fields = [self.type(depth - 1) for _ in range(self.random.randrange(4))]
        name = f"R{len(self.declarations)}"
        self.declarations.append(
            f"type {name} {{ {', '.join(f'f{n}: {kind}' for n, (kind, _) in enumerate(fields))} }}"
        )
        return name, lambda: self._made(name, fields)

    def _made(self, head: str, fields: list[tuple[str, Any]]) -> Made:
        items = [part() for _, part in fields]
        plain = {f"f{number}": item.plain for number, item in enumerate(items)}
        return Made(f"{head}({', '.join(item.text for item in items)})", plain)

    def _sum(self, depth: int) -> tuple[str, Any]:
        fields = [self.type(depth - 1) for _ in range(1 + self.random.randrange(2))]
        name = f"S{len(self.declarations)}"
        inside = ", ".join(f"f{number}: {kind}" for number, (kind, _) in enumerate(fields))
        self.declarations.append(f"type {name} = Bare | Full({inside})")

        def make() -> Made:
            if self.random.random() < 0.3:
                return Made(f"{name}.Bare", "Bare")
            made = self._made(f"{name}.Full", fields)
            return Made(made.text, {"Full": made.plain})

        return name, make


@pytest.mark.parametrize("seed", range(3))
def test_what_is_written_is_read_back_on_every_engine(seed: int, tmp_path: Path) -> None:
    generator = Generator(random.Random(seed))
    lines: list[str] = []
    plain: list[Any] = []
    for number in range(25):
        kind, make = generator.type(3)
        made = make()
        plain.append(made.plain)
        lines += [f"    const v{number}: {kind} = {made.text}", f"    const t{number} = json.encode(v{number})"]
        back = f"json.decode<{kind}>(t{number})"
        lines += [f"    print(t{number})", f"    print(({back} catch _ => v{number}) == v{number})"]
        lines += [f"    print(json.encode({back} catch _ => {{ panic{number}() }}) == t{number})"]
        generator.declarations.append(f"fn panic{number}() -> {kind} {{\n    assert false\n}}")
    program = tmp_path / "shop.kav"
    declarations = "\n".join(generator.declarations)
    program.write_text(f"{declarations}\n\nfn main() {{\n" + "\n".join(lines) + "\n}\n")
    ran = kavachc("interp", str(program))
    assert ran.returncode == 0, ran.stderr
    printed = ran.stdout.splitlines()
    assert printed[1::3] == printed[2::3] == ["true"] * len(plain)
    for text, expected in zip(printed[::3], plain, strict=True):
        read = json.loads(text)
        assert read == expected
        assert repr(read) == repr(expected), "so that -0.0 is told from 0.0, and 1 from 1.0"
        if "." not in text and "e" not in text:
            assert text == json.dumps(expected, ensure_ascii=False, separators=(",", ":"))
    conform = kavachc("conform", str(program))
    assert conform.returncode == 0, conform.stdout + conform.stderr


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_texts_are_written_as_python_writes_them(text: str) -> None:
    assert quote_json(text) == json.dumps(text, ensure_ascii=False)
    assert decode(quote_json(text), STRING, no_rules) == text


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_floats_are_read_back(values: list[float]) -> None:
    kind = ArrayType(FLOAT)
    text = encode(ArrayValue([*values]), kind)
    assert repr(json.loads(text)) == repr(values)
    assert repr(decode(text, kind, no_rules).items) == repr(values)


@settings(max_examples=300)
@given(st.integers(-(2**63), 2**63 - 1))
def test_moments_are_read_back(value: int) -> None:
    assert duration_of(show_duration(value)) == value
    assert instant_of(show_instant(value)) == value


def test_a_note_calls_the_whole_a_value() -> None:
    with pytest.raises(Misfit, match=r"^value: the text is empty$"):
        decode(" ", INT, no_rules, "value")
