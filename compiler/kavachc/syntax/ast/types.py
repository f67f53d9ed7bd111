"""The root of all nodes, names, and types as written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kavachc.source import Span


@dataclass(frozen=True, slots=True)
class Node:
    span: Span


@dataclass(frozen=True, slots=True)
class Identifier(Node):
    text: str


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    """`Int`, `Payments`, `Task<Bool>`."""

    name: Identifier
    arguments: tuple[TypeExpression, ...] = ()


@dataclass(frozen=True, slots=True)
class ArrayTypeExpression(Node):
    """`[T]`."""

    element: TypeExpression


@dataclass(frozen=True, slots=True)
class MapTypeExpression(Node):
    """`[K: V]`."""

    key: TypeExpression
    value: TypeExpression


@dataclass(frozen=True, slots=True)
class NothingTypeExpression(Node):
    """`()`."""


@dataclass(frozen=True, slots=True)
class OptionalTypeExpression(Node):
    """`T?`."""

    element: TypeExpression


@dataclass(frozen=True, slots=True)
class TupleTypeExpression(Node):
    """`(A, B)`, of two types or more."""

    elements: tuple[TypeExpression, ...]


@dataclass(frozen=True, slots=True)
class CapabilityReference(Node):
    """`Payments` or `Payments.refund`, as `can`, `uses` and `limit` name it."""

    capability: Identifier
    method: Identifier | None


@dataclass(frozen=True, slots=True)
class FunctionTypeExpression(Node):
    """`fn(A, B) -> C ! E uses F`; `result`, `error` and `uses` are None where nothing is written."""

    parameters: tuple[TypeExpression, ...]
    result: TypeExpression | None
    error: TypeExpression | None
    uses: tuple[CapabilityReference, ...] | None = None


TypeExpression: TypeAlias = (
    NamedType
    | ArrayTypeExpression
    | MapTypeExpression
    | NothingTypeExpression
    | OptionalTypeExpression
    | TupleTypeExpression
    | FunctionTypeExpression
)
