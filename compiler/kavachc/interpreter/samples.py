"""The first legal value of a type, which a dry run answers (spec 8.4.dry-run): found when the program is built."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kavachc.interpreter.decode import Holds
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
)
from kavachc.semantics.schema import Sample
from kavachc.semantics.types import (
    BOOL,
    FLOAT,
    INT,
    STRING,
    ArrayType,
    FieldInfo,
    FieldRule,
    MapType,
    OptionalType,
    RecordType,
    SumType,
    TupleType,
    Type,
    is_date,
)

# The first value of each, and what is tried after it and the default where a field's rule does not hold for it.
FIRST: dict[Type, Value] = {BOOL: True, INT: 1, FLOAT: 1.0, STRING: "text"}
FIRST_DATE = (2026, 1, 1)
_DATES = ((2000, 2, 29), (2100, 12, 31), (1970, 1, 1), (1, 1, 1), (9999, 12, 31))
_NUMBERS = (0, 2, 3, 5, 10, 20, 50, 100, 1_000, 10_000, 1_000_000, -1, -10)
_NEXT: dict[Type, tuple[Value, ...]] = {
    BOOL: (False,),
    INT: _NUMBERS,
    FLOAT: (0.5, 0.1, *map(float, _NUMBERS)),
    STRING: ("a", "A", "0", "", "text@example.com", "https://example.com", "2026-01-01"),
}
# A type in which so many others stand, each counted wherever it stands, has no sample.
PARTS_MAX = 10_000
# Stands for a sample that would hold another of a type that is being made, and so on without end, or a field for which
# no value is known that its rule allows.
NONE_KNOWN = object()

# The default of a field, if it has one: given its rule and the type arguments of the type that it is in.
DefaultOf = Callable[[FieldRule, tuple[Type, ...]], Value | None]


def sample_of(wanted: Type, holds: Holds, default_of: DefaultOf) -> Sample:
    """The sample as JSON (that of a String as it stands), or why there is none."""
    maker = _Maker(holds, default_of)
    try:
        value = maker.value(wanted, ())
    except _TooLarge:
        return Sample(None, f"a dry run makes no value of so large a type as {wanted}")
    if value is not NONE_KNOWN:
        return Sample(encode(value))
    rule = next(iter(maker.refused))
    return Sample(None, f"a dry run knows no value for which the rule of {rule.place} holds: {rule.text}")


class _TooLarge(Exception):
    """The sample would have more than PARTS_MAX parts."""


@dataclass(slots=True)
class _Maker:
    holds: Holds
    default_of: DefaultOf
    # The rules that held for nothing, in the order in which they were met.
    refused: dict[FieldRule, None] = field(default_factory=dict)
    made: int = 0

    def value(self, wanted: Type, around: tuple[Type, ...]) -> Value:
        """`around` are the types being made, none of which the sample may need."""
        self.made += 1
        if self.made > PARTS_MAX:
            raise _TooLarge
        if wanted in FIRST:
            return FIRST[wanted]
        if is_date(wanted):
            return RecordValue(wanted, FIRST_DATE)
        if isinstance(wanted, ArrayType):
            element = self.value(wanted.element, around)
            return ArrayValue([] if element is NONE_KNOWN else [element])
        if isinstance(wanted, MapType):
            value = self.value(wanted.value, around)
            return MapValue({} if value is NONE_KNOWN else {"text": ("text", value)})
        if isinstance(wanted, OptionalType):
            held = self.value(wanted.element, around)
            return ABSENT if held is NONE_KNOWN else Present(held)
        if isinstance(wanted, TupleType):
            elements = _all_known(self.value(item, around) for item in wanted.elements)
            return NONE_KNOWN if elements is None else TupleValue(elements)
        if wanted in around:
            return NONE_KNOWN
        around = (*around, wanted)
        if isinstance(wanted, RecordType):
            fields = self._fields(wanted.fields, wanted, around)
            return NONE_KNOWN if fields is None else RecordValue(wanted, fields)
        assert isinstance(wanted, SumType), f"{wanted} cannot be asked for"
        return next(self._variants(wanted, around), NONE_KNOWN)

    def _variants(self, wanted: SumType, around: tuple[Type, ...]) -> Iterator[Value]:
        for index, info in enumerate(wanted.variants):
            fields = self._fields(info.fields, wanted, around)
            if fields is not None:
                yield VariantValue(wanted, index, fields)

    def _fields(
        self, fields: Iterable[FieldInfo], holder: RecordType | SumType, around: tuple[Type, ...]
    ) -> tuple[Value, ...] | None:
        return _all_known(self._field(info, holder, around) for info in fields)

    def _field(self, info: FieldInfo, holder: RecordType | SumType, around: tuple[Type, ...]) -> Value:
        rule = info.rule
        if rule is None:
            return self.value(info.type, around)
        for value in self._tried(info.type, rule, holder.arguments, around):
            if value is not NONE_KNOWN and self.holds(rule, holder.arguments, value):
                return value
        self.refused[rule] = None
        return NONE_KNOWN

    def _tried(
        self, wanted: Type, rule: FieldRule, arguments: tuple[Type, ...], around: tuple[Type, ...]
    ) -> Iterable[Value]:
        first = self.value(wanted, around)
        yield first
        default = self.default_of(rule, arguments)
        if default is not None:
            yield default
        yield from self._next(wanted, first, around)

    def _next(self, wanted: Type, first: Value, around: tuple[Type, ...]) -> Iterable[Value]:
        if wanted in _NEXT:
            yield from _NEXT[wanted]
        elif is_date(wanted):
            yield from (RecordValue(wanted, parts) for parts in _DATES)
        elif isinstance(wanted, ArrayType):
            yield ArrayValue([])
            if first.items:
                yield ArrayValue(first.items * 2)
                yield ArrayValue(first.items * 3)
        elif isinstance(wanted, MapType):
            yield MapValue({})
        elif isinstance(wanted, OptionalType):
            yield ABSENT
            yield from (
                Present(item) for item in self._next(wanted.element, self.value(wanted.element, around), around)
            )
        elif isinstance(wanted, SumType) and wanted not in around:
            yield from self._variants(wanted, (*around, wanted))


def _all_known(values: Iterable[Value]) -> tuple[Value, ...] | None:
    """All values; None, and no further one, when one is not known."""
    known: list[Value] = []
    for value in values:
        if value is NONE_KNOWN:
            return None
        known.append(value)
    return tuple(known)


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
    if isinstance(value, RecordValue) and is_date(value.record):
        year, month, day = value.fields
        return f"{year:04}-{month:02}-{day:02}"
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
