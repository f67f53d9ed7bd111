"""Whether a `match` has an arm for every value, and a value for every arm (spec 3).

The method is Maranget's ("Warnings for pattern matching"): a matrix with one row for each pattern and one column for
each value looked at, taken apart column by column. Guarded arms prove nothing, so they are no rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import TypeAlias

from kavachc.semantics import typed_ast as typed
from kavachc.semantics.literals import INT_MAX, INT_MIN
from kavachc.semantics.pattern_rows import ANY, EarlierRows, Interval, Key, Lengths, Row, RowsByKey, Shape
from kavachc.semantics.types import BOOL, DURATION, INT, ArrayType, OptionalType, RecordType, SumType, TupleType, Type

STEPS_MAX = 200_000
# More missing cases than this are not looked for: the message names but a few.
CASES_MAX = 50
# Stands in a case for a name, until all of them are known.
NAME = "\0"
UNITS = (("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000))
SMALL_UNITS = (("ms", 1_000_000), ("us", 1_000), ("ns", 1))


class TooIntricate(Exception):
    """The combinations are too many to go through."""


def missing_cases(subject: Type, arms: Sequence[typed.MatchArm]) -> list[str]:
    """Patterns, as a user writes them, for what no arm fits; empty when the match is complete."""
    rows = [(shape,) for arm in arms if arm.guard is None for shape in _shapes(arm.pattern)]
    columns = _Columns()
    if not rows and isinstance(subject, OptionalType):
        return ["none", _named(NAME)]
    if not rows and isinstance(subject, SumType):
        return [_variant_text(subject, index, ["_"] * len(item.fields)) for index, item in enumerate(subject.variants)]
    return [_named(case) for case in dict.fromkeys(case[0] for case in columns.missing(rows, (subject,)))]


def _named(case: str) -> str:
    """The case with a name of its own wherever one stands: `(value, value2)`."""
    first, *others = case.split(NAME)
    return first + "".join(f"value{'' if number == 1 else number}{text}" for number, text in zip(count(1), others))


def unreachable(subject: Type, arms: Sequence[typed.MatchArm]) -> Iterator[tuple[typed.MatchArm, typed.Pattern | None]]:
    """Arms that nothing reaches, and alternatives `A | B` that add nothing to a reachable arm."""
    columns, inner_columns = _Columns(), _Columns()
    rows = EarlierRows()
    for arm in arms:
        alternatives = _alternatives(arm.pattern)
        own = EarlierRows()
        idle: list[typed.Pattern] = []
        idle_alternatives = 0
        for alternative in alternatives:
            shapes: list[Row] = [(shape,) for shape in _shapes(alternative)]
            earlier = [[*rows.meeting(row), *own.meeting(row)] for row in shapes]
            if not any(columns.is_useful(met, row, (subject,)) for met, row in zip(earlier, shapes, strict=True)):
                idle.append(alternative)
                idle_alternatives += 1
            else:
                met_once = list({id(row): row for met in earlier for row in met}.values())
                # A program need not be refused because this is too much to find out.
                with suppress(TooIntricate):
                    idle.extend(_idle_inside(inner_columns, subject, met_once, alternative))
            for row in shapes:
                own.add(row)
        if idle_alternatives == len(alternatives):
            yield arm, None
        else:
            for alternative in idle:
                yield arm, alternative
        if arm.guard is None:
            for known in own.all():
                rows.add(known)


def _idle_inside(
    columns: _Columns, subject: Type, rows: Sequence[Row], pattern: typed.Pattern
) -> Iterator[typed.Pattern]:
    """The alternatives inside the pattern that add nothing, but not those inside others that add nothing."""
    end = 0
    for alternative, before, alone in _inner_alternatives(pattern):
        if alternative.span.start < end:
            continue
        earlier = [*rows, *((shape,) for item in before for shape in _shapes(item))]
        if not any(columns.is_useful(earlier, (shape,), (subject,)) for shape in _shapes(alone)):
            end = alternative.span.end
            yield alternative


_Choice: TypeAlias = tuple[typed.Pattern, Sequence[typed.Pattern], typed.Pattern]


def _inner_alternatives(pattern: typed.Pattern) -> Iterator[_Choice]:
    """Each alternative of an `A | B` in the pattern, in source order; the pattern with those before it, if there are
    any, in the place of `A | B`; and the pattern with it alone there."""
    match pattern:
        case typed.OrPattern():
            for number, alternative in enumerate(pattern.alternatives):
                before: Sequence[typed.Pattern] = pattern.alternatives[:number]
                yield alternative, before, alternative
                for inner, inner_before, alone in _inner_alternatives(alternative):
                    yield inner, [*before, *inner_before], alone
        case typed.PresentPattern() | typed.ErrorPattern():
            for inner, before, alone in _inner_alternatives(pattern.inner):
                yield inner, [replace(pattern, inner=item) for item in before], replace(pattern, inner=alone)
        case typed.VariantPattern() | typed.RecordPattern():
            for number, (index, field) in enumerate(pattern.fields):
                done, rest = pattern.fields[:number], pattern.fields[number + 1 :]
                for inner, before, alone in _inner_alternatives(field):
                    made = [replace(pattern, fields=(*done, (index, item), *rest)) for item in (*before, alone)]
                    yield inner, made[:-1], made[-1]
        case typed.TuplePattern() | typed.ArrayPattern():
            for number, element in enumerate(pattern.elements):
                done_elements, rest_elements = pattern.elements[:number], pattern.elements[number + 1 :]
                for inner, before, alone in _inner_alternatives(element):
                    made_elements = [
                        replace(pattern, elements=(*done_elements, item, *rest_elements)) for item in (*before, alone)
                    ]
                    yield inner, made_elements[:-1], made_elements[-1]
        case _:
            pass


def _alternatives(pattern: typed.Pattern) -> list[typed.Pattern]:
    return list(pattern.alternatives) if isinstance(pattern, typed.OrPattern) else [pattern]


def _shapes(pattern: typed.Pattern) -> list[Shape]:
    """The pattern as shapes without alternatives: `A(1 | 2)` is two."""
    match pattern:
        case typed.WildcardPattern() | typed.BindPattern():
            return [ANY]
        case typed.LiteralPattern():
            if isinstance(pattern.value, int) and pattern.type in (INT, DURATION):
                return [Shape(Interval(pattern.value, pattern.value))]
            return [Shape(("literal", pattern.value))]
        case typed.RangePattern():
            return [Shape(Interval(pattern.start, pattern.end if pattern.inclusive else pattern.end - 1))]
        case typed.VariantPattern():
            count = len(pattern.sum.variants[pattern.variant].fields)
            # Whatever stands for a hidden field, the library's own patterns fit it.
            return _with_fields(pattern.variant, count, [item for item in pattern.fields if item[0] < count])
        case typed.RecordPattern():
            return _with_fields("record", len(pattern.record.fields), pattern.fields)
        case typed.NonePattern():
            return [Shape("none")]
        case typed.PresentPattern():
            return [Shape("present", (inner,)) for inner in _shapes(pattern.inner)]
        case typed.TuplePattern():
            return _with_fields("tuple", len(pattern.elements), list(enumerate(pattern.elements)))
        case typed.ArrayPattern():
            length = len(pattern.elements)
            return _with_fields(Lengths(length, pattern.is_open), length, list(enumerate(pattern.elements)))
        case typed.ErrorPattern():
            return [Shape(pattern.held, (inner,)) for inner in _shapes(pattern.inner)]
        case typed.OrPattern():
            return [shape for alternative in pattern.alternatives for shape in _shapes(alternative)]


def _with_fields(key: Key, count: int, fields: Sequence[tuple[int, typed.Pattern]]) -> list[Shape]:
    combinations: list[tuple[Shape, ...]] = [(ANY,) * count]
    for index, pattern in fields:
        inside = _shapes(pattern)
        combinations = [(*done[:index], shape, *done[index + 1 :]) for done in combinations for shape in inside]
        if len(combinations) > STEPS_MAX:
            raise TooIntricate
    return [Shape(key, done) for done in combinations]


class _Columns:
    """The matrix algorithm, with a bound on its work."""

    def __init__(self) -> None:
        self._steps = 0

    def _step(self, work: int) -> None:
        self._steps += 1 + work // 64
        if self._steps > STEPS_MAX:
            raise TooIntricate

    def missing(self, rows: Sequence[Row], types: tuple[Type, ...]) -> list[list[str]]:
        """One text for each column, for combinations that no row fits."""
        self._step(len(rows))
        if not types:
            return [] if rows else [[]]
        head, rest = types[0], types[1:]
        keys = self._keys(rows, head)
        if not keys:
            return [["_", *tail] for tail in self.missing([row[1:] for row in rows if row[0].key is None], rest)]
        found: list[list[str]] = []
        others: list[list[str]] | None = None
        used = {row[0].key for row in rows}
        by_key = RowsByKey(rows)
        for key in keys:
            inside = _inside(head, key)
            if not isinstance(key, Interval | Lengths) and key is not None and key not in used:
                # No row names it: what is missing of it is what the rows for anything miss, found once.
                if others is None:
                    others = self.missing([row[1:] for row in rows if row[0].key is None], rest)
                tails = [["_"] * len(inside) + tail for tail in others]
            else:
                tails = self.missing(self._specialized(by_key, key, len(inside)), inside + rest)
            found.extend([_text(head, key, tail[: len(inside)]), *tail[len(inside) :]] for tail in tails)
        return _most_general(found[:CASES_MAX])

    def is_useful(self, rows: Sequence[Row], row: Row, types: tuple[Type, ...]) -> bool:
        """Whether `row` fits something that no earlier row fits."""
        self._step(len(rows))
        if not types:
            return not rows
        head, rest = types[0], types[1:]
        own = row[0].key
        keys: Sequence[Key | None] = [own]
        if own is None or isinstance(own, Interval | Lengths):
            keys = self._keys([*rows, row], head) or [None]
        if isinstance(own, Lengths):
            keys = [key for key in keys if isinstance(key, Lengths) and _has_length(own, key)]
        elif isinstance(own, Interval):
            keys = [key for key in keys if isinstance(key, Interval) and own.low <= key.low and key.high <= own.high]
        by_key = RowsByKey(rows)
        for key in keys:
            inside = _inside(head, key)
            for special in _specialized([row], key, len(inside)):
                if self.is_useful(self._specialized(by_key, key, len(inside)), special, inside + rest):
                    return True
        return False

    def _specialized(self, rows: RowsByKey, key: Key | None, width: int) -> list[Row]:
        candidates, looked_at = rows.candidates(key)
        self._step(looked_at)
        return _specialized(candidates, key, width)

    def _keys(self, rows: Sequence[Row], head: Type) -> list[Key | None]:
        """The cases that the first column is split into; empty when no row looks at it. None is "any other"."""
        used = dict.fromkeys(row[0].key for row in rows if row[0].key is not None)
        if not used:
            return []
        if isinstance(head, SumType):
            return list(range(len(head.variants)))
        if isinstance(head, RecordType):
            return ["record"]
        if isinstance(head, TupleType):
            return ["tuple"]
        if isinstance(head, OptionalType):
            return ["none", "present"]
        if isinstance(head, ArrayType):
            return list(_lengths([key for key in used if isinstance(key, Lengths)]))
        if head is BOOL:
            return [("literal", True), ("literal", False)]
        if head is INT or head is DURATION:
            return list(_split([key for key in used if isinstance(key, Interval)]))
        return [*used, None]


def _has_length(shape: Lengths, key: Lengths) -> bool:
    """Whether the shape fits the lengths of `key`, which no shape of its column divides."""
    return key.low >= shape.low if shape.is_open else key == shape


def _lengths(used: Sequence[Lengths]) -> Iterator[Lengths]:
    """All lengths, each on its own up to where nothing tells longer ones apart."""
    longest = max(item.low + (not item.is_open) for item in used)
    for length in range(longest):
        yield Lengths(length, False)
    yield Lengths(longest, True)


def _most_general(cases: list[list[str]]) -> list[list[str]]:
    """Without the cases that another one covers: `_` says all that `_` and `3` say."""

    def covers(left: list[str], right: list[str]) -> bool:
        return left != right and all(one in ("_", other) for one, other in zip(left, right, strict=True))

    return [case for case in cases if not any(covers(other, case) for other in cases)]


def _split(intervals: Sequence[Interval]) -> Iterator[Interval]:
    """All of Int, cut wherever one of the intervals begins or ends."""
    starts = {INT_MIN}
    for interval in intervals:
        starts.add(interval.low)
        if interval.high < INT_MAX:
            starts.add(interval.high + 1)
    ordered = sorted(starts)
    for position, low in enumerate(ordered):
        yield Interval(low, ordered[position + 1] - 1 if position + 1 < len(ordered) else INT_MAX)


def _specialized(rows: Sequence[Row], key: Key | None, width: int) -> list[Row]:
    """The rows that fit `key` in the first column, with that column replaced by what is inside it."""
    result: list[Row] = []
    for row in rows:
        shape = row[0]
        if shape.key is None:
            result.append((ANY,) * width + row[1:])
        elif isinstance(shape.key, Interval) and isinstance(key, Interval):
            if shape.key.low <= key.low and key.high <= shape.key.high:
                result.append(row[1:])
        elif isinstance(shape.key, Lengths) and isinstance(key, Lengths):
            if _has_length(shape.key, key):
                result.append(shape.inside + (ANY,) * (width - len(shape.inside)) + row[1:])
        elif shape.key == key:
            result.append(shape.inside + row[1:])
    return result


def _inside(head: Type, key: Key | None) -> tuple[Type, ...]:
    """The types of the columns that `key` opens."""
    if key is None:
        return ()
    if isinstance(head, SumType) and isinstance(key, int):
        return tuple(item.type for item in head.variants[key].fields)
    if isinstance(head, RecordType):
        return tuple(item.type for item in head.fields)
    if isinstance(head, TupleType):
        return head.elements
    if isinstance(head, OptionalType):
        return (head.element,) if key == "present" else ()
    if isinstance(head, ArrayType) and isinstance(key, Lengths):
        return (head.element,) * key.low
    return (key,) if isinstance(key, SumType | RecordType) else ()


def _text(head: Type, key: Key | None, inside: list[str]) -> str:
    """A missing case as a pattern."""
    if isinstance(head, SumType) and isinstance(key, int):
        return _variant_text(head, key, inside)
    if isinstance(head, RecordType):
        return "_" if all(part == "_" for part in inside) else f"{head.name}({', '.join(inside)})"
    if isinstance(head, TupleType):
        return "_" if all(part == "_" for part in inside) else f"({', '.join(inside)})"
    if isinstance(head, OptionalType):
        # A name fits only what is there; `_` would fit `none`, too.
        return "none" if key == "none" else NAME if inside[0] in ("_", "none") else inside[0]
    if isinstance(key, Lengths):
        return f"[{', '.join([*inside, '..'] if key.is_open else inside)}]"
    if isinstance(key, Interval):
        return _interval_text(head, key)
    if head is BOOL and isinstance(key, tuple):
        return "true" if key[1] else "false"
    if isinstance(key, SumType | RecordType):
        return inside[0] if inside[0] != "_" else "_"
    return "_"


def _variant_text(sum_: SumType, index: int, inside: list[str]) -> str:
    name = f"{sum_.name}.{sum_.variants[index].name}"
    return f"{name}({', '.join(inside)})" if inside else name


def _interval_text(head: Type, interval: Interval) -> str:
    if interval.low == INT_MIN or interval.high == INT_MAX:
        return "_"
    show = _duration_text if head is DURATION else str
    if interval.low == interval.high:
        return show(interval.low)
    return f"{show(interval.low)}..={show(interval.high)}"


def _duration_text(value_ns: int) -> str:
    for unit, size in (*UNITS, *SMALL_UNITS):
        if value_ns % size == 0 and value_ns != 0:
            return f"{value_ns // size}{unit}"
    return "0s"
