"""Runs a program from its source text in the interpreter, and keeps what it wrote."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kavachc.backend.runtime_build import runtime_library
from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.interpreter.constants import evaluate_constants
from kavachc.interpreter.output import Output
from kavachc.interpreter.run import interpret
from kavachc.interpreter.stack import with_large_stack
from kavachc.options import RunOptions
from kavachc.semantics.checker import check
from kavachc.semantics.typed_ast import Program
from kavachc.source import SourceFile
from kavachc.syntax.parser import parse


@dataclass(frozen=True, slots=True)
class Ran:
    out: str
    err: str
    status: int
    report: str = ""


def compiled(source: str) -> tuple[Program | None, list[str]]:
    """The checked program with its constants evaluated, and the diagnostics' messages."""
    return with_large_stack(lambda: _compiled(source))


def _compiled(source: str) -> tuple[Program | None, list[str]]:
    bag = DiagnosticBag()
    module = parse(SourceFile("a.kav", source), bag)
    program = None if bag.has_errors else check(module, bag)
    if program is not None and not bag.has_errors:
        evaluate_constants(program, bag)
    return program, [item.message for item in bag.items if item.severity == "error"]


def run(
    source: str,
    *,
    model: dict[str, Any] | str | None = None,
    folder: Path | None = None,
    dry_run: bool = False,
    virtual_time: bool = True,
    native: bool = False,
) -> Ran:
    """Runs it on the plain-Python host, or on the native one in a process of its own, which the runtime may end. A
    `model` needs a `folder` to write it in; with a folder there is a report."""
    program, errors = compiled(source)
    assert program is not None and not errors, errors
    test_model = report = None
    if folder is not None:
        report = str(folder / "report.txt")
        Path(report).unlink(missing_ok=True)
    if model is not None:
        assert folder is not None
        test_model = str(folder / "model.json")
        Path(test_model).write_text(model if isinstance(model, str) else json.dumps(model), encoding="utf-8")
    options = RunOptions(dry_run=dry_run, virtual_time=virtual_time, test_model=test_model, report=report)
    if native:
        out, err, status = _run_native(program, options)
    else:
        written: dict[int, bytearray] = {1: bytearray(), 2: bytearray()}
        status = interpret(program, options, output=Output(written[1].extend, written[2].extend))
        out, err = written[1].decode(), written[2].decode()
    report_text = Path(report).read_text(encoding="utf-8") if report and Path(report).exists() else ""
    return Ran(out, err, status, report_text)


def _run_native(program: Program, options: RunOptions) -> tuple[str, str, int]:
    library = runtime_library()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            status = 99
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                status = interpret(program, options, "native", library=library)
            finally:
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode())
    return texts[0], texts[1], os.waitstatus_to_exitcode(ended)
