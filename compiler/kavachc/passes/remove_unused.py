"""Removes what the entry never reaches: functions, vtables, records, sums and capabilities.

    entry main                              entry main
    function main() … { … }                 function main() … { … }
    function forgotten() … { … }

Agents stay, since their places are their numbers and the ledger reports them all; with them their capabilities.
A module without an entry stays as it is.
"""

from __future__ import annotations

from typing import cast

from kavachc.ir.facts import fields_of, part_types
from kavachc.ir.module import Function, Module
from kavachc.ir.ops import ATTRIBUTE_KINDS
from kavachc.ir.types import IrType, Named, made_of


def run(module: Module) -> bool:
    if not module.entry:
        return False
    reach = _Reach(module)
    reach.follow()
    before = _size(module)
    module.functions = {name: item for name, item in module.functions.items() if name in reach.functions}
    module.vtables = {name: item for name, item in module.vtables.items() if name in reach.vtables}
    module.records = {name: item for name, item in module.records.items() if name in reach.types}
    module.sums = {name: item for name, item in module.sums.items() if name in reach.types}
    module.capabilities = {name: item for name, item in module.capabilities.items() if name in reach.types}
    return _size(module) != before


def _size(module: Module) -> int:
    tables = (module.functions, module.vtables, module.records, module.sums, module.capabilities)
    return sum(len(table) for table in tables)


class _Reach:
    """What has been reached so far; the lists hold what is still to be followed."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self.functions: set[str] = {module.entry}
        self.vtables: set[str] = set()
        self.types: set[str] = set()
        self._seen_types: set[IrType] = set()
        self._new_functions = [module.entry]
        self._new_types: list[IrType] = []
        for agent in module.agents:
            self._new_types.extend(Named(name) for name in agent.capabilities)

    def follow(self) -> None:
        while self._new_functions or self._new_types:
            if self._new_functions:
                self._follow_function(self._module.functions[self._new_functions.pop()])
            else:
                self._follow_type(self._new_types.pop())

    def _reach_function(self, name: str) -> None:
        if name not in self.functions:
            self.functions.add(name)
            self._new_functions.append(name)

    def _reach_type(self, type: IrType | None) -> None:
        if type is not None and type not in self._seen_types:
            self._seen_types.add(type)
            self._new_types.append(type)

    def _reach_vtable(self, name: str) -> None:
        if name in self.vtables:
            return
        self.vtables.add(name)
        vtable = self._module.vtables[name]
        self._reach_type(vtable.payload)
        self._reach_type(Named(vtable.capability))
        for function in vtable.functions:
            self._reach_function(function)

    def _follow_type(self, type: IrType) -> None:
        for part in made_of(type):
            self._reach_type(part)
        if isinstance(type, Named):
            self._follow_name(type.name)

    def _follow_name(self, name: str) -> None:
        if name in self.types:
            return
        self.types.add(name)
        if name in self._module.records or name in self._module.sums:
            for part in part_types(name, self._module):
                self._reach_type(part)
            for field in fields_of(name, self._module):
                if field.rule is not None:
                    self._reach_function(field.rule.check)
        elif name in self._module.capabilities:
            for method in self._module.capabilities[name].methods:
                self._reach_type(method.result)
                self._reach_type(method.error)
                for parameter in method.parameters:
                    self._reach_type(parameter)

    def _follow_function(self, function: Function) -> None:
        self._reach_type(function.result)
        self._reach_type(function.error)
        for parameter in function.parameters:
            self._reach_type(parameter.type)
        for capture in function.captures or ():
            self._reach_type(capture)
        for local in function.locals:
            self._reach_type(local.type)
        for block in function.blocks:
            for instruction in block.instructions:
                if instruction.result is not None:
                    self._reach_type(instruction.result.type)
                for name, value in zip(instruction.op.attributes, instruction.attributes, strict=True):
                    self._follow_attribute(name, value)

    def _follow_attribute(self, name: str, value: object) -> None:
        if name == "function" and isinstance(value, str):
            self._reach_function(value)
        elif name == "vtable" and isinstance(value, str):
            self._reach_vtable(value)
        elif name == "capability" and isinstance(value, str):
            self._reach_type(Named(value))
        elif ATTRIBUTE_KINDS[name] == "type":
            self._reach_type(cast(IrType, value))
