"""Expressions that call nothing: values, operators, records, arrays, conversions."""

from __future__ import annotations

from kavachc.ir.module import Value
from kavachc.ir.types import Array
from kavachc.lower import names
from kavachc.lower.function import ExpressionLowering, FunctionLowering, Join, Way
from kavachc.lower.operators import arithmetic, comparison, negation
from kavachc.lower.types import lower_type
from kavachc.semantics import typed_ast as typed
from kavachc.semantics import types


def _int(state: FunctionLowering, node: typed.IntValue) -> Value:
    return state.build.int_const(node.value, lower_type(node.type))


def _float(state: FunctionLowering, node: typed.FloatValue) -> Value:
    return state.build.float_const(node.value)


def _bool(state: FunctionLowering, node: typed.BoolValue) -> Value:
    return state.build.bool_const(node.value)


def _string(state: FunctionLowering, node: typed.StringValue) -> Value:
    return state.build.string_const(node.value)


def _nothing(state: FunctionLowering, node: typed.NothingValue) -> Value:
    return state.build.nothing()


def _interpolation(state: FunctionLowering, node: typed.Interpolation) -> Value:
    mark = state.mark()
    parts = [state.held(part) for part in node.parts]
    text = state.build.text_make(parts) if parts else state.build.string_const("")
    state.release_to(mark)
    return text


def _shown(state: FunctionLowering, node: typed.Shown) -> Value:
    if node.value.type == types.NOTHING:
        state.run(node.value)
        return state.build.string_const("()")
    mark = state.mark()
    text = state.build.emit("text.shown", state.held(node.value))
    state.release_to(mark)
    return text


def _array(state: FunctionLowering, node: typed.ArrayMake) -> Value:
    mark = state.mark()
    elements = [state.held(element) for element in node.elements]
    state.forget_to(mark)
    type = lower_type(node.type)
    assert isinstance(type, Array)
    return state.build.array_make(type.element, elements)


def _none(state: FunctionLowering, node: typed.NoneValue) -> Value:
    return state.build.optional_none(lower_type(node.type))


def _to_optional(state: FunctionLowering, node: typed.ToOptional) -> Value:
    return state.build.optional_some(state.value(node.value))


def _tuple(state: FunctionLowering, node: typed.TupleMake) -> Value:
    mark = state.mark()
    elements = [state.held(element) for element in node.elements]
    state.forget_to(mark)
    return state.build.record_make(lower_type(node.type), elements)


def _fields_in_order(state: FunctionLowering, fields: tuple[tuple[int, typed.Expr], ...]) -> list[Value]:
    """The fields evaluated as written, held, in the order of their declaration."""
    values: dict[int, Value] = {}
    for index, field in fields:
        values[index] = state.held(field)
    return [values[index] for index in sorted(values)]


def _record(state: FunctionLowering, node: typed.RecordMake) -> Value:
    mark = state.mark()
    fields = _fields_in_order(state, node.fields)
    state.forget_to(mark)
    return state.build.record_make(lower_type(node.type), fields)


def _variant(state: FunctionLowering, node: typed.VariantMake) -> Value:
    mark = state.mark()
    fields = _fields_in_order(state, node.fields)
    state.forget_to(mark)
    hidden = [state.build.int_const(0) for _ in node.sum.variants[node.variant].hidden]
    return state.build.variant_make(lower_type(node.type), node.variant, [*fields, *hidden])


def _record_update(state: FunctionLowering, node: typed.RecordUpdate) -> Value:
    assert isinstance(node.type, types.RecordType)
    target = state.held(node.target)
    mark = state.mark()
    replaced: dict[int, Value] = {}
    for index, field in node.fields:
        replaced[index] = state.held(field)
    state.forget_to(mark)
    fields: list[Value] = []
    for index in range(len(node.type.fields)):
        value = replaced.get(index)
        fields.append(state.build.copy(state.build.record_get(target, index)) if value is None else value)
    updated = state.build.record_make(lower_type(node.type), fields)
    _release_held(state, target)
    return updated


def _release_held(state: FunctionLowering, value: Value) -> None:
    """Releases the value that was held last."""
    if state.build.is_counted(value.type):
        state.release_to(state.mark() - 1)


def _local(state: FunctionLowering, node: typed.LocalGet) -> Value:
    return state.build.copy(state.look(node.local))


def _constant(state: FunctionLowering, node: typed.ConstGet) -> Value:
    return state.value(node.constant.value)


def _field(state: FunctionLowering, node: typed.FieldGet) -> Value:
    target = state.held(node.target)
    value = state.build.copy(state.build.record_get(target, node.index))
    _release_held(state, target)
    return value


def _index(state: FunctionLowering, node: typed.IndexGet) -> Value:
    target = state.held(node.target)
    index = state.value(node.index)
    value = state.build.copy(state.build.array_get(target, index))
    _release_held(state, target)
    return value


def _map(state: FunctionLowering, node: typed.MapMake) -> Value:
    mark = state.mark()
    parts = [state.held(part) for part in node.parts]
    state.forget_to(mark)
    return state.build.emit("map.make", *parts, type=lower_type(node.type))


def _key(state: FunctionLowering, node: typed.MapGet) -> Value:
    mark = state.mark()
    target = state.held(node.target)
    key = state.held(node.index)
    value = state.build.copy(state.build.emit("map.get", target, key))
    state.release_to(mark)
    return value


def _unary(state: FunctionLowering, node: typed.UnaryOperation) -> Value:
    return negation(state.build, node.operator, state.value(node.operand))


def _arithmetic(state: FunctionLowering, node: typed.ArithmeticOperation) -> Value:
    mark = state.mark()
    left = state.held(node.left)
    right = state.held(node.right)
    result = arithmetic(state.build, node.operator, left, right, state.location(node.operator_span))
    state.release_to(mark)
    return result


def _comparison(state: FunctionLowering, node: typed.Comparison) -> Value:
    mark = state.mark()
    left = state.held(node.left)
    right = state.held(node.right)
    result = comparison(state.build, node.operator, left, right)
    state.release_to(mark)
    return result


def _logical(state: FunctionLowering, node: typed.LogicalOperation) -> Value:
    """`a && b`: the right side decides only where the left does not."""
    build = state.build
    join = Join(state, "and" if node.operator == "&&" else "or", types.BOOL)
    left = state.value(node.left)
    right, decided = build.new_block(f"{join.name}.right"), build.new_block(f"{join.name}.left")
    if node.operator == "&&":
        build.branch(left, right, decided)
    else:
        build.branch(left, decided, right)
    state.start(right)
    with Way(state):
        join.bring_value(node.right)
    state.start(decided)
    join.bring(left)
    return join.finish()


def _to_error(state: FunctionLowering, node: typed.ToError) -> Value:
    return state.build.error_make(state.value(node.value))


def _to_capability(state: FunctionLowering, node: typed.ToCapability) -> Value:
    record = node.value.type
    assert isinstance(record, types.RecordType)
    return state.build.capability_make(names.vtable(record, node.capability), state.value(node.value))


LOWERINGS: dict[type[typed.Expr], ExpressionLowering] = {
    typed.IntValue: _int,
    typed.FloatValue: _float,
    typed.BoolValue: _bool,
    typed.StringValue: _string,
    typed.NothingValue: _nothing,
    typed.Interpolation: _interpolation,
    typed.Shown: _shown,
    typed.ArrayMake: _array,
    typed.NoneValue: _none,
    typed.ToOptional: _to_optional,
    typed.TupleMake: _tuple,
    typed.RecordMake: _record,
    typed.VariantMake: _variant,
    typed.RecordUpdate: _record_update,
    typed.LocalGet: _local,
    typed.ConstGet: _constant,
    typed.FieldGet: _field,
    typed.IndexGet: _index,
    typed.MapMake: _map,
    typed.MapGet: _key,
    typed.UnaryOperation: _unary,
    typed.ArithmeticOperation: _arithmetic,
    typed.Comparison: _comparison,
    typed.LogicalOperation: _logical,
    typed.ToError: _to_error,
    typed.ToCapability: _to_capability,
}
