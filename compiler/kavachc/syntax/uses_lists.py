"""Telling the `,` inside `uses A, B` from the one after it.

In `fn run(log: fn(String) uses Console, Time, text: String)` the names after `uses` go on as far as they can be names
of capabilities, `A` or `A.b`, that nothing follows which makes a parameter or a type of them: `:`, `<`, `?` or another
word.
"""

from __future__ import annotations

import re
from typing import Final

from kavachc.syntax.tokens import IDENTIFIER, KEYWORDS, SOFT_KEYWORDS, Token

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_FIRST: Final = re.compile(rf"[ \t]*({_NAME})(?:[ \t]*(\.)[ \t]*({_NAME}))?")
_NEXT: Final = re.compile(
    rf"[ \t]*(,)(?:[ \t\n]|//[^\n\x00]*)*({_NAME})(?:[ \t]*(\.)[ \t]*({_NAME}))?(?![ \t]*[\w:<?.])"
)


def read_uses(text: str, start: int) -> list[Token]:
    """The tokens of the names after a `uses` that ends at `start`. `text` ends in a NUL."""
    tokens: list[Token] = []
    position, part = start, _FIRST
    while True:
        match = part.match(text, position)
        if match is None or any(word in KEYWORDS for word in match.groups()):
            return tokens
        for group, word in enumerate(match.groups(), start=1):
            if word is not None:
                tokens.append(Token(_kind(word), match.start(group), match.end(group), word))
        position, part = match.end(), _NEXT


def _kind(word: str) -> str:
    if word == ",":
        return "USES_COMMA"
    return word if word == "." or word in SOFT_KEYWORDS else IDENTIFIER
