"""Generated programs with one small change in their text, as a slip of the hand makes it."""

from __future__ import annotations

import re
from dataclasses import replace

from generated_programs import Generated, drawn, generate
from generated_types import Choose
from hypothesis import strategies as st

# Strings are taken apart, too: they hold expressions.
_WORD = r"[A-Za-z_][A-Za-z0-9_]*|[0-9][0-9a-z_.]*"
_TOKEN = re.compile(rf"{_WORD}|->|=>|\.\.=?|[=!<>]=|&&|\|\||<<|>>|\?\?|\n|[^\sA-Za-z0-9_]")
_OTHERS = (
    '( ) [ ] { } < > , . : = ! ? ?? | => -> .. + - * " \\ 0 1 1.5 1s "a" none true self mut let const fn type if else '
    "match for in while break continue return fail try catch assert spawn with where Int String Bool Float Error Task "
    "print at ask json Time E E.Plain [] [:] import pub uses agent can limit on per capability test"
).split(" ")


def mistaken(choose: Choose) -> Generated:
    """A program of which one token is left out, doubled, swapped with its neighbour, or replaced: by one of the
    program's own, or by any."""
    generated = generate(choose)
    name = list(generated.files)[choose(len(generated.files))]
    text = generated.files[name]
    tokens = list(_TOKEN.finditer(text))
    index = choose(len(tokens))
    token, other = tokens[index], tokens[choose(len(tokens))]
    after = tokens[min(index + 1, len(tokens) - 1)]
    how = choose(6)
    if how == 0:
        changed = text[: token.start()] + text[token.end() :]
    elif how == 1:
        changed = f"{text[: token.end()]} {text[token.start() :]}"
    elif how == 2 and after is not token:
        between = text[token.end() : after.start()]
        changed = f"{text[: token.start()]}{after.group()}{between}{token.group()}{text[after.end() :]}"
    else:
        new = other.group() if how < 5 else _OTHERS[choose(len(_OTHERS))]
        changed = text[: token.start()] + new + text[token.end() :]
    return replace(generated, files={**generated.files, name: changed})


def mistaken_programs() -> st.SearchStrategy[Generated]:
    return drawn(mistaken)
