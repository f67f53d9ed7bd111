"""Checks that a module is right, so that every later stage may take it for granted.

Text that breaks a rule is refused with the function, the block, the instruction and the rule. The rules are in
`structure.py` (blocks, names, tables), `typing_rules.py` and `ownership.py`; that every use of a value is
dominated by what makes it is checked here.
"""

from __future__ import annotations

from kavachc.ir.errors import IrError
from kavachc.ir.graph import Graph
from kavachc.ir.module import Block, Function, Instruction, Module, Value
from kavachc.ir.ownership import OwnershipError, check_ownership
from kavachc.ir.printer import print_instruction, value_text
from kavachc.ir.structure import TypeChecker, check_function_structure, check_tables
from kavachc.ir.typing_rules import result_type


def verify(module: Module) -> None:
    """Does nothing, or raises IrError for the first broken rule."""
    types = TypeChecker(module)
    check_tables(module, types)
    for function in module.functions.values():
        verify_function(function, module, types)


def verify_function(function: Function, module: Module, types: TypeChecker | None = None) -> None:
    """The same for one function of `module`."""
    types = types or TypeChecker(module)
    check_function_structure(function, types)
    _check_types(function, module, types)
    graph = Graph(function)
    _check_dominance(function, graph)
    try:
        check_ownership(function, module, graph)
    except OwnershipError as error:
        reason = str(error) if error.value is None else f"{value_text(function, error.value)} {error}"
        raise _error(function, error.block, error.instruction, reason) from None


def _error(function: Function, block: Block, instruction: Instruction | None, reason: str) -> IrError:
    place = f"function {function.name}, block {block.name}"
    if instruction is not None:
        place += f", `{print_instruction(function, instruction)}`"
    return IrError(f"{place}: {reason}")


def _check_types(function: Function, module: Module, types: TypeChecker) -> None:
    for block in function.blocks:
        for instruction in block.instructions:
            declared = None if instruction.result is None else instruction.result.type
            try:
                found = result_type(
                    instruction.op, instruction.operands, instruction.attributes, declared, function, module
                )
                if declared is not None:
                    types.check(declared)
            except IrError as error:
                raise _error(function, block, instruction, str(error)) from None
            if found != declared:
                raise _error(function, block, instruction, f"the result is {found}, not {declared}")


def _check_dominance(function: Function, graph: Graph) -> None:
    """Every value is made once, and on every way to its uses."""
    makers: dict[Value, tuple[Block, int]] = dict.fromkeys(function.parameters, (function.blocks[0], -1))
    for block in function.blocks:
        for index, instruction in enumerate(block.instructions):
            result = instruction.result
            if result is not None:
                if result in makers:
                    raise _error(function, block, instruction, "its result is made twice")
                makers[result] = (block, index)
    for block in graph.order:
        for index, instruction in enumerate(block.instructions):
            for operand in instruction.operands:
                maker = makers.get(operand)
                if maker is None:
                    raise _error(function, block, instruction, "nothing makes one of its operands")
                if maker[0] is block:
                    right = maker[1] < index
                else:
                    right = maker[0] in graph.index and graph.dominates(maker[0], block)
                if not right:
                    text = value_text(function, operand)
                    raise _error(function, block, instruction, f"{text} is not made on every way here")
