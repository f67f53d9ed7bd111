"""The plain-Python scheduler, without any program (spec chapter 7)."""

from __future__ import annotations

from collections.abc import Generator

from kavachc.interpreter.clocks import VirtualClock
from kavachc.interpreter.host import Outcome
from kavachc.interpreter.model_scheduler import Scheduler, Task
from kavachc.interpreter.signals import Fails

Body = Generator[None, None, object]


class Run:
    """A scheduler under virtual time, and what its tasks wrote down."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.scheduler = Scheduler(self.clock)
        self.log: list[str] = []

    def sleeper(self, name: str, *durations_ns: int) -> Body:
        self.log.append(f"{name} starts")
        for duration_ns in durations_ns:
            yield from self.scheduler.sleep(duration_ns)
            self.log.append(f"{name} at {self.clock.monotonic_ns()}")
        return name

    def waiter(self, name: str, awaited: Task) -> Body:
        outcome = yield from self.scheduler.wait(awaited)
        self.log.append(f"{name} got {outcome.status} {outcome.value}")
        return None


def test_tasks_run_first_in_first_out() -> None:
    run = Run()
    for name in "abc":
        run.scheduler.spawn(run.sleeper(name, 0))
    run.scheduler.run()
    assert run.log == ["a starts", "b starts", "c starts", "a at 0", "b at 0", "c at 0"]


def test_timers_fire_by_time_and_then_by_creation() -> None:
    run = Run()
    run.scheduler.spawn(run.sleeper("late", 20))
    run.scheduler.spawn(run.sleeper("first", 10))
    run.scheduler.spawn(run.sleeper("second", 10))
    run.scheduler.spawn(run.sleeper("early", -5))
    run.scheduler.run()
    assert run.log[4:] == ["early at 0", "first at 10", "second at 10", "late at 20"]


def test_a_busy_task_does_not_starve_a_timer() -> None:
    run = Run()
    run.scheduler.spawn(run.sleeper("sleeps", 0))
    run.scheduler.spawn(run.sleeper("busy", 0, 0, 0))
    run.scheduler.run()
    assert run.log == ["sleeps starts", "busy starts", "sleeps at 0", "busy at 0", "busy at 0", "busy at 0"]


def test_waiters_go_on_in_the_order_in_which_they_began() -> None:
    run = Run()
    slow = run.scheduler.spawn(run.sleeper("slow", 5))
    run.scheduler.spawn(run.waiter("one", slow))
    run.scheduler.spawn(run.waiter("two", slow))
    run.scheduler.run()
    assert run.log == ["slow starts", "slow at 5", "one got ok slow", "two got ok slow"]


def test_waiting_for_an_ended_task_does_not_yield() -> None:
    run = Run()
    done = run.scheduler.spawn(run.sleeper("done"))
    run.scheduler.run()
    assert done.outcome == Outcome("ok", "done")
    assert list(run.scheduler.wait(done)) == []


def test_a_failure_that_nobody_waited_for_is_kept() -> None:
    run = Run()

    def fails(error: str) -> Body:
        yield from run.scheduler.sleep(0)
        raise Fails(error)

    first = run.scheduler.spawn(fails("one"))
    run.scheduler.spawn(fails("two"))
    run.scheduler.spawn(run.waiter("waiter", first))
    run.scheduler.run()
    unseen = [task for task in run.scheduler.unseen_failures if not task.is_seen]
    assert [task.outcome for task in unseen] == [Outcome("failed", "two")]
    assert run.log == ["waiter got failed one"]


def test_cancel_ends_a_task_at_its_wait() -> None:
    run = Run()
    victim = run.scheduler.spawn(run.sleeper("victim", 1_000))
    run.scheduler.spawn(run.waiter("waiter", victim))

    def canceller() -> Body:
        run.scheduler.cancel(victim)
        run.scheduler.cancel(victim)
        run.log.append("cancelled")
        return None
        yield

    run.scheduler.spawn(canceller())
    run.scheduler.run()
    assert run.log == ["victim starts", "cancelled", "waiter got cancelled None"]
    assert run.clock.monotonic_ns() == 0, "the timer of a cancelled sleep is called off"
    run.scheduler.cancel(victim)
    assert victim.outcome == Outcome("cancelled")


def test_a_task_cancelled_before_its_first_step_never_runs() -> None:
    run = Run()
    victims: list[Task] = []

    def canceller() -> Body:
        run.scheduler.cancel(victims[0])
        return None
        yield

    run.scheduler.spawn(canceller())
    victims.append(run.scheduler.spawn(run.sleeper("victim", 0)))
    run.scheduler.run()
    assert run.log == []
    assert victims[0].outcome == Outcome("cancelled")


def test_a_task_cancelled_when_it_is_already_woken_keeps_its_place() -> None:
    """Bug case 26: what woke it is not lost, and the next waiter runs."""
    run = Run()
    slow = run.scheduler.spawn(run.sleeper("slow", 5))
    woken = run.scheduler.spawn(run.waiter("woken", slow))
    run.scheduler.spawn(run.waiter("next", slow))

    def canceller() -> Body:
        yield from run.scheduler.sleep(5)
        run.log.append("cancels")
        run.scheduler.cancel(woken)
        return None

    # Both timers fire in one round: `slow` ends and wakes the waiters, then the canceller runs.
    run.scheduler.spawn(canceller())
    run.scheduler.run()
    assert run.log == ["slow starts", "slow at 5", "cancels", "next got ok slow"]
    assert woken.outcome == Outcome("cancelled")


def test_a_cancelled_waiter_waits_no_more() -> None:
    run = Run()
    slow = run.scheduler.spawn(run.sleeper("slow", 5))
    victim = run.scheduler.spawn(run.waiter("victim", slow))
    run.scheduler.spawn(run.waiter("other", slow))

    def canceller() -> Body:
        run.scheduler.cancel(victim)
        return None
        yield

    run.scheduler.spawn(canceller())
    run.scheduler.run()
    assert run.log == ["slow starts", "slow at 5", "other got ok slow"]
