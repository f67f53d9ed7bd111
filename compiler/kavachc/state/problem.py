"""Why a state file cannot be used, in words: what is wrong, and what to do. `runtime/src/state_problem.zig` has the
same words; a test compares them."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "cannot_create",
    "cannot_open",
    "cannot_read",
    "cannot_write",
    "not_durable",
    "not_regular",
    "empty",
    "other_kind",
    "newer",
    "damaged",
    "lost_records",
    "replaced",
]

REASONS = {
    errno.EPERM: "operation not permitted",
    errno.ENOENT: "no such file or directory",
    errno.EIO: "input/output error",
    errno.EACCES: "permission denied",
    errno.EEXIST: "its name with `.new` at the end is taken",
    errno.ENOTDIR: "not a directory",
    errno.EISDIR: "is a directory",
    errno.EMFILE: "too many open files",
    errno.EFBIG: "file too large",
    errno.ENOSPC: "no space left on device",
    errno.EROFS: "read-only file system",
    errno.ENOLCK: "no locks available",
    errno.ELOOP: "too many levels of symbolic links",
    errno.EDQUOT: "disk quota exceeded",
    errno.ENAMETOOLONG: "file name too long",
    errno.ETXTBSY: "text file busy",
}
_WHAT: dict[Kind, str] = {
    "cannot_create": "cannot be created: {reason}",
    "cannot_open": "cannot be opened for reading and writing: {reason}",
    "cannot_read": "cannot be read: {reason}",
    "cannot_write": "cannot be written: {reason}",
    "not_durable": "cannot be made durable: {reason}",
    "not_regular": "is not a regular file",
    "empty": "is empty, which a state file never is",
    "other_kind": "is not a state file of Kavach",
    "newer": "has format {number}, and this program knows format 1 only",
    "damaged": "is damaged at byte {number}",
    "lost_records": "has lost records: it once had {number} bytes of them, and now {number_2}",
    "replaced": "was removed or replaced while the program ran",
}
_HELP: dict[Kind, str] = {
    "cannot_create": "name a file in a folder that exists and can be written to",
    "cannot_open": "let this program read and write the file, or name another one",
    "cannot_read": "see whether its disk is in order",
    "cannot_write": "let this program write the file, and see whether its disk is in order",
    "not_durable": "see whether its disk is in order, then start the program again",
    "not_regular": "name a file that is one, or that does not exist yet",
    "empty": "restore it from a backup, or remove it to begin with empty windows",
    "other_kind": "name another file",
    "newer": "use a newer version of kavachc, or name another file",
    "damaged": "restore it from a backup, or move it away to begin with empty windows",
    "lost_records": "restore it from a backup, or move it away to begin with empty windows",
    "replaced": "start the program again",
}
_HELP_BY_CODE: dict[tuple[Kind, int], str] = {
    ("cannot_create", errno.EEXIST): "remove what has that name, or name another file",
    ("cannot_write", errno.EFBIG): "allow larger files (`ulimit -f`), then call again",
    ("cannot_write", errno.ENOSPC): "make room on its disk, then call again",
    ("cannot_write", errno.EDQUOT): "make room on its disk, then call again",
}


def reason_of(code: int) -> str:
    """What an errno says."""
    return REASONS.get(code, f"error {code}")


@dataclass
class StateProblem(Exception):
    """`code` is an errno for the kinds that come from the system."""

    kind: Kind
    code: int = 0
    number: int = 0
    number_2: int = 0

    @property
    def what(self) -> str:
        return _WHAT[self.kind].format(reason=reason_of(self.code), number=self.number, number_2=self.number_2)

    @property
    def help(self) -> str:
        return _HELP_BY_CODE.get((self.kind, self.code), _HELP[self.kind])

    def message(self, path: str) -> str:
        return f"error: state file {path} {self.what}\n  help: {self.help}"

    def reason(self, path: str) -> str:
        """For a call that is refused."""
        return f"state file {path} {self.what}; {self.help}"
