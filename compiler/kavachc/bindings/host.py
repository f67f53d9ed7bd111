"""A `kv_host` table whose functions are Python's: the runtime then writes, waits and looks things up through Python."""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from ctypes import CDLL, string_at
from pathlib import Path
from typing import Any, TypeVar

from kavachc.bindings import abi
from kavachc.bindings.exchange import Exchanges, HttpEngine
from kavachc.bindings.files import file_operation
from kavachc.bindings.kept import Kept

_STATUS_HOST_FAILED = 70
_STATUS_INTERRUPTED = 130
_SLEEP_NS_MAX = 86_400 * 1_000_000_000

Result = TypeVar("Result")


# A file of this size or more, such as one without an end (`/dev/zero`), cannot be read.
_FILE_BYTES_MAX = 256 << 20


class Host:
    """The real world. A test or the simulator overrides what it replaces."""

    def write(self, descriptor: int, content: bytes) -> bool:
        view = memoryview(content)
        try:
            while view:
                view = view[os.write(descriptor, view) :]
        except OSError:
            return False
        return True

    def is_terminal(self, descriptor: int) -> bool:
        return os.isatty(descriptor)

    def monotonic_ns(self) -> int:
        """Counts the time that the machine was suspended."""
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    def utc_ns(self) -> int:
        return time.time_ns()

    def random(self) -> int:
        return int.from_bytes(os.urandom(8), "little")

    def sleep(self, duration_ns: int) -> None:
        """May come back early: the runtime then sleeps again. Python refuses to sleep for centuries at once."""
        time.sleep(min(duration_ns, _SLEEP_NS_MAX) / 1e9)

    def wait(self, woken: threading.Event, duration_ns: int | None) -> None:
        """As `sleep`, but ends when `woken` is set, which another thread does. Ctrl-C gets through."""
        woken.wait(None if duration_ns is None else min(duration_ns, _SLEEP_NS_MAX) / 1e9)

    def http_engine(self) -> HttpEngine:
        from kavachc.bindings.http_client import HttpClient

        return HttpClient()

    def environment(self, name: bytes) -> bytes | None:
        return os.environb.get(name)

    def read_file(self, path: bytes) -> bytes | None:
        try:
            with open(path, "rb") as file:
                content = file.read(_FILE_BYTES_MAX)
        except OSError:
            return None
        return content if len(content) < _FILE_BYTES_MAX else None

    def write_file(self, path: bytes, content: bytes) -> bool:
        try:
            Path(os.fsdecode(path)).write_bytes(content)
        except OSError:
            return False
        return True

    def file(self, operation: int, path: bytes, content: bytes) -> tuple[int, bytes]:
        return file_operation(operation, path, content)

    def exit(self, status: int) -> None:
        """Ends the process at once: native frames stand between here and any Python that could catch an exception."""
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def stop_on_failure(failure: BaseException) -> None:
    """What happens to an exception in a callback: ctypes would print it, and let the runtime go on with a 0."""
    if isinstance(failure, KeyboardInterrupt):
        os._exit(_STATUS_INTERRUPTED)
    sys.stderr.write("internal error: a function of the Python host failed\n")
    traceback.print_exception(failure)
    sys.stderr.flush()
    os._exit(_STATUS_HOST_FAILED)


class HostTable:
    """`table` for `kv_run`, kept alive with everything that it refers to; so keep this while the program runs.

    `library` is the runtime that the table is for.
    """

    def __init__(
        self, host: Host, library: CDLL, on_failure: Callable[[BaseException], None] = stop_on_failure
    ) -> None:
        self.host = host
        self._on_failure = on_failure
        # What lookups gave stays valid: the runtime keeps pointers into it.
        self._kept = Kept()
        self._kept_file = Kept()
        self._woken = threading.Event()
        self._exchanges = exchanges = Exchanges(library, host.http_engine)
        guard = self.guard
        self.table = abi.Host(
            None,
            abi.WriteFunction(guard(False, lambda _, to, at, length: host.write(to, _bytes(at, length)))),
            abi.IsTerminalFunction(guard(False, lambda _, descriptor: host.is_terminal(descriptor))),
            abi.ClockFunction(guard(0, lambda _: host.monotonic_ns())),
            abi.ClockFunction(guard(0, lambda _: host.utc_ns())),
            abi.RandomFunction(guard(0, lambda _: host.random())),
            abi.SleepFunction(guard(None, lambda _, duration_ns: host.sleep(duration_ns))),
            abi.LookUpFunction(self._look_up(host.environment)),
            abi.LookUpFunction(self._look_up(host.read_file)),
            abi.WriteFileFunction(guard(False, self._write_file)),
            abi.ExitFunction(guard(None, lambda _, status: host.exit(status))),
            abi.FileFunction(guard(int(abi.FileStatus.FILE_NOT_ALLOWED), self._file)),
            abi.ExchangeFunction(guard(None, lambda _, exchange: exchanges.send(exchange))),
            abi.ExchangeFunction(guard(None, lambda _, exchange: exchanges.abort(exchange))),
            abi.SleepFunction(guard(None, self._wait)),
            abi.WakeFunction(guard(None, lambda _: self._woken.set())),
        )

    def close(self) -> None:
        """The run is over."""
        self._exchanges.close()

    def guard(self, fallback: Result, function: Callable[..., Result]) -> Callable[..., Result]:
        """`function` as a callback: an exception goes to `on_failure`, and only if that returns, `fallback` back."""

        def guarded(*arguments: Any) -> Result:
            try:
                return function(*arguments)
            except BaseException as failure:
                self._on_failure(failure)
                return fallback

        return guarded

    def _wait(self, _: Any, duration_ns: int) -> None:
        self.host.wait(self._woken, None if duration_ns < 0 else duration_ns)
        self._woken.clear()

    def _write_file(self, _: Any, path: int, path_length: int, content: int, length: int) -> bool:
        return self.host.write_file(_bytes(path, path_length), _bytes(content, length))

    def _file(self, _: Any, operation: int, path: int, path_length: int, at: int, length: int, out: Any) -> int:
        status, content = self.host.file(operation, _bytes(path, path_length), _bytes(at, length))
        # What was read before is no longer looked at.
        self._kept_file = Kept()
        out[0] = self._kept_file.text(content)
        return int(status)

    def _look_up(self, find: Callable[[bytes], bytes | None]) -> Callable[..., bool]:
        def look_up(_: Any, at: int, length: int, out: Any) -> bool:
            found = find(_bytes(at, length))
            if found is None:
                return False
            out[0] = self._kept.text(found)
            return True

        return self.guard(False, look_up)


def _bytes(at: int | None, length: int) -> bytes:
    return string_at(at, length) if at is not None and length > 0 else b""
