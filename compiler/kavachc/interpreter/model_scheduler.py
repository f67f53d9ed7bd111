"""Tasks in plain Python: one at a time, first in first out, in rounds (spec chapter 7).

A task is a generator. It yields where it waits, after it has arranged for `wake` to be called, and has noted with
`calling_off` what a cancellation must undo.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event

from kavachc.interpreter.arithmetic import INT_MAX
from kavachc.interpreter.clocks import Clock
from kavachc.interpreter.host import Outcome, TaskBody
from kavachc.interpreter.signals import Fails

CANCELLED = Outcome("cancelled")
# Python waits no longer at once.
THREAD_WAIT_S_MAX = 86_400


@dataclass(eq=False, slots=True)
class Task:
    """A running call. `outcome` is set when it has ended. `is_waiting` tells a task that waits from a ready one.
    `waiters` wait for it, in the order in which they began to; each with what calls its wait off. `is_seen`: somebody
    waited for it, so its error is theirs. `call_offs` are called, the newest first, when it is cancelled."""

    body: TaskBody
    outcome: Outcome | None = None
    is_waiting: bool = False
    is_cancelled: bool = False
    is_interrupted: bool = False
    is_seen: bool = False
    waiters: dict[Task, Callable[[], object]] = field(default_factory=dict)
    call_offs: list[Callable[[], object]] = field(default_factory=list)


@dataclass(order=True, slots=True)
class Timer:
    """Fires once, in the order of (moment, order of creation)."""

    moment_ns: int
    order: int
    fire: Callable[[], None] = field(compare=False)
    is_off: bool = field(default=False, compare=False)

    def turn_off(self) -> None:
        self.is_off = True


class Interrupted(Exception):
    """Raised in a task at the wait that `Scheduler.interrupt` has ended."""


class Scheduler:
    """`before_idle` runs before the clock waits."""

    def __init__(self, clock: Clock, before_idle: Callable[[], None] = lambda: None) -> None:
        self.clock = clock
        self.unseen_failures: list[Task] = []
        # Called when every task that was ready has had its turn.
        self.round_end: Callable[[], None] = lambda: None
        self._before_idle = before_idle
        self._ready: deque[Task] = deque()
        self._timers: list[Timer] = []
        self._timers_made = 0
        self._running: Task | None = None
        self._tasks_alive = 0
        # The tasks that wait for what another thread does, and what has come from such.
        self._wait_for_outside: set[Task] = set()
        self._completions: deque[Callable[[], None]] = deque()
        self._woken = Event()

    @property
    def current(self) -> Task:
        """The task whose code runs."""
        assert self._running is not None
        return self._running

    def spawn(self, body: TaskBody) -> Task:
        """A new task, at the end of the ready queue."""
        task = Task(body)
        self._tasks_alive += 1
        self._ready.append(task)
        return task

    # Waits, for the task that runs.

    def pause(self, call_off: Callable[[], object]) -> Generator[None, None, None]:
        """Gives way until `wake` is called for the current task; `call_off` undoes what was to wake it."""
        task = self.current
        task.is_waiting = True
        with self.calling_off(call_off):
            yield
            if task.is_interrupted:
                task.is_interrupted = False
                raise Interrupted

    def pause_for_outside(self, call_off: Callable[[], object]) -> Generator[None, None, None]:
        """As `pause`, for what another thread does: it ends with `wake_from_outside`."""
        task = self.current
        self._wait_for_outside.add(task)

        def call_off_wait() -> None:
            self._wait_for_outside.discard(task)
            call_off()

        yield from self.pause(call_off_wait)

    def wake_from_outside(self, task: Task) -> None:
        self._wait_for_outside.remove(task)
        self.wake(task)

    def complete(self, completion: Callable[[], None]) -> None:
        """Any thread may call it: `completion` is called in the program's, between its rounds."""
        self._completions.append(completion)
        self._woken.set()

    @contextmanager
    def calling_off(self, call_off: Callable[[], object]) -> Iterator[None]:
        """While the current task is in here, a cancellation or an interruption of it calls `call_off`."""
        call_offs = self.current.call_offs
        call_offs.append(call_off)
        try:
            yield
        finally:
            if call_off in call_offs:
                call_offs.remove(call_off)

    def interrupt(self, task: Task, mark: int) -> None:
        """Ends a wait of the task early: what it noted to be called off, all but the oldest `mark`, is called off."""
        assert task.is_waiting and not task.is_cancelled
        while len(task.call_offs) > mark:
            task.call_offs.pop()()
        task.is_interrupted = True
        self.wake(task)

    def wake(self, task: Task) -> None:
        """The task's wait is over: it goes to the end of the ready queue."""
        assert task.is_waiting
        task.is_waiting = False
        self._ready.append(task)

    def sleep(self, duration_ns: int) -> Generator[None, None, None]:
        """Yields even for 0 or less (spec 7.yield)."""
        task = self.current
        timer = self.add_timer(max(0, duration_ns), lambda: self.wake(task))
        yield from self.pause(timer.turn_off)

    def wait(self, awaited: Task) -> Generator[None, None, Outcome]:
        """How the task ended; does not yield when it has ended already (spec 7.yield)."""
        awaited.is_seen = True
        if awaited.outcome is None:
            waiter = self.current
            assert waiter is not awaited
            awaited.waiters[waiter] = call_off = lambda: awaited.waiters.pop(waiter, None)
            yield from self.pause(call_off)
        assert awaited.outcome is not None
        return awaited.outcome

    def wait_for(self, awaited: Task, limit_ns: int) -> Generator[None, None, Outcome | None]:
        """How the task ended; None when it has not, and the time has passed. Yields even for 0 or less."""
        if awaited.outcome is None:
            waiter = self.current

            def too_late() -> None:
                awaited.waiters.pop(waiter)
                self.wake(waiter)

            def call_off() -> None:
                timer.turn_off()
                awaited.waiters.pop(waiter, None)

            timer = self.add_timer(max(0, limit_ns), too_late)
            awaited.waiters[waiter] = call_off
            yield from self.pause(call_off)
        awaited.is_seen |= awaited.outcome is not None
        return awaited.outcome

    def cancel(self, task: Task) -> None:
        """Spec 7.cancel. A ready task keeps its place in the queue, and what it was doing is called off in its turn."""
        if task.outcome is not None or task.is_cancelled:
            return
        task.is_cancelled = True
        if task.is_waiting:
            self._call_off(task)
            self.wake(task)

    def _call_off(self, task: Task) -> None:
        for call_off in reversed(task.call_offs):
            call_off()
        task.call_offs = []

    # The run.

    def run(self) -> None:
        """Runs rounds until every task has ended (spec 7.round)."""
        while self._tasks_alive:
            if not self._ready:
                self._wait()
            for _ in range(len(self._ready)):
                self._take_turn(self._ready.popleft())
            self.round_end()
            self._fire_due()
            self._take_completions()

    def _take_turn(self, task: Task) -> None:
        self._running = task
        if task.is_cancelled:
            self._call_off(task)
            self._end(task, CANCELLED)
        else:
            try:
                task.body.send(None)
            except StopIteration as end:
                self._end(task, Outcome("ok", end.value))
            except Fails as failure:
                self._end(task, Outcome("failed", failure.error))
            else:
                assert task.is_waiting, "a task yields only where it waits"
        self._running = None

    def _end(self, task: Task, outcome: Outcome) -> None:
        task.outcome = outcome
        self._tasks_alive -= 1
        if outcome.status == "failed":
            self.unseen_failures.append(task)
        for waiter, call_off in list(task.waiters.items()):
            call_off()
            self.wake(waiter)

    def _wait(self) -> None:
        """For the next timer, or for what comes from outside."""
        self._drop_timers_off()
        moment_ns = self._timers[0].moment_ns if self._timers else None
        self._before_idle()
        if self._wait_for_outside:
            assert not self.clock.is_virtual
            remaining_ns = INT_MAX if moment_ns is None else moment_ns - self.clock.monotonic_ns()
            self._woken.wait(max(0, min(remaining_ns / 1e9, THREAD_WAIT_S_MAX)))
            return
        assert moment_ns is not None, "no task can wait for itself through others (spec 7.no-deadlock)"
        self.clock.wait_until(moment_ns)

    def _take_completions(self) -> None:
        self._woken.clear()
        while self._completions:
            self._completions.popleft()()

    def _fire_due(self) -> None:
        """Wakes the tasks whose timers are due. A timer that one of them makes is for a later round."""
        self._drop_timers_off()
        while self._timers and self._timers[0].moment_ns <= self.clock.monotonic_ns():
            heapq.heappop(self._timers).fire()
            self._drop_timers_off()

    def _drop_timers_off(self) -> None:
        while self._timers and self._timers[0].is_off:
            heapq.heappop(self._timers)

    def add_timer(self, duration_ns: int, fire: Callable[[], None]) -> Timer:
        self._timers_made += 1
        moment_ns = min(self.clock.monotonic_ns() + duration_ns, INT_MAX)
        timer = Timer(moment_ns, self._timers_made, fire)
        heapq.heappush(self._timers, timer)
        return timer
