"""The state file: its bytes in both writers, and what becomes of a file that is not as it was written."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import ROOT
from kavachc.driver import Compilation
from kavachc.engines import ENGINES, run_engine, skip_reason
from kavachc.options import RunOptions
from kavachc.state.file import StateFile, check_start, frames
from kavachc.state.format import FRAMES_START, Frame, Item, ItemKind, Mark, Moment, Name
from kavachc.state.problem import _HELP, _HELP_BY_CODE, _WHAT, REASONS, StateProblem
from kavachc.state.windows import Windows

DAY = 86_400 * 10**9
NAME = Name("Poster", "Board.post", "count <= 4 per day", DAY, False)
BOARD = """
type PostError = Denied(reason: String)
capability Board {
    fn post(text: String) ! PostError
}
type Wall: Board {
    fn post(self, text: String) ! PostError {
        print("posted {text}")
    }
}
agent Poster {
    can Board
    limit Board.post { RULE }
    on post(text: String) ! PostError {
        try Board.post(text)
    }
}
fn main() {
    const poster = Poster.start(Board: Wall())
    for number in 0..CALLS {
        poster.post("{number}") catch e => print("{e}")
    }
}
"""


def board(folder: Path, *, calls: int = 1, rule: str = "count <= 4 per day") -> Compilation:
    path = folder / "board.kav"
    path.write_text(BOARD.replace("CALLS", str(calls)).replace("RULE", rule))
    return Compilation(str(path))


def moment(boot_ns: int, *, boot: int = 7, utc_ns: int | None = None) -> Moment:
    return Moment(boot, boot_ns, 1_000 * DAY + boot_ns if utc_ns is None else utc_ns)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a folder: a sync costs nothing there."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        yield Path(name)


@contextmanager
def opened(path: Path, now: Moment) -> Iterator[tuple[StateFile, Windows]]:
    """A file that is open and locked, read at that moment."""
    windows = Windows(boot=now.boot, process=1)
    file = StateFile(str(path), windows)
    try:
        file.open()
        file.read(now)
        yield file, windows
    finally:
        file.discard()


def written(path: Path, count: int, *, close: bool = False) -> list[int]:
    """A file with so many frames of one entry each, made a second apart; where each ends."""
    now = moment(0)
    ends: list[int] = []
    with opened(path, now) as (file, windows):
        for number in range(count):
            frame = Frame(now)
            if not windows.numbered:
                frame.names.append(NAME)
                windows.number(windows.get(NAME))
            frame.items.append(Item(0, ItemKind.ENTRY, now.utc_ns + number * 10**9, 1))
            file.append(frame)
            ends.append(file.end)
        if close:
            file.close()
    return ends


def counted(path: Path) -> int:
    """The entries that a file has; raises StateProblem."""
    with opened(path, moment(60 * 10**9)) as (_, windows):
        return len(windows.get(NAME).entries)


# ---- A file that is not as it was written


@pytest.mark.parametrize("close", [False, True], ids=["killed", "ended"])
def test_a_file_cut_anywhere_is_as_it_was_or_refused(folder: Path, close: bool) -> None:
    path = folder / "state"
    ends = written(path, 3, close=close)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        try:
            count = counted(path)
        except StateProblem as problem:
            assert path.read_bytes() == whole[:length], "it is not touched"
            assert problem.kind in ("empty", "other_kind", "damaged", "lost_records")
            continue
        # Only the last record was not known to be durable.
        assert not close
        assert count == 2
        assert length >= ends[1]


@pytest.mark.parametrize("close", [False, True], ids=["killed", "ended"])
def test_a_file_with_a_byte_changed_is_as_it_was_or_refused(folder: Path, close: bool) -> None:
    path = folder / "state"
    written(path, 3, close=close)
    whole = path.read_bytes()
    refused = 0
    for at in range(len(whole)):
        for flip in (0x01, 0xFF):
            changed = bytearray(whole)
            changed[at] ^= flip
            path.write_bytes(changed)
            try:
                assert counted(path) == 3, f"byte {at}"
            except StateProblem:
                refused += 1
                assert path.read_bytes() == changed
    # All but the padding of the head, and one mark of two.
    assert refused > 2 * (len(whole) - FRAMES_START) + 100


@pytest.mark.parametrize("close", [False, True], ids=["killed", "ended"])
def test_a_tail_of_zeros_is_cut_or_refused(folder: Path, close: bool) -> None:
    path = folder / "state"
    ends = written(path, 3, close=close)
    whole = path.read_bytes()
    for at in range(FRAMES_START, len(whole)):
        path.write_bytes(whole[:at] + bytes(len(whole) - at))
        try:
            count = counted(path)
        except StateProblem:
            continue
        # The end of a record can be zeros of its own.
        assert count == 3 or (count == 2 and not any(whole[at : ends[1]]) and not close)


def test_the_native_runtime_reads_the_same_and_refuses_the_same(tmp_path: Path) -> None:
    """Every engine on a sample of damaged files: the same words, and the file as it was."""
    path = tmp_path / "state"
    compilation = board(tmp_path)
    native = tmp_path / "board"
    compilation.build(str(native), None, 2)
    options = RunOptions(state_file=str(path))
    for _ in range(2):
        run_engine(ENGINES[0], compilation, options)
    whole = path.read_bytes()
    cases = [whole[:length] for length in (0, 5, 100, 1000, FRAMES_START, len(whole) - 1)]
    cases += [_flipped(whole, at) for at in (0, 8, 12, 40, 512, 1030, FRAMES_START, FRAMES_START + 50, len(whole) - 1)]
    cases += [whole[:-200] + bytes(200), b"not a state file\n", whole[:8] + b"\2" + whole[9:], whole + b"\1\2\3"]
    seen: dict[str, int] = {}
    for number, content in enumerate(cases):
        results = []
        for engine in (ENGINES[0], ENGINES[1]):
            path.write_bytes(content)
            result = run_engine(engine, compilation, options)
            results.append((result.stdout, result.stderr, result.status))
            if result.status == 2:
                assert path.read_bytes() == content
        path.write_bytes(content)
        done = subprocess.run([native], env={"KAVACH_STATE_FILE": str(path)}, capture_output=True, text=True)
        results.append((done.stdout, done.stderr, done.returncode))
        assert results[0] == results[1] == results[2], f"case {number}"
        word = re.sub(r".*/state |\d+|\n.*", "", results[0][1], flags=re.DOTALL)
        seen[word] = seen.get(word, 0) + 1
    assert {word.split(" at")[0] for word in seen} >= {
        "is not a state file of Kavach",
        "is empty, which a state file never is",
        "is damaged",
        "has format , and this program knows format  only",
        "has lost records: it once had  bytes of them, and now ",
        "ended in a record that was not written to its end: its last  bytes were cut",
    }


def _flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 0x40]) + content[at + 1 :]


def test_the_words_are_those_of_the_native_runtime() -> None:
    source = (ROOT / "runtime" / "src" / "state_problem.zig").read_text()
    for kind in _WHAT:
        assert f"        .{kind}" in source
        for piece in re.split(r"\{\w+\}", _WHAT[kind]):
            assert f'"{piece}"' in source or not piece, piece
        assert f'"{_HELP[kind]}"' in source
    assert all(f'"{text}"' in source for text in _HELP_BY_CODE.values())
    for code, reason in REASONS.items():
        assert f'.{errno.errorcode[code][1:]} => "{reason}"' in source


# ---- Several programs


def test_all_engines_share_one_file(tmp_path: Path) -> None:
    engines = [engine for engine in ENGINES if skip_reason(engine) is None]
    compilation = board(tmp_path, rule=f"count <= {len(engines) - 2} per day")
    options = RunOptions(state_file=str(tmp_path / "state"))
    posted = [run_engine(engine, compilation, options).stdout.startswith("posted") for engine in engines]
    assert posted == [True] * (len(engines) - 2) + [False] * 2


def test_a_changed_rule_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "state")
    options = RunOptions(state_file=path)
    run_engine(ENGINES[0], board(tmp_path, calls=2), options)
    changed = board(tmp_path, rule="count <= 2 per day")
    results = [run_engine(engine, changed, options) for engine in ENGINES[:2]]
    note = (
        f"note: state file {path} knows a rule of Poster on Board.post that this program does not have: "
        "`count <= 4 per day`; a rule with another text starts its own window, and the 2 records of this one are kept "
        "until they expire\n"
    )
    assert [result.stderr for result in results] == [note, note]
    assert [result.stdout for result in results] == ["posted 0\n", "posted 0\n"]
    # Back to the old text: its window is as it was.
    again = run_engine(ENGINES[1], board(tmp_path, calls=3), options)
    assert again.stdout.count("posted") == 2


# ---- Time


def entries_at(path: Path, now: Moment) -> list[int]:
    """How old the entries are at that moment."""
    with opened(path, now) as (file, windows):
        if windows.saw_other_boot:
            file.rewrite(now, set())
        return [now.boot_ns - at for at, _ in windows.get(NAME).entries]


def make_entry(path: Path, now: Moment) -> None:
    with opened(path, now) as (file, windows):
        frame = Frame(now)
        window = windows.get(NAME)
        if window.number is None:
            frame.names.append(NAME)
            windows.number(window)
        frame.items.append(Item(window.number or 0, ItemKind.ENTRY, now.utc_ns, 1))
        file.append(frame)


def test_in_one_run_of_the_machine_steps_of_utc_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state"
    make_entry(path, moment(100))
    for utc_ns in (0, 5_000 * DAY):
        assert entries_at(path, moment(200, utc_ns=utc_ns)) == [100]


def test_another_run_of_the_machine_goes_by_utc(tmp_path: Path) -> None:
    path = tmp_path / "state"
    make_entry(path, moment(100, boot=1, utc_ns=1000 * DAY))
    assert entries_at(path, moment(5, boot=2, utc_ns=1000 * DAY + 70)) == [70]
    # It was rewritten: now steps of UTC change nothing.
    assert entries_at(path, moment(15, boot=2, utc_ns=0)) == [80]


def test_a_stamp_in_the_future_blocks_for_one_window(tmp_path: Path) -> None:
    path = tmp_path / "state"
    make_entry(path, moment(100, boot=1, utc_ns=9000 * DAY))
    assert entries_at(path, moment(5, boot=2, utc_ns=1000 * DAY)) == [0]
    # Not for one more with each start of the machine.
    assert entries_at(path, moment(5, boot=3, utc_ns=1000 * DAY + DAY // 2)) == [DAY // 2]
    assert entries_at(path, moment(5, boot=4, utc_ns=1001 * DAY)) == []


def test_a_clock_that_was_put_right_tells_of_the_time_before(tmp_path: Path) -> None:
    path = tmp_path / "state"
    make_entry(path, moment(100, boot=1, utc_ns=0))  # 1970, until the network told the time
    make_entry(path, moment(500, boot=1, utc_ns=1000 * DAY))
    assert entries_at(path, moment(5, boot=2, utc_ns=1000 * DAY + 1)) == [401, 1]


def test_a_rewritten_file_without_records_still_knows_the_clock(tmp_path: Path) -> None:
    path = tmp_path / "state"
    now = moment(100, boot=1, utc_ns=1000 * DAY)
    with opened(path, now) as (file, _):
        file.append(Frame(now))
        file.rewrite(now, set())
    make_entry(path, moment(200, boot=1, utc_ns=500 * DAY))  # somebody set the clock
    assert entries_at(path, moment(5, boot=2, utc_ns=1000 * DAY + 300)) == [200]


def test_records_keep_their_order_whatever_their_stamps_say(tmp_path: Path) -> None:
    path = tmp_path / "state"
    make_entry(path, moment(100, boot=1, utc_ns=1000 * DAY))
    make_entry(path, moment(100, boot=2, utc_ns=0))  # a machine without a battery
    assert entries_at(path, moment(5, boot=3, utc_ns=1000 * DAY + 9)) == [9, 9]


# ---- Rewriting


def test_a_file_stays_small(folder: Path) -> None:
    path = folder / "state"
    compilation = board(folder, calls=3000, rule="count <= 1000000 per 1ms")
    result = run_engine(ENGINES[1], compilation, RunOptions(state_file=str(path)))
    assert result.stdout.count("posted") == 3000
    assert path.stat().st_size < 140_000
    content = path.read_bytes()
    head, mark = check_start(content)
    assert head.generation > 1
    assert mark.end == len(content)
    assert not (folder / "state.new").exists()


def test_a_file_with_a_second_name_is_not_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "state"
    written(path, 3)
    os.link(path, tmp_path / "other")
    assert entries_at(path, moment(5, boot=9, utc_ns=1000 * DAY + 10 * 10**9))
    assert path.read_bytes() == (tmp_path / "other").read_bytes()


def test_the_mark_says_what_is_durable(tmp_path: Path) -> None:
    path = tmp_path / "state"
    ends = written(path, 3)
    content = path.read_bytes()
    assert check_start(content)[1] == Mark(4, ends[1])
    found = [frame for frame in frames(content[FRAMES_START:], 1, FRAMES_START) if isinstance(frame, Frame)]
    assert [len(frame.items) for frame in found] == [1, 1, 1]
