"""Layouts are those of C: written out by hand, and the same as LLVM's for both machines."""

from __future__ import annotations

import pytest
from kavachc.backend.layout import Layouts
from kavachc.backend.llvm_object import parse
from kavachc.backend.targets import TARGETS, data_layout, target_machine, target_named
from kavachc.ir.errors import IrError
from kavachc.ir.parser import parse_module
from kavachc.ir.types import ANSWER, BOOL, ERROR, FLOAT, INT, NOTHING, STRING, Array, IrType, Named, Outcome

MODULE = parse_module("""
record Empty {}
record Flags { a: bool b: bool c: nothing }
record Mixed { a: bool b: int c: bool d: float e: string f: bool }
record Nested { flags: $Flags mixed: $Mixed last: bool }
sum Light { Red Amber Green }
sum Shape { Dot(label: string) Line(a: $Mixed, on: bool, b: int) Many(x: int, y: int, all: [$Shape], off: bool) }
sum Deep { One(shape: $Shape, light: $Light) Two(light: $Light, flags: $Flags) }
record Tree { left: $Tree }
""")
# Size, alignment, offsets of members.
EXPECTED: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "Empty": (1, 1, (0,)),
    "Flags": (3, 1, (0, 1, 2)),
    "Mixed": (48, 8, (0, 8, 16, 24, 32, 40)),
    "Nested": (64, 8, (0, 8, 56)),
    "Light": (4, 4, (0,)),
    # The tag, a string or array, Mixed, a bool, two ints.
    "Shape": (88, 8, (0, 8, 16, 64, 72, 80)),
    "Deep": (104, 8, (0, 8, 96, 100)),
}
SHOWN: list[IrType] = [
    *(Named(name) for name in EXPECTED),
    ANSWER,
    Outcome(INT, ERROR),
    Outcome(NOTHING, ERROR),
    Outcome(BOOL, None),
    Outcome(Named("Nested"), Named("Deep")),
    Outcome(FLOAT, Named("Light")),
]


@pytest.mark.parametrize("name", EXPECTED)
def test_layout_by_hand(name: str) -> None:
    found = Layouts(MODULE).aggregate(Named(name))
    assert (found.size, found.alignment, found.offsets) == EXPECTED[name]


def test_variants_share_slots_of_one_type() -> None:
    layouts = Layouts(MODULE)
    layouts.memory_type(Named("Shape"))
    members = [[layouts.member_of_variant(Named("Shape"), v, f) for f in range(n)] for v, n in enumerate((1, 3, 4))]
    assert members == [[1], [2, 3, 4], [4, 5, 1, 3]]


def test_outcomes_of_tasks_are_those_of_the_runtime() -> None:
    layouts = Layouts(MODULE)
    for value in (INT, BOOL, STRING, Array(INT), Named("Nested")):
        assert layouts.memory_type(Outcome(value, ERROR))
        assert layouts.aggregate(Outcome(value, ERROR)).offsets == (0, 8, 16)


def test_a_type_that_contains_itself_is_refused() -> None:
    with pytest.raises(IrError, match="Tree would contain itself"):
        Layouts(MODULE).size(Named("Tree"))


@pytest.mark.parametrize("target", TARGETS)
def test_layout_is_that_of_llvm(target: str) -> None:
    layouts = Layouts(MODULE)
    types = [layouts.memory_type(type) for type in SHOWN]
    lines = [f'target datalayout = "{data_layout(target_named(target))}"', *layouts.definitions]
    lines += [f"@g{number} = global {type} zeroinitializer" for number, type in enumerate(types)]
    module = parse("\n".join(lines))
    data = target_machine(target_named(target), 0).target_data
    for number, type in enumerate(SHOWN):
        llvm_type = module.get_global_variable(f"g{number}").global_value_type
        layout = layouts.aggregate(type)
        assert data.get_abi_size(llvm_type) == layout.size
        assert data.get_abi_alignment(llvm_type) == layout.alignment
        offsets = [data.get_element_offset(llvm_type, member) for member in range(len(layout.members))]
        assert tuple(offsets) == layout.offsets
