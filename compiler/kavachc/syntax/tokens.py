"""The tokens that `lexer.py` makes and the LALR tables read.

A token's `kind` is its own text for words and marks with one spelling (`"fn"`, `"=>"`) and an upper-case
name for the others (`"IDENTIFIER"`, `"INT"`), so that an error message can be made from kinds alone.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Token(NamedTuple):
    """One token: `start` and `end` are character offsets, `text` is its source text.

    For STRING… tokens `text` is the piece between the delimiters, escapes unresolved.
    """

    kind: str
    start: int
    end: int
    text: str


NEWLINE: Final = "NEWLINE"
IDENTIFIER: Final = "IDENTIFIER"
END: Final = "$END"
# Stands where the lexer has already reported a mistake; no rule accepts it.
MISTAKE: Final = "MISTAKE"

KEYWORDS: Final = frozenset(
    "fn type capability agent const let if else match for in while break continue return fail try catch "
    "assert spawn with uses true false none self import pub mut".split()
)
# Keywords only where the grammar allows them; ordinary names elsewhere.
SOFT_KEYWORDS: Final = frozenset("model settings can limit on per by test where".split())
DECLARATION_KEYWORDS: Final = frozenset("fn type capability agent const import pub".split())

# Binary operators that cannot start an expression and mean nothing else. `-` and `|` have kinds of their own.
PURE_OPERATORS: Final = frozenset("+ * / % == != < <= > >= && || & ^ << >>".split())
RANGE_OPERATORS: Final = frozenset(("..", "..="))
ASSIGN_OPERATORS: Final = frozenset("+= -= *= /= %=".split())
# Marks that no rule uses; known to the lexer so that a message can name the whole mark.
UNUSED_MARKS: Final = frozenset("++ -- ** :: := /*".split())
BRACKETS: Final = {"(": ")", "[": "]", "{": "}"}

# language.md section 1: a line break after one of these, or before one of those, ends no statement.
CONTINUES_AFTER: Final = frozenset({"OPERATOR", "RANGE", "ASSIGN", "-", "|", "??", ",", "=", "=>", "->"})
CONTINUES_BEFORE: Final = frozenset({"OPERATOR", "RANGE", ".", "|", "??", "catch", "else"})


def kind_of_mark(mark: str) -> str:
    """The kind of an operator or punctuation mark."""
    if mark in PURE_OPERATORS:
        return "OPERATOR"
    if mark in RANGE_OPERATORS:
        return "RANGE"
    if mark in ASSIGN_OPERATORS:
        return "ASSIGN"
    return mark


# Longest first, so that a combined pattern takes the longest mark.
MARKS: Final = tuple(
    sorted(
        PURE_OPERATORS
        | RANGE_OPERATORS
        | ASSIGN_OPERATORS
        | UNUSED_MARKS
        | set("- | ! ~ ? ?? = => -> ( ) [ ] { } , : .".split()),
        key=lambda mark: (-len(mark), mark),
    )
)
