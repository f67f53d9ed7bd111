"""A strict reader of JSON text (RFC 8259), as a tree that keeps what Python's own reader loses: the spelling of every
value, repeated keys, and where and why a text is no JSON (spec 8.4.not-json)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

DEPTH_MAX = 128

ENDS_EARLY = "the text ends too early"
NO_VALUE = "there is no JSON value here"
MORE_TEXT = "there is more text after the value"
NO_COLON = "a `:` is missing here"
NO_KEY = "a string is missing here"
NO_END = {"]": "a `,` or `]` is missing here", "}": "a `,` or `}` is missing here"}
NO_NUMBER = "this is no JSON number"
ENDLESS_STRING = "a string does not end"
BARE_CONTROL = "a control character stands bare in a string"
NO_ESCAPE = "an escape that JSON does not have"
NO_DIGITS = "`\\u` needs four hexadecimal digits"
LONE_SURROGATE = "half of a surrogate pair stands alone"
TOO_DEEP = "the value is nested too deeply"

SPACE = re.compile(r"[ \t\n\r]*")
PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
DIGITS = re.compile("[0-9]*")
AFTER_A_NUMBER = re.compile(r"[0-9A-Za-z.+_-]")
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
WORDS: dict[str, tuple[str, bool | None]] = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}

Kind = Literal["object", "array", "string", "number", "bool", "null"]


@dataclass(frozen=True, slots=True)
class Json:
    """`text` is how the value is written; `value` a tuple of (key, Json), a tuple of Json, a str, a bool or None."""

    kind: Kind
    text: str
    value: Any = None


class NotJson(Exception):
    """The text is no JSON: `problem` at `position`, in characters."""

    def __init__(self, problem: str, position: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.position = position


def read_json(text: str, depth_max: int = DEPTH_MAX, *, keeps_lone_surrogates: bool = False) -> Json:
    """One whole value and nothing after it; raises `NotJson`."""
    reader = _Reader(text, depth_max, keeps_lone_surrogates)
    value = reader.read(0)
    if reader.peek():
        reader.fail(MORE_TEXT)
    return value


class _Reader:
    def __init__(self, text: str, depth_max: int, keeps_lone_surrogates: bool) -> None:
        self.text = text
        self.position = 0
        self.depth_max = depth_max
        self.keeps_lone_surrogates = keeps_lone_surrogates

    def fail(self, problem: str) -> NoReturn:
        raise NotJson(problem, self.position)

    @property
    def current(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.position : self.position + 1]

    def peek(self) -> str:
        """The next character after white space."""
        self._skip(SPACE)
        return self.current

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.position)
        assert found is not None
        self.position = found.end()
        return found[0]

    def _take(self, character: str) -> bool:
        if self.peek() != character:
            return False
        self.position += 1
        return True

    def _expect(self, character: str, problem: str) -> None:
        if not self._take(character):
            self.fail(problem if self.current else ENDS_EARLY)

    def read(self, depth: int) -> Json:
        """The value that begins here, inside `depth` others."""
        first = self.peek()
        start = self.position
        kind: Kind
        value: Any = None
        if not first:
            self.fail(ENDS_EARLY)
        if first in "{[":
            if depth == self.depth_max:
                self.fail(TOO_DEEP)
            if first == "{":
                kind, value = "object", self._members("}", lambda: self._member(depth + 1))
            else:
                kind, value = "array", self._members("]", lambda: self.read(depth + 1))
        elif first == '"':
            kind, value = "string", self._string()
        elif first == "-" or first in "0123456789":
            kind = "number"
            self._number()
        elif first in WORDS:
            word, value = WORDS[first]
            kind = "null" if value is None else "bool"
            self._word(word)
        else:
            self.fail(NO_VALUE)
        return Json(kind, self.text[start : self.position], value)

    def _members(self, end: str, read_one: Callable[[], Any]) -> tuple[Any, ...]:
        self.position += 1
        members: list[Any] = []
        if self._take(end):
            return ()
        while True:
            members.append(read_one())
            if not self._take(","):
                break
        self._expect(end, NO_END[end])
        return tuple(members)

    def _member(self, depth: int) -> tuple[str, Json]:
        if self.peek() != '"':
            self.fail(NO_KEY if self.current else ENDS_EARLY)
        name = self._string()
        self._expect(":", NO_COLON)
        return name, self.read(depth)

    def _word(self, word: str) -> None:
        for letter in word:
            if self.current != letter:
                self.fail(NO_VALUE if self.current else ENDS_EARLY)
            self.position += 1

    def _number(self) -> None:
        if self.current == "-":
            self.position += 1
        if self.current == "0":
            self.position += 1
        else:
            self._digits()
        if self.current == ".":
            self.position += 1
            self._digits()
        if self.current in ("e", "E"):
            self.position += 1
            if self.current in ("+", "-"):
                self.position += 1
            self._digits()
        if AFTER_A_NUMBER.match(self.current):
            self.fail(NO_NUMBER)

    def _digits(self) -> None:
        if not self._skip(DIGITS):
            self.fail(NO_NUMBER)

    def _string(self) -> str:
        self.position += 1
        parts: list[str] = []
        while True:
            parts.append(self._skip(PLAIN))
            match self.current:
                case '"':
                    self.position += 1
                    return "".join(parts)
                case "\\":
                    parts.append(self._escape())
                case "":
                    self.fail(ENDLESS_STRING)
                case _:
                    self.fail(BARE_CONTROL)

    def _escape(self) -> str:
        start = self.position
        self.position += 1
        if self.current == "u":
            return self._code_point(start)
        if not self.current:
            self.fail(ENDLESS_STRING)
        if self.current not in ESCAPES:
            self.fail(NO_ESCAPE)
        self.position += 1
        return ESCAPES[self.text[self.position - 1]]

    def _code_point(self, start: int) -> str:
        first = self._code_unit()
        if 0xD800 <= first <= 0xDBFF and self.text.startswith("\\u", self.position):
            after_first = self.position
            self.position += 1
            second = self._code_unit()
            if 0xDC00 <= second <= 0xDFFF:
                return chr(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
            self.position = after_first
        if 0xD800 <= first <= 0xDFFF and not self.keeps_lone_surrogates:
            self.position = start
            self.fail(LONE_SURROGATE)
        return chr(first)

    def _code_unit(self) -> int:
        """The four digits after `u`."""
        self.position += 1
        unit = 0
        for _ in range(4):
            if not self.current:
                self.fail(ENDLESS_STRING)
            if self.current not in "0123456789abcdefABCDEF":
                self.fail(NO_DIGITS)
            unit = unit * 16 + int(self.current, 16)
            self.position += 1
        return unit


_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_ESCAPED = re.compile(r'["\\\x00-\x1f]')


def quote_json(text: str) -> str:
    """The text as a JSON string: only what must be is escaped."""
    inside = _ESCAPED.sub(lambda found: _SHORT_ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04x}", text)
    return f'"{inside}"'
