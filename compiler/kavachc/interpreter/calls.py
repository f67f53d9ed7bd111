"""Calls: of functions, of capabilities under limits, of handlers, of the model; and how they are driven.

A call of a function does not nest on Python's stack: its caller yields the body, and `run_steps` keeps the bodies of
one task on a list. So 100,000 nested calls (spec 4.depth) need no more stack than one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kavachc.interpreter.builtins import WAITING
from kavachc.interpreter.combine import COMBINE
from kavachc.interpreter.decode import decode_answer
from kavachc.interpreter.frames import Frame, Steps
from kavachc.interpreter.host import TaskBody
from kavachc.interpreter.places import Reference
from kavachc.interpreter.rules import look_at_rules
from kavachc.interpreter.show import show
from kavachc.interpreter.signals import Fails, KavachPanic
from kavachc.interpreter.statements import function_body
from kavachc.interpreter.values import CapabilityValue, FunctionData, LimitedCapability, Value, VariantValue, variant
from kavachc.semantics import panics
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.schema import answer_schema
from kavachc.semantics.types import SumType, Type
from kavachc.source import Span

if TYPE_CHECKING:
    from kavachc.interpreter.evaluator import Evaluator

Call: TypeAlias = (
    typed.CallFunction | typed.CallValue | typed.CallCapability | typed.CallHandler | typed.CallBuiltin | typed.Ask
)


def run_steps(first: Steps) -> TaskBody:
    """Drives an evaluation and the bodies that it calls, the newest first; yields where the task waits."""
    bodies = [first]
    sent: Value = None
    failure: Fails | None = None
    while True:
        try:
            request = bodies[-1].send(sent) if failure is None else bodies[-1].throw(failure)
        except StopIteration as end:
            bodies.pop()
            sent, failure = end.value, None
        except Fails as error:
            bodies.pop()
            # A new one, so that a failure that passes many calls does not carry a traceback through them all.
            sent, failure = None, Fails(error.error)
        else:
            sent, failure = None, None
            if request is None:
                yield
            else:
                bodies.append(request)
        if not bodies:
            break
    if failure is not None:
        raise failure
    return sent


def call(evaluator: Evaluator, node: Call, frame: Frame) -> Steps:
    """Evaluates the target and the arguments, then the call."""
    values = yield from evaluator.expressions(_operands(node), frame)
    return (yield from _perform(evaluator, node, values, frame, node.span))


def spawn(evaluator: Evaluator, node: typed.Spawn, frame: Frame) -> Steps:
    """Evaluates the target and the arguments now; the call is a task's (spec 7.fifo)."""
    spawned = node.call
    assert isinstance(spawned, Call)
    values = yield from evaluator.expressions(_operands(spawned), frame)
    # A task's own call is nested in no other.
    outermost = Frame(agent=frame.agent, depth=None, types=frame.types)
    task = run_steps(_perform(evaluator, spawned, values, outermost, node.span))
    return evaluator.host.spawn(task, frame.type(spawned.type))


def _operands(node: Call) -> tuple[typed.Expr, ...]:
    match node:
        case typed.CallValue() | typed.CallCapability() | typed.CallHandler():
            return (node.target, *node.arguments)
        case typed.Ask():
            return (node.prompt,)
        case _:
            return node.arguments


def _perform(evaluator: Evaluator, node: Call, values: list[Value], frame: Frame, place: Span) -> Steps:
    """`place` is where the trace after a panic sees the call: a `spawn` stands before it."""
    match node:
        case typed.CallFunction():
            callee = Frame(
                frame.agent,
                None,
                _depth(frame, node.function.is_recursive, node.span),
                frame.bindings(node.function, node.type_arguments),
            )
            callee.enter(frame, node.function.traced_name, place)
            return (yield from _run(evaluator, node.function, values, callee, node.span))
        case typed.CallValue():
            return (yield from _value(evaluator, node, values, frame, place))
        case typed.CallHandler():
            handle, *arguments = values
            callee = Frame(node.function.agent, handle, _depth(frame, node.function.is_recursive, node.span))
            callee.enter(frame, node.function.traced_name, place)
            return (yield from _run(evaluator, node.function, arguments, callee, node.span))
        case typed.CallCapability():
            return (yield from _capability(evaluator, node, values, frame, place))
        case typed.Ask():
            return (yield from _ask(evaluator, frame.agent, frame.type(node.type), values[0]))
        case typed.CallBuiltin():
            if node.builtin.waits:
                return (yield from WAITING[node.builtin.key](evaluator, frame.agent, values))
            try:
                return COMBINE[typed.CallBuiltin].combine(evaluator, node, frame, values)
            except KavachPanic as panic:
                if panic.trace is None:
                    panic.span = place
                raise
            except MemoryError:
                raise KavachPanic(panics.OUT_OF_MEMORY, place) from None


def _depth(caller: Frame, is_recursive: bool, span: Span) -> int:
    """How many recursive calls the callee is nested in, itself included; panics beyond the most (spec 4.depth)."""
    if caller.depth is None:
        return 0
    depth = caller.depth + is_recursive
    if depth > panics.CALL_DEPTH_MAX:
        raise KavachPanic(panics.CALLS_TOO_DEEP, span)
    return depth


def _run(evaluator: Evaluator, function: typed.Function, arguments: list[Value], callee: Frame, span: Span) -> Steps:
    evaluator.count_step(span)
    references: list[tuple[typed.Local, Reference]] = []
    for parameter, argument in zip(function.parameters, arguments, strict=True):
        if isinstance(argument, Reference):
            references.append((parameter, argument))
            argument.copy_in(parameter, callee)
        else:
            callee.values[parameter] = argument
    if not references:
        return (yield function_body(evaluator, function, callee))
    result, failure = None, None
    try:
        result = yield function_body(evaluator, function, callee)
    except Fails as fails:
        # What it changed stays changed.
        failure = fails
    for parameter, reference in references:
        reference.copy_out(parameter, callee)
    for _, reference in references:
        yield from look_at_rules(evaluator, reference.place, reference.indexes, reference.frame)
    if failure is not None:
        raise failure
    return result


def _value(evaluator: Evaluator, node: typed.CallValue, values: list[Value], frame: Frame, place: Span) -> Steps:
    """The function on behalf of the agent that the value was made for, with what it captured."""
    target: FunctionData = values[0]
    callee = Frame(target.agent, None, _depth(frame, node.shape.is_recursive, node.span), target.types)
    callee.values.update(zip(target.function.captures or (), target.captured, strict=True))
    callee.enter(frame, target.function.traced_name, place)
    return (yield from _run(evaluator, target.function, values[1:], callee, node.span))


def _capability(
    evaluator: Evaluator, node: typed.CallCapability, values: list[Value], frame: Frame, place: Span
) -> Steps:
    """The limits of the agents that the capability was given through, the nearest first; then the method.

    The implementation runs with no agent: what it uses is its own (language.md 5). The call is counted before the
    limits see it, and once, whatever stands between (spec 4.depth)."""
    depth = _depth(frame, node.method.is_recursive, node.span)
    target: LimitedCapability | CapabilityValue = values[0]
    arguments = values[1:]
    if isinstance(node.target, typed.AgentCapability):
        agent = node.target.agent
        if not any(limit.method is node.method for limit in agent.limits):
            evaluator.host.audit_call(agent, f"{node.capability}.{node.method.name}")
    while isinstance(target, LimitedCapability):
        for limit in target.agent.limits:
            if limit.method is node.method:
                rule_frame = Frame(depth=depth, values=dict(zip(limit.parameters, arguments, strict=True)))
                rule_frame.enter(frame, panics.LIMIT_NAME.format(target=limit.target), place)
                yield from _check_limit(evaluator, target.agent, limit, rule_frame)
        target = target.inner
    method = target.implementation.methods[node.method.index]
    callee = Frame(None, None, depth)
    callee.enter(frame, method.traced_name, place)
    return (yield from _run(evaluator, method, [target.payload, *arguments], callee, node.span))


def _check_limit(evaluator: Evaluator, agent: typed.Agent, limit: typed.Limit, rule_frame: Frame) -> Steps:
    """Visits the rules in the order written; raises `Fails` with `Denied` at the first broken one (spec 8.3.order)."""
    host = evaluator.host
    host.limit_begin(agent, limit)
    for index, rule in enumerate(limit.rules):
        value: Value = None
        try:
            if rule.expression is not None:
                value = yield from evaluator.expression(rule.expression, rule_frame)
            if rule.key is not None:
                key = yield from evaluator.expression(rule.key, rule_frame)
                host.limit_key(index, show(key, rule.key.type))
        except KavachPanic as panic:
            panic.leave(rule_frame)
            raise
        if rule.expression is None:
            holds = host.limit_count(index)
        else:
            holds = host.limit_sum(index, value) if rule.kind == "sum" else host.limit_condition(index, value)
        if not holds:
            raise _denied(limit, host.limit_refuse(index))
    reason = yield from host.limit_commit()
    if reason is not None:
        raise _denied(limit, reason)
    return None


def _denied(limit: typed.Limit, reason: str) -> Fails:
    assert limit.method is not None and isinstance(limit.method.error, SumType)
    return Fails(VariantValue(limit.method.error, limit.denied, (reason,)))


def _ask(evaluator: Evaluator, agent: typed.Agent | None, wanted: Type, prompt: str) -> Steps:
    sample = evaluator.program.samples[wanted]
    answer = yield from evaluator.host.ask(agent, wanted, answer_schema(wanted), sample, prompt)
    if answer.kind == "Answered":
        return decode_answer(answer.text, wanted, evaluator.holds)
    ai_error = evaluator.program.ai_error
    if answer.kind == "Failed":
        raise Fails(variant(ai_error, "Failed", answer.status, answer.text, hidden=(answer.retry_after,)))
    raise Fails(variant(ai_error, answer.kind, answer.text))
