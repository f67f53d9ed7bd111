"""What typing rules are made of (`typing_rules.py`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from kavachc.ir.errors import IrError
from kavachc.ir.module import Attribute, Function, Module
from kavachc.ir.ops import Op
from kavachc.ir.types import DURATION, INSTANT, INT, IrType


@dataclass(slots=True)
class Use:
    """An instruction as its rule sees it."""

    op: Op
    types: list[IrType]
    attributes: tuple[Attribute, ...]
    declared: IrType | None
    function: Function
    module: Module

    def number(self, index: int = 0) -> int:
        value = self.attributes[index]
        assert isinstance(value, int)
        return value

    def text(self, index: int = 0) -> str:
        value = self.attributes[index]
        assert isinstance(value, str)
        return value


Rule: TypeAlias = Callable[[Use], IrType | None]


def require(holds: bool, message: str) -> None:
    if not holds:
        raise IrError(message)


def expect(actual: IrType, expected: IrType) -> None:
    if actual != expected:
        raise IrError(f"{actual} stands where {expected} is wanted")


def expect_all(types: list[IrType], expected: list[IrType], what: str) -> None:
    if len(types) != len(expected):
        raise IrError(f"{what} takes {len(expected)} values, not {len(types)}")
    for actual, wanted in zip(types, expected, strict=True):
        expect(actual, wanted)


def declared(use: Use) -> IrType:
    if use.declared is None:
        raise IrError(f"{use.op.name} must state its result's type")
    return use.declared


COUNTABLE = (INT, DURATION, INSTANT)


def fixed(result: IrType | None, *operands: IrType) -> Rule:
    def rule(use: Use) -> IrType | None:
        expect_all(use.types, list(operands), use.op.name)
        return result

    return rule
