"""The few things that a state file needs of a file system. Every failure is an OSError."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Status:
    is_regular: bool
    size: int
    device: int
    inode: int
    links: int
    mode: int
    owner: int
    group: int

    def is_same(self, other: Status) -> bool:
        return (self.device, self.inode) == (other.device, other.inode)


_FLAGS = {
    "existing": os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK,
    "temporary": os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK,
    "folder": os.O_RDONLY | os.O_DIRECTORY,
}


class Disk:
    """The real one."""

    def open(self, path: str, mode: Literal["existing", "temporary", "folder"]) -> int:
        return os.open(path, _FLAGS[mode] | os.O_CLOEXEC, 0o666)

    def close(self, handle: int) -> None:
        os.close(handle)

    def read(self, handle: int, offset: int, length: int) -> bytes:
        parts: list[bytes] = []
        while length > 0 and (part := os.pread(handle, min(length, 1 << 30), offset)):
            parts.append(part)
            offset += len(part)
            length -= len(part)
        return b"".join(parts)

    def write(self, handle: int, offset: int, data: bytes) -> None:
        remaining = memoryview(data)
        while remaining:
            written = os.pwrite(handle, remaining, offset)
            offset += written
            remaining = remaining[written:]

    def truncate(self, handle: int, length: int) -> None:
        os.ftruncate(handle, length)

    def sync(self, handle: int) -> None:
        """Makes what was written durable."""
        os.fsync(handle)

    def lock(self, handle: int, *, waits: bool) -> bool:
        """False while another process holds it, unless it is to wait for it."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def pause(self, duration_s: float) -> None:
        time.sleep(duration_s)

    def unlock(self, handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)

    def status(self, handle_or_path: int | str) -> Status:
        found = os.stat(handle_or_path)
        return Status(
            stat.S_ISREG(found.st_mode),
            found.st_size,
            found.st_dev,
            found.st_ino,
            found.st_nlink,
            stat.S_IMODE(found.st_mode),
            found.st_uid,
            found.st_gid,
        )

    def adopt(self, handle: int, old: Status) -> None:
        """Gives a new file the owner and the mode of an old one."""
        os.fchown(handle, old.owner, old.group)
        os.fchmod(handle, old.mode)

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def real_path(self, path: str) -> str:
        """Symbolic links followed, once: a rewritten file takes the place of the file, not of the link."""
        for _ in range(16):
            try:
                target = os.readlink(path)
            except OSError:
                break
            path = os.path.join(os.path.dirname(path), target)
        return path

    def boot(self) -> int:
        """Names the run of the machine whose clock counts, and the time namespace; 0 when that is not known."""
        try:
            with open("/proc/sys/kernel/random/boot_id", "rb") as file:
                text = file.read(36)
        except OSError:
            return 0
        if len(text) < 36:
            return 0
        with contextlib.suppress(OSError):
            text += os.readlink(b"/proc/self/ns/time")
        return fnv(text) or 1


def fnv(text: bytes) -> int:
    """FNV-1a, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value
