"""The Zig unit tests, which stand beside the code that they test."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kavachc.backend.runtime_build import cache_folder, source_folder, zig_executable


def test_zig_unit_tests() -> None:
    caches = ["--cache-dir", str(cache_folder() / "zig"), "--global-cache-dir", str(cache_folder() / "zig")]
    command = [str(zig_executable()), "test", *caches, "root.zig"]
    done = subprocess.run(command, cwd=source_folder(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_sources_are_formatted() -> None:
    folders = [str(source_folder()), str(source_folder().parent / "tests")]
    done = subprocess.run([str(zig_executable()), "fmt", "--check", *folders], capture_output=True, text=True)
    assert done.returncode == 0, f"zig fmt would change: {done.stdout}"


def test_files_stay_small() -> None:
    long = [path.name for path in Path(source_folder()).glob("*.zig") if len(path.read_text().splitlines()) > 500]
    assert long == []
