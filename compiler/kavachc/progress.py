"""What takes long says so: one line on a terminal, rewritten, and gone at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """Shows nothing when stderr is not a terminal."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._shown: str | None = None

    def show(self, line: str) -> None:
        if self._is_terminal and line != self._shown:
            self._shown = line
            print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._shown is not None:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = None


@contextmanager
def progress() -> Iterator[Progress]:
    shown = Progress()
    try:
        yield shown
    finally:
        shown.clear()
