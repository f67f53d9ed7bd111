"""The bound of a rule, read out of its text: a state file names rules by their text and says no more."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite

_RULE = re.compile(r"(?P<sign><=|<) (?P<bound>.+?) per ")
_DURATION = re.compile(r"\b([0-9][0-9_]*)(ms|s|m|h|d)\b")
_TEXT_LENGTH_MAX = 200
_UNITS_NS = {"ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3_600 * 10**9, "d": 86_400 * 10**9}


@dataclass(frozen=True, slots=True)
class Bound:
    """`value` is None when it is not made of literals that this file knows. `is_duration`: in nanoseconds."""

    text: str
    is_strict: bool
    value: int | float | None
    is_duration: bool

    def allows(self, total: int | float) -> bool:
        """Whether a call may bring the window to that total."""
        return self.value is None or (total < self.value if self.is_strict else total <= self.value)


@lru_cache(1024)
def bound_of(rule: str) -> Bound | None:
    """None for a text without a bound."""
    found = _RULE.search(rule)
    if found is None:
        return None
    text = found["bound"]
    is_duration = _DURATION.search(text) is not None
    value = None
    # A state file can be anybody's: a text that long is no rule that somebody wrote.
    if len(text) <= _TEXT_LENGTH_MAX:
        try:
            plain = _DURATION.sub(lambda match: str(int(match[1].replace("_", "")) * _UNITS_NS[match[2]]), text)
            value = _value(ast.parse(plain, mode="eval").body)
        except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
            value = None
    return Bound(text, found["sign"] == "<", value if value is None or isfinite(value) else None, is_duration)


def _value(node: ast.expr) -> int | float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=operator, right=right):
            return _operation(operator, _value(left), _value(right))
    raise ValueError


def _operation(operator: ast.operator, left: int | float, right: int | float) -> int | float:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            if isinstance(left, int) and isinstance(right, int):
                quotient = abs(left) // abs(right)  # Toward zero, as in Kavach.
                return quotient if (left < 0) == (right < 0) else -quotient
            return left / right
    raise ValueError
