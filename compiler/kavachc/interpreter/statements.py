"""Statements and blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from kavachc.interpreter import arithmetic
from kavachc.interpreter.frames import Frame, Steps
from kavachc.interpreter.patterns import matches
from kavachc.interpreter.places import read_place, store
from kavachc.interpreter.rules import look_at_rules
from kavachc.interpreter.signals import Breaks, Continues, Fails, KavachPanic, Leaves, Returns
from kavachc.interpreter.values import Value
from kavachc.semantics import panics
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.types import STRING

if TYPE_CHECKING:
    from kavachc.interpreter.evaluator import Evaluator


def run_block(evaluator: Evaluator, block: typed.Block, frame: Frame) -> Steps:
    """The value of the block's result, after its statements."""
    for statement in block.statements:
        yield from STATEMENTS[type(statement)](evaluator, statement, frame)
    if block.result is None:
        return None
    return (yield from evaluator.expression(block.result, frame))


def function_body(evaluator: Evaluator, function: typed.Function, frame: Frame) -> Steps:
    """The result of the function whose parameters are set in `frame`; raises `Fails` with its error."""
    assert function.body is not None
    try:
        return (yield from run_block(evaluator, function.body, frame))
    except Returns as result:
        return result.value
    except Leaves as failure:
        error = failure.error
    except KavachPanic as panic:
        panic.leave(frame)
        raise
    raise Fails(error)


def _expression(evaluator: Evaluator, statement: typed.ExpressionStatement, frame: Frame) -> Steps:
    return (yield from evaluator.expression(statement.expression, frame))


def _declare(evaluator: Evaluator, statement: typed.Declare, frame: Frame) -> Steps:
    frame.values[statement.local] = yield from evaluator.expression(statement.value, frame)


def _take_apart(evaluator: Evaluator, statement: typed.TakeApart, frame: Frame) -> Steps:
    value = yield from evaluator.expression(statement.value, frame)
    fits = matches(statement.pattern, value, frame)
    assert fits, "the checker has shown that it fits"


def _assign(evaluator: Evaluator, statement: typed.Assign, frame: Frame) -> Steps:
    """The indexes, what stands there (with an operator), the value, the store: in this order."""
    place, operator = statement.place, statement.operator
    indexes = yield from indexes_of(evaluator, place, frame)
    if operator is None:
        result = yield from evaluator.expression(statement.value, frame)
    else:
        before = read_place(place, indexes, frame)
        value = yield from evaluator.expression(statement.value, frame)
        try:
            result = arithmetic.arithmetic(operator, place.type, before, value, statement.operator_span)
        except MemoryError:
            raise KavachPanic(panics.OUT_OF_MEMORY, statement.operator_span) from None
        if place.type is STRING:
            evaluator.count_text(result, statement.operator_span)
    try:
        store(place, indexes, frame, result)
    except MemoryError:
        raise KavachPanic(panics.OUT_OF_MEMORY, place.span) from None
    yield from look_at_rules(evaluator, place, indexes, frame)


def indexes_of(evaluator: Evaluator, place: typed.Place, frame: Frame) -> Steps:
    """The values of the place's indexes, in order, as a list."""
    steps = tuple(step.index for step in place.steps if not isinstance(step, typed.FieldStep))
    return (yield from evaluator.expressions(steps, frame)) if steps else []


def _for_range(evaluator: Evaluator, loop: typed.ForRange, frame: Frame) -> Steps:
    start = yield from evaluator.expression(loop.start, frame)
    end = yield from evaluator.expression(loop.end, frame)
    yield from _turns(evaluator, loop, range(start, end + loop.inclusive), frame)


def _for_each(evaluator: Evaluator, loop: typed.ForEach, frame: Frame) -> Steps:
    """Reading the array has given it away, so a write inside the loop makes a copy and is not seen here."""
    array = yield from evaluator.expression(loop.array, frame)
    yield from _turns(evaluator, loop, array.items, frame)


def _turns(evaluator: Evaluator, loop: typed.ForRange | typed.ForEach, values: Iterable[Value], frame: Frame) -> Steps:
    for value in values:
        evaluator.count_step(loop.span)
        if loop.local is not None:
            frame.values[loop.local] = value
        try:
            yield from run_block(evaluator, loop.body, frame)
        except Continues:
            continue
        except Breaks:
            return


def _while(evaluator: Evaluator, loop: typed.While, frame: Frame) -> Steps:
    while (yield from evaluator.expression(loop.condition, frame)):
        evaluator.count_step(loop.span)
        try:
            yield from run_block(evaluator, loop.body, frame)
        except Continues:
            continue
        except Breaks:
            return


STATEMENTS: dict[type, Callable[[Evaluator, Any, Frame], Steps]] = {
    typed.ExpressionStatement: _expression,
    typed.Declare: _declare,
    typed.TakeApart: _take_apart,
    typed.Assign: _assign,
    typed.ForRange: _for_range,
    typed.ForEach: _for_each,
    typed.While: _while,
}
