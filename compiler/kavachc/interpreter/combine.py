"""Expressions that combine the values of their children: one row per node (spec 2).

`children` are evaluated in the order given; `combine` gets their values and gives the expression's own. It neither
waits nor writes to a variable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from kavachc.interpreter import arithmetic
from kavachc.interpreter.builtins import AT_ONCE
from kavachc.interpreter.frames import Frame
from kavachc.interpreter.library import LIBRARY
from kavachc.interpreter.places import element, value_at
from kavachc.interpreter.show import show, show_cut
from kavachc.interpreter.signals import KavachPanic, Panics
from kavachc.interpreter.values import (
    ABSENT,
    AgentHandle,
    ArrayValue,
    CapabilityValue,
    FunctionData,
    Present,
    RecordValue,
    TupleValue,
    Value,
    VariantValue,
    limited,
    map_of,
)
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.types import STRING, RecordType, SumType

if TYPE_CHECKING:
    from kavachc.interpreter.evaluator import Evaluator

# The table pairs each node's class with functions on it, which Python's types cannot say.
Node: TypeAlias = Any
Values: TypeAlias = list[Value]


class Combination(NamedTuple):
    children: Callable[[Node], tuple[typed.Expr, ...]]
    combine: Callable[[Evaluator, Node, Frame, Values], Value]


def _no_children(_node: Node) -> tuple[typed.Expr, ...]:
    return ()


def _field_values(node: Node) -> tuple[typed.Expr, ...]:
    return tuple(value for _index, value in node.fields)


def _in_order(node: Node, values: Values) -> tuple[Value, ...]:
    """The fields by their index, from the values in the order of evaluation."""
    by_index = {index: value for (index, _), value in zip(node.fields, values, strict=True)}
    return tuple(by_index[index] for index in range(len(by_index)))


def _interpolation(evaluator: Evaluator, node: typed.Interpolation, frame: Frame, values: Values) -> Value:
    parts = [show(value, frame.type(part.type)) for part, value in zip(node.parts, values, strict=True)]
    return evaluator.count_text("".join(parts), node.span)


def _panic(_evaluator: Evaluator, node: typed.Panic, _frame: Frame, values: Values) -> Value:
    raise KavachPanic(values[0], node.span)


def _record(_evaluator: Evaluator, node: typed.RecordMake, frame: Frame, values: Values) -> Value:
    return RecordValue(cast(RecordType, frame.type(node.record)), _in_order(node, values))


def _variant(_evaluator: Evaluator, node: typed.VariantMake, frame: Frame, values: Values) -> Value:
    return VariantValue(cast(SumType, frame.type(node.sum)), node.variant, _in_order(node, values))


def _update(_evaluator: Evaluator, node: typed.RecordUpdate, _frame: Frame, values: Values) -> Value:
    target, *replacements = values
    fields = list(target.fields)
    for (index, _), value in zip(node.fields, replacements, strict=True):
        fields[index] = value
    return RecordValue(target.record, tuple(fields))


def _index(_evaluator: Evaluator, node: typed.IndexGet, _frame: Frame, values: Values) -> Value:
    array, index = values
    return element(array, index, node.span)


def _key(_evaluator: Evaluator, node: typed.MapGet, frame: Frame, values: Values) -> Value:
    map_, key = values
    return value_at(map_, key, frame.type(node.index.type), node.span)


def _arithmetic(evaluator: Evaluator, node: typed.ArithmeticOperation, _frame: Frame, values: Values) -> Value:
    left, right = values
    result = arithmetic.arithmetic(node.operator, node.left.type, left, right, node.operator_span)
    return evaluator.count_text(result, node.operator_span) if node.type is STRING else result


def _builtin(evaluator: Evaluator, node: typed.CallBuiltin, frame: Frame, values: Values) -> Value:
    key = node.builtin.key
    try:
        if key not in LIBRARY:
            types = tuple(frame.type(item.type) for item in (*node.arguments, node))
            return AT_ONCE[key](evaluator, types, values)
        result = LIBRARY[key](*values)
    except Panics as panic:
        raise KavachPanic(str(panic), node.span) from None
    return evaluator.count_text(result, node.span) if node.type is STRING else result


def _start(_evaluator: Evaluator, node: typed.AgentStart, _frame: Frame, values: Values) -> Value:
    given = {index: value for (index, _), value in zip(node.capabilities, values, strict=True)}
    return AgentHandle(node.agent, tuple(given[index] for index in range(len(node.agent.capabilities))))


def _agent_capability(_evaluator: Evaluator, node: typed.AgentCapability, frame: Frame, _values: Values) -> Value:
    assert frame.handle is not None, "only a handler sees its agent's capabilities"
    return limited(node.agent, frame.handle.capabilities[node.index])


def _closure(_evaluator: Evaluator, node: typed.Closure, frame: Frame, values: Values) -> Value:
    return FunctionData(node.function, tuple(values), frame.agent, frame.types)


def _to_capability(evaluator: Evaluator, node: typed.ToCapability, _frame: Frame, values: Values) -> Value:
    (record,) = values
    return CapabilityValue(evaluator.implementations[record.record, node.capability], record)


_LITERAL = Combination(_no_children, lambda _evaluator, node, _frame, _values: node.value)

COMBINE: dict[type, Combination] = {
    typed.IntValue: _LITERAL,
    typed.FloatValue: _LITERAL,
    typed.BoolValue: _LITERAL,
    typed.StringValue: _LITERAL,
    typed.NothingValue: Combination(_no_children, lambda _evaluator, _node, _frame, _values: None),
    typed.ConstGet: Combination(
        _no_children, lambda evaluator, node, _frame, _values: evaluator.constant(node.constant)
    ),
    typed.AgentCapability: Combination(_no_children, _agent_capability),
    typed.Interpolation: Combination(lambda node: node.parts, _interpolation),
    typed.Shown: Combination(
        lambda node: (node.value,),
        lambda _evaluator, node, frame, values: show_cut(values[0], frame.type(node.value.type)),
    ),
    typed.Panic: Combination(lambda node: (node.message,), _panic),
    typed.ArrayMake: Combination(
        lambda node: node.elements, lambda _evaluator, _node, _frame, values: ArrayValue(values)
    ),
    typed.MapMake: Combination(lambda node: node.parts, lambda _evaluator, _node, _frame, values: map_of(values)),
    typed.NoneValue: Combination(_no_children, lambda _evaluator, _node, _frame, _values: ABSENT),
    typed.ToOptional: Combination(
        lambda node: (node.value,), lambda _evaluator, _node, _frame, values: Present(values[0])
    ),
    typed.TupleMake: Combination(
        lambda node: node.elements, lambda _evaluator, _node, _frame, values: TupleValue(tuple(values))
    ),
    typed.RecordMake: Combination(_field_values, _record),
    typed.VariantMake: Combination(_field_values, _variant),
    typed.RecordUpdate: Combination(lambda node: (node.target, *_field_values(node)), _update),
    typed.FieldGet: Combination(
        lambda node: (node.target,), lambda _evaluator, node, _frame, values: values[0].fields[node.index]
    ),
    typed.IndexGet: Combination(lambda node: (node.target, node.index), _index),
    typed.MapGet: Combination(lambda node: (node.target, node.index), _key),
    typed.UnaryOperation: Combination(
        lambda node: (node.operand,),
        lambda _evaluator, node, _frame, values: arithmetic.unary(node.operator, values[0], node.span),
    ),
    typed.ArithmeticOperation: Combination(lambda node: (node.left, node.right), _arithmetic),
    typed.Comparison: Combination(
        lambda node: (node.left, node.right),
        lambda _evaluator, node, _frame, values: arithmetic.compare(node.operator, *values),
    ),
    typed.FunctionValue: Combination(
        _no_children,
        lambda _evaluator, node, frame, _values: FunctionData(
            node.function, (), frame.agent, frame.bindings(node.function, node.type_arguments)
        ),
    ),
    typed.Closure: Combination(lambda node: node.captures, _closure),
    typed.CallBuiltin: Combination(lambda node: node.arguments, _builtin),
    typed.AgentStart: Combination(lambda node: tuple(value for _, value in node.capabilities), _start),
    # An error of any type is held as the value itself, which knows its type.
    typed.ToError: Combination(lambda node: (node.value,), lambda _evaluator, _node, _frame, values: values[0]),
    typed.ToCapability: Combination(lambda node: (node.value,), _to_capability),
}
