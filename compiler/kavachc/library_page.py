"""Writes docs/library.md from the builtins table, and from what `library.kav` says of its functions and `prelude.kav`
of its types: `python -m kavachc.library_page > docs/library.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.semantics.builtin_row import Builtin
from kavachc.semantics.builtins import BUILTINS, NAMESPACES
from kavachc.semantics.checker import load_prelude
from kavachc.semantics.declarations import declare
from kavachc.semantics.library import library_rows
from kavachc.semantics.types import (
    NEVER,
    ArrayType,
    MapType,
    OptionalType,
    PrimitiveType,
    Type,
    TypeVariable,
    substitute,
    variables,
)
from kavachc.syntax import ast
from kavachc.syntax.program_files import ProgramFiles

_HEAD = """\
# The library

Made from `builtins.py`, `library.kav` and `prelude.kav` in `compiler/kavachc/semantics/` by `python -m
kavachc.library_page > docs/library.md`. The rules that are not told in a line are in chapter 10 of `spec.md`. Functions
that are given may fail; then so does the call, with their error. The types that every program has are at the end.
"""
_TYPES = """
## Types

Every program has these, besides `Int`, `Float`, `Bool`, `String`, `Duration`, `Instant`, `Task<T>`, and `Error`, which
any record or sum that shows becomes where an `Error` is wanted (spec 2.convert, 4.types). After `=` stands what a field
is where a program does not say.
"""
_FUNCTIONS = "Functions"


def library_page() -> str:
    """Sections in the order in which the table first names their owners."""
    sections: dict[str, list[Builtin]] = {}
    for row in (*BUILTINS, *written_in_kavach()):
        sections.setdefault(_section(row.owner), []).append(row)
    return _HEAD + "".join(_text(title, rows) for title, rows in sections.items()) + _TYPES + "".join(_types())


def written_in_kavach() -> Iterator[Builtin]:
    """A row for each method of `library.kav`."""
    world = declare(load_prelude(), ProgramFiles(), DiagnosticBag())
    for function, documentation in library_rows(world):
        cannot_fail = {item: NEVER for item in function.type_parameters if "Error" in item.bounds}
        owner, *parameters = [(item.name, substitute(item.type, cannot_fail)) for item in function.parameters]
        error = None if function.error in cannot_fail else function.error
        name = function.name.partition(".")[2]
        yield Builtin(function.name, name, owner[1], tuple(parameters), function.result, documentation, error=error)


def _section(owner: Type | str | None) -> str:
    if owner is None:
        return _FUNCTIONS
    if isinstance(owner, ArrayType):
        return "Arrays"
    if isinstance(owner, OptionalType):
        return "Optionals"
    if isinstance(owner, MapType):
        return "Maps"
    if isinstance(owner, str):
        return "JSON" if owner in NAMESPACES else f"Capability {owner}"
    return owner.name if isinstance(owner, PrimitiveType) else str(owner).partition("<")[0]


def _text(title: str, rows: list[Builtin]) -> str:
    lines = [f"\n## {title}\n\n", "| | |\n|---|---|\n"]
    lines += [f"| `{_signature(row)}` | {row.documentation} |\n" for row in rows]
    return "".join(lines)


def _signature(row: Builtin) -> str:
    owner = row.owner
    before = "" if owner is None else f"{owner}."
    parameters = ", ".join(f"{name}: {type_}{_default(row, name)}" for name, type_ in row.parameters)
    result = "" if str(row.result) == "()" else f" -> {row.result}"
    error = "" if row.error is None else f" ! {row.error}"
    name = f"{row.name}<T>" if isinstance(row.owner, str) and isinstance(row.result, TypeVariable) else row.name
    return f"{before}{name}({parameters}){result}{error}{_bounds(row)}"


def _default(row: Builtin, parameter: str) -> str:
    default = row.default(parameter)
    return "" if default is None else f" = {default.text}"


def _bounds(row: Builtin) -> str:
    """`, T: Ord`, where type parameters need it. That the keys of a map are keys needs no word."""
    types = [type_ for _, type_ in row.parameters]
    if isinstance(row.owner, Type) and not isinstance(row.owner, MapType):
        types.insert(0, row.owner)
    known = set(variables(row.owner)) if isinstance(row.owner, MapType) else set()
    found = dict.fromkeys(item for type_ in types for item in variables(type_) if item not in known)
    return "".join(f", {item}: {' + '.join(item.bounds)}" for item in found if item.bounds)


def _types() -> Iterator[str]:
    """Each type of the prelude as a program would declare it, with its doc text before."""
    for declaration in load_prelude().declarations:
        assert isinstance(declaration, ast.RecordDeclaration | ast.SumDeclaration)
        assert declaration.documentation is not None, declaration.name.text
        name = declaration.name.text
        if isinstance(declaration, ast.RecordDeclaration):
            fields = "".join(f"{_comment(field)}    {_field(field)}\n" for field in declaration.fields)
            text = f"type {name} {{\n{fields}}}"
        else:
            variants = [_variant(item) for item in declaration.variants]
            text = f"type {name} = {' | '.join(variants)}"
            if "(" in text:
                text = f"type {name} =\n    " + "\n    | ".join(variants)
        yield f"\n### `{name}`\n\n{declaration.documentation}\n\n```kavach\n{text}\n```\n"


def _comment(field: ast.Field) -> str:
    return "".join(f"    /// {line}\n" for line in (field.documentation or "").splitlines())


def _variant(variant: ast.Variant) -> str:
    """Without the fields that no program sees."""
    fields = [_field(field) for field in variant.fields if not field.name.text.startswith("_")]
    return f"{variant.name.text}({', '.join(fields)})" if fields else variant.name.text


def _field(field: ast.Field) -> str:
    default = "" if field.default is None else f" = {field.default.span.text}"
    return f"{field.name.text}: {field.type.span.text}{default}"


if __name__ == "__main__":
    sys.stdout.write(library_page())
