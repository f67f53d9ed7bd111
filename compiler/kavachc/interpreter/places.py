"""Writing to a place: a variable, or a part of what it holds.

Values never share state (language.md 2). Records and variants are immutable: a write makes a new one. Arrays would
be too slow that way (a loop of `push`), so an array may change in place, for one variable only:

  - The first write through a variable copies the arrays on the way and marks the copies with the variable's token,
    an object that no other variable has. Later writes through it find their own mark and need no copy.
  - Reading a value that may hold arrays out of a variable gives it away: the variable forgets its token, so what was
    read never changes again, and the variable's next write copies once more (`Evaluator.simple_value`).
"""

from __future__ import annotations

from collections.abc import Callable

from kavachc.interpreter.frames import Frame
from kavachc.interpreter.signals import KavachPanic
from kavachc.interpreter.values import ArrayValue, RecordValue, Value
from kavachc.semantics import panics
from kavachc.semantics.holding import held
from kavachc.semantics.typed_ast import FieldStep, IndexStep, Place
from kavachc.semantics.types import ERROR, AgentType, ArrayType, CapabilityType, FunctionType, Type, TypeVariable
from kavachc.source import Span

# From what stands at a place, and the token of the place's variable, to what stands there next.
Change = Callable[[Value, object], Value]


def element(array: ArrayValue, index: int, span: Span) -> Value:
    """The element at `index`; panics outside 0..len-1 (spec 2.array.index)."""
    length = len(array.items)
    if not 0 <= index < length:
        raise KavachPanic(panics.INDEX_OUT_OF_RANGE.format(index=index, length=length), span)
    return array.items[index]


def read_place(place: Place, indexes: list[int], frame: Frame) -> Value:
    """What stands at the place. `indexes` are those of its `IndexStep`s, in order."""
    value = frame.values[place.local]
    remaining = iter(indexes)
    for step in place.steps:
        value = element(value, next(remaining), step.span) if isinstance(step, IndexStep) else value.fields[step.index]
    return value


def store(place: Place, indexes: list[int], frame: Frame, value: Value) -> None:
    """Puts `value` at the place."""
    change_place(place, indexes, frame, lambda _old, _owner: value)


def change_array(place: Place, indexes: list[int], frame: Frame, change: Callable[[list[Value]], Value]) -> Value:
    """Gives the items of the array at the place to `change`, and its result back."""
    results: list[Value] = []

    def changed(array: Value, owner: object) -> Value:
        own = _own(array, owner)
        results.append(change(own.items))
        return own

    change_place(place, indexes, frame, changed)
    return results[0]


def change_place(place: Place, indexes: list[int], frame: Frame, change: Change) -> None:
    """Replaces what stands at the place by `change(what stands there, the variable's token)`."""
    owner = frame.owners.setdefault(place.local, object())
    changed = _changed(frame.values[place.local], place.steps, indexes, owner, change)
    frame.values[place.local] = changed


def _changed(
    value: Value,
    steps: tuple[FieldStep | IndexStep, ...],
    indexes: list[int],
    owner: object,
    change: Change,
) -> Value:
    """`value` with the part that `steps` lead to changed."""
    if not steps:
        return change(value, owner)
    step, rest = steps[0], steps[1:]
    if isinstance(step, IndexStep):
        part = element(value, indexes[0], step.span)
        array = _own(value, owner)
        array.items[indexes[0]] = _changed(part, rest, indexes[1:], owner, change)
        return array
    fields = list(value.fields)
    fields[step.index] = _changed(fields[step.index], rest, indexes, owner, change)
    return RecordValue(value.record, tuple(fields))


def _own(array: ArrayValue, owner: object) -> ArrayValue:
    """The array itself when the variable of `owner` owns it, otherwise a copy that it owns."""
    return array if array.owner is owner else ArrayValue(list(array.items), owner)


def may_hold_array(type_: Type) -> bool:
    """Whether a value of the type may hold an array anywhere inside, so that reading it gives it away. A value of a
    type variable may."""
    seen: set[Type] = set()
    pending = [type_]
    while pending:
        item = pending.pop()
        if item is ERROR or isinstance(item, ArrayType | AgentType | CapabilityType | FunctionType | TypeVariable):
            return True
        if item not in seen:
            seen.add(item)
            pending += held(item)
    return False
