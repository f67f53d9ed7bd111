"""The state file of the plain-Python engine: its process dies at every call to the disk in turn, or that call fails.
What the tracer does to native programs (test_state_crash.py), done to the `Disk` that every call of it goes through."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kavachc.state.disk import Disk
from kavachc.state.file import StateFile
from kavachc.state.format import Frame, Item, ItemKind
from kavachc.state.problem import StateProblem
from kavachc.state.windows import Windows
from test_state_file import NAME, counted, moment

#: All that there is to a disk; `pause`, `boot` and `real_path` change and promise nothing.
CALLS = ("open", "close", "read", "write", "truncate", "sync", "lock", "unlock", "status", "adopt", "rename", "remove")


class Died(BaseException):
    """The process is no more."""


class FaultyDisk(Disk):
    """Does `fault` in place of the call number `at`. A write has then done a part of its work."""

    def __init__(self, at: int, fault: BaseException) -> None:
        self.at, self.fault = at, fault
        self.made: list[str] = []
        self.is_dead = False
        self.handles: set[int] = set()

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return self._counted(name, found) if name in CALLS else found

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted_call(*arguments: Any, **named: Any) -> Any:
            if self.is_dead:
                raise Died
            self.made.append(name)
            if len(self.made) - 1 != self.at:
                result = call(*arguments, **named)
                if name == "open":
                    self.handles.add(result)
                elif name == "close":
                    self.handles.discard(arguments[0])
                return result
            if name == "write":
                handle, offset, data = arguments
                call(handle, offset, data[: len(data) // 2])
            self.is_dead = isinstance(self.fault, Died)
            raise self.fault

        return counted_call

    def end(self) -> None:
        """With a process go its handles, and its locks with them."""
        for handle in self.handles:
            os.close(handle)


def live(path: Path, disk: Disk, promised: list[int]) -> None:
    """A whole life: the file is made, appended to, rewritten, appended to, closed; then found again and appended to.
    `promised` gets each record that a call may run on."""
    for start in (0, 100):
        windows = Windows(boot=7, process=1)
        file = StateFile(str(path), windows, disk)
        now = moment(start * 10**9)
        file.open()
        file.read(now)
        for number in range(start, start + 4):
            frame = Frame(moment(number * 10**9))
            window = windows.get(NAME)
            if window.number is None:
                frame.names.append(NAME)
                windows.number(window)
            frame.items.append(Item(window.number or 0, ItemKind.ENTRY, frame.moment.utc_ns, 1))
            file.append(frame)
            window.add(number * 10**9, 1)
            promised.append(number)
            if number == start + 1:
                file.rewrite(frame.moment, set())
        file.close()
        file.release()
        file.discard()


def test_a_life_uses_every_call(tmp_path: Path) -> None:
    disk = FaultyDisk(-1, Died())
    promised: list[int] = []
    live(tmp_path / "state", disk, promised)
    assert set(disk.made) == set(CALLS) - {"remove"}
    assert len(promised) == 8


@pytest.mark.parametrize(
    "fault",
    [Died(), OSError(errno.EIO, "input/output error"), OSError(errno.ENOSPC, "no space left on device")],
    ids=["died", "EIO", "ENOSPC"],
)
def test_whatever_call_goes_wrong_nothing_promised_is_lost(tmp_path: Path, fault: BaseException) -> None:
    at = 0
    while True:
        folder = tmp_path / str(at)
        folder.mkdir()
        disk = FaultyDisk(at, fault)
        promised: list[int] = []
        try:
            live(folder / "state", disk, promised)
        except (Died, StateProblem):
            pass
        except OSError as error:
            assert disk.made[at] in ("unlock", "close"), f"{disk.made[at]} {at}: {error}"
        disk.end()
        if not (folder / "state").exists():
            assert promised == []
        else:
            # One more can be in the file: it was written, and the process did not learn of it.
            assert len(promised) <= counted(folder / "state") <= len(promised) + 1, f"{disk.made[at]} {at}"
        # The file works on, whatever stands beside it.
        live(folder / "state", Disk(), promised)
        if at >= len(disk.made):
            break
        at += 1
    assert at > 60
