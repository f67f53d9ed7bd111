"""`pytest --processes N` (tests/parallel.py) tells what one process would, also of tests that end theirs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent

FIRST = """
import os, signal, warnings
import pytest

@pytest.mark.parametrize("number", range(40))
def test_number(number, tmp_path):
    print("number is", number)
    assert list(tmp_path.iterdir()) == []
    assert number != 33

def test_warns():
    warnings.warn("mind this", stacklevel=1)

@pytest.mark.skip(reason="not today")
def test_skipped():
    assert False
"""

CRASH = """
import os, signal

def test_ends_its_process():
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test_first.py").write_text(FIRST)
    return tmp_path


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "parallel", "-p", "no:cacheprovider", *options]
    environment = os.environ | {"PYTHONPATH": f"{TESTS}:{os.environ.get('PYTHONPATH', '')}", "COLUMNS": "120"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_one_summary(folder: Path) -> None:
    (folder / "test_second.py").write_text("def test_passes():\n    pass\n")
    ended = run(folder, "--processes", "3", f"--basetemp={folder}/base")
    assert ended.returncode == 1
    assert "1 failed, 41 passed, 1 skipped, 1 warning in" in ended.stdout
    assert "number is 33" in ended.stdout
    assert "number is 32" not in ended.stdout
    assert "mind this" in ended.stdout


def test_a_test_that_ends_its_process_has_failed(folder: Path) -> None:
    (folder / "test_second.py").write_text(CRASH)
    ended = run(folder, "--processes", "2")
    assert ended.returncode == 1
    assert re.search(r"FAILED test_second\.py::test_ends_its_process", ended.stdout)
    assert "the process that ran this test ended" in ended.stdout


def test_stops_at_the_first_failure(folder: Path) -> None:
    (folder / "test_second.py").write_text(
        "import pytest\n\n@pytest.mark.parametrize('n', range(5000))\ndef test_n(n):\n    pass\n"
    )
    (folder / "test_first.py").rename(folder / "test_0.py")
    ended = run(folder, "--processes", "2", "-x")
    assert ended.returncode in (1, 2)
    passed = re.search(r"1 failed, (\d+) passed", ended.stdout)
    assert passed is not None and int(passed[1]) < 5000
