"""Building and running whole programs, as the tests of binaries and of the command line do it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from kavachc.driver import Compilation
from kavachc.engines import emulator_for

TARGETS = ("x86_64-linux", "aarch64-linux")


@dataclass(frozen=True, slots=True)
class Ended:
    stdout: str
    stderr: str
    status: int
    memory_bytes_max: int


def build(folder: Path, source: str, target: str, level: int = 2) -> Path:
    file = folder / "program.kav"
    file.write_text(source, encoding="utf-8")
    binary = folder / f"program-{target}-O{level}"
    Compilation(str(file)).build(str(binary), target, level)
    return binary


# Starts the binary from a small process: the size that the kernel reports for a child includes that of the process it
# was forked from, which is large in a test run.
_LAUNCHER = """
import os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    file.write(f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss * 1024}")
"""


def run_binary(binary: Path, target: str, **environment: str) -> Ended:
    """Runs it; `memory_bytes_max` is the largest resident size, some 10 MB or more in any case."""
    emulator = emulator_for(target)
    assert emulator is not None
    measured = binary.with_suffix(".measured")
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", _LAUNCHER, str(measured), *emulator, str(binary)],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], **environment},
        timeout=300,
        check=True,
    )
    status, memory_bytes_max = measured.read_text().split()
    return Ended(done.stdout, done.stderr, int(status), int(memory_bytes_max))


def kavachc(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line, as a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from kavachc.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=300,
        check=False,
    )
