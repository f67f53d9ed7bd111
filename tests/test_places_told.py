"""Generated code tells the runtime where it is before each call that may need memory, in the same block: so `out of
memory` has a place, and never that of a call that has ended."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT
from kavachc.backend.llvm_emit import emit_llvm
from kavachc.backend.targets import host_target, target_named
from kavachc.driver import Compilation
from kavachc.golden import read_golden
from kavachc.ir.runtime_calls import RUNTIME_CALLS

# A part of them: every kind of operation is in it.
GOLDENS = [
    path
    for path in sorted((ROOT / "golden").glob("*/*.golden"))
    if "out" in (sections := read_golden(path).sections) and not sections.get("err", "").startswith("error: ")
][::5]
SYMBOL = r'@(?:"([^"]*)"|([\w.]+))'
DEFINITION = re.compile(rf"define internal .*?{SYMBOL}\(")
CALL = re.compile(rf"call .*?{SYMBOL}\(")
LABEL = re.compile(r"[\w.]+:$")


def functions(text: str) -> dict[str, list[str]]:
    """The lines of each."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if start := DEFINITION.match(line):
            lines = found[start[1] or start[2]] = []
        else:
            lines.append(line)
    return found


def called(line: str) -> str | None:
    found = CALL.search(line)
    return (found[1] or found[2]) if found else None


def untold(text: str) -> list[str]:
    """The calls before which nothing is told."""
    all_lines = functions(text)
    needing = {name for name, row in RUNTIME_CALLS.items() if row.needs_memory}
    helpers = {name for name in all_lines if not name.startswith("fn.")}
    while True:
        more = {name for name in helpers - needing if any(called(line) in needing for line in all_lines[name])}
        if not more:
            break
        needing |= more
    problems = []
    for name in all_lines.keys() - helpers:
        is_told = False
        for line in all_lines[name]:
            symbol = called(line)
            if LABEL.match(line) or (symbol or "").startswith("fn.") or re.search(r"call [^@]* %\w+\(", line):
                is_told = False
            elif "ptr @kv_here" in line:
                is_told = True
            elif symbol in needing and not symbol.startswith("panic.") and not is_told:
                problems.append(f"{name}: {line}")
    return problems


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_what_needs_memory_is_told_where_it_is(path: Path, tmp_path: Path) -> None:
    golden = read_golden(path)
    for name, source in {golden.name: golden.sections["source"], **golden.files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    module = Compilation(str(tmp_path / golden.name)).optimise(2)
    assert untold(emit_llvm(module, target_named(host_target()))[0]) == []


def test_a_call_that_is_not_told_is_found() -> None:
    before = 'define internal void @"fn.f"(ptr %caller) {\nentry:\n'
    told, call = "  store ptr %here, ptr @kv_here\n", "  %v1 = call ptr @kv_allocate(i64 8)\n"
    assert untold(before + told + call) == []
    assert untold(before + call) == ["fn.f:   %v1 = call ptr @kv_allocate(i64 8)"]
    assert untold(before + told + '  call void @"fn.g"(ptr %here)\n' + call) != []
    assert untold(before + told + "next:\n" + call) != []
