"""Builds statements and expressions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, cast

from kavachc.diagnostics import codes
from kavachc.source import Span
from kavachc.syntax import ast
from kavachc.syntax.building.base import GiveUp
from kavachc.syntax.building.literals import LiteralBuilder
from kavachc.syntax.operators import Chain, build_chain
from kavachc.syntax.tokens import Token

_N = TypeVar("_N", bound=ast.Node)
# The result and the error of a function, as far as they are written.
_Ending: TypeAlias = tuple[
    ast.TypeExpression | None, ast.TypeExpression | None, tuple[ast.CapabilityReference, ...] | None
]
# Operators in a row, without parentheses: each nests the tree one deeper.
CHAIN_MAX = 50_000


class ExpressionBuilder(LiteralBuilder):
    # Statements

    def block(self, span: Span, statements: tuple[ast.Statement, ...] | None) -> ast.Block:
        return ast.Block(span, statements or ())

    def declare(
        self,
        span: Span,
        keyword: Token,
        name: Token,
        type_: ast.TypeExpression | None,
        value: ast.Expression,
    ) -> ast.Declare:
        return ast.Declare(span, self._identifier(name), keyword.kind == "let", type_, value)

    def take_apart(
        self,
        span: Span,
        keyword: Token,
        binder: ast.TuplePattern,
        type_: ast.TypeExpression | None,
        value: ast.Expression,
    ) -> ast.TakeApart:
        return ast.TakeApart(span, binder, keyword.kind == "let", type_, value)

    def assign(self, span: Span, target: ast.Expression, operator: Token, value: ast.Expression) -> ast.Assign:
        return ast.Assign(span, target, cast(ast.AssignOperator, operator.text), self._span(operator), value)

    def for_loop(self, span: Span, binder: ast.Pattern, iterable: ast.Expression, body: ast.Block) -> ast.For:
        return ast.For(span, binder, iterable, body)

    def while_loop(self, span: Span, condition: ast.Expression, body: ast.Block) -> ast.While:
        return ast.While(span, condition, body)

    def assert_that(self, span: Span, condition: ast.Expression, message: ast.Expression | None) -> ast.Assert:
        return ast.Assert(span, condition, message)

    def expression_statement(self, span: Span, expression: ast.Expression) -> ast.ExpressionStatement:
        return ast.ExpressionStatement(span, expression)

    # Expressions

    def catch(self, span: Span, operand: ast.Expression, binder: Token, handler: ast.Expression) -> ast.Catch:
        return ast.Catch(span, operand, self._unless_underscore(binder), handler)

    def return_value(self, span: Span, value: ast.Expression | None) -> ast.Return:
        return ast.Return(span, value)

    def fail(self, span: Span, error: ast.Expression) -> ast.Fail:
        return ast.Fail(span, error)

    def break_loop(self, span: Span) -> ast.Break:
        return ast.Break(span)

    def continue_loop(self, span: Span) -> ast.Continue:
        return ast.Continue(span)

    def closure_parameter(self, span: Span, name: Token, type_: ast.TypeExpression | None) -> ast.ClosureParameter:
        return ast.ClosureParameter(span, self._identifier(name), type_)

    def closure(
        self, span: Span, parameters: tuple[ast.ClosureParameter, ...] | None, ending: _Ending, body: ast.Block
    ) -> ast.Closure:
        result, error, uses = ending
        return ast.Closure(span, parameters or (), result, error, body, False, uses)

    def short_closure(
        self, span: Span, parameters: tuple[ast.ClosureParameter, ...] | None, body: ast.Expression
    ) -> ast.Closure:
        return self._prefix(ast.Closure(span, parameters or (), None, None, body, True), body)

    def chain(
        self, _: Span, left: ast.Expression | list[Any], operator: Token, right: ast.Expression
    ) -> list[ast.Expression | Token]:
        """Gather the operands and operators of a chain; `resolve` makes the tree."""
        chain = left if isinstance(left, list) else [left]
        chain.append(operator)
        chain.append(right)
        if len(chain) > 2 * CHAIN_MAX:
            self._bag.report(codes.TOO_DEEP, self._span(operator), limit=f"{CHAIN_MAX:,}")
            raise GiveUp
        return chain

    def resolve(self, _: Span, chain: Chain) -> ast.Expression:
        return build_chain(chain, self._file, self._bag)

    def unary(self, span: Span, operator: Token, operand: ast.Expression) -> ast.Expression:
        if operator.kind == "-" and isinstance(operand, ast.IntLiteral):
            folded = self._minimum(span, operand)
            if folded is not None:
                return folded
        return self._prefix(ast.Unary(span, cast(ast.UnaryOperator, operator.text), operand), operand)

    def try_operand(self, span: Span, operand: ast.Expression) -> ast.Expression:
        return self._prefix(ast.Try(span, operand), operand)

    def spawn(self, span: Span, call: ast.Expression) -> ast.Expression:
        return self._prefix(ast.Spawn(span, call), call)

    def field_access(
        self, span: Span, target: ast.Expression, type_arguments: tuple[ast.TypeExpression, ...] | None, name: Token
    ) -> ast.FieldAccess:
        return ast.FieldAccess(span, target, self._identifier(name), type_arguments or ())

    def call(
        self,
        span: Span,
        callee: ast.Expression,
        type_arguments: tuple[ast.TypeExpression, ...] | None,
        arguments: tuple[ast.Argument, ...] | None,
    ) -> ast.Call:
        return ast.Call(span, callee, type_arguments or (), arguments or ())

    def argument(self, span: Span, name: Token | None, mut: Token | None, value: ast.Expression) -> ast.Argument:
        return ast.Argument(span, self._identifier(name) if name else None, value, mut is not None)

    def index_access(self, span: Span, target: ast.Expression, index: ast.Expression) -> ast.IndexAccess:
        return ast.IndexAccess(span, target, index)

    def with_updates(self, span: Span, target: ast.Expression, updates: tuple[ast.FieldUpdate, ...] | None) -> ast.With:
        return ast.With(span, target, updates or ())

    def update(self, span: Span, name: Token, value: ast.Expression) -> ast.FieldUpdate:
        return ast.FieldUpdate(span, self._identifier(name), value)

    def name(self, span: Span, token: Token) -> ast.Name:
        return ast.Name(span, token.text)

    def parenthesized(self, span: Span, inner: _N) -> _N:
        """What stands inside, with its parentheses in its span."""
        return replace(inner, span=span)

    def tuple_literal(self, span: Span, *elements: ast.Expression) -> ast.TupleLiteral:
        return ast.TupleLiteral(span, elements)

    def array(self, span: Span, elements: tuple[ast.Expression, ...] | None) -> ast.ArrayLiteral:
        return ast.ArrayLiteral(span, elements or ())

    def map(self, span: Span, entries: tuple[ast.MapEntry, ...]) -> ast.MapLiteral:
        return ast.MapLiteral(span, entries)

    def empty_map(self, span: Span) -> ast.MapLiteral:
        return ast.MapLiteral(span, ())

    def entry(self, span: Span, key: ast.Expression, value: ast.Expression) -> ast.MapEntry:
        return ast.MapEntry(span, key, value)

    def conditional(
        self,
        span: Span,
        condition: ast.Expression,
        then: ast.Block,
        otherwise: ast.Block | ast.If | None,
    ) -> ast.If:
        return ast.If(span, condition, then, otherwise)

    def if_const(
        self,
        span: Span,
        _: Token,
        binder: ast.Pattern,
        value: ast.Expression,
        then: ast.Block,
        otherwise: ast.Block | ast.If | ast.IfConst | None,
    ) -> ast.IfConst:
        return ast.IfConst(span, binder, value, then, otherwise)

    def match(self, span: Span, subject: ast.Expression, arms: tuple[ast.MatchArm, ...] | None) -> ast.Match:
        return ast.Match(span, subject, arms or ())

    def arm(self, span: Span, pattern: ast.Pattern, guard: ast.Expression | None, body: ast.Expression) -> ast.MatchArm:
        return ast.MatchArm(span, pattern, guard, body)
