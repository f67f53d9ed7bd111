"""The library's rows, and that every engine has each of them; the golden programs show what they do."""

from __future__ import annotations

import re
import unicodedata
from ctypes import POINTER, Structure, byref, c_double, c_int32, c_int64
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import example, given
from hypothesis import strategies as st
from kavachc.backend.runtime_build import runtime_library
from kavachc.bindings import abi
from kavachc.bindings.descriptors import read_text
from kavachc.bindings.library import load_library
from kavachc.interpreter import case_table
from kavachc.interpreter.library import CHANGES
from kavachc.interpreter.library import LIBRARY as COMPUTED
from kavachc.interpreter.values import ABSENT, Present
from kavachc.ir import library as ir_library
from kavachc.ir.library import LIBRARY, LibraryEntry
from kavachc.ir.runtime_calls import LIBRARY_CALLS
from kavachc.ir.types import INT, STRING, Address, Array, IrType, Map, Optional, Tuple
from kavachc.library_page import library_page, written_in_kavach
from kavachc.lower.types import lower_type
from kavachc.semantics.builtin_row import Builtin
from kavachc.semantics.builtins import BUILTINS, GUARDS
from kavachc.semantics.types import ArrayType, MapType, OptionalType, Type, TypeVariable

ROWS = {row.key: row for row in (*BUILTINS, *GUARDS.values())}
SOURCES = sorted((ROOT / "runtime" / "src").glob("library_*.zig"))
_EXPORT = re.compile(r"^(?:pub )?export fn (kv_lib_\w+)\((.*?)\) callconv\(\.c\) (\S+) \{", re.MULTILINE)
_CARRIED = {"i64": "int64", "f64": "float", "bool": "bool", "void": "none", "abi.Coroutine": "pointer"}


def zig_signatures() -> dict[str, tuple[tuple[str, ...], str]]:
    def carried(text: str) -> str:
        return _CARRIED.get(text) or ("pointer" if text.startswith(("*", "[*]", "?*")) else text)

    found = {}
    for path in SOURCES:
        for name, parameters, result in _EXPORT.findall(path.read_text(encoding="utf-8")):
            types = [part.partition(": ")[2] for part in parameters.split(", ") if part]
            found[name] = (tuple(carried(type) for type in types), carried(result))
    return found


def test_the_runtime_has_every_entry_with_its_signature() -> None:
    assert zig_signatures() == {name: (row.parameters, row.result) for name, row in LIBRARY_CALLS.items()}


def of_row(type_: Type) -> IrType:
    if isinstance(type_, TypeVariable):
        return ir_library.T
    if isinstance(type_, ArrayType):
        return Array(of_row(type_.element))
    if isinstance(type_, MapType):
        return Map(of_row(type_.key), of_row(type_.value))
    return Optional(of_row(type_.element)) if isinstance(type_, OptionalType) else lower_type(type_)


@pytest.mark.parametrize("entry", LIBRARY.values(), ids=lambda entry: entry.key)
def test_the_entry_has_the_types_of_its_row(entry: LibraryEntry) -> None:
    row = ROWS[entry.key]
    owner = [] if row.owner is None or isinstance(row.owner, str) else [of_row(row.owner)]
    if row.effect == "Http":
        owner = [INT]  # The agent that sends.
    if row.mutates:
        owner = [Address(owner[0])]
    assert list(entry.parameters) == owner + [of_row(type_) for _, type_ in row.parameters]
    if row.error == "FileError":
        assert entry.result == Tuple((INT, STRING))
    elif isinstance(row.result, str):
        # How it ended, the fields of the record.
        assert row.result == "HttpAnswer" and entry.result == Tuple((INT, INT, Map(STRING, STRING), STRING))
    else:
        assert entry.result == of_row(row.result)


def test_what_computes_is_a_function_of_the_runtime() -> None:
    special = {"array.len", "array.push"}  # Ops of the IR.
    assert {*COMPUTED, *CHANGES} - special <= set(LIBRARY)


@pytest.mark.parametrize("row", [*BUILTINS, *GUARDS.values(), *written_in_kavach()], ids=lambda row: row.key)
def test_every_row_is_documented(row: Builtin) -> None:
    assert row.documentation[0].isupper() and row.documentation.endswith(".")


def test_a_golden_calls_every_function_written_in_kavach() -> None:
    """Nothing else checks its body."""
    goldens = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "golden").glob("*/*.golden"))
    assert [row.key for row in written_in_kavach() if f".{row.name}(" not in goldens] == []


def test_the_page_is_up_to_date() -> None:
    page = ROOT / "docs" / "library.md"
    assert page.read_text(encoding="utf-8") == library_page(), "run python -m kavachc.library_page > docs/library.md"


def test_the_page_has_the_types_as_programs_see_them() -> None:
    types = library_page().partition("## Types")[2]
    prelude = (ROOT / "compiler/kavachc/semantics/prelude.kav").read_text(encoding="utf-8")
    declared = re.findall(r"^type (\w+)", prelude, re.MULTILINE)
    assert len(declared) > 10 and re.findall(r"^type (\w+)", types, re.MULTILINE) == declared
    assert "_retry_after" not in types
    assert "    | Failed(status: Int, message: String)\n" in types
    assert "    /// How long an ask may take in all.\n    timeout: Duration = 10m\n" in types


def test_the_two_case_tables_are_the_same() -> None:
    source = (ROOT / "runtime" / "src" / "case_table.zig").read_text(encoding="utf-8")
    for name, rows in (("upper_rows", case_table.UPPER), ("lower_rows", case_table.LOWER)):
        text = source.partition(f"const {name} = ")[2].partition("\n};")[0]
        numbers = re.findall(r"\.\{ (\w+), (\w+), (\w+), (-?\w+) \}", text)
        assert [tuple(int(number, 0) for number in row) for row in numbers] == list(rows)


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="this Python has another version of Unicode")
def test_cases_are_those_of_unicode() -> None:
    upper, lower = case_table.mapping(case_table.UPPER), case_table.mapping(case_table.LOWER)
    for code in range(0x110000):
        character = chr(code)
        for made, table in ((character.upper(), upper), (character.lower(), lower)):
            assert table.get(code, code) == (ord(made) if len(made) == 1 else code), hex(code)


# The runtime's functions against the interpreter's, called through ctypes.

NATIVE = load_library(runtime_library())
TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab,- \t\r\n09.eE+_\u0131\u017f\u212a€😀\u2003\u0301"), st.characters(codec="utf-8")
    ),
    max_size=12,
)


def _string(text: str) -> Any:
    content = text.encode()
    return NATIVE.kv_string_new(content, len(content))


class _OptionalInt(Structure):
    _fields_ = (("is_there", c_int32), ("value", c_int64))


class _OptionalFloat(Structure):
    _fields_ = (("is_there", c_int32), ("value", c_double))


def _text_of(key: str, *arguments: Any, place: bool = False) -> str:
    entry = getattr(NATIVE, LIBRARY[key].symbol)
    entry.restype = POINTER(abi.String)
    given = [_string(item) if isinstance(item, str) else c_int64(item) for item in arguments]
    return read_text(entry(*given, *((None, None) if place else ())))


def _optional_of(key: str, kind: type[Any], *arguments: str) -> Any:
    out = kind()
    entry = getattr(NATIVE, LIBRARY[key].symbol)
    entry.restype = None
    entry(*map(_string, arguments), byref(out))
    return Present(out.value) if out.is_there else ABSENT


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, Present) and isinstance(right, Present):
        return repr(left.value) == repr(right.value)
    return left is right


@pytest.mark.parametrize("key", ["string.to_upper", "string.to_lower"])
def test_every_character_has_the_same_case_in_both(key: str) -> None:
    text = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF)
    assert _text_of(key, text) == COMPUTED[key](text)


def test_the_same_characters_are_space_in_both() -> None:
    for code in range(0x110000):
        if not 0xD800 <= code <= 0xDFFF and (code < 0x3100 or code % 97 == 0):
            assert _text_of("string.trim", chr(code)) == COMPUTED["string.trim"](chr(code)), hex(code)


@given(TEXTS, TEXTS, TEXTS)
def test_texts_are_worked_on_alike(text: str, part: str, other: str) -> None:
    for key in ("string.trim", "string.reverse", "string.to_upper", "string.to_lower"):
        assert _text_of(key, text) == COMPUTED[key](text)
    assert _same(_optional_of("string.index_of", _OptionalInt, text, part), COMPUTED["string.index_of"](text, part))
    if part:
        replaced = COMPUTED["string.replace"](text, part, other)
        assert _text_of("string.replace", text, part, other, place=True) == replaced
    middle = len(text) // 2
    assert _text_of("string.slice", text, middle, len(text), place=True) == text[middle:]


@given(st.one_of(TEXTS, st.from_regex(r"[+-]?[0-9]{1,22}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)))
def test_numbers_are_read_alike(text: str) -> None:
    assert _same(_optional_of("string.to_int", _OptionalInt, text), COMPUTED["string.to_int"](text))
    assert _same(_optional_of("string.to_float", _OptionalFloat, text), COMPUTED["string.to_float"](text))


@given(st.floats())
def test_floats_are_rounded_alike(value: float) -> None:
    for key in ("float.floor", "float.ceil", "float.round", "float.trunc", "float.sqrt", "float.abs"):
        entry = getattr(NATIVE, LIBRARY[key].symbol)
        entry.restype, entry.argtypes = c_double, (c_double,)
        assert repr(entry(value)) == repr(COMPUTED[key](value)), key


@given(st.one_of(st.floats(), st.integers(-(10**17), 10**17).map(lambda n: n / 1024)), st.integers(0, 100))
@example(0.5, 0)
@example(1.7976931348623157e308, 100)
@example(5e-324, 100)
def test_decimals_are_written_alike(value: float, decimals: int) -> None:
    """Python's rounding is that of C, which is exact."""
    entry = getattr(NATIVE, LIBRARY["float.to_fixed"].symbol)
    entry.restype = POINTER(abi.String)
    found = read_text(entry(c_double(value), c_int64(decimals), None, None))
    assert found == COMPUTED["float.to_fixed"](value, decimals) == f"{value:.{decimals}f}"
