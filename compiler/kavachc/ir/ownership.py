"""Checks of ownership in one function: what is owned is consumed once, what is borrowed still stands when used.

Everything counted has a root: an owned value is its own; what is borrowed has the root of what it was taken from,
which is an owned value, a local, or nothing for a parameter (it outlives the function). Three questions follow the
flow of control:
  - which owned values are live (made, not consumed): the same on every way into a block;
  - which locals are full: the same, for counted ones;
  - which borrowed values and addresses that come from a local still stand (`standing.py`).
String constants are static blocks: they are owned, but may be consumed any number of times, or never.
Blocks from which every way ends in `unreachable` are exempt, so for them only what is certain on every way counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from kavachc.ir.errors import IrError
from kavachc.ir.facts import is_counted
from kavachc.ir.graph import Graph
from kavachc.ir.module import Block, Function, Instruction, Local, Module, Value
from kavachc.ir.ops import WRITES
from kavachc.ir.standing import Standing, StandingChecker
from kavachc.ir.types import STRING, Address, IrType


class OwnershipError(IrError):
    """A broken rule at `instruction` of `block` (None: on the way into the block)."""

    def __init__(self, block: Block, instruction: Instruction | None, reason: str, value: Value | None = None) -> None:
        super().__init__(reason)
        self.block = block
        self.instruction = instruction
        self.value = value


@dataclass(slots=True)
class _State:
    live: set[Value] = field(default_factory=set)
    full: set[Local] = field(default_factory=set)


def check_ownership(function: Function, module: Module, graph: Graph) -> None:
    """OwnershipError for the first rule that `function` breaks. Types and dominance are right already."""
    _Checker(function, module, graph).run()


class _Checker:
    def __init__(self, function: Function, module: Module, graph: Graph) -> None:
        self._function = function
        self._module = module
        self._graph = graph
        self._roots: dict[Value, Value | Local | None] = {}
        self._places: dict[Value, Local] = {}
        self._standing = StandingChecker(graph)
        self._counted_types: dict[IrType, bool] = {}
        self._dead_ends = graph.dead_ends()
        self._ends: dict[Block, _State] = {}
        self._block = function.blocks[0]
        self._instruction: Instruction | None = None

    def _fail(self, reason: str, value: Value | None = None) -> NoReturn:
        raise OwnershipError(self._block, self._instruction, reason, value)

    def _is_counted(self, type: IrType) -> bool:
        known = self._counted_types.get(type)
        if known is None:
            known = self._counted_types[type] = is_counted(type, self._module)
        return known

    def run(self) -> None:
        starts: dict[Block, _State] = {}
        for block in self._graph.order:
            self._block = block
            self._instruction = None
            state = self._start_state(block)
            starts[block] = _State(set(state.live), set(state.full))
            self._standing.begin(block)
            if block is self._function.blocks[0]:
                for parameter, place in self._places.items():
                    self._standing.make(Standing(parameter, place, None, True, False))
            for instruction in block.instructions:
                self._instruction = instruction
                self._step(instruction, state)
            self._ends[block] = state
            self._instruction = None
            for successor in block.successors():
                if self._graph.is_back_edge(block, successor):
                    self._check_back_edge(starts[successor], state, successor)
        failure = self._standing.find_failure()
        if failure is not None:
            raise OwnershipError(failure.block, failure.instruction, failure.reason, failure.value)

    # The ways into a block.

    def _start_state(self, block: Block) -> _State:
        state = _State()
        if block is self._function.blocks[0]:
            for parameter in self._function.parameters:
                if isinstance(parameter.type, Address):
                    # A place of the caller's: as a local that is full all the time.
                    self._roots[parameter] = self._places[parameter] = Local(parameter.name, parameter.type.target)
                if self._is_counted(parameter.type):
                    owns = self._function.owns_parameters
                    self._roots[parameter] = parameter if owns else None
                    if owns:
                        state.live.add(parameter)
            return state
        ends = [self._ends[source] for source in self._graph.predecessors[block] if source in self._ends]
        state.live.update(ends[0].live)
        state.full.update(ends[0].full)
        must_agree = block not in self._dead_ends
        for end in ends[1:]:
            if must_agree:
                self._check_agreement(state, end)
            state.live &= end.live
            state.full &= end.full
        return state

    def _check_agreement(self, one: _State, other: _State) -> None:
        for value in one.live ^ other.live:
            self._fail("is owned on one way into the block and not on another", value)
        for local in one.full ^ other.full:
            if self._is_counted(local.type):
                self._fail(f"&{local.name} is full on one way into the block and empty on another")

    def _check_back_edge(self, start: _State, end: _State, target: Block) -> None:
        self._block = target
        if target not in self._dead_ends:
            self._check_agreement(start, end)
        for local in start.full - end.full:
            self._fail(f"&{local.name} is full on one way into the block and empty on another")

    # One instruction.

    def _step(self, instruction: Instruction, state: _State) -> None:
        op = instruction.op
        shares = op.name in (
            "copy",
            "call",
            "call.value",
            "call.capability",
            "builtin",
            "builtin.change",
            "builtin.wait",
        )
        for operand in instruction.operands:
            if operand in self._roots:
                self._use(operand, instruction, state, shares)
        if "c" in op.operands:
            for index, operand in enumerate(instruction.operands):
                if operand in self._roots and op.consumes(index):
                    self._consume(operand, state)
        if op.name.startswith("local."):
            self._step_local(instruction, state)
        elif op.name in WRITES:
            address = instruction.operands[0]
            root = self._roots[address]
            assert isinstance(root, Local)
            self._standing.write(root, address)
        elif op.name == "call":
            self._change_places(instruction)
        if instruction.result is not None:
            self._make(instruction, instruction.result, state)
        if op.name in ("return", "fail", "return.cancelled"):
            self._check_exit(state)

    def _change_places(self, instruction: Instruction) -> None:
        """A call may write to the places that it is given, each of another local; it borrows nothing of those."""
        changed: dict[Local, Value] = {}
        for address in instruction.operands:
            if isinstance(address.type, Address):
                root = self._roots[address]
                assert isinstance(root, Local)
                if root in changed:
                    self._fail(f"is a second place of &{root.name}", address)
                changed[root] = address
        for operand in instruction.operands:
            root = self._roots.get(operand)
            if isinstance(root, Local) and changed.get(root, operand) is not operand:
                self._fail("is borrowed from a place that the call changes", operand)
        for root, address in changed.items():
            self._standing.write(root, address)

    def _use(self, value: Value, instruction: Instruction, state: _State, shares: bool) -> None:
        root = self._roots[value]
        if isinstance(root, Value):
            if root not in state.live:
                reason = "is used after it was consumed" if root is value else "outlives what it was borrowed from"
                self._fail(reason, value)
        elif isinstance(root, Local):
            self._standing.use(value, instruction)
            # The array may now have two owners, so a write through an older address of an element would be seen by
            # both; strings are never written.
            if shares and value.type != STRING:
                self._standing.share(root)

    def _consume(self, value: Value, state: _State) -> None:
        if self._roots[value] is not value:
            self._fail("is borrowed and cannot be consumed", value)
        if value not in state.live:
            self._fail("is consumed twice", value)
        state.live.discard(value)

    def _step_local(self, instruction: Instruction, state: _State) -> None:
        local = instruction.attributes[0]
        assert isinstance(local, Local)
        counted = self._is_counted(local.type)
        if instruction.op.name == "local.set":
            if counted and local in state.full:
                self._fail(f"&{local.name} is full already")
            state.full.add(local)
            return
        if local not in state.full:
            self._fail(f"&{local.name} is empty")
        if counted and instruction.op.name == "local.take":
            state.full.discard(local)
            self._standing.empty(local)

    def _make(self, instruction: Instruction, result: Value, state: _State) -> None:
        is_address = isinstance(result.type, Address)
        if not is_address and not self._is_counted(result.type):
            return
        if instruction.op.name == "const.string":
            return
        if instruction.op.result == "owned":
            self._roots[result] = result
            state.live.add(result)
            return
        if instruction.op.name in ("local.get", "local.address"):
            root = instruction.attributes[0]
            assert isinstance(root, Local)
            origin = None
        else:
            origin = instruction.operands[0]
            found = self._roots[origin]
            if not isinstance(found, Local):
                self._roots[result] = found
                return
            root = found
        self._roots[result] = root
        is_element = instruction.op.name in ("element.address", "box.address", "value.address")
        self._standing.make(Standing(result, root, origin if is_address else None, is_address, is_element))

    def _check_exit(self, state: _State) -> None:
        for value in state.live:
            self._fail("is still owned when the function ends", value)
        for local in state.full:
            if self._is_counted(local.type):
                self._fail(f"&{local.name} is still full when the function ends")
