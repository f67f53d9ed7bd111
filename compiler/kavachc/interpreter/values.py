"""What the interpreter computes with (spec 2).

Int, Duration and Instant are `int`, Float `float`, Bool `bool`, String `str`, the value of nothing `None`. The other
values are the classes below. An error is the value itself: `ToError` changes nothing.

Optionals, tuples, records and variants never change. An array or a map changes in place only for the one variable that
owns it (`places.py`); to everyone else it never changes either. So no two names ever share state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from kavachc.semantics.typed_ast import Agent, Function, Implementation
from kavachc.semantics.types import Bindings, RecordType, SumType

# A value's type is known from the typed tree, so Python's own checks would only repeat the checker's.
Value: TypeAlias = Any


@dataclass(eq=False, slots=True)
class ArrayValue:
    """`owner` is the token of the variable that may change `items` in place, None when there is none."""

    items: list[Value]
    owner: object | None = None


@dataclass(eq=False, slots=True)
class MapValue:
    """`items` are in order of their first coming, under what `key_of` makes of the key. `owner` as of an array."""

    items: dict[Any, tuple[Value, Value]]
    owner: object | None = None


def key_of(key: Value) -> Any:
    """What stands for a key in Python's dictionaries. Keys of one map are of one type, so their parts in a row are
    enough; a list of what is still to come, since a key may be nested deeper than Python's stack."""
    if isinstance(key, int | str):
        return key
    parts: list[Any] = []
    pending = [key]
    while pending:
        item = pending.pop()
        if isinstance(item, int | str):
            parts.append(item)
            continue
        if isinstance(item, VariantValue):
            parts.append(item.variant)
        pending += reversed(item.fields)
    return tuple(parts)


def map_of(parts: list[Value]) -> MapValue:
    """From keys and values in turn."""
    made = MapValue({})
    for key, value in zip(parts[::2], parts[1::2], strict=True):
        put(made, key, value)
    return made


def put(changed: MapValue, key: Value, value: Value) -> None:
    """Puts the value at the key, in the place of the one that is there."""
    known = key_of(key)
    held = changed.items.get(known)
    changed.items[known] = (key if held is None else held[0], value)


@dataclass(frozen=True, eq=False, slots=True)
class Present:
    """A value of an optional type that is there."""

    value: Value


@dataclass(frozen=True, eq=False, slots=True)
class Absent:
    """`none`: `ABSENT` is the only one."""


ABSENT = Absent()


@dataclass(frozen=True, eq=False, slots=True)
class TupleValue:
    fields: tuple[Value, ...]


@dataclass(frozen=True, eq=False, slots=True)
class RecordValue:
    record: RecordType
    fields: tuple[Value, ...]

    def field(self, name: str) -> Value:
        index = self.record.field_index(name)
        assert index is not None, f"{self.record} has no field {name}"
        return self.fields[index]


@dataclass(frozen=True, eq=False, slots=True)
class VariantValue:
    """`hidden` are the fields that only the library sees; without, each is 0."""

    sum: SumType
    variant: int
    fields: tuple[Value, ...] = ()
    hidden: tuple[Value, ...] = ()

    @property
    def name(self) -> str:
        return self.sum.variants[self.variant].name

    def part(self, index: int) -> Value:
        """A field, or a hidden one after them."""
        count = len(self.fields)
        if index < count:
            return self.fields[index]
        return self.hidden[index - count] if self.hidden else 0


@dataclass(frozen=True, eq=False, slots=True)
class CapabilityValue:
    """A record, seen as a capability that it implements."""

    implementation: Implementation
    payload: RecordValue


@dataclass(frozen=True, eq=False, slots=True)
class LimitedCapability:
    """A capability as the handlers of `agent` see it: its calls pass the agent's limits first (spec 8.3.agent).
    `inner` may be limited itself, when one agent's handler started another with what it was given."""

    agent: Agent
    inner: CapabilityValue | LimitedCapability


def limited(agent: Agent, value: CapabilityValue | LimitedCapability) -> LimitedCapability:
    """The capability as the agent's handlers see it: the agent's limits stand once in a chain, outermost."""
    return LimitedCapability(agent, _without(agent, value))


def _without(agent: Agent, value: CapabilityValue | LimitedCapability) -> CapabilityValue | LimitedCapability:
    if isinstance(value, CapabilityValue):
        return value
    inner = _without(agent, value.inner)
    if value.agent is agent:
        return inner
    return value if inner is value.inner else LimitedCapability(value.agent, inner)


@dataclass(frozen=True, eq=False, slots=True)
class FunctionData:
    """A function as a value. `captured` are for `function.captures`; `agent` is the one that it was made for; `types`
    are what the type parameters stand for in its body."""

    function: Function
    captured: tuple[Value, ...]
    agent: Agent | None
    types: Bindings


@dataclass(frozen=True, eq=False, slots=True)
class AgentHandle:
    """A started agent; `capabilities` in the order of `agent.capabilities`."""

    agent: Agent
    capabilities: tuple[CapabilityValue | LimitedCapability, ...]


def variant(sum_type: SumType, name: str, *fields: Value, hidden: tuple[Value, ...] = ()) -> VariantValue:
    """The variant `name` of a sum of the prelude."""
    index = sum_type.variant_index(name)
    assert index is not None, f"{sum_type} has no variant {name}"
    return VariantValue(sum_type, index, fields, hidden)
