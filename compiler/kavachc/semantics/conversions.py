"""Which values fit where: equality of types, the two conversions, and what can be compared, shown or asked for."""

from __future__ import annotations

from collections.abc import Callable

from kavachc.semantics.holding import held
from kavachc.semantics.types import (
    DURATION,
    ERROR,
    INSTANT,
    NEVER,
    NOTHING,
    UNKNOWN,
    AgentType,
    ArrayType,
    CapabilityType,
    OptionalType,
    RecordType,
    SumType,
    TaskType,
    TupleType,
    Type,
)
from kavachc.semantics.wording import a


def same_type(left: Type, right: Type) -> bool:
    """Equal, or unknown in some part (which has been reported already)."""
    if left is UNKNOWN or right is UNKNOWN:
        return True
    if type(left) is not type(right) or not isinstance(left, ArrayType | OptionalType | TupleType | TaskType):
        return left == right
    own, other = _arguments(left), _arguments(right)
    return len(own) == len(other) and all(map(same_type, own, other))


def _arguments(type_: object) -> tuple[Type, ...]:
    """The types that a structural type is made of."""
    if isinstance(type_, ArrayType | OptionalType):
        return (type_.element,)
    if isinstance(type_, TaskType):
        return (type_.result,)
    return type_.elements if isinstance(type_, TupleType) else ()


def is_partly_unknown(value: object) -> bool:
    """Whether `value` is a type of which a part was reported as wrong."""
    return value is UNKNOWN or any(map(is_partly_unknown, _arguments(value)))


def convertible(found: Type, wanted: Type) -> bool:
    """Whether a value of type `found` may stand where a `wanted` is wanted (spec 2.convert)."""
    if found is NEVER or same_type(found, wanted):
        return True
    if isinstance(wanted, OptionalType):
        return convertible(found, wanted.element)
    if wanted is ERROR:
        return isinstance(found, RecordType | SumType)
    return isinstance(wanted, CapabilityType) and isinstance(found, RecordType) and wanted in found.capabilities


def find_inside(type_: Type, is_wanted: Callable[[Type], bool]) -> Type | None:
    """The first type for which `is_wanted` holds among `type_` and all that its values can hold."""
    seen: set[Type] = set()
    pending = [type_]
    while pending:
        current = pending.pop()
        if is_wanted(current):
            return current
        if current in seen:
            continue
        seen.add(current)
        pending.extend(reversed(list(held(current))))
    return None


def described(type_: Type) -> str:
    """`a task`, `an agent`, `a capability`, `an Error`, or the type's own name."""
    if isinstance(type_, TaskType):
        return "a task"
    if isinstance(type_, AgentType):
        return "an agent"
    if isinstance(type_, CapabilityType):
        return "a capability"
    if type_ is ERROR:
        return "an `Error`"
    return "nothing, `()`" if type_ is NOTHING else a(type_)


def _reason(type_: Type, found: Type | None, rule: str) -> str | None:
    if found is None:
        return None
    return f"{described(found)} {rule}" if found == type_ else f"it holds {described(found)}, which {rule}"


def why_not_comparable(type_: Type) -> str | None:
    """None when `==` works on the type."""
    found = find_inside(type_, lambda part: isinstance(part, TaskType | AgentType | CapabilityType) or part is ERROR)
    return _reason(type_, found, "is equal to nothing")


def why_not_shown(type_: Type) -> str | None:
    """None when the type's values show as text (spec 2.show)."""
    found = find_inside(type_, lambda part: isinstance(part, TaskType | AgentType | CapabilityType))
    return _reason(type_, found, "has no text")


def why_not_plain(type_: Type) -> str | None:
    """None when a constant can be of the type."""
    found = find_inside(type_, lambda part: isinstance(part, TaskType | AgentType | CapabilityType) or part is ERROR)
    return _reason(type_, found, "exists only while the program runs")


def why_not_askable(type_: Type) -> str | None:
    """None when `ask` can give the type (spec 8.4.strict)."""
    found = find_inside(
        type_,
        lambda part: (
            isinstance(part, TaskType | AgentType | CapabilityType) or part in (ERROR, DURATION, INSTANT, NOTHING)
        ),
    )
    return _reason(type_, found, "is not something that a model can write")
