"""Semantic types as IR types, and the module's type tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

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
    if isinstance(type, types.MapType):
        return ir_types.Map(lower_type(type.key), lower_type(type.value))
    if isinstance(type, types.OptionalType):
        return ir_types.Optional(lower_type(type.element))
    if isinstance(type, types.TupleType):
        return ir_types.Tuple(tuple([lower_type(element) for element in type.elements]))
    if isinstance(type, types.TaskType):
        return ir_types.Task(lower_type(type.result))
    if isinstance(type, types.FunctionType):
        parameters = tuple([lower_type(item) for item in type.parameters])
        return ir_types.FunctionValue(parameters, lower_type(type.result), lower_error(type.error))
    if isinstance(type, types.RecordType | types.SumType | types.CapabilityType | types.AgentType):
        return ir_types.Named(str(type))
    raise AssertionError(f"a checked program has no values of type {type}")


def lower_error(error: types.Type | None) -> IrType | None:
    return None if error is None else lower_type(error)


# Declares the function that looks at a field: given the field, and the type that it is in.
CheckOf: TypeAlias = Callable[[types.FieldInfo, types.RecordType | types.SumType], str]


def add_type_tables(program: Program, module: ir.Module, check_of: CheckOf) -> None:
    """Fills in the module's records, sums and capabilities, generic ones aside."""
    for record in program.records:
        _add_record(record, module, check_of)
    for sum_ in program.sums:
        _add_sum(sum_, module, check_of)
    for capability in program.capabilities:
        methods = tuple(_method(method) for method in capability.methods)
        module.capabilities[str(capability)] = ir.Capability(str(capability), methods)


def _fields(
    holder: types.RecordType | types.SumType,
    fields: list[types.FieldInfo] | tuple[types.FieldInfo, ...],
    check_of: CheckOf,
) -> tuple[ir.Field, ...]:
    return tuple(
        ir.Field(
            item.name,
            _field_type(item.type, holder),
            None if item.rule is None else ir.FieldRule(item.rule.text, check_of(item, holder)),
        )
        for item in fields
    )


def _field_type(type: types.Type, holder: types.Type) -> IrType:
    """A field through which a type holds itself is stored apart."""
    lowered = lower_type(type)
    return ir_types.Box(lowered) if reaches(type, holder) else lowered


class Applications:
    """Brings the applications of generic types into the module's tables, as they come up."""

    def __init__(self, program: Program, module: ir.Module, check_of: CheckOf) -> None:
        self._module = module
        self._check_of = check_of
        # Each declaration with how many of its applications have been looked at.
        self._seen: dict[types.RecordType | types.SumType, int] = dict.fromkeys(program.generic_types, 0)

    def add_new(self) -> None:
        """Adds those that have come up since, and those that their fields need."""
        while new := [item for declaration in self._seen for item in self._new(declaration)]:
            for applied in new:
                if isinstance(applied, types.RecordType):
                    _add_record(applied, self._module, self._check_of)
                else:
                    _add_sum(applied, self._module, self._check_of)

    def _new(self, declaration: types.RecordType | types.SumType) -> list[types.RecordType | types.SumType]:
        known: list[types.RecordType | types.SumType] = [*declaration.applications.values()]
        new = known[self._seen[declaration] :]
        self._seen[declaration] = len(known)
        return [applied for applied in new if not types.is_open(applied)]


def _add_record(record: types.RecordType, module: ir.Module, check_of: CheckOf) -> None:
    name = str(record)
    module.records[name] = ir.Record(name, _fields(record, record.fields, check_of))


def _add_sum(sum_: types.SumType, module: ir.Module, check_of: CheckOf) -> None:
    name = str(sum_)
    variants = tuple(ir.Variant(item.name, _all_fields(sum_, item, check_of)) for item in sum_.variants)
    module.sums[name] = ir.Sum(name, variants)


def _all_fields(sum_: types.SumType, variant: types.VariantInfo, check_of: CheckOf) -> tuple[ir.Field, ...]:
    hidden = tuple(replace(item, is_hidden=True) for item in _fields(sum_, variant.hidden, check_of))
    return _fields(sum_, variant.fields, check_of) + hidden


def _method(method: types.CapabilityMethod) -> ir.Method:
    return ir.Method(
        method.name,
        tuple(lower_type(type) for type in method.parameter_types),
        lower_type(method.result),
        lower_error(method.error),
        method.may_wait,
    )
