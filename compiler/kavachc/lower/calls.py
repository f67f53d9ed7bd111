"""Calls, in two steps: the operands (what a `spawn` hands to its task as well), and then the call of values that are
already there. Operands are borrowed by the call and released as soon as it is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kavachc.ir.module import Value
from kavachc.lower.asking import perform_ask
from kavachc.lower.builtins import BUILTINS, MUTATING_BUILTINS, TYPED_BUILTINS
from kavachc.lower.function import ExpressionLowering, Failure, FunctionLowering
from kavachc.lower.places import PlaceLowering
from kavachc.lower.settle import settle
from kavachc.semantics import typed_ast as typed


def call(state: FunctionLowering, node: typed.Expr, fails: Failure | None) -> Value:
    """The call's value; its error goes to `fails`."""
    outer = state.build.location
    state.locate(node.span)
    mark = state.mark()
    places: list[PlaceLowering] = []
    operands = evaluate_operands(state, node, places)
    ruled = [place for place in places if place.has_rules]
    if ruled:
        assert isinstance(node, typed.CallFunction)
        value = _call_changing_fields(state, node, operands, ruled, fails)
        state.release_to(mark)
    else:
        value = perform(state, node, operands, mark, fails)
    state.build.location = outer
    return value


def evaluate_operands(
    state: FunctionLowering, node: typed.Expr, places: list[PlaceLowering] | None = None
) -> list[Value]:
    """What the call takes, in its order, held: the hidden agent's number where there is one, the target, the
    arguments. Those that are places are put into `places`."""
    operands: list[Value] = []
    if isinstance(node, typed.CallFunction):
        if node.function.needs_agent:
            operands.append(state.agent_number())
        return operands + _arguments(state, node.arguments, places)
    if isinstance(node, typed.Ask):
        return [state.agent_number(), state.held(node.prompt)]
    if isinstance(node, typed.CallValue | typed.CallHandler | typed.CallCapability):
        operands.append(state.held(node.target))
        return operands + [state.held(argument) for argument in node.arguments]
    assert isinstance(node, typed.CallBuiltin), f"{type(node).__name__} is no call"
    if node.builtin.effect == "Http":
        operands.append(state.agent_number())
    return operands + [state.held(argument) for argument in node.arguments]


def _arguments(
    state: FunctionLowering, arguments: tuple[typed.Expr, ...], places: list[PlaceLowering] | None
) -> list[Value]:
    """In their order; of places, the indexes in their turn, the addresses when all else is evaluated."""
    made = [
        PlaceLowering(state, item.place) if isinstance(item, typed.MutArgument) else state.held(item)
        for item in arguments
    ]
    if places is not None:
        places.extend(item for item in made if isinstance(item, PlaceLowering))
    return [item.address() if isinstance(item, PlaceLowering) else item for item in made]


def _call_changing_fields(
    state: FunctionLowering,
    node: typed.CallFunction,
    operands: list[Value],
    places: list[PlaceLowering],
    fails: Failure | None,
) -> Value:
    """The rules of the fields are looked at when the call is over, also when it failed."""

    def look() -> None:
        for place in places:
            place.look_at_rules()

    function = state.program.callee(node)
    depth = state.depth_of(function.is_recursive)
    result = state.build.call(state.program.function_name(function), operands, depth, state.build.location)
    return settle(state, result, function.may_wait, fails, look)


def perform(
    state: FunctionLowering, node: typed.Expr, operands: list[Value], mark: int, fails: Failure | None
) -> Value:
    """The call of `operands`, which stand above `mark` and are released."""
    return _PERFORM[type(node)](state, node, operands, mark, fails)


def call_function(
    state: FunctionLowering, function: typed.Function, operands: list[Value], mark: int, fails: Failure | None
) -> Value:
    depth = state.depth_of(function.is_recursive)
    result = state.build.call(state.program.function_name(function), operands, depth, state.build.location)
    state.release_to(mark)
    return settle(state, result, function.may_wait, fails)


def _function(
    state: FunctionLowering,
    node: typed.CallFunction | typed.CallHandler,
    operands: list[Value],
    mark: int,
    fails: Failure | None,
) -> Value:
    return call_function(state, state.program.callee(node), operands, mark, fails)


def _value(
    state: FunctionLowering, node: typed.CallValue, operands: list[Value], mark: int, fails: Failure | None
) -> Value:
    depth = state.depth_of(node.shape.is_recursive)
    result = state.build.emit("call.value", *operands, attributes=(depth,))
    state.release_to(mark)
    return settle(state, result, state.program.value_waits(operands[0]), fails)


def _capability(
    state: FunctionLowering, node: typed.CallCapability, operands: list[Value], mark: int, fails: Failure | None
) -> Value:
    method = node.method
    agent = audited_agent(node)
    if agent is not None:
        target = state.build.string_const(f"{node.capability}.{method.name}")
        state.build.perform("audit.call", target, attributes=(agent.index,))
        state.build.release(target)
    result = state.build.call_capability(
        operands[0],
        str(node.capability),
        method.index,
        operands[1:],
        state.depth_of(method.is_recursive),
        state.build.location,
    )
    state.release_to(mark)
    return settle(state, result, method.may_wait, fails)


def audited_agent(node: typed.CallCapability) -> typed.Agent | None:
    """The agent that makes the call; None where it is no agent's, and where a limit tells of it (spec 8.6.audit)."""
    if not isinstance(node.target, typed.AgentCapability):
        return None
    agent = node.target.agent
    return None if any(limit.method is node.method for limit in agent.limits) else agent


def _builtin(
    state: FunctionLowering, node: typed.CallBuiltin, operands: list[Value], mark: int, fails: Failure | None
) -> Value:
    key = node.builtin.key
    if key in TYPED_BUILTINS:
        value = TYPED_BUILTINS[key](state, node.type, operands, fails)
    else:
        value = BUILTINS[key](state, operands, fails)
    state.release_to(mark)
    return value


def _ask(state: FunctionLowering, node: typed.Ask, operands: list[Value], mark: int, fails: Failure | None) -> Value:
    assert fails is not None, "an ask can fail"
    return perform_ask(state, node.type, operands, mark, fails)


_PERFORM: dict[type, Callable[[FunctionLowering, Any, list[Value], int, Failure | None], Value]] = {
    typed.CallFunction: _function,
    typed.CallHandler: _function,
    typed.CallValue: _value,
    typed.CallCapability: _capability,
    typed.CallBuiltin: _builtin,
    typed.Ask: _ask,
}


def _call(state: FunctionLowering, node: typed.Expr) -> Value:
    """A call that cannot fail; one that can stands in a `Try` or a `Catch`."""
    return call(state, node, None)


def _mutating(state: FunctionLowering, node: typed.CallMutatingBuiltin) -> Value:
    place = PlaceLowering(state, node.place)
    mark = state.mark()
    arguments = [state.held(argument) for argument in node.arguments]
    state.forget_to(mark)
    result = MUTATING_BUILTINS[node.builtin.key](state, place.address(), arguments)
    place.finish()
    return result


def _spawn(state: FunctionLowering, node: typed.Spawn) -> Value:
    mark = state.mark()
    outer = state.build.location
    state.locate(node.call.span)
    operands = evaluate_operands(state, node.call)
    state.build.location = outer
    state.forget_to(mark)
    return state.build.spawn(state.program.spawn_thunk(node.call, operands), operands)


def _start(state: FunctionLowering, node: typed.AgentStart) -> Value:
    agent = node.agent
    mark = state.mark()
    given: dict[int, Value] = {}
    for index, expression in node.capabilities:
        value = state.value(expression)
        vtable = state.program.limit_vtable(agent, agent.capabilities[index])
        given[index] = state.hold(value if vtable is None else state.build.capability_make(vtable, value))
    state.forget_to(mark)
    return state.build.agent_make(agent.index, [given[index] for index in sorted(given)])


def _agent_capability(state: FunctionLowering, node: typed.AgentCapability) -> Value:
    assert state.handle is not None, "only a handler sees its agent's capabilities"
    return state.build.copy(state.build.agent_capability(state.handle, node.index))


LOWERINGS: dict[type[typed.Expr], ExpressionLowering] = {
    typed.CallFunction: _call,
    typed.CallValue: _call,
    typed.CallHandler: _call,
    typed.CallCapability: _call,
    typed.CallBuiltin: _call,
    typed.Ask: _call,
    typed.CallMutatingBuiltin: _mutating,
    typed.Spawn: _spawn,
    typed.AgentStart: _start,
    typed.AgentCapability: _agent_capability,
}
