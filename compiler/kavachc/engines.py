"""The engines as `conform` and the goldens run them: one row each, and what one run of a program gives.

The front end runs once, in this process; each run happens in a forked child (or is a binary), so that a crash or an
endless loop in one engine is only that engine's result.
"""

from __future__ import annotations

import faulthandler
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from kavachc.driver import Compilation
from kavachc.options import RunOptions

TIME_LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Engine:
    """`level` is 0 where it changes nothing; `target` only for binaries."""

    name: str
    kind: Literal["interp-model", "interp-native", "run", "build"]
    level: int = 0
    target: str = ""


ENGINES = (
    Engine("interp", "interp-model"),
    Engine("interp --host native", "interp-native"),
    Engine("run -O0", "run", 0),
    Engine("run -O2", "run", 2),
    Engine("x86_64 -O0", "build", 0, "x86_64-linux"),
    Engine("x86_64 -O2", "build", 2, "x86_64-linux"),
    Engine("aarch64 -O0", "build", 0, "aarch64-linux"),
    Engine("aarch64 -O2", "build", 2, "aarch64-linux"),
)


@dataclass(frozen=True, slots=True)
class Result:
    """What one engine made of a program. `live_blocks` is None for the interpreter on its own host.

    `status` is negative for a signal; `ledger` is the report without its first line (spec report).
    `audit` is the audit log, in virtual time."""

    stdout: str
    stderr: str
    status: int
    ledger: str
    live_blocks: int | None
    audit: str = ""
    timed_out: bool = False


def emulator_for(target: str) -> list[str] | None:
    """The command before a binary of `target` here: nothing on its own CPU, qemu-user elsewhere, None without it."""
    cpu = target.split("-")[0]
    if platform.machine() == cpu:
        return []
    found = shutil.which(f"qemu-{cpu}-static") or shutil.which(f"qemu-{cpu}")
    return [found] if found else None


def skip_reason(engine: Engine) -> str | None:
    """Why `engine` cannot run here, or None."""
    if engine.kind == "build" and emulator_for(engine.target) is None:
        return f"no qemu-{engine.target.split('-')[0]}-static on this machine (Debian: apt install qemu-user-static)"
    return None


def run_engine(
    engine: Engine, compilation: Compilation, options: RunOptions, time_limit_s: float = TIME_LIMIT_S
) -> Result:
    """Runs the program, checked already, on one engine; raises what the compiler raises."""
    with tempfile.TemporaryDirectory(prefix="kavachc-") as folder:
        report, audit = Path(folder) / "report", Path(folder) / "audit"
        reported = replace(options, report=str(report))
        if options.virtual_time and options.audit_log is None:
            reported = replace(reported, audit_log=str(audit))
        if engine.kind == "build":
            binary = Path(folder) / "program"
            compilation.build(str(binary), engine.target, engine.level)
            result = _run_binary(engine, binary, reported, time_limit_s)
        else:
            result = _run_forked(_action(engine, compilation, reported), time_limit_s)
        if audit.exists():
            result = replace(result, audit=audit.read_text(encoding="utf-8"))
        return _with_report(result, report)


def run_engine_often(engine: Engine, compilation: Compilation, options: RunOptions, count: int) -> Result:
    """Runs it `count` times: with a state file, on one that is new at first. What comes out, one after another."""
    if options.state_file is not None and Path(options.state_file).is_file():
        Path(options.state_file).unlink()
    results = [run_engine(engine, compilation, options) for _ in range(count)]
    stdout = "".join(result.stdout for result in results)
    stderr = "".join(result.stderr for result in results)
    return replace(results[-1], stdout=stdout, stderr=stderr)


def _action(engine: Engine, compilation: Compilation, options: RunOptions) -> Callable[[], int]:
    if engine.kind == "run":
        compilation.optimise(engine.level)
        return lambda: compilation.run(options, engine.level)
    host: Literal["model", "native"] = "model" if engine.kind == "interp-model" else "native"
    return lambda: compilation.interpret(options, host)


def _run_binary(engine: Engine, binary: Path, options: RunOptions, time_limit_s: float) -> Result:
    emulator = emulator_for(engine.target)
    assert emulator is not None, "the caller asks skip_reason first"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KAVACH_")}
    environment.update(options.environment())
    try:
        done = subprocess.run(
            [*emulator, str(binary), *options.arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=time_limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return _timed_out(late.stdout or b"", late.stderr or b"", time_limit_s)
    return Result(_text(done.stdout), _text(done.stderr), done.returncode, "", None)


def _run_forked(action: Callable[[], int], time_limit_s: float) -> Result:
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _be_the_child(action, stdout.fileno(), stderr.fileno())
        status = _wait(child, time_limit_s)
        stdout.seek(0)
        stderr.seek(0)
        if status is None:
            return _timed_out(stdout.read(), stderr.read(), time_limit_s)
        return Result(_text(stdout.read()), _text(stderr.read()), status, "", None)


def _be_the_child(action: Callable[[], int], stdout: int, stderr: int) -> None:
    """Runs `action` with its own output and leaves the process without Python's clean-up, which is the parent's."""
    status = 70
    # A crash is this engine's result, and no news of the parent's stack.
    faulthandler.disable()
    try:
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
        status = action()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException as error:
        os.write(2, f"kavachc failed: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(status)


def _wait(child: int, time_limit_s: float) -> int | None:
    """The child's exit status (negative: the signal that ended it), or None when it had to be killed."""
    deadline_s = time.monotonic() + time_limit_s
    pause_s = 0.001
    try:
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                child = 0
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > deadline_s:
                return None
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, 0.05)
    finally:
        # Late, or Ctrl-C.
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _timed_out(stdout: bytes, stderr: bytes, time_limit_s: float) -> Result:
    text = _text(stderr) + f"(killed after {time_limit_s:g} s)\n"
    return Result(_text(stdout), text, -signal.SIGKILL, "", None, timed_out=True)


def _text(output: bytes) -> str:
    return output.decode("utf-8", errors="backslashreplace")


def _with_report(result: Result, report: Path) -> Result:
    """The result with what the program reported at its end: nothing when it panicked."""
    if not report.exists():
        return result
    first, _, ledger = report.read_text(encoding="utf-8").partition("\n")
    word, _, number = first.partition(" ")
    assert word == "live_blocks", f"not a report: {first!r}"
    return replace(result, ledger=ledger, live_blocks=int(number) if number != "-" else None)
