"""Programs that are killed, disks that fail, several processes at once: no limit is passed, no recorded call is lost,
and the file always opens. KAVACH_TEST_LONG=1 runs more of it."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import tracing
from kavachc.driver import Compilation
from kavachc.state.file import StateFile, check_start
from kavachc.state.format import FRAMES_START, Frame, Item, ItemKind, Moment, Name
from kavachc.state.windows import Windows

IS_LONG = os.environ.get("KAVACH_TEST_LONG", "") not in ("", "0")
#: Every call that a state file needs. (A failing `close`, `unlink`, `readlink` is of no account.)
FILE_CALLS = {
    number: name
    for name, number in vars(tracing).items()
    if name in ("OPENAT", "FLOCK", "STATX", "PREAD", "PWRITE", "FTRUNCATE", "FSYNC", "RENAME", "FCHOWN", "FCHMOD")
}
DAY = 86_400 * 10**9
KAVACHC = [sys.executable, "-c", "from kavachc.cli import main; main()"]
BOUND = 5
# Each call's line is on stdout when the program next sleeps.
TASKS = """
type WorkError = Denied(reason: String)
capability Work {
    fn do(number: Int) ! WorkError
}
type Worker: Work {
    fn do(self, number: Int) ! WorkError {
        print("ran {number}")
        Time.sleep(1ms)
    }
}
agent Boss {
    can Work, Console
    limit Work.do { count <= BOUND per day }
    on do(number: Int) {
        Work.do(number) catch e => print("{e}")
    }
}
fn main() ! Error {
    const boss = Boss.start(Work: Worker())
    let tasks: [Task<()>] = []
    for number in 0..8 { tasks.push(spawn work(boss, number)) }
    for task in tasks { try task.wait() }
}
// Two by two.
fn work(boss: Boss, number: Int) {
    Time.sleep(PAUSE * (number / 2))
    boss.do(number)
}
"""
LOOP = """
type WorkError = Denied(reason: String)
capability Work {
    fn do(number: Int) ! WorkError
}
type Worker: Work {
    fn do(self, number: Int) ! WorkError {
        print("ran")
    }
}
agent Boss {
    can Work
    limit Work.do { count <= 1000 per hour }
    on do(number: Int) ! WorkError {
        try Work.do(number)
    }
}
fn main() {
    const boss = Boss.start(Work: Worker())
    for number in 0..1000 {
        boss.do(number) catch _ => print("refused")
    }
}
"""


@pytest.fixture(scope="module")
def tasks_binary(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("tasks"), TASKS.replace("BOUND", str(BOUND)).replace("PAUSE", "1ms"))


def build(folder: Path, source: str) -> str:
    (folder / "program.kav").write_text(source)
    Compilation(str(folder / "program.kav")).build(str(folder / "program"), None, 2)
    return str(folder / "program")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a folder: a sync costs nothing there."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        yield Path(name)


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "KAVACH_STATE_FILE": str(folder / "state")}


def recorded(folder: Path) -> int:
    """How many calls the file has recorded; every one is from this run of the machine."""
    now = Moment(0, 0, time.time_ns())
    windows = Windows()
    file = StateFile(str(folder / "state"), windows)
    try:
        file.open()
        file.read(now)
        return sum(len(window.entries) for window in windows.by_name.values() if window.name.agent == "Boss")
    finally:
        file.discard()


def ran(folder: Path) -> int:
    return sum(line.startswith("ran") for line in (folder / "out").read_text().splitlines())


def run_to_end(command: list[str], folder: Path) -> None:
    with open(folder / "out", "a") as out:
        done = subprocess.run(command, env=environment(folder), stdout=out, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


def check(folder: Path, command: list[str]) -> None:
    """After whatever happened: the file opens, has what ran, and a next run uses up exactly what is left."""
    before = ran(folder)
    if (folder / "state").exists():
        assert before <= recorded(folder) <= BOUND
    else:
        assert before == 0
    run_to_end(command, folder)
    assert ran(folder) <= recorded(folder) == BOUND


@pytest.fixture(scope="module")
def tracer() -> None:
    reason = tracing.why_not()
    if reason is not None:
        pytest.skip(reason)


def _kill_at(at: int, count: int, _: int) -> str | None:
    return "kill" if count == at else None


def test_the_check_sees_records_that_are_lost(tasks_binary: str, folder: Path) -> None:
    run_to_end([tasks_binary], folder)
    (folder / "state").unlink()
    with pytest.raises(AssertionError):
        check(folder, [tasks_binary])


def begin(folder: Path, *, is_found: bool) -> None:
    """An empty folder; or a file from an earlier run of the machine, which is rewritten first of all."""
    for old in folder.iterdir():
        old.unlink()
    if not is_found:
        return
    now = Moment(1, 0, time.time_ns())
    windows = Windows(boot=now.boot)
    file = StateFile(str(folder / "state"), windows)
    file.open()
    file.read(now)
    other = Name("Other", "P.f", "count <= 4 per day", DAY, False)
    file.append(Frame(now, [other], [Item(0, ItemKind.ENTRY, now.utc_ns, 1)]))
    file.discard()


@pytest.mark.parametrize("is_found", [False, True], ids=["no file", "a file to rewrite"])
def test_killed_at_every_system_call(tracer: None, tasks_binary: str, folder: Path, is_found: bool) -> None:
    """Of the program's whole life: the file is found or made, locked, read, rewritten, appended to, synced, renamed."""
    at = 0
    while True:
        begin(folder, is_found=is_found)
        seen: list[int] = []

        def decide(count: int, called: int, at: int = at, seen: list[int] = seen) -> str | None:
            seen.append(called)
            return _kill_at(at, count, called)

        status, _ = tracing.run_traced([tasks_binary], environment(folder), folder / "out", decide)
        assert status in (-signal.SIGKILL, 0)
        check(folder, [tasks_binary])
        if status == 0:
            break
        at += 1
    assert at > 40
    assert set(seen) >= ({*FILE_CALLS} if is_found else {*FILE_CALLS} - {tracing.FCHOWN, tracing.FCHMOD})


@pytest.mark.parametrize("is_found", [False, True], ids=["no file", "a file to rewrite"])
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC], ids=["EIO", "ENOSPC"])
def test_a_disk_that_fails_at_each_call_in_turn(
    tracer: None, tasks_binary: str, folder: Path, code: int, is_found: bool
) -> None:
    at, ended = 0, 0
    while True:
        begin(folder, is_found=is_found)
        seen: list[int] = []

        def decide(_: int, called: int, at: int = at, seen: list[int] = seen) -> int | None:
            if called not in FILE_CALLS:
                return None
            seen.append(called)
            return code if len(seen) == at + 1 else None

        status, _ = tracing.run_traced([tasks_binary], environment(folder), folder / "out", decide)
        assert status in (0, 2), FILE_CALLS[seen[at]]
        ended += status == 0
        check(folder, [tasks_binary])
        if len(seen) <= at:
            break
        at += 1
    assert at > 30
    assert ended > 10, "most failures refuse some calls, and the program goes on"


def test_every_write_and_sync_fails_from_some_moment_on(tracer: None, tasks_binary: str, folder: Path) -> None:
    for at in range(12):
        for old in folder.iterdir():
            old.unlink()
        seen: list[int] = []

        def decide(_: int, called: int, at: int = at, seen: list[int] = seen) -> int | None:
            if called in (tracing.PWRITE, tracing.FSYNC, tracing.FTRUNCATE):
                seen.append(called)
                return errno.EIO if len(seen) > at else None
            return None

        tracing.run_traced([tasks_binary], environment(folder), folder / "out", decide)
        check(folder, [tasks_binary])


def test_one_sync_serves_all_tasks_that_wait_together(tracer: None, folder: Path) -> None:
    """Eight calls of one round need as many writes and syncs as one."""
    made: list[list[str]] = []
    for tasks in (1, 8):
        for old in folder.iterdir():
            old.unlink()
        (folder / "of").mkdir()
        source = TASKS.replace("0..8", f"0..{tasks}").replace("BOUND", "8").replace("PAUSE", "0ms")
        binary = build(folder / "of", source)
        seen: list[int] = []

        def decide(_: int, called: int, seen: list[int] = seen) -> None:
            seen.append(called)

        status, _ = tracing.run_traced([binary], environment(folder), folder / "out", decide)
        assert (status, ran(folder), recorded(folder)) == (0, tasks, tasks)
        made.append([FILE_CALLS[each] for each in seen if each in (tracing.PWRITE, tracing.FSYNC)])
        shutil.rmtree(folder / "of")
    assert made[0] == made[1]


def wait_for_a_record(process: subprocess.Popen[bytes], state: Path) -> None:
    """Most of an engine's time goes by before it uses the file."""
    before = state.stat().st_mtime_ns if state.exists() else 0
    while process.poll() is None and (not state.exists() or state.stat().st_mtime_ns == before):
        time.sleep(0.002)


@pytest.mark.parametrize("engine", ["binary", "run", "interp"])
def test_killed_at_random_moments(
    tasks_binary: str, engine: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each time it is started again; after three times the next run comes to its end."""
    command = [tasks_binary]
    if engine != "binary":
        program = tmp_path_factory.mktemp("slow") / "slow.kav"
        program.write_text(TASKS.replace("BOUND", str(BOUND)).replace("PAUSE", "50ms"))
        command = [*KAVACHC, engine, str(program)]
    kills = (1500 if engine == "binary" else 500) if IS_LONG else (120 if engine == "binary" else 6)
    choose = random.Random(5)
    landed = 0
    for _ in range(kills // 3):
        for old in tmp_path.iterdir():
            old.unlink()
        for _ in range(3):
            with open(tmp_path / "out", "a") as out:
                process = subprocess.Popen(command, env=environment(tmp_path), stdout=out)
            if engine == "binary":
                time.sleep(choose.uniform(0, 0.02))
            else:
                wait_for_a_record(process, tmp_path / "state")
                time.sleep(choose.uniform(0, 0.2))
            process.kill()
            landed += process.wait() != 0 and (tmp_path / "state").exists()
        check(tmp_path, command)
    print(f"{engine}: killed {kills} times, {landed} of them with a state file and before the end")


@pytest.mark.parametrize("engine", ["native", "mixed"])
def test_four_processes_keep_one_budget(engine: str, folder: Path) -> None:
    binary = build(folder, LOOP)
    commands = [[binary]] * 4
    if engine == "mixed":
        interpreter = [*KAVACHC, "interp", str(folder / "program.kav")]
        commands = [[binary], [binary], interpreter, [*interpreter, "--host", "native"]]
    processes = [
        subprocess.Popen(command, env=environment(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for command in commands
    ]
    texts = [process.communicate(timeout=100) for process in processes]
    assert [err for _, err in texts] == [""] * 4
    assert sum(out.count("ran") for out, _ in texts) == 1000
    assert sum(out.count("refused") for out, _ in texts) == 3000
    content = (folder / "state").read_bytes()
    assert check_start(content)[1].end == len(content) > FRAMES_START


def test_a_process_that_is_stopped_for_good_does_not_hold_the_lock(tasks_binary: str, folder: Path) -> None:
    run_to_end([tasks_binary], folder)
    holder = subprocess.Popen(
        [
            "python3",
            "-c",
            f"import fcntl,time;f=open({str(folder / 'state')!r});fcntl.flock(f,2);print(1,flush=True);time.sleep(99)",
        ],
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    waiting = subprocess.Popen([tasks_binary], env=environment(folder), stdout=subprocess.DEVNULL)
    time.sleep(0.2)
    assert waiting.poll() is None
    holder.kill()
    assert waiting.wait(20) == 0
    holder.wait()
    holder.stdout.close()
