"""The examples print what their readers are told, on every engine: `NAME.out`, and `NAME.err` where there is any."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from kavachc.conform import Expectation, compare_result
from kavachc.driver import Compilation
from kavachc.engines import ENGINES, Engine, run_engine, skip_reason
from kavachc.options import RunOptions

EXAMPLES = {
    "calculator": RunOptions(),
    "csv_report": RunOptions(),
    "digest": RunOptions(virtual_time=True),
    "fallback": RunOptions(virtual_time=True, test_model="examples/fallback.model.json"),
    "invoice": RunOptions(test_model="examples/invoice.model.json"),
    "jobs": RunOptions(virtual_time=True),
    "limit": RunOptions(),
    "moderation": RunOptions(test_model="examples/moderation.model.json"),
    "refund_desk": RunOptions(),
    "review": RunOptions(dry_run=True),
    "stock": RunOptions(),
    "triage": RunOptions(virtual_time=True, test_model="examples/triage.model.json"),
    "writers": RunOptions(test_model="examples/writers.model.json"),
}


def test_every_example_is_tested_and_listed() -> None:
    programs = {path.stem for path in (ROOT / "examples").glob("*.kav")}
    listed = (ROOT / "examples" / "README.md").read_text()
    assert programs == set(EXAMPLES)
    assert all(f"`{name}.kav`" in listed for name in programs)


def content(path: Path) -> str:
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    reason = skip_reason(engine)
    if reason is not None:
        pytest.skip(reason)
    stdout = (ROOT / "examples" / f"{name}.out").read_text()
    expected = Expectation("expected", stdout, content(ROOT / "examples" / f"{name}.err"), 0, None)
    options = EXAMPLES[name]
    result = run_engine(engine, Compilation(f"examples/{name}.kav"), options)
    assert compare_result(engine, expected, result, options) == []


def test_the_tests_of_the_examples_pass() -> None:
    command = [sys.executable, "-c", "from kavachc.cli import main; main()", "test", str(ROOT / "examples")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "3 passed, 0 failed"), done.stderr
