"""The ledger's figures: admissions in memory, against a plain C ring and Python's `limits`, and what a window takes;
durable ones, against a bare loop of write and fsync; and how long a long state file takes to open."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kavachc.driver import Compilation
from kavachc.state.file import StateFile
from kavachc.state.format import Frame, Item, ItemKind, Moment, Name
from kavachc.state.windows import Windows

PROGRAMS = Path(__file__).parent / "programs"
LIMITS_ENTRIES_MAX = 20_000
DAY = 86_400 * 10**9

ADMIT = """
type WorkError = Denied(reason: String)
capability Work {
    fn do(amount: Int) ! WorkError
}
type Worker: Work {
    fn do(self, amount: Int) ! WorkError { }
}
agent Boss {
    can Work
    limit Work.do { RULE }
    on do(amount: Int) -> Bool {
        Work.do(amount) catch _ => { return false }
        true
    }
}
"""
LOOP = """
fn main() {
    const boss = Boss.start(Work: Worker())
    let passed = 0
    for i in 0..CALLS {
        if boss.do(1) { passed += 1 }
    }
    print(passed)
}
"""
TASKS = """
fn work(boss: Boss, calls: Int) {
    for i in 0..calls { const _ok = boss.do(1) }
}
fn main() ! Error {
    const boss = Boss.start(Work: Worker())
    let tasks: [Task<()>] = []
    for i in 0..TASKS { tasks.push(spawn work(boss, CALLS)) }
    for task in tasks { try task.wait() }
}
"""


def build(folder: Path, name: str, source: str) -> str:
    path = folder / f"{name}.kav"
    path.write_text(source)
    Compilation(str(path)).build(str(folder / name), None, 2)
    return str(folder / name)


def seconds(command: list[str], environment: dict[str, str] | None = None) -> float:
    start_s = time.perf_counter()
    subprocess.run(command, env=environment or {}, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start_s


def in_memory(folder: Path) -> None:
    """Calls against a window that is full with so many entries, or as many as come in a millisecond."""
    ring = str(folder / "ring")
    flags = ["-O2", "-o", ring, str(PROGRAMS / "ring.c")]
    subprocess.run([sys.executable, "-m", "ziglang", "cc", *flags], check=True)
    calls = 2_000_000
    for entries, window in ((1, "1ms"), (1_000, "1ms"), (1_000_000, "day")):
        rule = f"count <= {entries} per {window}"
        binary = build(folder, f"admit{entries}", (ADMIT + LOOP).replace("RULE", rule).replace("CALLS", str(calls)))
        ours_s = min(seconds([binary]) for _ in range(3)) / calls
        peer_s = min(seconds([ring, str(entries), str(calls)]) for _ in range(3)) / calls
        limits_s = limits_seconds(entries)
        shown = "no `limits` here"
        if limits_s is not None:
            held = min(entries, LIMITS_ENTRIES_MAX)
            shown = f"`limits` with {held:_} {limits_s * 1e9:7.0f} ns {ours_s / limits_s:6.4f} x"
        ours = f"admission, window of {entries:9_}: {ours_s * 1e9:7.1f} ns"
        peer = f"C ring {peer_s * 1e9:6.1f} ns {ours_s / peer_s:5.1f} x"
        print(f"{ours}   {peer}   {shown}")


def leaving(folder: Path) -> None:
    """Calls that find a window of 1,000 or 1,000,000 entries, of which one leaves with each; with the sleep between."""
    calls = 2_000_000
    for amount, bound in (("1", "9_000_000"), ("0.1", "1e9")):
        kind = "Float" if "." in amount else "Int"
        loop = LOOP.replace("boss.do(1)", f"boss.do({amount})").replace("if boss", "Time.sleep(1us)\n        if boss")
        source = (ADMIT + loop).replace("amount: Int", f"amount: {kind}").replace("CALLS", str(calls))
        each_s: list[float] = []
        for window in ("1ms", "1s"):
            rule = f"sum(amount) <= {bound} per {window}"
            binary = build(folder, f"leaving{kind}{window}", source.replace("RULE", rule))
            each_s.append(min(seconds([binary], {"KAVACH_VIRTUAL_TIME": "1"}) for _ in range(3)) / calls)
        shown = f"1_000: {each_s[0] * 1e9:6.1f} ns   1_000_000: {each_s[1] * 1e9:6.1f} ns"
        print(f"admission while an entry leaves, {kind}s, window of {shown}   {each_s[1] / each_s[0]:5.2f} x")


def memory(folder: Path) -> None:
    """Of the whole process, as the system counts it, at most: what a hundred seconds of calls add, an entry."""
    entries = 1_000_000
    rule = "sum(amount) <= 9_000_000_000_000_000_000 per day"
    loop = LOOP.replace("boss.do(1)", "boss.do(i * 1_000_000)").replace("if boss", "Time.sleep(86us)\n        if boss")
    loop = loop.replace("print(passed)", 'print(Files.read("/proc/self/status") catch e => "{e}")')
    most: list[int] = []
    for calls in (1, entries):
        binary = build(folder, f"memory{calls}", (ADMIT + loop).replace("RULE", rule).replace("CALLS", str(calls)))
        status = subprocess.run([binary], env={"KAVACH_VIRTUAL_TIME": "1"}, capture_output=True, text=True, check=True)
        most.append(int(status.stdout.split("VmHWM:")[1].split()[0]) * 1024)
    print(f"memory, window of {entries:_} Ints: {(most[1] - most[0]) / entries:.1f} bytes an entry")


def limits_seconds(entries: int) -> float | None:
    try:
        limits = importlib.import_module("limits")
    except ImportError:
        return None
    limiter = limits.strategies.MovingWindowRateLimiter(limits.storage.MemoryStorage())
    item = limits.RateLimitItemPerDay(entries)
    # A hit costs it more the more entries there are: a million would take hours to put in.
    for _ in range(min(entries, LIMITS_ENTRIES_MAX)):
        limiter.hit(item)
    calls = 100
    start_s = time.perf_counter()
    for _ in range(calls):
        limiter.hit(item)
    return (time.perf_counter() - start_s) / calls


def durable(folder: Path) -> None:
    """On the disk of the current folder."""
    rule = "count <= 1000000 per day"
    state = folder / "state"
    environment = {"KAVACH_STATE_FILE": str(state)}
    bare_s = bare_seconds(folder / "bare", 300)
    print(f"bare write + fsync of 80 bytes: {1 / bare_s:9.0f} a second")
    for tasks, calls in ((1, 300), (64, 100)):
        source = (ADMIT + TASKS).replace("RULE", rule).replace("CALLS", str(calls)).replace("TASKS", str(tasks))
        binary = build(folder, f"durable{tasks}", source)
        state.unlink(missing_ok=True)
        each_s = seconds([binary], environment) / (tasks * calls)
        rate = f"{1 / each_s:9.0f} a second   {bare_s / each_s:6.2f} x the bare loop"
        print(f"durable admissions, {tasks:2} tasks waiting: {rate}")


def bare_seconds(path: Path, count: int) -> float:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    data = bytes(80)
    start_s = time.perf_counter()
    for _ in range(count):
        os.write(handle, data)
        os.fsync(handle)
    taken_s = time.perf_counter() - start_s
    os.close(handle)
    return taken_s / count


def restart(folder: Path) -> None:
    rule = "count <= 1000000 per day"
    path = folder / "long"
    entries = 1_000_000
    windows = Windows(boot=1)
    file = StateFile(str(path), windows)
    file.open()
    now = Moment(1, 10**9, time.time_ns())
    file.read(now)
    name = Name("Boss", "Work.do", rule, DAY, False)
    first = Frame(now, [name])
    windows.number(windows.get(name))
    file.append(first)
    for start in range(0, entries, 10_000):
        items = [Item(0, ItemKind.ENTRY, now.utc_ns - entries + number, 1) for number in range(start, start + 10_000)]
        file.append(Frame(now, [], items))
    file.discard()
    source = (ADMIT + LOOP).replace("RULE", rule).replace("CALLS", "1")
    binary = build(folder, "restart", source)
    content = path.read_bytes()
    environment = {"KAVACH_STATE_FILE": str(path)}
    # The first start after one of the machine also rewrites the file.
    first_s = seconds([binary], environment)
    times = [seconds([binary], environment) for _ in range(3)]
    print(f"start with 1,000,000 entries ({len(content):_} bytes): {min(times):.3f} s")
    print(f"the same as the first start after one of the machine: {first_s:.3f} s")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        in_memory(folder)
        leaving(folder)
        memory(folder)
        durable(folder)
        restart(folder)


if __name__ == "__main__":
    main()
