"""Generated programs on the engines, which must agree on everything and leave no memory behind.

`KAVACH_PROGRAMS=5000` runs so many, chosen anew each time (`KAVACH_TEST_LONG=1`: 1,000); otherwise `FIXED` are run:
each is compiled for five engines or six, and fifty took more than five minutes on a machine that others use too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from generated_programs import Generated, programs
from hypothesis import HealthCheck, Phase, given, settings
from kavachc.conform import Expectation, compare_result
from kavachc.driver import Compilation
from kavachc.engines import ENGINES, run_engine, skip_reason
from kavachc.options import RunOptions
from kavachc.passes.uses import Uses

IS_LONG = os.environ.get("KAVACH_TEST_LONG", "") not in ("", "0")
WANTED = int(os.environ.get("KAVACH_PROGRAMS", "1000" if IS_LONG else "0"))
FIXED = 20
TIME_LIMIT_S = 60.0
ALWAYS = ("interp", "interp --host native", "run -O0", "run -O2", "x86_64 -O2")
# Under an emulator, so less often.
SOMETIMES = ("aarch64 -O2",)


def differences(generated: Generated, engines: Sequence[str]) -> str:
    """What differs between the first engine and the others; empty when they agree."""
    file, model = Path("program.kav"), Path("model.json")
    for name, text in generated.files.items():
        Path(name).write_text(text, encoding="utf-8")
    model.write_text(generated.model, encoding="utf-8")
    options = RunOptions(dry_run=generated.dry_run, virtual_time=True, test_model=str(model))
    compilation = Compilation(str(file))
    _ = compilation.program
    expected: Expectation | None = None
    found: list[str] = []
    for engine in ENGINES:
        if engine.name not in engines or skip_reason(engine) is not None:
            continue
        result = run_engine(engine, compilation, options, TIME_LIMIT_S)
        if expected is None:
            assert result.timed_out or result.status in (0, 1, 101), result.stderr
            if result.timed_out:
                return ""
            expected = Expectation(engine.name, result.stdout, result.stderr, result.status, result.ledger)
            expected = expected.with_audit(result)
        found.extend(compare_result(engine, expected, result, options))
    return "".join(found)


def check_all(count: int, is_fixed: bool, phases: Sequence[Phase], engines: Callable[[int], Sequence[str]]) -> int:
    """Checks `count` programs on `engines`, which the length of the program chooses; how many were run."""
    runs = 0

    @settings(
        max_examples=count,
        derandomize=is_fixed,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )
    @given(programs())
    def check(generated: Generated) -> None:
        nonlocal runs
        runs += 1
        found = differences(generated, engines(len(generated.model)))
        assert not found, found

    check()
    return runs


def test_the_engines_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    phases = (Phase.generate, Phase.shrink)
    check_all(WANTED or FIXED, WANTED == 0, phases, lambda length: ALWAYS if length % 8 else ALWAYS + SOMETIMES)


def test_a_planted_fault_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that takes every value it copies from for standing: wrong only where that changes meanwhile."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Uses, "ends_between", lambda self, root, start, uses: False)
    with pytest.raises(AssertionError, match="run -O2"):
        check_all(100, True, (Phase.generate,), lambda length: ("interp", "run -O2"))
