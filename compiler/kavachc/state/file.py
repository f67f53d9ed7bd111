"""A state file in use, in plain Python: found or made, locked, read, appended to, rewritten (docs/state-file.md).

Whoever appends holds the lock, has read all that stands before, and makes the frame durable before it lets the lock go.
So at most the last frame of a file can be one that nobody was promised; only what is not known to be durable is ever
cut: that frame, and the one before when another process wrote it.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator

from kavachc.state.disk import Disk, Status
from kavachc.state.format import (
    FRAMES_START,
    MAGIC,
    MARK_OFFSETS,
    VERSION,
    DamagedError,
    Frame,
    Head,
    Item,
    ItemKind,
    Mark,
    Moment,
    amount_bits,
    clamp,
    read_frame,
    read_head,
    read_mark,
    start_of_file,
)
from kavachc.state.problem import StateProblem
from kavachc.state.windows import Windows

REWRITE_BYTES_MIN = 64 * 1024
ITEMS_PER_FRAME = 4096
ATTEMPTS_MAX = 1000
# While another process holds the lock, it is tried again and again, with longer and longer pauses; then somebody is
# told, and we stand in line.
LOCK_PAUSE_S_MIN = 0.000_05
LOCK_PAUSE_S_MAX = 0.001
LOCK_PATIENCE_S = 2.0
_ITEM_BYTES = 32


class StateFile:
    """`cut_bytes`: what was cut from the end when it was read. `failed`: nothing helps but starting anew. `on_wait` is
    told that another process has held the lock for long."""

    def __init__(
        self,
        path: str,
        windows: Windows,
        disk: Disk | None = None,
        identity: bytes | None = None,
        on_wait: Callable[[], None] | None = None,
    ) -> None:
        self.windows = windows
        self._on_wait = on_wait
        self.cut_bytes = 0
        self.failed: StateProblem | None = None
        self.is_reread = False
        self.end = 0
        self.size = 0
        self.generation = 0
        self._disk = disk or Disk()
        self._path = self._disk.real_path(path)
        self._temporary = self._path + ".new"
        self._folder = os.path.dirname(self._path) or "."
        self._identity = identity or os.urandom(16)
        self._handle = -1
        self._mark = Mark(0, 0)
        # So far it is durable for certain. What others appended may not be: they can have died before their sync.
        self._durable = 0
        self._rewrite_at = 0
        self._status: Status | None = None

    # The lock.

    def open(self) -> None:
        """Finds the file, or makes it; then it is locked. Raises `StateProblem`."""
        for _ in range(ATTEMPTS_MAX):
            try:
                self.acquire()
                return
            except StateProblem as problem:
                if (problem.kind, problem.code) != ("cannot_open", errno.ENOENT):
                    raise
                self._create()
        raise StateProblem("replaced")

    def acquire(self) -> None:
        """Locks the file that stands under the path now, and learns its size."""
        if self.failed is not None:
            raise self.failed
        for _ in range(ATTEMPTS_MAX):
            is_new = self._handle < 0
            if is_new:
                self._open_existing()
            try:
                self._lock(self._handle)
            except OSError as error:
                raise StateProblem("cannot_open", error.errno or 0) from None
            try:
                if self._look(is_new):
                    return
            except StateProblem:
                self.release()
                raise
            self.release()
            self._disk.close(self._handle)
            self._handle = -1
        raise StateProblem("replaced")

    def _lock(self, handle: int) -> None:
        pause_s, waited_s = LOCK_PAUSE_S_MIN, 0.0
        while waited_s < LOCK_PATIENCE_S:
            if self._disk.lock(handle, waits=False):
                return
            self._disk.pause(pause_s)
            waited_s += pause_s
            pause_s = min(2 * pause_s, LOCK_PAUSE_S_MAX)
        if self._on_wait is not None:
            self._on_wait()
        self._disk.lock(handle, waits=True)

    def release(self) -> None:
        self._disk.unlock(self._handle)

    def discard(self) -> None:
        """Lets the file go, and the lock with it, as the end of the process would."""
        if self._handle >= 0:
            self._disk.close(self._handle)
            self._handle = -1

    def _open_existing(self) -> None:
        try:
            handle = self._disk.open(self._path, "existing")
        except OSError as error:
            if error.errno == errno.EISDIR:
                raise StateProblem("not_regular") from None
            if error.errno == errno.ENOENT and self.generation > 0:
                raise self._fail(StateProblem("replaced")) from None
            raise StateProblem("cannot_open", error.errno or 0) from None
        try:
            status = self._disk.status(handle)
        except OSError as error:
            self._disk.close(handle)
            raise StateProblem("cannot_read", error.errno or 0) from None
        if not status.is_regular:
            self._disk.close(handle)
            raise StateProblem("not_regular")
        self._handle = handle

    def _fail(self, problem: StateProblem) -> StateProblem:
        self.failed = problem
        return problem

    def _look(self, is_new: bool) -> bool:
        """With the lock: False when another file has taken its place. Reads its head."""
        try:
            status = self._disk.status(self._handle)
        except OSError as error:
            raise StateProblem("cannot_read", error.errno or 0) from None
        try:
            named = self._disk.status(self._path)
        except OSError:
            return False  # Opening it again says what is the matter.
        if not named.is_same(status):
            return False
        self._status, self.size = status, status.size
        try:
            start = self._disk.read(self._handle, 0, FRAMES_START)
        except OSError as error:
            raise StateProblem("cannot_read", error.errno or 0) from None
        try:
            head, mark = check_start(start)
        except StateProblem as problem:
            raise problem if self.generation == 0 else self._fail(problem) from None
        if self.generation > 0:
            follows = head.generation > self.generation if is_new else head.generation == self.generation
            if head.identity != self._identity or not follows:
                raise self._fail(StateProblem("replaced"))
            if not is_new and self.size < self.end:
                raise self._fail(_lost(self.end, self.size))
        self._mark = mark
        if is_new:
            # Whoever put the file there may have died before that was durable.
            self._sync_folder()
            self.is_reread = self.generation > 0
            self._identity, self.generation, self.end = head.identity, head.generation, 0
            self._durable = 0
        return True

    # Reading.

    @property
    def has_news(self) -> bool:
        return self.end == 0 or self.size != self.end

    def read(self, now: Moment) -> None:
        """Reads what is new into the windows. A frame that was not written to its end is cut."""
        try:
            self._read_all(now)
        except OSError as error:
            raise StateProblem("cannot_read", error.errno or 0) from None
        except StateProblem as problem:
            raise self._fail(problem) from None

    def _read_all(self, now: Moment) -> None:
        windows = self.windows
        if self.end == 0:
            windows.empty()
            self.end = FRAMES_START
        if self.size < self.end:
            raise _lost(self._mark.end, self.size)
        rest = self._disk.read(self._handle, self.end, self.size - self.end)
        if len(rest) != self.size - self.end:
            raise _lost(self.size, self.end + len(rest))
        for frame in frames(rest, self.generation, self.end, heads_only=True):
            if isinstance(frame, Frame):
                windows.learn(frame.moment)
        try:
            for frame in frames(rest, self.generation, self.end):
                if isinstance(frame, Frame):
                    windows.take(frame, now)
                    self.end += frame.length
                elif frame == "damaged":
                    raise DamagedError
                elif frame == "torn" and self.end >= self._mark.end:
                    self._cut()
        except DamagedError:
            raise StateProblem("damaged", number=self.end) from None
        if self.end < self._mark.end:
            raise _lost(self._mark.end, self.end)
        if self._rewrite_at == 0:
            self._rewrite_at = 2 * self._live_bytes() + REWRITE_BYTES_MIN

    def _cut(self) -> None:
        try:
            self._disk.truncate(self._handle, self.end)
        except OSError as error:
            raise StateProblem("cannot_write", error.errno or 0) from None
        self.cut_bytes += self.size - self.end
        self.size = self.end

    def _live_bytes(self) -> int:
        live = [window for window in self.windows.by_name.values() if not window.is_empty]
        return sum(len(each.name.data()) + (len(each.entries) + len(each.reservations)) * _ITEM_BYTES for each in live)

    # Writing.

    def append(self, frame: Frame) -> None:
        """Appends a frame and makes it durable; the file is as it was when that cannot be done."""
        assert self.end == self.size, "everything before has been read"
        data = frame.data(self.generation, self.end)
        mark = Mark(self._mark.sequence + 1, max(self._durable, self._mark.end))
        try:
            self._disk.write(self._handle, self.end, data)
            self._disk.write(self._handle, mark.offset, mark.data(self.generation))
        except OSError as error:
            problem = StateProblem("cannot_write", error.errno or 0)
            try:
                self._disk.truncate(self._handle, self.end)
            except OSError:
                self._fail(problem)
            raise problem from None
        try:
            self._disk.sync(self._handle)
        except OSError as error:
            # What is on the disk now is not known, and a second try would tell nothing.
            with contextlib.suppress(OSError):
                self._disk.truncate(self._handle, self.end)
            raise self._fail(StateProblem("not_durable", error.errno or 0)) from None
        self._mark = mark
        self.end += len(data)
        self.size = self._durable = self.end

    def close(self) -> None:
        """With the lock, at the end of a run: everything up to here is durable."""
        if self.end == self.size and self._mark.end != self.end:
            mark = Mark(self._mark.sequence + 1, self.end)
            with contextlib.suppress(OSError):
                self._disk.sync(self._handle)
                self._disk.write(self._handle, mark.offset, mark.data(self.generation))

    def _sync_folder(self) -> None:
        try:
            folder = self._disk.open(self._folder, "folder")
        except OSError:
            return  # One that may be used but not read: then nothing can be done about it.
        try:
            self._disk.sync(folder)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise StateProblem("not_durable", error.errno or 0) from None
        finally:
            self._disk.close(folder)

    def _open_temporary(self) -> int:
        """The file beside it, locked, so that two processes do not make it at once, and empty."""
        for _ in range(ATTEMPTS_MAX):
            try:
                handle = self._disk.open(self._temporary, "temporary")
            except OSError as error:
                raise _taken() if error.errno in (errno.EISDIR, errno.ELOOP, errno.ENXIO) else error from None
            try:
                self._lock(handle)
                own = self._disk.status(handle)
                try:
                    is_ours = own.is_same(self._disk.status(self._temporary))
                except OSError:
                    is_ours = False
                if is_ours:
                    if not own.is_regular or own.links != 1:
                        raise _taken()
                    self._disk.truncate(handle, 0)
                    return handle
            except OSError:
                self._disk.close(handle)
                raise
            self._disk.close(handle)
        raise OSError(errno.EBUSY, "others make it all the time")

    def _remove_temporary(self) -> None:
        with contextlib.suppress(OSError):
            self._disk.remove(self._temporary)

    def _create(self) -> None:
        """Makes a new file, unless another process makes it first. It appears under its name when it is complete."""
        handle = -1
        try:
            handle = self._open_temporary()
            try:
                self._disk.status(self._path)
            except OSError:
                pass
            else:
                self._remove_temporary()
                return
            try:
                self._disk.write(handle, 0, start_of_file(self._identity, 1, FRAMES_START))
                self._disk.sync(handle)
                self._disk.rename(self._temporary, self._path)
            except OSError:
                self._remove_temporary()
                raise
        except OSError as error:
            raise StateProblem("cannot_create", error.errno or 0) from None
        finally:
            if handle >= 0:
                self._disk.close(handle)
        self._sync_folder()

    # Rewriting.

    @property
    def wants_rewriting(self) -> bool:
        return self.end > self._rewrite_at

    def rewrite(self, now: Moment, pinned: set[object]) -> None:
        """With the lock: puts a file with only what still counts in the place of this one. When it cannot be done, this
        one stays, and it is tried again when it has grown."""
        assert self.end == self.size and self._status is not None
        self._rewrite_at = 2 * self.end + REWRITE_BYTES_MIN
        if self._status.links != 1:
            return  # Its other name would keep the old content.
        try:
            handle = self._open_temporary()
        except OSError:
            return
        try:
            length = self._write_copy(handle, now)
        except OSError:
            self._remove_temporary()
            self._disk.close(handle)
            return
        # From here on the new file counts: what follows is appended to it.
        self._disk.close(self._handle)
        self._handle = handle
        self.generation += 1
        self._mark = Mark(1, length)
        self.end = self.size = self._durable = length
        self._rewrite_at = 2 * length + REWRITE_BYTES_MIN
        windows = self.windows
        windows.saw_other_boot = False
        windows.numbered.clear()
        for window in list(windows.by_name.values()):
            window.number = None
            if not window.is_empty:
                windows.number(window)
            elif window.name not in pinned:
                del windows.by_name[window.name]
        try:
            self._sync_folder()
        except StateProblem as problem:
            self._fail(problem)

    def _write_copy(self, handle: int, now: Moment) -> int:
        generation = self.generation + 1
        clock = self.windows.stamped(now)
        frame = Frame(clock)
        items: list[Item] = []
        for window in self.windows.by_name.values():
            window.expire(now.boot_ns)
            if window.is_empty:
                continue
            number = len(frame.names)
            frame.names.append(window.name)
            for time_ns, amount in window.entries:
                stamp = clamp(time_ns + clock.offset)
                items.append(Item(number, ItemKind.ENTRY, stamp, amount_bits(amount)))
            for reference, reserved in window.reservations.items():
                stamp = clamp(reserved.time_ns + clock.offset)
                items.append(Item(number, ItemKind.RESERVE, stamp, amount_bits(reserved.amount), reference))
        at = FRAMES_START
        # One frame there is always: it says how far UTC is ahead of the clock, and no later one may know that.
        for first in range(0, max(1, len(items)), ITEMS_PER_FRAME):
            frame.items = items[first : first + ITEMS_PER_FRAME]
            data = frame.data(generation, at)
            self._disk.write(handle, at, data)
            at += len(data)
            frame = Frame(clock)
        self._disk.write(handle, 0, start_of_file(self._identity, generation, at))
        assert self._status is not None
        self._disk.adopt(handle, self._status)
        self._disk.sync(handle)
        self._disk.rename(self._temporary, self._path)
        return at


def check_start(start: bytes) -> tuple[Head, Mark]:
    """What the first bytes of a file say, and its later mark; raises `StateProblem`."""
    if not start:
        raise StateProblem("empty")
    if len(start) < 12 or not start.startswith(MAGIC):
        raise StateProblem("other_kind")
    version = int.from_bytes(start[8:12], "little")
    if version > VERSION:
        raise StateProblem("newer", number=version)
    if len(start) < FRAMES_START:
        raise StateProblem("damaged", number=len(start))
    head = read_head(start)
    if not head.is_sound or version != VERSION:
        raise StateProblem("damaged")
    marks = [mark for at in MARK_OFFSETS if (mark := read_mark(start, at, head.generation))]
    if not marks:
        raise StateProblem("damaged", number=MARK_OFFSETS[0])
    return head, max(marks, key=lambda mark: mark.sequence)


def frames(data: bytes, generation: int, at: int, *, heads_only: bool = False) -> Iterator[Frame | str]:
    """The frames of what stands at `at`, to the file's end; at last "end", "torn" or "damaged"."""
    view = memoryview(data)
    start = 0
    while True:
        frame = read_frame(view, start, generation, at, heads_only=heads_only)
        yield frame
        if not isinstance(frame, Frame):
            return
        start += frame.length
        at += frame.length


def _lost(had: int, has: int) -> StateProblem:
    return StateProblem("lost_records", number=had - FRAMES_START, number_2=max(0, has - FRAMES_START))


def _taken() -> OSError:
    return OSError(errno.EEXIST, "another kind of file has the name")
