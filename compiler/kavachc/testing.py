"""`kavachc test`: runs `test` blocks, and tells which of them failed, and why (spec 11.tests).

A test is run as a program whose `main` it is, in a process of its own: so a panic ends that test only, and nothing of
one test is there for the next. The files are checked, and their tests run, in as many processes as there are CPUs.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from kavachc.diagnostics.diagnostic import CompileErrors, Diagnostic
from kavachc.diagnostics.output import DiagnosticOutput
from kavachc.driver import Compilation
from kavachc.engines import ENGINES, Engine, Result, run_engine
from kavachc.errors import ToolError
from kavachc.options import RunOptions
from kavachc.processes import in_processes

_MAY_HAVE_TESTS = re.compile(r'^\s*test\s*"', re.MULTILINE)
_NO_REPLIES = '{"replies": [], "then": "fail"}'
_ENGINES = {"interp": "interp", "run": "run -O0"}


@dataclass(frozen=True, slots=True)
class TestRun:
    """What the command line asks for. `wanted` is a part of the names of the tests to run."""

    wanted: str
    test_model: str | None
    dry_run: bool
    verbose: bool
    engine: str
    output: DiagnosticOutput

    @property
    def chosen_engine(self) -> Engine:
        return next(engine for engine in ENGINES if engine.name == _ENGINES[self.engine])


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one test."""

    name: str
    place: str
    result: Result

    @property
    def passed(self) -> bool:
        return self.result.status == 0


@dataclass(frozen=True, slots=True)
class FileVerdict:
    """What became of the tests of one file; `diagnostics` are errors, and then there are no verdicts, or warnings."""

    path: str
    verdicts: tuple[Verdict, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def compiled(self) -> bool:
        return not any(item.severity == "error" for item in self.diagnostics)


def run_tests(paths: Sequence[str], run: TestRun, jobs: int | None) -> int:
    """Runs the tests below `paths` and reports on stdout; the exit status."""
    files = list(dict.fromkeys(_files(paths)))
    verdicts: list[FileVerdict] = []
    count = jobs or len(os.sched_getaffinity(0))
    _prepare(run.chosen_engine)
    for file in in_processes(files, lambda path: _run_file(path, run), count):
        _clear_progress()
        _report(file, run)
        verdicts.append(file)
        _show_progress(f"{len(verdicts)} of {len(files)} files")
    _clear_progress()
    tests = [verdict for file in verdicts for verdict in file.verdicts]
    refused = sum(not file.compiled for file in verdicts)
    if not tests and not refused:
        about = f' with "{run.wanted}" in its name' if run.wanted else ""
        raise ToolError(f"no test{about} in {', '.join(paths)}", 2)
    failed = sum(not verdict.passed for verdict in tests)
    _summarise(len(tests) - failed, failed, refused, run)
    return 1 if failed or refused else 0


def _files(paths: Sequence[str]) -> Iterator[str]:
    """The files that are named, and those in folders that may have tests; hidden folders are passed over."""
    for name in paths:
        path = Path(name)
        if not path.exists():
            raise ToolError(f"cannot find `{name}`", 2)
        if not path.is_dir():
            yield name
            continue
        for item in sorted(path.rglob("*.kav")):
            hidden = any(part.startswith(".") for part in item.relative_to(path).parts)
            if not hidden and item.is_file() and _MAY_HAVE_TESTS.search(item.read_bytes().decode("utf-8", "replace")):
                yield str(item)


def _prepare(engine: Engine) -> None:
    """Loads here what every process would load for itself."""
    import_module("kavachc.semantics.checker").load_prelude()
    import_module("kavachc.backend.jit" if engine.kind == "run" else "kavachc.interpreter.run")


def _run_file(path: str, run: TestRun) -> FileVerdict:
    compilation = Compilation(path, main="never")
    try:
        tests = compilation.own_tests
    except CompileErrors as errors:
        return FileVerdict(path, (), tuple(errors.diagnostics))
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory(prefix="kavachc-test-") as folder:
        options = RunOptions(run.dry_run, True, None if run.dry_run else _model_for(path, run, folder))
        for test in tests:
            if run.wanted in test.name:
                result = run_engine(run.chosen_engine, compilation.of_test(test), options)
                verdicts.append(Verdict(test.name, test.span.place(), result))
    return FileVerdict(path, tuple(verdicts), tuple(compilation.bag.items))


def _model_for(path: str, run: TestRun, folder: str) -> str:
    """The scripted model for the tests of a file: without one, a model that answers nothing."""
    if run.test_model is not None:
        return run.test_model
    beside = Path(path).with_suffix(".model.json")
    if beside.exists():
        return str(beside)
    silent = Path(folder) / beside.name
    silent.write_text(_NO_REPLIES, encoding="utf-8")
    return str(silent)


def _report(file: FileVerdict, run: TestRun) -> None:
    sys.stdout.flush()
    run.output.write(file.diagnostics)
    for verdict in file.verdicts:
        if run.output.form == "json":
            print(_as_json(file.path, verdict))
            continue
        print(f"{'passed' if verdict.passed else 'FAILED'}  {file.path}: {_one_line(verdict.name)}")
        if not verdict.passed or run.verbose:
            _print_indented(verdict.result.stderr, "    ")
            _print_indented(verdict.result.stdout, "    | ")


def _as_json(path: str, verdict: Verdict) -> str:
    return json.dumps(
        {
            "file": path,
            "test": verdict.name,
            "place": verdict.place,
            "passed": verdict.passed,
            "status": verdict.result.status,
            "stdout": verdict.result.stdout,
            "stderr": verdict.result.stderr,
        },
        ensure_ascii=False,
    )


def _one_line(name: str) -> str:
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in name)


def _print_indented(text: str, indentation: str) -> None:
    for line in text.splitlines():
        print(f"{indentation}{line}")


def _summarise(passed: int, failed: int, refused: int, run: TestRun) -> None:
    if run.output.form == "json":
        print(json.dumps({"passed": passed, "failed": failed, "refused": refused}))
        return
    files = f", {refused} file{'' if refused == 1 else 's'} refused by the compiler" if refused else ""
    print(f"{passed} passed, {failed} failed{files}")


def _show_progress(text: str) -> None:
    if sys.stderr.isatty() and sys.stdout.isatty():
        print(f"  {text} …", end="\r", file=sys.stderr, flush=True)


def _clear_progress() -> None:
    if sys.stderr.isatty() and sys.stdout.isatty():
        print("\x1b[2K", end="\r", file=sys.stderr, flush=True)
