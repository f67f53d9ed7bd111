"""Builds patterns."""

from __future__ import annotations

from typing import Any

from kavachc.diagnostics import codes
from kavachc.source import Span
from kavachc.syntax import ast
from kavachc.syntax.building.literals import LiteralBuilder
from kavachc.syntax.tokens import Token

_Number = ast.IntLiteral | ast.FloatLiteral | ast.DurationLiteral


class PatternBuilder(LiteralBuilder):
    def tuple_pattern(self, span: Span, *elements: ast.Pattern) -> ast.TuplePattern:
        return ast.TuplePattern(span, elements)

    def rest_pattern(self, span: Span, operator: Token, name: Token | None) -> ast.RestPattern:
        if operator.text != "..":
            self._bag.report(codes.REST_MARK, self._span(operator))
        return ast.RestPattern(span, None if name is None else self._unless_underscore(name))

    def array_pattern(self, span: Span, items: tuple[ast.Pattern | ast.RestPattern, ...] | None) -> ast.ArrayPattern:
        """The rest stands last; one that stands elsewhere is reported, and is then as good as last."""
        elements: list[ast.Pattern] = []
        rest: ast.RestPattern | None = None
        for item in items or ():
            if rest is not None:
                self._bag.report(codes.REST_NOT_LAST, rest.span)
            if isinstance(item, ast.RestPattern):
                rest = item
            else:
                elements.append(item)
        return ast.ArrayPattern(span, tuple(elements), rest)

    def or_pattern(self, span: Span, *alternatives: ast.Pattern) -> ast.OrPattern:
        return ast.OrPattern(span, alternatives)

    def name_pattern(self, span: Span, token: Token) -> ast.WildcardPattern | ast.NamePattern:
        if token.text == "_":
            return ast.WildcardPattern(span)
        return ast.NamePattern(span, self._identifier(token))

    def constructor_pattern(self, span: Span, path: tuple[ast.Identifier, ...]) -> ast.ConstructorPattern:
        return ast.ConstructorPattern(span, path, (), False)

    def constructor_call_pattern(
        self, span: Span, path: tuple[ast.Identifier, ...], arguments: tuple[ast.PatternArgument, ...] | None
    ) -> ast.ConstructorPattern:
        return ast.ConstructorPattern(span, path, arguments or (), True)

    def variant_pattern(
        self, span: Span, name: Token, arguments: tuple[ast.PatternArgument, ...] | None
    ) -> ast.ConstructorPattern:
        return ast.ConstructorPattern(span, (self._identifier(name),), arguments or (), True)

    def pattern_argument(self, span: Span, name: Token | None, pattern: ast.Pattern) -> ast.PatternArgument:
        return ast.PatternArgument(span, self._identifier(name) if name else None, pattern)

    def literal_pattern(self, span: Span, value: Any) -> ast.LiteralPattern:
        return ast.LiteralPattern(span, value)

    def range_pattern(
        self,
        span: Span,
        start: ast.IntLiteral | ast.DurationLiteral,
        operator: Token,
        end: ast.IntLiteral | ast.DurationLiteral,
    ) -> ast.RangePattern:
        return ast.RangePattern(span, start, end, operator.text == "..=")

    def negative_literal(self, span: Span, _: Token, literal: _Number) -> _Number:
        if isinstance(literal, ast.IntLiteral):
            return self._minimum(span, literal) or ast.IntLiteral(span, -literal.value)
        if isinstance(literal, ast.FloatLiteral):
            return ast.FloatLiteral(span, -literal.value)
        return ast.DurationLiteral(span, -literal.value_ns)
