"""The audit log: its file, its chain, and what is never in it (spec 8.6, docs/audit-log.md)."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from conftest import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kavachc.audit.reading import read, text_lines
from kavachc.backend.runtime_build import runtime_library
from kavachc.driver import Compilation
from kavachc.engines import ENGINES, Engine, Result, run_engine, skip_reason
from kavachc.options import RunOptions

HERE = [engine for engine in ENGINES if engine.level == 0 and skip_reason(engine) is None]
NATIVE = next(engine for engine in HERE if engine.kind == "build")
PROGRAM = """
agent Asker {
    can Ai
    limit Ai { count <= 3 per day }
    on ask_it(prompt: String) -> Int ! AiError { try ask<Int>(prompt) }
}
fn main() {
    const asker = Asker.start()
    for prompt in ["one", "two", "three", "four"] {
        print(asker.ask_it(prompt) catch e => {
            print(e)
            0
        })
    }
}
"""
SCRIPT = {"replies": [{"answer": 1}, {"answer": 2}, {"status": 400, "message": "bad"}]}


def program(folder: Path) -> Compilation:
    (folder / "asker.kav").write_text(PROGRAM)
    (folder / "model.json").write_text(json.dumps(SCRIPT))
    compilation = Compilation(str(folder / "asker.kav"))
    _ = compilation.program
    return compilation


def logged(engine: Engine, folder: Path, log: Path | str) -> Result:
    """Not in virtual time, in which the engine keeps a log of its own."""
    options = RunOptions(test_model=str(folder / "model.json"), audit_log=str(log))
    return run_engine(engine, program(folder), options)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("audit")
    log = folder / "log"
    for _ in range(2):
        assert logged(HERE[0], folder, log).status == 0
    return log.read_bytes()


@pytest.mark.parametrize("engine", HERE, ids=lambda engine: engine.name)
def test_a_log_is_continued(engine: Engine, tmp_path: Path) -> None:
    log = tmp_path / "log"
    for _ in range(2):
        assert logged(engine, tmp_path, log).status == 0
    contents = read(log.read_bytes())
    assert contents.problem is None and contents.note is None
    kinds = [event["event"] for event in contents.events]
    assert kinds.count("start") == kinds.count("stop") == 2
    assert kinds.count("ask") == kinds.count("end") == 8
    assert [event["result"] for event in contents.events if event["event"] == "end"][3] == "Denied"


@pytest.mark.parametrize("engine", HERE, ids=lambda engine: engine.name)
def test_a_line_without_its_end_is_cut(engine: Engine, tmp_path: Path, content: bytes) -> None:
    for kept, torn in ((content, content[:50]), (b"", content[:5]), (content, b"x")):
        log = tmp_path / "log"
        log.write_bytes(kept + torn)
        result = logged(engine, tmp_path, log)
        assert result.status == 0
        assert result.stderr.splitlines()[0] == (
            f"note: audit log {log} ended in a line that was not written to its end: its last {len(torn)} bytes are cut"
        )
        assert log.read_bytes().startswith(kept)
        assert read(log.read_bytes()).problem is None


@pytest.mark.parametrize("engine", HERE, ids=lambda engine: engine.name)
def test_what_cannot_be_a_log_is_refused(engine: Engine, tmp_path: Path, content: bytes) -> None:
    other = tmp_path / "other"
    wrong = {
        str(tmp_path / "none" / "log"): "its folder does not exist",
        str(tmp_path): "it is a folder",
        "/dev/null": "it is no regular file",
        str(other): "it is no audit log",
    }
    texts = [b"Dear diary,\n", b"Dear", content + b"\n", content.replace(b"previous", b"Previous"), content + b"{}\n"]
    for path, why in wrong.items():
        for text in texts if path == str(other) else [b""]:
            other.write_bytes(text)
            result = logged(engine, tmp_path, path)
            assert (result.status, result.stdout) == (2, "")
            assert result.stderr == f"error: audit log {path} cannot be used: {why}\n"
            assert other.read_bytes() == text


@pytest.mark.parametrize("engine", HERE, ids=lambda engine: engine.name)
def test_a_large_file_of_another_kind_is_not_read(engine: Engine, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    os.truncate(other, 1 << 42)
    result = logged(engine, tmp_path, other)
    assert (result.status, result.stdout) == (2, "")
    assert result.stderr == f"error: audit log {other} cannot be used: it is no audit log\n"


@pytest.mark.parametrize("engine", HERE, ids=lambda engine: engine.name)
def test_one_program_writes_to_it_at_a_time(engine: Engine, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        result = logged(engine, tmp_path, log)
    assert (result.status, result.stdout) == (2, "")
    assert result.stderr == f"error: audit log {log} cannot be used: another program writes to it\n"


def unwritten(log: Path | str, why: str, what_to_do: str) -> str:
    return f"error: audit log {log} cannot be written: {why}\n  help: {what_to_do}\n"


ULIMIT = "allow larger files (`ulimit -f`), or name another one, then start the program again"


@pytest.mark.parametrize("engine", HERE, ids=lambda engine: engine.name)
def test_a_file_that_the_system_does_not_read_or_write(engine: Engine, tmp_path: Path) -> None:
    circle, long = tmp_path / "circle", str(tmp_path / ("x" * 300))
    circle.symlink_to(circle)
    for path, problem in (
        ("/proc/self/mem", "cannot be used: it cannot be read: input/output error\n"),
        (str(circle), "cannot be used: it cannot be opened: too many levels of symbolic links\n"),
        (long, "cannot be used: it cannot be opened: file name too long\n"),
        (str(tmp_path / ("x/" * 2500)), "cannot be used: it cannot be opened: file name too long\n"),
    ):
        result = logged(engine, tmp_path, path)
        assert (result.status, result.stdout, result.stderr) == (2, "", f"error: audit log {path} {problem}")


@pytest.mark.parametrize("way", ["interp", "run", "build"])
def test_no_room_for_a_line(way: str, tmp_path: Path) -> None:
    """40 bytes are fewer than the first line has, so the program does not begin."""
    built, log, script = program(tmp_path), tmp_path / "log", str(tmp_path / "model.json")
    if way == "build":
        built.build(str(tmp_path / "asker"), NATIVE.target, 0)
        command = [str(tmp_path / "asker")]
        environment = RunOptions(test_model=script, audit_log=str(log)).environment()
    else:
        runtime_library()
        command = [sys.executable, "-c", "from kavachc.cli import main; main()", way, "--test-model", script]
        command += ["--audit-log", str(log), str(tmp_path / "asker.kav")]
        environment = dict(os.environ)
    for bytes_max, status in ((40, 2), (1200, 1)):
        log.unlink(missing_ok=True)
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (bytes_max, bytes_max))
        done = subprocess.run(command, env=environment, capture_output=True, text=True, preexec_fn=limit)
        assert (done.returncode, done.stderr) == (status, unwritten(log, "file too large", ULIMIT))


def test_what_cannot_be_recorded_does_not_happen(tmp_path: Path) -> None:
    """The disk is full in the middle: the program stops before the next send."""
    log = tmp_path / "log"
    binary = tmp_path / "asker"
    program(tmp_path).build(str(binary), NATIVE.target, 0)
    environment = RunOptions(test_model=str(tmp_path / "model.json"), audit_log=str(log)).environment()
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1200, 1200))  # noqa: E731
    done = subprocess.run([str(binary)], env=environment, capture_output=True, text=True, preexec_fn=limit)
    assert (done.returncode, done.stderr) == (1, unwritten(log, "file too large", ULIMIT))
    kept = log.read_bytes()
    assert len(kept) <= 1200 and b'"event":"send","ask":2' not in kept


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_change_is_found(content: bytes, data: st.DataObject) -> None:
    lines = content.splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 2))
    way = data.draw(st.sampled_from(["remove", "repeat", "swap", "byte", "insert"]))
    if way == "remove":
        del lines[at]
    elif way == "repeat":
        lines.insert(at, lines[at])
    elif way == "swap":
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    elif way == "insert":
        lines.insert(at, lines[data.draw(st.integers(0, len(lines) - 1))])
    else:
        place = data.draw(st.integers(0, len(lines[at]) - 1))
        byte = data.draw(st.integers(0, 255).filter(lambda value: value != lines[at][place]))
        lines[at] = lines[at][:place] + bytes([byte]) + lines[at][place + 1 :]
    assert read(b"".join(lines)).problem is not None


def test_what_is_removed_at_the_end(content: bytes) -> None:
    lines = content.splitlines(keepends=True)
    whole = read(content)
    cut = read(b"".join(lines[:-3]))
    assert cut.problem is None and cut.note is not None
    assert whole.hashes[-1] not in cut.hashes


def test_anything_can_be_shown(content: bytes) -> None:
    contents = read(content)
    assert len(list(text_lines(contents.events))) == len(contents.events) + 1
    for event in contents.events:
        for name in event:
            if name not in ("previous", "time", "event"):
                assert list(text_lines([{key: value for key, value in event.items() if key != name}]))


def test_no_line_holds_what_was_asked_or_answered(tmp_path: Path) -> None:
    log = tmp_path / "log"
    logged(HERE[0], tmp_path, log)
    assert b"three" not in log.read_bytes()
    os.environ.pop("KAVACH_AUDIT_PROMPTS", None)
    options = RunOptions(test_model=str(tmp_path / "model.json"), audit_log=str(log), audit_prompts=True)
    run_engine(HERE[0], program(tmp_path), options)
    assert b'"prompt":"three"' in log.read_bytes()


def test_the_documentation_shows_a_log() -> None:
    assert '"event":"ask"' in (ROOT / "docs" / "audit-log.md").read_text()
