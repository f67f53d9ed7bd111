"""Operators on values (spec 2): what they give, and where they panic."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from kavachc.interpreter.signals import KavachPanic
from kavachc.interpreter.values import ArrayValue, MapValue, Present, RecordValue, TupleValue, Value, VariantValue
from kavachc.semantics import panics
from kavachc.semantics.typed_ast import ArithmeticOperator, ComparisonOperator, UnaryOperator
from kavachc.semantics.types import FLOAT, STRING, Type
from kavachc.source import Span

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1
WORD_MASK = 2**64 - 1


def arithmetic(symbol: ArithmeticOperator, operands: Type, left: Value, right: Value, span: Span) -> Value:
    """`left symbol right`. `operands` is the left side's type; panics point at `span`."""
    if operands is FLOAT:
        return _float_operation(symbol, left, right)
    if operands is STRING:
        return left + right
    return _int_operation(symbol, left, right, span)


def _int_operation(symbol: ArithmeticOperator, left: int, right: int, span: Span) -> int:
    match symbol:
        case "+":
            result = left + right
        case "-":
            result = left - right
        case "*":
            result = left * right
        case "/":
            result = _quotient(left, right, span)
        case "%":
            result = left - right * _quotient(left, right, span)
        case "&":
            result = left & right
        case "|":
            result = left | right
        case "^":
            result = left ^ right
        case "<<":
            _check_shift(right, span)
            result = _wrap(left << right)
        case ">>":
            _check_shift(right, span)
            result = left >> right
    if not INT_MIN <= result <= INT_MAX:
        raise KavachPanic(panics.INTEGER_OVERFLOW, span)
    return result


def _quotient(left: int, right: int, span: Span) -> int:
    """Toward zero, and exact: `MIN / -1` is 2^63, which `/` refuses and `%` multiplies back."""
    if right == 0:
        raise KavachPanic(panics.DIVISION_BY_ZERO, span)
    magnitude = abs(left) // abs(right)
    return magnitude if (left < 0) == (right < 0) else -magnitude


def _check_shift(amount: int, span: Span) -> None:
    if not 0 <= amount <= 63:
        raise KavachPanic(panics.SHIFT_OUT_OF_RANGE.format(amount=amount), span)


def _wrap(value: int) -> int:
    """The lowest 64 bits, as a signed number."""
    low = value & WORD_MASK
    return low - 2**64 if low > INT_MAX else low


def _float_operation(symbol: ArithmeticOperator, left: float, right: float) -> float:
    match symbol:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return _float_quotient(left, right)
        case "%":
            return _float_remainder(left, right)
        case _:
            raise AssertionError(f"{symbol} is not an operator on Floats")


def _float_quotient(left: float, right: float) -> float:
    """IEEE division, where Python raises for a zero divisor."""
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _float_remainder(left: float, right: float) -> float:
    """C's fmod, where Python raises for a zero divisor and an infinite dividend."""
    if right == 0 or math.isinf(left) or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.fmod(left, right)


def unary(symbol: UnaryOperator, operand: Value, span: Span) -> Value:
    """`-` on Int, Float, Duration; `!` on Bool; `~` on Int."""
    if symbol == "!":
        return not operand
    if symbol == "~":
        return ~operand
    if operand == INT_MIN and isinstance(operand, int):
        raise KavachPanic(panics.INTEGER_OVERFLOW, span)
    return -operand


# Python orders Strings by code point and Floats as IEEE does, which is what Kavach wants.
ORDER: dict[ComparisonOperator, Callable[[Value, Value], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compare(symbol: ComparisonOperator, left: Value, right: Value) -> bool:
    if symbol == "==":
        return equal(left, right)
    if symbol == "!=":
        return not equal(left, right)
    while isinstance(left, TupleValue | RecordValue):
        # Tuples and dates: the first parts that differ decide.
        assert isinstance(right, TupleValue | RecordValue)
        pairs = list(zip(left.fields, right.fields, strict=True))
        left, right = next((pair for pair in pairs if not equal(*pair)), pairs[-1])
    return ORDER[symbol](left, right)


def equal(left: Value, right: Value) -> bool:
    """Structural equality: a NaN is equal to nothing, inside a value too.

    Works from a list of pairs, since values may be nested deeper than Python's stack.
    """
    pending = [(left, right)]
    while pending:
        one, other = pending.pop()
        if isinstance(one, ArrayValue):
            if len(one.items) != len(other.items):
                return False
            pending += zip(one.items, other.items, strict=True)
        elif isinstance(one, MapValue):
            if len(one.items) != len(other.items) or any(key not in other.items for key in one.items):
                return False
            pending += [(value, other.items[key][1]) for key, (_, value) in one.items.items()]
        elif isinstance(one, Present):
            if not isinstance(other, Present):
                return False
            pending.append((one.value, other.value))
        elif isinstance(one, TupleValue):
            pending += zip(one.fields, other.fields, strict=True)
        elif isinstance(one, RecordValue):
            if not isinstance(other, RecordValue) or one.record is not other.record:
                return False
            pending += zip(one.fields, other.fields, strict=True)
        elif isinstance(one, VariantValue):
            if not isinstance(other, VariantValue) or one.sum is not other.sum or one.variant != other.variant:
                return False
            pending += zip(one.fields, other.fields, strict=True)
        elif one != other:
            return False
    return True
