"""Any text at all gives a tree and diagnostics, never an exception; what parses has exact spans."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kavachc.diagnostics.render import render_all
from kavachc.golden import read_golden
from kavachc.source import Span
from kavachc.syntax import ast
from kavachc.syntax.tokens import KEYWORDS, MARKS, SOFT_KEYWORDS
from syntax_text import grouped, module, nodes, read
from test_syntax_declarations import REFERENCE

GOLDEN = Path(__file__).parent.parent / "golden"


def golden_sources() -> list[str]:
    """The sources of the goldens, other than those that the parser refuses."""
    sources = []
    for path in sorted(GOLDEN.rglob("*.golden")):
        golden = read_golden(path)
        refused = "errors" in golden.sections or " --> " in golden.sections.get("err", "")
        if path.parent.name not in ("syntax", "newcomers") or not refused:
            sources.append(golden.sections["source"].removeprefix("\ufeff"))
    return sources


PROGRAMS = [REFERENCE, *golden_sources()[:12]]
LITERALS = ['"', '"""', '"a {', '} b"', "5", "1.5", "10ms", "0x", "//", "///", "\\u{", "a<b>(", " "]
PIECES = [*sorted(KEYWORDS), *sorted(SOFT_KEYWORDS), *MARKS, *LITERALS, *"abxT_\n\n;\"{}'#@é\0\t "]


def check(text: str) -> None:
    tree, found = read(text)
    assert tree.file.text == text
    for item in found:
        assert item.span is not None
        assert 0 <= item.span.start <= item.span.end <= len(text)
        for word in ("NEWLINE", "IDENTIFIER", "$END", "TYPE_OPEN", "OPERATOR", "something else"):
            assert word not in item.message or word in text
    assert render_all(found, color=True).count("error") >= sum(item.severity == "error" for item in found)
    check_spans(tree)


def check_spans(tree: ast.Module) -> None:
    """A node lies in its file, its children lie in it, and a name's span holds the name."""
    for node in nodes(tree):
        assert 0 <= node.span.start <= node.span.end <= len(tree.file.text)
        if isinstance(node, ast.Identifier):
            assert node.span.text == node.text
        for child in children(node):
            assert node.span.start <= child.span.start <= child.span.end <= node.span.end


def children(node: ast.Node) -> list[ast.Node]:
    values = [getattr(node, field.name) for field in fields(node)]
    flat = [item for value in values for item in (value if isinstance(value, tuple) else (value,))]
    return [item for item in flat if isinstance(item, ast.Node)]


def test_the_check_of_spans_finds_a_planted_fault() -> None:
    tree = module("fn f() { a + b }")
    function = tree.declarations[0]
    with pytest.raises(AssertionError):
        check_spans(replace(tree, declarations=(replace(function, span=Span(tree.file, 0, 12)),)))


@given(st.text())
@settings(max_examples=150, deadline=None)
def test_any_text(text: str) -> None:
    check(text)


@given(st.lists(st.sampled_from(PIECES), max_size=40), st.booleans())
@settings(max_examples=300, deadline=None)
def test_any_row_of_tokens(pieces: list[str], in_function: bool) -> None:
    text = " ".join(pieces)
    check(f"fn f() {{ {text} }}\nfn g() {{ }}\n" if in_function else text)


@given(st.sampled_from(PROGRAMS), st.data())
@settings(max_examples=150, deadline=None)
def test_any_small_change_of_a_program(program: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(program)))
        length = data.draw(st.integers(0, 12))
        program = program[:start] + data.draw(st.sampled_from(["", *PIECES])) + program[start + length :]
    check(program)


@pytest.mark.parametrize("program", [REFERENCE, *golden_sources()])
def test_programs_have_exact_spans(program: str) -> None:
    tree = module(program)
    check_spans(tree)
    for node in nodes(tree):
        if isinstance(node, ast.Name):
            assert node.span.text.strip("() \n") == node.text
        if isinstance(node, ast.Binary):
            assert node.operator_span.text == node.operator
            assert node.left.span.end <= node.operator_span.start < node.operator_span.end <= node.right.span.start


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "1", "1.5", '"t"', "true", "2s", "[]", "f()", "A.B", "-1"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+ - * / % & | ^ << >> && ||".split()), inner).map(" ".join),
        st.tuples(inner, inner).map(lambda pair: f"(({pair[0]}) == ({pair[1]}))"),
        inner.map(lambda text: f"({text})"),
        st.tuples(st.sampled_from(["-", "!", "~", "try ", "spawn "]), inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"f({pair[0]}, x: {pair[1]})"),
        inner.map(lambda text: f"({text}).m<T>({text})[{text}]"),
        inner.map(lambda text: f'"a {{{text}}} b"'),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} catch e => {pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: f"(fn(a, b: fn(T) -> T ! E) => {pair[0]})({pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: f"[{pair[0]}: {pair[1]}, 1: [:]]"),
        inner.map(lambda text: f"f(fn(a: [T]) -> fn() {{ {text} }})"),
        st.tuples(inner, inner).map(lambda pair: f"if {pair[0]} {{ {pair[1]} }} else {{ {pair[0]} }}"),
        st.tuples(inner, inner).map(lambda pair: f"match {pair[0]} {{ 1 => {pair[1]}, _ => fail {pair[0]} }}"),
    ),
    max_leaves=12,
)


@given(EXPRESSIONS)
@settings(max_examples=200, deadline=None)
def test_full_parentheses_change_nothing(text: str) -> None:
    once = grouped(text)
    assert grouped(once) == once
