"""Who makes and who uses each value of a function, where: what the passes ask before they change anything.

The answers stay right under `replace` and `delete`; deleted instructions leave their blocks at `finish`, so places do
not move before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kavachc.ir.facts import is_counted
from kavachc.ir.graph import Graph
from kavachc.ir.module import Attribute, Block, Function, Instruction, Local, Module, Value
from kavachc.ir.ops import OPS, WRITES
from kavachc.ir.types import Address

# What a borrowed value was taken from in the end: an owned value, a local, a parameter that is an address, or None for
# a parameter that is borrowed.
Root: TypeAlias = Value | Local | None


@dataclass(frozen=True, slots=True)
class Use:
    """An operand of an instruction."""

    instruction: Instruction
    index: int

    @property
    def consumes(self) -> bool:
        return self.instruction.op.consumes(self.index)


class Uses:
    def __init__(self, function: Function, module: Module) -> None:
        self.function = function
        self.module = module
        self.makers: dict[Value, Instruction] = {}
        self.places: dict[Instruction, tuple[Block, int]] = {}
        self._uses: dict[Value, list[Use]] = {}
        self._deleted: set[Instruction] = set()
        self._graph: Graph | None = None
        self._ends: dict[Value | Local, dict[Block, list[Instruction]]] | None = None
        for block in function.blocks:
            for index, instruction in enumerate(block.instructions):
                self.places[instruction] = (block, index)
                if instruction.result is not None:
                    self.makers[instruction.result] = instruction
                for number, operand in enumerate(instruction.operands):
                    self._uses.setdefault(operand, []).append(Use(instruction, number))

    @property
    def graph(self) -> Graph:
        if self._graph is None:
            self._graph = Graph(self.function)
        return self._graph

    def of(self, value: Value) -> list[Use]:
        return [use for use in self._uses.get(value, []) if use.instruction not in self._deleted]

    def is_deleted(self, instruction: Instruction) -> bool:
        return instruction in self._deleted

    def is_counted(self, value: Value) -> bool:
        return is_counted(value.type, self.module)

    # Changes.

    def replace(self, old: Value, new: Value) -> None:
        """Uses of `old` become uses of `new`."""
        moved = self._uses.pop(old, [])
        for use in moved:
            use.instruction.operands[use.index] = new
        self._uses.setdefault(new, []).extend(moved)
        if self._ends is not None and old in self._ends:
            ends = self._ends.setdefault(new, {})
            for block, instructions in self._ends.pop(old).items():
                ends.setdefault(block, []).extend(instructions)

    def rewrite(self, instruction: Instruction, op_name: str, attributes: tuple[Attribute, ...]) -> None:
        """Makes it an instruction of another op, without operands, with the same result."""
        for operand in instruction.operands:
            self._uses[operand] = [use for use in self._uses[operand] if use.instruction is not instruction]
        instruction.op = OPS[op_name]
        instruction.operands = []
        instruction.attributes = attributes

    def delete(self, instruction: Instruction) -> None:
        self._deleted.add(instruction)

    def finish(self) -> bool:
        """Drops what was deleted; whether that was anything."""
        for block in {self.places[instruction][0] for instruction in self._deleted}:
            block.instructions = [item for item in block.instructions if item not in self._deleted]
        return bool(self._deleted)

    # Where a borrowed value comes from, and what ends it.

    def root(self, value: Value) -> Root:
        maker = self.makers.get(value)
        while maker is not None and maker.op.result == "borrowed":
            if maker.op.attributes == ("local",):
                local = maker.attributes[0]
                assert isinstance(local, Local)
                return local
            value = maker.operands[0]
            maker = self.makers.get(value)
        is_own = maker is not None or self.function.owns_parameters or isinstance(value.type, Address)
        return value if is_own else None

    def family(self, value: Value) -> list[Use]:
        """The uses of `value` and of everything counted that is borrowed from it (numbers stand on their own)."""
        found: list[Use] = []
        waiting = [value]
        while waiting:
            for use in self.of(waiting.pop()):
                found.append(use)
                result = use.instruction.result
                is_borrowed = use.index == 0 and use.instruction.op.result == "borrowed"
                if is_borrowed and result is not None and self.is_counted(result):
                    waiting.append(result)
        return found

    def ends_between(self, root: Root, start: Instruction, uses: list[Use]) -> bool:
        """Whether something on a way from `start` to one of `uses` ends what is borrowed from `root`."""
        if root is None:
            return False
        block, position = self.places[start]
        passed: set[Block] = set()
        for use in uses:
            target, index = self.places[use.instruction]
            if target is block and index > position:
                if self._ends_within(root, block, position, index):
                    return True
                continue
            if target not in self.graph.index:
                continue
            if self._ends_within(root, target, -1, index):
                return True
            waiting = list(self.graph.predecessors[target])
            while waiting:
                source = waiting.pop()
                if source in passed:
                    continue
                passed.add(source)
                if self._ends_within(root, source, position if source is block else -1, None):
                    return True
                if source is not block:
                    waiting.extend(self.graph.predecessors[source])
        return False

    def _ends_within(self, root: Value | Local, block: Block, after: int, before: int | None) -> bool:
        if self._ends is None:
            self._ends = {}
            for instruction, (place, _) in self.places.items():
                for ended in self._ended_by(instruction):
                    self._ends.setdefault(ended, {}).setdefault(place, []).append(instruction)
        for instruction in self._ends.get(root, {}).get(block, ()):
            index = self.places[instruction][1]
            if index > after and (before is None or index < before) and instruction not in self._deleted:
                return True
        return False

    def _ended_by(self, instruction: Instruction) -> list[Value | Local]:
        op = instruction.op
        if op.name in ("local.set", "local.take"):
            local = instruction.attributes[0]
            assert isinstance(local, Local)
            return [local, *instruction.operands]
        if op.name in WRITES:
            root = self.root(instruction.operands[0])
            assert root is not None
            return [root, *instruction.operands[1:]]
        changed: list[Value | Local] = [root for root in self.changed_by(instruction) if root is not None]
        return changed + [operand for index, operand in enumerate(instruction.operands) if op.consumes(index)]

    def changed_by(self, instruction: Instruction) -> list[Root]:
        """Where the places come from that a call is given to change."""
        if instruction.op.name != "call":
            return []
        return [self.root(operand) for operand in instruction.operands if isinstance(operand.type, Address)]
