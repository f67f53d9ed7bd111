"""`kavachc test`: what it runs, says and gives as its status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from programs import kavachc

SUMS = """
fn add(a: Int, b: Int) -> Int { a + b }

test "adds" {
    print("hello")
    assert add(1, 2) == 3
}

test "counts days" {
    print("before")
    Time.sleep(3d)
    assert add(1, 2) == 4, "sum"
}

test "fails with an error" { try broken() }

fn broken() ! Error { fail Broken("x") }

type Broken { why: String }
"""

LIMITS = """
type Refused = Denied(reason: String)

capability Store { fn keep(n: Int) ! Refused }

type Memory: Store { fn keep(self, n: Int) ! Refused { print("kept {n}") } }

agent Keeper {
    can Store.keep
    can Ai
    limit Store.keep { sum(n) <= 5 per day }
    on keep(n: Int) ! Refused { try Store.keep(n) }
    on ask_one(text: String) -> Int ! AiError { try ask<Int>(text) }
}

test "the first five" { try Keeper.start(Store: Memory()).keep(5) }

test "the window is empty again" { try Keeper.start(Store: Memory()).keep(5) }

test "six are too many" {
    const keeper = Keeper.start(Store: Memory())
    const said = keeper.keep(6) catch e => print("{e}")
}

test "asks" { assert (try Keeper.start(Store: Memory()).ask_one("n?")) == 7 }
"""
MODEL = '{"replies": [{"answer": 7}]}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sums.kav").write_text(SUMS)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "limits.kav").write_text(LIMITS.replace("const said = ", ""))
    (tmp_path / "sub" / "limits.model.json").write_text(MODEL)
    (tmp_path / "plain.kav").write_text("fn main() { print(nobody knows) }\n")
    return tmp_path


@pytest.mark.parametrize("engine", ["interp", "run"])
def test_a_folder(folder: Path, engine: str) -> None:
    ended = kavachc("test", "--engine", engine, "--jobs", "2", cwd=folder)
    assert ended.stdout.splitlines() == [
        "passed  sub/limits.kav: the first five",
        "passed  sub/limits.kav: the window is empty again",
        "passed  sub/limits.kav: six are too many",
        "passed  sub/limits.kav: asks",
        "passed  sums.kav: adds",
        "FAILED  sums.kav: counts days",
        "    panic: assertion failed: add(1, 2) == 4 (left: 3, right: 4): sum at sums.kav:12:5",
        "    | before",
        "FAILED  sums.kav: fails with an error",
        '    error: Broken(why: "x")',
        "5 passed, 2 failed",
    ]
    assert (ended.stderr, ended.returncode) == ("", 1)


def test_filter_and_verbose(folder: Path) -> None:
    ended = kavachc("test", "sums.kav", "sums.kav", "--filter", "adds", "--verbose", cwd=folder)
    assert ended.stdout == "passed  sums.kav: adds\n    | hello\n1 passed, 0 failed\n"
    assert ended.returncode == 0


def test_json(folder: Path) -> None:
    ended = kavachc("test", "sums.kav", "--format", "json", cwd=folder)
    *tests, summary = [json.loads(line) for line in ended.stdout.splitlines()]
    assert summary == {"passed": 1, "failed": 2, "refused": 0}
    assert [(test["file"], test["test"], test["place"], test["passed"]) for test in tests] == [
        ("sums.kav", "adds", "sums.kav:4:6", True),
        ("sums.kav", "counts days", "sums.kav:9:6", False),
        ("sums.kav", "fails with an error", "sums.kav:15:6", False),
    ]
    assert (tests[1]["stdout"], tests[1]["status"]) == ("before\n", 101)


def test_asks_without_a_model_fail_and_a_dry_run_answers(folder: Path) -> None:
    (folder / "sub" / "limits.model.json").unlink()
    ended = kavachc("test", "sub", "--filter", "asks", cwd=folder)
    assert 'error: the test model has no reply left for the prompt: "n?"' in ended.stdout
    assert ended.returncode == 1
    (folder / "one.json").write_text(MODEL)
    assert kavachc("test", "sub", "--filter", "asks", "--test-model", "one.json", cwd=folder).returncode == 0
    ended = kavachc("test", "sub", "--filter", "asks", "--dry-run", cwd=folder)
    assert "(left: 1, right: 7)" in ended.stdout


def test_files_that_do_not_compile(folder: Path) -> None:
    (folder / "wrong.kav").write_text('test "one" { assert 1 }\n')
    ended = kavachc("test", ".", "--filter", "adds", cwd=folder)
    assert "error: expected `Bool`, but this is `Int`" in ended.stderr
    assert ended.stdout.endswith("1 passed, 0 failed, 1 file refused by the compiler\n")
    assert ended.returncode == 1


def test_what_is_not_there(folder: Path) -> None:
    for paths in (("nowhere",), (".", "missing.kav")):
        ended = kavachc("test", *paths, cwd=folder)
        assert (ended.stdout, ended.stderr) == ("", f"error: cannot find `{paths[-1]}`\n")
        assert ended.returncode == 2


@pytest.mark.parametrize("text", ["", "fn main() { }\n", "pub fn helper() { }\n"])
def test_a_file_without_tests(folder: Path, text: str) -> None:
    (folder / "plain.kav").write_text(text)
    ended = kavachc("test", "plain.kav", cwd=folder)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("", "error: no test in plain.kav\n", 2)


def test_nothing_to_run(folder: Path) -> None:
    ended = kavachc("test", "sums.kav", "--filter", "nothing like it", cwd=folder)
    assert (ended.stderr, ended.returncode) == ('error: no test with "nothing like it" in its name in sums.kav\n', 2)
    assert kavachc("test", "--jobs", "0", cwd=folder).returncode == 2


def test_a_file_with_tests_needs_no_main_to_be_checked(folder: Path) -> None:
    ended = kavachc("check", "sums.kav", cwd=folder)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("", "", 0)
    assert "has no `main`" in kavachc("run", "sums.kav", cwd=folder).stderr


def test_ctrl_c_ends_the_tests_quietly(folder: Path) -> None:
    (folder / "endless.kav").write_text('test "endless" { let n = 0\n    while true { n += 1\n n -= 1 } }\n')
    program = [sys.executable, "-c", "from kavachc.cli import main; main()", "test", "endless.kav"]
    started = subprocess.Popen(program, cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ})
    time.sleep(3)
    started.send_signal(signal.SIGINT)
    _, errors = started.communicate(timeout=60)
    assert (started.returncode, errors) == (130, "\n")
