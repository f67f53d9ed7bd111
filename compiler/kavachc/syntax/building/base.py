"""What every part of the builder needs: the file, the messages, names and lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.source import SourceFile, Span
from kavachc.syntax import ast
from kavachc.syntax.number_literals import (
    report_int_too_large,
)
from kavachc.syntax.tokens import Token

_T = TypeVar("_T")
_N = TypeVar("_N", bound=ast.Node)
_PREFIX_RUN_MAX = 256


class GiveUp(Exception):
    """What was being read is too large, which is reported."""


class BuilderBase:
    """`documentation` is the lexer's: the text of the `///` lines before what starts at an offset."""

    def __init__(self, file: SourceFile, bag: DiagnosticBag, documentation: dict[int, str]) -> None:
        self.declarations: list[ast.Declaration] = []
        self.imports: list[ast.Import] = []
        self.public: list[str] = []
        # Where the last declaration or import ends.
        self.end = 0
        self._file = file
        self._bag = bag
        self._documentation = documentation
        # The literal 9223372036854775808, where no `-` before it has been seen yet.
        self._too_large: dict[int, Span] = {}
        self._last_prefix: ast.Node | None = None
        self._prefix_run = 0

    def action(self, name: str) -> Callable[..., Any]:
        """The method for the grammar's action `name`."""
        return cast(Callable[..., Any], getattr(self, name))

    def finish(self) -> None:
        """Report what only the end of the file decides."""
        for span in self._too_large.values():
            report_int_too_large(span, self._bag)

    def _span(self, token: Token) -> Span:
        return Span(self._file, token.start, token.end)

    def _identifier(self, token: Token) -> ast.Identifier:
        return ast.Identifier(Span(self._file, token.start, token.end), token.text)

    def _unless_underscore(self, token: Token) -> ast.Identifier | None:
        return None if token.text == "_" else self._identifier(token)

    def _prefix(self, node: _N, operand: ast.Node) -> _N:
        """`node`, once it is known that not too many prefix operators, or `?`, or `fn`, stand in a row."""
        self._prefix_run = self._prefix_run + 1 if operand is self._last_prefix else 1
        self._last_prefix = node
        if self._prefix_run == _PREFIX_RUN_MAX + 1:
            self._bag.report(codes.TOO_DEEP, node.span, limit=_PREFIX_RUN_MAX)
        return node

    # Lists

    def items(self, _: Span, *items: _T) -> tuple[_T, ...]:
        return items

    def identifiers(self, _: Span, *tokens: Token) -> tuple[ast.Identifier, ...]:
        return tuple([self._identifier(token) for token in tokens])
