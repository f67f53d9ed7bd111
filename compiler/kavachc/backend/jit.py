"""Runs a program in this process: its machine code is loaded here and calls the runtime's shared library.

The code may lie anywhere in memory, far from the library: it is position-independent, and the loader makes the stubs
through which it reaches the library's functions.
"""

from __future__ import annotations

import threading
from contextlib import closing
from ctypes import CDLL, byref
from typing import Any

from llvmlite import binding

from kavachc.backend.llvm_object import LlvmError, compile_for_this_process
from kavachc.backend.runtime_build import RuntimeBuildError, runtime_library
from kavachc.backend.targets import host_machine
from kavachc.bindings import abi
from kavachc.bindings.host import Host, HostTable
from kavachc.bindings.kept import Kept
from kavachc.bindings.library import address_of, load_library
from kavachc.errors import ToolError
from kavachc.ir.module import Module
from kavachc.ir.runtime_calls import RUNTIME_CALLS, RUNTIME_VARIABLES
from kavachc.options import RunOptions

# Reserved, not used: room for 100,000 nested calls.
STACK_BYTES = 1 << 30


def run_in_process(module: Module, options: RunOptions, level: int, host: Host | None = None) -> int:
    """Compiles and runs the program; its exit status. A panic ends the process, through the host's `exit`."""
    try:
        library = load_library(runtime_library())
    except RuntimeBuildError as error:
        raise ToolError(str(error)) from error
    loaded = LoadedProgram(compile_for_this_process(module, level), library)
    return loaded.run(host or Host(), options)


class LoadedProgram:
    """Machine code in memory. It stays there as long as this object lives."""

    def __init__(self, object_bytes: bytes, library: CDLL) -> None:
        self._library = library
        self._loader = binding.create_lljit_compiler(host_machine(0), use_jit_link=True)
        builder = binding.JITLibraryBuilder().add_object_img(object_bytes).add_current_process()
        for name in (*RUNTIME_CALLS, *RUNTIME_VARIABLES):
            builder.import_symbol(name, address_of(library, name))
        try:
            self._tracker: Any = builder.export_symbol("kv_program").link(self._loader, "program")
        except RuntimeError as error:
            raise LlvmError(str(error)) from None

    @property
    def program_address(self) -> int:
        """Where the kv_program is."""
        return int(self._tracker["kv_program"])

    def run(self, host: Host, options: RunOptions) -> int:
        """The program's exit status. It runs on a thread of its own, for the size of its stack."""
        table = HostTable(host, self._library)
        kept = Kept()
        native_options = kept.options(
            dry_run=options.dry_run,
            virtual_time=options.virtual_time,
            test_model=options.test_model,
            report=options.report,
            state_file=options.state_file,
            audit_log=options.audit_log,
            audit_prompts=options.audit_prompts,
            arguments=options.arguments,
        )
        program = abi.Program.from_address(self.program_address)
        statuses: list[int] = []

        def run() -> None:
            statuses.append(self._library.kv_run(byref(program), byref(table.table), byref(native_options)))

        before = threading.stack_size(STACK_BYTES)
        try:
            thread = threading.Thread(target=run, name="kavach", daemon=True)
            thread.start()
        except RuntimeError:
            # A smaller one would be no help: the program would fall off its end.
            message = f"the system grants no stack of {STACK_BYTES >> 30} GB for the program: is `ulimit -v` set?"
            raise ToolError(message) from None
        finally:
            threading.stack_size(before)
        with closing(table):
            thread.join()
        return statuses[0]
