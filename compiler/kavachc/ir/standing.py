"""Whether what was borrowed from a local still stands where it is used.

Taking a local's value ends everything borrowed from it. Writing through an address into a local (the ops in
`ops.WRITES`; `element.address`, `value.address` and `box.address` may give the local an array, map or box of its own)
ends the values borrowed from that local, and the addresses in arrays, maps and boxes other than those that the write
went through. Sharing what a local holds ends the addresses of elements, since they may now lead into an array with two
owners. The addresses of the local itself and of its fields stay until it is emptied.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kavachc.ir.graph import Graph
from kavachc.ir.module import Block, Instruction, Local, Value


@dataclass(eq=False, slots=True)
class Standing:
    """A borrowed value, or an address, that comes from `root`. `origin` is the address that an address was made
    from. `in_element`: it lies in an element of an array (so too when its origin does)."""

    value: Value
    root: Local
    origin: Value | None
    is_address: bool
    in_element: bool


@dataclass(frozen=True, slots=True)
class StandingFailure:
    block: Block
    instruction: Instruction
    value: Value
    reason: str


@dataclass(slots=True)
class _Event:
    """`make` and `use` are of `value`; the rest of everything from one local, `write` through the address `value`."""

    kind: Literal["make", "use", "empty", "write", "share"]
    value: Value | None
    instruction: Instruction | None = None


class StandingChecker:
    """Told everything that happens block by block, in the graph's order; then `find_failure` looks for bad uses.

    Locals do not touch one another, so the events of each are kept apart. What is used in the block that makes it is
    followed forwards there; for what is used elsewhere, the blocks between are searched backwards from the use. So
    the work grows with the distance from making to use, not with the number of values.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._facts: dict[Value, Standing] = {}
        self._makers: dict[Value, Block] = {}
        self._events: dict[Block, dict[Local, list[_Event]]] = {}
        self._block = graph.order[0]

    def begin(self, block: Block) -> None:
        self._block = block
        self._events[block] = {}

    def _add(self, local: Local, event: _Event) -> None:
        self._events[self._block].setdefault(local, []).append(event)

    def make(self, standing: Standing) -> None:
        if standing.origin is not None and self._facts[standing.origin].in_element:
            standing.in_element = True
        self._facts[standing.value] = standing
        self._makers[standing.value] = self._block
        self._add(standing.root, _Event("make", standing.value))

    def use(self, value: Value, instruction: Instruction) -> None:
        self._add(self._facts[value].root, _Event("use", value, instruction))

    def empty(self, local: Local) -> None:
        self._add(local, _Event("empty", None))

    def write(self, local: Local, address: Value) -> None:
        self._add(local, _Event("write", address))

    def share(self, local: Local) -> None:
        self._add(local, _Event("share", None))

    def find_failure(self) -> StandingFailure | None:
        """The first use, in the graph's order, of something that does not stand on every way to it."""
        passed: dict[Value, set[Block]] = {}
        for block in self._graph.order:
            for local, events in self._events[block].items():
                foreign = self._foreign_uses(block, events)
                bad = self._bad_use(events, set(foreign))
                for value, use in foreign.items():
                    if bad is None and not self._stands_at_start(value, block, passed.setdefault(value, set())):
                        bad = use
                if bad is not None:
                    assert bad.value is not None and bad.instruction is not None
                    reason = f"is used after &{local.name}, where it comes from, was changed"
                    return StandingFailure(block, bad.instruction, bad.value, reason)
        return None

    def _foreign_uses(self, block: Block, events: list[_Event]) -> dict[Value, _Event]:
        """The first use in `block` of each value that another block makes."""
        found: dict[Value, _Event] = {}
        for event in events:
            if event.kind == "use" and event.value is not None and self._makers[event.value] is not block:
                found.setdefault(event.value, event)
        return found

    def _bad_use(self, events: list[_Event], standing: set[Value]) -> _Event | None:
        """The first use of something that does not stand, when `standing` stands before `events`."""
        for event in events:
            if event.kind == "make":
                assert event.value is not None
                standing.add(event.value)
            elif event.kind == "use":
                if event.value not in standing:
                    return event
            elif event.kind == "empty":
                standing.clear()
            elif standing:
                path = self._path(event)
                standing = {value for value in standing if self._outlasts(value, event, path)}
        return None

    def _stands_at_start(self, value: Value, block: Block, passed: set[Block]) -> bool:
        """Nothing on the ways from the making of `value` to `block` ends it. `passed` blocks are known not to."""
        local = self._facts[value].root
        waiting = list(self._graph.predecessors[block])
        while waiting:
            source = waiting.pop()
            if source in passed:
                continue
            passed.add(source)
            events = self._events[source].get(local, [])
            made_here = self._makers[value] is source
            if made_here:
                start = next(index for index, event in enumerate(events) if event.value is value)
                events = events[start + 1 :]
            else:
                waiting.extend(self._graph.predecessors[source])
            for event in events:
                if event.kind in ("make", "use"):
                    continue
                if event.kind == "empty" or not self._outlasts(value, event, self._path(event)):
                    return False
        return True

    def _path(self, event: _Event) -> set[Value]:
        """The address written through, and those that it was made from."""
        path: set[Value] = set()
        address = event.value
        while address is not None:
            path.add(address)
            address = self._facts[address].origin
        return path

    def _outlasts(self, value: Value, event: _Event, path: set[Value]) -> bool:
        """Whether `value` stands after the write or the sharing."""
        fact = self._facts[value]
        if fact.is_address:
            return not fact.in_element or value in path
        return event.kind == "share"
