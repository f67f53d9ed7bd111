"""Agents and capabilities: the table of agents, the vtables, and the functions in them.

A record's vtable calls its methods. An agent's limits on a capability are a vtable too, around a value of that
capability: `start` wraps what it is given, so the limits hold wherever the value goes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from kavachc.ir import module as ir
from kavachc.ir.module import Block, Module, Value
from kavachc.ir.types import IrType
from kavachc.lower import names
from kavachc.lower.asking import ANSWERED
from kavachc.lower.calls import call_function
from kavachc.lower.function import FunctionLowering
from kavachc.lower.settle import as_error, settle
from kavachc.lower.types import lower_error, lower_type
from kavachc.semantics import panics, types
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.types import CapabilityMethod, CapabilityType
from kavachc.source import Span

if TYPE_CHECKING:
    from kavachc.lower.program import ProgramLowering


def add_agents(program: typed.Program, module: Module) -> None:
    for agent in sorted(program.agents, key=lambda item: item.index):
        assert agent.index == len(module.agents)
        module.agents.append(
            ir.Agent(
                agent.name,
                _model(agent.model),
                agent.settings.asks_under_way,
                agent.settings.mode,
                tuple(ir.Limit(limit.target, tuple(_rule(rule) for rule in limit.rules)) for limit in agent.limits),
                tuple(str(capability) for capability in agent.capabilities),
            )
        )


def _model(model: typed.ModelSettings) -> ir.Model:
    base_url, context_budget = model.base_url or "", model.context_budget or 0
    return ir.Model(model.name, model.max_tokens, model.provider, base_url, context_budget, model.timeout_ns)


def _rule(rule: typed.Rule) -> ir.Rule:
    kind: str = rule.kind
    if kind == "sum":
        assert rule.expression is not None
        kind = "sum_float" if rule.expression.type == types.FLOAT else "sum_int"
    return ir.Rule(kind, rule.text, rule.strict, rule.window_ns, rule.bound, rule.key is not None)


def declare_vtables(program: ProgramLowering) -> list[Callable[[], None]]:
    """Declares the vtables and their functions; each of those is lowered by one of the results."""
    thunks: list[Callable[[], None]] = []
    for implementation in program.source.implementations:
        thunks.extend(_declare_implementation(program, implementation))
    for agent in program.source.agents:
        for capability in dict.fromkeys(agent.capabilities):
            if any(limit.capability is capability for limit in agent.limits):
                thunks.extend(_declare_limits(program, agent, capability))
    return thunks


def _declare_implementation(program: ProgramLowering, implementation: typed.Implementation) -> list[Callable[[], None]]:
    vtable = names.vtable(implementation.record, implementation.capability)
    thunks: list[Callable[[], None]] = []
    for method, function in zip(implementation.capability.methods, implementation.methods, strict=True):
        thunk = _MethodThunk(program, vtable, implementation.capability, method, function.span)
        thunks.append(partial(_lower_implementation, thunk, function))
    _add_vtable(program, vtable, implementation.capability, lower_type(implementation.record))
    return thunks


def _declare_limits(
    program: ProgramLowering, agent: typed.Agent, capability: CapabilityType
) -> list[Callable[[], None]]:
    vtable = names.limit_vtable(agent, capability)
    thunks: list[Callable[[], None]] = []
    for method in capability.methods:
        # The checker lets an agent limit a method once.
        limit = next((item for item in agent.limits if item.method is method), None)
        span = agent.span if limit is None else limit.span
        title = None if limit is None else panics.LIMIT_NAME.format(target=limit.target)
        thunk = _MethodThunk(program, vtable, capability, method, span, title)
        thunks.append(partial(_lower_limited, thunk, agent, limit))
    _add_vtable(program, vtable, capability, lower_type(capability))
    return thunks


def _add_vtable(program: ProgramLowering, name: str, capability: CapabilityType, payload: IrType) -> None:
    functions = tuple(names.thunk(name, method) for method in capability.methods)
    program.module.vtables[name] = ir.Vtable(name, str(capability), payload, functions)


class _MethodThunk:
    """A function in a vtable: it takes the capability value and the method's parameters, and has the method's
    outcome, whatever the one that it calls has."""

    def __init__(
        self,
        program: ProgramLowering,
        vtable: str,
        capability: CapabilityType,
        method: CapabilityMethod,
        span: Span,
        title: str | None = None,
    ) -> None:
        self.program = program
        self.capability = capability
        self.method = method
        self.span = span
        pairs = zip(method.parameter_names, method.parameter_types, strict=True)
        self.function = program.declare(
            names.thunk(vtable, method),
            span,
            [("capability", lower_type(capability)), *((name, lower_type(type)) for name, type in pairs)],
            lower_type(method.result),
            lower_error(method.error),
            method.may_wait,
            title=title,
        )

    def open(self) -> FunctionLowering:
        return self.program.open(self.function, self.span)

    def payload(self, state: FunctionLowering, type: IrType) -> Value:
        return state.build.capability_payload(self.function.parameters[0], type)

    @property
    def arguments(self) -> list[Value]:
        return self.function.parameters[1:]


def _lower_implementation(thunk: _MethodThunk, function: typed.Function) -> None:
    """The record's method, on behalf of no agent: what an implementation does is its own."""
    state = thunk.open()
    state.counts_calls = False

    def fails(error: Value) -> None:
        state.leave_by_failure(as_error(state, error, thunk.function.error))

    operands = [thunk.payload(state, lower_type(function.parameters[0].type)), *thunk.arguments]
    if function.needs_agent:
        operands.insert(0, state.agent_number())
    state.leave_by_return(call_function(state, function, operands, state.mark(), fails))
    state.finish()


def _lower_limited(thunk: _MethodThunk, agent: typed.Agent, limit: typed.Limit | None) -> None:
    """The method under the agent's limit on it, if any: only when every rule let the call pass does it run."""
    state = thunk.open()
    build = state.build
    method, capability = thunk.method, thunk.capability
    if limit is not None:
        _check_limit(state, thunk, agent, limit)
    inner = thunk.payload(state, lower_type(capability))
    # Counted, and seen by the trace after a panic, where the agent's capability was called.
    build.location = None
    result = build.call_capability(inner, str(capability), method.index, thunk.arguments, "plain", None)
    state.locate(thunk.span)
    state.leave_by_return(settle(state, result, method.may_wait, state.leave_by_failure))
    state.finish()


def _check_limit(state: FunctionLowering, thunk: _MethodThunk, agent: typed.Agent, limit: typed.Limit) -> None:
    """begin, each rule in order, commit; a broken rule ends the call with its reason."""
    build = state.build
    for local, value in zip(limit.parameters, thunk.arguments, strict=True):
        state.bind_parameter(local, value)
    build.perform("limit.begin", attributes=(agent.index, agent.limits.index(limit)))
    for number, rule in enumerate(limit.rules):
        state.locate(rule.span)
        passed, refused = build.new_block("passed"), build.new_block("refused")
        build.branch(_check_rule(state, number, rule), passed, refused)
        _refuse(state, refused, number, limit)
        state.start(passed)
    answer = settle(state, build.emit("limit.commit"), True, None)
    kind, reason = build.emit("answer.kind", answer), build.emit("answer.text", answer)
    recorded, refused = build.new_block("recorded"), build.new_block("unrecorded")
    build.switch(kind, [(ANSWERED, recorded)], refused)
    state.start(refused)
    _deny(state, limit, reason)
    state.start(recorded)
    build.release(reason)


def _check_rule(state: FunctionLowering, number: int, rule: typed.Rule) -> Value:
    build = state.build
    value = None if rule.expression is None else state.value(rule.expression)
    if rule.key is not None:
        mark = state.mark()
        key = build.text_make([state.held(rule.key)])
        build.perform("limit.key", key, attributes=(number,))
        build.release(key)
        state.release_to(mark)
    if rule.kind == "count":
        return build.emit("limit.count", attributes=(number,))
    assert value is not None, "`tokens` stands in `limit Ai` alone"
    return build.emit("limit.sum" if rule.kind == "sum" else "limit.condition", value, attributes=(number,))


def _refuse(state: FunctionLowering, block: Block, rule: int, limit: typed.Limit) -> None:
    state.start(block)
    _deny(state, limit, state.build.emit("limit.refuse", attributes=(rule,)))


def _deny(state: FunctionLowering, limit: typed.Limit, reason: Value) -> None:
    assert limit.method is not None and limit.method.error is not None
    state.leave_by_failure(state.build.variant_make(lower_type(limit.method.error), limit.denied, [reason]))
