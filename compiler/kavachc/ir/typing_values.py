"""The typing rules of ops on values: constants, locals, addresses, operators, records, sums, arrays, errors."""

from __future__ import annotations

from kavachc.ir.errors import IrError
from kavachc.ir.facts import field_of, is_plain, member_type, member_types, variant_of
from kavachc.ir.module import Local, Module
from kavachc.ir.types import (
    BOOL,
    DURATION,
    ERROR,
    FLOAT,
    INSTANT,
    INT,
    NOTHING,
    STRING,
    Address,
    Array,
    Box,
    IrType,
    Map,
    Named,
    Optional,
    Tuple,
)
from kavachc.ir.typing_use import COUNTABLE, Rule, Use, declared, expect, expect_all, fixed, require

# Constants, ownership, locals, addresses.


def _const_int(use: Use) -> IrType:
    value = use.attributes[0]
    require(isinstance(value, int) and not isinstance(value, bool), f"{value!r} is no integer")
    require(-(2**63) <= use.number() < 2**63, f"{value} does not fit in 64 bits")
    type = use.declared or INT
    require(type in COUNTABLE, f"{type} has no integer constants")
    return type


def _const(kind: type, type: IrType) -> Rule:
    def rule(use: Use) -> IrType:
        require(isinstance(use.attributes[0], kind), f"{use.attributes[0]!r} is no {type}")
        return type

    return rule


def _copy(use: Use) -> IrType:
    require(is_plain(use.types[0]), f"{use.types[0]} cannot be copied")
    return use.types[0]


def _release(use: Use) -> None:
    require(is_plain(use.types[0]), f"{use.types[0]} cannot be released")


def _local(use: Use) -> Local:
    local = use.attributes[0]
    assert isinstance(local, Local)
    return local


def _local_value(use: Use) -> IrType:
    return _local(use).type


def _local_set(use: Use) -> None:
    expect(use.types[0], _local(use).type)


def _local_address(use: Use) -> IrType:
    return Address(_local(use).type)


def _target(type: IrType) -> IrType:
    if not isinstance(type, Address):
        raise IrError(f"{type} is no address")
    return type.target


def _element(type: IrType) -> IrType:
    if not isinstance(type, Array):
        raise IrError(f"{type} is no array")
    return type.element


def _field_address(use: Use) -> IrType:
    return Address(member_type(_target(use.types[0]), use.number(), use.module))


def _boxed(type: IrType) -> IrType:
    if not isinstance(type, Box):
        raise IrError(f"{type} is no box")
    return type.element


def _box_address(use: Use) -> IrType:
    return Address(_boxed(_target(use.types[0])))


def _element_address(use: Use) -> IrType:
    expect(use.types[1], INT)
    return Address(_element(_target(use.types[0])))


def _load(use: Use) -> IrType:
    return _target(use.types[0])


def _store(use: Use) -> None:
    expect(use.types[1], _target(use.types[0]))


def _array_push(use: Use) -> None:
    expect(use.types[1], _element(_target(use.types[0])))


def _map(type: IrType) -> Map:
    if not isinstance(type, Map):
        raise IrError(f"{type} is no map")
    return type


def _value_address(use: Use) -> IrType:
    map_ = _map(_target(use.types[0]))
    expect(use.types[1], map_.key)
    return Address(map_.value)


def _map_set(use: Use) -> None:
    map_ = _map(_target(use.types[0]))
    expect_all(use.types[1:], [map_.key, map_.value], str(map_))


def _map_remove(use: Use) -> None:
    expect(use.types[1], _map(_target(use.types[0])).key)


def _map_make(use: Use) -> IrType:
    type = declared(use)
    map_ = _map(type)
    require(len(use.types) % 2 == 0, "a key has no value")
    expect_all(use.types, [map_.key, map_.value] * (len(use.types) // 2), str(map_))
    return type


def _map_length(use: Use) -> IrType:
    _map(use.types[0])
    return INT


def _map_get(use: Use) -> IrType:
    expect(use.types[1], _map(use.types[0]).key)
    return _map(use.types[0]).value


def _map_find(use: Use) -> IrType:
    return Optional(_map_get(use))


def _map_contains(use: Use) -> IrType:
    _map_get(use)
    return BOOL


def _map_keys(use: Use) -> IrType:
    return Array(_map(use.types[0]).key)


def _map_values(use: Use) -> IrType:
    return Array(_map(use.types[0]).value)


def _map_entries(use: Use) -> IrType:
    map_ = _map(use.types[0])
    return Array(Tuple((map_.key, map_.value)))


# Arithmetic and comparison (spec 2.duration).

_ARITHMETIC: dict[str, dict[tuple[IrType, IrType], IrType]] = {
    "int.add": {(INT, INT): INT, (DURATION, DURATION): DURATION, (INSTANT, DURATION): INSTANT},
    "int.sub": {
        (INT, INT): INT,
        (DURATION, DURATION): DURATION,
        (INSTANT, DURATION): INSTANT,
        (INSTANT, INSTANT): DURATION,
    },
    "int.mul": {(INT, INT): INT, (DURATION, INT): DURATION, (INT, DURATION): DURATION},
    "int.div": {(INT, INT): INT, (DURATION, INT): DURATION, (DURATION, DURATION): INT},
    "int.rem": {(INT, INT): INT},
}


def _arithmetic(use: Use) -> IrType:
    left, right = use.types
    found = _ARITHMETIC[use.op.name].get((left, right))
    if found is None:
        raise IrError(f"{use.op.name} does not take {left} and {right}")
    return found


def _int_neg(use: Use) -> IrType:
    require(use.types[0] in (INT, DURATION), f"{use.types[0]} has no negative")
    return use.types[0]


def _int_compare(use: Use) -> IrType:
    require(use.types[0] in (*COUNTABLE, BOOL), f"int.compare does not take {use.types[0]}")
    expect(use.types[1], use.types[0])
    return BOOL


def _equal(use: Use) -> IrType:
    require(is_plain(use.types[0]), f"equal does not take {use.types[0]}")
    expect(use.types[1], use.types[0])
    return BOOL


def _text_make(use: Use) -> IrType:
    for type in use.types:
        require(is_plain(type), f"{type} cannot be shown")
    return STRING


# Records, sums, arrays, errors.


def _record_make(use: Use) -> IrType:
    type = declared(use)
    expect_all(use.types, member_types(type, use.module), str(type))
    return type


def _record_get(use: Use) -> IrType:
    return member_type(use.types[0], use.number(), use.module)


def _variant_make(use: Use) -> IrType:
    type = declared(use)
    variant = variant_of(type, use.number(), use.module)
    expect_all(use.types, [field.type for field in variant.fields], f"{type} {variant.name}")
    return type


def _variant_tag(use: Use) -> IrType:
    variant_of(use.types[0], 0, use.module)
    return INT


def _variant_get(use: Use) -> IrType:
    return field_of(variant_of(use.types[0], use.number(), use.module), use.number(1)).type


def _optional_none(use: Use) -> IrType:
    type = declared(use)
    _held(type)
    return type


def _optional_some(use: Use) -> IrType:
    require(is_plain(use.types[0]), f"{use.types[0]} cannot be kept")
    return Optional(use.types[0])


def _held(type: IrType) -> IrType:
    if not isinstance(type, Optional):
        raise IrError(f"{type} is no optional")
    return type.element


def _optional_is(use: Use) -> IrType:
    _held(use.types[0])
    return BOOL


def _optional_get(use: Use) -> IrType:
    return _held(use.types[0])


def _box_make(use: Use) -> IrType:
    require(is_plain(use.types[0]), f"{use.types[0]} cannot be kept")
    return Box(use.types[0])


def _box_get(use: Use) -> IrType:
    return _boxed(use.types[0])


def _array_rest(use: Use) -> IrType:
    expect(use.types[1], INT)
    _element(use.types[0])
    return use.types[0]


def _array_make(use: Use) -> IrType:
    type = declared(use)
    element = _element(type)
    for actual in use.types:
        expect(actual, element)
    return type


def _array_length(use: Use) -> IrType:
    _element(use.types[0])
    return INT


def _array_get(use: Use) -> IrType:
    expect(use.types[1], INT)
    return _element(use.types[0])


def _is_error_type(type: IrType, module: Module) -> bool:
    return isinstance(type, Named) and (type.name in module.records or type.name in module.sums)


def _error_make(use: Use) -> IrType:
    require(_is_error_type(use.types[0], use.module), f"{use.types[0]} is no error type")
    return ERROR


def _error_is(use: Use) -> IrType:
    expect(use.types[0], ERROR)
    held = use.attributes[0]
    require(isinstance(held, Named) and _is_error_type(held, use.module), f"{held} is no error type")
    return BOOL


def _error_get(use: Use) -> IrType:
    expect(use.types[0], ERROR)
    held = declared(use)
    require(_is_error_type(held, use.module), f"{held} is no error type")
    return held


_INTS = fixed(INT, INT, INT)
_FLOATS = fixed(FLOAT, FLOAT, FLOAT)

VALUE_RULES: dict[str, Rule] = {
    "const.int": _const_int,
    "const.float": _const(float, FLOAT),
    "const.bool": _const(bool, BOOL),
    "const.string": _const(str, STRING),
    "const.nothing": fixed(NOTHING),
    "copy": _copy,
    "release": _release,
    "local.get": _local_value,
    "local.set": _local_set,
    "local.take": _local_value,
    "local.address": _local_address,
    "field.address": _field_address,
    "element.address": _element_address,
    "box.address": _box_address,
    "load": _load,
    "store": _store,
    "array.push": _array_push,
    "value.address": _value_address,
    "map.set": _map_set,
    "map.remove": _map_remove,
    "map.make": _map_make,
    "map.length": _map_length,
    "map.get": _map_get,
    "map.find": _map_find,
    "map.contains": _map_contains,
    "map.keys": _map_keys,
    "map.values": _map_values,
    "map.entries": _map_entries,
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    "int.neg": _int_neg,
    **dict.fromkeys(("int.shl", "int.shr", "int.and", "int.or", "int.xor"), _INTS),
    "int.not": fixed(INT, INT),
    "int.step": fixed(INT, INT),
    **dict.fromkeys(("float.add", "float.sub", "float.mul", "float.div", "float.rem"), _FLOATS),
    "float.neg": fixed(FLOAT, FLOAT),
    "bool.not": fixed(BOOL, BOOL),
    "int.compare": _int_compare,
    "float.compare": fixed(BOOL, FLOAT, FLOAT),
    "string.compare": fixed(BOOL, STRING, STRING),
    "equal": _equal,
    "string.concat": fixed(STRING, STRING, STRING),
    "text.make": _text_make,
    "text.shown": _text_make,
    "record.make": _record_make,
    "record.get": _record_get,
    "variant.make": _variant_make,
    "variant.tag": _variant_tag,
    "variant.get": _variant_get,
    "optional.none": _optional_none,
    "optional.some": _optional_some,
    "optional.is": _optional_is,
    "optional.get": _optional_get,
    "box.make": _box_make,
    "box.get": _box_get,
    "array.rest": _array_rest,
    "array.make": _array_make,
    "array.length": _array_length,
    "array.get": _array_get,
    "array.at": _array_get,
    "error.make": _error_make,
    "error.is": _error_is,
    "error.get": _error_get,
}
