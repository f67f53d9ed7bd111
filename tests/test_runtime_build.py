"""Building the runtime into the cache, with a script in the place of Zig."""

from __future__ import annotations

import os
import pty
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kavachc.backend import runtime_build
from kavachc.backend.runtime_build import RuntimeBuildError, runtime_object

WORKING = """#!/bin/sh
echo built >> "{log}"
sleep 0.3
for argument in "$@"; do case "$argument" in -femit-bin=*) echo object > "${{argument#-femit-bin=}}";; esac; done
"""
FAILING = """#!/bin/sh
echo "root.zig:1:1: error: no" >&2
exit 1
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the stand-in notes each time that it ran; the cache is empty."""
    monkeypatch.setenv("KAVACHC_CACHE", str(tmp_path / "cache"))
    stand_in(tmp_path, monkeypatch, WORKING)
    return tmp_path / "log"


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    path = folder / "zig"
    path.write_text(script.format(log=folder / "log"))
    path.chmod(0o755)
    monkeypatch.setattr(runtime_build, "zig_executable", lambda: path)


def test_built_once_also_when_many_ask_at_once(log: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        paths = set(pool.map(runtime_object, ["x86_64-linux"] * 4))
    assert len(paths) == 1 and paths.pop().read_text() == "object\n"
    assert log.read_text() == "built\n"
    runtime_object("aarch64-linux")
    assert log.read_text() == "built\nbuilt\n"


def test_a_failure_shows_what_zig_said_and_leaves_nothing(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, FAILING)
    with pytest.raises(RuntimeBuildError, match=r"Zig ended with status 1\nroot\.zig:1:1: error: no"):
        runtime_object("x86_64-linux")
    assert [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()] == ["lock"]


@pytest.mark.parametrize("damaged", ["", "obj", "object, and more"])
def test_a_damaged_product_is_built_again(log: Path, damaged: str) -> None:
    product = runtime_object("x86_64-linux")
    product.write_text(damaged)
    assert runtime_object("x86_64-linux").read_text() == "object\n"
    assert log.read_text() == "built\nbuilt\n"


def test_nothing_is_shown_when_stderr_is_piped(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    runtime_object("x86_64-linux")
    assert capfd.readouterr() == ("", "")


def test_a_terminal_sees_a_line_that_goes_away(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main_end, terminal_end = pty.openpty()
    with os.fdopen(terminal_end, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        runtime_object("x86_64-linux")
        shown = b""
        while not shown.endswith(b"\r\x1b[K"):  # A terminal hands its bytes over in pieces.
            shown += os.read(main_end, 4096)
    os.close(main_end)
    line = r"\rbuilding the Kavach runtime for x86_64-linux \(once\)… \d+ s\x1b\[K"
    assert re.fullmatch(rf"({line})+\r\x1b\[K", shown.decode()), shown
