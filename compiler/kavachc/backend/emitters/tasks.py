"""Waiting, and what is asked of tasks."""

from __future__ import annotations

from kavachc.backend.emitters.aggregates import result_type
from kavachc.backend.layout import OUTCOME_ERROR_OFFSET, OUTCOME_VALUE_OFFSET
from kavachc.backend.llvm_function import Emitter, FunctionEmitter
from kavachc.ir.library import LIBRARY
from kavachc.ir.module import Instruction
from kavachc.ir.types import ANSWER, ERROR, INT, NOTHING, Array, IrType, Map, Named, Optional, Scalar, Tuple

_CANCELLED = 2


def _status_after_suspend(out: FunctionEmitter) -> str:
    out.suspend()
    return out.assign(f"select i1 {out.call('kv_cancelled')}, i64 {_CANCELLED}, i64 0")


def _status_after_wait(out: FunctionEmitter, is_ready: str) -> str:
    """0 at once where the wait is over already, otherwise the status after a suspend."""
    before = out.label
    waiting, going_on = out.fresh("wait"), out.fresh("on")
    out.write(f"br i1 {is_ready}, label %{going_on}, label %{waiting}")
    out.start_block(waiting)
    status = _status_after_suspend(out)
    resumed = out.label
    out.write(f"br label %{going_on}")
    out.start_block(going_on)
    return out.assign(f"phi i64 [0, %{before}], [{status}, %{resumed}]")


def _as_outcome(out: FunctionEmitter, instruction: Instruction, status: str) -> str:
    type = out.layouts.memory_type(result_type(instruction))
    return out.assign(f"insertvalue {type} poison, i64 {status}, 0")


def _task_cancelled(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.call("kv_cancelled")


def _task_wait(out: FunctionEmitter, instruction: Instruction) -> str:
    is_ready = out.call("kv_task_wait", out.operand(instruction.operands[0]), "%frame")
    return _as_outcome(out, instruction, _status_after_wait(out, is_ready))


def _task_wait_for(out: FunctionEmitter, instruction: Instruction) -> str:
    task, limit = (out.operand(value) for value in instruction.operands)
    is_ready = out.call("kv_task_wait_for", task, limit, "%frame")
    return _as_outcome(out, instruction, _status_after_wait(out, is_ready))


def _task_ended(out: FunctionEmitter, instruction: Instruction) -> str:
    return out.call("kv_task_ended", out.operand(instruction.operands[0]))


def _sleep(out: FunctionEmitter, instruction: Instruction) -> str:
    out.call("kv_sleep", out.operand(instruction.operands[0]), "%frame")  # Always false: it yields.
    return _as_outcome(out, instruction, _status_after_suspend(out))


def _part_of_task(type: IrType | None, offset: int) -> Emitter:
    def emit(out: FunctionEmitter, instruction: Instruction) -> str:
        outcome = out.call("kv_task_outcome", out.operand(instruction.operands[0]))
        wanted = type or result_type(instruction)
        return "0" if wanted == NOTHING else out.load(wanted, out.at(outcome, offset))

    return emit


def _task_cancel(out: FunctionEmitter, instruction: Instruction) -> str:
    out.perform("kv_task_cancel", out.operand(instruction.operands[0]))
    return ""


def _ask(out: FunctionEmitter, instruction: Instruction) -> str:
    agent, prompt = (out.operand(value) for value in instruction.operands)
    wanted, *texts = instruction.attributes
    assert isinstance(wanted, Scalar | Array | Map | Optional | Tuple | Named)
    descriptors = out.emission.descriptors
    schema = descriptors.schema(*map(str, texts))
    out.emission.asks = True
    scratch = out.scratch(out.layouts.size(ANSWER))
    is_ready = out.call("kv_ask", agent, descriptors.type(wanted), schema, prompt, scratch, "%frame")
    return _outcome_with(out, instruction, ANSWER, is_ready, scratch)


def _builtin_wait(out: FunctionEmitter, instruction: Instruction) -> str:
    entry = LIBRARY[str(instruction.attributes[0])]
    out.emission.sends = True
    scratch = out.scratch(out.layouts.size(entry.result))
    operands = [out.operand(value) for value in instruction.operands]
    is_ready = out.call(entry.symbol, *operands, scratch, "%frame")
    return _outcome_with(out, instruction, entry.result, is_ready, scratch)


def _limit_commit(out: FunctionEmitter, instruction: Instruction) -> str:
    scratch = out.scratch(out.layouts.size(ANSWER))
    is_ready = out.call("kv_limit_commit", scratch, "%frame")
    return _outcome_with(out, instruction, ANSWER, is_ready, scratch)


def _outcome_with(out: FunctionEmitter, instruction: Instruction, type: IrType, is_ready: str, scratch: str) -> str:
    """With the value of `type` that the runtime has put into the scratch memory."""
    outcome = _as_outcome(out, instruction, _status_after_wait(out, is_ready))
    value = f"{out.layouts.memory_type(type)} {out.load(type, scratch)}"
    return out.assign(f"insertvalue {out.layouts.memory_type(result_type(instruction))} {outcome}, {value}, 1")


EMITTERS: dict[str, Emitter] = {
    "task.cancelled": _task_cancelled,
    "task.wait": _task_wait,
    "task.wait_for": _task_wait_for,
    "task.ended": _task_ended,
    "task.status": _part_of_task(INT, 0),
    "task.value": _part_of_task(None, OUTCOME_VALUE_OFFSET),
    "task.error": _part_of_task(ERROR, OUTCOME_ERROR_OFFSET),
    "task.cancel": _task_cancel,
    "sleep": _sleep,
    "ask": _ask,
    "builtin.wait": _builtin_wait,
    "limit.commit": _limit_commit,
}
