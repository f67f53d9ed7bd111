"""The functions of the library that only compute: one line each, by the key of the row in `semantics/builtins.py`.

They are given their arguments' values, and raise `Panics` where they panic (spec 10).
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable
from urllib.parse import quote

from kavachc.interpreter.arithmetic import INT_MAX, INT_MIN, equal
from kavachc.interpreter.case_table import LOWER, UPPER, mapping
from kavachc.interpreter.signals import Panics
from kavachc.interpreter.values import ABSENT, ArrayValue, Present, RecordValue, TupleValue, Value
from kavachc.semantics import panics

SPACE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
_TO_UPPER = mapping(UPPER)
_TO_LOWER = mapping(LOWER)
_INT = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|nan|-?inf")
# More bytes than this are more memory than a program has.
_TEXT_LENGTH_MAX = 2**32
_ARRAY_LENGTH_MAX = _TEXT_LENGTH_MAX // 8


def _optional(value: Value | None) -> Value:
    return ABSENT if value is None else Present(value)


def _int(value: int) -> int:
    if not INT_MIN <= value <= INT_MAX:
        raise Panics(panics.INTEGER_OVERFLOW)
    return value


# Strings.


def _lines(text: str) -> ArrayValue:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return ArrayValue([line.removesuffix("\r") for line in lines])


def _not_empty(text: str) -> str:
    if not text:
        raise Panics(panics.EMPTY_SEPARATOR)
    return text


def _index_in(text: str, part: str) -> Value:
    index = text.find(part)
    return ABSENT if index < 0 else Present(index)


def _check_slice(start: int, end: int, length: int) -> None:
    if not 0 <= start <= end <= length:
        raise Panics(panics.SLICE_OUT_OF_RANGE.format(start=start, end=end, length=length))


def _slice(text: str, start: int, end: int) -> str:
    _check_slice(start, end, len(text))
    return text[start:end]


def _not_negative(count: int) -> int:
    if count < 0:
        raise Panics(panics.NEGATIVE_COUNT.format(count=count))
    return count


def _at_least_one(size: int) -> int:
    if size < 1:
        raise Panics(panics.SIZE_TOO_SMALL.format(size=size))
    return size


def check_date(year: int, month: int, day: int) -> int:
    if not 1 <= year <= 9999:
        raise Panics(panics.DATE_OUT_OF_RANGE)
    if not 1 <= month <= 12 or not 1 <= day <= monthrange(year, month)[1]:
        raise Panics(panics.NO_DATE.format(year=year, month=month, day=day))
    return year


def _check_date_of_instant(year: int, month: int, day: int) -> int:
    check_date(year, month, day)
    if not (1677, 9, 22) <= (year, month, day) <= (2262, 4, 11):
        raise Panics(panics.DATE_OF_NO_INSTANT)
    return year


def _repeat(text: str, count: int) -> str:
    if len(text) * _not_negative(count) > _TEXT_LENGTH_MAX:
        raise MemoryError
    return text * count


def _padding(text: str, width: int, fill: str) -> str:
    if len(fill) != 1:
        raise Panics(panics.FILL_NOT_ONE)
    return _repeat(fill, max(0, width - len(text)))


def _to_int(text: str) -> Value:
    # Leading zeros aside, no Int has more digits than this; Python refuses to read thousands.
    if not _INT.fullmatch(text) or len(text.lstrip("+-").lstrip("0")) > 19:
        return ABSENT
    value = int((text[:1] if text[0] in "+-" else "") + (text.lstrip("+-").lstrip("0") or "0"))
    return Present(value) if INT_MIN <= value <= INT_MAX else ABSENT


def _to_float(text: str) -> Value:
    return Present(float(text)) if _FLOAT.fullmatch(text) else ABSENT


# Numbers.


def _clamp(value: int, low: int, high: int) -> int:
    if low > high:
        raise Panics(panics.EMPTY_RANGE.format(low=low, high=high))
    return max(low, min(value, high))


def _power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise Panics(panics.NEGATIVE_EXPONENT.format(exponent=exponent))
    if base in (-1, 0, 1):
        exponent = exponent if exponent < 2 else 2 + exponent % 2
    return _int(int(base ** min(exponent, 64)))


def _least(left: float, right: float) -> float:
    if math.isnan(left) or math.isnan(right):
        return math.nan
    if left == right:
        return left if math.copysign(1.0, left) < 0 else right
    return min(left, right)


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    """`function` on what has a fraction; the sign of a zero stays."""

    def apply(value: float) -> float:
        return math.copysign(float(function(value)), value) if abs(value) < 2.0**52 else value

    return apply


def _round(value: float) -> int:
    whole = math.trunc(value)
    return whole + (1 if value > 0 else -1) if abs(value - whole) >= 0.5 else whole


def _sqrt(value: float) -> float:
    return math.sqrt(value) if value >= 0 else value if value == 0 else math.nan


def _float_to_int(value: float) -> Value:
    return Present(math.trunc(value)) if -(2.0**63) <= value < 2.0**63 else ABSENT


def _to_fixed(value: float, decimals: int) -> str:
    if not 0 <= decimals <= panics.DECIMALS_MAX:
        raise Panics(panics.DECIMALS_OUT_OF_RANGE.format(decimals=decimals))
    return f"{value:.{decimals}f}"


# Arrays.


def _index_of(array: ArrayValue, wanted: Value) -> Value:
    return _optional(next((index for index, item in enumerate(array.items) if equal(item, wanted)), None))


def _array_slice(array: ArrayValue, start: int, end: int) -> ArrayValue:
    _check_slice(start, end, len(array.items))
    return ArrayValue(array.items[start:end])


def _array_repeat(array: ArrayValue, count: int) -> ArrayValue:
    if len(array.items) * _not_negative(count) > _ARRAY_LENGTH_MAX:
        raise MemoryError
    return ArrayValue(array.items * count)


def _order(value: Value) -> Value:
    """NaN is after everything else; of tuples and dates the first parts that differ decide."""
    if isinstance(value, TupleValue | RecordValue):
        return tuple([_order(part) for part in value.fields])
    return (math.isnan(value), 0.0 if math.isnan(value) else value) if isinstance(value, float) else value


def _sum_int(array: ArrayValue) -> int:
    total = 0
    for item in array.items:
        total = _int(total + item)
    return total


def _sum_float(array: ArrayValue) -> float:
    total = 0.0
    for item in array.items:
        total += item
    return total


def _check_index(items: list[Value], index: int, length: int) -> int:
    if not 0 <= index < length:
        raise Panics(panics.INDEX_OUT_OF_RANGE.format(index=index, length=len(items)))
    return index


LIBRARY: dict[str, Callable[..., Value]] = {
    "string.len": len,
    "string.byte_len": lambda text: len(text.encode()),
    "string.is_empty": lambda text: not text,
    "string.chars": lambda text: ArrayValue(list(text)),
    "string.lines": _lines,
    "string.split": lambda text, separator: ArrayValue(text.split(_not_empty(separator))),
    "string.trim": lambda text: text.strip(SPACE),
    "string.contains": lambda text, part: part in text,
    "string.starts_with": lambda text, start: text.startswith(start),
    "string.ends_with": lambda text, end: text.endswith(end),
    "string.index_of": _index_in,
    "string.replace": lambda text, old, new: text.replace(_not_empty(old), new),
    "string.to_upper": lambda text: text.translate(_TO_UPPER),
    "string.to_lower": lambda text: text.translate(_TO_LOWER),
    "string.slice": _slice,
    "string.repeat": _repeat,
    "string.reverse": lambda text: text[::-1],
    "string.pad_left": lambda text, width, fill: _padding(text, width, fill) + text,
    "string.pad_right": lambda text, width, fill: text + _padding(text, width, fill),
    "string.to_int": _to_int,
    "string.to_float": _to_float,
    "string.url_encode": lambda text: quote(text, safe=""),
    "int.abs": lambda value: _int(abs(value)),
    "int.min": min,
    "int.max": max,
    "int.clamp": _clamp,
    "int.pow": _power,
    "int.to_float": float,
    "float.abs": abs,
    "float.min": _least,
    "float.max": lambda left, right: -_least(-left, -right),
    "float.floor": _whole(math.floor),
    "float.ceil": _whole(math.ceil),
    "float.round": _whole(_round),
    "float.trunc": _whole(math.trunc),
    "float.sqrt": _sqrt,
    "float.is_nan": math.isnan,
    "float.to_int": _float_to_int,
    "float.to_fixed": _to_fixed,
    "instant.since_1970": lambda instant: instant,
    "duration.after_1970": lambda duration: duration,
    "guard.date": check_date,
    "guard.instant": _check_date_of_instant,
    "guard.count": _not_negative,
    "guard.size": _at_least_one,
    "array.len": lambda array: len(array.items),
    "array.is_empty": lambda array: not array.items,
    "array.first": lambda array: Present(array.items[0]) if array.items else ABSENT,
    "array.last": lambda array: Present(array.items[-1]) if array.items else ABSENT,
    "array.contains": lambda array, wanted: any(equal(item, wanted) for item in array.items),
    "array.index_of": _index_of,
    "array.reverse": lambda array: ArrayValue(array.items[::-1]),
    "array.slice": _array_slice,
    "array.concat": lambda array, other: ArrayValue(array.items + other.items),
    "array.repeat": _array_repeat,
    "array.sort": lambda array: ArrayValue(sorted(array.items, key=_order)),
    "array.join": lambda array, separator: separator.join(array.items),
    "array.sum_int": _sum_int,
    "array.sum_float": _sum_float,
}
# Those that change an array in place: given its items first.
CHANGES: dict[str, Callable[..., Value]] = {
    "array.push": lambda items, value: items.append(value),
    "array.pop": lambda items: Present(items.pop()) if items else ABSENT,
    "array.insert": lambda items, index, value: items.insert(_check_index(items, index, len(items) + 1), value),
    "array.remove_at": lambda items, index: items.pop(_check_index(items, index, len(items))),
    "array.clear": lambda items: items.clear(),
}
