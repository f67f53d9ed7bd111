"""Writes docs/library.md from the builtins table: `python -m kavachc.library_page > docs/library.md`."""

from __future__ import annotations

import sys

from kavachc.semantics.builtins import BUILTINS, Builtin
from kavachc.semantics.types import ArrayType, MapType, PrimitiveType, Type, TypeVariable

_HEAD = """\
# The library

Made from `compiler/kavachc/semantics/builtins.py` by `python -m kavachc.library_page > docs/library.md`. The rules that
are not told in a line are in chapter 10 of `spec.md`.
"""
_FUNCTIONS = "Functions"


def library_page() -> str:
    """Sections in the order in which the table first names their owners."""
    sections: dict[str, list[Builtin]] = {}
    for row in BUILTINS:
        sections.setdefault(_section(row.owner), []).append(row)
    return _HEAD + "".join(_text(title, rows) for title, rows in sections.items())


def _section(owner: Type | str | None) -> str:
    if owner is None:
        return _FUNCTIONS
    if isinstance(owner, ArrayType):
        return "Arrays"
    if isinstance(owner, MapType):
        return "Maps"
    if isinstance(owner, str):
        return f"Capability {owner}"
    return owner.name if isinstance(owner, PrimitiveType) else str(owner).partition("<")[0]


def _text(title: str, rows: list[Builtin]) -> str:
    lines = [f"\n## {title}\n\n", "| | |\n|---|---|\n"]
    lines += [f"| `{_signature(row)}` | {row.documentation} |\n" for row in rows]
    return "".join(lines)


def _signature(row: Builtin) -> str:
    owner = row.owner
    before = "" if owner is None else f"{owner}."
    parameters = ", ".join(f"{name}: {type_}" for name, type_ in row.parameters)
    result = "" if str(row.result) == "()" else f" -> {row.result}"
    error = "" if row.error is None else f" ! {row.error}"
    return f"{before}{row.name}({parameters}){result}{error}{_bounds(owner)}"


def _bounds(owner: Type | str | None) -> str:
    """`, T: Ord`, where the elements need it."""
    if isinstance(owner, ArrayType) and isinstance(owner.element, TypeVariable) and owner.element.bounds:
        return f", {owner.element}: {' + '.join(owner.element.bounds)}"
    return ""


if __name__ == "__main__":
    sys.stdout.write(library_page())
