"""Text, output, the clock, agents and capabilities, limits, and answers of the model."""

from __future__ import annotations

from kavachc.backend.emitters.aggregates import extract, get_held, make_holder, result_type
from kavachc.backend.layout import HELD_VALUE_OFFSET, LENGTH_OFFSET, STRING_BYTES_OFFSET
from kavachc.backend.llvm_function import Emitter, FunctionEmitter
from kavachc.ir.module import Instruction
from kavachc.ir.types import (
    ANSWER,
    BOOL,
    DURATION,
    FLOAT,
    INSTANT,
    INT,
    NOTHING,
    STRING,
    Array,
    IrType,
    Map,
    Named,
    Optional,
    Scalar,
    Tuple,
)

_SHOWN_BY = {
    INT: "kv_text_int",
    FLOAT: "kv_text_float",
    BOOL: "kv_text_bool",
    STRING: "kv_text_string",
    DURATION: "kv_text_duration",
    INSTANT: "kv_text_instant",
}
_NOTHING_SHOWN = b"()"


def _string_concat(out: FunctionEmitter, instruction: Instruction) -> str:
    left, right = (out.operand(value) for value in instruction.operands)
    return out.call("kv_string_concat", left, right)


def _text_make(out: FunctionEmitter, instruction: Instruction) -> str:
    out.tell_place()
    text = out.text_memory()
    # Told when it is in use, it need not live in a coroutine's frame.
    out.write(f"call void @llvm.lifetime.start.p0(ptr {text})")
    out.perform("kv_text_begin", text)
    for value in instruction.operands:
        if value.type == NOTHING:
            shown = out.emission.constants.bytes_at(_NOTHING_SHOWN)
            out.perform("kv_text_literal", text, shown, str(len(_NOTHING_SHOWN)))
        elif value.type in _SHOWN_BY:
            out.perform(_SHOWN_BY[value.type], text, out.operand(value))
        else:
            out.write(f"call void {out.helpers.text(value.type)}(ptr {text}, {out.typed(value)})")
    made = out.call("kv_text_finish", text)
    out.write(f"call void @llvm.lifetime.end.p0(ptr {text})")
    return made


def _text_shown(out: FunctionEmitter, instruction: Instruction) -> str:
    type = instruction.operands[0].type
    memory_type = out.layouts.memory_type(type)

    def body() -> str:
        call = out.runtime.call("kv_text_shown", out.emission.descriptors.type(type), "%at")
        return (
            f"  %at = alloca {memory_type}\n  store {memory_type} %value, ptr %at\n  %text = {call}\n  ret ptr %text\n"
        )

    shown = out.helpers.define(f"shown.{type}", f"ptr @({memory_type} %value)", "cold noinline #0", body)
    out.tell_place()
    return out.assign(f"call ptr {shown}({out.member(instruction.operands[0])})")


def _panic(out: FunctionEmitter, instruction: Instruction) -> str:
    text = out.operand(instruction.operands[0])
    length = out.load_header(text, LENGTH_OFFSET, "length")
    panic = out.runtime.use("kv_panic")
    bytes_ = out.at(text, STRING_BYTES_OFFSET)
    out.write(f"call void {panic}(ptr {bytes_}, i64 {length}, {out.place(instruction)})")
    return ""


def _print(out: FunctionEmitter, instruction: Instruction) -> str:
    out.perform("kv_print", out.operand(instruction.operands[0]))
    return ""


def _now(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.call("kv_now")


# Agents and capabilities. A handle is a block of capability values; `HELD_VALUE_OFFSET` is also where those begin.


def _agent_make(out: FunctionEmitter, instruction: Instruction) -> str:
    values = instruction.operands
    block = out.call("kv_allocate", str(HELD_VALUE_OFFSET + 8 * len(values)))
    out.write(f"store i64 {len(values)}, ptr {out.at(block, 8)}")
    for number, value in enumerate(values):
        out.store(value, out.at(block, HELD_VALUE_OFFSET + 8 * number))
    return block


def _agent_capability(out: FunctionEmitter, instruction: Instruction) -> str:
    number = instruction.attributes[0]
    assert isinstance(number, int)
    address = out.at(out.operand(instruction.operands[0]), HELD_VALUE_OFFSET + 8 * number)
    return out.load(result_type(instruction), address)


def _capability_make(out: FunctionEmitter, instruction: Instruction) -> str:
    vtable = f'@"vtable.{instruction.attributes[0]}"'
    payload = instruction.operands[0]
    if payload.type == result_type(instruction):
        return out.call("kv_capability_limit", vtable, out.operand(payload))
    return make_holder(out, instruction, vtable)


# Limits.


def _number(instruction: Instruction, place: int = 0) -> str:
    return str(instruction.attributes[place])


def _audit_call(out: FunctionEmitter, instruction: Instruction) -> str:
    out.perform("kv_audit_call", _number(instruction), out.operand(instruction.operands[0]))
    return ""


def _limit_begin(out: FunctionEmitter, instruction: Instruction) -> str:
    out.perform("kv_limit_begin", _number(instruction), _number(instruction, 1))
    return ""


def _limit_key(out: FunctionEmitter, instruction: Instruction) -> str:
    out.perform("kv_limit_key", _number(instruction), out.operand(instruction.operands[0]))
    return ""


def _limit_condition(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.call("kv_limit_condition", _number(instruction), out.operand(instruction.operands[0]))


def _limit_sum(out: FunctionEmitter, instruction: Instruction) -> str:
    amount = instruction.operands[0]
    entry = "kv_limit_sum_float" if amount.type == FLOAT else "kv_limit_sum_int"
    return out.call(entry, _number(instruction), out.operand(amount))


def _limit_count(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.call("kv_limit_count", _number(instruction))


def _limit_refuse(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.call("kv_limit_refuse", _number(instruction))


# Answers.


def _answer_part(member: int, type: IrType) -> Emitter:
    def emit(out: FunctionEmitter, instruction: Instruction) -> str:
        answer = out.operand(instruction.operands[0])
        return extract(out, out.layouts.memory_type(ANSWER), answer, member, type)

    return emit


def _json_check(out: FunctionEmitter, instruction: Instruction) -> str:
    wanted = instruction.attributes[0]
    assert isinstance(wanted, Scalar | Array | Map | Optional | Tuple | Named)
    scratch = out.scratch(out.layouts.size(ANSWER))
    text = out.operand(instruction.operands[0])
    out.perform("kv_json_check", out.emission.descriptors.type(wanted), text, scratch)
    return out.load(ANSWER, scratch)


def _decode(out: FunctionEmitter, instruction: Instruction) -> str:
    type = result_type(instruction)
    json = out.operand(instruction.operands[0])
    out.tell_place()
    return out.assign(f"call {out.layouts.register_type(type)} {out.helpers.decode(type)}(ptr {json})")


EMITTERS: dict[str, Emitter] = {
    "string.concat": _string_concat,
    "text.make": _text_make,
    "text.shown": _text_shown,
    "panic": _panic,
    "print": _print,
    "now": _now,
    "agent.make": _agent_make,
    "agent.capability": _agent_capability,
    "capability.make": _capability_make,
    "capability.payload": get_held,
    "audit.call": _audit_call,
    "limit.begin": _limit_begin,
    "limit.key": _limit_key,
    "limit.condition": _limit_condition,
    "limit.sum": _limit_sum,
    "limit.count": _limit_count,
    "limit.refuse": _limit_refuse,
    "answer.kind": _answer_part(0, INT),
    "answer.status": _answer_part(1, INT),
    "answer.text": _answer_part(2, STRING),
    "answer.retry_after": _answer_part(3, INT),
    "json.check": _json_check,
    "decode": _decode,
}
