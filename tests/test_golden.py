"""Every golden file, on every engine."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT
from kavachc.conform import compare_result, golden_expectation, golden_program, shown_audit
from kavachc.diagnostics.diagnostic import CompileErrors
from kavachc.diagnostics.render import render_all
from kavachc.driver import Compilation
from kavachc.engines import ENGINES, Result, run_engine_often, skip_reason
from kavachc.golden import Golden, read_golden
from kavachc.options import RunOptions

GOLDENS = sorted((ROOT / "golden").rglob("*.golden"))
STAGES = ("typed", "ir", "opt")


@pytest.mark.parametrize("path", GOLDENS, ids=[str(path.relative_to(ROOT / "golden")) for path in GOLDENS])
def test_golden(path: Path, update: bool) -> None:
    golden = read_golden(path)
    with golden_program(golden) as (compilation, options):
        try:
            _ = compilation.program
        except CompileErrors as errors:
            refused = _refusal(golden, errors)
            if update:
                _write(golden, refused)
            for name, text in refused.items():
                assert text == golden.sections.get(name, ""), f"[{name}] differs"
            return
        assert "errors" not in golden.sections, "the compiler accepts it"
        written = [name for name in STAGES if name in golden.sections]
        stages = {name: golden.stage_text(compilation.emit(name, None, 2)) for name in written}
        if "warnings" in golden.sections:
            stages["warnings"] = _first_lines(render_all(compilation.bag.items, color=False))
        if update:
            _write(golden, stages)
        for name, text in stages.items():
            assert text == golden.sections[name], f"[{name}] differs"
        if golden.runs:
            _run_everywhere(golden, compilation, options, update)


def _refusal(golden: Golden, errors: CompileErrors) -> dict[str, str]:
    """The sections that a program refused by the compiler has: first lines, or the whole text and the status."""
    text = render_all(errors.diagnostics, color=False) + "\n"
    if "errors" in golden.sections:
        return {"errors": _first_lines(text)}
    sections = {"err": text, "exit": "1\n"}
    return {"out": "", **sections} if "out" in golden.sections else sections


def _first_lines(text: str) -> str:
    return "".join(line + "\n" for line in text.splitlines() if re.match(r"(error|warning): ", line))


def _run_everywhere(golden: Golden, compilation: Compilation, options: RunOptions, update: bool) -> None:
    wrong: list[str] = []
    log: Result | None = None
    for engine in ENGINES:
        if skip_reason(engine) is not None:
            continue
        result = run_engine_often(engine, compilation, options, golden.run_count)
        if update and engine is ENGINES[0]:
            golden = _write(golden, _sections(golden, result))
        log = log or result
        wrong.extend(compare_result(engine, golden_expectation(golden).with_audit(log), result, options))
    assert not wrong, "".join(wrong)


def _sections(golden: Golden, result: Result) -> dict[str, str]:
    sections = {"out": result.stdout, "err": result.stderr, "exit": f"{result.status}\n"}
    if not result.stderr:
        del sections["err"]
    if result.status == 0:
        del sections["exit"]
    if "report" in golden.sections:
        sections["report"] = result.ledger
    if "audit" in golden.sections:
        sections["audit"] = shown_audit(result)
    return sections


def _write(golden: Golden, sections: dict[str, str]) -> Golden:
    written = replace(golden, sections={**golden.sections, **sections})
    golden.path.write_text(written.text(), encoding="utf-8")
    return written


def test_engines_that_cannot_run_here_say_why(capsys: pytest.CaptureFixture[str]) -> None:
    skipped = {engine.name: reason for engine in ENGINES if (reason := skip_reason(engine)) is not None}
    with capsys.disabled():
        for name, reason in skipped.items():
            print(f"\nskipped on every golden: {name}: {reason}")
    assert all("aarch64" in name or "x86_64" in name for name in skipped)
    assert len(skipped) < len(ENGINES)
