"""Standard streams that are closed, full, or without a reader: a message where there is somewhere to say it, and the
status that tells the truth."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from kavachc.backend.runtime_build import runtime_library
from kavachc.backend.targets import host_target
from kavachc.driver import Compilation

NO_STDOUT = "error: cannot write to stdout\n"
# More than any buffer holds.
LONG = "fn main() {\n    for i in 0..20000 { print(i) }\n}\n"
LONG_OUT = "".join(f"{number}\n" for number in range(20000))


@dataclass(frozen=True)
class Command:
    """`status` with whole streams; `writes`: something on stdout."""

    arguments: tuple[str, ...]
    status: int = 0
    writes: bool = True


COMMANDS = {
    "check": Command(("check", "long.kav"), writes=False),
    "check refuses": Command(("check", "wrong.kav"), 1, writes=False),
    "run": Command(("run", "long.kav")),
    "interp": Command(("interp", "long.kav")),
    "interp native": Command(("interp", "long.kav", "--host", "native")),
    "build": Command(("build", "long.kav", "-o", "out"), writes=False),
    "conform": Command(("conform", "short.kav")),
    "emit": Command(("emit", "long.kav", "--stage", "llvm")),
    "help": Command(("run", "--help")),
    "usage": Command(("frob",), 2, writes=False),
    "binary": Command(()),
}
# What the shell does with the streams: `GONE` is a pipe that nobody reads.
STDOUT = {"closed": ">&-", "full": ">/dev/full", "gone": ">&$GONE"}
STDERR = {"closed": "2>&-", "full": "2>/dev/full", "gone": "2>&$GONE"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("streams")
    (made / "long.kav").write_text(LONG)
    (made / "short.kav").write_text('fn main() { print("one") }\n')
    (made / "wrong.kav").write_text("fn main() {\n" + "    print(a)\n" * 2000 + "}\n")
    Compilation(str(made / "long.kav")).build(str(made / "long"), host_target(), 2)
    runtime_library()
    return made


def combinations(kinds: dict[str, str], first: str, others: tuple[str, ...]) -> list[tuple[str, str]]:
    """Every command with the kind `first`; with the other kinds, a few that differ in how they write."""
    return [(name, kind) for kind in kinds for name in COMMANDS if kind == first or name in others]


def run(command: Command, redirections: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    reader, gone = os.pipe()
    os.close(reader)
    python = [sys.executable, "-c", "from kavachc.cli import main; main()", *command.arguments]
    try:
        return subprocess.run(
            ["bash", "-c", f'exec "$@" {redirections}', "bash", *(python if command.arguments else ["./long"])],
            cwd=folder,
            env={**os.environ, "GONE": str(gone), **environment},
            pass_fds=(gone,),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        os.close(gone)


@pytest.mark.parametrize(("name", "stdout"), combinations(STDOUT, "closed", ("run", "interp", "emit", "binary")))
def test_a_stdout_that_takes_nothing(name: str, stdout: str, folder: Path) -> None:
    command = COMMANDS[name]
    ended = run(command, STDOUT[stdout], folder)
    assert "Traceback" not in ended.stderr
    if command.writes:
        assert (ended.stderr, ended.returncode) == (NO_STDOUT, 1)
    else:
        assert NO_STDOUT not in ended.stderr
        assert ended.returncode == command.status


@pytest.mark.parametrize(("name", "stderr"), combinations(STDERR, "closed", ("check refuses", "usage", "binary")))
def test_a_stderr_that_takes_nothing(name: str, stderr: str, folder: Path) -> None:
    command = COMMANDS[name]
    ended = run(command, STDERR[stderr], folder)
    assert ended.returncode == command.status
    assert bool(ended.stdout) == command.writes
    if command.arguments[:1] in ((), ("run",), ("interp",)) and command.writes and name != "help":
        assert ended.stdout == LONG_OUT


def test_no_streams_at_all(folder: Path) -> None:
    for name in ("check", "check refuses", "run", "build", "conform", "binary"):
        command = COMMANDS[name]
        ended = run(command, "<&- >&- 2>&-", folder)
        assert ended.returncode == (1 if command.writes else command.status), name


def test_no_stdin(folder: Path) -> None:
    for name in ("run", "conform", "binary"):
        assert run(COMMANDS[name], "<&-", folder).returncode == 0, name


def test_a_reader_that_has_seen_enough(folder: Path) -> None:
    for name in ("run", "interp", "binary"):
        ended = run(COMMANDS[name], "> >(head -1)", folder)
        assert (ended.stderr, ended.returncode, ended.stdout.count("\n")) == (NO_STDOUT, 1, 1), name


def test_output_never_lands_in_another_file(folder: Path) -> None:
    """The next file that is opened must not be given the number of stdout."""
    report = folder / "report"
    for name in ("run", "interp", "binary"):
        command = COMMANDS[name]
        if command.arguments:
            command = Command((*command.arguments, "--report", str(report)))
        ended = run(command, ">&-", folder, KAVACH_REPORT=str(report))
        assert (ended.stderr, ended.returncode) == (NO_STDOUT, 1), name
        assert not report.exists() or report.read_text() == "live_blocks 0\n", name


def test_a_panic_keeps_its_status(folder: Path) -> None:
    (folder / "panic.kav").write_text('fn main() {\n    print("one")\n    const zero = 0\n    print(1 / zero)\n}\n')
    for arguments in (("run", "panic.kav"), ("interp", "panic.kav"), ("interp", "panic.kav", "--host", "native")):
        ended = run(Command(arguments), ">/dev/full", folder)
        assert (ended.stderr, ended.returncode) == ("panic: division by zero at panic.kav:4:13\n", 101), arguments
        assert run(Command(arguments), ">&- 2>&-", folder).returncode == 101, arguments
