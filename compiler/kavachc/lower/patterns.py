"""Patterns, in two steps: whether one fits, and then its names. A test has no effects, so binding can wait until the
whole pattern fits, and a pattern that does not fit has nothing to give back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kavachc.ir.module import Block, Value
from kavachc.lower.function import FunctionLowering
from kavachc.lower.operators import comparison
from kavachc.lower.types import lower_type
from kavachc.semantics import typed_ast as typed
from kavachc.semantics import types
from kavachc.semantics.typed_ast import ComparisonOperator

# A part of a pattern, and the part of the subject that it stands for.
Part = tuple[typed.Pattern, Value]


def test(state: FunctionLowering, pattern: typed.Pattern, subject: Value, miss: Block) -> None:
    """Goes to `miss` unless the pattern fits the borrowed `subject`."""
    _TESTS[type(pattern)](state, pattern, subject, miss)


def bind(state: FunctionLowering, pattern: typed.Pattern, subject: Value) -> None:
    """Brings the names of a pattern that fits into scope."""
    if isinstance(pattern, typed.BindPattern):
        state.declare(pattern.local, state.build.copy(subject))
        return
    for part, value in _parts(state, pattern, subject, _binds):
        bind(state, part, value)
    if isinstance(pattern, typed.ArrayPattern) and pattern.rest is not None:
        start = state.build.int_const(len(pattern.elements))
        state.declare(pattern.rest, state.build.array_rest(subject, start))


def _binds(pattern: typed.Pattern) -> bool:
    """Whether the pattern has names."""
    if isinstance(pattern, typed.VariantPattern | typed.RecordPattern):
        return any(_binds(part) for _, part in pattern.fields)
    if isinstance(pattern, typed.TuplePattern | typed.ArrayPattern):
        has_rest = isinstance(pattern, typed.ArrayPattern) and pattern.rest is not None
        return has_rest or any(map(_binds, pattern.elements))
    if isinstance(pattern, typed.PresentPattern):
        return _binds(pattern.inner)
    if isinstance(pattern, typed.ErrorPattern):
        return _binds(pattern.inner)
    return isinstance(pattern, typed.BindPattern)


def _is_tested(pattern: typed.Pattern) -> bool:
    """Whether the pattern could miss."""
    return not isinstance(pattern, typed.WildcardPattern | typed.BindPattern)


def _parts(
    state: FunctionLowering, pattern: typed.Pattern, subject: Value, wanted: Callable[[typed.Pattern], bool]
) -> list[Part]:
    """Those parts of the pattern that are `wanted`."""
    build = state.build
    if isinstance(pattern, typed.VariantPattern):
        variant = pattern.variant
        return [(part, build.variant_get(subject, variant, index)) for index, part in pattern.fields if wanted(part)]
    if isinstance(pattern, typed.RecordPattern):
        return [(part, build.record_get(subject, index)) for index, part in pattern.fields if wanted(part)]
    if isinstance(pattern, typed.TuplePattern):
        elements = enumerate(pattern.elements)
        return [(part, build.record_get(subject, index)) for index, part in elements if wanted(part)]
    if isinstance(pattern, typed.ArrayPattern):
        elements = enumerate(pattern.elements)
        return [(part, build.array_at(subject, build.int_const(index))) for index, part in elements if wanted(part)]
    if isinstance(pattern, typed.PresentPattern) and wanted(pattern.inner):
        return [(pattern.inner, build.optional_get(subject))]
    if isinstance(pattern, typed.ErrorPattern) and wanted(pattern.inner):
        return [(pattern.inner, build.error_get(subject, lower_type(pattern.held)))]
    return []


def _test_parts(state: FunctionLowering, pattern: typed.Pattern, subject: Value, miss: Block) -> None:
    for part, value in _parts(state, pattern, subject, _is_tested):
        test(state, part, value, miss)


def _require(state: FunctionLowering, holds: Value, miss: Block) -> None:
    fits = state.build.new_block("fits")
    state.build.branch(holds, fits, miss)
    state.start(fits)


def _always(state: FunctionLowering, pattern: typed.Pattern, subject: Value, miss: Block) -> None:
    pass


def _literal(state: FunctionLowering, pattern: typed.LiteralPattern, subject: Value, miss: Block) -> None:
    literal = _literal_value(state, pattern)
    equal = comparison(state.build, "==", subject, literal)
    state.build.release(literal)
    _require(state, equal, miss)


def _literal_value(state: FunctionLowering, pattern: typed.LiteralPattern) -> Value:
    build = state.build
    if pattern.type == types.FLOAT:
        return build.float_const(float(pattern.value))
    if isinstance(pattern.value, bool):
        return build.bool_const(pattern.value)
    if isinstance(pattern.value, str):
        return build.string_const(pattern.value)
    return build.int_const(int(pattern.value), lower_type(pattern.type))


def _range(state: FunctionLowering, pattern: typed.RangePattern, subject: Value, miss: Block) -> None:
    build = state.build
    start = build.int_const(pattern.start, subject.type)
    _require(state, comparison(build, ">=", subject, start), miss)
    end = build.int_const(pattern.end, subject.type)
    _require(state, comparison(build, "<=" if pattern.inclusive else "<", subject, end), miss)


def _variant(state: FunctionLowering, pattern: typed.VariantPattern, subject: Value, miss: Block) -> None:
    build = state.build
    if len(pattern.sum.variants) > 1:
        tag = build.variant_tag(subject)
        _require(state, comparison(build, "==", tag, build.int_const(pattern.variant)), miss)
    _test_parts(state, pattern, subject, miss)


def _error(state: FunctionLowering, pattern: typed.ErrorPattern, subject: Value, miss: Block) -> None:
    _require(state, state.build.error_is(subject, lower_type(pattern.held)), miss)
    _test_parts(state, pattern, subject, miss)


def _none(state: FunctionLowering, pattern: typed.NonePattern, subject: Value, miss: Block) -> None:
    build = state.build
    _require(state, build.bool_not(build.optional_is(subject)), miss)


def _present(state: FunctionLowering, pattern: typed.PresentPattern, subject: Value, miss: Block) -> None:
    _require(state, state.build.optional_is(subject), miss)
    _test_parts(state, pattern, subject, miss)


def _array(state: FunctionLowering, pattern: typed.ArrayPattern, subject: Value, miss: Block) -> None:
    """The length first, so that the elements looked at are there."""
    build = state.build
    wanted = build.int_const(len(pattern.elements))
    predicate: ComparisonOperator = ">=" if pattern.is_open else "=="
    _require(state, comparison(build, predicate, build.array_length(subject), wanted), miss)
    _test_parts(state, pattern, subject, miss)


def _or(state: FunctionLowering, pattern: typed.OrPattern, subject: Value, miss: Block) -> None:
    build = state.build
    fits = build.new_block("fits")
    for alternative in pattern.alternatives:
        other = build.new_block("or")
        test(state, alternative, subject, other)
        build.jump(fits)
        state.start(other)
    build.jump(miss)
    state.start(fits)


_TESTS: dict[type, Callable[[FunctionLowering, Any, Value, Block], None]] = {
    typed.WildcardPattern: _always,
    typed.BindPattern: _always,
    typed.LiteralPattern: _literal,
    typed.RangePattern: _range,
    typed.VariantPattern: _variant,
    typed.RecordPattern: _test_parts,
    typed.NonePattern: _none,
    typed.PresentPattern: _present,
    typed.TuplePattern: _test_parts,
    typed.ArrayPattern: _array,
    typed.ErrorPattern: _error,
    typed.OrPattern: _or,
}
