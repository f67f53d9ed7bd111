"""Maps. What needs the address of a key or a value on the stack is a function of its own, made once for each type."""

from __future__ import annotations

from kavachc.backend.emitters.aggregates import result_type
from kavachc.backend.emitters.memory import made_unless, target_of
from kavachc.backend.layout import LENGTH_OFFSET
from kavachc.backend.llvm_function import Emitter, FunctionEmitter
from kavachc.backend.llvm_runtime import alias_tag
from kavachc.ir.module import Instruction, Value
from kavachc.ir.types import Array, IrType, Map, Optional

_POINTER = alias_tag("ptr")


def _map(type: IrType) -> Map:
    assert isinstance(type, Map)
    return type


# The functions.


def _find(out: FunctionEmitter, type: Map) -> str:
    """Where the key's value is, or null."""
    key = out.layouts.memory_type(type.key)

    def body() -> str:
        call = out.runtime.call("kv_map_find", out.emission.descriptors.type(type), "%map", "%key.at")
        return f"  %key.at = alloca {key}\n  store {key} %key, ptr %key.at\n  %at = {call}\n  ret ptr %at\n"

    return out.helpers.define(f"map.find.{type}", f"ptr @(ptr %map, {key} %key)", "noinline #0", body)


def _lookup(out: FunctionEmitter, type: Map) -> str:
    """The key's value as an optional, owned."""
    key, value = out.layouts.memory_type(type.key), out.layouts.memory_type(type.value)
    optional = out.layouts.memory_type(Optional(type.value))

    def body() -> str:
        counts = out.is_counted(type.value)
        retain = f"  call void {out.helpers.retain(type.value)}({value} %value)\n" if counts else ""
        return (
            f"  %at = call ptr {_find(out, type)}(ptr %map, {key} %key)\n"
            "  %missing = icmp eq ptr %at, null\n  br i1 %missing, label %none, label %some\n"
            f"none:\n  ret {optional} zeroinitializer\nsome:\n  %value = load {value}, ptr %at\n{retain}"
            f"  %present = insertvalue {optional} poison, i32 1, 0\n"
            f"  %made = insertvalue {optional} %present, {value} %value, 1\n  ret {optional} %made\n"
        )

    return out.helpers.define(f"map.lookup.{type}", f"{optional} @(ptr %map, {key} %key)", "#0", body)


def _changed(out: FunctionEmitter, type: Map, name: str, given: dict[str, IrType]) -> str:
    """The map after the runtime's entry `kv_map_NAME`, which is given addresses of `given`."""
    types = {item: out.layouts.memory_type(part) for item, part in given.items()}

    def body() -> str:
        lines = ["  %slot = alloca ptr\n  store ptr %map, ptr %slot\n"]
        for item, part in types.items():
            lines.append(f"  %{item}.at = alloca {part}\n  store {part} %{item}, ptr %{item}.at\n")
        addresses = [f"%{item}.at" for item in types]
        call = out.runtime.call(f"kv_map_{name}", "%slot", out.emission.descriptors.type(type), *addresses)
        return "".join(lines) + f"  {call}\n  %made = load ptr, ptr %slot\n  ret ptr %made\n"

    parameters = ", ".join(["ptr %map", *(f"{part} %{item}" for item, part in types.items())])
    return out.helpers.define(f"map.{name}.{type}", f"ptr @({parameters})", "noinline #0", body)


def _panic(out: FunctionEmitter, type: Map) -> str:
    key = out.layouts.memory_type(type.key)

    def body() -> str:
        kind = out.emission.descriptors.type(type.key)
        call = out.runtime.call("kv_panic_key", kind, "%key.at", "%site", "%caller")
        return f"  %key.at = alloca {key}\n  store {key} %key, ptr %key.at\n  {call}\n  unreachable\n"

    signature = f"void @({key} %key, ptr %site, ptr %caller)"
    return out.helpers.define(f"panic.key.{type.key}", signature, "cold noinline noreturn #0", body)


# The operations.


def _found(out: FunctionEmitter, type: Map, map_: str, key: Value) -> str:
    return out.assign(f"call ptr {_find(out, type)}(ptr {map_}, {out.member(key)})")


def _found_or_panic(out: FunctionEmitter, instruction: Instruction, type: Map, map_: str, key: Value) -> str:
    member = out.member(key)
    at = out.assign(f"call ptr {_find(out, type)}(ptr {map_}, {member})")
    panic = f"call void {_panic(out, type)}({member}, {out.place(instruction)})"
    out.panic_if(out.assign(f"icmp eq ptr {at}, null"), panic)
    return at


def _make(out: FunctionEmitter, instruction: Instruction) -> str:
    parts = instruction.operands
    if not parts:
        return out.emission.constants.empty_map()
    type = _map(result_type(instruction))
    made = out.call("kv_map_new", out.emission.descriptors.type(type), str(len(parts) // 2))
    for key, value in zip(parts[::2], parts[1::2], strict=True):
        made = _set_in(out, type, made, key, value)
    return made


def _set_in(out: FunctionEmitter, type: Map, map_: str, key: Value, value: Value) -> str:
    out.tell_place()
    symbol = _changed(out, type, "set", {"key": type.key, "value": type.value})
    return out.assign(f"call ptr {symbol}(ptr {map_}, {out.member(key)}, {out.member(value)})")


def _length(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.load_header(out.operand(instruction.operands[0]), LENGTH_OFFSET, "length")


def _get(out: FunctionEmitter, instruction: Instruction) -> str:
    map_, key = instruction.operands
    at = _found_or_panic(out, instruction, _map(map_.type), out.operand(map_), key)
    return out.load(result_type(instruction), at)


def _find_value(out: FunctionEmitter, instruction: Instruction) -> str:
    map_, key = instruction.operands
    type = _map(map_.type)
    optional = out.layouts.memory_type(result_type(instruction))
    return out.assign(f"call {optional} {_lookup(out, type)}(ptr {out.operand(map_)}, {out.member(key)})")


def _contains(out: FunctionEmitter, instruction: Instruction) -> str:
    map_, key = instruction.operands
    at = _found(out, _map(map_.type), out.operand(map_), key)
    return out.assign(f"icmp ne ptr {at}, null")


def _list(part: int) -> Emitter:
    def emit(out: FunctionEmitter, instruction: Instruction) -> str:
        map_ = instruction.operands[0]
        listed = result_type(instruction)
        assert isinstance(listed, Array)
        kind, element = (out.emission.descriptors.type(type) for type in (map_.type, listed.element))
        return out.call("kv_map_list", kind, out.operand(map_), element, str(part))

    return emit


def _set(out: FunctionEmitter, instruction: Instruction) -> str:
    slot, key, value = instruction.operands
    address = out.operand(slot)
    before = out.assign(f"load ptr, ptr {address}{_POINTER}")
    made = _set_in(out, _map(target_of(slot.type)), before, key, value)
    out.write(f"store ptr {made}, ptr {address}{_POINTER}")
    return ""


def _remove(out: FunctionEmitter, instruction: Instruction) -> str:
    slot, key = instruction.operands
    type = _map(target_of(slot.type))
    address = out.operand(slot)
    before = out.assign(f"load ptr, ptr {address}{_POINTER}")
    out.tell_place()
    symbol = _changed(out, type, "remove", {"key": type.key})
    made = out.assign(f"call ptr {symbol}(ptr {before}, {out.member(key)})")
    out.write(f"store ptr {made}, ptr {address}{_POINTER}")
    return ""


def _value_address(out: FunctionEmitter, instruction: Instruction) -> str:
    slot, key = instruction.operands
    type = _map(target_of(slot.type))
    shared = out.assign(f"load ptr, ptr {out.operand(slot)}{_POINTER}")
    is_unique = out.assign(f"icmp eq i64 {out.load_header(shared, 0, 'count')}, 1")
    own = made_unless(out, out.operand(slot), is_unique, shared, _changed(out, type, "unique", {}))
    return _found_or_panic(out, instruction, type, own, key)


EMITTERS: dict[str, Emitter] = {
    "map.make": _make,
    "map.length": _length,
    "map.get": _get,
    "map.find": _find_value,
    "map.contains": _contains,
    "map.keys": _list(0),
    "map.values": _list(1),
    "map.entries": _list(2),
    "map.set": _set,
    "map.remove": _remove,
    "value.address": _value_address,
}
