"""The Zig ledger on simulated disks and clocks (`runtime/src/simulator.zig`), checked against a plain model.
KAVACH_TEST_LONG=1 runs ten times as many seeds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from kavachc.backend.runtime_build import cache_folder, source_folder, zig_executable

SECOND = 10**9
#: (what counts of a call, the window, the bound): the rules in simulator.zig.
RULES = ((lambda amount: 1, 1000 * SECOND, 5), (lambda amount: amount, 300 * SECOND, 100))
CALL = """
import ctypes, sys
ctypes.CDLL(sys.argv[1]).simulate_seeds(*(ctypes.c_uint64(int(number)) for number in sys.argv[2:]))
"""
SEEDS = 100_000 if os.environ.get("KAVACH_TEST_LONG", "") not in ("", "0") else 10_000


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("simulator") / "libsimulator.so"
    caches = ["--cache-dir", str(cache_folder() / "zig"), "--global-cache-dir", str(cache_folder() / "zig")]
    command = [str(zig_executable()), "build-lib", "-dynamic", "-lc", "-O", "ReleaseSafe", *caches]
    done = subprocess.run(
        [*command, f"-femit-bin={library}", "simulator.zig"], cwd=source_folder(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return library


def simulate(library: Path, first: int, count: int, plant: int = 0) -> Iterator[tuple[str, list[str]]]:
    """Each seed's first line, and its events."""
    command = [sys.executable, "-c", CALL, str(library), str(first), str(count), str(plant)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    title = ""
    events: list[str] = []
    for line in process.stdout:
        if line.startswith("S "):
            if title:
                yield title, events
            title, events = line, []
        else:
            events.append(line)
    yield title, events
    assert process.wait() == 0


def admits(calls: list[tuple[int, int]], now_ns: int, amount: int) -> bool:
    """Whether the windows before `now_ns`, which hold those calls, have room."""
    for value, length_ns, bound in RULES:
        inside = sum(value(each) for time_ns, each in calls if now_ns - time_ns < length_ns)
        if inside + value(amount) > bound:
            return False
    return True


def check_seed(title: str, events: list[str]) -> None:
    """No window of true time holds more than its bound, whatever was done to disks and clocks; and where nothing
    fails, a call is let through exactly when there is room."""
    _, seed, exact = title.split()
    calls: list[tuple[int, int]] = []
    for event in events:
        kind, *rest = event.split()
        if kind == "P":
            # The disk failed while a process started; a file that opens is always in order.
            assert rest[0] in ("cannot_create", "cannot_write", "not_durable", "cannot_open"), f"seed {seed}: {event}"
            continue
        time_ns, amount = map(int, rest)
        if kind == "Y":
            calls.append((time_ns, amount))
            calls.sort()
        if exact == "1" and kind in "YN":
            before = [call for call in calls if call[0] <= time_ns]
            if kind == "Y":
                before.remove((time_ns, amount))
            assert admits(before, time_ns, amount) == (kind == "Y"), f"seed {seed}: {event}"
    for index, (time_ns, amount) in enumerate(calls):
        assert admits(calls[:index], time_ns, amount), f"seed {seed}: too much at {time_ns}"


def test_no_seed_passes_a_limit(simulator: Path) -> None:
    seen = {"Y": 0, "N": 0, "F": 0, "P": 0}
    count = 0
    for title, events in simulate(simulator, 0, SEEDS):
        check_seed(title, events)
        count += 1
        for event in events:
            seen[event[0]] += 1
    assert count == SEEDS
    assert all(number > SEEDS // 50 for number in seen.values()), seen


def test_a_disk_that_forgets_is_found(simulator: Path) -> None:
    with pytest.raises(AssertionError):
        for title, events in simulate(simulator, 0, 300, plant=1):
            check_seed(title, events)
