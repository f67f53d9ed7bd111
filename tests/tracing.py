"""Runs a program under ptrace (x86-64 Linux), to kill it at a system call or to make one fail."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import sys
from collections.abc import Callable
from pathlib import Path

_TRACEME, _SYSCALL, _GETREGS, _SETREGS, _SETOPTIONS = 0, 24, 12, 13, 0x4200
_OPTION_MARK_SYSCALLS, _OPTION_KILL_WITH_US = 1, 0x100000
_SYSCALL_STOP = signal.SIGTRAP | 0x80
_RAX, _ORIG_RAX, _REGISTERS = 10, 15, 27

#: Numbers on x86-64.
PWRITE, FTRUNCATE, FSYNC, RENAME, FLOCK, OPENAT, PREAD = 18, 77, 74, 82, 73, 257, 17
STATX, FCHOWN, FCHMOD = 332, 93, 91

#: What to do at the n-th system call, counted from 0, by its number: go on, "kill", or fail with an errno.
Decide = Callable[[int, int], "int | str | None"]


def why_not() -> str | None:
    """Why programs cannot be traced here."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "the tracer knows x86-64 Linux only"
    try:
        run_traced(["/bin/true"], {}, "/dev/null", lambda count, number: None)
    except OSError as error:
        return f"no ptrace here: {error}"
    return None


def run_traced(command: list[str], environment: dict[str, str], stdout: str | Path, decide: Decide) -> tuple[int, int]:
    """The program's status (negative: the signal that ended it), and how many system calls it made."""
    library = ctypes.CDLL(None, use_errno=True)
    library.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    child = os.fork()
    if child == 0:
        try:
            out = os.open(stdout, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            os.dup2(out, 1)
            if library.ptrace(_TRACEME, 0, None, None) != 0:
                os._exit(99)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.execve(command[0], command, environment)
        finally:
            os._exit(98)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        raise OSError(os.strerror(1))
    library.ptrace(_SETOPTIONS, child, None, _OPTION_MARK_SYSCALLS | _OPTION_KILL_WITH_US)
    return _follow(library, child, decide)


def _follow(library: ctypes.CDLL, child: int, decide: Decide) -> tuple[int, int]:
    registers = (ctypes.c_ulonglong * _REGISTERS)()
    count, is_inside, failure, passed = 0, False, 0, 0
    has_started = False
    while True:
        library.ptrace(_SYSCALL, child, None, passed)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            return os.waitstatus_to_exitcode(status), count
        passed = 0
        if os.WSTOPSIG(status) != _SYSCALL_STOP:
            # The stop after execve is no signal of the program's.
            passed = os.WSTOPSIG(status) if os.WSTOPSIG(status) != signal.SIGTRAP else 0
            has_started = has_started or passed == 0
            continue
        is_inside = not is_inside
        if not has_started:
            continue
        library.ptrace(_GETREGS, child, None, registers)
        if is_inside:
            decision = decide(count, registers[_ORIG_RAX])
            count += 1
            if decision == "kill":
                os.kill(child, signal.SIGKILL)
            elif isinstance(decision, int):
                failure = decision
                registers[_ORIG_RAX] = 2**64 - 1
                library.ptrace(_SETREGS, child, None, registers)
        elif failure:
            registers[_RAX] = 2**64 - failure
            library.ptrace(_SETREGS, child, None, registers)
            failure = 0
