"""The audit log, written in plain Python (spec 8.6, docs/audit-log.md)."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable

from kavachc.audit.format import FIRST, LINE, Field, digest, encode
from kavachc.interpreter.replies import Usage
from kavachc.interpreter.signals import ProgramStops
from kavachc.options import RunOptions
from kavachc.state.problem import reason_of

FORMAT = 1
BLOCK_BYTES = 1 << 16
NO_ROOM = "make room on its disk, then start the program again"
HELP = {
    errno.ENOSPC: NO_ROOM,
    errno.EDQUOT: NO_ROOM,
    errno.EFBIG: "allow larger files (`ulimit -f`), or name another one, then start the program again",
}
OTHER_HELP = "let this program write the file, and see whether its disk is in order"


class AuditLog:
    """Opens the file, or raises `ProgramStops`. `utc_ns` is the clock, `note` takes a line for stderr."""

    def __init__(self, path: str, options: RunOptions, utc_ns: Callable[[], int], note: Callable[[str], None]) -> None:
        self._path = path
        self._holds_prompts = options.audit_prompts
        self._calls_begun = 0
        self._utc_ns = utc_ns
        self._previous = ""
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
            self._descriptor = os.open(path, flags, 0o666)
        except OSError as error:
            raise self._refused(_why(error.errno)) from None
        except ValueError:
            raise self._refused("its path has a zero byte") from None
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise self._refused("it is no regular file")
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise self._refused("another program writes to it") from None
        self._previous = self._continued(os.fstat(self._descriptor).st_size, note)
        self.record("start", format=FORMAT, dry_run=options.dry_run, virtual_time=options.virtual_time)

    def _refused(self, why: str) -> ProgramStops:
        return ProgramStops(f"error: audit log {self._path} cannot be used: {why}", 2)

    def _continued(self, size: int, note: Callable[[str], None]) -> str:
        """The hash of the last line that was written to its end; what comes after that is cut."""
        # So that no large file of another kind is read for its last line.
        if not b'{"previous":"'.startswith(self._read(0, 13)):
            raise self._refused("it is no audit log")
        tail, start = b"", size
        while start > 0 and tail.count(b"\n") < 2:
            start = max(0, start - BLOCK_BYTES - len(tail))
            tail = self._read(start, size - start)
        whole, line_break, torn = tail.rpartition(b"\n")
        last = whole.rpartition(b"\n")[2]
        if line_break and not LINE.fullmatch(last):
            raise self._refused("it is no audit log")
        if torn:
            try:
                os.ftruncate(self._descriptor, size - len(torn))
            except OSError:
                raise self._refused("it may not be written") from None
            note(
                f"note: audit log {self._path} ended in a line that was not written to its end: "
                f"its last {len(torn)} bytes are cut"
            )
        return digest(last) if line_break else FIRST

    def _read(self, start: int, length: int) -> bytes:
        try:
            return os.pread(self._descriptor, length, start)
        except OSError as error:
            raise self._refused(f"it cannot be read: {reason_of(error.errno or 0)}") from None

    def record(self, event: str, **fields: Field) -> None:
        """Writes one line; raises `ProgramStops` where that fails, so that what it tells of does not happen."""
        content = encode(self._previous, self._utc_ns(), event, fields)
        rest = content + b"\n"
        while rest:
            try:
                written = os.write(self._descriptor, rest)
            except OSError as error:
                raise self._unwritten(error.errno or 0, status=2 if event == "start" else 1) from None
            rest = rest[written:]
        self._previous = digest(content)

    def _unwritten(self, code: int, status: int) -> ProgramStops:
        what = f"error: audit log {self._path} cannot be written: {reason_of(code)}"
        return ProgramStops(f"{what}\n  help: {HELP.get(code, OTHER_HELP)}", status)

    def record_ask(self, number: int, agent: str | None, model: str, prompt: str) -> None:
        content = prompt.encode()
        fields: dict[str, Field] = {"agent": agent, "model": model, "prompt_sha256": digest(content)}
        fields["prompt_bytes"] = len(content)
        if self._holds_prompts:
            fields["prompt"] = prompt
        self.record("ask", ask=number, **fields)

    def record_call(self, agent: str, target: str, decision: str, reason: str | None = None) -> None:
        """A call of a capability; `reason` is why a limit refuses it."""
        self._calls_begun += 1
        self.record("call", call=self._calls_begun, agent=agent, target=target, decision=decision, reason=reason)

    def close(self) -> None:
        """The program has ended."""
        self.record("stop")
        os.close(self._descriptor)


def usage_fields(usage: Usage) -> dict[str, Field]:
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}


def _why(number: int | None) -> str:
    match number:
        case errno.ENOENT | errno.ENOTDIR:
            return "its folder does not exist"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return "it may not be written"
        case errno.EISDIR:
            return "it is a folder"
        case _:
            return f"it cannot be opened: {reason_of(number or 0)}"
