"""JSON as a value of a type, checked exactly (spec 8.4.strict), or a note that says what does not fit (8.4.note)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import NoReturn, TypeAlias

from kavachc.interpreter.arithmetic import INT_MAX, INT_MIN
from kavachc.interpreter.json_text import Json, NotJson, read_json
from kavachc.interpreter.values import (
    ABSENT,
    ArrayValue,
    MapValue,
    Present,
    RecordValue,
    TupleValue,
    Value,
    VariantValue,
    key_of,
    put,
)
from kavachc.semantics.types import (
    BOOL,
    DURATION,
    FLOAT,
    INSTANT,
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

INT_DIGITS_MAX = 19
QUOTE_BYTES_MAX = 80
FENCE = re.compile(r"```[ \t]*[A-Za-z0-9_+.-]*[ \t\r]*\n(?P<inside>(?:.*\n)?)[ \t\r]*```", re.DOTALL)
A_DURATION = 'a duration such as "90s"'
A_DATE = 'a date such as "2026-01-01"'
AN_INSTANT = 'an instant such as "2026-01-01T00:00:00Z"'
UNITS_NS = {"ns": 1, "us": 1_000, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3_600 * 10**9, "d": 86_400 * 10**9}
NOT_AN_INT = "a whole number of 64 bits, written without point, exponent and quotes"

# Whether a field's rule holds for a value; the types are the arguments of the type that the field is in.
Holds: TypeAlias = Callable[[FieldRule, tuple[Type, ...], Value], bool]


def no_rules(rule: FieldRule, arguments: tuple[Type, ...], value: Value) -> bool:
    """For types whose fields have none."""
    raise AssertionError(f"{rule.place} has a rule")


class Misfit(Exception):
    """The text does not fit; says what does not."""


class NotJsonText(Misfit):
    """It is not even JSON."""


def fitting_json(text: str, wanted: Type, holds: Holds) -> str:
    """The JSON in an answer that fits `wanted` (for a String: the text as it stands); raises `Misfit`."""
    if wanted is STRING:
        return text
    inside = without_fence(text)
    decode(inside, wanted, holds)
    return inside


def decode_answer(text: str, wanted: Type, holds: Holds) -> Value:
    """The value that an answer is; raises `Misfit`. The text of a String stands as it is (spec 8.4.string)."""
    return text if wanted is STRING else decode(text, wanted, holds)


def decode(text: str, wanted: Type, holds: Holds, root: str = "answer") -> Value:
    """The value that JSON is; raises `Misfit`, whose text calls the value `root`."""
    if not text.strip(" \t\n\r"):
        raise NotJsonText(f"{root}: the text is empty")
    try:
        item = read_json(text)
    except NotJson as wrong:
        at = len(text[: wrong.position].encode())
        raise NotJsonText(f"{root}: not JSON at byte {at}: {wrong.problem}") from None
    return _Decoder(holds).value(item, wanted, root)


def without_fence(text: str) -> str:
    """The text without one enclosing fence of three back-quotes, each on a line of its own."""
    fenced = FENCE.fullmatch(text.strip(" \t\r\n"))
    return fenced["inside"] if fenced else text


@dataclass(frozen=True, slots=True)
class _Decoder:
    holds: Holds

    def value(self, item: Json, wanted: Type, path: str) -> Value:
        if wanted is INT:
            return _int(item, path)
        if wanted is FLOAT:
            return _float(item, path)
        if wanted is BOOL:
            return item.value if item.kind == "bool" else _unexpected("`true` or `false`", item, path)
        if wanted is STRING:
            return item.value if item.kind == "string" else _unexpected("a string", item, path)
        if wanted is DURATION or wanted is INSTANT:
            return _time(item, wanted, path)
        if isinstance(wanted, ArrayType):
            if item.kind != "array":
                _unexpected("an array", item, path)
            parts = enumerate(item.value)
            return ArrayValue([self.value(part, wanted.element, f"{path}[{index}]") for index, part in parts])
        if isinstance(wanted, MapType):
            return self._map(item, wanted, path)
        if isinstance(wanted, OptionalType):
            return ABSENT if item.kind == "null" else Present(self.value(item, wanted.element, path))
        if isinstance(wanted, TupleType):
            return self._tuple(item, wanted, path)
        if is_date(wanted):
            return _date(item, wanted, path)
        if isinstance(wanted, RecordType):
            return RecordValue(wanted, self._fields(item, wanted.fields, wanted.arguments, path))
        assert isinstance(wanted, SumType), f"{wanted} cannot be asked for"
        return self._variant(item, wanted, path)

    def _tuple(self, item: Json, wanted: TupleType, path: str) -> TupleValue:
        """An array of just the tuple's elements: of several misfits, the number of elements is the last to be seen."""
        size = len(wanted.elements)
        if item.kind != "array":
            _unexpected(f"an array of {size} elements", item, path)
        pairs = enumerate(zip(item.value, wanted.elements, strict=False))
        elements = tuple([self.value(part, type_, f"{path}[{index}]") for index, (part, type_) in pairs])
        if len(item.value) != size:
            _unexpected(f"an array of {size} elements", item, path)
        return TupleValue(elements)

    def _map(self, item: Json, wanted: MapType, path: str) -> MapValue:
        """An object, each key once; where keys are no Strings, an array of pairs."""
        if wanted.key is not STRING:
            return self._pairs(item, wanted, path)
        if item.kind != "object":
            _unexpected("an object", item, path)
        made = MapValue({})
        for name, content in item.value:
            if name in made.items:
                raise Misfit(f'{path}: the key "{clipped(name)}" is given twice')
            put(made, name, self.value(content, wanted.value, f'{path}["{clipped(name)}"]'))
        return made

    def _pairs(self, item: Json, wanted: MapType, path: str) -> MapValue:
        if item.kind != "array":
            _unexpected("an array", item, path)
        made = MapValue({})
        pair_type = TupleType((wanted.key, wanted.value))
        for index, part in enumerate(item.value):
            key, value = self._tuple(part, pair_type, f"{path}[{index}]").fields
            if key_of(key) in made.items:
                raise Misfit(f"{path}[{index}]: the key {clipped(part.value[0].text)} is given twice")
            put(made, key, value)
        return made

    def _fields(
        self, item: Json, fields: list[FieldInfo] | tuple[FieldInfo, ...], arguments: tuple[Type, ...], path: str
    ) -> tuple[Value, ...]:
        """The values of exactly these fields, each given once, in any order; an optional one may be left out."""
        if item.kind != "object":
            _unexpected("an object", item, path)
        infos = {info.name: info for info in fields}
        given: dict[str, Value] = {}
        for name, content in item.value:
            if name not in infos:
                raise Misfit(f'{path}: there is no field "{clipped(name)}"')
            if name in given:
                raise Misfit(f'{path}: the field "{clipped(name)}" is given twice')
            given[name] = self.value(content, infos[name].type, f"{path}.{name}")
            self._look_at(infos[name], arguments, given[name], path)
        for info in fields:
            if info.name not in given:
                if not isinstance(info.type, OptionalType):
                    raise Misfit(f'{path}: the field "{info.name}" is missing')
                self._look_at(info, arguments, ABSENT, path)
        return tuple(given.get(info.name, ABSENT) for info in fields)

    def _look_at(self, info: FieldInfo, arguments: tuple[Type, ...], value: Value, path: str) -> None:
        if info.rule is not None and not self.holds(info.rule, arguments, value):
            raise Misfit(f"{path}.{info.name}: does not hold: {info.rule.text}")

    def _variant(self, item: Json, wanted: SumType, path: str) -> VariantValue:
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
        fields = self._fields(content, wanted.variants[index].fields, wanted.arguments, f"{path}.{name}")
        if more:
            raise Misfit(f"{path}: the object has more than one key")
        return VariantValue(wanted, index, fields)


def _unexpected(wanted: str, item: Json, path: str) -> NoReturn:
    raise Misfit(f"{path}: expected {wanted}, found {clipped(item.text)}")


def clipped(text: str) -> str:
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


def _time(item: Json, wanted: Type, path: str) -> int:
    """A Duration or an Instant, as it shows."""
    found = None
    if item.kind == "string":
        found = duration_of(item.value) if wanted is DURATION else instant_of(item.value)
    return _unexpected(A_DURATION if wanted is DURATION else AN_INSTANT, item, path) if found is None else found


def _date(item: Json, wanted: RecordType, path: str) -> RecordValue:
    found = date_of(item.value) if item.kind == "string" else None
    return _unexpected(A_DATE, item, path) if found is None else RecordValue(wanted, found)


def date_of(text: str) -> tuple[int, int, int] | None:
    """Year, month and day of `2026-01-01`, where there is such a day."""
    found = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", text, re.ASCII)
    if found is None:
        return None
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    try:
        date(year, month, day)
    except ValueError:
        return None
    return year, month, day


def duration_of(text: str) -> int | None:
    """The nanoseconds of `-?[0-9]+` and a unit."""
    found = re.fullmatch(r"(-?[0-9]{1,19})(ns|us|ms|s|m|h|d)", text, re.ASCII)
    if found is None:
        return None
    value_ns = int(found[1]) * UNITS_NS[found[2]]
    return value_ns if INT_MIN <= value_ns <= INT_MAX else None


def instant_of(text: str) -> int | None:
    """The nanoseconds since 1970 of `2026-01-01T00:00:00Z`, perhaps with a fraction of up to nine digits."""
    found = re.fullmatch(
        r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.([0-9]{1,9}))?Z", text, re.ASCII
    )
    if found is None:
        return None
    try:
        year, month, day, hour, minute, second = [int(part) for part in found.groups()[:6]]
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    fraction_ns = int((found[8] or "0").ljust(9, "0"))
    value_ns = (since.days * 86_400 + since.seconds) * 10**9 + fraction_ns
    return value_ns if INT_MIN <= value_ns <= INT_MAX else None


def _has_fields(wanted: SumType) -> bool:
    return any(info.fields for info in wanted.variants)


def _one_of(wanted: SumType) -> str:
    names = ", ".join(f'"{info.name}"' for info in wanted.variants)
    return f"one variant of {names}" if _has_fields(wanted) else f"one of {names}"
