"""Builds the tree while the parser runs: one method for each production of `grammar.lark`.

A method gets the production's span and its children: nodes for rules, `Token`s for terminals that the grammar
names in upper case, None for an absent `[x]`. Children are built before their parents, so nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, cast

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.source import SourceFile, Span
from kavachc.syntax import ast
from kavachc.syntax.number_literals import (
    INT_MAX,
    duration_value,
    float_value,
    int_value,
    report_int_too_large,
)
from kavachc.syntax.operators import Chain, build_chain
from kavachc.syntax.text_literals import text_values
from kavachc.syntax.tokens import Token

_T = TypeVar("_T")
_N = TypeVar("_N", bound=ast.Node)
_Number = ast.IntLiteral | ast.FloatLiteral | ast.DurationLiteral
# The result and the error of a function, as far as they are written.
_Ending: TypeAlias = tuple[ast.TypeExpression | None, ast.TypeExpression | None]
_PREFIX_RUN_MAX = 256
# Operators in a row, without parentheses: each nests the tree one deeper.
CHAIN_MAX = 50_000


class GiveUp(Exception):
    """What was being read is too large, which is reported."""


class AstBuilder:
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

    # Lists

    def items(self, _: Span, *items: _T) -> tuple[_T, ...]:
        return items

    def identifiers(self, _: Span, *tokens: Token) -> tuple[ast.Identifier, ...]:
        return tuple([self._identifier(token) for token in tokens])

    # Declarations

    def start(self, _: Span, *declarations: ast.Declaration) -> tuple[ast.Declaration, ...]:
        return declarations

    def declaration(self, span: Span, declaration: ast.Declaration) -> ast.Declaration:
        self.declarations.append(declaration)
        self.end = span.end
        return declaration

    def public_declaration(self, span: Span, _: Token, declaration: ast.Declaration) -> ast.Declaration:
        self.public.append(ast.declared_name(declaration).text)
        return self.declaration(span, declaration)

    def import_file(self, span: Span, path: Token) -> None:
        text = text_values((path,), self._file, self._bag)[0]
        self.end = span.end
        self.imports.append(ast.Import(self._span(path), text))

    def test_block(self, span: Span, name: Token, body: ast.Block) -> ast.Declaration:
        text = text_values((name,), self._file, self._bag)[0]
        identifier = ast.Identifier(self._span(name), text)
        error = ast.NamedType(span, ast.Identifier(span, "Error"), ())
        signature = ast.FunctionSignature(span, identifier, (), False, (), None, error, None, None)
        return self.declaration(span, ast.TestDeclaration(span, ast.Function(span, signature, body)))

    def function(self, span: Span, signature: ast.FunctionSignature, body: ast.Block) -> ast.Function:
        return ast.Function(span, signature, body)

    def signature(
        self,
        span: Span,
        name: Token,
        type_parameters: tuple[ast.TypeParameter, ...] | None,
        parameters: tuple[ast.Parameter | Token, ...] | None,
        ending: _Ending,
        uses: tuple[ast.CapabilityReference, ...] | None,
    ) -> ast.FunctionSignature:
        typed = []
        for index, parameter in enumerate(parameters or ()):
            if isinstance(parameter, ast.Parameter):
                typed.append(parameter)
            elif index > 0:
                self._bag.report(codes.RECEIVER_NOT_FIRST, self._span(parameter))
        takes_self = bool(parameters) and isinstance(cast(Any, parameters)[0], Token)
        documentation = self._documentation.get(span.start)
        identifier = self._identifier(name)
        generic = type_parameters or ()
        self_is_mutable = takes_self and cast(Any, parameters)[0].kind == "mut"
        return ast.FunctionSignature(
            span, identifier, generic, takes_self, tuple(typed), *ending, uses, documentation, self_is_mutable
        )

    def ending(
        self, _: Span, result: ast.TypeExpression | None = None, error: ast.TypeExpression | None = None
    ) -> _Ending:
        return result, error

    def handler_signature(
        self, span: Span, name: Token, type_parameters: tuple[ast.TypeParameter, ...] | None, *rest: Any
    ) -> ast.FunctionSignature:
        self._refuse_type_parameters("a handler", type_parameters)
        return self.signature(span, name, None, *rest)

    def _refuse_type_parameters(self, what: str, type_parameters: tuple[ast.TypeParameter, ...] | None) -> None:
        if type_parameters:
            self._bag.report(codes.NOT_GENERIC, type_parameters[0].span, what=what)

    def type_parameter(self, span: Span, name: Token, bounds: tuple[ast.Identifier, ...] | None) -> ast.TypeParameter:
        return ast.TypeParameter(span, self._identifier(name), bounds or ())

    def bounds(self, _: Span, *tokens: Token) -> tuple[ast.Identifier, ...]:
        """The names; a `+` stands between each two."""
        return tuple([self._identifier(token) for token in tokens[::2]])

    def parameter(self, span: Span, mut: Token | None, name: Token, type_: ast.TypeExpression) -> ast.Parameter:
        return ast.Parameter(span, self._identifier(name), type_, mut is not None)

    def receiver(self, _: Span, mut: Token | None, token: Token) -> Token:
        return token if mut is None else mut

    def reference(self, span: Span, capability: Token, method: Token | None) -> ast.CapabilityReference:
        return ast.CapabilityReference(span, self._identifier(capability), self._identifier(method) if method else None)

    def record(
        self,
        span: Span,
        name: Token,
        type_parameters: tuple[ast.TypeParameter, ...] | None,
        capabilities: tuple[ast.Identifier, ...] | None,
        members: tuple[ast.Field | ast.Function, ...] | None,
    ) -> ast.RecordDeclaration:
        members = members or ()
        return ast.RecordDeclaration(
            span,
            self._identifier(name),
            type_parameters or (),
            capabilities or (),
            tuple(member for member in members if isinstance(member, ast.Field)),
            tuple(member for member in members if isinstance(member, ast.Function)),
            self._documentation.get(span.start),
        )

    def field(
        self,
        span: Span,
        name: Token,
        type_: ast.TypeExpression,
        default: ast.Expression | None,
        rule: ast.Expression | None,
    ) -> ast.Field:
        return ast.Field(span, self._identifier(name), type_, default, rule, self._documentation.get(span.start))

    def sum(
        self,
        span: Span,
        name: Token,
        type_parameters: tuple[ast.TypeParameter, ...] | None,
        variants: tuple[ast.Variant, ...],
        methods: tuple[ast.Function, ...] | None,
    ) -> ast.SumDeclaration:
        documentation = self._documentation.get(span.start)
        return ast.SumDeclaration(
            span, self._identifier(name), type_parameters or (), variants, methods or (), documentation
        )

    def variant(self, span: Span, name: Token, fields: tuple[ast.Field, ...] | None) -> ast.Variant:
        return ast.Variant(span, self._identifier(name), fields or (), self._documentation.get(span.start))

    def capability(
        self,
        span: Span,
        name: Token,
        type_parameters: tuple[ast.TypeParameter, ...] | None,
        methods: tuple[ast.FunctionSignature, ...] | None,
    ) -> ast.CapabilityDeclaration:
        self._refuse_type_parameters("a capability", type_parameters)
        documentation = self._documentation.get(span.start)
        return ast.CapabilityDeclaration(span, self._identifier(name), methods or (), documentation)

    def constant(
        self, span: Span, name: Token, type_: ast.TypeExpression | None, value: ast.Expression
    ) -> ast.ConstDeclaration:
        documentation = self._documentation.get(span.start)
        return ast.ConstDeclaration(span, self._identifier(name), type_, value, documentation)

    # Agents

    def agent(
        self,
        span: Span,
        name: Token,
        type_parameters: tuple[ast.TypeParameter, ...] | None,
        items: tuple[ast.AgentSetting | ast.Limit | ast.Function | list[ast.CapabilityReference], ...] | None,
    ) -> ast.AgentDeclaration:
        self._refuse_type_parameters("an agent", type_parameters)
        items = items or ()
        return ast.AgentDeclaration(
            span,
            self._identifier(name),
            tuple(item for item in items if isinstance(item, ast.AgentSetting)),
            tuple(reference for item in items if isinstance(item, list) for reference in item),
            tuple(item for item in items if isinstance(item, ast.Limit)),
            tuple(item for item in items if isinstance(item, ast.Function)),
            self._documentation.get(span.start),
        )

    def model(self, span: Span, value: ast.Expression) -> ast.AgentSetting:
        return ast.AgentSetting(span, "model", value)

    def settings(self, span: Span, value: ast.Expression) -> ast.AgentSetting:
        return ast.AgentSetting(span, "settings", value)

    def can(self, _: Span, references: tuple[ast.CapabilityReference, ...]) -> list[ast.CapabilityReference]:
        return list(references)

    def limit(self, span: Span, target: ast.CapabilityReference, rules: tuple[ast.LimitRule, ...] | None) -> ast.Limit:
        return ast.Limit(span, target, rules or ())

    def rule(
        self,
        span: Span,
        condition: ast.Expression,
        window: ast.Window | None,
        key: ast.Expression | None,
    ) -> ast.LimitRule:
        return ast.LimitRule(span, condition, window, key)

    def window_word(self, span: Span, word: Token) -> ast.Window:
        return ast.Window(span, self._identifier(word))

    def window_duration(self, span: Span, duration: Token) -> ast.Window:
        return ast.Window(span, self.duration_literal(span, duration))

    # Types

    def named_type(self, span: Span, name: Token, arguments: tuple[ast.TypeExpression, ...] | None) -> ast.NamedType:
        return ast.NamedType(span, self._identifier(name), arguments or ())

    def array_type(self, span: Span, element: ast.TypeExpression) -> ast.ArrayTypeExpression:
        return ast.ArrayTypeExpression(span, element)

    def tuple_type(self, span: Span, *elements: ast.TypeExpression) -> ast.TupleTypeExpression:
        return ast.TupleTypeExpression(span, elements)

    def optional_type(self, span: Span, element: ast.TypeExpression) -> ast.OptionalTypeExpression:
        return self._prefix(ast.OptionalTypeExpression(span, element), element)

    def optional_twice_type(self, span: Span, element: ast.TypeExpression) -> ast.OptionalTypeExpression:
        """`T??`, of which the lexer makes one mark."""
        return self.optional_type(span, self.optional_type(Span(self._file, span.start, span.end - 1), element))

    def map_type(self, span: Span, key: ast.TypeExpression, value: ast.TypeExpression) -> ast.MapTypeExpression:
        return ast.MapTypeExpression(span, key, value)

    def nothing_type(self, span: Span) -> ast.NothingTypeExpression:
        return ast.NothingTypeExpression(span)

    def function_type(
        self,
        span: Span,
        parameters: tuple[ast.TypeExpression, ...] | None,
        result: ast.TypeExpression | None,
        error: ast.TypeExpression | None = None,
    ) -> ast.FunctionTypeExpression:
        made = ast.FunctionTypeExpression(span, parameters or (), result, error)
        return made if result is None else self._prefix(made, result)

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
        return ast.Closure(span, parameters or (), *ending, body, False)

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

    def _prefix(self, node: _N, operand: ast.Node) -> _N:
        """`node`, once it is known that not too many prefix operators, or `?`, or `fn`, stand in a row."""
        self._prefix_run = self._prefix_run + 1 if operand is self._last_prefix else 1
        self._last_prefix = node
        if self._prefix_run == _PREFIX_RUN_MAX + 1:
            self._bag.report(codes.TOO_DEEP, node.span, limit=_PREFIX_RUN_MAX)
        return node

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

    # Literals

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

    # Patterns

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
