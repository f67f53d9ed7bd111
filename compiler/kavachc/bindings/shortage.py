"""What becomes of requests when the process is out of file descriptors, or of threads: they wait until another request
ends, and fail only where there is none."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
from collections.abc import Awaitable, Callable, Iterable

from kavachc.bindings.abi import ExchangeProblem

SHORTAGES = (ExchangeProblem.NO_FILES, ExchangeProblem.NO_THREADS)
REQUESTS_MAX = 256
# A connection, a second one to another address of the host, and what looks the name up.
FILES_EACH = 3
# Left to the program's own files, but never more than a quarter of all.
SPARE_FILES_MAX = 16
SHORT_ERRNOS = (errno.EMFILE, errno.ENFILE)


class Places:
    """For requests under way. Belongs to one event loop."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_place_count())
        self._trying_count = 0
        self._waiting: list[asyncio.Future[None]] = []

    async def carry(
        self,
        attempt: Callable[[], Awaitable[ExchangeProblem]],
        close_idle: Callable[[], Awaitable[bool]],
    ) -> ExchangeProblem:
        """What the last attempt comes to. `close_idle` closes what nobody uses, and says whether there was some."""
        async with self._free:
            while True:
                was_alone = self._trying_count == 0
                problem = await self._try(attempt)
                if problem not in SHORTAGES:
                    return problem
                if await close_idle():
                    continue
                if self._trying_count > 0:
                    await self._until_another_ends()
                elif was_alone:
                    self._wake_one()
                    return problem

    async def _try(self, attempt: Callable[[], Awaitable[ExchangeProblem]]) -> ExchangeProblem:
        problem = ExchangeProblem.ABORTED
        self._trying_count += 1
        try:
            problem = await attempt()
        finally:
            self._trying_count -= 1
            if problem not in SHORTAGES:
                self._wake_one()
        return problem

    async def _until_another_ends(self) -> None:
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            await waiting
        except asyncio.CancelledError:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            else:
                self._wake_one()  # Its turn is another's.
            raise

    def _wake_one(self) -> None:
        if self._waiting:
            self._waiting.pop(0).set_result(None)


def _place_count() -> int:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return REQUESTS_MAX
    try:
        open_count = len(os.listdir("/proc/self/fd"))
    except OSError:
        open_count = 0
    left = limit - open_count - min(SPARE_FILES_MAX, limit // 4)
    return max(1, min(left // FILES_EACH, REQUESTS_MAX))


def shortage_of(chain: Iterable[BaseException]) -> ExchangeProblem | None:
    """What there was too little of, where that was the reason."""
    for each in chain:
        if isinstance(each, OSError) and each.errno in SHORT_ERRNOS:
            return ExchangeProblem.NO_FILES
        if isinstance(each, RuntimeError) and "start new thread" in str(each):
            return ExchangeProblem.NO_THREADS
    return None


def check_files() -> None:
    """Raises an error where there is no descriptor: a resolver does not tell that from a name that is not there."""
    os.close(os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC))
