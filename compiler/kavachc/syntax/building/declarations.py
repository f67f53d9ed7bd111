"""Builds declarations, agents and types."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

from kavachc.diagnostics import codes
from kavachc.source import Span
from kavachc.syntax import ast
from kavachc.syntax.building.literals import LiteralBuilder
from kavachc.syntax.text_literals import text_values
from kavachc.syntax.tokens import Token

_References: TypeAlias = tuple[ast.CapabilityReference, ...]
# The result, the error and the promise of a function, as far as they are written.
_Ending: TypeAlias = tuple[ast.TypeExpression | None, ast.TypeExpression | None, _References | None]


class DeclarationBuilder(LiteralBuilder):
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
            span, identifier, generic, takes_self, tuple(typed), *ending, documentation, self_is_mutable
        )

    def ending(self, _: Span, result: ast.TypeExpression | None = None) -> _Ending:
        return result, None, None

    def failing_ending(self, _: Span, result: ast.TypeExpression | None, error: ast.TypeExpression) -> _Ending:
        return result, error, None

    def using_ending(self, _: Span, result: ast.TypeExpression | None, uses: _References) -> _Ending:
        return result, None, uses

    def full_ending(
        self, _: Span, result: ast.TypeExpression | None, error: ast.TypeExpression, uses: _References
    ) -> _Ending:
        return result, error, uses

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
        uses: _References | None = None,
    ) -> ast.FunctionTypeExpression:
        made = ast.FunctionTypeExpression(span, parameters or (), result, error, uses)
        return made if result is None else self._prefix(made, result)

    failing_function_type = function_type
    full_function_type = function_type

    def using_function_type(
        self,
        span: Span,
        parameters: tuple[ast.TypeExpression, ...] | None,
        result: ast.TypeExpression | None,
        uses: _References,
    ) -> ast.FunctionTypeExpression:
        return self.function_type(span, parameters, result, None, uses)
