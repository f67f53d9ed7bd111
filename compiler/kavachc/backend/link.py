"""Links a static executable without libc, with the linker inside the `ziglang` package.

`zig ld.lld` called directly takes about 15 ms, and needs nothing else on the machine; `zig build-exe`, which drives
the same linker, takes about ten times as long.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import tempfile
from pathlib import Path

from kavachc.backend.runtime_build import RuntimeBuildError, http_object, runtime_object
from kavachc.backend.targets import target_named
from kavachc.errors import ToolError

_FLAGS = ("-static", "--gc-sections", "--build-id=none", "-z", "noexecstack")

# Named by a program that asks, or calls `Http`, which therefore needs HTTP.
_NEED_HTTP = (b"kv_model_part", b"kv_lib_http_")


class LinkError(ToolError):
    """The executable could not be made."""


class OutputError(LinkError):
    """The executable cannot be put where it was asked for."""


def link(object_bytes: bytes, target: str, out: Path, *, debug: bool = False) -> None:
    """Writes the executable to `out`, or to what a link of that name leads to: all of it, or nothing."""
    place = Path(os.path.realpath(out))
    _check_place(out, place)
    try:
        runtime = [runtime_object(target)]
        if any(name in object_bytes for name in _NEED_HTTP):
            runtime.append(http_object(target))
    except RuntimeBuildError as error:
        raise LinkError(str(error)) from error
    try:
        # Beside the result, so that it can be moved there in one step.
        with tempfile.TemporaryDirectory(prefix=".kavachc-", dir=place.parent) as folder:
            program = Path(folder) / "program.o"
            linked = Path(folder) / "linked"
            program.write_bytes(object_bytes)
            _run_linker(target, program, runtime, linked, debug)
            os.replace(linked, place)
    except OSError as error:
        raise OutputError(f"cannot write {out}: {error.strerror}") from error


def _check_place(out: Path, place: Path) -> None:
    if place.is_dir():
        raise OutputError(f"cannot write {out}: it is a directory")
    if place.exists() and not place.is_file():
        # Putting the executable in its place would take a device away from every program (`/dev/null`).
        raise OutputError(f"cannot write {out}: it is not a regular file")
    if not place.parent.is_dir():
        parent = place.parent if out.is_symlink() else out.parent
        raise OutputError(f"cannot write {out}: there is no directory {parent}")


def _run_linker(target: str, program: Path, runtime: list[Path], linked: Path, debug: bool) -> None:
    emulation = target_named(target).emulation
    command = [
        _zig(),
        "ld.lld",
        "-m",
        emulation,
        *_FLAGS,
        *(() if debug else ("--strip-all",)),
        "-o",
        str(linked),
        *map(str, [program, *runtime]),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0 or not linked.is_file():
        raise LinkError(f"the linker failed (status {ended.returncode}):\n{ended.stderr.strip()}")


def _zig() -> str:
    """The binary itself: going through `python -m ziglang` would start another Python."""
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        raise LinkError("the package ziglang is not installed: pip install ziglang")
    return str(Path(found.origin).parent / "zig")
