"""What can go wrong around a program rather than in it."""

from __future__ import annotations


class ToolError(Exception):
    """A build step or a run could not be done: the message says what and what to do. `status` is the exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status
