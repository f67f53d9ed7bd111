"""One syntax error spoils one declaration: all else is checked, and nothing follows from it (spec 1.recovery)."""

from __future__ import annotations

import random
import sys

from checking import MAIN
from conftest import ROOT
from kavachc.diagnostics.diagnostic import Diagnostic, DiagnosticBag
from kavachc.driver import RECURSION_LIMIT
from kavachc.golden import read_golden
from kavachc.semantics.checker import check
from kavachc.source import SourceFile
from kavachc.syntax.lexer import Lexer
from kavachc.syntax.parser import parse
from kavachc.syntax.tokens import Token

MARKS = tuple("( ) [ ] { } , : . = + -> => ! ? | fn let const type try match if else".split())


def reported(source: str) -> list[Diagnostic]:
    sys.setrecursionlimit(RECURSION_LIMIT)
    bag = DiagnosticBag()
    check(parse(SourceFile("test.kav", source), bag), bag)
    return bag.items


def messages(source: str) -> list[str]:
    return [item.message for item in reported(source + MAIN)]


def test_uses_of_a_spoiled_function_say_nothing() -> None:
    assert messages("fn f(a Int) -> Int { a }\nfn g() -> String { f(1) }\nfn h() -> String { f(none, []) }") == [
        "expected `:`, found `Int`"
    ]


def test_the_arguments_of_a_spoiled_function_are_looked_at() -> None:
    assert messages("fn f(a Int) { }\nfn g() { f(missing, 1 + true) }") == [
        "expected `:`, found `Int`",
        "`missing` is not known here",
        "`+` does not work on `Int` and `Bool`",
    ]


def test_a_declaration_cut_short_is_not_checked() -> None:
    source = "fn f(x: Bool) -> Int {\n    if x { } }\n    const y = 3\n    return y\n}\nfn g() { f(true) }"
    assert messages(source) == ["expected `fn`, `type`, `capability`, `agent` or `const`, found `return`"]


def test_a_number_that_was_reported_has_no_type() -> None:
    assert messages("const WAIT = 1.5s\nfn g() { Time.sleep(WAIT) }") == ["`1.5s` is not a number"]


def _mutated(source: str, tokens: list[Token], choice: random.Random) -> str:
    """`source` without one of its tokens, or with one mark too many, or with a mark in a token's place."""
    token = choice.choice(tokens)
    kind = choice.randrange(3)
    if kind == 0:
        return f"{source[: token.start]} {source[token.end :]}"
    start = token.end if kind == 1 else token.start
    return f"{source[:start]} {choice.choice(MARKS)} {source[token.end :]}"


def test_nothing_follows_from_a_syntax_error() -> None:
    """Programs without mistakes, each with one made in it. A few mistakes make two that are none of syntax."""
    choice = random.Random(20)
    sources = []
    for path in sorted((ROOT / "golden" / "run").glob("*.golden")):
        golden = read_golden(path)
        if not golden.files and len(golden.sections["source"]) < 4_000:
            sources.append(golden.sections["source"])
    count = 0
    with_more = []
    while count < 250:
        source = choice.choice(sources)
        tokens = [
            token
            for token in Lexer(SourceFile("test.kav", source), DiagnosticBag()).tokens()
            if token.kind not in ("NEWLINE", "$END", "IDENTIFIER")
        ]
        mutated = _mutated(source, tokens, choice)
        items = [item for item in reported(mutated) if item.severity == "error"]
        if any(item.code.startswith("K01") for item in items):
            count += 1
            if not all(item.code.startswith("K01") for item in items):
                with_more.append((mutated, [item.message for item in items]))
    assert len(with_more) <= count // 50, with_more
