"""A state file, read without changing it, as plain rows."""

from __future__ import annotations

import fcntl
import gc
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from kavachc.errors import ToolError, unreadable
from kavachc.ledger.bounds import Bound, bound_of
from kavachc.state.disk import Disk
from kavachc.state.file import LOCK_PATIENCE_S, LOCK_PAUSE_S_MAX, check_start, frames
from kavachc.state.format import FRAMES_START, DamagedError, Frame, Moment
from kavachc.state.problem import StateProblem
from kavachc.state.total import total_of
from kavachc.state.windows import Window, Windows


class Row(NamedTuple):
    """One window. `entries` are (age, amount), the oldest first; what is reserved counts with its estimate."""

    agent: str
    target: str
    rule: str
    key: str | None
    length_ns: int
    is_float: bool
    bound: Bound | None
    entries: tuple[tuple[int, int | float], ...]
    reserved: int

    @property
    def used(self) -> int | float:
        amounts = [amount for _, amount in self.entries]
        return total_of(amounts, is_float=True).value if self.is_float else sum(amounts)

    @property
    def share(self) -> float | None:
        """Of the bound; None where there is none to compare with."""
        if self.bound is None or not self.bound.value:
            return None
        return self.used / self.bound.value

    def room_returns_ns(self) -> int | None:
        """After how long the smallest amount passes again, 0 for now; None when it never will."""
        if self.bound is None or self.bound.value is None:
            return 0
        least: int | float = 0.0 if self.is_float else 1
        if self.bound.allows(self.used + least):
            return 0
        left = total_of([amount for _, amount in self.entries], is_float=self.is_float)
        for age, amount in self.entries:
            left.remove(amount)
            if self.bound.allows(left.value + least):
                return self.length_ns - age
        return None


@dataclass(frozen=True, slots=True)
class Contents:
    """`now_utc_ns` is when it was read; `torn_bytes` a last record that was not written to its end."""

    path: str
    size: int
    frame_count: int
    item_count: int
    generation: int
    last_written_utc_ns: int | None
    now_utc_ns: int
    torn_bytes: int
    rows: tuple[Row, ...]


def read_contents(path: str, report: Callable[[float], None] = lambda _part: None) -> Contents:
    """Raises `ToolError` with what is wrong with the file. `report` hears now and then which part has been read."""
    try:
        # All that is made stays: to look for what does not takes as long as to read.
        with _without_collection():
            return _read(path, report)
    except StateProblem as problem:
        raise ToolError(f"state file {path} {problem.what}\n  help: {problem.help}") from None
    except OSError as error:
        raise unreadable(path, error, "a state file") from None


@contextmanager
def _without_collection() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read(path: str, report: Callable[[float], None]) -> Contents:
    if not os.path.isfile(path):
        raise StateProblem("not_regular") if os.path.exists(path) else FileNotFoundError(2, "no such file or directory")
    with open(path, "rb") as file:
        _lock(file, path)
        data = file.read(FRAMES_START)
        _head, mark = check_start(data)
        data += file.read()
    now = Moment(Disk().boot(), time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.time_ns())
    windows = Windows(boot=now.boot)
    for frame in frames(data[FRAMES_START:], _head.generation, FRAMES_START, heads_only=True):
        if isinstance(frame, Frame):
            windows.learn(frame.moment)
    at, frame_count, item_count, torn_bytes = FRAMES_START, 0, 0, 0
    last_utc_ns: int | None = None
    try:
        for frame in frames(data[FRAMES_START:], _head.generation, FRAMES_START):
            if isinstance(frame, Frame):
                windows.take(frame, now)
                at += frame.length
                report(at / len(data))
                frame_count += 1
                item_count += len(frame.items)
                last_utc_ns = frame.moment.utc_ns
            elif frame == "damaged":
                raise DamagedError
            elif frame == "torn":
                torn_bytes = len(data) - at
    except DamagedError:
        raise StateProblem("damaged", number=at) from None
    if at < mark.end:
        raise StateProblem("lost_records", number=mark.end - FRAMES_START, number_2=at - FRAMES_START)
    rows = tuple(_row(window, now.boot_ns) for window in _taken_out(windows))
    return Contents(
        path, len(data), frame_count, item_count, _head.generation, last_utc_ns, now.utc_ns, torn_bytes, rows
    )


def _taken_out(windows: Windows) -> Iterator[Window]:
    """One by one, so that a window's memory goes when its row is made."""
    windows.numbered.clear()
    for name in list(windows.by_name):
        yield windows.by_name.pop(name)


def _lock(file: BinaryIO, path: str) -> None:
    """Then nobody is in the middle of a record."""
    until_s = time.monotonic() + LOCK_PATIENCE_S
    while time.monotonic() < until_s:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(LOCK_PAUSE_S_MAX)
    print(f"note: state file {path} is locked by another process; this one waits for it", file=sys.stderr)
    fcntl.flock(file, fcntl.LOCK_SH)


def _row(window: Window, now_ns: int) -> Row:
    window.expire(now_ns)
    entries: Iterable[tuple[int, int | float]] = window.entries
    if window.reservations:
        reserved = [(each.time_ns, each.amount) for each in window.reservations.values()]
        entries = sorted([*window.entries, *reserved])
    name = window.name
    return Row(
        name.agent,
        name.target,
        name.rule,
        name.key,
        name.length_ns,
        name.is_float,
        bound_of(name.rule),
        tuple((max(0, now_ns - at), amount) for at, amount in entries),
        len(window.reservations),
    )
