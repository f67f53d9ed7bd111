"""The Zig ledger on simulated disks and clocks (`runtime/src/simulator.zig`), checked against a plain model
(`ledger_model.py`). KAVACH_TEST_LONG=1 runs ten times as many seeds."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from kavachc.backend.runtime_build import cache_folder, source_folder, zig_executable
from ledger_model import check_seed

SEEDS = 100_000 if os.environ.get("KAVACH_TEST_LONG", "") not in ("", "0") else 10_000
FAULTS = {
    1: "syncs of files do nothing",
    2: "syncs of folders do nothing",
    3: "what others appended is not read",
    4: "windows run on a clock that can be set",
    5: "what others appended is not checked against",
    6: "what asks took is not written",
    7: "a key's records go to another key",
}


def build(folder: Path, cpu: str) -> list[str]:
    """The command that runs it."""
    out = folder / f"simulator-{cpu}"
    caches = ["--cache-dir", str(cache_folder() / "zig"), "--global-cache-dir", str(cache_folder() / "zig")]
    command = [str(zig_executable()), "build-exe", "-O", "ReleaseSafe", "-target", f"{cpu}-linux-none", *caches]
    done = subprocess.run(
        [*command, f"-femit-bin={out}", "simulator.zig"], cwd=source_folder(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return [str(out)] if cpu == platform.machine() else [f"qemu-{cpu}-static", str(out)]


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return build(tmp_path_factory.mktemp("simulator"), platform.machine())


def simulate(simulator: list[str], first: int, count: int, plant: int = 0) -> Iterator[tuple[str, list[str]]]:
    """Each seed's first line, and its events."""
    command = [*simulator, str(first), str(count), str(plant)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
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
    assert process.returncode == 0


def check(simulator: list[str], first: int, count: int, plant: int = 0) -> Counter[str]:
    """How often each kind of event was seen."""
    seen: Counter[str] = Counter()
    for title, events in simulate(simulator, first, count, plant):
        check_seed(title, events)
        seen["S"] += 1
        seen.update(event[0] for event in events)
    return seen


def test_no_seed_passes_a_limit(simulator: list[str]) -> None:
    seen = check(simulator, 0, SEEDS)
    assert seen["S"] == SEEDS
    assert all(seen[kind] > SEEDS // 50 for kind in "IYNUFPOXDKiawrfuce"), seen


@pytest.mark.parametrize("plant", FAULTS, ids=list(FAULTS.values()))
def test_a_planted_fault_is_found(simulator: list[str], plant: int) -> None:
    with pytest.raises(AssertionError, match=r"^seed"):
        check(simulator, 0, 1000, plant)


def test_on_the_other_cpu_the_same_happens(simulator: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Under an emulator no tracer sees a program's system calls; so this is what crash tests there are on ARM64: the
    same code, killed at every call and on failing disks, which here are simulated."""
    cpu = "aarch64" if platform.machine() == "x86_64" else "x86_64"
    if shutil.which(f"qemu-{cpu}-static") is None:
        pytest.skip(f"no qemu-{cpu}-static here")
    other = build(tmp_path_factory.mktemp("other"), cpu)
    assert list(simulate(other, 0, 300)) == list(simulate(simulator, 0, 300))
