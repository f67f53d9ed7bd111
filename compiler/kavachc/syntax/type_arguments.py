"""Telling the `<` of `Task<Bool>` and `ask<Yes>("…")` from the operator.

The rule: a `<` that touches the name before it opens type arguments when only names, `,`, `->`, `?`, `( )`, `[ ]` (with
a `:` in it, perhaps), `!` after a type and `uses` with its names stand up to the `>` that balances it on the same line,
and what follows cannot start an operand, unless it is a `(`.
So `a<b>(c)` is a call with a type argument, and `a < b`, `a<b` and `f(a<b, c>d)` compare. After a name that is being
declared, as in `fn f<T: Ord + Show>`, a `<` opens type parameters, whatever follows, and their bounds stand there too.
"""

from __future__ import annotations

import re
from typing import Final

from kavachc.syntax.tokens import BRACKETS, IDENTIFIER, Token
from kavachc.syntax.uses_lists import read_uses

_PART: Final = re.compile(r"[ \t]*(?:([A-Za-z_][A-Za-z0-9_]*)|(->|[<>,\[\]():]|!(?!=)|\?\??))")
_DECLARED_PART: Final = re.compile(r"[ \t]*(?:([A-Za-z_][A-Za-z0-9_]*)|([<>,\[\]():+]))")
_AFTER: Final = re.compile(r"[ \t]*(?:[(),\]}!{|?:\n\x00]|\.(?!\.)|//|=(?!=)|uses\b|where\b)")
_KINDS: Final = {"<": "TYPE_OPEN", ">": "TYPE_CLOSE", "+": "OPERATOR"}
_CLOSERS: Final = {**BRACKETS, "<": ">"}
_BETWEEN: Final = frozenset((",", "->", "?", "??", ":", "+", "!"))
# What ends a type: after anything else, a `!` is the operator.
_ENDS_TYPE: Final = frozenset((IDENTIFIER, ")", "]", "TYPE_CLOSE", "?", "??"))


def read_type_arguments(text: str, start: int, refused: set[int], declares: bool = False) -> list[Token] | None:
    """The tokens from the `<` at `start` to its `>`, or None if it is the operator.

    `declares`: the name before it is being declared. `text` ends in a NUL. `refused` gathers the offsets of each `<`
    already known to be an operator, so that a long row of comparisons is read once and not once for each.
    """
    if start in refused:
        return None
    tokens: list[Token] = []
    opened: list[Token] = []
    position = start
    part = _DECLARED_PART if declares else _PART
    while True:
        match = part.match(text, position)
        if match is None:
            break
        position = match.end()
        word, mark = match.groups()
        if word:
            tokens.append(Token(word if word in ("fn", "uses") else IDENTIFIER, match.start(1), position, word))
            if word == "uses":
                tokens.extend(read_uses(text, position))
                position = tokens[-1].end
            continue
        if mark == "!" and tokens[-1].kind not in _ENDS_TYPE:
            break
        token = Token(_KINDS.get(mark, mark), match.start(2), position, mark)
        tokens.append(token)
        if mark == ":" and not declares and opened[-1].text != "[":
            break  # A map's type has a `:`, arguments with names have one too.
        if mark in _CLOSERS:
            opened.append(token)
        elif mark not in _BETWEEN:
            if mark != _CLOSERS[opened[-1].text]:
                break
            closed = opened.pop()
            if mark == ">" and not declares and (text[position] == "=" or not _AFTER.match(text, position)):
                refused.add(closed.start)
            if not opened:
                return None if start in refused else tokens
    refused.update(token.start for token in opened)
    return None
