"""Places: variables and parts of them, read and changed."""

from __future__ import annotations

from kavachc.ir.module import Value
from kavachc.lower.function import FunctionLowering
from kavachc.lower.rules import look_at
from kavachc.semantics import typed_ast as typed


class PlaceLowering:
    """A place whose indexes and keys are evaluated when this is made, once, whatever is done with the place then. They
    are held until `finish`."""

    def __init__(self, state: FunctionLowering, place: typed.Place) -> None:
        self.state = state
        self.place = place
        self.indexes: dict[int, Value] = {}
        self.mark = state.mark()
        for position, step in enumerate(place.steps):
            if not isinstance(step, typed.FieldStep):
                self.indexes[position] = state.held(step.index)

    @property
    def has_rules(self) -> bool:
        return any(isinstance(step, typed.FieldStep) and step.rule is not None for step in self.place.steps)

    def look_at_rules(self) -> None:
        """The rules of the fields on the way, the innermost first; panics at one that does not hold."""
        state = self.state
        build = state.build
        outer = build.location
        state.locate(self.place.span)
        for position, step in reversed([*enumerate(self.place.steps)]):
            if not isinstance(step, typed.FieldStep) or step.rule is None:
                continue
            look_at(state, step.rule, step.type_arguments, self._look(position + 1))
        build.location = outer

    def read(self) -> Value:
        """A copy of what stands there."""
        return self.state.build.copy(self._look(None))

    def _look(self, steps: int | None) -> Value:
        """What stands where the first `steps` steps lead, borrowed."""
        build = self.state.build
        value = self.state.look(self.place.local)
        for position, step in enumerate(self.place.steps[:steps]):
            if isinstance(step, typed.FieldStep):
                value = build.record_get(value, step.index)
            elif isinstance(step, typed.KeyStep):
                key = self.indexes[position]
                value = build.emit("map.get", value, key, location=self.state.location(step.span))
            else:
                value = build.array_get(value, self.indexes[position], self.state.location(step.span))
        return value

    def address(self, steps: int | None = None) -> Value:
        """Where it is, or where its first `steps` steps lead, after which only a store or a change in place may
        follow. Arrays and maps on the way become its own."""
        build = self.state.build
        address = self.state.address_of(self.place.local)
        for position, step in enumerate(self.place.steps[:steps]):
            if isinstance(step, typed.FieldStep):
                address = build.field_address(address, step.index)
            elif isinstance(step, typed.KeyStep):
                key = self.indexes[position]
                address = build.emit("value.address", address, key, location=self.state.location(step.span))
            else:
                address = build.element_address(address, self.indexes[position], self.state.location(step.span))
        return address

    def store(self, value: Value) -> None:
        """Puts the owned `value` there, and releases what stood there."""
        build = self.state.build
        steps = self.place.steps
        if steps and isinstance(steps[-1], typed.KeyStep):
            key = build.copy(self.indexes[len(steps) - 1])
            build.perform("map.set", self.address(len(steps) - 1), key, value)
            return
        if steps or self.place.local.is_reference:
            build.store(self.address(), value)
            return
        variable = self.state.variable(self.place.local)
        old = build.local_take(variable)
        build.local_set(variable, value)
        build.release(old)

    def finish(self) -> None:
        """The place has been changed: rules are looked at, its indexes and keys given up."""
        self.look_at_rules()
        self.state.release_to(self.mark)
