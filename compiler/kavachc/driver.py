"""The pipeline: one `Compilation` per program, one method or property per stage, each run at most once.

This is the only module that sees every part of the compiler. Parts are imported when a stage first needs them, so
that `check` does not pay for LLVM.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kavachc.diagnostics.diagnostic import CompileErrors, Diagnostic, DiagnosticBag
from kavachc.options import RunOptions

if TYPE_CHECKING:
    from kavachc.ir.module import Module as IrModule
    from kavachc.semantics.typed_ast import Program, Test
    from kavachc.syntax.program_files import ProgramFiles

HostKind = Literal["model", "native"]
MainNeed = Literal["always", "unless tests", "never"]

# Deep expressions are walked by plain recursion: Python's frames live on the heap, so this costs nothing until used.
RECURSION_LIMIT = 1_000_000


class Compilation:
    """One program on its way through the pipeline. Every stage raises `CompileErrors` when the program has any. `main`
    says whether its file needs one."""

    def __init__(self, path: str, *, main: MainNeed = "always") -> None:
        sys.setrecursionlimit(RECURSION_LIMIT)
        self.path = path
        self._main_need = main
        self.bag = DiagnosticBag()
        self._optimised: dict[int, IrModule] = {}

    def _stop_on_errors(self) -> None:
        if self.bag.has_errors:
            raise CompileErrors(self.bag.items)

    @cached_property
    def files(self) -> ProgramFiles:
        """The parsed files of the program, without the declarations that have syntax errors: `bag` has those."""
        from kavachc.syntax.program_files import load_program

        files = load_program(self.path, self.bag)
        if not files.modules:
            self._stop_on_errors()
        return files

    @property
    def has_tests(self) -> bool:
        """Whether tests stand in the file that was named."""
        from kavachc.syntax.ast import TestDeclaration

        return any(isinstance(item, TestDeclaration) for item in self.files.modules[0].declarations)

    @cached_property
    def program(self) -> Program:
        """The checked program, its constants and settings evaluated."""
        from kavachc.interpreter.constants import evaluate_constants
        from kavachc.semantics.checker import check
        from kavachc.semantics.warnings import warn

        needs_main = self._main_need == "always" or (self._main_need == "unless tests" and not self.has_tests)
        program = check(self.files, self.bag, needs_main=needs_main)
        self._stop_on_errors()
        assert program is not None
        # Before the constants are evaluated: what they call is used.
        warnings = DiagnosticBag()
        warn(program, self.files, warnings)
        evaluate_constants(program, self.bag)
        self._stop_on_errors()
        self.bag.items.extend(warnings.items)
        return program

    @property
    def own_tests(self) -> list[Test]:
        """The program's tests that stand in the file that was named."""
        return [test for test in self.program.tests if test.span.file is self.files.modules[0].file]

    def notes(self) -> list[Diagnostic]:
        """What `check --verbose` says of a program without mistakes."""
        from kavachc.semantics.schema import note_asks

        notes = DiagnosticBag()
        note_asks(self.program, notes)
        return notes.items

    def of_test(self, test: Test) -> Compilation:
        """The program that runs one of this one's tests, checked already."""
        made = Compilation(self.path)
        made.files = self.files
        made.program = replace(self.program, main=test.function)
        return made

    def lower(self) -> IrModule:
        """The program's IR as the lowering makes it, verified."""
        from kavachc.ir.verifier import verify
        from kavachc.lower.program import lower

        module = lower(self.program)
        verify(module)
        return module

    def optimise(self, level: int) -> IrModule:
        """The IR after the passes of optimisation `level`, 0 to 3."""
        from kavachc.passes.pipeline import optimise

        if level not in self._optimised:
            module = self.lower()
            optimise(module, level)
            self._optimised[level] = module
        return self._optimised[level]

    def object(self, target: str, level: int, *, debug: bool = False) -> bytes:
        """The program's object file for `target`, perhaps with debug information."""
        from kavachc.backend.llvm_object import compile_object

        return compile_object(self.optimise(level), target, level, debug=debug)

    def build(self, output: str, target: str | None, level: int, *, debug: bool = False) -> None:
        """Writes a static binary to `output`."""
        from kavachc.backend.link import OutputError, link
        from kavachc.backend.targets import host_target
        from kavachc.progress import progress

        if os.path.exists(output) and any(os.path.samefile(output, path) for path in self.files.paths):
            raise OutputError(f"cannot write {output}: it is the program itself")
        chosen = target or host_target()
        with progress() as shown:
            shown.show(f"checking {self.path}")
            _ = self.program
            shown.show("lowering")
            self.optimise(level)
            shown.show("generating machine code")
            code = self.object(chosen, level, debug=debug)
            shown.show("linking")
            link(code, chosen, Path(output), debug=debug)

    def interpret(self, options: RunOptions, host: HostKind) -> int:
        """Runs the program in the interpreter; its exit status."""
        from kavachc.interpreter.run import interpret

        library: Path | None = None
        if host == "native":
            from kavachc.backend.runtime_build import runtime_library

            library = runtime_library()
        return interpret(self.program, options, host, library=library)

    def run(self, options: RunOptions, level: int) -> int:
        """Runs the program as native code in this process; its exit status."""
        from kavachc.backend.jit import run_in_process

        return run_in_process(self.optimise(level), options, level)

    def emit(self, stage: str, target: str | None, level: int) -> str:
        """The program's text after `stage`: ast, typed, ir, opt, llvm or asm."""
        stages: dict[str, Callable[[], str]] = {
            "ast": self._emit_ast,
            "typed": self._emit_typed,
            "ir": lambda: self._print(self.lower()),
            "opt": lambda: self._print(self.optimise(level)),
            "llvm": lambda: self._emit_native(target, level, "llvm"),
            "asm": lambda: self._emit_native(target, level, "asm"),
        }
        return stages[stage]()

    def _emit_ast(self) -> str:
        from kavachc.dump import dump

        modules = self.files.modules
        self._stop_on_errors()
        return dump(modules[0].declarations)

    def _emit_typed(self) -> str:
        from kavachc.dump import dump_program

        return dump_program(self.program)

    @staticmethod
    def _print(module: IrModule) -> str:
        from kavachc.ir.printer import print_module

        return print_module(module)

    def _emit_native(self, target: str | None, level: int, form: Literal["llvm", "asm"]) -> str:
        from kavachc.backend.llvm_object import emit_text
        from kavachc.backend.targets import host_target

        return emit_text(self.optimise(level), target or host_target(), level, form)
