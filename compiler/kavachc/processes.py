"""Work shared out to forked processes."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any, TypeVar

from kavachc.errors import ToolError

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


@dataclass(slots=True)
class _Children:
    """The processes under way, by their ids: which item each works on, and the file for its result."""

    running: dict[int, tuple[int, IO[bytes]]] = field(default_factory=dict)

    def start(self, number: int, work: Callable[[], Any]) -> None:
        file = tempfile.TemporaryFile()  # noqa: SIM115 (open until the result is read)
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _be_the_child(work, file)
        self.running[child] = number, file

    def wait(self) -> tuple[int, Any]:
        """The number and the result of the next item that is done."""
        child, _ = os.wait()
        number, file = self.running.pop(child)
        with file:
            file.seek(0)
            try:
                result = pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                raise ToolError("a process for the tests was ended from outside") from None
        if isinstance(result, BaseException):
            raise result
        return number, result

    def stop(self) -> None:
        for child in self.running:
            # As Ctrl-C: it ends the test that it runs.
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGINT)
        for child, (_, file) in self.running.items():
            with suppress(ChildProcessError):
                os.waitpid(child, 0)
            file.close()


def _be_the_child(work: Callable[[], Any], file: IO[bytes]) -> None:
    try:
        try:
            result = work()
        except Exception as error:
            result = error if isinstance(error, ToolError) else RuntimeError(f"{type(error).__name__}: {error}")
        pickle.dump(result, file)
        file.flush()
    finally:
        os._exit(0)


def in_processes(items: Sequence[ItemT], work: Callable[[ItemT], ResultT], count: int) -> Iterator[ResultT]:
    """`work(item)` for each item, at most `count` at once, each in a process of its own; in the order of the items."""
    children = _Children()
    results: dict[int, ResultT] = {}
    started = 0
    try:
        for number in range(len(items)):
            while number not in results:
                while started < len(items) and len(children.running) < count:
                    item = items[started]
                    children.start(started, lambda item=item: work(item))  # type: ignore[misc]
                    started += 1
                done, result = children.wait()
                results[done] = result
            yield results.pop(number)
    finally:
        children.stop()
