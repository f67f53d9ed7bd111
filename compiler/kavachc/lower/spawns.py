"""The functions that tasks run: one for each shape of call that is spawned.

fn spawn.0.Refunder.refund(%0: $Refunder, %1: int) -> nothing ! error waits owns
    cancelled before its first step: released, cancelled
    the call; its error as an `Error`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kavachc.ir.module import Value
from kavachc.ir.types import ERROR
from kavachc.lower.calls import audited_agent, perform
from kavachc.lower.settle import as_error
from kavachc.lower.types import lower_type
from kavachc.semantics import typed_ast as typed
from kavachc.semantics import types

if TYPE_CHECKING:
    from kavachc.lower.program import ProgramLowering


def shape(program: ProgramLowering, call: typed.Expr, operands: list[Value]) -> object:
    """Calls with equal shapes run the same function."""
    if isinstance(call, typed.CallFunction | typed.CallHandler):
        return program.callee(call)
    if isinstance(call, typed.CallValue):
        return operands[0].type
    if isinstance(call, typed.CallCapability):
        return (call.method, audited_agent(call))
    if isinstance(call, typed.CallBuiltin):
        return (call.builtin.key, tuple(operand.type for operand in operands), lower_type(call.type))
    return ("ask", lower_type(call.type))


def callee_name(program: ProgramLowering, call: typed.Expr) -> str:
    if isinstance(call, typed.CallFunction | typed.CallHandler):
        return program.function_name(program.callee(call))
    if isinstance(call, typed.CallValue):
        return "function.value"
    if isinstance(call, typed.CallCapability):
        return f"{call.capability.name}.{call.method.name}"
    return call.builtin.key if isinstance(call, typed.CallBuiltin) else "ask"


def lower_thunk(program: ProgramLowering, name: str, call: typed.Expr, operands: list[Value]) -> None:
    parameters = [(f"argument{index}", operand.type) for index, operand in enumerate(operands)]
    # The result is the call's own, which for some builtins follows from the operands.
    result = lower_type(call.type)
    function = program.declare(name, call.span, parameters, result, ERROR, waits=True, owns_parameters=True)
    state = program.open(function, call.span)
    state.counts_calls = False
    build = state.build
    for parameter in function.parameters:
        state.hold(parameter)
    cancelled, begin = build.new_block("cancelled"), build.new_block("begin")
    build.branch(build.emit("task.cancelled"), cancelled, begin)
    state.start(cancelled)
    state.leave_cancelled()
    state.start(begin)

    def fails(error: Value) -> None:
        state.leave_by_failure(as_error(state, error, ERROR))

    value = perform(state, call, function.parameters, 0, fails)
    if call.type == types.NOTHING:
        value = build.nothing()
    state.leave_by_return(value)
    state.finish()
