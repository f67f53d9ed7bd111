"""Writing to a place: a variable, or a part of what it holds.

Values never share state (language.md 2). Records and variants are immutable: a write makes a new one. Arrays would
be too slow that way (a loop of `push`), so an array may change in place, for one variable only:

  - The first write through a variable copies the arrays on the way and marks the copies with the variable's token,
    an object that no other variable has. Later writes through it find their own mark and need no copy.
  - Reading a value that may hold arrays out of a variable gives it away: the variable forgets its token, so what was
    read never changes again, and the variable's next write copies once more (`Evaluator.simple_value`).

Maps are as arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kavachc.interpreter.frames import Frame
from kavachc.interpreter.show import show_inside
from kavachc.interpreter.signals import KavachPanic
from kavachc.interpreter.values import ABSENT, ArrayValue, MapValue, Present, RecordValue, Value, key_of, put
from kavachc.semantics import panics
from kavachc.semantics.holding import held
from kavachc.semantics.typed_ast import FieldStep, IndexStep, KeyStep, Local, Place
from kavachc.semantics.types import (
    ERROR,
    AgentType,
    ArrayType,
    CapabilityType,
    FunctionType,
    MapType,
    Type,
    TypeVariable,
)
from kavachc.source import Span

# Types whose values may share what can change in place, or hold something that does.
SHARING = (ArrayType, MapType, AgentType, CapabilityType, FunctionType, TypeVariable)
# From what stands at a place, and the token of the place's variable, to what stands there next.
Change = Callable[[Value, object], Value]


def element(array: ArrayValue, index: int, span: Span) -> Value:
    """The element at `index`; panics outside 0..len-1 (spec 2.array.index)."""
    length = len(array.items)
    if not 0 <= index < length:
        raise KavachPanic(panics.INDEX_OUT_OF_RANGE.format(index=index, length=length), span)
    return array.items[index]


def value_at(map_: MapValue, key: Value, key_type: Type, span: Span) -> Value:
    """The value of the key; panics when it is missing (spec 2.map.index)."""
    held = map_.items.get(key_of(key))
    if held is None:
        raise KavachPanic(panics.KEY_MISSING.format(key=show_inside(key, key_type)), span)
    return held[1]


def read_place(place: Place, indexes: list[Value], frame: Frame) -> Value:
    """What stands at the place. `indexes` are those of its `IndexStep`s and `KeyStep`s, in order."""
    value = frame.values[place.local]
    remaining = iter(indexes)
    for step in place.steps:
        value = _part(value, step, None if isinstance(step, FieldStep) else next(remaining), frame)
    return value


def _part(value: Value, step: FieldStep | IndexStep | KeyStep, index: Value, frame: Frame) -> Value:
    if isinstance(step, FieldStep):
        return value.fields[step.index]
    if isinstance(step, IndexStep):
        return element(value, index, step.span)
    return value_at(value, index, frame.type(step.index.type), step.span)


def store(place: Place, indexes: list[Value], frame: Frame, value: Value) -> None:
    """Puts `value` at the place. A key at its end need not be there."""
    if place.steps and isinstance(place.steps[-1], KeyStep):
        *before, key = indexes
        set_key(replace(place, steps=place.steps[:-1]), before, frame, key, value)
    else:
        change_place(place, indexes, frame, lambda _old, _owner: value)


def set_key(place: Place, indexes: list[Value], frame: Frame, key: Value, value: Value) -> None:
    """Puts `value` at the key of the map at the place."""

    def changed(map_: Value, owner: object) -> Value:
        own = _own_map(map_, owner)
        put(own, key, value)
        return own

    change_place(place, indexes, frame, changed)


def remove_key(place: Place, indexes: list[Value], frame: Frame, key: Value) -> Value:
    """Takes the key out of the map at the place, and gives its value, if it is there."""
    removed: Value = ABSENT

    def changed(map_: Value, owner: object) -> Value:
        nonlocal removed
        known = key_of(key)
        if known not in map_.items:
            return map_
        own = _own_map(map_, owner)
        removed = Present(own.items.pop(known)[1])
        return own

    change_place(place, indexes, frame, changed)
    return removed


# By the builtin's key.
MAP_CHANGES: dict[str, Callable[..., Value]] = {"map.set": set_key, "map.remove": remove_key}


def change_array(place: Place, indexes: list[Value], frame: Frame, change: Callable[[list[Value]], Value]) -> Value:
    """Gives the items of the array at the place to `change`, and its result back."""
    results: list[Value] = []

    def changed(array: Value, owner: object) -> Value:
        own = _own(array, owner)
        results.append(change(own.items))
        return own

    change_place(place, indexes, frame, changed)
    return results[0]


@dataclass(frozen=True, slots=True)
class Reference:
    """A place of a caller's that is given for a `mut` parameter. The callee works on a variable of its own, which is
    copied in when the call begins and out when it ends; nothing else can see the place meanwhile."""

    place: Place
    indexes: list[Value]
    frame: Frame

    def copy_in(self, parameter: Local, callee: Frame) -> None:
        callee.values[parameter] = read_place(self.place, self.indexes, self.frame)
        owner = self.frame.owners.get(self.place.local)
        if owner is not None:
            callee.owners[parameter] = owner

    def copy_out(self, parameter: Local, callee: Frame) -> None:
        """The callee may have given its arrays away: then they are the caller's own no more."""
        caller = self.frame
        if callee.owners.get(parameter) is not caller.owners.get(self.place.local):
            caller.owners.pop(self.place.local, None)
        store(self.place, self.indexes, caller, callee.values[parameter])


def change_place(place: Place, indexes: list[Value], frame: Frame, change: Change) -> None:
    """Replaces what stands at the place by `change(what stands there, the variable's token)`."""
    owner = frame.owners.setdefault(place.local, object())
    changed = _changed(frame.values[place.local], place.steps, indexes, owner, change, frame)
    frame.values[place.local] = changed


def _changed(
    value: Value,
    steps: tuple[FieldStep | IndexStep | KeyStep, ...],
    indexes: list[Value],
    owner: object,
    change: Change,
    frame: Frame,
) -> Value:
    """`value` with the part that `steps` lead to changed."""
    if not steps:
        return change(value, owner)
    step, rest = steps[0], steps[1:]
    if isinstance(step, FieldStep):
        fields = list(value.fields)
        fields[step.index] = _changed(fields[step.index], rest, indexes, owner, change, frame)
        return RecordValue(value.record, tuple(fields))
    index = indexes[0]
    part = _part(value, step, index, frame)
    if isinstance(step, IndexStep):
        array = _own(value, owner)
        array.items[index] = _changed(part, rest, indexes[1:], owner, change, frame)
        return array
    own = _own_map(value, owner)
    put(own, index, _changed(part, rest, indexes[1:], owner, change, frame))
    return own


def _own(array: ArrayValue, owner: object) -> ArrayValue:
    """The array itself when the variable of `owner` owns it, otherwise a copy that it owns."""
    return array if array.owner is owner else ArrayValue(list(array.items), owner)


def _own_map(map_: MapValue, owner: object) -> MapValue:
    return map_ if map_.owner is owner else MapValue(dict(map_.items), owner)


def may_hold_array(type_: Type) -> bool:
    """Whether a value of the type may hold an array or a map anywhere inside, so that reading it gives it away. A
    value of a type variable may."""
    seen: set[Type] = set()
    pending = [type_]
    while pending:
        item = pending.pop()
        if item is ERROR or isinstance(item, SHARING):
            return True
        if item not in seen:
            seen.add(item)
            pending += held(item)
    return False
