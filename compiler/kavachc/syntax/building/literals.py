"""Builds literals, and text with expressions in it."""

from __future__ import annotations

from typing import cast

from kavachc.source import Span
from kavachc.syntax import ast
from kavachc.syntax.building.base import BuilderBase
from kavachc.syntax.number_literals import (
    INT_MAX,
    duration_value,
    float_value,
    int_value,
    report_int_too_large,
)
from kavachc.syntax.text_literals import text_values
from kavachc.syntax.tokens import Token


class LiteralBuilder(BuilderBase):
    def int_literal(self, span: Span, token: Token) -> ast.IntLiteral:
        value = int_value(token.text)
        if value == INT_MAX + 1:
            self._too_large[span.start] = span
        elif value > INT_MAX:
            report_int_too_large(span, self._bag)
            value = 0
        return ast.IntLiteral(span, value)

    def _minimum(self, span: Span, operand: ast.IntLiteral) -> ast.IntLiteral | None:
        """The smallest Int, if `operand` is the one literal that is an Int only with a `-` before it."""
        if operand.value != INT_MAX + 1 or self._too_large.pop(operand.span.start, None) is None:
            return None
        return ast.IntLiteral(span, -operand.value)

    def float_literal(self, span: Span, token: Token) -> ast.FloatLiteral:
        return ast.FloatLiteral(span, float_value(token, self._file, self._bag))

    def duration_literal(self, span: Span, token: Token) -> ast.DurationLiteral:
        return ast.DurationLiteral(span, duration_value(token, self._file, self._bag))

    def bool_literal(self, span: Span, token: Token) -> ast.BoolLiteral:
        return ast.BoolLiteral(span, token.kind == "true")

    def string_literal(self, span: Span, token: Token) -> ast.StringLiteral:
        text = text_values((token,), self._file, self._bag)[0]
        return ast.StringLiteral(span, (text,) if text else ())

    def interpolated(self, span: Span, *children: Token | ast.Expression) -> ast.StringLiteral:
        texts = text_values(cast(tuple[Token, ...], children[::2]), self._file, self._bag)
        parts: list[str | ast.Expression] = []
        for index, text in enumerate(texts):
            if text:
                parts.append(text)
            if index < len(texts) - 1:
                parts.append(cast(ast.Expression, children[2 * index + 1]))
        return ast.StringLiteral(span, tuple(parts))

    def none_literal(self, span: Span, _: Token) -> ast.NoneLiteral:
        return ast.NoneLiteral(span)
