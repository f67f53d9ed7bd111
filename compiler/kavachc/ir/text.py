"""The small parts of the text form: names, string and float constants. `cursor.py` reads them back."""

from __future__ import annotations

import re
from functools import cache

_PLAIN_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\\": "\\\\", '"': '\\"', "{": "\\{", "}": "\\}"}
_UNESCAPED = {escaped[1]: character for character, escaped in _ESCAPES.items()}
_NEEDS_ESCAPE = re.compile('[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff\\\\"{}]')
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-f]+)\}|(.))", re.DOTALL)


# Words that may follow a type, where a name may follow as well.
_AFTER_TYPES = frozenset(("waits", "owns", "captures"))


@cache
def name_text(name: str) -> str:
    """`name` itself when it is a word, or words with points between; otherwise quoted."""
    return name if _PLAIN_NAME.fullmatch(name) and name not in _AFTER_TYPES else string_text(name)


def string_text(value: str) -> str:
    """`value` quoted, with the escapes of Kavach."""

    def escape(match: re.Match[str]) -> str:
        character = match.group()
        return _ESCAPES.get(character) or f"\\u{{{ord(character):x}}}"

    return f'"{_NEEDS_ESCAPE.sub(escape, value)}"'


def string_value(text: str) -> str:
    """What `string_text` made `text` of. ValueError when it is not of that form."""

    def unescape(match: re.Match[str]) -> str:
        if match.group(1) is not None:
            return chr(int(match.group(1), 16))
        if match.group(2) not in _UNESCAPED:
            raise ValueError(f"unknown escape \\{match.group(2)}")
        return _UNESCAPED[match.group(2)]

    return _ESCAPE.sub(unescape, text[1:-1])


def float_text(value: float) -> str:
    """The shortest text that reads back the same; never that of an integer."""
    return repr(value).replace("e+", "e")
