"""The ctypes view of the runtime says what `runtime/include/kavach.h` says, and what the library does."""

from __future__ import annotations

import os
import re
from ctypes import (
    POINTER,
    Structure,
    c_bool,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_uint32,
    c_uint64,
    c_void_p,
    sizeof,
)
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from kavachc.backend.runtime_build import runtime_library
from kavachc.bindings import abi
from kavachc.bindings.descriptors import BOOL, STRING, Descriptors, FieldOf, RecordOf, SumOf, VariantOf
from kavachc.bindings.host import Host
from kavachc.bindings.library import load_library
from native_program import Body, MemoryHost, Program, run, run_to_exit

HEADER = (ROOT / "runtime" / "include" / "kavach.h").read_text()
CODE = re.sub(r"/\*.*?\*/", " ", HEADER, flags=re.DOTALL)

SCALARS: dict[str, Any] = {
    "void": None,
    "bool": c_bool,
    "double": c_double,
    "int32_t": c_int32,
    "int64_t": c_int64,
    "uint32_t": c_uint32,
    "uint64_t": c_uint64,
    "kv_coroutine": abi.Coroutine,
    "kv_text_view": abi.TextView,
    "kv_task *": c_void_p,
}


def ctypes_of(declared: str, *, member: bool) -> Any:
    """The ctypes type for a C type without qualifiers that matter."""
    text = re.sub(r"\b(const|struct)\b", "", declared).strip()
    text = re.sub(r"\s*\*\s*", " *", text).replace("* *", "**").strip()
    text = re.sub(r"\s+", " ", text)
    if text in SCALARS:
        return SCALARS[text]
    if text == "uint8_t *":  # Python's bytes will do as an argument; a member's address has no owner.
        return c_void_p if member else c_char_p
    if text == "void *":
        return c_void_p
    stars = len(text) - len(text.rstrip("*"))
    name = text.rstrip("*").strip()
    found: Any = SCALARS[name] if name in SCALARS else abi.STRUCTURES[name]
    for _ in range(stars):
        found = POINTER(found)
    return found


def split_declaration(text: str) -> tuple[str, str]:
    """`const kv_type *element` as the type and the name."""
    match = re.fullmatch(r"\s*(.*?)(\w+)\s*", text, flags=re.DOTALL)
    assert match, text
    return match[1].strip(), match[2]


def header_structures() -> dict[str, str]:
    pattern = r"typedef struct (kv_\w+) \{(.*?)\} \1;"
    return {match[1]: match[2] for match in re.finditer(pattern, CODE, flags=re.DOTALL)}


def header_functions() -> dict[str, tuple[str, list[str]]]:
    outside = re.sub(r"typedef (struct|enum) \w+ \{.*?\} \w+;", "", CODE, flags=re.DOTALL)
    found: dict[str, tuple[str, list[str]]] = {}
    for match in re.finditer(r"^([\w][\w \*]*?)(kv_\w+)\(([^)]*)\);", outside, flags=re.MULTILINE):
        result = match[1].replace("_Noreturn", "").strip()
        arguments = [] if match[3].strip() == "void" else [argument.strip() for argument in match[3].split(",")]
        found[match[2]] = (result, arguments)
    return found


def test_every_structure_has_its_fields_in_order() -> None:
    structures = header_structures()
    assert set(structures) == set(abi.STRUCTURES)
    for name, body in structures.items():
        fields = list(abi.STRUCTURES[name]._fields_)
        for member in filter(None, (part.strip() for part in body.split(";"))):
            if member.endswith("[]"):
                continue  # What follows the block's fields.
            pointer = re.match(r".*\(\*(\w+)\)\((.*)\)$", member, flags=re.DOTALL)
            if pointer:
                check_function_member(name, member, *fields.pop(0))
                continue
            declared, field_name = split_declaration(member)
            if "," in declared:
                raise AssertionError(f"{name}: one member a declaration, please: {member}")
            assert fields.pop(0) == (field_name, ctypes_of(declared, member=True)), f"{name}.{field_name}"
        assert not fields, f"{name}: more fields than the header"


def check_function_member(structure: str, member: str, field_name: str, kind: Any) -> None:
    match = re.fullmatch(r"(.*)\(\*(\w+)\)\((.*)\)", member, flags=re.DOTALL)
    assert match and match[2] == field_name, f"{structure}.{field_name}"
    arguments = [] if match[3].strip() == "void" else match[3].split(",")
    expected = [ctypes_of(as_type(argument), member=True) for argument in arguments]
    assert kind._restype_ == ctypes_of(match[1], member=True), f"{structure}.{field_name}"
    assert list(kind._argtypes_) == expected, f"{structure}.{field_name}"


def as_type(argument: str) -> str:
    """The type of an argument, with or without a name."""
    text = argument.strip()
    if text.endswith("*") or text in SCALARS:
        return text
    return split_declaration(text)[0]


def test_every_function_has_its_prototype() -> None:
    functions = header_functions()
    assert len(functions) > 50
    assert set(functions) == set(abi.FUNCTIONS)
    for name, (result, arguments) in functions.items():
        bound_result, bound_arguments = abi.FUNCTIONS[name]
        assert bound_result == ctypes_of(result, member=True), name
        assert list(bound_arguments) == [ctypes_of(as_type(each), member=False) for each in arguments], name


def test_every_enumeration_has_its_values() -> None:
    pattern = r"typedef enum (kv_\w+) \{(.*?)\} \1;"
    enumerations = {match[1]: match[2] for match in re.finditer(pattern, CODE, flags=re.DOTALL)}
    assert set(enumerations) == set(abi.ENUMERATIONS)
    for name, body in enumerations.items():
        declared = dict(re.findall(r"KV_(\w+) = (\d+)", body))
        members = {member.name: str(int(member)) for member in abi.ENUMERATIONS[name]}
        assert {key.removeprefix("RULE_"): value for key, value in declared.items()} == members, name


def zig_layouts() -> list[tuple[str, int, dict[str, int]]]:
    """What abi.zig checks at compile time: sizes, and offsets of all fields but the first."""
    source = (ROOT / "runtime" / "src" / "abi.zig").read_text()
    checks = re.findall(r"check\((\w+), (\d+), \.\{(.*?)\}\);", source)
    assert len(checks) == len(abi.STRUCTURES)
    return [
        (name, int(size), {key: int(at) for key, at in re.findall(r'\.@?"?(\w+)"? = (\d+)', offsets)})
        for name, size, offsets in checks
    ]


def test_sizes_and_offsets_are_those_of_zig() -> None:
    for name, size, offsets in zig_layouts():
        structure: type[Structure] = getattr(abi, name)
        assert sizeof(structure) == size, name
        names = [field[0] for field in structure._fields_]
        assert set(names[1:]) <= set(offsets), name
        for field_name, offset in offsets.items():
            assert getattr(structure, field_name).offset == offset, f"{name}.{field_name}"


def test_the_library_has_every_function() -> None:
    library = load_library(runtime_library())
    assert library is load_library(runtime_library())
    assert library.kv_live_blocks() >= 0


@pytest.mark.parametrize("text", ["bool kv_x(int64_t a);", "int32_t kv_run(const kv_host *h);"])
def test_the_check_sees_a_changed_prototype(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "CODE", CODE + "\n" + text)
    with pytest.raises(AssertionError):
        test_every_function_has_its_prototype()


# ---- The Python host


def run_with(host: MemoryHost) -> None:
    def main(program: Program) -> Body:
        program.print("printed")
        yield from program.sleep(1)

    run(main, host=host, virtual_time=False, uses_model=False)


@pytest.mark.parametrize(("failure", "status"), [(ValueError("planted"), 70), (KeyboardInterrupt(), 130)])
def test_a_failing_callback_ends_the_program(failure: BaseException, status: int) -> None:
    class Failing(MemoryHost):
        def sleep(self, duration_ns: int) -> None:
            raise failure

    ended, _, err = run_to_exit(lambda: run_with(Failing()))
    assert ended == status
    assert ("ValueError: planted" in err) == (status == 70)


def test_a_write_that_fails_stops_the_program() -> None:
    class Full(MemoryHost):
        def write(self, descriptor: int, content: bytes) -> bool:
            return descriptor != 1 and super().write(descriptor, content)

    assert run_to_exit(lambda: run_with(Full())) == (1, "", "error: cannot write to stdout\n")


def test_the_real_host_does_what_it_says(tmp_path: Path) -> None:
    host = Host()
    path = str(tmp_path / "file").encode()
    assert host.read_file(path) is None
    assert host.write_file(path, b"content\0")
    assert host.read_file(path) == b"content\0"
    assert not host.write_file(b"/nowhere/file", b"")
    assert host.environment(b"PATH") == os.environb[b"PATH"]
    assert host.environment(b"KAVACH_NOT_SET") is None
    assert 0 <= host.random() < 2**64
    before = host.monotonic_ns()
    host.sleep(1_000_000)
    assert host.monotonic_ns() - before >= 1_000_000
    assert not host.write(-1, b"x")


def test_descriptors_lie_as_c_would_lay_them() -> None:
    inner = RecordOf("Inner", [FieldOf("flag", BOOL), FieldOf("text", STRING), FieldOf("last", BOOL)])
    either = SumOf("Either", [VariantOf("None"), VariantOf("Flag", [FieldOf("a", BOOL), FieldOf("b", BOOL)])])
    outer = RecordOf("Outer", [FieldOf("first", BOOL), FieldOf("inner", inner), FieldOf("either", either)])
    made = Descriptors()
    assert (made.type(inner).size, made.type(inner).alignment, made.type(inner).counted) == (24, 8, 1)
    assert (made.type(either).size, made.type(either).alignment, made.type(either).counted) == (8, 4, 0)
    native = made.type(outer)
    assert [native.fields[index].offset for index in range(3)] == [0, 8, 32]
    assert (native.size, native.field_count) == (40, 3)
    assert made.type(outer) is native
