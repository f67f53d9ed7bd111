"""Constants, arithmetic and comparison."""

from __future__ import annotations

from kavachc.backend.llvm_descriptors import float_bits
from kavachc.backend.llvm_function import Emitter, FunctionEmitter
from kavachc.ir.module import Instruction
from kavachc.ir.types import BOOL, NOTHING

_INT_MINIMUM = -(2**63)


def _const_int(out: FunctionEmitter, instruction: Instruction) -> str:
    return str(instruction.attributes[0])


def _const_float(out: FunctionEmitter, instruction: Instruction) -> str:
    value = instruction.attributes[0]
    assert isinstance(value, int | float)
    return float_bits(float(value))


def _const_bool(out: FunctionEmitter, instruction: Instruction) -> str:
    return "true" if instruction.attributes[0] else "false"


def _const_string(out: FunctionEmitter, instruction: Instruction) -> str:
    value = instruction.attributes[0]
    assert isinstance(value, str)
    return out.emission.constants.string(value)


def _const_nothing(out: FunctionEmitter, instruction: Instruction) -> str:
    return "0"


def _operands(out: FunctionEmitter, instruction: Instruction) -> tuple[str, str]:
    left, right = instruction.operands
    return out.operand(left), out.operand(right)


def _checked(intrinsic: str) -> Emitter:
    def emit(out: FunctionEmitter, instruction: Instruction) -> str:
        left, right = _operands(out, instruction)
        return _with_overflow(out, instruction, intrinsic, left, right)

    return emit


def _with_overflow(out: FunctionEmitter, instruction: Instruction, intrinsic: str, left: str, right: str) -> str:
    pair = out.assign(f"call {{ i64, i1 }} @llvm.{intrinsic}.with.overflow.i64(i64 {left}, i64 {right})")
    out.panic_if(out.assign(f"extractvalue {{ i64, i1 }} {pair}, 1"), out.panic_of("overflow", instruction))
    return out.assign(f"extractvalue {{ i64, i1 }} {pair}, 0")


def _int_neg(out: FunctionEmitter, instruction: Instruction) -> str:
    return _with_overflow(out, instruction, "ssub", "0", out.operand(instruction.operands[0]))


def _check_divisor(out: FunctionEmitter, instruction: Instruction, divisor: str) -> None:
    out.panic_if(out.assign(f"icmp eq i64 {divisor}, 0"), out.panic_of("division", instruction))


def _int_div(out: FunctionEmitter, instruction: Instruction) -> str:
    dividend, divisor = _operands(out, instruction)
    _check_divisor(out, instruction, divisor)
    is_least = out.assign(f"icmp eq i64 {dividend}, {_INT_MINIMUM}")
    is_minus_one = out.assign(f"icmp eq i64 {divisor}, -1")
    overflows = out.assign(f"and i1 {is_least}, {is_minus_one}")
    out.panic_if(overflows, out.panic_of("overflow", instruction))
    return out.assign(f"sdiv i64 {dividend}, {divisor}")


def _int_rem(out: FunctionEmitter, instruction: Instruction) -> str:
    dividend, divisor = _operands(out, instruction)
    _check_divisor(out, instruction, divisor)
    # The remainder by -1 is 0 as by 1, but MIN by -1 is a fault of the machine.
    is_minus_one = out.assign(f"icmp eq i64 {divisor}, -1")
    safe = out.assign(f"select i1 {is_minus_one}, i64 1, i64 {divisor}")
    return out.assign(f"srem i64 {dividend}, {safe}")


def _shift(operation: str) -> Emitter:
    def emit(out: FunctionEmitter, instruction: Instruction) -> str:
        value, amount = _operands(out, instruction)
        shift_panic = out.runtime.use("kv_panic_shift")
        panic = f"call void {shift_panic}(i64 {amount}, {out.place(instruction)})"
        out.panic_if(out.assign(f"icmp ugt i64 {amount}, 63"), panic)
        return out.assign(f"{operation} i64 {value}, {amount}")

    return emit


def _plain(operation: str) -> Emitter:
    """`operation` with the type, as `and i64`."""

    def emit(out: FunctionEmitter, instruction: Instruction) -> str:
        left, right = _operands(out, instruction)
        return out.assign(f"{operation} {left}, {right}")

    return emit


def _int_not(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.assign(f"xor i64 {out.operand(instruction.operands[0])}, -1")


def _int_step(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.assign(f"add nsw i64 {out.operand(instruction.operands[0])}, 1")


def _float_neg(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.assign(f"fneg double {out.operand(instruction.operands[0])}")


def _bool_not(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.assign(f"xor i1 {out.operand(instruction.operands[0])}, true")


_SIGNED = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}
_UNSIGNED = {"==": "eq", "!=": "ne", "<": "ult", "<=": "ule", ">": "ugt", ">=": "uge"}
# Every comparison with NaN is false, but `!=` is true.
_FLOAT = {"==": "oeq", "!=": "une", "<": "olt", "<=": "ole", ">": "ogt", ">=": "oge"}


def _int_compare(out: FunctionEmitter, instruction: Instruction) -> str:
    left, right = _operands(out, instruction)
    predicate = str(instruction.attributes[0])
    if instruction.operands[0].type == BOOL:
        return out.assign(f"icmp {_UNSIGNED[predicate]} i1 {left}, {right}")
    return out.assign(f"icmp {_SIGNED[predicate]} i64 {left}, {right}")


def _float_compare(out: FunctionEmitter, instruction: Instruction) -> str:
    left, right = _operands(out, instruction)
    return out.assign(f"fcmp {_FLOAT[str(instruction.attributes[0])]} double {left}, {right}")


def _string_compare(out: FunctionEmitter, instruction: Instruction) -> str:
    left, right = _operands(out, instruction)
    predicate = str(instruction.attributes[0])
    if predicate in ("==", "!="):
        equal = _equality(out, instruction)
        return equal if predicate == "==" else out.assign(f"xor i1 {equal}, true")
    order = out.call("kv_string_compare", left, right)
    return out.assign(f"icmp {_SIGNED[predicate]} i32 {order}, 0")


def _equality(out: FunctionEmitter, instruction: Instruction) -> str:
    type = instruction.operands[0].type
    if type == NOTHING:
        return "true"
    left, right = _operands(out, instruction)
    return out.assign(out.helpers.comparison(type, out.layouts.register_type(type), left, right))


EMITTERS: dict[str, Emitter] = {
    "const.int": _const_int,
    "const.float": _const_float,
    "const.bool": _const_bool,
    "const.string": _const_string,
    "const.nothing": _const_nothing,
    "int.add": _checked("sadd"),
    "int.sub": _checked("ssub"),
    "int.mul": _checked("smul"),
    "int.div": _int_div,
    "int.rem": _int_rem,
    "int.neg": _int_neg,
    "int.shl": _shift("shl"),
    "int.shr": _shift("ashr"),
    "int.and": _plain("and i64"),
    "int.or": _plain("or i64"),
    "int.xor": _plain("xor i64"),
    "int.not": _int_not,
    "int.step": _int_step,
    "float.add": _plain("fadd double"),
    "float.sub": _plain("fsub double"),
    "float.mul": _plain("fmul double"),
    "float.div": _plain("fdiv double"),
    "float.rem": _plain("frem double"),
    "float.neg": _float_neg,
    "bool.not": _bool_not,
    "int.compare": _int_compare,
    "float.compare": _float_compare,
    "string.compare": _string_compare,
    "equal": _equality,
}
