"""`kavachc conform`: every engine on the same program, and a table and a diff of what differs."""

from __future__ import annotations

import difflib
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kavachc.audit.reading import read, text_lines
from kavachc.diagnostics.diagnostic import CompileErrors
from kavachc.diagnostics.output import DiagnosticOutput
from kavachc.diagnostics.render import render_all
from kavachc.driver import Compilation
from kavachc.engines import ENGINES, TIME_LIMIT_S, Engine, Result, run_engine_often, skip_reason
from kavachc.errors import ToolError
from kavachc.golden import Golden, GoldenError, read_golden
from kavachc.interpreter.provider import KEY_VARIABLES
from kavachc.options import RunOptions
from kavachc.semantics.typed_ast import Function

_TIMES = re.compile(r" times \[[^\]]*\]$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a program's run must give: from a golden, or from the first engine that ran it."""

    source: str
    stdout: str
    stderr: str
    status: int
    ledger: str | None
    # The audit log, once an engine has written it, and what `kavachc audit` shows of it.
    audit: str | None = None
    audit_shown: str | None = None

    def with_audit(self, result: Result) -> Expectation:
        """All engines write the same log as the first."""
        return replace(self, audit=result.audit) if self.audit is None else self


def conform_paths(paths: tuple[str, ...], options: RunOptions, output: DiagnosticOutput) -> int:
    """Compares the engines on every program below `paths`; the exit status: 0 when all agree.

    Refusals go to `output` when that is for programs, and otherwise stand in the table.
    """
    files = list(_files(paths))
    if not files:
        raise ToolError(f"no .kav or .golden file in {', '.join(paths)}", 2)
    failed = 0
    for number, file in enumerate(files, start=1):
        progress = f"[{number}/{len(files)}] {file}" if len(files) > 1 else str(file)
        failed += 0 if _conform_file(file, options, progress, output) else 1
    if len(files) > 1:
        print(f"{len(files) - failed} of {len(files)} programs agree on every engine")
    return 1 if failed else 0


def _files(paths: tuple[str, ...]) -> Iterator[Path]:
    for name in paths:
        path = Path(name)
        if path.is_dir():
            yield from sorted(item for item in path.rglob("*") if item.suffix in (".kav", ".golden"))
        elif path.exists():
            yield path
        else:
            raise ToolError(f"cannot find `{name}`", 1)


def _uses_time(function: Function) -> bool:
    return any(effect.capability == "Time" for effect in function.effects)


def _conform_file(file: Path, options: RunOptions, title: str, output: DiagnosticOutput) -> bool:
    if file.suffix != ".golden":
        try:
            program = Compilation(str(file))
            _ = program.program
        except CompileErrors as errors:
            print(f"{title}\n  refused by the compiler")
            if output.form == "json":
                output.write(errors.diagnostics)
            else:
                print(render_all(errors.diagnostics, color=False))
            return False
        if not options.virtual_time and any(map(_uses_time, program.program.functions)):
            print("note: this program uses `Time`: with --virtual-time, sleeping takes no time", file=sys.stderr)
        return _compare(title, program, options, None)
    try:
        golden = read_golden(file)
    except (GoldenError, OSError, UnicodeDecodeError) as error:
        raise ToolError(str(error)) from None
    if not golden.runs:
        print(f"{title}\n  not a program to run: skipped")
        return True
    with golden_program(golden) as (compilation, golden_options):
        try:
            _ = compilation.program
        except CompileErrors as errors:
            text = render_all(errors.diagnostics, color=False) + "\n"
            refused = Result("", text, 1, "", None)
            difference = _difference(golden_expectation(golden), refused, compare_times=True)
            print(title)
            _print_row("compiler", "refuses it as the golden says" if not difference else "differs")
            print("".join(difference), end="")
            return not difference
        return _compare(title, compilation, golden_options, golden_expectation(golden), golden.run_count)


@contextmanager
def golden_program(golden: Golden) -> Iterator[tuple[Compilation, RunOptions]]:
    """The golden's program in a folder of its own, which is the current one meanwhile."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="kavachc-golden-") as folder:
        Path(folder, golden.name).write_text(golden.sections["source"], encoding="utf-8")
        for name, text in golden.files.items():
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_text(text, encoding="utf-8")
        model_path: str | None = None
        if "model" in golden.sections:
            model_path = "model.json"
            Path(folder, model_path).write_text(golden.sections["model"], encoding="utf-8")
        os.chdir(folder)
        # Whatever is set where it runs, no golden asks a real provider.
        taken = {name: os.environ.pop(name) for name in KEY_VARIABLES.values() if name in os.environ}
        try:
            yield Compilation(golden.name), golden.run_options(model_path)
        finally:
            os.environ.update(taken)
            os.chdir(before)


def golden_expectation(golden: Golden) -> Expectation:
    return Expectation(
        "golden",
        golden.sections.get("out", ""),
        golden.sections.get("err", ""),
        int(golden.sections.get("exit", "0")),
        golden.sections.get("report"),
        audit_shown=golden.sections.get("audit"),
    )


def _compare(
    title: str, compilation: Compilation, options: RunOptions, expected: Expectation | None, runs: int = 1
) -> bool:
    print(title)
    agreed = True
    differences: list[str] = []
    for engine in ENGINES:
        reason = skip_reason(engine)
        if reason is not None:
            _print_row(engine.name, f"skipped: {reason}")
            continue
        _show_progress(engine.name)
        result = run_engine_often(engine, compilation, options, runs)
        if expected is None:
            expected = Expectation(engine.name, result.stdout, result.stderr, result.status, result.ledger)
        expected = expected.with_audit(result)
        wrong = compare_result(engine, expected, result, options)
        _print_row(engine.name, _summary(result) + ("" if not wrong else "   DIFFERS"))
        if result.timed_out:
            differences.append(f"{engine.name} took more than {TIME_LIMIT_S:g} s: the other engines were not tried\n")
            agreed = False
            break
        if wrong:
            agreed = False
            differences.extend(wrong)
    print("".join(differences), end="")
    return agreed


def compare_result(engine: Engine, expected: Expectation, result: Result, options: RunOptions) -> list[str]:
    """The lines of a diff between `expected` and what `engine` gave; empty when they agree and nothing leaked."""
    difference = _difference(expected, result, compare_times=options.virtual_time)
    if difference:
        difference.insert(0, f"--- {expected.source}\n+++ {engine.name}\n")
    if result.live_blocks:
        difference.append(f"{engine.name}: {result.live_blocks} blocks of memory still live at the end\n")
    return difference


def _difference(expected: Expectation, result: Result, compare_times: bool) -> list[str]:
    parts = [("stdout", expected.stdout, result.stdout), ("stderr", expected.stderr, result.stderr)]
    parts.append(("status", f"{expected.status}\n", f"{result.status}\n"))
    if expected.ledger is not None:
        wanted, given = expected.ledger, result.ledger
        if not compare_times:
            wanted, given = _TIMES.sub("", wanted), _TIMES.sub("", given)
        parts.append(("ledger", wanted, given))
    if expected.audit is not None:
        parts.append(("audit log", expected.audit, result.audit))
    if expected.audit_shown is not None:
        parts.append(("audit", expected.audit_shown, shown_audit(result)))
    lines: list[str] = []
    for name, wanted, given in parts:
        if wanted != given:
            diff = difflib.unified_diff(wanted.splitlines(keepends=True), given.splitlines(keepends=True), n=2)
            lines.append(f"{name}:\n")
            lines.extend("  " + (line if line.endswith("\n") else line + "⏎\n") for line in list(diff)[2:])
    return lines


def shown_audit(result: Result) -> str:
    """What `kavachc audit` says of the log that an engine wrote."""
    contents = read(result.audit.encode())
    lines = [*text_lines(contents.events), *([] if contents.problem is None else [contents.problem])]
    return "".join(f"{line}\n" for line in lines)


def _summary(result: Result) -> str:
    lines = result.stdout.count("\n")
    errors = result.stderr.count("\n")
    rules = result.ledger.count("\n")
    return f"status {result.status}  stdout {lines} lines  stderr {errors} lines  ledger {rules} rules"


def _show_progress(name: str) -> None:
    if sys.stderr.isatty() and sys.stdout.isatty():
        print(f"  {name} …", end="\r", file=sys.stderr, flush=True)


def _print_row(name: str, text: str) -> None:
    clear = "\x1b[2K" if sys.stderr.isatty() and sys.stdout.isatty() else ""
    print(f"{clear}  {name:<22}{text}", flush=True)
