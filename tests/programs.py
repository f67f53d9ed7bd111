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


def run_binary(binary: Path, target: str, **environment: str) -> Ended:
    """Runs it; `memory_bytes_max` is the largest resident size, the emulator's included where there is one."""
    emulator = emulator_for(target)
    assert emulator is not None
    process = subprocess.Popen(
        [*emulator, str(binary)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], **environment},
    )
    assert process.stdout is not None and process.stderr is not None
    stdout, stderr = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    process.stderr.close()
    return Ended(stdout.decode(), stderr.decode(), process.returncode, usage.ru_maxrss * 1024)


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
