"""Where a state file is to be: places that cannot be used, limits of the system, a lock that another process holds."""

from __future__ import annotations

import fcntl
import os
import resource
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from kavachc.driver import Compilation
from kavachc.engines import ENGINES, run_engine
from kavachc.options import RunOptions
from programs import kavachc
from test_state_file import board

KAVACHC = [sys.executable, "-c", "from kavachc.cli import main; main()"]
Command = list[str]


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Command]:
    """Each engine as a process of its own, running a program that posts three times."""
    folder = tmp_path_factory.mktemp("board")
    compilation = board(folder, calls=3, rule="count <= 100 per day")
    compilation.build(str(folder / "board"), None, 2)
    program = str(folder / "board.kav")
    return {
        "interp": [*KAVACHC, "interp", program],
        "interp, native host": [*KAVACHC, "interp", program, "--host", "native"],
        "run": [*KAVACHC, "run", program],
        "binary": [str(folder / "board")],
    }


def start(command: Command, state: Path, file_bytes_max: int | None = None) -> subprocess.Popen[str]:
    bytes_max = resource.RLIM_INFINITY if file_bytes_max is None else file_bytes_max
    return subprocess.Popen(
        command,
        env={**os.environ, "KAVACH_STATE_FILE": str(state)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (bytes_max, bytes_max)),
    )


def end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=100)
    return process.returncode, out, err


def test_what_cannot_be_a_state_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    compilation = board(tmp_path)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.new").mkdir()
    os.mkfifo(tmp_path / "b.new")
    (tmp_path / "c.new").symlink_to("elsewhere")
    (tmp_path / "around").symlink_to("around")
    (tmp_path / "dangling").symlink_to("none/state")
    taken = "cannot be created: its name with `.new` at the end is taken"
    cases = {
        "folder": "is not a regular file",
        "pipe": "is not a regular file",
        "/dev/null": "is not a regular file",
        "/dev/full": "is not a regular file",
        "/proc/version": "is not a state file of Kavach",
        "none/state": "cannot be created: no such file or directory",
        "dangling": "cannot be created: no such file or directory",
        "around": "cannot be opened for reading and writing: too many levels of symbolic links",
        "x" * 300: "cannot be opened for reading and writing: file name too long",
        "board.kav/state": "cannot be opened for reading and writing: not a directory",
        "a": taken,
        "b": taken,
        "c": taken,
    }
    for name, what in cases.items():
        path = str(tmp_path / name)
        for engine in ENGINES[:2]:
            result = run_engine(engine, compilation, RunOptions(state_file=path))
            first, second = result.stderr.splitlines()
            assert (first, result.status, result.stdout) == (f"error: state file {path} {what}", 2, "")
            assert second.startswith("  help: ")


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/state")
    compilation = board(tmp_path, calls=3)
    for engine in ENGINES[:2]:
        out = run_engine(engine, compilation, RunOptions(state_file=str(tmp_path / "link"))).stdout
        assert out.count("posted") == (3 if engine is ENGINES[0] else 1)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "state").is_file()


def test_a_limit_on_the_size_of_files_refuses_and_kills_nothing(commands: dict[str, Command], tmp_path: Path) -> None:
    """First there is no room for the file, then for its head only; without the limit, everything passes."""
    binary = commands["binary"]
    state = tmp_path / "state"
    status, out, err = end(start(binary, state, 1000))
    assert (status, out) == (2, "")
    assert err.startswith(f"error: state file {state} cannot be created: file too large\n  help: ")
    assert list(tmp_path.iterdir()) == []
    reason = "file too large; allow larger files (`ulimit -f`), then call again"
    for command in commands.values():
        status, out, err = end(start(command, state, 1700))
        assert (status, out) == (0, 3 * f'Denied(reason: "state file {state} cannot be written: {reason}")\n')
    assert end(start(binary, state)) == (0, "posted 0\nposted 1\nposted 2\n", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user, which only root can")
def test_a_file_and_a_folder_without_rights(commands: dict[str, Command], tmp_path: Path) -> None:
    """For a user that may not, also as the only thing that is wrong; a file in a read-only folder works."""
    binary = tmp_path / "program"
    binary.write_bytes(Path(commands["binary"][0]).read_bytes())
    binary.chmod(0o755)
    for each in (tmp_path, *tmp_path.parents):
        if not each.stat().st_mode & 0o001:
            each.chmod(0o755) if each.is_relative_to("/tmp") else pytest.skip(f"{each} is closed to others")
    other = partial(os.setresuid, 65534, 65534, 65534)

    def run_as_other(state: Path) -> tuple[int, str, str]:
        done = subprocess.run(
            [str(binary)], env={"KAVACH_STATE_FILE": str(state)}, capture_output=True, text=True, preexec_fn=other
        )
        return done.returncode, done.stdout, done.stderr

    state = tmp_path / "state"
    status, _, err = run_as_other(state)
    assert (status, "cannot be created: permission denied" in err) == (2, True)
    assert end(start(commands["binary"], state))[0] == 0
    for mode in (0o600, 0o444):
        state.chmod(mode)
        status, _, err = run_as_other(state)
        assert (status, "cannot be opened for reading and writing: permission denied" in err) == (2, True)
    state.chmod(0o666)
    assert run_as_other(state) == (0, "posted 0\nposted 1\nposted 2\n", "")


def test_who_waits_long_for_the_lock_says_so(commands: dict[str, Command], tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert end(start(commands["binary"], state))[0] == 0
    note = f"note: state file {state} is locked by another process; this one waits for it\n"
    with open(state) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = [start(command, state) for command in commands.values()]
        for process in waiting:
            assert process.stderr is not None
            assert process.stderr.readline() == note
        assert [process.poll() for process in waiting] == [None] * len(waiting)
    assert [end(process) for process in waiting] == [(0, "posted 0\nposted 1\nposted 2\n", "")] * len(waiting)


def test_windows_run_on_a_clock_that_counts_suspended_time(commands: dict[str, Command], tmp_path: Path) -> None:
    """It alone is 30 years ahead here, and what the windows hold is of then."""
    seconds = 10**9
    ahead = ["unshare", "--time", "--boottime", str(seconds)]
    if shutil.which("unshare") is None or subprocess.run([*ahead, "true"], capture_output=True).returncode != 0:
        pytest.skip("no clocks of its own here")
    for name, command in commands.items():
        report = tmp_path / "report"
        options = [] if name == "binary" else ["--report", str(report)]
        environment = {**os.environ, "KAVACH_REPORT": str(report), "KAVACH_STATE_FILE": str(tmp_path / "state")}
        subprocess.run([*ahead, *command, *options], env=environment, check=True, capture_output=True)
        times = report.read_text().split("times [")[1].split("]")[0].split(", ")
        assert all(int(time_ns) > (seconds - 86_400) * 10**9 for time_ns in times), name
        assert len(times) >= 3


def test_a_short_wait_for_the_lock_is_silent(commands: dict[str, Command], tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert end(start(commands["binary"], state))[0] == 0
    with open(state) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = start(commands["binary"], state)
        time.sleep(0.1)
        assert waiting.poll() is None
    assert end(waiting) == (0, "posted 0\nposted 1\nposted 2\n", "")


ASKING = """
agent Clerk {
    can Ai
    limit Ai { tokens <= 1_000 per day }
    on answer() -> Bool ! Error { try ask<Bool>("a") }
}

fn main() ! Error uses Ai, Console { print(try Clerk.start().answer()) }
"""


def test_what_an_ask_took_and_cannot_be_written_is_told(tmp_path: Path) -> None:
    """The last frame of the file is the one that settles the ask, and there is no room for its last byte."""
    (tmp_path / "clerk.kav").write_text(ASKING)
    (tmp_path / "model.json").write_text('{"replies": [{"answer": true}]}')
    Compilation(str(tmp_path / "clerk.kav")).build(str(tmp_path / "clerk"), None, 2)
    state = tmp_path / "state"
    program, model = str(tmp_path / "clerk.kav"), f"--test-model={tmp_path / 'model.json'}"
    for command in (
        [*KAVACHC, "interp", program, model],
        [*KAVACHC, "interp", program, model, "--host", "native"],
        [*KAVACHC, "run", program, model],
        ["env", f"KAVACH_TEST_MODEL={tmp_path / 'model.json'}", str(tmp_path / "clerk")],
    ):
        state.unlink(missing_ok=True)
        assert end(start(command, state)) == (0, "true\n", "")
        whole = state.stat().st_size
        state.unlink()
        status, out, err = end(start(command, state, whole - 1))
        assert (status, out) == (1, "true\n"), command
        first, note = err.splitlines()[0], err.splitlines()[-1]
        assert first == f"error: state file {state} cannot be written: file too large", command
        assert note == "  note: what the last asks took is not in it: they stay counted with what they reserved"
        # It stays reserved.
        assert '"not_settled": 1' in kavachc("ledger", str(state), "--json").stdout, command
