"""Records, sums, arrays that are made and read, errors and outcomes."""

from __future__ import annotations

from kavachc.backend.emitters.arrays import bounds_check, element_at
from kavachc.backend.layout import BOX_VALUE_OFFSET, ELEMENTS_OFFSET, HELD_TYPE_OFFSET, HELD_VALUE_OFFSET, LENGTH_OFFSET
from kavachc.backend.llvm_function import Emitter, FunctionEmitter
from kavachc.ir.module import Instruction
from kavachc.ir.types import Array, IrType, Named, Outcome

# From this length on, elements that are constants are copied from a table: LLVM takes minutes over ten thousand stores.
_TABLE_LENGTH_MIN = 16
_TABLE_TYPES = ("i64", "double", "ptr")


def result_type(instruction: Instruction) -> IrType:
    assert instruction.result is not None
    return instruction.result.type


def _number(instruction: Instruction, place: int) -> int:
    number = instruction.attributes[place]
    assert isinstance(number, int)
    return number


def _record_make(out: FunctionEmitter, instruction: Instruction) -> str:
    type = out.layouts.memory_type(result_type(instruction))
    made = "poison" if instruction.operands else "zeroinitializer"
    for number, value in enumerate(instruction.operands):
        made = out.assign(f"insertvalue {type} {made}, {out.member(value)}, {number}")
    return made


def extract(out: FunctionEmitter, aggregate_type: str, operand: str, member: int, type: IrType) -> str:
    return out.from_member(type, out.assign(f"extractvalue {aggregate_type} {operand}, {member}"))


def _record_get(out: FunctionEmitter, instruction: Instruction) -> str:
    record = instruction.operands[0]
    record_type = out.layouts.memory_type(record.type)
    return extract(out, record_type, out.operand(record), _number(instruction, 0), result_type(instruction))


def _variant_make(out: FunctionEmitter, instruction: Instruction) -> str:
    type = result_type(instruction)
    sum_type = out.layouts.memory_type(type)
    variant = _number(instruction, 0)
    # Slots of other variants stay undefined: nothing reads them.
    made = out.assign(f"insertvalue {sum_type} poison, i32 {variant}, 0")
    for field, value in enumerate(instruction.operands):
        member = out.layouts.member_of_variant(type, variant, field)
        made = out.assign(f"insertvalue {sum_type} {made}, {out.member(value)}, {member}")
    return made


def _variant_tag(out: FunctionEmitter, instruction: Instruction) -> str:
    value = instruction.operands[0]
    tag = out.assign(f"extractvalue {out.layouts.memory_type(value.type)} {out.operand(value)}, 0")
    return out.assign(f"zext nneg i32 {tag} to i64")


def _variant_get(out: FunctionEmitter, instruction: Instruction) -> str:
    value = instruction.operands[0]
    sum_type = out.layouts.memory_type(value.type)
    member = out.layouts.member_of_variant(value.type, _number(instruction, 0), _number(instruction, 1))
    return extract(out, sum_type, out.operand(value), member, result_type(instruction))


def _optional_none(out: FunctionEmitter, instruction: Instruction) -> str:
    return "zeroinitializer"


def _optional_some(out: FunctionEmitter, instruction: Instruction) -> str:
    type = out.layouts.memory_type(result_type(instruction))
    value = out.member(instruction.operands[0])
    present = out.assign(f"insertvalue {type} poison, i32 1, 0")
    return out.assign(f"insertvalue {type} {present}, {value}, 1")


def _optional_is(out: FunctionEmitter, instruction: Instruction) -> str:
    value = instruction.operands[0]
    tag = out.assign(f"extractvalue {out.layouts.memory_type(value.type)} {out.operand(value)}, 0")
    return out.assign(f"icmp ne i32 {tag}, 0")


def _optional_get(out: FunctionEmitter, instruction: Instruction) -> str:
    value = instruction.operands[0]
    return extract(out, out.layouts.memory_type(value.type), out.operand(value), 1, result_type(instruction))


def _box_make(out: FunctionEmitter, instruction: Instruction) -> str:
    value = instruction.operands[0]
    block = out.call("kv_allocate", str(BOX_VALUE_OFFSET + out.layouts.size(value.type)))
    out.store(value, out.at(block, BOX_VALUE_OFFSET))
    return block


def _box_get(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.load(result_type(instruction), out.at(out.operand(instruction.operands[0]), BOX_VALUE_OFFSET))


def _array_rest(out: FunctionEmitter, instruction: Instruction) -> str:
    array, start = (out.operand(value) for value in instruction.operands)
    type = result_type(instruction)
    assert isinstance(type, Array)
    return out.call("kv_array_rest", array, out.emission.descriptors.type(type.element), start)


def _array_make(out: FunctionEmitter, instruction: Instruction) -> str:
    values = instruction.operands
    if not values:
        return out.emission.constants.empty_array()
    type = result_type(instruction)
    assert isinstance(type, Array)
    array = out.call("kv_array_new", out.emission.descriptors.type(type.element), str(len(values)))
    memory_type = out.layouts.memory_type(type.element)
    operands = [out.operand(value) for value in values]
    if len(values) >= _TABLE_LENGTH_MIN and memory_type in _TABLE_TYPES and not any(map(_is_computed, operands)):
        table = out.emission.constants.elements(memory_type, operands)
        first = out.at(array, ELEMENTS_OFFSET)
        size = 8 * len(values)
        out.write(f"call void @llvm.memcpy.p0.p0.i64(ptr align 8 {first}, ptr align 8 {table}, i64 {size}, i1 false)")
    else:
        for number, value in enumerate(values):
            out.store(value, element_at(out, array, type.element, str(number)))
    out.store_header(str(len(values)), array, LENGTH_OFFSET, "length")
    return array


def _is_computed(operand: str) -> bool:
    return operand.startswith("%")


def _array_length(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.load_header(out.operand(instruction.operands[0]), LENGTH_OFFSET, "length")


def _array_get(out: FunctionEmitter, instruction: Instruction) -> str:
    array, index = (out.operand(value) for value in instruction.operands)
    bounds_check(out, instruction, array, index)
    return _array_at(out, instruction)


def _array_at(out: FunctionEmitter, instruction: Instruction) -> str:
    array, index = (out.operand(value) for value in instruction.operands)
    element = result_type(instruction)
    return out.load(element, element_at(out, array, element, index))


# Errors and capability values hold a value of any type: a pointer that tells the type, then the value.


def make_holder(out: FunctionEmitter, instruction: Instruction, tells: str) -> str:
    value = instruction.operands[0]
    size = HELD_VALUE_OFFSET + out.layouts.size(value.type)
    block = out.call("kv_allocate", str(size))
    out.write(f"store ptr {tells}, ptr {out.at(block, HELD_TYPE_OFFSET)}")
    out.store(value, out.at(block, HELD_VALUE_OFFSET))
    return block


def get_held(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.load(result_type(instruction), out.at(out.operand(instruction.operands[0]), HELD_VALUE_OFFSET))


def _error_make(out: FunctionEmitter, instruction: Instruction) -> str:
    return make_holder(out, instruction, out.emission.descriptors.type(instruction.operands[0].type))


def _error_is(out: FunctionEmitter, instruction: Instruction) -> str:
    wanted = instruction.attributes[0]
    assert isinstance(wanted, Named)
    address = out.at(out.operand(instruction.operands[0]), HELD_TYPE_OFFSET)
    held = out.assign(f"load ptr, ptr {address}")
    return out.assign(f"icmp eq ptr {held}, {out.emission.descriptors.type(wanted)}")


# Outcomes.


def _outcome_part(out: FunctionEmitter, instruction: Instruction, part: str) -> str:
    outcome = instruction.operands[0]
    assert isinstance(outcome.type, Outcome)
    member = out.layouts.member_of_outcome(outcome.type, part)
    if member is None:
        return "0"
    aggregate_type = out.layouts.memory_type(outcome.type)
    return extract(out, aggregate_type, out.operand(outcome), member, result_type(instruction))


def _outcome_status(out: FunctionEmitter, instruction: Instruction) -> str:
    outcome = instruction.operands[0]
    return out.assign(f"extractvalue {out.layouts.memory_type(outcome.type)} {out.operand(outcome)}, 0")


def _outcome_value(out: FunctionEmitter, instruction: Instruction) -> str:
    return _outcome_part(out, instruction, "value")


def _outcome_error(out: FunctionEmitter, instruction: Instruction) -> str:
    return _outcome_part(out, instruction, "error")


def _outcome_none(out: FunctionEmitter, instruction: Instruction) -> str:
    return ""


EMITTERS: dict[str, Emitter] = {
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
    "array.at": _array_at,
    "error.make": _error_make,
    "error.is": _error_is,
    "error.get": get_held,
    "outcome.status": _outcome_status,
    "outcome.value": _outcome_value,
    "outcome.error": _outcome_error,
    "outcome.none": _outcome_none,
}
