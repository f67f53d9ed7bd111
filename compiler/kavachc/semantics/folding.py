"""Constant numbers, worked out by the checker itself: the bounds of a limit's rules (spec 8.3)."""

from __future__ import annotations

import math

from kavachc.semantics import typed_ast as typed
from kavachc.semantics.literals import INT_MAX, INT_MIN
from kavachc.semantics.types import FLOAT

NOT_CONSTANT = ""
TOO_LARGE = ", and this one is too large"
BY_ZERO = ", and this divides by zero"


def folded(node: typed.Expr) -> int | float | str:
    """The value of literals joined by `+ - * /` and `-`; otherwise the reason, as the diagnostic continues."""
    match node:
        case typed.IntValue() | typed.FloatValue():
            return node.value
        case typed.UnaryOperation(operator="-"):
            operand = folded(node.operand)
            return operand if isinstance(operand, str) else _fitting(-operand)
        case typed.ArithmeticOperation():
            left, right = folded(node.left), folded(node.right)
            if isinstance(left, str):
                return left
            if isinstance(right, str):
                return right
            return _combined(node, left, right)
    return NOT_CONSTANT


def _combined(node: typed.ArithmeticOperation, left: int | float, right: int | float) -> int | float | str:
    match node.operator:
        case "+":
            return _fitting(left + right)
        case "-":
            return _fitting(left - right)
        case "*":
            return _fitting(left * right)
        case "/" if right == 0:
            return BY_ZERO
        case "/" if node.type is FLOAT:
            return _fitting(left / right)
        case "/":
            quotient = abs(int(left)) // abs(int(right))
            return _fitting(quotient if (left < 0) == (right < 0) else -quotient)
    return NOT_CONSTANT


def _fitting(value: int | float) -> int | float | str:
    if isinstance(value, float):
        return value if math.isfinite(value) else TOO_LARGE
    return value if INT_MIN <= value <= INT_MAX else TOO_LARGE
