"""What befalls a state file while a program uses it, on every engine: real disks that are full, other hands, other
programs."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kavachc.driver import Compilation
from kavachc.ledger.reading import read_contents
from test_state_file import BOARD
from test_state_places import KAVACHC

#: Each step posts so often that more than a page is written.
POSTS = 60
STEPS = f"""
fn main() {{
    const poster = Poster.start(Board: Wall())
    for step in 0..100 {{
        while !Files.exists("go{{step}}") {{ Time.sleep(2ms) }}
        if Files.exists("end") {{ return }}
        for _ in 0..{POSTS} {{ poster.post("") catch e => print("{{e}}") }}
        print("done")
    }}
}}
"""
ENGINES = ["interp", "interp, native host", "run", "binary"]
REMOVED = "was removed or replaced while the program ran"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two programs, which differ in their rule."""
    folder = tmp_path_factory.mktemp("steps")
    for name, rule in {"steps": "count <= 100_000 per day", "other": "count <= 100 per hour"}.items():
        source = BOARD[: BOARD.index("fn main()")].replace("RULE", rule) + STEPS
        (folder / f"{name}.kav").write_text(source)
        Compilation(str(folder / f"{name}.kav")).build(str(folder / name), None, 2)
    return folder


def command(programs: Path, engine: str, name: str = "steps") -> list[str]:
    program = str(programs / f"{name}.kav")
    return {
        "interp": [*KAVACHC, "interp", program],
        "interp, native host": [*KAVACHC, "interp", program, "--host", "native"],
        "run": [*KAVACHC, "run", program],
        "binary": [str(programs / name)],
    }[engine]


class Steps:
    """A program that goes on when it is told to. Its folder is where it finds that out."""

    def __init__(
        self, command: list[str], folder: Path, state: Path, prepare: Callable[[], None] | None = None
    ) -> None:
        folder.mkdir()
        self.folder = folder
        self.taken = 0
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "KAVACH_STATE_FILE": str(state)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=prepare,
        )

    def step(self) -> tuple[int, set[str]]:
        """How many calls ran, and why others did not."""
        (self.folder / f"go{self.taken}").touch()
        self.taken += 1
        lines: list[str] = []
        assert self.process.stdout is not None
        while (line := self.process.stdout.readline()) != "done\n":
            assert line, self.end()
            lines.append(line)
        assert len(lines) == POSTS
        refused = {line.removeprefix('Denied(reason: "').removesuffix('")\n') for line in lines if "Denied" in line}
        return sum(line == "posted \n" for line in lines), refused

    def end(self) -> tuple[int, str]:
        (self.folder / "end").touch()
        (self.folder / f"go{self.taken}").touch()
        _, err = self.process.communicate(timeout=100)
        return self.process.returncode, err


def recorded(state: Path) -> int:
    return sum(len(row.entries) for row in read_contents(str(state)).rows)


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if done.returncode != 0:
        pytest.skip(f"no disk of its own: {done.stderr}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_disk_that_is_full_and_has_room_again(programs: Path, engine: str, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk):
        state = disk / "state"
        program = Steps(command(programs, engine), tmp_path / "steps", state)
        assert program.step() == (POSTS, set())
        with open(disk / "filler", "wb", buffering=0) as filler, pytest.raises(OSError):
            while filler.write(bytes(4096)):
                pass
        ran, refused = program.step()
        assert ran < POSTS
        reason = "no space left on device; make room on its disk, then call again"
        assert refused == {f"state file {state} cannot be written: {reason}"}
        assert program.step()[0] == 0
        assert recorded(state) == POSTS + ran
        (disk / "filler").unlink()
        assert program.step() == (POSTS, set())
        assert program.end() == (0, "")
        assert recorded(state) == 2 * POSTS + ran


@pytest.mark.parametrize("engine", ENGINES)
def test_a_disk_that_is_read_only(programs: Path, engine: str, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk):
        state = disk / "state"
        program = Steps(command(programs, "binary"), tmp_path / "first", state)
        program.step()
        program.end()
        content = state.read_bytes()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for path, what in ((state, "opened for reading and writing"), (disk / "new", "created")):
            process = Steps(command(programs, engine), tmp_path / f"on {path.name}", path).process
            out, err = process.communicate(timeout=100)
            assert (process.returncode, out) == (2, "")
            assert err.startswith(f"error: state file {path} cannot be {what}: read-only file system\n  help: ")
        assert state.read_bytes() == content
        assert recorded(state) == POSTS


def remove(state: Path) -> None:
    state.unlink()


def rename(state: Path) -> None:
    state.rename(state.with_name("elsewhere"))


def replace_by_a_copy(state: Path) -> None:
    """With the same content, which is not the same file."""
    shutil.copy(state, state.with_name("copy"))
    state.with_name("copy").rename(state)


def replace_by_another(state: Path) -> None:
    state.write_bytes(state.read_bytes())
    state.unlink()
    state.write_text("something else")


def replace_by_a_folder(state: Path) -> None:
    state.unlink()
    state.mkdir()


def replace_by_a_link(state: Path) -> None:
    state.rename(state.with_name("elsewhere"))
    state.symlink_to("nowhere")


def empty(state: Path) -> None:
    os.truncate(state, 0)


def halve(state: Path) -> None:
    os.truncate(state, state.stat().st_size // 2)


def cut_one_byte(state: Path) -> None:
    os.truncate(state, state.stat().st_size - 1)


def overwrite(state: Path) -> None:
    state.write_bytes(b"\xff" * state.stat().st_size)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("mishap", "what"),
    [
        (remove, REMOVED),
        (rename, REMOVED),
        (replace_by_a_copy, REMOVED),
        (replace_by_another, "is not a state file of Kavach"),
        (replace_by_a_folder, "is not a regular file"),
        (replace_by_a_link, REMOVED),
        (empty, "is empty, which a state file never is"),
        (halve, "has lost records: it once had "),
        (cut_one_byte, "has lost records: it once had "),
        (overwrite, "is not a state file of Kavach"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_what_others_do_to_the_file(
    programs: Path, engine: str, mishap: Callable[[Path], None], what: str, tmp_path: Path
) -> None:
    """Calls are refused, for that reason, as long as the program runs; nothing is made or written."""
    (tmp_path / "disk").mkdir()
    state = tmp_path / "disk" / "state"
    program = Steps(command(programs, engine), tmp_path / "steps", state)
    assert program.step() == (POSTS, set())
    mishap(state)
    before = {path: path.read_bytes() for path in (tmp_path / "disk").iterdir() if path.is_file()}
    for _ in range(2):
        ran, refused = program.step()
        assert ran == 0
        assert len(refused) == 1
        assert f"state file {state} {what}" in refused.pop()
    assert program.end() == (0, "")
    assert {path: path.read_bytes() for path in (tmp_path / "disk").iterdir() if path.is_file()} == before


@pytest.mark.parametrize("engine", ENGINES)
def test_a_second_name_and_a_mode_of_000_change_nothing_for_who_has_it_open(
    programs: Path, engine: str, tmp_path: Path
) -> None:
    """But not even its owner opens it anew."""
    state = tmp_path / "state"
    program = Steps(command(programs, engine), tmp_path / "steps", state, without_privileges)
    assert program.step() == (POSTS, set())
    os.link(state, tmp_path / "second")
    state.chmod(0)
    assert program.step() == (POSTS, set())
    process = Steps(command(programs, engine), tmp_path / "new", state, without_privileges).process
    _, err = process.communicate(timeout=100)
    what = "cannot be opened for reading and writing: permission denied"
    assert (process.returncode, err.splitlines()[0]) == (2, f"error: state file {state} {what}")
    assert program.end() == (0, "")
    assert recorded(state) == 2 * POSTS


def without_privileges() -> None:
    """Also root needs the right to read and write then."""
    drop_from_bounding_set = 24
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_programs_that_the_host_starts_do_not_inherit_the_file(programs: Path, engine: str, tmp_path: Path) -> None:
    """With it they would inherit the lock, and hold it when the program is no more."""
    state = tmp_path / "state"
    program = Steps(command(programs, engine), tmp_path / "steps", state)
    program.step()
    numbers = os.listdir(f"/proc/{program.process.pid}/fd")
    links = {number: os.readlink(f"/proc/{program.process.pid}/fd/{number}") for number in numbers}
    opened = [number for number, path in links.items() if path.startswith(str(state))]
    assert len(opened) == 1
    for number in opened:
        info = Path(f"/proc/{program.process.pid}/fdinfo/{number}").read_text()
        flags = int(info.split("flags:")[1].split()[0], 8)
        assert flags & os.O_CLOEXEC
    assert program.end() == (0, "")


@pytest.mark.parametrize(("first", "second"), list(zip(ENGINES, [*ENGINES[1:], ENGINES[0]], strict=True)))
def test_two_programs_with_other_rules_on_one_file(programs: Path, first: str, second: str, tmp_path: Path) -> None:
    """Each keeps its own windows and the other's, also when it rewrites the file."""
    state = tmp_path / "state"
    one = Steps(command(programs, first), tmp_path / "one", state)
    assert one.step() == (POSTS, set())
    other = Steps(command(programs, second, "other"), tmp_path / "two", state)
    assert other.step() == (POSTS, set())
    assert one.step() == (POSTS, set())
    assert other.step() == (100 - POSTS, {"limit broken: count <= 100 per hour"})
    note = (
        f"note: state file {state} knows a rule of Poster on Board.post that this program does not have: "
        f"`count <= 100_000 per day`; a rule with another text starts its own window, and the {POSTS} records of this "
        "one are kept until they expire\n"
    )
    assert other.end() == (0, note)
    for _ in range(20):
        one.step()
    assert one.end() == (0, "")
    contents = read_contents(str(state))
    assert {row.rule: len(row.entries) for row in contents.rows} == {
        "count <= 100_000 per day": 22 * POSTS,
        "count <= 100 per hour": 100,
    }
