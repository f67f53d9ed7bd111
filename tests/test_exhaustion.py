"""Out of memory and out of stack: the same panic, place and trace on every engine; what was printed is there."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from kavachc.backend.runtime_build import runtime_library
from kavachc.backend.targets import host_target
from kavachc.driver import Compilation
from kavachc.engines import emulator_for

ENGINES = {
    "interp": ("interp",),
    "interp native": ("interp", "--host", "native"),
    "run -O0": ("run", "-O", "0"),
    "run -O2": ("run", "-O", "2"),
    "build": (),
    "build arm": (),
}
MAIN = "from kavachc.cli import main; main()"
ADDRESS_SPACE = 2_400 << 20  # A stack of 1 GiB, and room for the compiler.

GROWS = """
fn main() {
    print("start")
    let text = "0123456789abcdef"
    for _ in 0..40 { text = "{text}{text}" }
    print("end")
}
"""


def nested_records(levels: int) -> str:
    """A recursive function whose frame holds records of 16 << levels bytes."""
    lines = ["type R0 { x: Int, y: Int }", "fn make0(n: Int) -> R0 { R0(x: n, y: n + 1) }"]
    for level in range(1, levels + 1):
        inner = level - 1
        lines.append(f"type R{level} {{ x: R{inner}, y: R{inner} }}")
        made = f"R{level}(x: make{inner}(n), y: make{inner}(n + {level}))"
        lines.append(f"fn make{level}(n: Int) -> R{level} {{ {made} }}")
    kind = f"R{levels}"
    lines.append(f"fn deep(n: Int, r: {kind}) -> {kind} {{")
    lines.append("    if n == 0 { return r }")
    lines.append(f"    const inner = deep(n - 1, make{levels}(n))")
    lines.append("    if n % 1000 == 7 { r } else { inner }")
    lines.append("}")
    path = ".".join("x" * (levels + 1))
    lines.append(f'fn main() {{\n    print("start")\n    print(deep(99_000, make{levels}(3)).{path})\n}}')
    return "\n".join(lines)


def run(source: str, engine: str, folder: Path, main: str = MAIN, address_space: int | None = None) -> tuple[str, ...]:
    """stdout, stderr and the status."""
    program = folder / "program.kav"
    program.write_text(source)
    options = ENGINES[engine]
    if options:
        runtime_library()
        command = [sys.executable, "-c", main, options[0], str(program), *options[1:]]
    else:
        target = "aarch64-linux" if engine == "build arm" else host_target()
        emulator = emulator_for(target)
        if emulator is None:
            pytest.skip("no qemu-aarch64 on this machine")
        Compilation(str(program)).build(str(folder / "program"), target, 2)
        command = [*emulator, str(folder / "program")]

    def limit() -> None:
        if address_space is not None:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, preexec_fn=limit)
    return ended.stdout, ended.stderr, str(ended.returncode)


@pytest.mark.parametrize("engine", [name for name in ENGINES if name not in ("run -O0", "build arm")])
def test_out_of_memory(engine: str, tmp_path: Path) -> None:
    ended = run(GROWS, engine, tmp_path, address_space=ADDRESS_SPACE)
    assert ended == ("start\n", f"panic: out of memory at {tmp_path}/program.kav:5:29\n", "101")


@pytest.mark.parametrize("is_task", [False, True])
@pytest.mark.parametrize("engine", ["run -O0", "build", "build arm"])
def test_stack_overflow(engine: str, is_task: bool, tmp_path: Path) -> None:
    source = nested_records(9)
    last = "called at {}:28:11"
    if is_task:
        source = source.replace("print(deep(", "const task = spawn first(")
        source = re.sub(r"first\((.*)\)\.[x.]+\)\n", r"first(\1)\n    task.wait() catch _ => make9(1)\n", source)
        source += "\nfn first(n: Int, r: R9) -> R9 {\n    deep(n, r)\n}\n"
        last = "called at {0}:32:5\n  in first, started at {0}:28:18"
    stdout, stderr, status = run(source, engine, tmp_path)
    path = f"{tmp_path}/program.kav"
    lines = stderr.splitlines()
    assert (stdout, status, lines[0]) == ("start\n", "101", f"panic: stack overflow at {path}:23:19")
    assert lines[1] == f"  in deep, called at {path}:23:19"
    assert len(lines) == 21
    assert stderr.endswith(f"  in deep, {last.format(path)}\n")


@pytest.mark.parametrize("engine", ["interp", "interp native"])
def test_stack_overflow_in_the_interpreter(engine: str, tmp_path: Path) -> None:
    """Only parts of an expression nest on its stack, and its stack is large; here it is given a small one."""
    source = f'fn main() {{\n    print("start")\n    const n = 1\n    print(n{" + n" * 5_000})\n}}\n'
    small = "import kavachc.interpreter.stack as stack; stack.STACK_BYTES = (1 << 20,)"
    stdout, stderr, status = run(source, engine, tmp_path, f"{small}; {MAIN}")
    assert (stdout, status) == ("start\n", "101")
    assert re.fullmatch(rf"panic: stack overflow at {tmp_path}/program.kav:4:\d+\n", stderr)
    assert run(source, engine, tmp_path) == ("start\n5001\n", "", "0")
