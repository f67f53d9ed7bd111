"""Questions about types that need the module's tables."""

from __future__ import annotations

from kavachc.ir.errors import IrError
from kavachc.ir.module import Agent, Capability, Field, Function, Method, Module, Record, Sum, Variant
from kavachc.ir.types import (
    ANSWER,
    ERROR,
    STRING,
    Address,
    Array,
    Box,
    FunctionValue,
    IrType,
    Map,
    Named,
    Optional,
    Outcome,
    Scalar,
    Task,
    Tuple,
    made_of,
)

_COUNTED_SCALARS = frozenset({STRING, ERROR, ANSWER})


def is_counted(type: IrType, module: Module) -> bool:
    """Whether a value of `type` is, or holds, a counted block, so that it must be copied and released.

    The tables of records and sums must be complete: answers for names are kept in `module.counted_names`. A type
    that contains itself has boxes or arrays where it does, and so is counted.
    """
    if isinstance(type, Scalar):
        return type in _COUNTED_SCALARS
    if isinstance(type, Named):
        known = module.counted_names.get(type.name)
        return _is_name_counted(type.name, module, set()) if known is None else known
    if isinstance(type, Outcome | Optional | Tuple):
        return any(is_counted(part, module) for part in made_of(type))
    return isinstance(type, Array | Map | Box | FunctionValue | Task)


def _is_name_counted(name: str, module: Module, open_names: set[str]) -> bool:
    if name in open_names:
        return True
    known = module.counted_names.get(name)
    if known is not None:
        return known
    open_names.add(name)
    if name in module.records or name in module.sums:
        counted = any(_is_part_counted(part, module, open_names) for part in part_types(name, module))
    else:
        named(name, module)
        counted = True
    open_names.discard(name)
    module.counted_names[name] = counted
    return counted


def _is_part_counted(type: IrType, module: Module, open_names: set[str]) -> bool:
    if isinstance(type, Named):
        return _is_name_counted(type.name, module, open_names)
    if isinstance(type, Optional | Tuple):
        return any(_is_part_counted(part, module, open_names) for part in made_of(type))
    return is_counted(type, module)


def part_types(name: str, module: Module) -> list[IrType]:
    """The types of all fields of the record, or of all variants of the sum, called `name`."""
    return [field.type for field in fields_of(name, module)]


def fields_of(name: str, module: Module) -> list[Field]:
    """The fields of the record, or of all variants of the sum, called `name`."""
    if name in module.records:
        return [*module.records[name].fields]
    return [field for variant in module.sums[name].variants for field in variant.fields]


def named(name: str, module: Module) -> Record | Sum | Capability | Agent:
    """What `$name` stands for."""
    found = module.records.get(name) or module.sums.get(name) or module.capabilities.get(name)
    if found is not None:
        return found
    for agent in module.agents:
        if agent.name == name:
            return agent
    raise IrError(f"no type is called ${name}")


def record_of(type: IrType, module: Module) -> Record:
    found = module.records.get(type.name) if isinstance(type, Named) else None
    if found is None:
        raise IrError(f"{type} is no record")
    return found


def member_types(type: IrType, module: Module) -> list[IrType]:
    """The types of a record's fields, or of a tuple's elements."""
    if isinstance(type, Tuple):
        return list(type.elements)
    return [field.type for field in record_of(type, module).fields]


def member_type(type: IrType, index: int, module: Module) -> IrType:
    members = member_types(type, module)
    if not 0 <= index < len(members):
        raise IrError(f"{type} has no field {index}")
    return members[index]


def variant_of(type: IrType, index: int, module: Module) -> Variant:
    found = module.sums.get(type.name) if isinstance(type, Named) else None
    if found is None:
        raise IrError(f"{type} is no sum")
    if not 0 <= index < len(found.variants):
        raise IrError(f"{type} has no variant {index}")
    return found.variants[index]


def field_of(owner: Record | Variant, index: int) -> Field:
    if not 0 <= index < len(owner.fields):
        raise IrError(f"{owner.name} has no field {index}")
    return owner.fields[index]


def function_called(name: str, module: Module) -> Function:
    found = module.functions.get(name)
    if found is None:
        raise IrError(f"no function is called {name}")
    return found


def capability_method(capability: str, method: int, module: Module) -> Method:
    found = module.capabilities.get(capability)
    if found is None:
        raise IrError(f"no capability is called {capability}")
    if not 0 <= method < len(found.methods):
        raise IrError(f"{capability} has no method {method}")
    return found.methods[method]


def is_plain(type: IrType) -> bool:
    """A type of values that the program itself can hold: neither an outcome nor an address."""
    return not isinstance(type, Outcome | Address)
