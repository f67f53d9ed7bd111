"""The text of a value, as `"{value}"` and reports show it (spec 2.show)."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from kavachc.interpreter.values import ABSENT, Value
from kavachc.semantics import panics
from kavachc.semantics.types import (
    BOOL,
    DURATION,
    ERROR,
    FLOAT,
    INSTANT,
    INT,
    NOTHING,
    STRING,
    ArrayType,
    FieldInfo,
    MapType,
    OptionalType,
    RecordType,
    SumType,
    TupleType,
    Type,
)

DURATION_UNITS = (
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
)
ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\\": "\\\\", '"': '\\"', "{": "\\{", "}": "\\}"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def show(value: Value, value_type: Type) -> str:
    """The text of `value`: a String stands bare, an optional as what it holds."""
    while isinstance(value_type, OptionalType) and value is not ABSENT:
        value, value_type = value.value, value_type.element
    return value if value_type is STRING else show_inside(value, value_type)


def show_cut(value: Value, value_type: Type) -> str:
    """The text of `value` as part of another value, as far as a message shows it."""
    shown = show_inside(value, value_type)
    return shown if len(shown) <= panics.SHOWN_LENGTH_MAX else shown[: panics.SHOWN_LENGTH_MAX] + "…"


def show_inside(value: Value, value_type: Type) -> str:
    """The text of `value` as part of another value: a String stands quoted.

    Works from a list of what is still to be shown, since a value may be nested deeper than Python's stack. An entry
    with the type None is text already.
    """
    pieces: list[str] = []
    pending: list[tuple[Type | None, Value]] = [(value_type, value)]
    while pending:
        kind, item = pending.pop()
        if kind is ERROR:
            kind = item.sum if hasattr(item, "sum") else item.record
        if kind is None:
            pieces.append(item)
        elif isinstance(kind, ArrayType):
            pieces.append("[")
            parts: list[tuple[Type | None, Value]] = []
            for index, element in enumerate(item.items):
                parts += [(None, ", ")] if index else []
                parts.append((kind.element, element))
            pending += reversed([*parts, (None, "]")])
        elif isinstance(kind, MapType):
            pieces.append("[" if item.items else "[:")
            parts = []
            for index, (key, held) in enumerate(item.items.values()):
                parts += [(None, ", ")] if index else []
                parts += [(kind.key, key), (None, ": "), (kind.value, held)]
            pending += reversed([*parts, (None, "]")])
        elif isinstance(kind, OptionalType):
            pending.append((None, "none") if item is ABSENT else (kind.element, item.value))
        elif isinstance(kind, TupleType):
            pieces.append("(")
            parts = []
            for index, element in enumerate(item.fields):
                parts += [(None, ", ")] if index else []
                parts.append((kind.elements[index], element))
            pending += reversed([*parts, (None, ")")])
        elif isinstance(kind, RecordType):
            pieces.append(kind.name)
            pending += reversed(_fields(kind.fields, item.fields))
        elif isinstance(kind, SumType):
            shown = kind.variants[item.variant]
            pieces.append(shown.name)
            pending += reversed(_fields(shown.fields, item.fields) if shown.fields else [])
        else:
            pieces.append(_show_plain(item, kind))
    return "".join(pieces)


def _fields(
    fields: list[FieldInfo] | tuple[FieldInfo, ...], values: tuple[Value, ...]
) -> list[tuple[Type | None, Value]]:
    parts: list[tuple[Type | None, Value]] = [(None, "(")]
    for index, (info, value) in enumerate(zip(fields, values, strict=True)):
        parts.append((None, f"{', ' if index else ''}{info.name}: "))
        parts.append((info.type, value))
    return [*parts, (None, ")")]


def _show_plain(value: Value, value_type: Type) -> str:
    if value_type is INT:
        return str(value)
    if value_type is FLOAT:
        return show_float(value)
    if value_type is BOOL:
        return "true" if value else "false"
    if value_type is STRING:
        return quote(value)
    if value_type is DURATION:
        return show_duration(value)
    if value_type is INSTANT:
        return show_instant(value)
    if value_type is NOTHING:
        return "()"
    raise AssertionError(f"a value of {value_type} has no text")


def quote(text: str) -> str:
    """A String inside another value (spec 2.show.string)."""
    return '"' + "".join(map(_escape, text)) + '"'


def _escape(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character < " " or character == "\x7f":
        return f"\\u{{{ord(character):x}}}"
    return character


def show_float(value: float) -> str:
    """Python's own shortest digits, with the point and the exponent where spec 2.show.float has them."""
    if math.isnan(value):
        return "nan"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if math.isinf(value):
        return sign + "inf"
    if value == 0:
        return sign + "0.0"
    digits, exponent = _digits(abs(value))
    if 1e-6 <= abs(value) < 1e16:
        return sign + _positional(digits, exponent)
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{exponent}"


def _digits(value: float) -> tuple[str, int]:
    """The shortest digits and the power of ten of the first of them, of a finite value above zero."""
    mantissa, _, power = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    exponent = int(power or "0") + len(whole) - 1
    digits = whole + fraction
    leading_zeros = len(digits) - len(digits.lstrip("0"))
    return digits.strip("0"), exponent - leading_zeros


def _positional(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    return f"{whole}.{digits[exponent + 1 :] or '0'}"


def show_duration(value_ns: int) -> str:
    """A whole number of the largest unit that divides it (spec 2.show.duration)."""
    if value_ns == 0:
        return "0s"
    for unit, size_ns in DURATION_UNITS:
        if value_ns % size_ns == 0:
            return f"{value_ns // size_ns}{unit}"
    raise AssertionError("1 ns divides every Duration")


def show_instant(value_ns: int) -> str:
    """UTC, with a fraction of 3, 6 or 9 digits where it has one (spec 2.show.instant)."""
    seconds, fraction_ns = divmod(value_ns, 1_000_000_000)
    moment = EPOCH + timedelta(seconds=seconds)
    text = f"{moment.year:04}-{moment:%m-%dT%H:%M:%S}"
    digits = f"{fraction_ns:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f"{text}.{digits}Z" if digits else f"{text}Z"
