"""The exact total of a window's amounts (spec 8.3.sum)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

#: Every finite Float is a whole number of the smallest one, 2^-1074.
_SMALLEST_PER_ONE = 1 << 1074


@dataclass(slots=True)
class Total:
    """Of Ints, or of Floats: then `_whole` counts smallest Floats, so that no order matters and nothing drifts."""

    is_float: bool
    _whole: int = 0
    _infinite_count: int = 0

    @property
    def value(self) -> int | float:
        """Of a Float total the nearest Float, of two the even one."""
        if not self.is_float:
            return self._whole
        if self._infinite_count:
            return math.inf
        try:
            return self._whole / _SMALLEST_PER_ONE
        except OverflowError:
            return math.inf

    def add(self, amount: int | float) -> None:
        self._change(amount, 1)

    def remove(self, amount: int | float) -> None:
        self._change(amount, -1)

    def with_one_more(self, amount: int | float) -> int | float:
        self.add(amount)
        value = self.value
        self.remove(amount)
        return value

    def _change(self, amount: int | float, sign: int) -> None:
        if isinstance(amount, int):
            self._whole += sign * amount
        elif math.isinf(amount):
            self._infinite_count += sign
        else:
            numerator, denominator = amount.as_integer_ratio()
            self._whole += sign * numerator * (_SMALLEST_PER_ONE // denominator)


def total_of(amounts: Iterable[int | float], *, is_float: bool) -> Total:
    total = Total(is_float)
    for amount in amounts:
        total.add(amount)
    return total
