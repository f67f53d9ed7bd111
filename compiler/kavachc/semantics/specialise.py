"""Typed trees with type variables replaced: what a generic function is for one list of type arguments.

Before, with T for Int                     After
  fn biggest<T: Ord>(xs: [T]) -> T           fn biggest<Int>(xs: [Int]) -> Int
    CallFunction f<[T]>                        CallFunction f<[Int]>

Every node is rebuilt from its fields, whatever its kind, so a new kind of node needs nothing here. Variables of the
program (`Local`) are made anew, once for each copy. What nodes only point to (functions, constants, builtins) stays,
but the function of a closure is part of its node. A call still names the generic function, with type arguments that
hold no variables any more.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

from kavachc.semantics import typed_ast as typed
from kavachc.semantics.builtin_row import Builtin
from kavachc.semantics.types import (
    NEVER,
    NOTHING,
    Bindings,
    CapabilityMethod,
    FieldRule,
    FunctionShape,
    Type,
    error_or_none,
    substitute,
)
from kavachc.source import SourceFile, Span

NodeT = TypeVar("NodeT")

# What has no types in it, and what nodes only point to.
_KEPT = (
    str,
    int,
    float,
    FunctionShape,
    typed.Constant,
    typed.Agent,
    typed.Effect,
    Builtin,
    CapabilityMethod,
    FieldRule,
    Span,
    SourceFile,
)


def specialised(function: typed.Function, type_arguments: tuple[Type, ...]) -> typed.Function:
    """The function for these type arguments, which hold no variables; its name says them."""
    copy = _Copy(dict(zip(function.type_parameters, type_arguments, strict=True)))
    owner, _, own = function.name.rpartition(".")
    name = f"{own}<{', '.join(map(str, type_arguments))}>"
    return typed.Function(
        f"{owner}.{name}" if owner else name,
        copy.of(function.parameters),
        copy.of(function.result),
        error_or_none(copy.of(function.error)),
        function.span,
        body=copy.of(function.body),
        effects=function.effects,
        may_wait=function.may_wait,
        is_recursive=function.is_recursive,
    )


def substituted(node: NodeT, bindings: Bindings) -> NodeT:
    """A copy of a tree with what its variables stand for; the tree itself where nothing is bound."""
    return _Copy(bindings).of(node) if bindings else node


def relocated(node: NodeT, span: Span) -> NodeT:
    """A copy of a tree in which everything stands at `span`."""
    copy: NodeT = _Copy({}, span).of(node)
    return copy


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


class _Copy:
    """One copy, in which each variable of the program is one new variable."""

    def __init__(self, bindings: Bindings, span: Span | None = None) -> None:
        self._bindings = bindings
        self._span = span
        self._locals: dict[typed.Local, typed.Local] = {}

    def of(self, item: Any) -> Any:
        if isinstance(item, Span) and self._span is not None:
            return self._span
        if item is None or isinstance(item, _KEPT):
            return item
        if isinstance(item, typed.Function):
            return item if item.captures is None else self._closure(item)
        if isinstance(item, Type):
            return substitute(item, self._bindings)
        if isinstance(item, tuple):
            return tuple([self.of(part) for part in item])
        if isinstance(item, typed.Local):
            return self._local(item)
        if isinstance(item, typed.Try | typed.Catch) and self.of(item.error) is NEVER:
            return self._what_cannot_fail(item)
        assert is_dataclass(item) and not isinstance(item, type), f"{type(item).__name__} in a typed tree"
        return type(item)(*[self.of(getattr(item, name)) for name in _field_names(type(item))])

    def _what_cannot_fail(self, item: typed.Try | typed.Catch) -> typed.Expr:
        """Of a call that fails with an error parameter, here nothing, only the call is left."""
        call: typed.Expr = self.of(item.operand)
        if isinstance(item, typed.Try):
            return call
        type_ = self.of(item.type)
        if item.wraps:
            return typed.ToOptional(item.span, type_, call)
        if type_ is NOTHING and call.type is not NOTHING:
            return typed.Block(item.span, NOTHING, (typed.ExpressionStatement(item.span, call),), None)
        return call

    def _closure(self, function: typed.Function) -> typed.Function:
        return replace(
            function,
            parameters=self.of(function.parameters),
            result=self.of(function.result),
            error=error_or_none(self.of(function.error)),
            body=self.of(function.body),
            captures=self.of(function.captures),
            type_parameters=(),
        )

    def _local(self, local: typed.Local) -> typed.Local:
        made = self._locals.get(local)
        if made is None:
            made = typed.Local(
                local.name, substitute(local.type, self._bindings), local.mutable, local.span, local.is_reference
            )
            self._locals[local] = made
        return made
