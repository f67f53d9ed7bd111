"""Expressions that may wait, branch, leave or write: generators, one per node."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kavachc.interpreter.calls import call, spawn
from kavachc.interpreter.combine import COMBINE
from kavachc.interpreter.frames import Frame, Steps
from kavachc.interpreter.library import CHANGES
from kavachc.interpreter.patterns import matches
from kavachc.interpreter.places import MAP_CHANGES, Reference, change_array, may_hold_array
from kavachc.interpreter.rules import look_at_rules
from kavachc.interpreter.signals import Breaks, Continues, Fails, KavachPanic, Leaves, Panics, Returns
from kavachc.interpreter.statements import indexes_of, run_block
from kavachc.interpreter.values import Present
from kavachc.semantics import typed_ast as typed

if TYPE_CHECKING:
    from kavachc.interpreter.evaluator import Evaluator


def _combine(evaluator: Evaluator, node: Any, frame: Frame) -> Steps:
    """A combination with a child that is not simple. Every child gives its value away: a later one may write."""
    combination = COMBINE[type(node)]
    values = yield from evaluator.expressions(combination.children(node), frame)
    return combination.combine(evaluator, node, frame, values)


def _builtin_call(evaluator: Evaluator, node: typed.CallBuiltin, frame: Frame) -> Steps:
    return (call if node.builtin.waits else _combine)(evaluator, node, frame)


def _mutating_builtin(evaluator: Evaluator, node: typed.CallMutatingBuiltin, frame: Frame) -> Steps:
    indexes = yield from indexes_of(evaluator, node.place, frame)
    arguments = yield from evaluator.expressions(node.arguments, frame)
    key = node.builtin.key
    try:
        if key in MAP_CHANGES:
            result = MAP_CHANGES[key](node.place, indexes, frame, *arguments)
        else:
            result = change_array(node.place, indexes, frame, lambda items: CHANGES[key](items, *arguments))
    except Panics as panic:
        raise KavachPanic(str(panic), node.span) from None
    yield from look_at_rules(evaluator, node.place, indexes, frame)
    if may_hold_array(node.type):
        # What was taken out may be the variable's own; it may be put back later, by another.
        frame.owners.pop(node.place.local, None)
    return result


def _mut_argument(evaluator: Evaluator, node: typed.MutArgument, frame: Frame) -> Steps:
    return Reference(node.place, (yield from indexes_of(evaluator, node.place, frame)), frame)


def _logical(evaluator: Evaluator, node: typed.LogicalOperation, frame: Frame) -> Steps:
    left = yield from evaluator.expression(node.left, frame)
    decided = left if node.operator == "||" else not left
    return left if decided else (yield from evaluator.expression(node.right, frame))


def _if(evaluator: Evaluator, node: typed.If, frame: Frame) -> Steps:
    if (yield from evaluator.expression(node.condition, frame)):
        return (yield from run_block(evaluator, node.then, frame))
    if node.otherwise is None:
        return None
    return (yield from evaluator.expression(node.otherwise, frame))


def _match(evaluator: Evaluator, node: typed.Match, frame: Frame) -> Steps:
    subject = yield from evaluator.expression(node.subject, frame)
    for arm in node.arms:
        if matches(arm.pattern, subject, frame) and (
            arm.guard is None or (yield from evaluator.expression(arm.guard, frame))
        ):
            return (yield from evaluator.expression(arm.body, frame))
    raise AssertionError("the checker has shown that one of the arms fits")


def _try(evaluator: Evaluator, node: typed.Try, frame: Frame) -> Steps:
    """The operand's error leaves the function. As an `Error` it is the same value, so `converts` changes nothing."""
    try:
        return (yield from evaluator.expression(node.operand, frame))
    except Fails as failure:
        error = failure.error
    raise Leaves(error)


def _catch(evaluator: Evaluator, node: typed.Catch, frame: Frame) -> Steps:
    try:
        value = yield from evaluator.expression(node.operand, frame)
        return Present(value) if node.wraps else value
    except Fails as failure:
        error = failure.error
    if node.binder is not None:
        frame.values[node.binder] = error
    return (yield from evaluator.expression(node.handler, frame))


def _fail(evaluator: Evaluator, node: typed.Fail, frame: Frame) -> Steps:
    raise Leaves((yield from evaluator.expression(node.error, frame)))


def _return(evaluator: Evaluator, node: typed.Return, frame: Frame) -> Steps:
    raise Returns(None if node.value is None else (yield from evaluator.expression(node.value, frame)))


def _break(_evaluator: Evaluator, _node: typed.Break, _frame: Frame) -> Steps:
    raise Breaks
    yield  # Makes this a generator, as every row of the table is.


def _continue(_evaluator: Evaluator, _node: typed.Continue, _frame: Frame) -> Steps:
    raise Continues
    yield


COMPOUND: dict[type, Callable[[Evaluator, Any, Frame], Steps]] = {
    # Every combination may have a child that is not simple.
    **dict.fromkeys(COMBINE, _combine),
    typed.CallBuiltin: _builtin_call,
    typed.LogicalOperation: _logical,
    typed.CallFunction: call,
    typed.CallValue: call,
    typed.CallCapability: call,
    typed.CallHandler: call,
    typed.Ask: call,
    typed.CallMutatingBuiltin: _mutating_builtin,
    typed.MutArgument: _mut_argument,
    typed.Spawn: spawn,
    typed.Block: run_block,
    typed.If: _if,
    typed.Match: _match,
    typed.Try: _try,
    typed.Catch: _catch,
    typed.Fail: _fail,
    typed.Return: _return,
    typed.Break: _break,
    typed.Continue: _continue,
}
