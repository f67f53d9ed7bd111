"""Warnings reach the user once, and change nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT
from kavachc.driver import Compilation
from programs import kavachc

PROGRAM = 'fn main() {\n    const unused = 1\n    print("out")\n}\n'


@pytest.mark.parametrize(
    ("command", "output"), [(["check"], ""), (["run"], "out\n"), (["interp"], "out\n"), (["build", "-o", "out"], "")]
)
def test_a_warning_is_said_once_and_the_status_stays(tmp_path: Path, command: list[str], output: str) -> None:
    (tmp_path / "a.kav").write_text(PROGRAM)
    ended = kavachc(*command, "a.kav", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (0, output)
    assert ended.stderr == (
        "warning: `unused` is never used\n"
        " --> a.kav:2:11 [K1001]\n"
        "  |\n"
        "2 |     const unused = 1\n"
        "  |           ^^^^^^\n"
        "  = help: leave it out, or call it `_unused`\n"
    )


def test_a_warning_as_json(tmp_path: Path) -> None:
    (tmp_path / "a.kav").write_text(PROGRAM)
    ended = kavachc("check", "--format", "json", "a.kav", cwd=tmp_path)
    (found,) = [json.loads(line) for line in ended.stderr.splitlines()]
    assert (found["severity"], found["code"]) == ("warning", "K1001")


def test_engines_do_not_repeat_it(tmp_path: Path) -> None:
    (tmp_path / "a.kav").write_text(PROGRAM)
    ended = kavachc("conform", "a.kav", cwd=tmp_path)
    assert "DIFFERS" not in ended.stdout
    assert "warning" not in ended.stdout + ended.stderr


def test_a_program_with_errors_has_no_warnings(tmp_path: Path) -> None:
    (tmp_path / "a.kav").write_text(PROGRAM + "const A = 1 / 0\nfn b() { c() }\n")
    assert "warning" not in kavachc("check", "a.kav", cwd=tmp_path).stderr


def test_the_examples_have_none() -> None:
    for path in sorted((ROOT / "examples").rglob("*.kav")):
        compilation = Compilation(str(path))
        _ = compilation.program
        assert compilation.bag.items == [], path


def test_nested_blocks_and_long_sums_are_walked(tmp_path: Path) -> None:
    blocks = "if true { " * 200 + "const unused = 1" + " }" * 200
    total = " + ".join(["1"] * 20_000)
    path = tmp_path / "a.kav"
    path.write_text(f"fn main() {{\n{blocks}\nprint({total})\n}}\n")
    compilation = Compilation(str(path))
    _ = compilation.program
    assert [item.code for item in compilation.bag.items] == ["K1001"]


def test_of_an_imported_file_its_pub_names_and_its_main_may_stand_unused(tmp_path: Path) -> None:
    (tmp_path / "bank.kav").write_text("pub fn offered() { }\nfn hidden() { }\nfn main() { }\n")
    (tmp_path / "a.kav").write_text('import "bank.kav"\nfn idle() { }\nfn main() { }\n')
    compilation = Compilation(str(tmp_path / "a.kav"))
    _ = compilation.program
    assert [item.message for item in compilation.bag.items] == [
        "nothing of `bank.kav` is used",
        "nothing calls `idle`",
        "nothing calls `hidden`",
    ]
