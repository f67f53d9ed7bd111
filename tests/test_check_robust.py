"""Nothing that a user can write makes the checker fail: deep and long programs, and thousands of spoiled ones."""

from __future__ import annotations

import random
import re
import sys

import pytest
from checking import program_of
from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.driver import RECURSION_LIMIT
from kavachc.semantics.checker import check, load_prelude
from kavachc.source import SourceFile
from kavachc.syntax.parser import parse
from test_check_effects import PROGRAM
from test_check_pages import BUDGET, PAYMENTS, READER, WRITER

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\w+|[^\w\s]{1,2}|\n|[ \t]+')
SOURCES = [TOKEN.findall(source) for source in (PAYMENTS, READER, BUDGET, WRITER, PROGRAM + "\nfn main() { }\n")]
WORDS = [token for source in SOURCES for token in source if token.strip()]
# Names of the checker's own types, which no message may show.
INTERNAL = re.compile(r"`(?:unknown|dropped|never)`|\[unknown\]|\{[a-z_]+\}")


@pytest.mark.parametrize(
    "source",
    [
        "fn f() -> Int { " + " + ".join(["1"] * 10_000) + " }",
        "fn f() -> Float { " + " * ".join(["1.5"] * 10_000) + " }",
        "fn f() -> Bool { " + " && ".join(["true"] * 10_000) + " }",
        "\n".join(f"fn f{index}() {{ f{index + 1}() }}" for index in range(2_000)) + "\nfn f2000() { print(1) }",
        "\n".join(f"const c{index} = c{index + 1}" for index in range(2_000)) + "\nconst c2000 = 1",
        "\n".join(f"type R{index} {{ r: R{index + 1} }}" for index in range(2_000)) + "\ntype R2000 { }",
        "fn f() {\n    let n = 1\n" + "    n += 1\n" * 5_000 + "}",
    ],
    ids=["sum", "product", "and", "functions", "constants", "types", "statements"],
)
def test_long_programs(source: str) -> None:
    program_of(source)


def spoiled(generator: random.Random) -> str:
    """One of the sources with a few tokens changed, left out, put in or moved."""
    tokens = list(generator.choice(SOURCES))
    for _ in range(generator.randint(1, 3)):
        place = generator.randrange(len(tokens))
        change = generator.randrange(4)
        if change == 0:
            tokens[place] = generator.choice(WORDS)
        elif change == 1:
            del tokens[place]
        elif change == 2:
            tokens.insert(place, generator.choice(WORDS))
        else:
            other = generator.randrange(len(tokens))
            tokens[place], tokens[other] = tokens[other], tokens[place]
    return "".join(tokens)


@pytest.mark.parametrize("seed", range(5))
def test_spoiled_programs_get_diagnostics(seed: int) -> None:
    sys.setrecursionlimit(RECURSION_LIMIT)
    generator = random.Random(seed)
    for _ in range(200):
        source = spoiled(generator)
        bag = DiagnosticBag()
        module = parse(SourceFile("spoiled.kav", source), bag)
        syntax_is_right = not bag.has_errors
        program = check(module, bag)
        if syntax_is_right:
            assert (program is None) == bag.has_errors, source
        for item in bag.items:
            assert not INTERNAL.search(item.message), (item.message, source)


def test_the_prelude_is_read_once() -> None:
    assert load_prelude() is load_prelude()
