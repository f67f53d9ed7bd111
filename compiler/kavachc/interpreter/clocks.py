"""Time, real and virtual (spec 7.virtual). Both clocks count nanoseconds."""

from __future__ import annotations

import time
from typing import Protocol

from kavachc.interpreter.arithmetic import INT_MAX

VIRTUAL_UTC_START_NS = 1_767_225_600_000_000_000  # 2026-01-01T00:00:00Z


class Clock(Protocol):
    is_virtual: bool

    def monotonic_ns(self) -> int:
        """Never jumps, and counts suspended time."""

    def utc_ns(self) -> int:
        """Since 1970."""

    def wait_until(self, moment_ns: int) -> None:
        """Returns when `monotonic_ns` has reached the moment."""


class RealClock:
    is_virtual = False

    def monotonic_ns(self) -> int:
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    def utc_ns(self) -> int:
        return time.time_ns()

    def wait_until(self, moment_ns: int) -> None:
        while (remaining_ns := moment_ns - self.monotonic_ns()) > 0:
            # A day at a time, since `sleep` refuses very long waits.
            time.sleep(min(remaining_ns / 1e9, 86_400))


class VirtualClock:
    is_virtual = True

    def __init__(self) -> None:
        self._now_ns = 0

    def monotonic_ns(self) -> int:
        return self._now_ns

    def utc_ns(self) -> int:
        return min(VIRTUAL_UTC_START_NS + self._now_ns, INT_MAX)

    def wait_until(self, moment_ns: int) -> None:
        self._now_ns = max(self._now_ns, moment_ns)
