"""Builds the runtime from its Zig sources, once, into a cache.

Two forms: objects without libc that standalone binaries are linked with, and a shared library for this process
(ctypes and the JIT). The HTTP of standalone binaries is an object of its own: TLS takes long to compile, and changes
seldom. The name of a cache folder is a hash of the sources, the flags and the Zig version, so a changed
source is a new build, and nothing in the cache ever has to be thrown away to be right.
"""

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

from kavachc.errors import ToolError
from kavachc.progress import Progress, progress

OBJECT_TARGETS: dict[str, str] = {
    "x86_64-linux": "x86_64-linux-none",
    "aarch64-linux": "aarch64-linux-none",
}
"""What a user calls a target, and what Zig calls it when there is no libc."""

LIBRARY_TARGETS: dict[str, str] = {
    "x86_64": "x86_64-linux-gnu.2.28",
    "aarch64": "aarch64-linux-gnu.2.28",
}
"""The shared library for this machine's processor; glibc 2.28 is old enough for every supported distribution."""

_COMMON_FLAGS = ("-fstrip", "-ffunction-sections", "-fdata-sections")
_OBJECT_FLAGS = ("build-obj", "-O", "ReleaseSafe", "-fcompiler-rt", *_COMMON_FLAGS, "-fno-unwind-tables")
_HTTP_FLAGS = ("build-obj", "-O", "ReleaseSafe", *_COMMON_FLAGS, "-fno-unwind-tables")
_LIBRARY_FLAGS = ("build-lib", "-dynamic", "-lc", "-O", "ReleaseSafe", "-fcompiler-rt", *_COMMON_FLAGS)

# What the object for HTTP is made of; the files of its folder are no part of the others.
_HTTP_ROOT = "http.zig"
_HTTP_FOLDER = "http"
_HTTP_SHARES = ("checks.zig", "exchange_abi.zig", "futex.zig")


class RuntimeBuildError(ToolError):
    """The runtime could not be built; `output` is what the Zig compiler said, if it came that far."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(f"{message}\n{output.rstrip()}" if output else message)
        self.message = message
        self.output = output


def runtime_object(target: str) -> Path:
    """The runtime as an object file for a standalone binary of `target`, a key of OBJECT_TARGETS."""
    if target not in OBJECT_TARGETS:
        known = ", ".join(OBJECT_TARGETS)
        raise RuntimeBuildError(f"there is no runtime for the target {target}; there is one for {known}")
    flags = (*_OBJECT_FLAGS, "-target", OBJECT_TARGETS[target])
    return _cached("kavach_runtime.o", target, flags, "root.zig", _runtime_sources())


def http_object(target: str) -> Path:
    """What a standalone binary that asks is linked with besides, for the same targets."""
    sources = source_folder()
    parts = [sources / _HTTP_ROOT, *(sources / name for name in _HTTP_SHARES), *(sources / _HTTP_FOLDER).glob("*.zig")]
    flags = (*_HTTP_FLAGS, "-target", OBJECT_TARGETS[target])
    return _cached("kavach_http.o", f"{target}, HTTP", flags, _HTTP_ROOT, parts)


def runtime_library() -> Path:
    """The runtime as a shared library that this process can load."""
    machine = platform.machine()
    if sys.platform != "linux" or machine not in LIBRARY_TARGETS:
        raise RuntimeBuildError(f"programs run in process on Linux only, not on {sys.platform} ({machine})")
    flags = (*_LIBRARY_FLAGS, "-target", LIBRARY_TARGETS[machine])
    return _cached("libkavach_runtime.so", f"{machine}-linux", flags, "root.zig", _runtime_sources())


def _runtime_sources() -> list[Path]:
    sources = source_folder()
    own = [path for path in sources.rglob("*.zig") if path.parent.name != _HTTP_FOLDER and path.name != _HTTP_ROOT]
    return [*own, sources / _HTTP_FOLDER / "url.zig"]


def source_folder() -> Path:
    """Where the Zig sources are: in the checkout, or else inside the installed package."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package.parents[1] / "runtime" / "src", package / "_runtime"):
        if (folder / "root.zig").is_file():
            return folder
    raise RuntimeBuildError("the sources of the runtime are missing: this installation of kavachc is damaged")


def cache_folder() -> Path:
    """KAVACHC_CACHE, or the user's cache folder."""
    if chosen := os.environ.get("KAVACHC_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kavachc"


def _cached(name: str, target: str, flags: tuple[str, ...], root: str, parts: list[Path]) -> Path:
    sources = source_folder()
    cache = cache_folder()
    folder = cache / _fingerprint(sources, parts, flags)
    product = folder / name
    if _is_whole(product):
        return product
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "lock", "w") as lock, progress() as shown:
            building = _Building(target, shown)
            _take_lock(lock, building)
            if not _is_whole(product):  # Otherwise another process built it while this one waited.
                _build(sources / root, product, flags, cache, building)
    except OSError as error:
        raise RuntimeBuildError(f"cannot build the Kavach runtime in {folder}: {error.strerror}") from error
    return product


def _is_whole(product: Path) -> bool:
    """Whether the product is there as it was built: a full disk or a crash can leave a part of it."""
    try:
        return _sum_of(product).read_text() == _digest(product)
    except (OSError, UnicodeDecodeError):
        return False


def _sum_of(product: Path) -> Path:
    return product.with_suffix(".sha256")


def _digest(product: Path) -> str:
    with product.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _fingerprint(sources: Path, parts: list[Path], flags: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    digest.update("\0".join((_zig_version(), *flags)).encode())
    for path in sorted(parts):
        content = path.read_bytes()
        digest.update(f"\0{path.relative_to(sources)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:20]


def _zig_version() -> str:
    try:
        return importlib.metadata.version("ziglang")
    except importlib.metadata.PackageNotFoundError as error:
        raise _zig_is_missing() from error


def _zig_is_missing() -> RuntimeBuildError:
    return RuntimeBuildError("the Python package ziglang is not installed; `pip install ziglang` installs it")


def zig_executable() -> Path:
    """The Zig compiler inside the ziglang package; one on PATH may be any version, and is never used."""
    specification = importlib.util.find_spec("ziglang")
    if specification is None or specification.origin is None:
        raise _zig_is_missing()
    return Path(specification.origin).parent / "zig"


def _build(root: Path, product: Path, flags: tuple[str, ...], cache: Path, building: "_Building") -> None:
    with tempfile.TemporaryDirectory(dir=product.parent) as work:
        made = Path(work) / product.name
        caches = ("--cache-dir", str(cache / "zig"), "--global-cache-dir", str(cache / "zig"))
        command = [str(zig_executable()), *flags, *caches, f"-femit-bin={made}", str(root)]
        with tempfile.TemporaryFile("w+", errors="replace") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=work)
            try:
                while process.poll() is None:
                    building.show()
                    time.sleep(0.05)
            except BaseException:
                process.kill()
                process.wait()
                raise
            log.seek(0)
            output = log.read()
        if process.returncode != 0 or not made.is_file():
            raise RuntimeBuildError(
                f"cannot build the Kavach runtime: Zig ended with status {process.returncode}", output
            )
        made_sum = Path(work) / "sum"
        made_sum.write_text(_digest(made))
        os.replace(made, product)
        os.replace(made_sum, _sum_of(product))


def _take_lock(lock: IO[str], building: "_Building") -> None:
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            building.show()
            time.sleep(0.05)


class _Building:
    """Says for how many seconds it has been."""

    def __init__(self, target: str, shown: Progress) -> None:
        self._text = f"building the Kavach runtime for {target} (once)…"
        self._shown = shown
        self._start_s = time.monotonic()

    def show(self) -> None:
        self._shown.show(f"{self._text} {int(time.monotonic() - self._start_s)} s")
