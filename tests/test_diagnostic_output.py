"""How diagnostics reach their readers: as JSON for programs, in colour on a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from kavachc.diagnostics.diagnostic import Diagnostic, Label
from kavachc.diagnostics.json_form import json_line
from kavachc.source import SourceFile, Span
from programs import kavachc

TWO_MISTAKES = 'fn main() {\n    const text = "é" + nme\n    const text = 1\n}\n'
FORM = ("--format", "json")


def objects(lines: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.splitlines()]


@pytest.mark.parametrize(
    "command",
    [["check"], ["run"], ["interp"], ["build", "-o", "out"], ["conform"], ["emit", "--stage", "ir"]],
    ids=lambda command: command[0],
)
def test_every_command_writes_an_object_a_line(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "two.kav").write_text(TWO_MISTAKES)
    ended = kavachc(*command, *FORM, "two.kav", cwd=tmp_path)
    assert ended.returncode == 1
    assert objects(ended.stderr) == [
        {
            "severity": "error",
            "code": "K0201",
            "message": "`nme` is not known here",
            "file": "two.kav",
            "start": {"line": 2, "column": 24},
            "end": {"line": 2, "column": 27},
            "labels": [],
            "notes": [],
            "help": None,
        },
        {
            "severity": "error",
            "code": "K0202",
            "message": "`text` is declared twice",
            "file": "two.kav",
            "start": {"line": 3, "column": 11},
            "end": {"line": 3, "column": 15},
            "labels": [
                {
                    "message": "first declared here",
                    "file": "two.kav",
                    "start": {"line": 2, "column": 11},
                    "end": {"line": 2, "column": 15},
                }
            ],
            "notes": [],
            "help": "choose another name for one of them",
        },
    ]


def test_a_diagnostic_without_a_place_says_so(tmp_path: Path) -> None:
    (found,) = objects(kavachc("check", *FORM, "nowhere.kav", cwd=tmp_path).stderr)
    assert found["code"] == "K0001"
    assert (found["file"], found["start"], found["end"]) == (None, None, None)


def test_a_message_about_the_tools_has_no_code(tmp_path: Path) -> None:
    ended = kavachc("build", *FORM, str(ROOT / "examples" / "limit.kav"), "-o", str(tmp_path))
    (found,) = objects(ended.stderr)
    assert ended.returncode == 1
    assert (found["severity"], found["code"]) == ("error", None)
    assert found["message"].startswith("cannot write ")


def test_a_program_without_mistakes_gives_no_lines() -> None:
    ended = kavachc("check", *FORM, str(ROOT / "examples" / "limit.kav"))
    assert (ended.stdout, ended.stderr, ended.returncode) == ("", "", 0)


def test_a_line_is_ascii_and_ends_where_its_span_ends() -> None:
    file = SourceFile("é\u2028.kav", "ab\ncd\n")
    label = Label(Span(file, 0, 0), "here\nand there")
    line = json_line(Diagnostic("K0999", "\u2028\x1b\n", Span(file, 1, 5), (label,), ("a\nb",), severity="warning"))
    assert line.isascii() and line.isprintable()
    read = json.loads(line)
    assert read["message"] == "\u2028\x1b\n"
    assert (read["start"], read["end"]) == ({"line": 1, "column": 2}, {"line": 2, "column": 3})
    assert read["labels"][0]["start"] == read["labels"][0]["end"] == {"line": 1, "column": 1}
    assert read["severity"] == "warning"


def on_a_terminal(folder: Path, *arguments: str, **environment: str) -> str:
    """What the command writes to a terminal that is its stderr."""
    outer, inner = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | environment
    command = [sys.executable, "-c", "from kavachc.cli import main; main()", *arguments]
    with subprocess.Popen(command, cwd=folder, env=variables, stderr=inner, stdout=subprocess.DEVNULL) as process:
        os.close(inner)
        written = b""
        while True:
            try:
                piece = os.read(outer, 4096)
            except OSError:  # Linux: the terminal's other side is closed.
                break
            if not piece:
                break
            written += piece
        process.wait()
    os.close(outer)
    return written.decode()


def test_colour_is_for_a_terminal_alone(tmp_path: Path) -> None:
    (tmp_path / "two.kav").write_text(TWO_MISTAKES)
    assert "\x1b[" in on_a_terminal(tmp_path, "check", "two.kav")
    assert "\x1b[" in on_a_terminal(tmp_path, "check", "two.kav", NO_COLOR="")
    assert "\x1b[" not in on_a_terminal(tmp_path, "check", "two.kav", NO_COLOR="1")
    assert "\x1b[" not in on_a_terminal(tmp_path, "check", *FORM, "two.kav")
    assert "\x1b[" not in kavachc("check", "two.kav", cwd=tmp_path).stderr
