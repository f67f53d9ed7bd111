"""When what a program prints can be seen: line by line on a terminal, otherwise when a block of it is full."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kavachc.backend.runtime_build import runtime_library
from kavachc.backend.targets import host_target
from kavachc.driver import Compilation

# It prints two lines and then works for ever, without a wait that would write them out.
SOURCE = """
fn main() {
    print("first")
    print("second")
    let n = 1
    while n > 0 {
        n = n % 7 + 1
    }
}
"""
ENGINES = ("interp", "interp --host native", "run", "build")
LINES = b"first\r\nsecond\r\n"  # A terminal ends lines so.


def command(engine: str, folder: Path) -> list[str]:
    source = folder / "lines.kav"
    source.write_text(SOURCE)
    if engine == "build":
        Compilation(str(source)).build(str(folder / "lines"), host_target(), 2)
        return [str(folder / "lines")]
    runtime_library()  # Built beforehand, so that the wait below is for the program alone.
    name, *options = engine.split()
    return [sys.executable, "-c", "from kavachc.cli import main; main()", name, str(source), *options]


@contextmanager
def running(command: list[str], stdout: int) -> Iterator[None]:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def read_within(descriptor: int, size: int, limit_s: float) -> bytes:
    """What can be read until it is `size` bytes or the time is over."""
    deadline_s = time.monotonic() + limit_s
    content = b""
    while len(content) < size and (rest_s := deadline_s - time.monotonic()) > 0:
        if select.select([descriptor], [], [], rest_s)[0]:
            content += os.read(descriptor, size)
    return content


@pytest.mark.parametrize("engine", ENGINES)
def test_a_terminal_shows_each_line_when_it_is_printed(engine: str, tmp_path: Path) -> None:
    program = command(engine, tmp_path)
    reader, terminal = pty.openpty()
    try:
        with running(program, terminal):
            assert read_within(reader, len(LINES), 60) == LINES
    finally:
        os.close(terminal)
        os.close(reader)


def test_a_pipe_gets_whole_blocks(tmp_path: Path) -> None:
    reader, pipe = os.pipe()
    try:
        with running(command("build", tmp_path), pipe):
            assert read_within(reader, 1, 1) == b""
    finally:
        os.close(pipe)
        os.close(reader)
