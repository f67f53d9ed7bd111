"""The files of a program (spec 10.files), as Python gives them to every engine that runs in this process."""

from __future__ import annotations

import errno
import os

from kavachc.bindings.abi import FileOperation, FileStatus

# A file of this size or more, such as one without an end (`/dev/zero`), cannot be read.
FILE_BYTES_MAX = 256 << 20
_TOO_LONG = "the path is too long"
_REASONS = {
    errno.EISDIR: "it is a directory",
    errno.ENAMETOOLONG: _TOO_LONG,
    errno.ENOSPC: "no space is left",
}


def file_operation(operation: int, path: bytes, content: bytes) -> tuple[FileStatus, bytes]:
    """How it ended, and what was read or the reason why it is another failure."""
    if b"\0" in path:
        return _other("the path has a zero byte")
    try:
        if operation == FileOperation.EXISTS:
            return (FileStatus.FILE_OK if os.access(path, os.F_OK) else FileStatus.FILE_NOT_FOUND), b""
        if operation == FileOperation.REMOVE:
            os.unlink(path)
            return FileStatus.FILE_OK, b""
        if operation == FileOperation.READ:
            with open(path, "rb", buffering=0) as file:
                return _read(file.fileno())
        with open(path, "wb" if operation == FileOperation.WRITE else "ab", buffering=0) as file:
            view = memoryview(content)
            while view:
                view = view[os.write(file.fileno(), view) :]
        return FileStatus.FILE_OK, b""
    except (FileNotFoundError, NotADirectoryError):
        return FileStatus.FILE_NOT_FOUND, b""
    except OSError as problem:
        if problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            return FileStatus.FILE_NOT_ALLOWED, b""
        number = problem.errno or 0
        return _other(_REASONS.get(number, f"error {number} of the system"))


def _read(descriptor: int) -> tuple[FileStatus, bytes]:
    parts: list[bytes] = []
    size = 0
    while part := os.read(descriptor, 1 << 20):
        parts.append(part)
        size += len(part)
        if size >= FILE_BYTES_MAX:
            return _other("the file is too large")
    return FileStatus.FILE_OK, b"".join(parts)


def _other(reason: str) -> tuple[FileStatus, bytes]:
    return FileStatus.FILE_OTHER, reason.encode()
