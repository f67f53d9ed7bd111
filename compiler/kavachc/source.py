"""Source files and the spans that point into them.

Everything later in the pipeline speaks of places in a program as `Span`s; only the renderer turns them
into lines and columns.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, eq=False)
class SourceFile:
    """One `.kav` file: the path as the user named it, and its text. Panics show nothing of the library's own.

    Invariant: `text` is valid Unicode without a byte order mark, and line breaks are `\\n`.
    """

    path: str
    text: str = field(repr=False)
    is_library: bool = False
    line_starts: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        starts = [0]
        starts.extend(index + 1 for index, character in enumerate(self.text) if character == "\n")
        object.__setattr__(self, "line_starts", starts)

    @property
    def mark(self) -> str:
        """What tells a name of this file from an equal one of another file: `@bank.kav`."""
        return "@" + re.sub(r"[^A-Za-z0-9_./-]", "_", self.path)

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column (in characters) of `offset`, a character index into `text`."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """The text of the 1-based `line`, without its line break."""
        start = self.line_starts[line - 1]
        end = self.line_starts[line] - 1 if line < len(self.line_starts) else len(self.text)
        return self.text[start:end]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a source file: character offsets, `start` in it and `end` just past it."""

    file: SourceFile
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.file.text[self.start : self.end]

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of `other`, which stands later in the same file."""
        return Span(self.file, self.start, other.end)

    def place(self) -> str:
        """`file.kav:12:5`, as panics and diagnostics name a place."""
        line, column = self.file.position(self.start)
        return f"{self.file.path}:{line}:{column}"
