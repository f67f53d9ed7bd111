"""The typing rules of calls, outcomes, tasks, agents, limits, `ask` and terminators."""

from __future__ import annotations

from kavachc.ir.errors import IrError
from kavachc.ir.facts import capability_method, function_called
from kavachc.ir.library import LIBRARY
from kavachc.ir.module import Agent, Module
from kavachc.ir.types import (
    ANSWER,
    BOOL,
    DURATION,
    ERROR,
    FLOAT,
    INSTANT,
    INT,
    NOTHING,
    STRING,
    FunctionValue,
    IrType,
    Named,
    Outcome,
    Task,
)
from kavachc.ir.typing_use import Rule, Use, declared, expect, expect_all, fixed, require

# Calls, outcomes, tasks.


def _require_may_wait(use: Use, waits: bool) -> None:
    if waits and not use.function.waits:
        raise IrError(f"{use.op.name} may wait here, and the function is not marked waits")


def _call(use: Use) -> IrType:
    callee = function_called(use.text(), use.module)
    require(not callee.owns_parameters, f"{callee.name} owns its parameters: it can only be spawned")
    expect_all(use.types, [parameter.type for parameter in callee.parameters], callee.name)
    _require_may_wait(use, callee.waits)
    return callee.call_type


def _builtin(*, changes: bool = False, waits: bool = False) -> Rule:
    def rule(use: Use) -> IrType:
        entry = LIBRARY.get(use.text())
        if entry is None:
            raise IrError(f"the library has no {use.text()}")
        require(entry.changes == changes and entry.waits == waits, f"{use.op.name} is not for {entry.key}")
        _require_may_wait(use, waits)
        result = entry.bound(entry.result, entry.variable(use.types))
        return Outcome(result, None) if waits else result

    return rule


def _call_capability(use: Use) -> IrType:
    method = capability_method(use.text(), use.number(1), use.module)
    expect_all(use.types, [Named(use.text()), *method.parameters], f"{use.text()}.{method.name}")
    _require_may_wait(use, method.waits)
    return method.call_type


def _function_value(type: IrType) -> FunctionValue:
    if not isinstance(type, FunctionValue):
        raise IrError(f"{type} is no function value")
    return type


def _call_value(use: Use) -> IrType:
    require(bool(use.types), "call.value takes the function value")
    type = _function_value(use.types[0])
    expect_all(use.types[1:], list(type.parameters), str(type))
    waits = type.shape in use.module.waiting_shapes
    _require_may_wait(use, waits)
    return Outcome(type.result, type.error) if waits or type.error is not None else type.result


def _function_make(use: Use) -> IrType:
    code = function_called(use.text(), use.module)
    if code.captures is None:
        raise IrError(f"{code.name} is no code of a function value")
    expect_all(use.types, list(code.captures), code.name)
    type = _function_value(code.parameters[0].type)
    require(code.waits == (type.shape in use.module.waiting_shapes), f"{code.name} waits otherwise than {type}")
    return type


def _function_capture(use: Use) -> IrType:
    captures = use.function.captures
    if captures is None or use.types[0] != use.function.parameters[0].type:
        raise IrError("only the code of a function value sees what it captured")
    require(0 <= use.number() < len(captures), f"there is no capture {use.number()}")
    return captures[use.number()]


def _outcome(use: Use) -> Outcome:
    type = use.types[0]
    if not isinstance(type, Outcome):
        raise IrError(f"{type} is no outcome")
    return type


def _outcome_status(use: Use) -> IrType:
    _outcome(use)
    return INT


def _outcome_value(use: Use) -> IrType:
    return _outcome(use).value


def _outcome_error(use: Use) -> IrType:
    error = _outcome(use).error
    if error is None:
        raise IrError(f"{use.types[0]} cannot hold an error")
    return error


def _outcome_none(use: Use) -> None:
    _outcome(use)


def _spawn(use: Use) -> IrType:
    callee = function_called(use.text(), use.module)
    right = callee.owns_parameters and callee.waits and callee.error == ERROR
    require(right, f"{callee.name} cannot be spawned: it must own its parameters, wait, and have the error `error`")
    expect_all(use.types, [parameter.type for parameter in callee.parameters], callee.name)
    return Task(callee.result)


def _task(use: Use) -> Task:
    type = use.types[0]
    if not isinstance(type, Task):
        raise IrError(f"{type} is no task")
    return type


def _task_rule(result: IrType | None, suspends: bool = False) -> Rule:
    def rule(use: Use) -> IrType | None:
        _task(use)
        _require_may_wait(use, suspends)
        return result

    return rule


def _task_wait_for(use: Use) -> IrType:
    _task(use)
    expect(use.types[1], DURATION)
    _require_may_wait(use, True)
    return Outcome(NOTHING, None)


def _task_value(use: Use) -> IrType:
    return _task(use).result


def _sleep(use: Use) -> IrType:
    expect(use.types[0], DURATION)
    _require_may_wait(use, True)
    return Outcome(NOTHING, None)


def _ask(use: Use) -> IrType:
    expect_all(use.types, [INT, STRING], "ask")
    _require_may_wait(use, True)
    return Outcome(ANSWER, None)


def _json_check(use: Use) -> IrType:
    expect(use.types[0], STRING)
    return ANSWER


def _decode(use: Use) -> IrType:
    expect(use.types[0], STRING)
    return declared(use)


# Agents, capabilities, limits.


def _agent_at(index: int, module: Module) -> Agent:
    require(0 <= index < len(module.agents), f"there is no agent {index}")
    return module.agents[index]


def _agent_make(use: Use) -> IrType:
    agent = _agent_at(use.number(), use.module)
    expect_all(use.types, [Named(name) for name in agent.capabilities], agent.name)
    return Named(agent.name)


def _agent_capability(use: Use) -> IrType:
    type = use.types[0]
    agent = next((item for item in use.module.agents if type == Named(item.name)), None)
    if agent is None:
        raise IrError(f"{type} is no agent")
    require(0 <= use.number() < len(agent.capabilities), f"{agent.name} has no capability {use.number()}")
    return Named(agent.capabilities[use.number()])


def _capability_make(use: Use) -> IrType:
    vtable = use.module.vtables.get(use.text())
    if vtable is None:
        raise IrError(f"no vtable is called {use.text()}")
    expect(use.types[0], vtable.payload)
    return Named(vtable.capability)


def _capability_payload(use: Use) -> IrType:
    type = use.types[0]
    require(isinstance(type, Named) and type.name in use.module.capabilities, f"{type} is no capability")
    return declared(use)


def _audit_call(use: Use) -> None:
    _agent_at(use.number(), use.module)
    require(use.types[0] == STRING, f"{use.types[0]} is no string")


def _limit_begin(use: Use) -> None:
    agent = _agent_at(use.number(), use.module)
    require(0 <= use.number(1) < len(agent.limits), f"{agent.name} has no limit {use.number(1)}")


def _limit_sum(use: Use) -> IrType:
    require(use.types[0] in (INT, DURATION, FLOAT), f"limit.sum does not take {use.types[0]}")
    return BOOL


def _limit_commit(use: Use) -> IrType:
    require(use.function.waits, "only a function that waits makes a call's records durable")
    return Outcome(ANSWER, None)


# Terminators.


def _return(use: Use) -> None:
    expect(use.types[0], use.function.result)


def _fail(use: Use) -> None:
    if use.function.error is None:
        raise IrError("the function cannot fail")
    expect(use.types[0], use.function.error)


def _return_cancelled(use: Use) -> None:
    require(use.function.waits, "only a function that waits is ever cancelled")


CALL_RULES: dict[str, Rule] = {
    "call": _call,
    "builtin": _builtin(),
    "builtin.change": _builtin(changes=True),
    "builtin.wait": _builtin(waits=True),
    "call.capability": _call_capability,
    "call.value": _call_value,
    "function.make": _function_make,
    "function.capture": _function_capture,
    "outcome.status": _outcome_status,
    "outcome.value": _outcome_value,
    "outcome.error": _outcome_error,
    "outcome.none": _outcome_none,
    "spawn": _spawn,
    "task.cancelled": fixed(BOOL),
    "task.wait": _task_rule(Outcome(NOTHING, None), suspends=True),
    "task.wait_for": _task_wait_for,
    "task.ended": _task_rule(BOOL),
    "task.status": _task_rule(INT),
    "task.value": _task_value,
    "task.error": _task_rule(ERROR),
    "task.cancel": _task_rule(None),
    "sleep": _sleep,
    "now": fixed(INSTANT),
    "print": fixed(None, STRING),
    "panic": fixed(None, STRING),
    "agent.make": _agent_make,
    "agent.capability": _agent_capability,
    "capability.make": _capability_make,
    "capability.payload": _capability_payload,
    "audit.call": _audit_call,
    "limit.begin": _limit_begin,
    "limit.key": fixed(None, STRING),
    "limit.condition": fixed(BOOL, BOOL),
    "limit.sum": _limit_sum,
    "limit.count": fixed(BOOL),
    "limit.commit": _limit_commit,
    "limit.refuse": fixed(STRING),
    "ask": _ask,
    "answer.kind": fixed(INT, ANSWER),
    "answer.status": fixed(INT, ANSWER),
    "answer.text": fixed(STRING, ANSWER),
    "answer.retry_after": fixed(INT, ANSWER),
    "json.check": _json_check,
    "decode": _decode,
    "jump": fixed(None),
    "branch": fixed(None, BOOL),
    "switch": fixed(None, INT),
    "return": _return,
    "fail": _fail,
    "return.cancelled": _return_cancelled,
    "unreachable": fixed(None),
}
