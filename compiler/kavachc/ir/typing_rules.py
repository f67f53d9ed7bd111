"""The typing rule of each op: from the types of its operands and its attributes to the type of its result.

The builder asks here for result types, and the verifier checks against the same rules. A rule gives None for an op
without a result; `declared` is the type that the instruction states, for ops where it does not follow.
"""

from __future__ import annotations

from kavachc.ir.errors import IrError
from kavachc.ir.module import Attribute, Block, Cases, Function, Local, Module, Value
from kavachc.ir.ops import ATTRIBUTE_KINDS, DEPTHS, PREDICATES, Op
from kavachc.ir.types import IrType, Outcome
from kavachc.ir.typing_calls import CALL_RULES
from kavachc.ir.typing_use import Rule, Use, require
from kavachc.ir.typing_values import VALUE_RULES

RULES: dict[str, Rule] = {**VALUE_RULES, **CALL_RULES}


def result_type(
    op: Op,
    operands: list[Value],
    attributes: tuple[Attribute, ...],
    declared: IrType | None,
    function: Function,
    module: Module,
) -> IrType | None:
    """The type of the result of such an instruction in `function`; IrError when it may not stand there."""
    check_operand_count(op, len(operands))
    use = Use(op, [value.type for value in operands], attributes, declared, function, module)
    check_attributes(use)
    if not op.name.startswith("outcome."):
        for type in use.types:
            require(not isinstance(type, Outcome), "only the outcome ops take an outcome")
    return RULES[op.name](use)


def check_operand_count(op: Op, count: int) -> None:
    if count != len(op.operands) and not op.operands.endswith("*"):
        raise IrError(f"{op.name} takes {len(op.operands)} operands, not {count}")


_ATTRIBUTE_CLASSES: dict[str, type | tuple[type, ...]] = {
    "number": int,
    "name": str,
    "predicate": str,
    "depth": str,
    "local": Local,
    "block": Block,
    "cases": Cases,
}


def check_attributes(use: Use) -> None:
    names = use.op.attributes
    if len(use.attributes) != len(names):
        raise IrError(f"{use.op.name} takes {len(names)} attributes")
    for name, value in zip(names, use.attributes, strict=True):
        kind = ATTRIBUTE_KINDS[name]
        expected = _ATTRIBUTE_CLASSES.get(kind)
        right = expected is None or (isinstance(value, expected) and not isinstance(value, bool))
        if kind == "predicate":
            right = value in PREDICATES
        elif kind == "depth":
            right = value in DEPTHS
        if not right:
            raise IrError(f"the attribute {name} cannot be {value}")
