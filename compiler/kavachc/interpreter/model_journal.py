"""Makes the ledger's records durable: those of one round together, in one frame with one sync, before any of their
calls runs (spec 8.3.state-durable). Without a state file there is none of this, and nothing waits.

Other processes may have appended since a call was checked. So when the file is locked and has news, what this round
recorded is taken back, the news are read, and each call is checked again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from kavachc.interpreter.clocks import Clock
from kavachc.interpreter.model_ledger import Ledger, Record
from kavachc.state.disk import Disk
from kavachc.state.file import StateFile
from kavachc.state.format import Frame, Item, ItemKind, Moment, Name, amount_bits, clamp
from kavachc.state.problem import StateProblem


@dataclass(frozen=True, slots=True)
class Refused:
    reason: str


# "again" is for an ask: it may enter again later.
Verdict: TypeAlias = Literal["recorded", "again"] | Refused


class Waiter(Protocol):
    """Who waits for a call's records."""

    def finish(self, verdict: Verdict) -> None:
        """The wait is over."""

    def undo(self) -> None:
        """The records were taken back: undoes what else came with them."""

    def again(self, records: list[Record]) -> Verdict | None:
        """Checks anew; None when the call has passed and waits again."""


@dataclass(slots=True)
class Call:
    """`waiter` is None once it is no more; what was recorded for it stays."""

    waiter: Waiter | None
    records: list[Record]


class Journal:
    """Raises `StateProblem` when the file cannot be used from the start."""

    def __init__(
        self, path: str, ledger: Ledger, clock: Clock, error_line: Callable[[str], None], disk: Disk | None = None
    ) -> None:
        self._path = path
        self._ledger = ledger
        self._clock = clock
        self._error_line = error_line
        self._calls: list[Call] = []
        # What asks took that have ended. It is written with the next frame, whatever becomes of that frame's calls.
        self._settled: list[Record] = []
        self._references = 0
        self._is_flushing = False
        # Why the last round could not be written.
        self._problem: StateProblem | None = None
        disk = disk or Disk()
        windows = ledger.windows
        # The clock of virtual time is that of one run of the program.
        windows.boot = (0 if clock.is_virtual else disk.boot()) or int.from_bytes(os.urandom(8), "little") | 1
        windows.process = int.from_bytes(os.urandom(4), "little") | 1
        self._file = StateFile(path, windows, disk, on_wait=self._say_wait)
        self._file.open()
        try:
            self._file.read(self._now())
            self._note_boot()
            if windows.saw_other_boot or self._file.wants_rewriting:
                self._file.rewrite(self._now(), ledger.pinned)
        finally:
            self._file.release()
        self._say_cut()
        self._say_changes()

    def _note_boot(self) -> None:
        """The first to come in this run of the machine notes how far UTC is ahead of its clock: whatever is done to UTC
        later, a later run can tell when these records were made. Where it cannot be written, nothing is lost yet."""
        windows = self._ledger.windows
        if windows.boot not in windows.offsets:
            now = self._now()
            with contextlib.suppress(StateProblem):
                self._file.append(Frame(now))
            windows.learn(now)

    def _say_unsettled(self) -> bool:
        """Whether what asks took could not be written in the end."""
        if self._problem is None or not self._settled:
            return False
        self._error_line(self._problem.message(self._path))
        self._error_line("  note: what the last asks took is not in it: they stay counted with what they reserved")
        return True

    def stop(self) -> bool:
        """Writes what is left to write; whether all of it could be written."""
        self.flush()
        if self._say_unsettled():
            return False
        if self._file.failed is None:
            try:
                self._file.acquire()
            except StateProblem:
                return True
            if not self._file.has_news:
                self._file.close()
            self._file.release()
        return True

    def settle_at_the_end(self) -> None:
        """The program ends in the middle of a round. What asks took that have ended must be durable: the program knew
        it. The round's calls were promised nothing yet, and will not run."""
        if not self._is_flushing:
            self._calls.clear()
            self.flush()
            self._say_unsettled()

    def _now(self) -> Moment:
        return Moment(self._ledger.windows.boot, self._ledger.now(), self._clock.utc_ns())

    def new_reference(self) -> int:
        self._references += 1
        return self._ledger.windows.process << 32 | self._references

    # The calls of a round.

    def submit(self, waiter: Waiter, records: list[Record]) -> None:
        """The windows have recorded a call already; the waiter hears when that is durable."""
        self._calls.append(Call(waiter, records))

    def submit_settled(self, records: list[Record]) -> None:
        self._settled += records

    def forget(self, waiter: Waiter) -> None:
        for call in self._calls:
            if call.waiter is waiter:
                call.waiter = None

    def flush(self) -> None:
        """At the end of a round: all that it recorded becomes durable, and its calls go on."""
        if not self._calls and not self._settled:
            return
        self._is_flushing = True
        try:
            self._file.acquire()
            try:
                if self._file.has_news:
                    self._take_news()
                self._write()
                if self._file.wants_rewriting:
                    self._file.rewrite(self._now(), self._ledger.pinned)
            finally:
                self._file.release()
        except StateProblem as problem:
            self._is_flushing = False
            self._problem = problem
            self._say_cut()
            self._refuse_all(problem)
            return
        self._is_flushing = False
        self._problem = None
        self._say_cut()
        calls, self._calls = self._calls, []
        for call in calls:
            if call.waiter is not None:
                call.waiter.finish("recorded")

    def _take_back(self, calls: list[Call]) -> None:
        for call in reversed(calls):
            for record in reversed(call.records):
                if record.kind == ItemKind.RESERVE:
                    record.window.reservations.pop(record.reference, None)
                else:
                    record.window.take_back(record.time_ns)
        for call in calls:
            if call.waiter is not None:
                call.waiter.undo()

    def _take_news(self) -> None:
        calls, self._calls = self._calls, []
        self._take_back(calls)
        try:
            self._file.read(self._now())
        except StateProblem as problem:
            self._finish_refused(calls, problem)
            raise
        if self._file.is_reread:
            self._file.is_reread = False
            for record in self._settled:
                self._settle_again(record)
        for call in calls:
            # Without a waiter, it was never promised anything, and nobody is left to ask for it.
            if call.waiter is not None and (verdict := call.waiter.again(call.records)) is not None:
                call.waiter.finish(verdict)

    def _settle_again(self, record: Record) -> None:
        """The file did not know yet that the ask has ended."""
        window = record.window
        window.reservations.pop(record.reference, None)
        if record.amount > 0:
            window.add(max(record.time_ns, window.entries[-1][0]) if window.entries else record.time_ns, record.amount)

    def _write(self) -> None:
        windows = self._ledger.windows
        numbered_before = len(windows.numbered)
        now = self._now()
        frame = Frame(now)
        # An ask that is cancelled in the round in which it was let through reserves first, and settles then.
        for record in [*(record for call in self._calls for record in call.records), *self._settled]:
            number = record.window.number
            if number is None:
                frame.names.append(record.window.name)
                number = windows.number(record.window)
            stamp = clamp(record.time_ns + now.offset)
            frame.items.append(Item(number, record.kind, stamp, amount_bits(record.amount), record.reference))
        if not frame.items:
            return
        try:
            self._file.append(frame)
        except StateProblem:
            # The names of new windows are not in the file.
            for window in windows.numbered[numbered_before:]:
                window.number = None
            del windows.numbered[numbered_before:]
            raise
        windows.learn(now)
        self._settled = []

    def _refuse_all(self, problem: StateProblem) -> None:
        calls, self._calls = self._calls, []
        self._take_back(calls)
        self._finish_refused(calls, problem)

    def _finish_refused(self, calls: list[Call], problem: StateProblem) -> None:
        for call in calls:
            if call.waiter is not None:
                call.waiter.finish(Refused(problem.reason(self._path)))

    # What is said of the file.

    def _say_cut(self) -> None:
        if self._file.cut_bytes:
            self._error_line(
                f"note: state file {self._path} ended in a record that was not written to its end: its last "
                f"{self._file.cut_bytes} bytes were cut"
            )
            self._file.cut_bytes = 0

    def _say_wait(self) -> None:
        self._error_line(f"note: state file {self._path} is locked by another process; this one waits for it")

    def _say_changes(self) -> None:
        """Says of each rule that the file knows for a limit of this program, and the program does not, that it still
        counts (spec 8.3.state-changed)."""
        counts: dict[Name, int] = {}
        for window in self._ledger.windows.by_name.values():
            if not window.is_empty and self._ledger.is_changed(window.name):
                rule = window.name._replace(key=None)
                counts[rule] = counts.get(rule, 0) + len(window.entries) + len(window.reservations)
        for rule, count in counts.items():
            kept = "record of this one is kept until it expires"
            if count != 1:
                kept = "records of this one are kept until they expire"
            self._error_line(
                f"note: state file {self._path} knows a rule of {rule.agent} on {rule.target} that this program does "
                f"not have: `{rule.rule}`; a rule with another text starts its own window, and the {count} {kept}"
            )
