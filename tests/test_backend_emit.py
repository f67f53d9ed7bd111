"""What the backend emits, and its tables against their sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from backend_programs import IrProgram, main_of, run_here
from backend_samples import SAMPLES
from conftest import ROOT
from kavachc.backend.link import OutputError, link
from kavachc.backend.llvm_emit import emit_llvm
from kavachc.backend.llvm_object import LlvmError, compile_object, emit_text, parse
from kavachc.backend.targets import TARGETS, UnknownTarget, host_target, target_named
from kavachc.ir import panics
from kavachc.ir.runtime_calls import LIBRARY_CALLS, RUNTIME_CALLS
from kavachc.semantics import panics as meant

HEADER = (ROOT / "runtime/include/kavach.h").read_text(encoding="utf-8")
_PROTOTYPE = re.compile(
    r"^(?P<ends>_Noreturn )?(?P<result>(?:const )?\w+ \**)(?P<name>kv_\w+)\((?P<rest>[^;]*)\);", re.M
)
_KINDS = {"int64_t": "int64", "int32_t": "int32", "double": "float", "bool": "bool", "void": "none"}


def _carried(text: str) -> str:
    text = re.sub(r"/\*.*?\*/|const ", "", text).strip()
    return "pointer" if "*" in text or text.startswith("kv_coroutine") else _KINDS[text.split()[0]]


def _prototypes() -> dict[str, tuple[tuple[str, ...], str, bool]]:
    found = {}
    for match in _PROTOTYPE.finditer(HEADER):
        rest = match["rest"]
        parameters = () if rest == "void" else tuple(_carried(part) for part in rest.split(","))
        found[match["name"]] = (parameters, _carried(match["result"]), match["ends"] is not None)
    return found


def test_runtime_calls_are_those_of_the_header() -> None:
    prototypes = _prototypes()
    for name in ("kv_run", "kv_exchange_header", "kv_exchange_body", "kv_exchange_end"):
        assert prototypes.pop(name)  # For hosts.
    rows = {row.name: (row.parameters, row.result, row.effect == "ends") for row in RUNTIME_CALLS.values()}
    assert {name: row for name, row in rows.items() if name not in LIBRARY_CALLS} == prototypes


def test_panics_are_those_of_the_interpreter() -> None:
    for name in ("INTEGER_OVERFLOW", "DIVISION_BY_ZERO", "CALLS_TOO_DEEP", "CALL_DEPTH_MAX"):
        assert getattr(panics, name) == getattr(meant, name)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["agents", "tasks"])
def test_two_builds_are_the_same(name: str, target: str) -> None:
    module = SAMPLES[name].module
    assert compile_object(module, target, 2) == compile_object(module, target, 2)


def test_only_the_program_is_visible() -> None:
    text, _ = emit_llvm(SAMPLES["agents"].module, target_named("x86_64-linux"))
    defined = re.findall(r"^(@\S+) = (?!internal|private|external)", text, re.M)
    assert defined == ["@kv_program"]
    assert not re.findall(r"^define (?!internal)", text, re.M)


def test_a_program_links_the_ledger_and_the_model_only_when_it_uses_them() -> None:
    def parts(name: str) -> tuple[bool, bool]:
        text, _ = emit_llvm(SAMPLES[name].module, target_named("x86_64-linux"))
        return "@kv_ledger_part" in text, "@kv_model_part" in text

    assert parts("arithmetic") == (False, False)
    assert parts("agents") == (True, False)
    assert parts("ask_dry") == (False, True)


def test_strings_may_hold_any_character() -> None:
    text = 'NUL \\0 quote \\" backslash \\\\ é 🛡 ' + "long " * 2000
    program = IrProgram(main_of(f'show "{text}"'), text.encode().decode("unicode_escape", "replace") + "\n")
    shown = text.replace("\\0", "\0").replace('\\"', '"').replace("\\\\", "\\")
    assert run_here(program, 2).out == shown + "\n"


def test_a_loop_over_floats_is_vectorised() -> None:
    scale = """
function scale(%xs: [float], %by: float) -> bool "main.kav" @1:1 {
  local &i: int
  local &all: bool
entry:
  %zero: int = const.int 0
  local.set &i %zero
  %yes: bool = const.bool true
  local.set &all %yes
  jump head
head:
  %i: int = local.get &i
  %length: int = array.length %xs
  %more: bool = int.compare < %i, %length
  branch %more body end
body:
  %x: float = array.at %xs, %i
  %y: float = float.mul %x, %by
  %z: float = float.add %y, %by
  %fits: bool = float.compare < %z, %x
  %before: bool = local.get &all
  %both: bool = int.compare <= %before, %fits
  local.set &all %both
  %next: int = int.step %i
  local.set &i %next
  jump head
end:
  %all: bool = local.get &all
  return %all
}
"""
    body = """
  %x: float = const.float 1.0
  %xs: [float] = array.make %x, %x
  %r: bool = call scale plain %xs, %x @1:1
  show %r
  release %xs
"""
    text = emit_text(IrProgram(main_of(body, scale), "").module, "x86_64-linux", 2, "llvm")
    assert "double>" in text


def test_a_fault_of_the_emitter_is_told_apart() -> None:
    with pytest.raises(LlvmError, match="use of undefined value"):
        parse("define i64 @f() {\n  ret i64 %x\n}")


def test_an_unknown_target_is_named() -> None:
    with pytest.raises(UnknownTarget, match="no target is called sparc; there are x86_64-linux, aarch64-linux"):
        target_named("sparc")
    assert host_target() in TARGETS


def test_link_says_why_it_cannot_write(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="it is a directory"):
        link(b"", "x86_64-linux", tmp_path)
    with pytest.raises(OutputError, match="there is no directory"):
        link(b"", "x86_64-linux", tmp_path / "missing" / "program")


def test_link_leaves_nothing_behind(tmp_path: Path) -> None:
    out = tmp_path / "program"
    link(compile_object(SAMPLES["arithmetic"].module, "x86_64-linux", 0), "x86_64-linux", out)
    assert [path.name for path in tmp_path.iterdir()] == ["program"]
    assert out.stat().st_mode & 0o111 == 0o111


@pytest.mark.parametrize("level", [0, 2])
def test_frames_of_coroutines_are_small(level: int) -> None:
    text = emit_text(SAMPLES["tasks"].module, "x86_64-linux", level, "llvm")
    sizes = [int(size) for size in re.findall(r"@kv_frame_allocate\(i64 (\d+)\)", text)]
    assert len(sizes) >= 4
    assert max(sizes) <= 120
