"""A model's answer as a value of the type that was asked for, checked exactly (spec 8.4.strict).

Python's `json` reads the text, with hooks that keep what it would lose: the spelling of numbers and repeated keys.
What it accepts beyond JSON is refused here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from kavachc.interpreter.arithmetic import INT_MAX, INT_MIN
from kavachc.interpreter.values import (
    ABSENT,
    Absent,
    ArrayValue,
    Present,
    RecordValue,
    TupleValue,
    Value,
    VariantValue,
)
from kavachc.semantics.types import (
    BOOL,
    FLOAT,
    INT,
    STRING,
    ArrayType,
    FieldInfo,
    OptionalType,
    RecordType,
    SumType,
    TupleType,
    Type,
)

DEPTH_MAX = 128
INT_DIGITS_MAX = 19
FENCE = re.compile(r"```[ \t]*[A-Za-z0-9_+.-]*[ \t\r]*\n(?P<inside>(?:.*\n)?)[ \t\r]*```", re.DOTALL)
# What of a JSON text decides how deep it is nested: a whole string, or a bracket.
DEPTH_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.DOTALL)


class Misfit(Exception):
    """The answer does not fit; says what does not, for the next try."""


@dataclass(frozen=True, slots=True)
class Number:
    """A JSON number as it was written."""

    text: str


@dataclass(frozen=True, slots=True)
class Object:
    """A JSON object with its keys as they were written, repeated ones too."""

    members: tuple[tuple[str, Any], ...]


def fitting_json(text: str, wanted: Type) -> str:
    """The JSON in an answer that fits `wanted` (for a String: the text as it stands); raises `Misfit`."""
    if wanted is STRING:
        return text
    inside = without_fence(text)
    decode(inside, wanted)
    return inside


def decode(text: str, wanted: Type) -> Value:
    """The value that an answer's JSON is; raises `Misfit`. The text of a String stands as it is (spec 8.4.string)."""
    return text if wanted is STRING else _value(read_json(text), wanted, "answer")


def without_fence(text: str) -> str:
    """The text without one enclosing fence of three back-quotes, each on a line of its own."""
    fenced = FENCE.fullmatch(text.strip(" \t\r\n"))
    return fenced["inside"] if fenced else text


def read_json(text: str, depth_max: int = DEPTH_MAX) -> Any:
    """Strict JSON, nested at most so deep: None, bool, str, list, `Number`, `Object`; raises `Misfit`."""
    depth = 0
    for part in DEPTH_PARTS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(part[0], 0)
        if depth > depth_max:
            raise Misfit("the answer is nested too deeply")
    try:
        return json.loads(
            text,
            object_pairs_hook=lambda members: Object(tuple(members)),
            parse_int=Number,
            parse_float=Number,
            parse_constant=_not_json,
        )
    except json.JSONDecodeError as problem:
        raise Misfit(f"the answer is not JSON: {problem.msg} at character {problem.pos}") from None


def _not_json(name: str) -> NoReturn:
    raise Misfit(f"the answer is not JSON: {name} is no JSON value")


def _value(item: Any, wanted: Type, path: str) -> Value:
    if wanted is INT:
        return _int(item, path)
    if wanted is FLOAT:
        return _float(item, path)
    if wanted is BOOL:
        if not isinstance(item, bool):
            raise Misfit(f"{path}: expected true or false")
        return item
    if wanted is STRING:
        return _string(item, path)
    if isinstance(wanted, ArrayType):
        if not isinstance(item, list):
            raise Misfit(f"{path}: expected an array")
        return ArrayValue([_value(part, wanted.element, f"{path}[{index}]") for index, part in enumerate(item)])
    if isinstance(wanted, OptionalType):
        return ABSENT if item is None else Present(_value(item, wanted.element, path))
    if isinstance(wanted, TupleType):
        if not isinstance(item, list) or len(item) != len(wanted.elements):
            raise Misfit(f"{path}: expected an array of {len(wanted.elements)} elements")
        parts = enumerate(zip(item, wanted.elements, strict=True))
        return TupleValue(tuple([_value(part, type_, f"{path}[{index}]") for index, (part, type_) in parts]))
    if isinstance(wanted, RecordType):
        return RecordValue(wanted, _fields(item, wanted.fields, path))
    if isinstance(wanted, SumType):
        return _variant(item, wanted, path)
    raise Misfit(f"{path}: a value of type {wanted} cannot be asked for")


def _int(item: Any, path: str) -> int:
    if isinstance(item, Number) and re.fullmatch(r"-?[0-9]+", item.text) and item.text != "-0":
        digits = item.text.lstrip("-")
        if len(digits) <= INT_DIGITS_MAX and INT_MIN <= int(item.text) <= INT_MAX:
            return int(item.text)
    raise Misfit(f"{path}: expected a whole number of 64 bits, written without point and exponent")


def _float(item: Any, path: str) -> float:
    if not isinstance(item, Number) or not math.isfinite(float(item.text)):
        raise Misfit(f"{path}: expected a finite number")
    return float(item.text)


def _string(item: Any, path: str) -> str:
    if not isinstance(item, str):
        raise Misfit(f"{path}: expected a string")
    if any("\ud800" <= character <= "\udfff" for character in item):
        raise Misfit(f"{path}: the string holds half of a surrogate pair")
    return item


def _fields(item: Any, fields: list[FieldInfo] | tuple[FieldInfo, ...], path: str) -> tuple[Value, ...]:
    """The values of exactly these fields, each given once, in any order; an optional one may be left out."""
    if not isinstance(item, Object):
        raise Misfit(f"{path}: expected an object")
    names = [name for name, _ in item.members]
    known = {info.name for info in fields}
    for name in names:
        if name not in known:
            raise Misfit(f"{path}: there is no field {json.dumps(name[:80])}")
        if names.count(name) > 1:
            raise Misfit(f"{path}: the field {name} is given twice")
    given = dict(item.members)
    for info in fields:
        if info.name not in given and not isinstance(info.type, OptionalType):
            raise Misfit(f"{path}: the field {info.name} is missing")
    return tuple(_value(given.get(info.name), info.type, f"{path}.{info.name}") for info in fields)


def _variant(item: Any, wanted: SumType, path: str) -> VariantValue:
    has_fields = any(info.fields for info in wanted.variants)
    names = ", ".join(info.name for info in wanted.variants)
    if isinstance(item, str):
        index = wanted.variant_index(item)
        if index is not None and not wanted.variants[index].fields:
            return VariantValue(wanted, index)
    if has_fields and isinstance(item, Object) and len(item.members) == 1:
        ((name, content),) = item.members
        index = wanted.variant_index(name)
        if index is not None:
            return VariantValue(wanted, index, _fields(content, wanted.variants[index].fields, f"{path}.{name}"))
    raise Misfit(f"{path}: expected one of {names}")


def sample_value(wanted: Type) -> Value:
    """The first legal value of a type, which a dry run answers (spec 8.4.dry-run)."""
    value = _sample(wanted, ())
    assert value is not ENDLESS, f"no value of {wanted} ends"
    return value


# Stands for a sample that would hold another of a type that is being made, and so on without end.
ENDLESS = object()
SAMPLES: dict[Type, Value] = {BOOL: True, INT: 1, FLOAT: 1.0, STRING: "text"}


def _sample(wanted: Type, around: tuple[Type, ...]) -> Value:
    """`around` are the types being made, none of which the sample may need."""
    if wanted in SAMPLES:
        return SAMPLES[wanted]
    if isinstance(wanted, ArrayType):
        element = _sample(wanted.element, around)
        return ArrayValue([] if element is ENDLESS else [element])
    if isinstance(wanted, OptionalType):
        held = _sample(wanted.element, around)
        return ABSENT if held is ENDLESS else Present(held)
    if isinstance(wanted, TupleType):
        elements = _samples(wanted.elements, around)
        return ENDLESS if elements is None else TupleValue(elements)
    if wanted in around:
        return ENDLESS
    around = (*around, wanted)
    if isinstance(wanted, RecordType):
        fields = _samples([info.type for info in wanted.fields], around)
        return ENDLESS if fields is None else RecordValue(wanted, fields)
    assert isinstance(wanted, SumType), f"{wanted} cannot be asked for"
    for index, info in enumerate(wanted.variants):
        fields = _samples([part.type for part in info.fields], around)
        if fields is not None:
            return VariantValue(wanted, index, fields)
    return ENDLESS


def _samples(types: Iterable[Type], around: tuple[Type, ...]) -> tuple[Value, ...] | None:
    """A sample of each type, None when one has no end."""
    values: list[Value] = []
    for type_ in types:
        values.append(_sample(type_, around))
        if values[-1] is ENDLESS:
            return None
    return tuple(values)


def encode(value: Value) -> str:
    """The JSON of a sample value, as `decode` reads it (a String at the top stands as it is)."""
    return value if isinstance(value, str) else json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Value) -> Any:
    if isinstance(value, ArrayValue):
        return [_plain(item) for item in value.items]
    if isinstance(value, Present):
        return _plain(value.value)
    if isinstance(value, Absent):
        return None
    if isinstance(value, TupleValue):
        return [_plain(item) for item in value.fields]
    if isinstance(value, RecordValue):
        return {info.name: _plain(item) for info, item in zip(value.record.fields, value.fields, strict=True)}
    if isinstance(value, VariantValue):
        info = value.sum.variants[value.variant]
        return (
            {info.name: {part.name: _plain(item) for part, item in zip(info.fields, value.fields, strict=True)}}
            if info.fields
            else info.name
        )
    return value
