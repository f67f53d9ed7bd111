"""What built binaries promise: size, memory, many tasks, nothing needed on the server."""

from __future__ import annotations

from pathlib import Path

import pytest
from kavachc.engines import emulator_for
from programs import TARGETS, build, run_binary

HELLO = 'fn main() { print("hello, world") }\n'
ASKS = """
type Yes { ok: Bool }
fn main() ! AiError { print(try ask<Yes>("a")) }
"""
MAY_ASK = """
fn main() ! AiError {
    if Env.args().len() > 0 { print(try ask<Int>("a")) } else { print("hello, world") }
}
"""
CHURN = """
type Item { name: String, tags: [String], n: Int }
fn main() {
    let total = 0
    for i in 0..1_000_000 {
        const item = Item(name: "item {i}", tags: ["a", "tag {i}"], n: i)
        let tags = item.tags
        tags.push(item.name)
        total += tags.len() + item.n % 2
    }
    print(total)
}
"""
SLEEPERS = """
fn nap(i: Int) -> Int {
    Time.sleep(1s * (i % 10))
    i
}
fn main() ! Error {
    let tasks: [Task<Int>] = []
    for i in 0..100_000 {
        tasks.push(spawn nap(i))
    }
    let total = 0
    for t in tasks {
        total += try t.wait()
    }
    print(total)
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_hello_world_is_under_60_kb(tmp_path: Path, target: str) -> None:
    binary = build(tmp_path, HELLO, target)
    assert binary.stat().st_size < 60_000
    if emulator_for(target) is not None:
        ended = run_binary(binary, target)
        assert (ended.stdout, ended.stderr, ended.status) == ("hello, world\n", "", 0)


@pytest.mark.parametrize("target", TARGETS)
def test_a_program_that_asks_is_under_1200_kb(tmp_path: Path, target: str) -> None:
    """With HTTP and TLS."""
    binary = build(tmp_path, ASKS, target)
    assert binary.stat().st_size < 1_200_000
    if emulator_for(target) is not None:
        ended = run_binary(binary, target, KAVACH_DRY_RUN="1")
        assert (ended.stdout, ended.status) == ("Yes(ok: true)\n", 0)


@pytest.mark.parametrize("target", TARGETS)
def test_binaries_are_static_and_repeatable(tmp_path: Path, target: str) -> None:
    first = build(tmp_path, HELLO, target).read_bytes()
    assert first[:4] == b"\x7fELF"
    assert b"ld-linux" not in first and b"ld-musl" not in first, "it names a dynamic loader"
    assert build(tmp_path, HELLO, target).read_bytes() == first


@pytest.mark.parametrize("level", [0, 2])
def test_a_million_values_made_and_dropped_take_constant_memory(tmp_path: Path, level: int) -> None:
    target = "x86_64-linux"
    if emulator_for(target) != []:
        pytest.skip("memory is measured only on the machine's own CPU (spec report)")
    binary = build(tmp_path, CHURN, target, level)
    report = tmp_path / "report"
    ended = run_binary(binary, target, KAVACH_REPORT=str(report))
    # Three tags an item, and one more for each of the 500,000 odd numbers.
    assert (ended.stdout, ended.stderr, ended.status) == ("3500000\n", "", 0)
    assert ended.memory_bytes_max < 20_000_000
    assert report.read_text().splitlines()[0] == "live_blocks 0"


def test_a_hundred_thousand_sleeping_tasks_need_under_100_mb(tmp_path: Path) -> None:
    target = "x86_64-linux"
    if emulator_for(target) != []:
        pytest.skip("memory is measured only on the machine's own CPU (spec report)")
    binary = build(tmp_path, SLEEPERS, target)
    report = tmp_path / "report"
    ended = run_binary(binary, target, KAVACH_VIRTUAL_TIME="1", KAVACH_REPORT=str(report))
    assert (ended.stdout, ended.stderr, ended.status) == ("4999950000\n", "", 0)
    assert ended.memory_bytes_max < 100_000_000
    assert report.read_text().splitlines()[0] == "live_blocks 0"
