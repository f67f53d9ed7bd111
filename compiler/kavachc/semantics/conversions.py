"""Which values fit where: equality of types, the two conversions, and what can be compared, shown or asked for."""

from __future__ import annotations

from collections.abc import Callable

from kavachc.semantics.types import (
    DURATION,
    ERROR,
    INSTANT,
    NOTHING,
    UNKNOWN,
    AgentType,
    ArrayType,
    CapabilityType,
    RecordType,
    SumType,
    TaskType,
    Type,
)
from kavachc.semantics.wording import a


def same_type(left: Type, right: Type) -> bool:
    """Equal, or unknown in some part (which has been reported already)."""
    while True:
        if left is UNKNOWN or right is UNKNOWN:
            return True
        if isinstance(left, ArrayType) and isinstance(right, ArrayType):
            left, right = left.element, right.element
        elif isinstance(left, TaskType) and isinstance(right, TaskType):
            left, right = left.result, right.result
        else:
            return left == right


def is_partly_unknown(value: object) -> bool:
    """Whether `value` is a type of which a part was reported as wrong."""
    while isinstance(value, ArrayType | TaskType):
        value = value.element if isinstance(value, ArrayType) else value.result
    return value is UNKNOWN


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
        if isinstance(current, ArrayType):
            pending.append(current.element)
        elif isinstance(current, RecordType):
            pending.extend(item.type for item in reversed(current.fields))
        elif isinstance(current, SumType):
            pending.extend(item.type for variant in reversed(current.variants) for item in reversed(variant.fields))
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
