"""The process's standard streams, made safe before anything else runs: closed ones, full ones, readers that went away.

A descriptor 0, 1 or 2 that was closed would be given to the next file that is opened, and what is written to stdout
would then land in that file; Python has no stream for it either, and prints nothing without a word. So each is opened
again, in the direction that makes every use of it fail. A stdout that takes no more is an error like any other; what
goes to stderr is lost there, since there is nowhere left to say it.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from kavachc.errors import ToolError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Stdout(io.FileIO):
    """Says once that it takes no more; Python tries again at the end of the process, and that is in vain."""

    _has_failed = False

    def write(self, content: ReadableBuffer, /) -> int:
        if not self._has_failed:
            try:
                return super().write(content)
            except OSError:
                self._has_failed = True
                raise ToolError("cannot write to stdout") from None
        return memoryview(content).nbytes


class _Stderr(io.FileIO):
    def write(self, content: ReadableBuffer, /) -> int:
        try:
            return super().write(content)
        except OSError:
            return memoryview(content).nbytes


def secure() -> None:
    """Makes descriptors 0, 1 and 2 exist, and `sys.stdout` and `sys.stderr` safe to use."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest number that is free: this one.
            os.open(os.devnull, os.O_WRONLY if descriptor == 0 else os.O_RDONLY)
            os.set_inheritable(descriptor, True)
    sys.stdout = _text(_Stdout(1, "w", closefd=False), by_line=os.isatty(1))
    sys.stderr = _text(_Stderr(2, "w", closefd=False), by_line=True)


def _text(raw: io.FileIO, *, by_line: bool) -> io.TextIOWrapper:
    buffered = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffered, encoding="utf-8", errors="backslashreplace", line_buffering=by_line)
