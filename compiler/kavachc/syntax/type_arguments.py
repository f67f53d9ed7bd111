"""Telling the `<` of `Task<Bool>` and `ask<Yes>("…")` from the operator.

The rule: a `<` that touches the name before it opens type arguments when only names, `,`, `[ ]` and `( )` stand
up to the `>` that balances it on the same line, and what follows cannot start an operand, unless it is a `(`.
So `a<b>(c)` is a call with a type argument, and `a < b`, `a<b` and `f(a<b, c>d)` compare.
"""

from __future__ import annotations

import re
from typing import Final

from kavachc.syntax.tokens import BRACKETS, IDENTIFIER, Token

_PART: Final = re.compile(r"[ \t]*(?:([A-Za-z_][A-Za-z0-9_]*)|([<>,\[\]()]))")
_AFTER: Final = re.compile(r"[ \t]*(?:[(),\]}!{|?\n\x00]|//|=(?!=)|uses\b)")
_CLOSERS: Final = {**BRACKETS, "<": ">"}


def read_type_arguments(text: str, start: int) -> list[Token] | None:
    """The tokens from the `<` at `start` to its `>`, or None if it is the operator.

    `text` ends in a NUL.
    """
    tokens: list[Token] = []
    closers: list[str] = []
    position = start
    while True:
        match = _PART.match(text, position)
        if match is None:
            return None
        position = match.end()
        word, mark = match.groups()
        if word:
            tokens.append(Token(IDENTIFIER, match.start(1), position, word))
            continue
        kind = {"<": "TYPE_OPEN", ">": "TYPE_CLOSE"}.get(mark, mark)
        tokens.append(Token(kind, match.start(2), position, mark))
        if mark in _CLOSERS:
            closers.append(_CLOSERS[mark])
        elif mark != ",":
            if mark != closers.pop():
                return None
            if not closers:
                break
    if text[position] == "=" or not _AFTER.match(text, position):
        return None
    return tokens
