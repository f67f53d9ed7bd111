"""Asks over real HTTP against `kavachc mock-provider`: a built binary, and Anthropic's own Python SDK doing the same.

The SDK is installed into `build/peers` the first time. Run by itself with `python -m bench.asks`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kavachc.driver import Compilation

PROGRAMS = Path(__file__).parent / "programs"
PEERS = Path("build") / "peers"
SDK = "anthropic==2.14.0"
ANSWER = {"answer": {"ok": True}}
IDEAL_S = 300 / 50 * 2


@dataclass(frozen=True, slots=True)
class Provider:
    process: subprocess.Popen[str]
    url: str
    log: Path

    def requests(self) -> list[dict[str, int]]:
        """Those that have ended, in the order in which they began."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        found: list[dict[str, int]] = [json.loads(line) for line in self.log.read_text().splitlines()]
        return sorted(found, key=lambda each: each["began_ms"])


@contextmanager
def provider(folder: Path, script: dict[str, object]) -> Iterator[Provider]:
    (folder / "script.json").write_text(json.dumps(script))
    log = folder / "sent.log"
    command = [
        sys.executable,
        "-c",
        "from kavachc.cli import main; main()",
        "mock-provider",
        str(folder / "script.json"),
    ]
    process = subprocess.Popen([*command, "--log", str(log)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        yield Provider(process, url, log)
    finally:
        process.kill()
        process.wait()


@dataclass(frozen=True, slots=True)
class Run:
    """What one client did: its own words, seconds of the clock and of the CPU, and its largest memory."""

    said: str
    time_s: float
    cpu_s: float
    memory_mb: float


def run(command: list[str], url: str) -> Run:
    environment = {**os.environ, "ANTHROPIC_API_KEY": "bench", "ANTHROPIC_BASE_URL": url}
    start_s = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, env=environment)
        memory_kb = 0
        while (ended := os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is None:
            memory_kb = max(memory_kb, peak_memory_kb(process.pid))
            time.sleep(0.02)
        time_s = time.perf_counter() - start_s
        assert ended.si_status == 0
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        output.seek(0)
        return Run(output.read().strip(), time_s, usage.ru_utime + usage.ru_stime, memory_kb / 1024)


def peak_memory_kb(process_id: int) -> int:
    """Of the program that runs now: what `wait4` tells knows also what the process was before."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process_id}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


def clients(folder: Path) -> dict[str, list[str]]:
    binary = str(folder / "asks")
    Compilation(str(PROGRAMS / "asks.kav")).build(binary, None, 2)
    python = PEERS / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", SDK], check=True)
    return {"kavach": [binary], "anthropic SDK": [str(python), str(PROGRAMS / "asks.py")]}


def crowd(folder: Path, commands: dict[str, list[str]], title: str, capacity: object) -> None:
    """300 asks at once, of which the provider takes `capacity` at a time, 2 s each."""
    print(f"300 asks at once, {title}; ideal with 50: {IDEAL_S:.1f} s")
    script: dict[str, object] = {"replies": [{**ANSWER, "delay": "2s"}], "capacity": capacity}
    for name, command in commands.items():
        with provider(folder, script) as server:
            done = run([*command, "300", "300"], server.url)
            sent = server.requests()
        first_wave_ms = sent[0]["began_ms"] + 1_000
        later = [each for each in sent[300:] if each["began_ms"] > first_wave_ms] if len(sent) > 300 else []
        refused = sum(each["status"] == 429 for each in later)
        share = 100 * refused / max(1, len(later))
        times = f"{done.time_s:6.1f} s ({done.time_s / IDEAL_S:4.2f} x ideal)"
        print(f"  {name:<14}{done.said}, {len(sent)} sends, later refused {share:4.1f} %, {times}")


def many(folder: Path, commands: dict[str, list[str]]) -> None:
    """5,000 asks over loopback, 50 at a time: what each costs the client."""
    rates: list[float] = []
    print("5,000 asks, 50 at a time")
    for name, command in commands.items():
        with provider(folder, {"replies": [ANSWER]}) as server:
            done = run([*command, "5000", "50"], server.url)
        rates.append(5_000 / done.cpu_s)
        figures = f"{done.cpu_s:6.2f} s CPU, {rates[-1]:7.0f} asks per CPU second, {done.memory_mb:5.1f} MB"
        print(f"  {name:<14}{done.said}, {figures}, {done.time_s:5.1f} s")
    print(f"  ratio of asks per CPU second: {rates[0] / rates[1]:.1f} x")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = clients(folder)
        many(folder, commands)
        crowd(folder, commands, "capacity 50", 50)
        crowd(folder, commands, "capacity 50, after 2 s 7, after 8 s 50", [[0, 50], ["2s", 7], ["8s", 50]])


if __name__ == "__main__":
    main()
