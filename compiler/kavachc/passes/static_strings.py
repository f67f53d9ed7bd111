"""String constants are static blocks: copies of them are themselves, and releases of them do nothing.

%1: string = const.string "a"           %1: string = const.string "a"
%2: string = copy %1                    local.set &x %1
local.set &x %2
release %1
"""

from __future__ import annotations

from kavachc.ir.module import Function, Module
from kavachc.passes.uses import Uses


def run(module: Module) -> bool:
    changed = False
    for function in module.functions.values():
        changed = run_function(function, module) or changed
    return changed


def run_function(function: Function, module: Module) -> bool:
    uses = Uses(function, module)
    waiting = [value for value, maker in uses.makers.items() if maker.op.name == "const.string"]
    while waiting:
        constant = waiting.pop()
        for use in uses.of(constant):
            if use.instruction.op.name == "release":
                uses.delete(use.instruction)
            elif use.instruction.op.name == "copy":
                assert use.instruction.result is not None
                uses.delete(use.instruction)
                uses.replace(use.instruction.result, constant)
                waiting.append(constant)
    return uses.finish()
