"""Patterns without their names, in rows, and which rows have to do with a key or with another row: found without a look
at all of them, so that thousands of plain arms are no more than linear work."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Interval:
    """The Ints (or nanoseconds) from `low` to `high`, both included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Lengths:
    """Arrays of `low` elements, or with `is_open` of at least so many."""

    low: int
    is_open: bool


# A constructor is a variant's index, a Bool, an Interval, Lengths, a literal, a held type, "record", "tuple", "none" or
# "present".
Key: TypeAlias = object


@dataclass(frozen=True, slots=True)
class Shape:
    """A pattern with its names forgotten: None as `key` fits anything. `inside` are the fields' patterns."""

    key: Key | None
    inside: tuple[Shape, ...] = ()


ANY = Shape(None)
Row: TypeAlias = tuple[Shape, ...]
Numbered: TypeAlias = tuple[int, Row]


class RowsByKey:
    """Rows by what they want of their first column; those that look at a length are left to be gone through."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._by_key: dict[Key, list[Numbered]] = {}
        self._others: list[Numbered] = []
        ranges: list[tuple[int, int, Numbered]] = []
        for item in enumerate(rows):
            key = item[1][0].key
            if key is None or isinstance(key, Lengths):
                self._others.append(item)
            elif isinstance(key, Interval) and key.low < key.high:
                ranges.append((key.low, key.high, item))
            else:
                self._by_key.setdefault(key, []).append(item)
        ranges.sort(key=lambda range_: range_[0])
        self._ranges = ranges
        self._lows = [low for low, _, _ in ranges]
        # The highest end of a range and those before it.
        self._highest = list(accumulate((high for _, high, _ in ranges), max))

    def candidates(self, key: Key | None) -> tuple[list[Row], int]:
        """The rows, in their order, that may fit `key`: all that do are among them. And how many were looked at."""
        found = [*self._by_key.get(key, ()), *self._others]
        looked_at = len(found)
        if isinstance(key, Interval):
            position = bisect_right(self._lows, key.low) - 1
            while position >= 0 and self._highest[position] >= key.high:
                _, high, item = self._ranges[position]
                if high >= key.high:
                    found.append(item)
                position -= 1
                looked_at += 1
        found.sort(key=lambda item: item[0])
        return [row for _, row in found], looked_at


class EarlierRows:
    """Rows of one column, to which others are added, and which of them meet another one."""

    def __init__(self) -> None:
        self._by_key: dict[Key, list[Row]] = {}
        self._others: list[Row] = []
        # What the intervals cover, as intervals that do not touch.
        self._lows: list[int] = []
        self._highs: list[int] = []

    def add(self, row: Row) -> None:
        key = row[0].key
        if key is None or isinstance(key, Lengths):
            self._others.append(row)
        elif isinstance(key, Interval):
            # Those that it meets or touches become one with it.
            first, end = bisect_left(self._highs, key.low - 1), bisect_right(self._lows, key.high + 1)
            low, high = min([key.low, *self._lows[first:end]]), max([key.high, *self._highs[first:end]])
            self._lows[first:end], self._highs[first:end] = [low], [high]
        elif row[0].inside:
            self._by_key.setdefault(key, []).append(row)
        else:
            self._by_key[key] = [row]

    def meeting(self, row: Row) -> list[Row]:
        """Rows that fit whatever one of those added fits and `row` fits, too."""
        key = row[0].key
        if key is None:
            return self.all()
        if isinstance(key, Interval):
            first, end = bisect_left(self._highs, key.low), bisect_right(self._lows, key.high)
            return [*self._others, *self._covered(first, end)]
        return [*self._by_key.get(key, ()), *self._others]

    def all(self) -> list[Row]:
        """Rows that fit what those added fit."""
        return [*chain.from_iterable(self._by_key.values()), *self._others, *self._covered(0, len(self._lows))]

    def _covered(self, first: int, end: int) -> list[Row]:
        return [(Shape(Interval(*ends)),) for ends in zip(self._lows[first:end], self._highs[first:end], strict=True)]
