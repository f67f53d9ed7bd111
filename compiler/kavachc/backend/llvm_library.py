"""The function around an entry of the library: it takes values, and passes addresses of those that are no words.

define internal %optional.0 @"library.array.first<int>"(ptr %p0) {
  %out = alloca %optional.0
  call void @kv_lib_array_first(ptr %p0, ptr @type.int, ptr %out)
  …
"""

from __future__ import annotations

from collections.abc import Callable

from kavachc.backend.layout import Layouts
from kavachc.backend.llvm_descriptors import Descriptors
from kavachc.backend.llvm_runtime import RuntimeDeclarations
from kavachc.ir.library import LibraryEntry, in_memory
from kavachc.ir.types import NOTHING, Address, IrType


def library_name(entry: LibraryEntry, variable: IrType | None) -> str:
    return f"library.{entry.key}" if variable is None else f"library.{entry.key}<{variable}>"


def library_function(
    entry: LibraryEntry,
    variable: IrType | None,
    layouts: Layouts,
    descriptors: Descriptors,
    runtime: RuntimeDeclarations,
) -> tuple[str, Callable[[], str]]:
    """The signature, with `@` where the symbol goes, and what makes the body."""

    def llvm_type(declared: IrType) -> str:
        if isinstance(declared, Address):
            return "ptr"
        actual = entry.bound(declared, variable)
        return layouts.memory_type(actual) if in_memory(declared) else layouts.register_type(actual)

    types = [llvm_type(declared) for declared in entry.parameters]
    returned = "void" if entry.result == NOTHING else llvm_type(entry.result)
    parameters = [f"{type} %p{number}" for number, type in enumerate(types)]
    if entry.panics:
        parameters += ["ptr %site", "ptr %caller"]

    def body() -> str:
        lines: list[str] = []
        arguments: list[str] = []
        for number, (type, declared) in enumerate(zip(types, entry.parameters, strict=True)):
            if in_memory(declared):
                lines.append(f"  %at{number} = alloca {type}\n  store {type} %p{number}, ptr %at{number}\n")
                arguments.append(f"%at{number}")
            else:
                arguments.append(f"%p{number}")
        if variable is not None:
            arguments.append(descriptors.type(variable))
        if in_memory(entry.result):
            lines.append(f"  %out = alloca {returned}\n")
            arguments.append("%out")
        if entry.panics:
            arguments += ["%site", "%caller"]
        call = runtime.call(entry.symbol, *arguments)
        if entry.result == NOTHING:
            return "".join([*lines, f"  {call}\n  ret void\n"])
        if in_memory(entry.result):
            return "".join([*lines, f"  {call}\n  %made = load {returned}, ptr %out\n  ret {returned} %made\n"])
        return "".join([*lines, f"  %made = {call}\n  ret {returned} %made\n"])

    return f"{returned} @({', '.join(parameters)})", body
