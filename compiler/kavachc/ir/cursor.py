"""Reads the words of the text form one by one, knowing the line of each."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from kavachc.ir.errors import IrTextError
from kavachc.ir.module import Location
from kavachc.ir.text import string_value
from kavachc.ir.types import (
    SCALARS,
    Address,
    Array,
    Box,
    FunctionValue,
    IrType,
    Map,
    Named,
    Optional,
    Outcome,
    Task,
    Tuple,
)

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_WORD = re.compile(
    rf"""(?P<space>[ \t\r\n]+|//(?!/)[^\n]*)
    |(?P<string>{_STRING})
    |(?P<value>%(?:\d+|{_NAME}|{_STRING}))
    |(?P<local>&(?:{_NAME}|{_STRING}))
    |(?P<type>\$(?:{_NAME}|{_STRING}))
    |(?P<location>@\d+:\d+)
    |(?P<number>-?(?:\d+(?:\.\d+)?(?:e-?\d+)?|inf\b)|\b(?:inf|nan)\b(?![.:(]))
    |(?P<name>{_NAME})
    |(?P<sign>->|==|!=|<=|>=|[<>(){{}}\[\]:,=!])""",
    re.VERBOSE,
)

# The types that are written `word<T>`.
_APPLIED: dict[str, Callable[[IrType], IrType]] = {"task": Task, "address": Address, "optional": Optional, "box": Box}


class Cursor:
    """Stands at one word; `kind` and `word` are that word's, `kind` is `end` after the last."""

    def __init__(self, text: str) -> None:
        self._words: list[tuple[str, str, int]] = []
        line = 1
        position = 0
        while position < len(text):
            match = _WORD.match(text, position)
            if match is None:
                raise IrTextError(line, f"unexpected {text[position]!r}")
            kind = match.lastgroup or ""
            word = match.group()
            if kind != "space":
                self._words.append((kind, word, line))
            line += word.count("\n")
            position = match.end()
        self._words.append(("end", "the end of the text", line))
        self._index = 0
        self.kind, self.word, self.line = self._words[0]

    def advance(self) -> str:
        """Goes to the next word and gives the one left behind."""
        word = self.word
        if self._index + 1 < len(self._words):
            self._index += 1
            self.kind, self.word, self.line = self._words[self._index]
        return word

    def peek(self) -> str:
        """The word after the current one."""
        return self._words[min(self._index + 1, len(self._words) - 1)][1]

    def fail(self, wanted: str) -> NoReturn:
        raise IrTextError(self.line, f"{wanted} is wanted, not {self.word}")

    def at(self, word: str) -> bool:
        return self.word == word and self.kind in ("sign", "name")

    def accept(self, word: str) -> bool:
        if not self.at(word):
            return False
        self.advance()
        return True

    def expect(self, word: str) -> None:
        if not self.accept(word):
            self.fail(f"`{word}`")

    # Words of one kind.

    def _unquote(self, text: str) -> str:
        try:
            return string_value(text)
        except ValueError as error:
            raise IrTextError(self.line, str(error)) from None

    def string(self) -> str:
        if self.kind != "string":
            self.fail("a string")
        value = self._unquote(self.word)
        self.advance()
        return value

    def name(self) -> str:
        if self.kind == "string":
            return self.string()
        # `inf` and `nan` are names, too, where a name is wanted.
        if self.kind != "name" and self.word not in ("inf", "nan"):
            self.fail("a name")
        return self.advance()

    def marked_name(self, kind: str) -> str:
        """The name after the mark of a value (`%`), local (`&`) or type (`$`)."""
        if self.kind != kind:
            self.fail(f"a {kind}")
        word = self.word[1:]
        name = self._unquote(word) if word.startswith('"') else word
        self.advance()
        return name

    def number(self) -> int | float:
        if self.kind != "number":
            self.fail("a number")
        word = self.word
        value = int(word) if re.fullmatch(r"-?\d+", word) else float(word)
        self.advance()
        return value

    def integer(self) -> int:
        word, line = self.word, self.line
        value = self.number()
        if isinstance(value, float):
            raise IrTextError(line, f"an integer is wanted, not {word}")
        return value

    def optional_location(self) -> Location | None:
        if self.kind != "location":
            return None
        line, column = self.word[1:].split(":")
        self.advance()
        return Location(int(line), int(column))

    def _function_value(self) -> FunctionValue:
        """After `fn`."""
        parameters: list[IrType] = []
        self.expect("(")
        while not self.accept(")"):
            if parameters:
                self.expect(",")
            parameters.append(self.type())
        self.expect("->")
        result = self.type()
        return FunctionValue(tuple(parameters), result, self.type() if self.accept("!") else None)

    def type(self) -> IrType:
        if self.kind == "type":
            return Named(self.marked_name("type"))
        if self.accept("["):
            element = self.type()
            value = self.type() if self.accept(":") else None
            self.expect("]")
            return Array(element) if value is None else Map(element, value)
        if self.accept("("):
            elements = [self.type()]
            while self.accept(","):
                elements.append(self.type())
            self.expect(")")
            return Tuple(tuple(elements)) if len(elements) > 1 else elements[0]
        if self.kind != "name":
            self.fail("a type")
        word = self.advance()
        if word == "fn":
            return self._function_value()
        if word in SCALARS:
            return SCALARS[word]
        if word not in _APPLIED and word != "outcome":
            raise IrTextError(self.line, f"a type is wanted, not {word}")
        self.expect("<")
        inner = self.type()
        error = self.type() if word == "outcome" and self.accept(",") else None
        self.expect(">")
        if word == "outcome":
            return Outcome(inner, error)
        return _APPLIED[word](inner)
