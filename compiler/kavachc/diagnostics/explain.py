"""`kavachc explain`: the page of a code, `explain/K0201.md`.

A page has the message as its heading, why it is a rule, and a wrong and a right program, each in a fence marked
`kavach wrong` or `kavach right`. A program of several files is `shop.kav`, and the others follow it in fences marked
`kavach file bank.kav`. `tests/test_explain.py` holds the pages to that, and compiles the programs.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib.resources import files

from kavachc.diagnostics import codes
from kavachc.diagnostics.codes import Code
from kavachc.errors import ToolError

ROWS: dict[str, Code] = {
    row.code: row
    for row in sorted((item for item in vars(codes).values() if isinstance(item, Code)), key=lambda row: row.code)
}


def page(code: str) -> str:
    """The page of `code`, in whatever case it is written; raises `ToolError` for a code that does not exist."""
    name = code.upper()
    if name not in ROWS:
        near = [item for item in ROWS if item.startswith(name) and len(name) == 4]
        near = near or get_close_matches(name, ROWS, n=3, cutoff=0.7)
        lines = [f"help: did you mean {' or '.join(f'`{item}`' for item in near)}?"] if near else []
        for item in near:
            lines.append(f"  {item}  {heading(ROWS[item])}")
        lines.append("help: `kavachc explain` without a code lists them all")
        raise ToolError("\n".join([f"there is no code `{code}`", *lines]), 2)
    return files("kavachc.diagnostics").joinpath("explain", f"{name}.md").read_text(encoding="utf-8")


def contents() -> str:
    """Every code with its message, one a line."""
    return "".join(f"{row.code}  {row.severity:<7}  {heading(row)}\n" for row in ROWS.values())


def heading(row: Code) -> str:
    """The message with its gaps as `…`, on one line."""
    return row.message.format_map(_Gaps())


class _Gaps(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "…"
