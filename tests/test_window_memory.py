"""How much memory windows take: of the whole process, as the system counts it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from kavachc.driver import Compilation

PROGRAM = """
type WorkError = Denied(reason: String)
capability Work {
    fn do(amount: AMOUNT, key: Int) ! WorkError
}
type Worker: Work {
    fn do(self, amount: AMOUNT, key: Int) ! WorkError { }
}
agent Boss {
    can Work
    limit Work.do { RULE }
    on do(amount: AMOUNT, key: Int) ! WorkError { try Work.do(amount, key) }
}
fn main() {
    const boss = Boss.start(Work: Worker())
    boss.do(VALUE_OF_0, 0) catch e => print("{e}")
    print(Files.read("/proc/self/status") catch e => "{e}")
    for i in 1..CALLS {
        Time.sleep(STEP)
        boss.do(VALUE_OF_I, i) catch e => print("{e}")
    }
    print(Files.read("/proc/self/status") catch e => "{e}")
    Time.sleep(40d)
    boss.do(VALUE_OF_0, 0) catch e => print("{e}")
    print(Files.read("/proc/self/status") catch e => "{e}")
}
"""


def resident(folder: Path, calls: int, rule: str, amount: str, value: str, step: str) -> tuple[int, int, int]:
    """Bytes of memory: with one entry; at most, until all have come; when all have gone."""
    source = PROGRAM.replace("CALLS", str(calls)).replace("RULE", rule).replace("AMOUNT", amount).replace("STEP", step)
    source = source.replace("VALUE_OF_0", value.replace("i", "1")).replace("VALUE_OF_I", value)
    (folder / "program.kav").write_text(source)
    Compilation(str(folder / "program.kav")).build(str(folder / "program"), None, 2)
    done = subprocess.run(
        [str(folder / "program")], env={"KAVACH_VIRTUAL_TIME": "1"}, capture_output=True, text=True, check=True
    )
    now, most = ([int(kib) * 1024 for kib in re.findall(rf"{name}:\s*(\d+) kB", done.stdout)] for name in NAMES)
    assert len(now) == len(most) == 3, done.stdout
    return now[0], most[1], now[2]


NAMES = ("VmRSS", "VmHWM")


# 1,050,000 is just behind a power of two, where a table that doubles takes most.
@pytest.mark.parametrize("calls", [1_000_000, 1_050_000])
@pytest.mark.parametrize(
    ("rule", "amount", "value", "step", "bytes_max"),
    [
        ("count <= 9_000_000 per day", "Int", "i", "80ms", 8),
        ("sum(amount) <= 9_000_000_000_000_000_000 per 30d", "Int", "8_000_000_000_000 - i", "2468013579ns", 14),
        ("sum(amount) <= 1e300 per 30d", "Float", "0.1 * i.to_float()", "2468013579ns", 15),
    ],
    ids=["count", "large amounts", "Floats"],
)
def test_a_million_entries(
    calls: int, rule: str, amount: str, value: str, step: str, bytes_max: int, tmp_path: Path
) -> None:
    """At most 16 bytes each, also while the window grows; and they come back."""
    first, most, last = resident(tmp_path, calls, rule, amount, value, step)
    assert (most - first) / calls < bytes_max <= 16
    assert last - first < 300_000


def test_keys_with_one_entry_each(tmp_path: Path) -> None:
    calls = 200_000
    first, most, _ = resident(tmp_path, calls, "count <= 5 per 30d by key", "Int", "i", "1s")
    assert (most - first) / calls < 325
