"""IR programs for the tests of the backend, and the ways to run them.

`show %a, %b` in a program's text stands for the text of the values being made, printed and released, with spaces
between them; `show "text"` for a string.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from kavachc.backend.jit import run_in_process
from kavachc.backend.link import link
from kavachc.backend.llvm_object import compile_object
from kavachc.engines import emulator_for
from kavachc.ir.module import Module
from kavachc.ir.parser import parse_module
from kavachc.ir.verifier import verify
from kavachc.options import RunOptions
from native_program import MemoryHost

_SHOW = re.compile(r"^\s*show (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Ended:
    """`live` is the first line of the report; a program that panics writes none."""

    out: str
    err: str
    status: int
    live: str


@dataclass(frozen=True, slots=True)
class IrProgram:
    """What the program prints, worked out by hand."""

    text: str
    out: str
    err: str = ""
    status: int = 0
    environment: dict[str, str] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def expected(self) -> Ended:
        """Nothing is left on the heap of a program that ends well."""
        return Ended(self.out, self.err, self.status, "" if self.status == 101 else "live_blocks 0")

    @property
    def module(self) -> Module:
        return _module(self.text)


@cache
def _module(text: str) -> Module:
    module = parse_module(expand(text))
    verify(module)
    return module


def expand(text: str) -> str:
    number = 0

    def show(match: re.Match[str]) -> str:
        nonlocal number
        lines: list[str] = []
        shown: list[str] = []
        made: list[str] = []
        for item in match.group(1).split(", "):
            if shown:
                number += 1
                lines.append(f'%shown{number}: string = const.string " "')
                shown.append(f"%shown{number}")
                made.append(f"%shown{number}")
            if item.startswith('"'):
                number += 1
                lines.append(f"%shown{number}: string = const.string {item}")
                item = f"%shown{number}"
                made.append(item)
            shown.append(item)
        number += 1
        lines.append(f"%shown{number}: string = text.make {', '.join(shown)}")
        lines.append(f"print %shown{number}")
        lines.extend(f"release {name}" for name in [f"%shown{number}", *made])
        return "\n".join(lines)

    return _SHOW.sub(show, text)


def main_of(body: str, before: str = "", locals: str = "") -> str:
    """A program whose `main` is the one block `body`."""
    return f"""
entry main
{before}
function main() -> nothing ! error waits "main.kav" @1:1 {{
{locals}
entry:
{body}
  %end: nothing = const.nothing
  return %end
}}
"""


def run_binary(program: IrProgram, target: str, level: int, folder: Path) -> Ended:
    """Links the program and runs it."""
    binary = folder / "program"
    report = folder / "report"
    link(compile_object(program.module, target, level), target, binary)
    emulator = emulator_for(target)
    assert emulator is not None
    environment = {"PATH": os.environ["PATH"], "KAVACH_REPORT": str(report), **program.environment}
    ended = subprocess.run(
        [*emulator, str(binary)], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    live = report.read_text().splitlines()[0] if report.exists() else ""
    return Ended(ended.stdout, ended.stderr, ended.returncode, live)


class CapturingHost(MemoryHost):
    """Files are the real ones."""

    def read_file(self, path: bytes) -> bytes | None:
        return Path(os.fsdecode(path)).read_bytes()


def run_here(program: IrProgram, level: int) -> Ended:
    """Runs it in process. Only for programs that do not panic: a panic would end the tests."""
    assert program.status != 101
    host = CapturingHost()
    known = program.environment
    options = RunOptions(
        dry_run="KAVACH_DRY_RUN" in known,
        virtual_time="KAVACH_VIRTUAL_TIME" in known,
        test_model=known.get("KAVACH_TEST_MODEL"),
        report="report",
    )
    status = run_in_process(program.module, options, level, host)
    live = host.files[b"report"].splitlines()[0].decode()
    return Ended(host.written[1].decode(), host.written[2].decode(), status, live)
