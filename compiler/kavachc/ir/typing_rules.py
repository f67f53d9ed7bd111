"""The typing rule of each op: from the types of its operands and its attributes to the type of its result.

The builder asks here for result types, and the verifier checks against the same rules. A rule gives None for an op
without a result; `declared` is the type that the instruction states, for ops where it does not follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from kavachc.ir.errors import IrError
from kavachc.ir.facts import field_of, function_called, is_plain, record_of, variant_of
from kavachc.ir.module import Agent, Attribute, Block, Capability, Cases, Function, Local, Method, Module, Value
from kavachc.ir.ops import ATTRIBUTE_KINDS, DEPTHS, PREDICATES, Op
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
    Address,
    Array,
    IrType,
    Named,
    Outcome,
    Task,
)


@dataclass(slots=True)
class Use:
    """An instruction as its rule sees it."""

    op: Op
    types: list[IrType]
    attributes: tuple[Attribute, ...]
    declared: IrType | None
    function: Function
    module: Module

    def number(self, index: int = 0) -> int:
        value = self.attributes[index]
        assert isinstance(value, int)
        return value

    def text(self, index: int = 0) -> str:
        value = self.attributes[index]
        assert isinstance(value, str)
        return value


Rule: TypeAlias = Callable[[Use], IrType | None]


def result_type(
    op: Op,
    operands: list[Value],
    attributes: tuple[Attribute, ...],
    declared: IrType | None,
    function: Function,
    module: Module,
) -> IrType | None:
    """The type of the result of such an instruction in `function`; IrError when it may not stand there."""
    check_operand_count(op, len(operands))
    use = Use(op, [value.type for value in operands], attributes, declared, function, module)
    check_attributes(use)
    if not op.name.startswith("outcome."):
        for type in use.types:
            _require(not isinstance(type, Outcome), "only the outcome ops take an outcome")
    return RULES[op.name](use)


def check_operand_count(op: Op, count: int) -> None:
    if count != len(op.operands) and not op.operands.endswith("*"):
        raise IrError(f"{op.name} takes {len(op.operands)} operands, not {count}")


_ATTRIBUTE_CLASSES: dict[str, type | tuple[type, ...]] = {
    "number": int,
    "name": str,
    "predicate": str,
    "depth": str,
    "local": Local,
    "block": Block,
    "cases": Cases,
}


def check_attributes(use: Use) -> None:
    names = use.op.attributes
    if len(use.attributes) != len(names):
        raise IrError(f"{use.op.name} takes {len(names)} attributes")
    for name, value in zip(names, use.attributes, strict=True):
        kind = ATTRIBUTE_KINDS[name]
        expected = _ATTRIBUTE_CLASSES.get(kind)
        right = expected is None or (isinstance(value, expected) and not isinstance(value, bool))
        if kind == "predicate":
            right = value in PREDICATES
        elif kind == "depth":
            right = value in DEPTHS
        if not right:
            raise IrError(f"the attribute {name} cannot be {value}")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise IrError(message)


def _expect(actual: IrType, expected: IrType) -> None:
    if actual != expected:
        raise IrError(f"{actual} stands where {expected} is wanted")


def _expect_all(types: list[IrType], expected: list[IrType], what: str) -> None:
    if len(types) != len(expected):
        raise IrError(f"{what} takes {len(expected)} values, not {len(types)}")
    for actual, wanted in zip(types, expected, strict=True):
        _expect(actual, wanted)


def _declared(use: Use) -> IrType:
    if use.declared is None:
        raise IrError(f"{use.op.name} must state its result's type")
    return use.declared


_COUNTABLE = (INT, DURATION, INSTANT)


def _fixed(result: IrType | None, *operands: IrType) -> Rule:
    def rule(use: Use) -> IrType | None:
        _expect_all(use.types, list(operands), use.op.name)
        return result

    return rule


# Constants, ownership, locals, addresses.


def _const_int(use: Use) -> IrType:
    value = use.attributes[0]
    _require(isinstance(value, int) and not isinstance(value, bool), f"{value!r} is no integer")
    _require(-(2**63) <= use.number() < 2**63, f"{value} does not fit in 64 bits")
    type = use.declared or INT
    _require(type in _COUNTABLE, f"{type} has no integer constants")
    return type


def _const(kind: type, type: IrType) -> Rule:
    def rule(use: Use) -> IrType:
        _require(isinstance(use.attributes[0], kind), f"{use.attributes[0]!r} is no {type}")
        return type

    return rule


def _copy(use: Use) -> IrType:
    _require(is_plain(use.types[0]), f"{use.types[0]} cannot be copied")
    return use.types[0]


def _release(use: Use) -> None:
    _require(is_plain(use.types[0]), f"{use.types[0]} cannot be released")


def _local(use: Use) -> Local:
    local = use.attributes[0]
    assert isinstance(local, Local)
    return local


def _local_value(use: Use) -> IrType:
    return _local(use).type


def _local_set(use: Use) -> None:
    _expect(use.types[0], _local(use).type)


def _local_address(use: Use) -> IrType:
    return Address(_local(use).type)


def _target(type: IrType) -> IrType:
    if not isinstance(type, Address):
        raise IrError(f"{type} is no address")
    return type.target


def _element(type: IrType) -> IrType:
    if not isinstance(type, Array):
        raise IrError(f"{type} is no array")
    return type.element


def _field_address(use: Use) -> IrType:
    return Address(field_of(record_of(_target(use.types[0]), use.module), use.number()).type)


def _element_address(use: Use) -> IrType:
    _expect(use.types[1], INT)
    return Address(_element(_target(use.types[0])))


def _load(use: Use) -> IrType:
    return _target(use.types[0])


def _store(use: Use) -> None:
    _expect(use.types[1], _target(use.types[0]))


def _array_push(use: Use) -> None:
    _expect(use.types[1], _element(_target(use.types[0])))


# Arithmetic and comparison (spec 2.duration).

_ARITHMETIC: dict[str, dict[tuple[IrType, IrType], IrType]] = {
    "int.add": {(INT, INT): INT, (DURATION, DURATION): DURATION, (INSTANT, DURATION): INSTANT},
    "int.sub": {
        (INT, INT): INT,
        (DURATION, DURATION): DURATION,
        (INSTANT, DURATION): INSTANT,
        (INSTANT, INSTANT): DURATION,
    },
    "int.mul": {(INT, INT): INT, (DURATION, INT): DURATION, (INT, DURATION): DURATION},
    "int.div": {(INT, INT): INT, (DURATION, INT): DURATION, (DURATION, DURATION): INT},
    "int.rem": {(INT, INT): INT},
}


def _arithmetic(use: Use) -> IrType:
    left, right = use.types
    found = _ARITHMETIC[use.op.name].get((left, right))
    if found is None:
        raise IrError(f"{use.op.name} does not take {left} and {right}")
    return found


def _int_neg(use: Use) -> IrType:
    _require(use.types[0] in (INT, DURATION), f"{use.types[0]} has no negative")
    return use.types[0]


def _int_compare(use: Use) -> IrType:
    _require(use.types[0] in (*_COUNTABLE, BOOL), f"int.compare does not take {use.types[0]}")
    _expect(use.types[1], use.types[0])
    return BOOL


def _equal(use: Use) -> IrType:
    _require(is_plain(use.types[0]), f"equal does not take {use.types[0]}")
    _expect(use.types[1], use.types[0])
    return BOOL


def _text_make(use: Use) -> IrType:
    for type in use.types:
        _require(is_plain(type), f"{type} cannot be shown")
    return STRING


# Records, sums, arrays, errors.


def _record_make(use: Use) -> IrType:
    type = _declared(use)
    record = record_of(type, use.module)
    _expect_all(use.types, [field.type for field in record.fields], str(type))
    return type


def _record_get(use: Use) -> IrType:
    return field_of(record_of(use.types[0], use.module), use.number()).type


def _variant_make(use: Use) -> IrType:
    type = _declared(use)
    variant = variant_of(type, use.number(), use.module)
    _expect_all(use.types, [field.type for field in variant.fields], f"{type} {variant.name}")
    return type


def _variant_tag(use: Use) -> IrType:
    variant_of(use.types[0], 0, use.module)
    return INT


def _variant_get(use: Use) -> IrType:
    return field_of(variant_of(use.types[0], use.number(), use.module), use.number(1)).type


def _array_make(use: Use) -> IrType:
    type = _declared(use)
    element = _element(type)
    for actual in use.types:
        _expect(actual, element)
    return type


def _array_length(use: Use) -> IrType:
    _element(use.types[0])
    return INT


def _array_get(use: Use) -> IrType:
    _expect(use.types[1], INT)
    return _element(use.types[0])


def _is_error_type(type: IrType, module: Module) -> bool:
    return isinstance(type, Named) and (type.name in module.records or type.name in module.sums)


def _error_make(use: Use) -> IrType:
    _require(_is_error_type(use.types[0], use.module), f"{use.types[0]} is no error type")
    return ERROR


def _error_is(use: Use) -> IrType:
    _expect(use.types[0], ERROR)
    held = use.attributes[0]
    _require(isinstance(held, Named) and _is_error_type(held, use.module), f"{held} is no error type")
    return BOOL


def _error_get(use: Use) -> IrType:
    _expect(use.types[0], ERROR)
    held = _declared(use)
    _require(_is_error_type(held, use.module), f"{held} is no error type")
    return held


# Calls, outcomes, tasks.


def _require_may_wait(use: Use, waits: bool) -> None:
    if waits and not use.function.waits:
        raise IrError(f"{use.op.name} may wait here, and the function is not marked waits")


def _call(use: Use) -> IrType:
    callee = function_called(use.text(), use.module)
    _require(not callee.owns_parameters, f"{callee.name} owns its parameters: it can only be spawned")
    _expect_all(use.types, [parameter.type for parameter in callee.parameters], callee.name)
    _require_may_wait(use, callee.waits)
    return callee.call_type


def capability_method(capability: str, method: int, module: Module) -> Method:
    found: Capability | None = module.capabilities.get(capability)
    if found is None:
        raise IrError(f"no capability is called {capability}")
    if not 0 <= method < len(found.methods):
        raise IrError(f"{capability} has no method {method}")
    return found.methods[method]


def _call_capability(use: Use) -> IrType:
    method = capability_method(use.text(), use.number(1), use.module)
    _expect_all(use.types, [Named(use.text()), *method.parameters], f"{use.text()}.{method.name}")
    _require_may_wait(use, method.waits)
    return method.call_type


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
    _require(right, f"{callee.name} cannot be spawned: it must own its parameters, wait, and have the error `error`")
    _expect_all(use.types, [parameter.type for parameter in callee.parameters], callee.name)
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


def _task_value(use: Use) -> IrType:
    return _task(use).result


def _sleep(use: Use) -> IrType:
    _expect(use.types[0], DURATION)
    _require_may_wait(use, True)
    return Outcome(NOTHING, None)


def _ask(use: Use) -> IrType:
    _expect_all(use.types, [INT, STRING], "ask")
    _require_may_wait(use, True)
    return Outcome(ANSWER, None)


def _decode(use: Use) -> IrType:
    _expect(use.types[0], STRING)
    return _declared(use)


# Agents, capabilities, limits.


def _agent_at(index: int, module: Module) -> Agent:
    _require(0 <= index < len(module.agents), f"there is no agent {index}")
    return module.agents[index]


def _agent_make(use: Use) -> IrType:
    agent = _agent_at(use.number(), use.module)
    _expect_all(use.types, [Named(name) for name in agent.capabilities], agent.name)
    return Named(agent.name)


def _agent_capability(use: Use) -> IrType:
    type = use.types[0]
    agent = next((item for item in use.module.agents if type == Named(item.name)), None)
    if agent is None:
        raise IrError(f"{type} is no agent")
    _require(0 <= use.number() < len(agent.capabilities), f"{agent.name} has no capability {use.number()}")
    return Named(agent.capabilities[use.number()])


def _capability_make(use: Use) -> IrType:
    vtable = use.module.vtables.get(use.text())
    if vtable is None:
        raise IrError(f"no vtable is called {use.text()}")
    _expect(use.types[0], vtable.payload)
    return Named(vtable.capability)


def _capability_payload(use: Use) -> IrType:
    type = use.types[0]
    _require(isinstance(type, Named) and type.name in use.module.capabilities, f"{type} is no capability")
    return _declared(use)


def _limit_begin(use: Use) -> None:
    agent = _agent_at(use.number(), use.module)
    _require(0 <= use.number(1) < len(agent.limits), f"{agent.name} has no limit {use.number(1)}")


def _limit_sum(use: Use) -> IrType:
    _require(use.types[0] in (INT, DURATION, FLOAT), f"limit.sum does not take {use.types[0]}")
    return BOOL


# Terminators.


def _return(use: Use) -> None:
    _expect(use.types[0], use.function.result)


def _fail(use: Use) -> None:
    if use.function.error is None:
        raise IrError("the function cannot fail")
    _expect(use.types[0], use.function.error)


def _return_cancelled(use: Use) -> None:
    _require(use.function.waits, "only a function that waits is ever cancelled")


_INTS = _fixed(INT, INT, INT)
_FLOATS = _fixed(FLOAT, FLOAT, FLOAT)

RULES: dict[str, Rule] = {
    "const.int": _const_int,
    "const.float": _const(float, FLOAT),
    "const.bool": _const(bool, BOOL),
    "const.string": _const(str, STRING),
    "const.nothing": _fixed(NOTHING),
    "copy": _copy,
    "release": _release,
    "local.get": _local_value,
    "local.set": _local_set,
    "local.take": _local_value,
    "local.address": _local_address,
    "field.address": _field_address,
    "element.address": _element_address,
    "load": _load,
    "store": _store,
    "array.push": _array_push,
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    "int.neg": _int_neg,
    **dict.fromkeys(("int.shl", "int.shr", "int.and", "int.or", "int.xor"), _INTS),
    "int.not": _fixed(INT, INT),
    "int.step": _fixed(INT, INT),
    **dict.fromkeys(("float.add", "float.sub", "float.mul", "float.div", "float.rem"), _FLOATS),
    "float.neg": _fixed(FLOAT, FLOAT),
    "bool.not": _fixed(BOOL, BOOL),
    "int.compare": _int_compare,
    "float.compare": _fixed(BOOL, FLOAT, FLOAT),
    "string.compare": _fixed(BOOL, STRING, STRING),
    "equal": _equal,
    "string.concat": _fixed(STRING, STRING, STRING),
    "text.make": _text_make,
    "record.make": _record_make,
    "record.get": _record_get,
    "variant.make": _variant_make,
    "variant.tag": _variant_tag,
    "variant.get": _variant_get,
    "array.make": _array_make,
    "array.length": _array_length,
    "array.get": _array_get,
    "array.at": _array_get,
    "error.make": _error_make,
    "error.is": _error_is,
    "error.get": _error_get,
    "call": _call,
    "call.capability": _call_capability,
    "outcome.status": _outcome_status,
    "outcome.value": _outcome_value,
    "outcome.error": _outcome_error,
    "outcome.none": _outcome_none,
    "spawn": _spawn,
    "task.cancelled": _fixed(BOOL),
    "task.wait": _task_rule(Outcome(NOTHING, None), suspends=True),
    "task.status": _task_rule(INT),
    "task.value": _task_value,
    "task.error": _task_rule(ERROR),
    "task.cancel": _task_rule(None),
    "sleep": _sleep,
    "now": _fixed(INSTANT),
    "print": _fixed(None, STRING),
    "agent.make": _agent_make,
    "agent.capability": _agent_capability,
    "capability.make": _capability_make,
    "capability.payload": _capability_payload,
    "limit.begin": _limit_begin,
    "limit.condition": _fixed(BOOL, BOOL),
    "limit.sum": _limit_sum,
    "limit.count": _fixed(BOOL),
    "limit.commit": _fixed(None),
    "limit.refuse": _fixed(STRING),
    "ask": _ask,
    "answer.kind": _fixed(INT, ANSWER),
    "answer.status": _fixed(INT, ANSWER),
    "answer.text": _fixed(STRING, ANSWER),
    "decode": _decode,
    "jump": _fixed(None),
    "branch": _fixed(None, BOOL),
    "switch": _fixed(None, INT),
    "return": _return,
    "fail": _fail,
    "return.cancelled": _return_cancelled,
    "unreachable": _fixed(None),
}
