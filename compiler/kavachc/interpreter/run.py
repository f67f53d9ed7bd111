"""Runs a program in the interpreter: the `interp` engines."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from kavachc.interpreter.calls import run_steps
from kavachc.interpreter.evaluator import Evaluator
from kavachc.interpreter.frames import Frame
from kavachc.interpreter.host import Host
from kavachc.interpreter.model_host import ModelHost
from kavachc.interpreter.output import Output
from kavachc.interpreter.signals import KavachPanic, ProgramStops
from kavachc.interpreter.stack import with_large_stack
from kavachc.interpreter.statements import function_body
from kavachc.options import RunOptions
from kavachc.semantics import panics
from kavachc.semantics.typed_ast import Program

HostKind = Literal["model", "native"]
STATUS_PANIC = 101


def interpret(
    program: Program,
    options: RunOptions,
    host_kind: HostKind = "model",
    *,
    library: Path | None = None,
    output: Output | None = None,
) -> int:
    """Runs `main` and gives the exit status. `program` has no errors and its constants are evaluated. The native host
    needs the runtime's shared `library`. `output` is where stdout and stderr go, the process's own by default."""
    shown = output or Output()

    def host() -> Host:
        if host_kind == "model":
            return ModelHost(program, options, shown)
        from kavachc.interpreter.native_host import native_host

        assert library is not None, "the native host needs the runtime"
        return native_host(program, options, shown, library)

    return with_large_stack(lambda: _reporting(lambda: _run(program, host(), options.arguments), shown))


def _run(program: Program, host: Host, arguments: tuple[str, ...]) -> int:
    evaluator = Evaluator(program, host, arguments)
    return host.run(run_steps(function_body(evaluator, program.main, Frame())))


def _reporting(run: Callable[[], int], output: Output) -> int:
    """The status of the run, and on stderr what stopped it."""
    try:
        try:
            return run()
        except KavachPanic as panic:
            return _panicked(output, panic.report())
        except RecursionError:
            return _panicked(output, f"panic: {panics.STACK_OVERFLOW}")
        except MemoryError:
            return _panicked(output, f"panic: {panics.OUT_OF_MEMORY}")
        except ProgramStops as stop:
            output.error_line(stop.message)
            return stop.status
    except ProgramStops as stop:
        # It was stdout that took no more, and there is nothing left to write to it.
        output.error_line(stop.message)
        return stop.status


def _panicked(output: Output, line: str) -> int:
    """A panic is said even when stdout takes no more."""
    with contextlib.suppress(ProgramStops):
        output.flush()
    output.error_line(line)
    return STATUS_PANIC
