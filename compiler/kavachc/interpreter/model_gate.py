"""The gate: how many requests may be under way to one provider at a time (spec 8.4.gate)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from kavachc.interpreter.model_scheduler import Task

UNDER_WAY_MAX = 256

# How a send ended: with an answer, turned away since there were too many, or in another way.
Ending = Literal["answered", "turned_away", "other"]


class Gate:
    """`wake` is called for a task that waits when it has got a place.

    `cap` is how many may be under way, in fractions of one. It falls once for each wave of refusals: a wave begins with
    a refusal of a send that began after the last wave did. A round of answers, one for each place, adds `_growth`,
    which doubles with each round in which nothing is turned away: a provider that takes more again is soon asked for
    it.
    """

    def __init__(self, wake: Callable[[Task], None]) -> None:
        self.cap = float(UNDER_WAY_MAX)
        self.under_way = 0
        self._growth = 1.0
        self._answers = 0.0
        self._wake = wake
        self._sends_begun = 0
        self._first_of_wave = 0
        self._waiting: dict[Task, None] = {}

    def enter(self, task: Task) -> bool:
        """Takes a place for a send, or queues for one."""
        if self.under_way < int(self.cap):
            assert not self._waiting
            self.under_way += 1
            return True
        self._waiting[task] = None
        return False

    def leave(self, task: Task) -> None:
        """What `enter` did is taken back, before the send began."""
        if task in self._waiting:
            del self._waiting[task]
        else:
            self._free_place()

    def begin(self) -> int:
        """A send begins, in the place taken; gives its number."""
        self._sends_begun += 1
        return self._sends_begun - 1

    def end(self, send: int, ending: Ending) -> None:
        """The place is free again; the ending tells what the provider takes."""
        if ending == "answered" and self.under_way >= int(self.cap):
            self._grow()
        elif ending == "turned_away":
            self._shrink(send)
        self._free_place()

    def _grow(self) -> None:
        self.cap = min(self.cap + self._growth / self.cap, float(UNDER_WAY_MAX))
        self._answers += 1
        if self._answers >= self.cap:
            self._answers = 0.0
            self._growth = min(2 * self._growth, float(UNDER_WAY_MAX))

    def _shrink(self, send: int) -> None:
        self._growth = 1.0
        self._answers = 0.0
        if send >= self._first_of_wave:
            self._first_of_wave = self._sends_begun
            self.cap = float(max(1, self.under_way - 1))
        else:
            self.cap = max(1.0, self.cap - 1)

    def _free_place(self) -> None:
        self.under_way -= 1
        while self._waiting and self.under_way < int(self.cap):
            task = next(iter(self._waiting))
            del self._waiting[task]
            self.under_way += 1
            self._wake(task)
