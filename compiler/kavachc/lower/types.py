"""Semantic types as IR types, and the module's type tables."""

from __future__ import annotations

from kavachc.ir import module as ir
from kavachc.ir import types as ir_types
from kavachc.ir.types import IrType
from kavachc.semantics import types
from kavachc.semantics.holding import reaches
from kavachc.semantics.typed_ast import Program

_PRIMITIVES: dict[types.PrimitiveType, IrType] = {
    types.INT: ir_types.INT,
    types.FLOAT: ir_types.FLOAT,
    types.BOOL: ir_types.BOOL,
    types.STRING: ir_types.STRING,
    types.DURATION: ir_types.DURATION,
    types.INSTANT: ir_types.INSTANT,
    types.NOTHING: ir_types.NOTHING,
    types.ERROR: ir_types.ERROR,
    # An expression that never gives a value stands where nothing is wanted.
    types.NEVER: ir_types.NOTHING,
}


def lower_type(type: types.Type) -> IrType:
    """The IR type of values of `type`."""
    if isinstance(type, types.PrimitiveType) and type in _PRIMITIVES:
        return _PRIMITIVES[type]
    if isinstance(type, types.ArrayType):
        return ir_types.Array(lower_type(type.element))
    if isinstance(type, types.OptionalType):
        return ir_types.Optional(lower_type(type.element))
    if isinstance(type, types.TupleType):
        return ir_types.Tuple(tuple([lower_type(element) for element in type.elements]))
    if isinstance(type, types.TaskType):
        return ir_types.Task(lower_type(type.result))
    if isinstance(type, types.RecordType | types.SumType | types.CapabilityType | types.AgentType):
        return ir_types.Named(type.name)
    raise AssertionError(f"a checked program has no values of type {type}")


def lower_error(error: types.Type | None) -> IrType | None:
    return None if error is None else lower_type(error)


def add_type_tables(program: Program, module: ir.Module) -> None:
    """Fills in the module's records, sums and capabilities."""
    for record in program.records:
        module.records[record.name] = ir.Record(record.name, _fields(record, record.fields), record.documentation)
    for item in program.sums:
        variants = tuple(
            ir.Variant(variant.name, _fields(item, variant.fields), variant.documentation) for variant in item.variants
        )
        module.sums[item.name] = ir.Sum(item.name, variants, item.documentation)
    for capability in program.capabilities:
        methods = tuple(_method(method) for method in capability.methods)
        module.capabilities[capability.name] = ir.Capability(capability.name, methods)


def _fields(holder: types.Type, fields: list[types.FieldInfo] | tuple[types.FieldInfo, ...]) -> tuple[ir.Field, ...]:
    return tuple(ir.Field(item.name, _field_type(item.type, holder), item.documentation) for item in fields)


def _field_type(type: types.Type, holder: types.Type) -> IrType:
    """A field through which a type holds itself is stored apart."""
    lowered = lower_type(type)
    return ir_types.Box(lowered) if reaches(type, holder) else lowered


def _method(method: types.CapabilityMethod) -> ir.Method:
    return ir.Method(
        method.name,
        tuple(lower_type(type) for type in method.parameter_types),
        lower_type(method.result),
        lower_error(method.error),
        method.may_wait,
    )
