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

# K01xx syntax. `expected` and `found` are in the reader's words, made by `syntax/syntax_errors.py`.
EXPECTED = Code("K0101", "expected {expected}, found {found}")
NOT_SUPPORTED = Code("K0102", "{what} not supported yet")
UNCLOSED_BRACKET = Code("K0103", "expected `{closer}` to close `{opener}`, found {found}")
MISMATCHED_BRACKET = Code("K0104", "`{closer}` does not close the `{opener}` that is open")
STRAY_BRACKET = Code("K0105", "`{closer}` closes nothing: no `{opener}` is open", "remove it")
SEMICOLON = Code(
    "K0106", "Kavach has no semicolons", "remove it: a new line ends a statement, one statement on each line"
)
UNKNOWN_CHARACTER = Code("K0107", "the character {character} has no meaning here")
CONTROL_CHARACTER = Code(
    "K0108",
    "the control character {character} cannot stand in a program",
    "remove it; inside text, write the escape `\\u{{{digits}}}`",
)
UNTERMINATED_STRING = Code("K0109", "this text is never closed: the closing `{quote}` is missing")
BAD_ESCAPE = Code("K0110", "`{escape}` is not an escape", r"the escapes are \n \t \r \0 \\ \" \{{ \}} and \u{{1F600}}")
STRAY_BRACE = Code("K0111", "a `}}` in text needs a backslash", r"write `\}}`")
BAD_NUMBER = Code("K0112", "`{text}` is not a number")
INT_TOO_LARGE = Code("K0113", "`{text}` is too large for Int", "the largest Int is 9223372036854775807")
FLOAT_TOO_LARGE = Code("K0114", "`{text}` is too large for Float", "the largest Float is about 1.79e308")
DURATION_TOO_LONG = Code("K0115", "the duration `{text}` is too long", "the longest is about 106751 days")
TOO_DEEP = Code("K0116", "nested deeper than {limit} levels", "give the inner parts names, or functions of their own")
COMPARISON_CHAIN = Code("K0117", "comparisons cannot be chained", "compare twice: `a < b && b < c`")
RANGE_CHAIN = Code("K0118", "a range cannot be part of a range", "a range is `start..end` or `start..=end`")
KEYWORD_AS_NAME = Code("K0119", "`{word}` is a keyword and cannot be a name", "choose another name")
RECEIVER_NOT_FIRST = Code("K0120", "`self` can only be the first parameter")
STRAY_DOCUMENTATION = Code(
    "K0121",
    "this `///` comment documents nothing: it stands after code on its line",
    "put it on the line before what it describes, or write `//`",
    "warning",
)
