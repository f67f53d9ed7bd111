"""The library's rows, and that every engine has each of them; the golden programs show what they do."""

from __future__ import annotations

import re
import unicodedata

import pytest
from conftest import ROOT
from kavachc.interpreter import case_table
from kavachc.interpreter.library import CHANGES
from kavachc.interpreter.library import LIBRARY as COMPUTED
from kavachc.ir import library as ir_library
from kavachc.ir.library import LIBRARY, LibraryEntry
from kavachc.ir.runtime_calls import LIBRARY_CALLS
from kavachc.ir.types import INT, STRING, Address, Array, IrType, Optional, Tuple
from kavachc.library_page import library_page
from kavachc.lower.types import lower_type
from kavachc.semantics.builtins import BUILTINS, Builtin
from kavachc.semantics.types import ArrayType, OptionalType, Type, TypeVariable

ROWS = {row.key: row for row in BUILTINS}
SOURCES = sorted((ROOT / "runtime" / "src").glob("library_*.zig"))
_EXPORT = re.compile(r"^(?:pub )?export fn (kv_lib_\w+)\((.*?)\) callconv\(\.c\) (\S+) \{", re.MULTILINE)
_CARRIED = {"i64": "int64", "f64": "float", "bool": "bool", "void": "none"}


def zig_signatures() -> dict[str, tuple[tuple[str, ...], str]]:
    def carried(text: str) -> str:
        return _CARRIED.get(text) or ("pointer" if text.startswith(("*", "[*]", "**")) else text)

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
    return Optional(of_row(type_.element)) if isinstance(type_, OptionalType) else lower_type(type_)


@pytest.mark.parametrize("entry", LIBRARY.values(), ids=lambda entry: entry.key)
def test_the_entry_has_the_types_of_its_row(entry: LibraryEntry) -> None:
    row = ROWS[entry.key]
    owner = [] if row.owner is None or isinstance(row.owner, str) else [of_row(row.owner)]
    if row.mutates:
        owner = [Address(owner[0])]
    assert list(entry.parameters) == owner + [of_row(type_) for _, type_ in row.parameters]
    if row.error == "FileError":
        assert entry.result == Tuple((INT, STRING))
    else:
        assert entry.result == of_row(row.result)


def test_what_computes_is_a_function_of_the_runtime() -> None:
    special = {"array.len", "array.push"}  # Ops of the IR.
    assert {*COMPUTED, *CHANGES} - special <= set(LIBRARY)


@pytest.mark.parametrize("row", BUILTINS, ids=lambda row: row.key)
def test_every_row_is_documented(row: Builtin) -> None:
    assert row.documentation[0].isupper() and row.documentation.endswith(".")


def test_the_page_is_up_to_date() -> None:
    page = ROOT / "docs" / "library.md"
    assert page.read_text(encoding="utf-8") == library_page(), "run python -m kavachc.library_page > docs/library.md"


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
