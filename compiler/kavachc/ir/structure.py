"""Checks of form: the tables of a module, and that a function is made of blocks that end in one terminator each."""

from __future__ import annotations

from collections.abc import Iterable

from kavachc.ir.errors import IrError
from kavachc.ir.facts import fields_of, is_plain
from kavachc.ir.module import Block, FieldRule, Function, Local, Module, Vtable
from kavachc.ir.types import ERROR, INT, NOTHING, Address, Box, FunctionValue, IrType, Named, made_of

_RULE_KINDS = ("condition", "sum_int", "sum_float", "count", "tokens")


class TypeChecker:
    """Whether types are made of what the module has. It remembers the answers, for all functions together."""

    def __init__(self, module: Module) -> None:
        self._names = {*module.records, *module.sums, *module.capabilities, *(agent.name for agent in module.agents)}
        self._right: set[IrType] = set()

    def check(self, type: IrType) -> None:
        if type in self._right:
            return
        if isinstance(type, Named) and type.name not in self._names:
            raise IrError(f"there is no type {type}")
        for part in made_of(type):
            self.check_plain(part)
        self._right.add(type)

    def check_plain(self, type: IrType) -> None:
        """The type of something that lasts: no outcome and no address."""
        if not is_plain(type):
            raise IrError(f"{type} cannot be kept")
        self.check(type)


def check_tables(module: Module, types: TypeChecker) -> None:
    """The tables agree with one another and with the functions that they name."""
    _check_unique(
        [*module.records, *module.sums, *module.capabilities, *(agent.name for agent in module.agents)], "types"
    )
    for owner, parts in _table_types(module):
        for part in parts:
            try:
                types.check_plain(part)
            except IrError as error:
                raise IrError(f"{owner}: {error}") from None
    for agent in module.agents:
        for name in agent.capabilities:
            if name not in module.capabilities:
                raise IrError(f"agent {agent.name}: there is no capability {name}")
        for limit in agent.limits:
            for rule in limit.rules:
                if rule.kind not in _RULE_KINDS:
                    raise IrError(f"agent {agent.name}, limit {limit.target}: there is no kind of rule {rule.kind}")
    for vtable in module.vtables.values():
        _check_vtable(vtable, module)
    for name in (*module.records, *module.sums):
        for field in fields_of(name, module):
            if field.rule is not None:
                _check_field_rule(f"{name}, {field.name}", field.type, field.rule, module)
    _check_keys(module)
    _check_entry(module)


def _table_types(module: Module) -> Iterable[tuple[str, list[IrType]]]:
    for record in module.records.values():
        yield f"record {record.name}", [field.type for field in record.fields]
    for sum in module.sums.values():
        for variant in sum.variants:
            yield f"sum {sum.name}, {variant.name}", [field.type for field in variant.fields]
    for capability in module.capabilities.values():
        for method in capability.methods:
            parts = [*method.parameters, method.result, *([] if method.error is None else [method.error])]
            yield f"capability {capability.name}, {method.name}", parts
    for vtable in module.vtables.values():
        yield f"vtable {vtable.name}", [vtable.payload]


def _check_keys(module: Module) -> None:
    tables = (module.records, module.sums, module.capabilities, module.vtables, module.functions)
    for table in tables:
        for key, item in table.items():
            if key != item.name:
                raise IrError(f"{item.name} stands in its table as {key}")


def _check_unique(names: list[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise IrError(f"two {what} are called {name}")
        seen.add(name)


def _check_vtable(vtable: Vtable, module: Module) -> None:
    capability = module.capabilities.get(vtable.capability)
    if capability is None:
        raise IrError(f"vtable {vtable.name}: there is no capability {vtable.capability}")
    if len(vtable.functions) != len(capability.methods):
        raise IrError(f"vtable {vtable.name}: {capability.name} has {len(capability.methods)} methods")
    for name, method in zip(vtable.functions, capability.methods, strict=True):
        function = module.functions.get(name)
        if function is None:
            raise IrError(f"vtable {vtable.name}: there is no function {name}")
        parameters = tuple(parameter.type for parameter in function.parameters)
        actual = (parameters, function.result, function.error, function.waits, function.owns_parameters)
        wanted = ((Named(capability.name), *method.parameters), method.result, method.error, method.waits, False)
        if actual != wanted:
            raise IrError(f"vtable {vtable.name}: {name} does not fit {capability.name}.{method.name}")


def _check_field_rule(place: str, type: IrType, rule: FieldRule, module: Module) -> None:
    function = module.functions.get(rule.check)
    if function is None:
        raise IrError(f"{place}: there is no function {rule.check}")
    wanted = Address(type.element if isinstance(type, Box) else type)
    parameters = [parameter.type for parameter in function.parameters]
    if (parameters, function.result, function.error, function.waits) != ([wanted], INT, None, False):
        raise IrError(f"{place}: {rule.check} does not look at a field of type {type}")


def _check_entry(module: Module) -> None:
    if not module.entry:
        return
    function = module.functions.get(module.entry)
    if function is None:
        raise IrError(f"there is no function {module.entry} to enter")
    if (function.parameters, function.result, function.error, function.waits) != ([], NOTHING, ERROR, True):
        raise IrError(f"the entry {module.entry} must be () -> nothing ! error waits")


def check_function_structure(function: Function, types: TypeChecker) -> None:
    """Names, the types of the signature and locals, blocks and where they lead."""
    try:
        for parameter in function.parameters:
            if isinstance(parameter.type, Address) and not function.owns_parameters:
                types.check(parameter.type)  # a place of the caller's, for the time of the call
            else:
                types.check_plain(parameter.type)
        for local in function.locals:
            types.check_plain(local.type)
        types.check_plain(function.result)
        _check_captures(function, types)
        if function.error is not None:
            types.check_plain(function.error)
            if function.error != ERROR and not isinstance(function.error, Named):
                raise IrError(f"{function.error} is no error type")
        _check_unique([parameter.name for parameter in function.parameters if parameter.name], "parameters")
        _check_unique([local.name for local in function.locals], "locals")
        _check_unique([block.name for block in function.blocks], "blocks")
        if not function.blocks:
            raise IrError("there are no blocks")
    except IrError as error:
        raise IrError(f"function {function.name}: {error}") from None
    known_blocks = set(function.blocks)
    known_locals = set(function.locals)
    for block in function.blocks:
        try:
            _check_block(block, known_blocks, known_locals)
        except IrError as error:
            raise IrError(f"function {function.name}, block {block.name}: {error}") from None
    if any(function.blocks[0] in block.successors() for block in function.blocks):
        raise IrError(f"function {function.name}: its first block cannot be jumped to")


def _check_captures(function: Function, types: TypeChecker) -> None:
    """The code of a function value is given that value first."""
    if function.captures is None:
        return
    for capture in function.captures:
        types.check_plain(capture)
    types_given = [parameter.type for parameter in function.parameters]
    first = types_given[0] if types_given else None
    if not isinstance(first, FunctionValue) or function.owns_parameters:
        raise IrError("it captures, but is no code of a function value")
    rest = types_given[1:]
    if (first.parameters, first.result, first.error) != (tuple(rest), function.result, function.error):
        raise IrError(f"it is no code of {first}")


def _check_block(block: Block, blocks: set[Block], locals: set[Local]) -> None:
    if not block.instructions or not block.terminator.op.terminator:
        raise IrError("it does not end with a terminator")
    for instruction in block.instructions:
        if instruction.op.terminator and instruction is not block.terminator:
            raise IrError(f"{instruction.op.name} stands before the end")
        if (instruction.result is None) != (instruction.op.result == "none"):
            raise IrError(f"{instruction.op.name} has {'no' if instruction.result else 'a'} result")
        for attribute in instruction.attributes:
            if isinstance(attribute, Local) and attribute not in locals:
                raise IrError(f"there is no local &{attribute.name} in the function")
    for successor in block.successors():
        if successor not in blocks:
            raise IrError(f"there is no block {successor.name} in the function")
