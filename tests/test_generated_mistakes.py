"""Generated programs with a mistake in their text: the compiler says what is wrong, or the engines agree.

`KAVACH_TEST_LONG=1` tries 2,000, chosen anew each time, otherwise `FIXED` are tried.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from generated_mistakes import mistaken_programs
from generated_programs import Generated
from hypothesis import HealthCheck, Phase, given, settings
from kavachc.conform import Expectation, compare_result
from kavachc.diagnostics.diagnostic import CompileErrors
from kavachc.diagnostics.render import render_all
from kavachc.driver import Compilation
from kavachc.engines import ENGINES, run_engine
from kavachc.options import RunOptions

IS_LONG = os.environ.get("KAVACH_TEST_LONG", "") not in ("", "0")
FIXED = 30
COMPILED_WITHIN_S = 20.0
# A mistake may make a loop endless.
RUN_LIMIT_S = 10.0
INTERP, RUN = ENGINES[0], ENGINES[2]


def test_a_mistake_is_told_or_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    @settings(
        max_examples=2_000 if IS_LONG else FIXED,
        derandomize=not IS_LONG,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(mistaken_programs())
    def check(generated: Generated) -> None:
        for name, text in generated.files.items():
            Path(name).write_text(text, encoding="utf-8")
        started_s = time.process_time()
        compilation = Compilation("program.kav")
        try:
            _ = compilation.program
        except CompileErrors as errors:
            assert render_all(errors.diagnostics, color=False)
        else:
            found = _differences(compilation, generated)
            assert not found, found
        finally:
            assert time.process_time() - started_s < COMPILED_WITHIN_S

    check()


def _differences(compilation: Compilation, generated: Generated) -> str:
    Path("model.json").write_text(generated.model, encoding="utf-8")
    options = RunOptions(dry_run=generated.dry_run, virtual_time=True, test_model="model.json")
    first = run_engine(INTERP, compilation, options, RUN_LIMIT_S)
    if first.timed_out:
        return ""
    assert first.status in (0, 1, 101), first.stderr
    expected = Expectation(INTERP.name, first.stdout, first.stderr, first.status, first.ledger).with_audit(first)
    return "".join(compare_result(RUN, expected, run_engine(RUN, compilation, options), options))
