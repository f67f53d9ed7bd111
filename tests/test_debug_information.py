"""`kavachc build -g`: gdb knows the files, lines and functions of a program, which runs as without."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT
from kavachc.driver import Compilation

PROGRAM = """\
fn pick(xs: [Int], i: Int) -> Int {
    const n = i + 1
    xs[n - 1]
}

type Pair {
    left: Int

    fn twice(self) -> Int {
        pick([self.left, 2], 0) * 2
    }
}

fn main() {
    Time.sleep(1ms)
    print(Pair(left: 4).twice())
}
"""


def built(folder: Path, level: int) -> Path:
    (folder / "pairs.kav").write_text(PROGRAM)
    binary = folder / "pairs"
    Compilation(str(folder / "pairs.kav")).build(str(binary), f"{platform.machine()}-linux", level, debug=True)
    return binary


@pytest.mark.skipif(shutil.which("gdb") is None, reason="no gdb on this machine (Debian: apt install gdb)")
def test_gdb_stops_at_a_line_and_names_the_calls(tmp_path: Path) -> None:
    commands = ["break pairs.kav:3", "run", "backtrace"]
    arguments = [item for command in commands for item in ("-ex", command)]
    gdb = ["gdb", "-batch", "-nx", *arguments, str(built(tmp_path, 0))]
    ended = subprocess.run(gdb, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    if "ptrace: Operation not permitted" in ended.stderr:
        pytest.skip("processes cannot be traced here")
    assert "3\t    xs[n - 1]" in ended.stdout, ended.stdout + ended.stderr
    frames = [line for line in ended.stdout.splitlines() if line.startswith("#")]
    assert "pick (" in frames[0] and "pairs.kav:3" in frames[0]
    assert "Pair.twice (" in frames[1] and "pairs.kav:10" in frames[1]
    assert "main" in frames[2] and "pairs.kav:16" in frames[2]


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("name", ["limit", "calculator"])
def test_a_program_with_debug_information_does_the_same(tmp_path: Path, name: str, level: int) -> None:
    outputs = []
    for debug in (False, True):
        binary = tmp_path / f"program{debug}"
        compilation = Compilation(str(ROOT / "examples" / f"{name}.kav"))
        compilation.build(str(binary), f"{platform.machine()}-linux", level, debug=debug)
        ended = subprocess.run([str(binary)], capture_output=True, text=True, timeout=120, check=False)
        outputs.append((ended.stdout, ended.stderr, ended.returncode))
    assert outputs[0] == outputs[1]
