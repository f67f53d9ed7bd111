"""Standalone binaries, from a program written by hand (runtime/tests/program.zig) and the runtime's object."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from kavachc.backend.runtime_build import (
    OBJECT_TARGETS,
    cache_folder,
    runtime_object,
    source_folder,
    zig_executable,
)

PROGRAM = source_folder().parent / "tests" / "program.zig"
RUNNERS = {"x86_64-linux": [], "aarch64-linux": ["qemu-aarch64-static"]}


@pytest.fixture(scope="module", params=list(OBJECT_TARGETS))
def binary(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that runs the program as built for a target."""
    target: str = request.param
    runner = [] if os.uname().machine == target.split("-")[0] else RUNNERS[target]
    if runner and shutil.which(runner[0]) is None:
        pytest.skip(f"{runner[0]} is not installed")
    work = tmp_path_factory.mktemp(target)
    zig_target = ["-target", OBJECT_TARGETS[target]]
    program = work / "program.o"
    _zig(
        ["build-obj", "-O", "ReleaseSmall", "-fstrip", "-ffunction-sections", "-fno-unwind-tables", *zig_target],
        [f"-femit-bin={program}", "--dep", "abi", f"-Mroot={PROGRAM}", f"-Mabi={source_folder() / 'abi.zig'}"],
    )
    out = work / "program"
    objects = [str(program), str(runtime_object(target))]
    _zig(
        ["build-exe", "-static", "--gc-sections", "-fno-compiler-rt", "-fstrip", *zig_target],
        [*objects, f"-femit-bin={out}"],
    )
    return [*runner, str(out)]


def _zig(command: list[str], rest: list[str]) -> None:
    caches = ["--cache-dir", str(cache_folder() / "zig"), "--global-cache-dir", str(cache_folder() / "zig")]
    done = subprocess.run(
        [str(zig_executable()), command[0], *caches, *command[1:], *rest], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def run(binary: list[str], *arguments: str, **variables: str) -> tuple[int, str, str]:
    environment = {"PATH": os.environ["PATH"], **variables}
    done = subprocess.run([*binary, *arguments], capture_output=True, text=True, env=environment, timeout=60)
    return done.returncode, done.stdout, done.stderr


def test_hello(binary: list[str]) -> None:
    assert run(binary, "hello") == (0, "hello 7\n", "")


def test_a_binary_without_asks_and_limits_is_small(binary: list[str]) -> None:
    # All of this program's scenarios together; what a built hello world may take is in test_binaries.py.
    assert Path(binary[-1]).stat().st_size < 70_000


def test_main_that_fails(binary: list[str]) -> None:
    assert run(binary, "failing") == (1, "before 1\n", "error: 7\n")


def test_failures_that_nobody_waited_for(binary: list[str]) -> None:
    line = "error: a task that nobody waited for failed: "
    assert run(binary, "unwaited") == (1, "main ends 0\n", f"{line}1\n{line}2\n")


def test_panic_keeps_what_was_printed(binary: list[str]) -> None:
    message = "panic: index 5 is out of range: the length is 3 at a.kav:1:2\n"
    assert run(binary, "panicking") == (101, "before 1\n", message)


def test_stack_overflow_is_a_panic(binary: list[str]) -> None:
    assert run(binary, "overflow") == (101, "before 1\n", "panic: stack overflow\n")


def test_out_of_memory_is_a_panic(binary: list[str]) -> None:
    assert run(binary, "memory") == (101, "", "panic: out of memory\n")


def test_bad_access_is_an_internal_error(binary: list[str]) -> None:
    message = "internal error in the Kavach runtime: an access to memory that is not the program's\n"
    assert run(binary, "segfault") == (101, "", message)


def test_cancelled_before_the_first_step_in_sleep_and_after_the_end(binary: list[str]) -> None:
    status, out, error = run(binary, "cancel", KAVACH_VIRTUAL_TIME="1")
    assert (status, error) == (0, "")
    assert out == "slept ms: 30\nstatus 2\nstatus 2\nstatus 0\nstatus 0\n"


def test_sleepers_wake_by_time_also_in_real_time(binary: list[str]) -> None:
    expected = [0, 6, 7, 13, 14, 21, 28, 35, 42, 49]
    lines = "".join(f"slept ms: {time}\n" for time in expected)
    assert run(binary, "sleepers", "10") == (0, f"{lines}all slept 10\n", "")
    assert run(binary, "sleepers", "10", KAVACH_VIRTUAL_TIME="1") == (0, f"{lines}all slept 10\n", "")


def test_report_and_no_live_blocks(binary: list[str], tmp_path: Path) -> None:
    for scenario in ("hello", "many", "sleepers", "cancel", "unwaited", "failing"):
        report = tmp_path / scenario
        run(binary, scenario, "100", KAVACH_REPORT=str(report), KAVACH_VIRTUAL_TIME="1")
        assert report.read_text() == "live_blocks 0\n", scenario


def test_report_that_cannot_be_written(binary: list[str]) -> None:
    message = "error: cannot write the report to /nowhere/report\n"
    assert run(binary, "hello", KAVACH_REPORT="/nowhere/report") == (1, "hello 7\n", message)


def test_closed_pipe_stops_the_program_with_a_message(binary: list[str]) -> None:
    process = subprocess.Popen([*binary, "output"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == "error: cannot write to stdout\n"
    process.stderr.close()
    assert process.wait() == 1


def test_full_disk_stops_the_program_but_does_not_hide_a_panic(binary: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*binary, "hello"], stdout=full, stderr=subprocess.PIPE, text=True)
        assert (done.returncode, done.stderr) == (1, "error: cannot write to stdout\n")
        done = subprocess.run([*binary, "panicking"], stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 101 and done.stderr.startswith("panic: index 5")


def test_many_tasks(binary: list[str]) -> None:
    assert run(binary, "many", "1000000") == (0, "sum 500000500000\n", "")


def test_memory_in_use_is_bounded(binary: list[str]) -> None:
    limited = ["bash", "-c", 'ulimit -v 4000000; exec "$@"', "bash", *binary]
    if len(binary) > 1:
        limited = binary  # qemu needs address space of its own.
    assert run(limited, "churn", "20000") == (0, "", "")


def test_a_small_limit_on_address_space_leaves_a_smaller_stack(binary: list[str]) -> None:
    if len(binary) > 1:
        pytest.skip("qemu needs address space of its own")
    limited = ["bash", "-c", 'ulimit -v 200000; exec "$@"', "bash", *binary]
    assert run(limited, "hello") == (0, "hello 7\n", "")
    assert run(limited, "overflow") == (101, "before 1\n", "panic: stack overflow\n")
