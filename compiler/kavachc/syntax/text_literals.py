r"""From the pieces of a text literal to their values: escapes, and the indentation of `\"\"\"` literals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.source import SourceFile, Span
from kavachc.syntax.tokens import Token

_ESCAPES: Final = dict(zip('ntr0\\"{}', '\n\t\r\0\\"{}', strict=True))
_ESCAPE: Final = re.compile(r'\\u\{([0-9a-fA-F]{1,6})\}|\\u(?:\{[^}"]*\}?)?|\\(.?)|\}')
_BLANKS: Final = " \t"


class _Line(NamedTuple):
    """A line of a piece as written: its text and where it stands in the file."""

    start: int
    text: str
    # False for what stands on the line of the opening quotes or of a `}`.
    starts_line: bool


def text_values(tokens: Sequence[Token], file: SourceFile, bag: DiagnosticBag) -> list[str]:
    """The values of a literal's STRING… tokens, between which its expressions stand."""
    if not file.text.startswith('"""', tokens[0].start):
        return [_resolve(token.text, token.start + 1, file, bag) for token in tokens]
    pieces = [_lines(token.text, token.start + (3 if index == 0 else 1)) for index, token in enumerate(tokens)]
    return ["\n".join(_resolve(line.text, line.start, file, bag) for line in piece) for piece in _trim(pieces)]


def _lines(text: str, start: int) -> list[_Line]:
    lines = []
    for number, line in enumerate(text.split("\n")):
        lines.append(_Line(start, line, number > 0))
        start += len(line) + 1
    return lines


def _trim(pieces: list[list[_Line]]) -> list[list[_Line]]:
    """Take away the break after the opening quotes, the one before the closing quotes, and the indentation.

    The indentation taken from each line is the longest that all lines with something in them share. Escapes
    are resolved later: a `\\n` starts no line, and `\\t` is no indentation.
    """
    first, last = pieces[0], pieces[-1]
    if last[-1].starts_line and not last[-1].text.strip(_BLANKS):
        last.pop()
    if first and not first[0].text.strip(_BLANKS) and (len(first) > 1 or len(pieces) == 1):
        first.pop(0)
    indents = []
    for piece in pieces:
        for line in piece:
            content = line.text.lstrip(_BLANKS)
            # An expression follows the last line of a piece, so that line is never blank.
            if line.starts_line and (content or (line is piece[-1] and piece is not last)):
                indents.append(line.text[: len(line.text) - len(content)])
    indent = _common_start(indents)
    return [[_without(line, indent) if line.starts_line else line for line in piece] for piece in pieces]


def _common_start(indents: list[str]) -> str:
    if not indents:
        return ""
    low, high = min(indents), max(indents)
    for index, character in enumerate(low):
        if high[index] != character:
            return low[:index]
    return low


def _without(line: _Line, indent: str) -> _Line:
    """`line` without `indent`; a blank line may be shorter, and then becomes empty."""
    if line.text.startswith(indent):
        return line._replace(start=line.start + len(indent), text=line.text[len(indent) :])
    return line._replace(text="")


def _resolve(raw: str, start: int, file: SourceFile, bag: DiagnosticBag) -> str:
    """`raw`, which stands at `start` in the file, with its escapes resolved."""
    if "\\" not in raw and "}" not in raw:
        return raw

    def value(match: re.Match[str]) -> str:
        digits, character = match.group(1), match.group(2)
        if character in _ESCAPES:
            return _ESCAPES[character]
        if digits and _is_scalar_value(int(digits, 16)):
            return chr(int(digits, 16))
        span = Span(file, start + match.start(), start + match.end())
        if match.group() == "}":
            bag.report(codes.STRAY_BRACE, span)
            return "}"
        advice = None
        if match.group().startswith("\\u"):
            advice = r"a character is `\u{…}` with its number in hexadecimal, such as `\u{1F600}`"
        bag.report(codes.BAD_ESCAPE, span, help=advice, escape=match.group())
        return ""

    return _ESCAPE.sub(value, raw)


def _is_scalar_value(number: int) -> bool:
    return number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF
