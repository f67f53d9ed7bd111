"""From a module of the IR to the text of an LLVM module. Everything in it is internal but `kv_program`."""

from __future__ import annotations

from kavachc.backend.layout import Layouts
from kavachc.backend.llvm_constants import Constants
from kavachc.backend.llvm_debug import DebugInfo
from kavachc.backend.llvm_descriptors import Descriptors
from kavachc.backend.llvm_function import FunctionEmitter
from kavachc.backend.llvm_helpers import Helpers
from kavachc.backend.llvm_runtime import ATTRIBUTES, INTRINSICS, RuntimeDeclarations, metadata
from kavachc.backend.op_emitters import EMITTERS
from kavachc.backend.targets import Target, data_layout
from kavachc.ir.module import Module
from kavachc.ir.types import NOTHING, IrType

_RESUME = """\
define internal void @resume(ptr %frame) #0 {
  call void @llvm.coro.resume(ptr %frame)
  ret void
}
"""


class Emission:
    """What the emitters of all functions of one module share."""

    def __init__(self, module: Module, debug: bool = False) -> None:
        self.module = module
        self.layouts = Layouts(module)
        self.constants = Constants()
        self.function_names = {name: f'@"fn.{name}"' for name in module.functions}
        self.descriptors = Descriptors(self.layouts, self.constants, self.function_names)
        self.runtime = RuntimeDeclarations()
        self.helpers = Helpers(self.layouts, self.constants, self.descriptors, self.runtime)
        self.asks = False
        self.sends = False
        # Some function is too long to be optimised.
        self.has_huge = False
        self.debug = DebugInfo(module.functions[module.entry].file) if debug and module.entry else None
        self.called_by_runtime = _called_by_runtime(module)

    def result_type(self, type: IrType) -> str:
        """Of a function that does not wait."""
        return "void" if type == NOTHING else self.layouts.register_type(type)

    def text(self, target: Target) -> str:
        functions = [FunctionEmitter(self, function).emit(EMITTERS) for function in self.module.functions.values()]
        self.descriptors.vtables()
        self.descriptors.code_tables()
        if self.module.entry:
            self._program()
        parts = [
            f'target datalayout = "{data_layout(target)}"\ntarget triple = "{target.triple}"\n',
            "\n".join(self.layouts.definitions),
            "\n".join(self.constants.lines),
            "\n".join(self.descriptors.lines),
            INTRINSICS + "\n".join(self.runtime.lines()),
            *self.helpers.texts,
            *functions,
            _RESUME,
            ATTRIBUTES + metadata() + ("" if self.debug is None else self.debug.text()),
        ]
        return "\n".join(parts)

    def _program(self) -> None:
        """A program links the ledger when some agent has limits, without them the audit log when some agent has
        capabilities or it may call `Http`, and the model client when it may ask."""
        ledger = None
        if any(agent.limits for agent in self.module.agents):
            ledger = self.runtime.use("kv_ledger_part")
        elif self.sends or self.module.can_send or any(agent.capabilities for agent in self.module.agents):
            ledger = self.runtime.use("kv_audit_part")
        model = self.runtime.use("kv_model_part") if self.asks or self.module.can_ask else None
        entry = self.function_names[self.module.entry]
        self.descriptors.program(entry, "@resume", (ledger or "null", model or "null"))


def _called_by_runtime(module: Module) -> frozenset[str]:
    """The functions that the runtime calls: nothing is around them."""
    fields = [field for record in module.records.values() for field in record.fields]
    fields += [field for item in module.sums.values() for variant in item.variants for field in variant.fields]
    return frozenset([module.entry, *(field.rule.check for field in fields if field.rule is not None)])


def emit_llvm(module: Module, target: Target, *, debug: bool = False) -> tuple[str, bool]:
    """The text for LLVM's parser, perhaps with debug information, and whether some function in it is too long for a
    code generator that optimises. `module` has been verified."""
    emission = Emission(module, debug)
    return emission.text(target), emission.has_huge
