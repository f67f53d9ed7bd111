"""Every diagnostic, one row each: its stable code, its message, and the help that usually goes with it.

`{name}` stands for a value that the stage gives to `DiagnosticBag.report`. Codes are never reused.
K00xx files, K01xx syntax, K02xx names, K03xx types, K04xx effects and capabilities, K05xx agents and limits,
K06xx errors and control flow, K07xx patterns, K08xx constants and compile-time evaluation, K09xx building.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Code:
    code: str
    message: str
    help: str | None = None
    severity: Severity = "error"


FILE_NOT_FOUND = Code("K0001", "cannot find `{path}`", "check the path: a program is a file that ends in .kav")
FILE_IS_DIRECTORY = Code("K0002", "`{path}` is a directory, not a program", "name a .kav file in it")
FILE_NOT_UTF8 = Code("K0003", "`{path}` is not UTF-8: byte {byte} at offset {offset}", "save the file as UTF-8")
FILE_UNREADABLE = Code("K0004", "cannot read `{path}`: {reason}")
FILE_EMPTY = Code("K0005", "`{path}` has no `main`", "write `fn main() { … }`")
