"""Recognising, at a syntax error, a part of the language that is planned and not there yet."""

from __future__ import annotations

from typing import Final

from kavachc.syntax.tokens import IDENTIFIER, Token

# By the word or mark that was found.
_BY_FOUND: Final = {
    "where": "`where` rules are",
}


def unsupported_feature(token: Token, previous: Token, expected: frozenset[str], bracket: str) -> str | None:
    """`X is` or `Xs are`, for "not supported yet", when `token` after `previous` begins such a feature.

    `expected` are the kinds that could stand instead, `bracket` is the innermost open one.
    """
    text = token.text
    if token.kind == IDENTIFIER and text in _BY_FOUND:
        return _BY_FOUND[text]
    if token.kind == IDENTIFIER and previous.kind == "fn" and bracket == "{" and expected == {"("}:
        return "functions inside functions are"
    if text == "const" and previous.kind == "while":
        return "`while const` is"
    return None
