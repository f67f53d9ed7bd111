"""From the text of a number or duration to its value."""

from __future__ import annotations

import math
import re
from typing import Final

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.source import SourceFile, Span
from kavachc.syntax.tokens import Token

INT_MAX: Final = 2**63 - 1
_NANOSECONDS: Final = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86_400 * 10**9,
}
UNIT_WORDS: Final = {
    **dict.fromkeys(("sec", "secs", "second", "seconds", "S"), "s"),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "M"), "m"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours", "H"), "h"),
    **dict.fromkeys(("day", "days", "D"), "d"),
    **dict.fromkeys(("msec", "millis", "MS"), "ms"),
}
_DIGITS: Final = r"[0-9]+(?:_[0-9]+)*"
_NUMBER: Final = re.compile(
    rf"""(?P<hex>0x[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)
       | (?P<binary>0b[01]+(?:_[01]+)*)
       | (?P<duration>{_DIGITS})(?P<unit>ns|us|ms|[smhd])
       | (?P<float>{_DIGITS}(?:\.{_DIGITS}(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+))
       | (?P<int>{_DIGITS})""",
    re.VERBOSE,
)
# Python refuses to read longer decimal numbers, for speed; none of them fits an Int.
_INT_DIGITS_MAX: Final = 4_000


def number_kind(text: str) -> str | None:
    """The token kind of the number `text`, or None if it is not a number."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    if match["float"]:
        return "FLOAT"
    return "DURATION" if match["unit"] else "INT"


def number_advice(text: str) -> str:
    """What to write instead of `text`, which `number_kind` refused."""
    if text[:2].lower() in ("0x", "0b", "0o"):
        return "`0xff` is hexadecimal, `0b1010` is binary"
    unit = re.fullmatch(rf"{_DIGITS}(\.{_DIGITS})?([a-zA-Z]+)", text)
    if unit and unit[1] and unit[2] in _NANOSECONDS:
        return "a duration is a whole number of one unit: `1500ms` for one and a half seconds"
    if unit and unit[2] in UNIT_WORDS and not unit[1]:
        return f"write `{text.removesuffix(unit[2])}{UNIT_WORDS[unit[2]]}`"
    if unit and unit[2] in ("L", "l", "u", "f", "i", "n", "LL", "UL", "F", "i64", "f64"):
        return f"write `{text.removesuffix(unit[2])}`: an Int has 64 bits, and a Float is written `1.0`"
    if unit:
        return "a number may end in a unit of time: `ns`, `us`, `ms`, `s`, `m`, `h` or `d`"
    if "_" in text:
        return "a `_` stands between two digits: `10_000`"
    return "numbers are written `10_000`, `0xff`, `0b1010`, `1.5` or `2.5e-3`"


def int_value(text: str) -> int:
    """The value of an INT token; it may be too large for an Int."""
    if text.startswith(("0x", "0b")):
        return int(text, 0)
    return int(text) if len(text) <= _INT_DIGITS_MAX else INT_MAX + 2


def float_value(token: Token, file: SourceFile, bag: DiagnosticBag) -> float:
    value = float(token.text)
    if math.isinf(value):
        bag.report(codes.FLOAT_TOO_LARGE, Span(file, token.start, token.end), text=_shortened(token.text))
        return 0.0
    return value


def duration_value(token: Token, file: SourceFile, bag: DiagnosticBag) -> int:
    """The duration in nanoseconds."""
    digits = token.text.rstrip("numshd")
    value = int_value(digits) * _NANOSECONDS[token.text[len(digits) :]]
    if value > INT_MAX:
        bag.report(codes.DURATION_TOO_LONG, Span(file, token.start, token.end), text=_shortened(token.text))
        return 0
    return value


def report_int_too_large(span: Span, bag: DiagnosticBag) -> None:
    bag.report(codes.INT_TOO_LARGE, span, text=_shortened(span.text))


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:20]}…{text[-16:]}"
