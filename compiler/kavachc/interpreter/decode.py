"""A model's answer as a value of the type that was asked for, checked exactly (spec 8.4.strict), or a note that says
what does not fit (spec 8.4.note)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from kavachc.interpreter.arithmetic import INT_MAX, INT_MIN
from kavachc.interpreter.json_text import Json, NotJson, read_json
from kavachc.interpreter.values import (
    ABSENT,
    Absent,
    ArrayValue,
    MapValue,
    Present,
    RecordValue,
    TupleValue,
    Value,
    VariantValue,
    put,
)
from kavachc.semantics.types import (
    BOOL,
    FLOAT,
    INT,
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

INT_DIGITS_MAX = 19
QUOTE_BYTES_MAX = 80
FENCE = re.compile(r"```[ \t]*[A-Za-z0-9_+.-]*[ \t\r]*\n(?P<inside>(?:.*\n)?)[ \t\r]*```", re.DOTALL)
NOT_AN_INT = "a whole number of 64 bits, written without point, exponent and quotes"


class Misfit(Exception):
    """The answer does not fit; says what does not, for the next try."""


def fitting_json(text: str, wanted: Type) -> str:
    """The JSON in an answer that fits `wanted` (for a String: the text as it stands); raises `Misfit`."""
    if wanted is STRING:
        return text
    inside = without_fence(text)
    decode(inside, wanted)
    return inside


def decode(text: str, wanted: Type) -> Value:
    """The value that an answer's JSON is; raises `Misfit`. The text of a String stands as it is (spec 8.4.string)."""
    if wanted is STRING:
        return text
    if not text.strip(" \t\n\r"):
        raise Misfit("answer: the text is empty")
    try:
        item = read_json(text)
    except NotJson as wrong:
        at = len(text[: wrong.position].encode())
        raise Misfit(f"answer: not JSON at byte {at}: {wrong.problem}") from None
    return _value(item, wanted, "answer")


def without_fence(text: str) -> str:
    """The text without one enclosing fence of three back-quotes, each on a line of its own."""
    fenced = FENCE.fullmatch(text.strip(" \t\r\n"))
    return fenced["inside"] if fenced else text


def _value(item: Json, wanted: Type, path: str) -> Value:
    if wanted is INT:
        return _int(item, path)
    if wanted is FLOAT:
        return _float(item, path)
    if wanted is BOOL:
        return item.value if item.kind == "bool" else _unexpected("`true` or `false`", item, path)
    if wanted is STRING:
        return item.value if item.kind == "string" else _unexpected("a string", item, path)
    if isinstance(wanted, ArrayType):
        if item.kind != "array":
            _unexpected("an array", item, path)
        return ArrayValue([_value(part, wanted.element, f"{path}[{index}]") for index, part in enumerate(item.value)])
    if isinstance(wanted, MapType):
        return _map(item, wanted, path)
    if isinstance(wanted, OptionalType):
        return ABSENT if item.kind == "null" else Present(_value(item, wanted.element, path))
    if isinstance(wanted, TupleType):
        return _tuple(item, wanted, path)
    if isinstance(wanted, RecordType):
        return RecordValue(wanted, _fields(item, wanted.fields, path))
    assert isinstance(wanted, SumType), f"{wanted} cannot be asked for"
    return _variant(item, wanted, path)


def _unexpected(wanted: str, item: Json, path: str) -> NoReturn:
    raise Misfit(f"{path}: expected {wanted}, found {_clipped(item.text)}")


def _clipped(text: str) -> str:
    """The beginning of the text, so that a note stays small whatever the answer was."""
    return text.encode()[:QUOTE_BYTES_MAX].decode(errors="ignore")


def whole_number(item: Json) -> int | None:
    """The Int that a JSON number is, if it is one: no point, no exponent, no `-0`, within 64 bits."""
    if item.kind != "number" or not re.fullmatch("-?[0-9]+", item.text) or item.text == "-0":
        return None
    if len(item.text.lstrip("-")) > INT_DIGITS_MAX or not INT_MIN <= int(item.text) <= INT_MAX:
        return None
    return int(item.text)


def _int(item: Json, path: str) -> int:
    number = whole_number(item)
    return _unexpected(NOT_AN_INT, item, path) if number is None else number


def _float(item: Json, path: str) -> float:
    if item.kind != "number":
        _unexpected("a number", item, path)
    if not math.isfinite(float(item.text)):
        _unexpected("a number that a Float can hold", item, path)
    return float(item.text)


def _tuple(item: Json, wanted: TupleType, path: str) -> TupleValue:
    """An array of just the tuple's elements: of several misfits, the number of elements is the last to be seen."""
    size = len(wanted.elements)
    if item.kind != "array":
        _unexpected(f"an array of {size} elements", item, path)
    pairs = enumerate(zip(item.value, wanted.elements, strict=False))
    elements = tuple([_value(part, type_, f"{path}[{index}]") for index, (part, type_) in pairs])
    if len(item.value) != size:
        _unexpected(f"an array of {size} elements", item, path)
    return TupleValue(elements)


def _map(item: Json, wanted: MapType, path: str) -> MapValue:
    """An object, each key once."""
    if item.kind != "object":
        _unexpected("an object", item, path)
    made = MapValue({})
    for name, content in item.value:
        if name in made.items:
            raise Misfit(f'{path}: the key "{_clipped(name)}" is given twice')
        put(made, name, _value(content, wanted.value, f'{path}["{_clipped(name)}"]'))
    return made


def _fields(item: Json, fields: list[FieldInfo] | tuple[FieldInfo, ...], path: str) -> tuple[Value, ...]:
    """The values of exactly these fields, each given once, in any order; an optional one may be left out."""
    if item.kind != "object":
        _unexpected("an object", item, path)
    types = {info.name: info.type for info in fields}
    given: dict[str, Value] = {}
    for name, content in item.value:
        if name not in types:
            raise Misfit(f'{path}: there is no field "{_clipped(name)}"')
        if name in given:
            raise Misfit(f'{path}: the field "{_clipped(name)}" is given twice')
        given[name] = _value(content, types[name], f"{path}.{name}")
    for info in fields:
        if info.name not in given and not isinstance(info.type, OptionalType):
            raise Misfit(f'{path}: the field "{info.name}" is missing')
    return tuple(given.get(info.name, ABSENT) for info in fields)


def _variant(item: Json, wanted: SumType, path: str) -> VariantValue:
    if item.kind == "string":
        index = wanted.variant_index(item.value)
        if index is None or wanted.variants[index].fields:
            _unexpected(_one_of(wanted), item, path)
        return VariantValue(wanted, index)
    if item.kind != "object" or not _has_fields(wanted):
        _unexpected(_one_of(wanted), item, path)
    if not item.value:
        raise Misfit(f"{path}: the object has no key that names a variant")
    (name, content), *more = item.value
    index = wanted.variant_index(name)
    if index is None:
        _unexpected(_one_of(wanted), item, path)
    fields = _fields(content, wanted.variants[index].fields, f"{path}.{name}")
    if more:
        raise Misfit(f"{path}: the object has more than one key")
    return VariantValue(wanted, index, fields)


def _has_fields(wanted: SumType) -> bool:
    return any(info.fields for info in wanted.variants)


def _one_of(wanted: SumType) -> str:
    names = ", ".join(f'"{info.name}"' for info in wanted.variants)
    return f"one variant of {names}" if _has_fields(wanted) else f"one of {names}"


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
    if isinstance(wanted, MapType):
        value = _sample(wanted.value, around)
        return MapValue({} if value is ENDLESS else {"text": ("text", value)})
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
    if isinstance(value, MapValue):
        return {key: _plain(item) for key, item in value.items.values()}
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
