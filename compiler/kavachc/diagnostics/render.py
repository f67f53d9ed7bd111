"""From diagnostics to text for a terminal.

    error: expected `}` to close `{`, found `fn`
     --> shop.kav:7:1 [K0103]
      |
    3 | fn total() -> Int {
      |                   - this `{` is never closed
    ...
    7 | fn main() {
      | ^^
      = help: …

The first line is the message alone, exactly as the pages print it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from kavachc.diagnostics.diagnostic import Diagnostic
from kavachc.source import SourceFile, Span

_TAB: Final = "    "
# Of a long line only this much is shown: some text before the span, and what fits after.
_WINDOW_WIDTH: Final = 100
_WINDOW_BEFORE: Final = 30

_STYLES: Final = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "note": "\x1b[1;36m",
    "label": "\x1b[1;34m",
    "gutter": "\x1b[34m",
    "advice": "\x1b[1;36m",
    "message": "\x1b[1m",
}
_PLAIN: Final = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class _Mark:
    """What to underline on one line: the character columns from `start` to before `end`, counted from 0."""

    file: SourceFile
    line: int
    start: int
    end: int
    text: str
    style: str


@dataclass(frozen=True, slots=True)
class _Painter:
    color: bool

    def paint(self, style: str, text: str) -> str:
        return f"{_STYLES[style]}{text}{_PLAIN}" if self.color and text else text


def render_all(diagnostics: Iterable[Diagnostic], color: bool) -> str:
    """All of `diagnostics`, a blank line between them, without a line break at the end."""
    return "\n\n".join(render(diagnostic, color) for diagnostic in diagnostics)


def render(diagnostic: Diagnostic, color: bool) -> str:
    """The text of one diagnostic, without a line break at the end; with terminal colours if `color`."""
    painter = _Painter(color)
    severity = painter.paint(diagnostic.severity, diagnostic.severity)
    lines = [f"{severity}: {painter.paint('message', _visible(diagnostic.message))}"]
    margin = " "
    if diagnostic.span is not None:
        marks = _marks(diagnostic, diagnostic.span)
        margin = " " * len(str(max(mark.line for mark in marks)))
        place = f"{_visible(diagnostic.span.place())} [{diagnostic.code}]"
        lines.append(f"{margin}{painter.paint('gutter', '-->')} {place}")
        lines.append(f"{margin} {painter.paint('gutter', '|')}")
        lines.extend(_snippet(marks, diagnostic.span.file, margin, painter))
    advice = [("note", note) for note in diagnostic.notes]
    if diagnostic.help is not None:
        advice.append(("help", diagnostic.help))
    for kind, text in advice:
        first, *more = _visible(text, keep="\n").split("\n")
        lines.append(f"{margin} {painter.paint('gutter', '=')} {painter.paint('advice', kind)}: {first}")
        lines.extend(f"{margin}         {line}" for line in more)
    return "\n".join(lines)


def _marks(diagnostic: Diagnostic, span: Span) -> list[_Mark]:
    """Every place of the diagnostic, in the order shown: its own file first, then by line."""
    marks = _marks_of_span(span, "", diagnostic.severity)
    for label in diagnostic.labels:
        marks += _marks_of_span(label.span, label.text, "label")
    marks.sort(key=lambda mark: (mark.file is not span.file, mark.file.path, mark.line, mark.style == "label"))
    return marks


def _marks_of_span(span: Span, text: str, style: str) -> list[_Mark]:
    """One mark, or for a span over several lines one on the first and one, with the text, on the last."""
    first, column = span.file.position(span.start)
    last, end = span.file.position(max(span.start, span.end))
    if last > first and end == 1:
        last -= 1
        end = len(span.file.line_text(last)) + 1
    if first == last:
        return [_Mark(span.file, first, column - 1, max(end - 1, column), text, style)]
    first_end = len(span.file.line_text(first))
    last_text = span.file.line_text(last)
    indent = len(last_text) - len(last_text.lstrip())
    return [
        _Mark(span.file, first, column - 1, max(first_end, column), "", style),
        _Mark(span.file, last, min(indent, end - 2), end - 1, text, style),
    ]


def _snippet(marks: Sequence[_Mark], main: SourceFile, margin: str, painter: _Painter) -> list[str]:
    """The source lines of `marks`, each with its underlines below it."""
    lines: list[str] = []
    file, previous = main, 0
    bar = painter.paint("gutter", "|")
    for (path, number), group in groupby(marks, key=lambda mark: (mark.file.path, mark.line)):
        line_marks = list(group)
        if line_marks[0].file is not file:
            file = line_marks[0].file
            lines.append(f"{margin}{painter.paint('gutter', ':::')} {_visible(path)}:{number}")
        elif previous and number > previous + 1:
            lines.append(painter.paint("gutter", "..."))
        previous = number
        left, shown, right = _window(file.line_text(number), line_marks)
        gutter = painter.paint("gutter", str(number).rjust(len(margin)) + " |")
        lines.append(f"{gutter} {shown}".rstrip())
        for mark in line_marks:
            indent, underline = _underline(file.line_text(number), mark, left, right)
            label = f" {_visible(mark.text)}" if mark.text else ""
            lines.append(f"{margin} {bar} {indent}{painter.paint(mark.style, underline + label)}")
    return lines


def _window(text: str, marks: Sequence[_Mark]) -> tuple[int, str, int]:
    """The part of a line to show, as `left`, the text, `right`: character columns, and `…` where it was cut."""
    if len(text) <= _WINDOW_WIDTH:
        return 0, _shown(text), len(text)
    focus = next((mark for mark in marks if mark.style != "label"), marks[0])
    left = max(0, min(focus.start - _WINDOW_BEFORE, len(text) - _WINDOW_WIDTH))
    right = min(len(text), left + _WINDOW_WIDTH)
    before = "…" if left > 0 else ""
    after = "…" if right < len(text) else ""
    return left, f"{before}{_shown(text[left:right])}{after}", right


def _underline(text: str, mark: _Mark, left: int, right: int) -> tuple[str, str]:
    """The blanks before the underline of `mark`, and the underline, for a line shown from `left` to `right`."""
    start = min(max(mark.start, left), right)
    end = min(max(mark.end, start), right)
    indent = _width(text[left:start]) + (1 if left > 0 else 0)
    length = max(_width(text[start:end]), 1)
    return " " * indent, ("-" if mark.style == "label" else "^") * length


def _shown(text: str) -> str:
    return _visible(text.replace("\t", _TAB))


def _width(text: str) -> int:
    """How many columns of a terminal `_shown(text)` takes."""
    if text.isascii():
        return len(text) + text.count("\t") * (len(_TAB) - 1)
    width = 0
    for character in text:
        if character == "\t":
            width += len(_TAB)
        elif not unicodedata.combining(character):
            width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return width


def _visible(text: str, keep: str = "") -> str:
    """`text` with a stand-in for each character that would act on the terminal instead of being shown."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in keep or character == "\u00a0" else "\ufffd"
        for character in text
    )
