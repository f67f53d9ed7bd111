"""Function values: the code of each, and how a value is made of it.

    fn(x: Int) -> Int { x + n }

    function closure.0.main(%closure: fn(int) -> int, %x: int) -> int captures [int]
        %1: int = function.capture 0 %closure

A function that may `ask` has the agent's number as its first capture: the value keeps the agent that made it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kavachc.ir import module as ir
from kavachc.ir.module import Value
from kavachc.ir.types import INT, FunctionValue
from kavachc.lower import names
from kavachc.lower.calls import call_function
from kavachc.lower.function import ExpressionLowering, FunctionLowering, Way
from kavachc.lower.types import lower_error, lower_type
from kavachc.semantics import typed_ast as typed

if TYPE_CHECKING:
    from kavachc.lower.program import ProgramLowering


def _agent(state: FunctionLowering, function: typed.Function) -> list[Value]:
    return [state.agent_number()] if function.needs_agent else []


def _named(state: FunctionLowering, node: typed.FunctionValue) -> Value:
    function = state.program.instance(node.function, node.type_arguments)
    code = _code_of_named(state.program, function)
    return state.build.emit("function.make", *_agent(state, function), attributes=(code,))


def _closure(state: FunctionLowering, node: typed.Closure) -> Value:
    code = _code_of_closure(state.program, node, state.build.function.name)
    mark = state.mark()
    captures = [state.held(capture) for capture in node.captures]
    state.forget_to(mark)
    return state.build.emit("function.make", *_agent(state, node.function), *captures, attributes=(code,))


def _declare(program: ProgramLowering, name: str, function: typed.Function, title: str | None) -> ir.Function:
    """The code of values of the function, which waits when any such value may."""
    parameters = [(item.name, lower_type(item.type)) for item in function.parameters]
    result, error = lower_type(function.result), lower_error(function.error)
    type = FunctionValue(tuple([item for _, item in parameters]), result, error)
    waits = type.shape in program.module.waiting_shapes
    declared = program.declare(name, function.span, [("closure", type), *parameters], result, error, waits, title=title)
    captures = [lower_type(item.type) for item in function.captures or ()]
    declared.captures = ((INT,) if function.needs_agent else ()) + tuple(captures)
    return declared


def _captures(state: FunctionLowering, declared: ir.Function) -> list[Value]:
    return [
        state.build.emit("function.capture", declared.parameters[0], attributes=(index,))
        for index in range(len(declared.captures or ()))
    ]


def _code_of_named(program: ProgramLowering, function: typed.Function) -> str:
    """A call of the function. It is not counted toward spec 4.depth: the call of the value is."""
    name = names.function_value(program.function_name(function))
    if name in program.module.functions:
        return name
    declared = _declare(program, name, function, None)

    def lower() -> None:
        state = program.open(declared, function.span)
        state.counts_calls = False
        operands = [*_captures(state, declared), *declared.parameters[1:]]
        state.leave_by_return(call_function(state, function, operands, state.mark(), state.leave_by_failure))
        state.finish()

    program.later(lower)
    return name


def _code_of_closure(program: ProgramLowering, node: typed.Closure, owner: str) -> str:
    function = node.function
    name = names.closure(program.next_closure(), owner)
    declared = _declare(program, name, function, function.traced_name)

    def lower() -> None:
        state = program.open(declared, function.span)
        captures = _captures(state, declared)
        if function.needs_agent:
            state.hidden_agent, *captures = captures
        for local, value in zip(function.captures or (), captures, strict=True):
            state.bind_parameter(local, value)
        for local, value in zip(function.parameters, declared.parameters[1:], strict=True):
            state.bind_parameter(local, value)
        assert function.body is not None
        with Way(state):
            state.leave_by_return(state.value_as(function.body, function.result))
        state.finish()

    program.later(lower)
    return name


LOWERINGS: dict[type[typed.Expr], ExpressionLowering] = {
    typed.FunctionValue: _named,
    typed.Closure: _closure,
}
