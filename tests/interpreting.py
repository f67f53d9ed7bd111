"""Runs a program from its source text in the interpreter, and keeps what it wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
) -> Ran:
    """Runs it on the plain-Python host. A `model` needs a `folder` to write it in; with a folder there is a report."""
    program, errors = compiled(source)
    assert program is not None and not errors, errors
    written: dict[int, bytearray] = {1: bytearray(), 2: bytearray()}
    test_model = report = None
    if folder is not None:
        report = str(folder / "report.txt")
    if model is not None:
        assert folder is not None
        test_model = str(folder / "model.json")
        Path(test_model).write_text(model if isinstance(model, str) else json.dumps(model), encoding="utf-8")
    options = RunOptions(dry_run=dry_run, virtual_time=virtual_time, test_model=test_model, report=report)
    status = interpret(program, options, output=Output(written[1].extend, written[2].extend))
    report_text = Path(report).read_text(encoding="utf-8") if report and Path(report).exists() else ""
    return Ran(written[1].decode(), written[2].decode(), status, report_text)
