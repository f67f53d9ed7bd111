"""Diagnostics as text: the first line exact, the place, the underline."""

from __future__ import annotations

from pathlib import Path

import pytest
from kavachc.diagnostics.diagnostic import Diagnostic, DiagnosticBag, Label
from kavachc.diagnostics.render import render, render_all
from kavachc.source import SourceFile, Span
from kavachc.syntax.loader import decode, load


def at(text: str, start: int, end: int, **more: object) -> str:
    span = Span(SourceFile("a.kav", text), start, end)
    return render(Diagnostic("K0999", "it is wrong", span, **more), color=False)  # type: ignore[arg-type]


def test_the_first_line_is_the_message_alone() -> None:
    text = at("fn main() {\n    foo bar\n}\n", 20, 23, notes=("a note",), help="write this\nor that")
    assert (
        text
        == """\
error: it is wrong
 --> a.kav:2:9 [K0999]
  |
2 |     foo bar
  |         ^^^
  = note: a note
  = help: write this
          or that"""
    )


def test_without_a_place_only_the_message_and_advice() -> None:
    text = render(Diagnostic("K0001", "cannot find `a.kav`", help="check", severity="warning"), color=False)
    assert text == "warning: cannot find `a.kav`\n  = help: check"


def test_labels_on_other_lines_stand_in_order() -> None:
    text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"
    file = SourceFile("a.kav", text)
    labels = (
        Label(Span(file, 0, 3), "first here"),
        Label(Span(file, text.index("nine"), text.index("ten") - 1), "near"),
    )
    start = text.index("ten")
    assert (
        render(Diagnostic("K0999", "twice", Span(file, start, start + 3), labels), color=False)
        == """\
error: twice
  --> a.kav:10:1 [K0999]
   |
 1 | one
   | --- first here
...
 9 | nine
   | ---- near
10 | ten
   | ^^^"""
    )


def test_a_label_on_the_same_line_is_underlined_below() -> None:
    file = SourceFile("a.kav", "a < b < c")
    labels = (Label(Span(file, 2, 3), "the first one is here"),)
    assert render(Diagnostic("K0117", "no", Span(file, 6, 7), labels), color=False).split("\n")[3:] == [
        "1 | a < b < c",
        "  |       ^",
        "  |   - the first one is here",
    ]


def test_a_label_in_another_file_names_it() -> None:
    label = Label(Span(SourceFile("b.kav", "fn g() { }"), 3, 4), "declared here")
    span = Span(SourceFile("a.kav", "g()"), 0, 1)
    lines = render(Diagnostic("K0999", "no", span, (label,)), color=False).split("\n")
    assert lines[3:] == ["1 | g()", "  | ^", " ::: b.kav:1", "1 | fn g() { }", "  |    - declared here"]


@pytest.mark.parametrize(
    ("text", "start", "end", "shown"),
    [
        ("\tx = y", 5, 6, ["1 |     x = y", "  |         ^"]),
        ("日本 = y", 5, 6, ["1 | 日本 = y", "  |        ^"]),
        ("日本 = y", 0, 2, ["1 | 日本 = y", "  | ^^^^"]),
        ("abc", 3, 3, ["1 | abc", "  |    ^"]),
        ("", 0, 0, ["1 |", "  | ^"]),
        ("abc\n", 4, 4, ["2 |", "  | ^"]),
        ("abc\ndef", 3, 4, ["1 | abc", "  |    ^"]),
        ("\x1b[2J x", 5, 6, ["1 | \ufffd[2J x", "  |      ^"]),
        ("a {\n  b\n}", 2, 9, ["1 | a {", "  |   ^", "...", "3 | }", "  | ^"]),
    ],
)
def test_the_underline_stands_under_the_span(text: str, start: int, end: int, shown: list[str]) -> None:
    assert at(text, start, end).split("\n")[3:] == shown


@pytest.mark.parametrize("start", [0, 50, 5_000, 9_995])
def test_a_long_line_is_cut_to_a_window(start: int) -> None:
    text = "x" * start + "?????" + "y" * (9_995 - start)
    line, underline = at(text, start, start + 5).split("\n")[3:]
    assert len(line) <= 106
    assert line[underline.index("^") : underline.rindex("^") + 1] == "?????"


def test_colour_only_when_asked() -> None:
    diagnostic = Diagnostic("K0999", "it is wrong", Span(SourceFile("a.kav", "x"), 0, 1), help="so")
    plain, coloured = render(diagnostic, color=False), render(diagnostic, color=True)
    assert "\x1b" not in plain
    assert coloured.startswith("\x1b[1;31merror\x1b[0m: ")
    assert coloured.count("\x1b[0m") * 2 == coloured.count("\x1b")


def test_all_have_a_blank_line_between() -> None:
    one = Diagnostic("K0001", "one")
    assert render_all([one, one], color=False) == "error: one\n\nerror: one"
    assert render_all([], color=False) == ""


def test_a_file_is_read_without_its_mark_and_carriage_returns(tmp_path: Path) -> None:
    path = tmp_path / "a.kav"
    path.write_bytes(b"\xef\xbb\xbffn main() {\r\n}\r\n")
    bag = DiagnosticBag()
    file = load(str(path), bag)
    assert file is not None and file.text == "fn main() {\n}\n"
    assert (file.path, bag.items) == (str(path), [])


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    bag = DiagnosticBag()
    assert load("missing.kav", bag) is None
    assert load(str(tmp_path), bag) is None
    assert load("a\0b.kav", bag) is None
    assert decode("a.kav", b"ab\xff", bag) is None
    assert decode("a.kav", "fn".encode("utf-16"), bag) is None
    assert [(item.code, item.message) for item in bag.items] == [
        ("K0001", "cannot find `missing.kav`"),
        ("K0002", f"`{tmp_path}` is a directory, not a program"),
        ("K0004", "cannot read `a\ufffdb.kav`: embedded null byte"),
        ("K0003", "`a.kav` is not UTF-8: byte 0xff at offset 2"),
        ("K0003", "`a.kav` is not UTF-8: byte 0xff at offset 0"),
    ]
