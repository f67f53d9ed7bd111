"""`json.encode` and `json.decode` (spec 10.json)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kavachc.interpreter.decode import Misfit, NotJsonText, decode
from kavachc.interpreter.json_text import quote_json
from kavachc.interpreter.library import check_date
from kavachc.interpreter.show import show_duration, show_float, show_instant
from kavachc.interpreter.signals import Fails, Panics
from kavachc.interpreter.values import Absent, Value, variant
from kavachc.semantics import panics
from kavachc.semantics.types import (
    BOOL,
    DURATION,
    FLOAT,
    INSTANT,
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
    is_date,
)

if TYPE_CHECKING:
    from kavachc.interpreter.evaluator import Evaluator

DEPTH_MAX = 128


def decoded(evaluator: Evaluator, text: str, wanted: Type) -> Value:
    """The value; raises `Fails` with a `JsonError`."""
    try:
        return decode(text, wanted, evaluator.holds, "value")
    except NotJsonText as problem:
        raise Fails(variant(evaluator.program.json_error, "NotJson", str(problem))) from None
    except Misfit as misfit:
        raise Fails(variant(evaluator.program.json_error, "Misfit", str(misfit))) from None


def encode(value: Value, kind: Type, depth: int = 0) -> str:
    """Compact JSON, which `decode` reads as the same value; raises `Panics` for what is none. `depth` is the number of
    arrays and objects around it."""
    if kind is BOOL:
        return "true" if value else "false"
    if kind is INT:
        return str(value)
    if kind is FLOAT:
        if not math.isfinite(value):
            raise Panics(panics.JSON_NO_NUMBER.format(value=show_float(value)))
        return show_float(value)
    if kind is STRING:
        return quote_json(value)
    if kind is DURATION:
        return f'"{show_duration(value)}"'
    if kind is INSTANT:
        return f'"{show_instant(value)}"'
    if isinstance(kind, OptionalType):
        return "null" if isinstance(value, Absent) else encode(value.value, kind.element, depth)
    if isinstance(kind, SumType):
        info = kind.variants[value.variant]
        if not info.fields:
            return f'"{info.name}"'
        return f'{{"{info.name}":{_object(value, info.fields, _deeper(depth))}}}'
    if is_date(kind):
        year, month, day = value.fields
        check_date(year, month, day)
        return f'"{year:04}-{month:02}-{day:02}"'
    if isinstance(kind, RecordType):
        return _object(value, kind.fields, depth)
    inside = _deeper(depth)
    if isinstance(kind, ArrayType):
        return f"[{','.join([encode(item, kind.element, inside) for item in value.items])}]"
    if isinstance(kind, TupleType):
        pairs = zip(value.fields, kind.elements, strict=True)
        return f"[{','.join([encode(item, item_type, inside) for item, item_type in pairs])}]"
    assert isinstance(kind, MapType), f"JSON cannot hold {kind}"
    if kind.key is STRING:
        entries = [f"{quote_json(key)}:{encode(item, kind.value, inside)}" for key, item in value.items.values()]
        return f"{{{','.join(entries)}}}"
    pair = _deeper(inside) if value.items else inside
    entries = [
        f"[{encode(key, kind.key, pair)},{encode(item, kind.value, pair)}]" for key, item in value.items.values()
    ]
    return f"[{','.join(entries)}]"


def _object(value: Value, fields: list[FieldInfo] | tuple[FieldInfo, ...], depth: int) -> str:
    inside = _deeper(depth)
    pairs = zip(value.fields, fields, strict=True)
    members = [f'"{info.name}":{encode(item, info.type, inside)}' for item, info in pairs]
    return f"{{{','.join(members)}}}"


def _deeper(depth: int) -> int:
    if depth == DEPTH_MAX:
        raise Panics(panics.JSON_TOO_DEEP)
    return depth + 1
