"""What can go wrong around a program rather than in it."""

from __future__ import annotations


class ToolError(Exception):
    """A build step or a run could not be done: the message says what and what to do. `status` is the exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def unreadable(path: str, error: OSError, what: str) -> ToolError:
    """Why the file at `path`, which is to be `what`, cannot be read, in the words of K0001 to K0004."""
    if isinstance(error, FileNotFoundError):
        return ToolError(f"cannot find `{path}`")
    if isinstance(error, IsADirectoryError):
        return ToolError(f"`{path}` is a directory, not {what}")
    return ToolError(f"cannot read `{path}`: {error.strerror}")
