"""Showing, comparing and computing with values in the interpreter (spec 2)."""

from __future__ import annotations

import math

import pytest
from kavachc.interpreter import arithmetic
from kavachc.interpreter.builtins import AT_ONCE, WAITING
from kavachc.interpreter.library import CHANGES, LIBRARY
from kavachc.interpreter.places import MAP_CHANGES
from kavachc.interpreter.show import show, show_float, show_inside
from kavachc.interpreter.signals import KavachPanic
from kavachc.interpreter.values import ArrayValue, RecordValue, VariantValue
from kavachc.semantics.builtins import BUILTINS, GUARDS
from kavachc.semantics.types import (
    BOOL,
    DURATION,
    ERROR,
    FLOAT,
    INSTANT,
    INT,
    NOTHING,
    STRING,
    ArrayType,
    FieldInfo,
    RecordType,
    SumType,
    Type,
    VariantInfo,
)
from kavachc.source import SourceFile, Span

SPAN = Span(SourceFile("a.kav", "one\ntwo"), 4, 5)
MIN, MAX = -(2**63), 2**63 - 1


def field(name: str, field_type: Type) -> FieldInfo:
    return FieldInfo(name, field_type, False, None, SPAN)


POINT = RecordType("Point", SPAN, None, [field("x", FLOAT), field("name", STRING)])
EMPTY = RecordType("Empty", SPAN, None)
LIST = SumType("List", SPAN, None)
LIST.variants = [
    VariantInfo("End", (), None, SPAN),
    VariantInfo("Node", (field("value", INT), field("next", LIST)), None, SPAN),
]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.30000000000000004"),
        (-0.0, "-0.0"),
        (100.0, "100.0"),
        (1e-6, "0.000001"),
        (1.5e-6, "0.0000015"),
        (1e-7, "1e-7"),
        (9.5e-7, "9.5e-7"),
        (1e15, "1000000000000000.0"),
        (9007199254740993.0, "9007199254740992.0"),
        (1e16, "1e16"),
        (1e21, "1e21"),
        (1.5e300, "1.5e300"),
        (5e-324, "5e-324"),
        (-1.25, "-1.25"),
        (123456789.0, "123456789.0"),
        (1234567890123456.8, "1234567890123456.8"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
    ],
)
def test_floats_show_the_shortest_text(value: float, text: str) -> None:
    assert show_float(value) == text


@pytest.mark.parametrize(
    ("value", "value_type", "text"),
    [
        (MIN, INT, "-9223372036854775808"),
        (True, BOOL, "true"),
        ('a"b\n', STRING, 'a"b\n'),
        (0, DURATION, "0s"),
        (90_000_000_000, DURATION, "90s"),
        (3_600_000_000_000, DURATION, "1h"),
        (1_500_000_000, DURATION, "1500ms"),
        (-5_000_000_000, DURATION, "-5s"),
        (1_001, DURATION, "1001ns"),
        (86_400_000_000_000 * 7, DURATION, "7d"),
        (1_767_225_600_000_000_000, INSTANT, "2026-01-01T00:00:00Z"),
        (1_767_225_600_500_000_000, INSTANT, "2026-01-01T00:00:00.500Z"),
        (1_767_225_600_000_001_000, INSTANT, "2026-01-01T00:00:00.000001Z"),
        (-1, INSTANT, "1969-12-31T23:59:59.999999999Z"),
        (None, NOTHING, "()"),
        (ArrayValue([]), ArrayType(INT), "[]"),
        (ArrayValue(["a", 'x"{\x1b']), ArrayType(STRING), '["a", "x\\"\\{\\u{1b}"]'),
        (RecordValue(POINT, (1.0, "p")), POINT, 'Point(x: 1.0, name: "p")'),
        (RecordValue(EMPTY, ()), EMPTY, "Empty()"),
        (VariantValue(LIST, 0), ERROR, "End"),
        (VariantValue(LIST, 1, (5, VariantValue(LIST, 0))), LIST, "Node(value: 5, next: End)"),
    ],
)
def test_values_show_as_the_text_that_makes_them(value: object, value_type: Type, text: str) -> None:
    assert show(value, value_type) == text


def test_a_string_inside_a_value_is_quoted() -> None:
    assert show_inside("a\\\0\x7f}", STRING) == '"a\\\\\\0\\u{7f}\\}"'


def test_deep_values_show_and_compare_without_python_recursion() -> None:
    def chain(last: int) -> VariantValue:
        value = VariantValue(LIST, 0)
        for number in range(50_000):
            value = VariantValue(LIST, 1, (last if number == 0 else number, value))
        return value

    assert show(chain(0), LIST).count("Node(") == 50_000
    assert arithmetic.equal(chain(0), chain(0))
    assert not arithmetic.equal(chain(0), chain(1))


def test_equality_is_structural_and_nan_equals_nothing() -> None:
    nan = math.nan
    assert not arithmetic.equal(ArrayValue([nan]), ArrayValue([nan]))
    same = RecordValue(POINT, (nan, "a"))
    assert not arithmetic.equal(same, same)
    assert arithmetic.equal(RecordValue(POINT, (-0.0, "a")), RecordValue(POINT, (0.0, "a")))
    assert not arithmetic.equal(ArrayValue([1]), ArrayValue([1, 1]))
    assert not arithmetic.equal(VariantValue(LIST, 0), RecordValue(EMPTY, ()))


@pytest.mark.parametrize(
    ("symbol", "left", "right", "result"),
    [
        ("/", -7, 2, -3),
        ("%", -7, 2, -1),
        ("%", 7, -2, 1),
        ("%", MIN, -1, 0),
        ("/", 2**62 + 1, 3, (2**62 + 1) // 3),
        ("<<", 1, 63, MIN),
        ("<<", 3, 63, MIN),
        (">>", -1, 63, -1),
        (">>", MIN, 63, -1),
        ("^", -1, 5, -6),
    ],
)
def test_int_operators(symbol: str, left: int, right: int, result: int) -> None:
    assert arithmetic.arithmetic(symbol, INT, left, right, SPAN) == result  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("symbol", "left", "right", "message"),
    [
        ("+", MAX, 1, "integer overflow"),
        ("-", MIN, 1, "integer overflow"),
        ("*", 2**32, 2**31, "integer overflow"),
        ("/", MIN, -1, "integer overflow"),
        ("/", 1, 0, "division by zero"),
        ("%", 1, 0, "division by zero"),
        ("<<", 1, 64, "shift by 64 is outside 0..63"),
        (">>", 1, -1, "shift by -1 is outside 0..63"),
    ],
)
def test_int_panics(symbol: str, left: int, right: int, message: str) -> None:
    with pytest.raises(KavachPanic) as raised:
        arithmetic.arithmetic(symbol, INT, left, right, SPAN)  # type: ignore[arg-type]
    assert raised.value.report() == f"panic: {message} at a.kav:2:1"


def test_floats_never_panic() -> None:
    def float_of(symbol: str, left: float, right: float) -> float:
        result = arithmetic.arithmetic(symbol, FLOAT, left, right, SPAN)  # type: ignore[arg-type]
        assert isinstance(result, float)
        return result

    assert float_of("/", 1.0, 0.0) == math.inf
    assert float_of("/", 1.0, -0.0) == -math.inf
    assert math.isnan(float_of("/", 0.0, 0.0))
    assert math.isnan(float_of("%", math.inf, 2.0))
    assert math.isnan(float_of("%", 1.0, 0.0))
    assert float_of("%", -5.5, 2.0) == -1.5
    assert float_of("%", 5.5, math.inf) == 5.5
    assert float_of("*", 1e200, 1e200) == math.inf


def test_negation() -> None:
    assert math.copysign(1.0, arithmetic.unary("-", 0.0, SPAN)) == -1.0
    assert arithmetic.unary("~", 5, SPAN) == -6
    with pytest.raises(KavachPanic):
        arithmetic.unary("-", MIN, SPAN)


def test_every_builtin_has_one_implementation() -> None:
    implemented = [*AT_ONCE, *WAITING, *LIBRARY, *CHANGES, *MAP_CHANGES]
    assert sorted(implemented) == sorted({row.key for row in (*BUILTINS, *GUARDS.values())})
    for row in BUILTINS:
        assert (row.key in CHANGES or row.key in MAP_CHANGES) == row.mutates
        assert (row.key in WAITING) == row.waits
        assert row.effect is None or row.key not in LIBRARY
