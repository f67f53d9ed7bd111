"""Operators on values that are already there: arithmetic and comparison by the types of their operands."""

from __future__ import annotations

from kavachc.ir.builder import FunctionBuilder
from kavachc.ir.module import Location, Value
from kavachc.ir.types import BOOL, DURATION, FLOAT, INSTANT, INT, STRING, Named, Tuple
from kavachc.semantics.typed_ast import ArithmeticOperator, ComparisonOperator, UnaryOperator

_COUNTABLE = (INT, DURATION, INSTANT)
_INT_OPS: dict[ArithmeticOperator, str] = {
    "+": "int.add",
    "-": "int.sub",
    "*": "int.mul",
    "/": "int.div",
    "%": "int.rem",
    "&": "int.and",
    "|": "int.or",
    "^": "int.xor",
    "<<": "int.shl",
    ">>": "int.shr",
}
_FLOAT_OPS: dict[ArithmeticOperator, str] = {
    "+": "float.add",
    "-": "float.sub",
    "*": "float.mul",
    "/": "float.div",
    "%": "float.rem",
}


def arithmetic(
    build: FunctionBuilder, operator: ArithmeticOperator, left: Value, right: Value, place: Location | None
) -> Value:
    """`left operator right`; panics at `place`. The operands are borrowed."""
    if left.type == STRING:
        assert operator == "+"
        return build.emit("string.concat", left, right, location=place)
    if left.type == FLOAT:
        return build.emit(_FLOAT_OPS[operator], left, right, location=place)
    return build.emit(_INT_OPS[operator], left, right, location=place)


def negation(build: FunctionBuilder, operator: UnaryOperator, operand: Value) -> Value:
    """`operator operand`, at the builder's place."""
    if operator == "!":
        return build.bool_not(operand)
    if operator == "~":
        return build.emit("int.not", operand)
    return build.emit("float.neg" if operand.type == FLOAT else "int.neg", operand)


def comparison(build: FunctionBuilder, operator: ComparisonOperator, left: Value, right: Value) -> Value:
    """`left operator right`. The operands are borrowed."""
    if left.type == FLOAT:
        return build.compare("float.compare", operator, left, right)
    if left.type == STRING:
        return build.compare("string.compare", operator, left, right)
    if left.type in _COUNTABLE or left.type == BOOL:
        return build.compare("int.compare", operator, left, right)
    if operator not in ("==", "!="):
        return _lexicographic(build, operator, left, right)
    equal = build.equal(left, right)
    return equal if operator == "==" else build.bool_not(equal)


def _lexicographic(build: FunctionBuilder, operator: ComparisonOperator, left: Value, right: Value) -> Value:
    """Of tuples and dates: the first parts that differ decide.

    (a, b) <= (c, d)        order = a <= c
                            if a == c { order = b <= d }
    """
    if isinstance(left.type, Tuple):
        count = len(left.type.elements)
    else:
        assert isinstance(left.type, Named), f"{left.type} has no order"
        count = len(build.module.records[left.type.name].fields)
    order, after = build.new_local("order", BOOL), build.new_block("order.after")
    for index in range(count):
        one, other = build.record_get(left, index), build.record_get(right, index)
        build.local_set(order, comparison(build, operator, one, other))
        if index < count - 1:
            more = build.new_block("order.more")
            build.branch(comparison(build, "==", one, other), more, after)
            build.position(more)
    build.jump(after)
    build.position(after)
    return build.local_get(order)
