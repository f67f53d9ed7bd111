"""What goes wrong in the IR. Both are faults of the compiler (or of a test's text), never of the compiled program."""

from __future__ import annotations


class IrError(Exception):
    """The IR breaks one of its rules."""


class IrTextError(Exception):
    """The text is no IR. `line` is 1-based."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
