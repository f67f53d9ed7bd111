"""Standard output and standard error of an interpreted program.

stdout is buffered, on a terminal line by line. It is written out before anything goes to stderr, so that a reader of
both sees one order. Bytes go to the file descriptors themselves: Python's own buffers would try again, and complain,
after a pipe was closed.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable

from kavachc.interpreter.signals import ProgramStops

BUFFER_BYTES_MAX = 16 * 1024

Write = Callable[[bytes], None]


def write_to_descriptor(descriptor: int) -> Write:
    def write(content: bytes) -> None:
        remaining = memoryview(content)
        while remaining:
            remaining = remaining[os.write(descriptor, remaining) :]

    return write


class Output:
    """`write_stdout` and `write_stderr` take bytes and write all of them, or raise OSError."""

    def __init__(self, write_stdout: Write | None = None, write_stderr: Write | None = None) -> None:
        self.is_terminal = write_stdout is None and os.isatty(1)
        if write_stdout is None or write_stderr is None:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:  # Python's None for one that was closed before it started.
                    stream.flush()
        self._write_stdout = write_stdout or write_to_descriptor(1)
        self._write_stderr = write_stderr or write_to_descriptor(2)
        self._buffer = bytearray()

    def write(self, descriptor: int, content: bytes) -> bool:
        """For a host that buffers by itself: writes at once; False when it cannot."""
        try:
            (self._write_stdout if descriptor == 1 else self._write_stderr)(content)
        except OSError:
            return False
        return True

    def print_line(self, text: str) -> None:
        self._buffer += text.encode()
        self._buffer += b"\n"
        if self.is_terminal or len(self._buffer) >= BUFFER_BYTES_MAX:
            self.flush()

    def error_line(self, text: str) -> None:
        self.flush()
        with contextlib.suppress(OSError):  # There is nowhere left to say so.
            # A path in the text may hold bytes that are not UTF-8: Python keeps them as surrogates.
            self._write_stderr(f"{text}\n".encode("utf-8", "surrogateescape"))

    def flush(self) -> None:
        """Writes out what was printed; a stdout that takes no more ends the program."""
        content, self._buffer = bytes(self._buffer), bytearray()
        if not content:
            return
        try:
            self._write_stdout(content)
        except OSError:
            raise ProgramStops("error: cannot write to stdout", 1) from None
