"""What syntax errors leave unknown: the names that spoiled declarations would have declared (spec 1.recovery).

The checker says nothing about such a name, since nothing is known of it. Here is rather one name too many than one too
few: what is written in a spoiled declaration is only guessed at.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Diagnostic
from kavachc.source import SourceFile
from kavachc.syntax import ast
from kavachc.syntax.tokens import KEYWORDS

# Words that begin a declaration in other languages, and those that bring in other files there.
FOREIGN_DECLARATIONS: Final = tuple(
    "let var val def func fun function class struct enum interface trait public export async abstract".split()
)
FOREIGN_IMPORTS: Final = ("use", "using", "from", "include")

# After these the program is read as it was meant, or as good as.
_HARMLESS: Final = frozenset(
    code.code
    for code in (
        codes.SEMICOLON,
        codes.CONTROL_CHARACTER,
        codes.UNKNOWN_CHARACTER,
        codes.BAD_ESCAPE,
        codes.STRAY_BRACE,
        codes.INT_TOO_LARGE,
        codes.FLOAT_TOO_LARGE,
        codes.DURATION_TOO_LONG,
        codes.REST_MARK,
        codes.REST_NOT_LAST,
    )
)

_NAMED: Final = re.compile(
    r"\b(?:fn|type|capability|agent|def|func|fun|function|class|struct|enum|interface|trait)[ \t]+([A-Za-z_]\w*)"
)
_VALUE: Final = re.compile(r"^(?:pub[ \t]+)?(?:const|let|var|val)[ \t]+(?:mut[ \t]+)?([A-Za-z_]\w*)", re.MULTILINE)
_IMPORTS: Final = re.compile(rf"#?(?:import|{'|'.join(FOREIGN_IMPORTS)})\b")
# A declaration's first line, as far as its name may stand there.
_HEAD: Final = re.compile(r"[^\n({]*")
_NAMELESS: Final = re.compile(
    rf"(?:pub\s+)?(?:fn|type|capability|agent|const)\b(?:\s*\b(?:{'|'.join(sorted(KEYWORDS))})\b)*\s*(?![A-Za-z_\s])"
)
# What may stand before a declaration, and brackets that were not closed before it.
_BEFORE: Final = re.compile(r"(?:[\s)}\]]|//[^\n]*)*")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")


def without_start(text: str) -> str:
    """`text` from the first word of a declaration on."""
    before = _BEFORE.match(text)
    assert before is not None
    return text[before.end() :]


def names_declared(text: str) -> set[str]:
    """The names that `text`, the source of one spoiled declaration or more, may have declared; none when its own name
    is missing."""
    head = _HEAD.match(text)
    assert head is not None
    names = set(_WORD.findall(head.group())) - KEYWORDS
    if not names or _NAMELESS.match(text):
        return set()
    names.update(_NAMED.findall(text))
    names.update(_VALUE.findall(text))
    return names


def imports(text: str) -> bool:
    """Whether `text`, which could not be read, was to bring the names of another file."""
    return _IMPORTS.match(text) is not None


def split_spoiled(
    declarations: Sequence[ast.Declaration], reported: Sequence[Diagnostic]
) -> tuple[list[ast.Declaration], list[ast.Declaration]]:
    """The declarations that are as they were meant, and those with a mistake among `reported` in them."""
    starts = [declaration.span.start for declaration in declarations]
    wrong: set[int] = set()
    for item in reported:
        if item.span is None or item.severity != "error" or item.code in _HARMLESS:
            continue
        index = bisect_right(starts, item.span.start) - 1
        if index >= 0 and item.span.start < declarations[index].span.end:
            wrong.add(index)
    sound = [declaration for index, declaration in enumerate(declarations) if index not in wrong]
    return sound, [declarations[index] for index in sorted(wrong)]


def drop_cut_short(file: SourceFile, declarations: list[ast.Declaration], mistake: int) -> list[ast.Declaration]:
    """Take away from the end of `declarations`, and give, those that lack what stands at the `mistake` just after them,
    since a `}` too many ended the first of them: it ends on an indented line, or indented ones follow it."""
    cut: list[ast.Declaration] = []
    margin = file.position(declarations[0].span.start)[1] if declarations else 1
    while declarations:
        span = declarations[-1].span
        first, column = file.position(span.start)
        last, _ = file.position(span.end - 1)
        line = file.line_text(last)
        is_inner = column > margin
        ends_inside = last > first and len(line) - len(line.lstrip()) > column - 1
        if not (cut or is_inner or ends_inside or last == file.position(mistake)[0]):
            break
        cut.append(declarations.pop())
        if not is_inner:
            break
    return cut
