"""How values stand in memory and in registers: the rules of C for a 64-bit Linux, the same for every target.

Members of aggregates have their memory type; only a Bool differs in a register (`i1`, and `i8` in memory). A sum is
its tag (`i32`) and slots (an optional a tag, 0 or 1, and its value); each field of a variant takes the first slot of
its own LLVM type that the variant has not taken yet, so that a slot is only ever read as what was written there.
"""

from __future__ import annotations

from dataclasses import dataclass

from kavachc.ir.errors import IrError
from kavachc.ir.facts import named
from kavachc.ir.module import Module, Record, Sum
from kavachc.ir.types import (
    ANSWER,
    BOOL,
    ERROR,
    FLOAT,
    NOTHING,
    STRING,
    Array,
    Box,
    FunctionValue,
    IrType,
    Map,
    Named,
    Optional,
    Outcome,
    Scalar,
    Task,
    Tuple,
)

TAG_TYPE = "i32"
_WORDS = {"i64": 8, "double": 8, "ptr": 8, TAG_TYPE: 4, "i8": 1}
_SCALAR_TYPES = {BOOL: "i8", NOTHING: "i8", FLOAT: "double", STRING: "ptr", ERROR: "ptr"}
# Offsets in blocks (kavach.h); the count stands at 0.
LENGTH_OFFSET = 8
CAPACITY_OFFSET = 16
STRING_BYTES_OFFSET = 16
ELEMENTS_OFFSET = 24
HELD_TYPE_OFFSET = 8
HELD_VALUE_OFFSET = 16
OUTCOME_ERROR_OFFSET = 8
OUTCOME_VALUE_OFFSET = 16
BOX_VALUE_OFFSET = 8


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A struct: the LLVM types of its members, where they stand, and its whole size."""

    members: tuple[str, ...]
    offsets: tuple[int, ...]
    size: int
    alignment: int


class Layouts:
    """Answers for the types of one module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._memory_types: dict[IrType, str] = {}
        self._aggregates: dict[str, Aggregate] = {}
        self._slots: dict[str, tuple[tuple[int, ...], ...]] = {}
        self.definitions: list[str] = []

    def memory_type(self, type: IrType) -> str:
        found = self._memory_types.get(type)
        if found is None:
            found = self._memory_types[type] = self._find_memory_type(type)
        return found

    def register_type(self, type: IrType) -> str:
        return "i1" if type == BOOL else self.memory_type(type)

    def size(self, type: IrType) -> int:
        return self._extent(self.memory_type(type))[0]

    def alignment(self, type: IrType) -> int:
        return self._extent(self.memory_type(type))[1]

    def aggregate(self, type: IrType) -> Aggregate:
        """Of a record, a tuple, a sum, an optional, an outcome or `answer`."""
        return self._aggregates[self.memory_type(type)]

    def captures(self, types: tuple[IrType, ...]) -> Aggregate:
        """Of what a function value holds, side by side."""
        return self._lay_out([self.memory_type(type) for type in types])

    def stride(self, element: IrType) -> int:
        """From one element of an array to the next: C's sizes are multiples of the alignment already."""
        return self.size(element)

    def member_of_variant(self, type: IrType, variant: int, field: int) -> int:
        """The number of the member that holds the field. Member 0 is the tag."""
        return self._slots[self.memory_type(type)][variant][field]

    def member_of_outcome(self, type: Outcome, part: str) -> int | None:
        """`part` is `error` or `value`. None: there is no such member."""
        if part == "error":
            return None if type.error is None else 1
        if type.value == NOTHING:
            return None
        return 1 if type.error is None else 2

    def _extent(self, memory_type: str) -> tuple[int, int]:
        word = _WORDS.get(memory_type)
        if word is not None:
            return word, word
        aggregate = self._aggregates[memory_type]
        return aggregate.size, aggregate.alignment

    def _find_memory_type(self, type: IrType) -> str:
        if isinstance(type, Outcome):
            return self._outcome(type)
        if type == ANSWER:
            return self._define("%answer", ["i64", "i64", "ptr", "i64"])
        if isinstance(type, Scalar):
            return _SCALAR_TYPES.get(type, "i64")
        if isinstance(type, Named):
            return self._named(type)
        if isinstance(type, Optional):
            return self._unnamed([TAG_TYPE, self._member(type.element)])
        if isinstance(type, Tuple):
            return self._unnamed([self._member(element) for element in type.elements])
        return "ptr"

    def _named(self, type: Named) -> str:
        declared = named(type.name, self.module)
        if not isinstance(declared, Record | Sum):
            return "ptr"
        # Found again while its members are still being laid out, it contains itself.
        self._memory_types[type] = f"!{type.name}"
        name = f'%"type.{type.name}"'  # A type may be called like one of ours.
        if isinstance(declared, Record):
            # C has no empty structs: a record without fields takes a byte.
            members = [self._member(field.type) for field in declared.fields] or ["i8"]
        else:
            members = self._sum_members(declared, name)
        return self._define(name, members)

    def _member(self, type: IrType) -> str:
        member = self.memory_type(type)
        if member.startswith("!"):
            raise IrError(f"a value of type {member[1:]} would contain itself")
        return member

    def _sum_members(self, declared: Sum, name: str) -> list[str]:
        members = [TAG_TYPE]
        places: list[tuple[int, ...]] = []
        for variant in declared.variants:
            taken: list[int] = []
            for field in variant.fields:
                wanted = self._member(field.type)
                free = (at for at in range(1, len(members)) if members[at] == wanted and at not in taken)
                place = next(free, len(members))
                if place == len(members):
                    members.append(wanted)
                taken.append(place)
            places.append(tuple(taken))
        self._slots[name] = tuple(places)
        return members

    def _outcome(self, type: Outcome) -> str:
        members = ["i64"]
        if type.error is not None:
            members.append(self.memory_type(type.error))
        if type.value != NOTHING:
            members.append(self.memory_type(type.value))
        return self._unnamed(members)

    def _unnamed(self, members: list[str]) -> str:
        """A struct that is known by its members alone."""
        name = "{ " + ", ".join(members) + " }"
        self._aggregates[name] = self._lay_out(members)
        return name

    def _define(self, name: str, members: list[str]) -> str:
        self._aggregates[name] = self._lay_out(members)
        self.definitions.append(f"{name} = type {{ {', '.join(members)} }}")
        return name

    def _lay_out(self, members: list[str]) -> Aggregate:
        offsets: list[int] = []
        end = 0
        widest = 1
        for member in members:
            size, alignment = self._extent(member)
            start = (end + alignment - 1) // alignment * alignment
            offsets.append(start)
            end = start + size
            widest = max(widest, alignment)
        return Aggregate(tuple(members), tuple(offsets), (end + widest - 1) // widest * widest, widest)


def is_pointer(type: IrType, layouts: Layouts) -> bool:
    """Whether a value of the type is a pointer to a counted block."""
    return isinstance(type, Array | Map | Box | FunctionValue | Task) or layouts.memory_type(type) == "ptr"
