"""Places: variables and parts of them, read and changed."""

from __future__ import annotations

from kavachc.ir.module import Value
from kavachc.lower.function import FunctionLowering
from kavachc.semantics import typed_ast as typed


class PlaceLowering:
    """A place whose indexes are evaluated when this is made, once, whatever is done with the place then."""

    def __init__(self, state: FunctionLowering, place: typed.Place) -> None:
        self.state = state
        self.place = place
        self.indexes: dict[int, Value] = {}
        for position, step in enumerate(place.steps):
            if isinstance(step, typed.IndexStep):
                self.indexes[position] = state.value(step.index)

    def read(self) -> Value:
        """A copy of what stands there."""
        build = self.state.build
        value = self.state.look(self.place.local)
        for position, step in enumerate(self.place.steps):
            if isinstance(step, typed.FieldStep):
                value = build.record_get(value, step.index)
            else:
                value = build.array_get(value, self.indexes[position], self.state.location(step.span))
        return build.copy(value)

    def address(self) -> Value:
        """Where it is, after which only a store or a change in place may follow. Arrays on the way become its own."""
        build = self.state.build
        address = build.local_address(self.state.variable(self.place.local))
        for position, step in enumerate(self.place.steps):
            if isinstance(step, typed.FieldStep):
                address = build.field_address(address, step.index)
            else:
                address = build.element_address(address, self.indexes[position], self.state.location(step.span))
        return address

    def store(self, value: Value) -> None:
        """Puts the owned `value` there, and releases what stood there."""
        build = self.state.build
        if self.place.steps:
            build.store(self.address(), value)
            return
        variable = self.state.variable(self.place.local)
        old = build.local_take(variable)
        build.local_set(variable, value)
        build.release(old)
