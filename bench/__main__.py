"""`make bench`: how fast kavachc's programs and kavachc itself are, as ratios to peers measured in the same run.

Every figure is the best of several runs. The C peers do the same checks (overflow, bounds) and are compiled by the
pinned `zig cc -O2`. Nothing here passes or fails.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kavachc.driver import Compilation

from bench import asks, ledger

PROGRAMS = Path(__file__).parent / "programs"
RUNS = 3


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    ours_s: float
    peer: str
    peer_s: float

    def text(self) -> str:
        ours, peer = f"{self.name:<34}{self.ours_s:9.3f} s", f"{self.peer:<22}{self.peer_s:9.3f} s"
        return f"{ours}   {peer}   {self.ours_s / self.peer_s:6.2f} x"


def best_s(action: Callable[[], object], runs: int = RUNS) -> float:
    times: list[float] = []
    for _ in range(runs):
        start_s = time.perf_counter()
        action()
        times.append(time.perf_counter() - start_s)
    return min(times)


def output_of(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def compile_c(name: str, folder: Path) -> str:
    binary = str(folder / f"{name}-c")
    subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", "-O2", "-o", binary, str(PROGRAMS / f"{name}.c")], check=True
    )
    return binary


def compile_kavach(path: Path, folder: Path) -> str:
    binary = str(folder / f"{path.stem}-kavach")
    Compilation(str(path)).build(binary, None, 2)
    return binary


def against_c(name: str, title: str, folder: Path) -> Row:
    ours, peer = compile_kavach(PROGRAMS / f"{name}.kav", folder), compile_c(name, folder)
    assert output_of([ours]) == output_of([peer]), f"{name}: the two programs do not print the same"
    return Row(title, best_s(lambda: output_of([ours])), "C, same checks", best_s(lambda: output_of([peer])))


def tasks(folder: Path) -> Row:
    ours = compile_kavach(PROGRAMS / "tasks.kav", folder)
    peer = [sys.executable, str(PROGRAMS / "tasks.py")]
    assert output_of([ours]) == output_of(peer)
    return Row("200,000 tasks", best_s(lambda: output_of([ours])), "Python asyncio", best_s(lambda: output_of(peer), 1))


def start(folder: Path) -> Row:
    (folder / "hello.kav").write_text('fn main() { print("hello") }\n')
    (folder / "hello.c").write_text('#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n')
    ours = compile_kavach(folder / "hello.kav", folder)
    peer = str(folder / "hello-c")
    subprocess.run([sys.executable, "-m", "ziglang", "cc", "-O2", "-o", peer, str(folder / "hello.c")], check=True)
    return Row(
        "start and end, hello world",
        best_s(lambda: output_of([ours]), 50),
        "C, dynamic",
        best_s(lambda: output_of([peer]), 50),
    )


def start_of_asks(folder: Path) -> Row:
    """Nothing is asked: what it costs to have HTTP and TLS in the binary."""
    asks = 'fn main() { if Env.args().len() > 9 { print(ask<Int>("?") catch _ => 0) } }\n'
    (folder / "may_ask.kav").write_text(asks)
    ours, peer = compile_kavach(folder / "may_ask.kav", folder), compile_kavach(folder / "hello.kav", folder)
    return Row(
        "start of a program that can ask",
        best_s(lambda: output_of([ours]), 50),
        "kavach, hello world",
        best_s(lambda: output_of([peer]), 50),
    )


def long_program(lines: int) -> str:
    """A well-typed program of about that many lines."""
    parts: list[str] = []
    for number in range(lines // 10):
        parts.append(
            f"type Item{number} {{ name: String, count: Int }}\n"
            f"fn step{number}(n: Int) -> Int {{\n"
            f'    let item = Item{number}(name: "item {{n}}", count: n)\n'
            "    let total = 0\n"
            "    for i in 0..item.count {\n"
            "        if i % 3 == 0 { total += i * 2 } else { total -= 1 }\n"
            "    }\n"
            "    item.count = total\n"
            "    item.count\n"
            "}\n"
        )
    calls = "".join(f"    total += step{number}(10)\n" for number in range(lines // 10))
    return "".join(parts) + "fn main() {\n    let total = 0\n" + calls + "    print(total)\n}\n"


def compiler(folder: Path) -> Row:
    path = folder / "long.kav"
    path.write_text(long_program(10_000))
    check_s = best_s(lambda: Compilation(str(path)).program, 1)
    build_s = best_s(lambda: Compilation(str(path)).build(str(folder / "long"), None, 2), 1)
    return Row("check 10,000 lines", check_s, "build -O2", build_s)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measurements: list[tuple[str, Callable[[], Row]]] = [
            ("calls", lambda: against_c("calls", "recursive calls, fib(38)", folder)),
            ("sieve", lambda: against_c("sieve", "array, sieve to 20,000,000", folder)),
            ("text", lambda: against_c("text", "strings, 9,000,000 made and dropped", folder)),
            ("tasks", lambda: tasks(folder)),
            ("start", lambda: start(folder)),
            ("start of asks", lambda: start_of_asks(folder)),
            ("compiler", lambda: compiler(folder)),
        ]
        print(f"{'':<34}{'kavach':>9}     {'peer':<22}{'':>9}     {'ratio':>6}")
        for title, measure in measurements:
            if sys.stderr.isatty():
                print(f"measuring {title} …", end="\r", file=sys.stderr, flush=True)
            print(measure().text(), flush=True)
    ledger.main()
    asks.main()


if __name__ == "__main__":
    main()
