"""Patterns by brute force: small types whose values can all be counted, and which of them a pattern fits (spec 3).

It shares with the compiler only the parser: a pattern is tried as it is written, on every value. Where literals cut a
type that is large, one value stands for all between two cuts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.source import SourceFile
from kavachc.syntax import ast
from kavachc.syntax.parser import parse

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
# Every literal of the generated patterns lies between two others of these, or is the least or the greatest Int.
INTS = (INT_MIN, -2, -1, 0, 1, 2, 3, INT_MAX)
INT_LITERALS = (INT_MIN, -1, 0, 1, 2)
STRINGS = ("", "a", "b", "something else")
STRING_LITERALS = STRINGS[:-1]
# Longer than any array that a pattern spells out.
ARRAY_LENGTH_MAX = 3


@dataclass(frozen=True)
class Small:
    """A type: `name` is `Bool`, `Int`, `String`, `?`, `()`, `[]`, or that of a record or a sum. `parts` are the types
    that it is made of; of a sum, those of each variant."""

    name: str
    parts: tuple[Small, ...] = ()
    variants: tuple[tuple[Small, ...], ...] = ()

    def __str__(self) -> str:
        if self.name == "?":
            return f"{self.parts[0]}?"
        if self.name == "()":
            return f"({', '.join(map(str, self.parts))})"
        return f"[{self.parts[0]}]" if self.name == "[]" else self.name

    @property
    def is_finite(self) -> bool:
        """Whether every value is known by its own pattern, so that a `_` in a message is none for want of a better."""
        inside = [*self.parts, *(part for variant in self.variants for part in variant)]
        return self.name not in ("Int", "String") and all(part.is_finite for part in inside)

    def declarations(self) -> dict[str, str]:
        """The declarations of the records and sums that it is made of, by name."""
        found: dict[str, str] = {}
        for part in [*self.parts, *(part for variant in self.variants for part in variant)]:
            found |= part.declarations()
        if self.variants:
            texts = [f"V{index}{_fields(variant, '()')}" for index, variant in enumerate(self.variants)]
            found[self.name] = f"type {self.name} = {' | '.join(texts)}"
        elif self.name.startswith("R"):
            found[self.name] = f"type {self.name} {_fields(self.parts, '{}')}"
        return found


BOOL, INT, STRING = Small("Bool"), Small("Int"), Small("String")
# True, 3, "a", None, ("present", value), a tuple of elements or fields, or (variant, fields).
Value: TypeAlias = object


def _fields(types: tuple[Small, ...], brackets: str) -> str:
    inside = ", ".join(f"f{index}: {type_}" for index, type_ in enumerate(types))
    return f"{brackets[0]}{inside}{brackets[1]}" if types else ""


def values(type_: Small) -> list[Value]:
    """One value for each that patterns can tell apart."""
    if type_.name in ("Bool", "Int", "String"):
        return list({"Bool": (False, True), "Int": INTS, "String": STRINGS}[type_.name])
    if type_.variants:
        return [(index, fields) for index, variant in enumerate(type_.variants) for fields in _products(variant)]
    if type_.name == "?":
        return [None, *(("present", value) for value in values(type_.parts[0]))]
    if type_.name == "[]":
        return [value for length in range(ARRAY_LENGTH_MAX + 1) for value in _products(type_.parts * length)]
    return list(_products(type_.parts))


def _products(types: tuple[Small, ...]) -> Iterator[tuple[Value, ...]]:
    return product(*map(values, types))


def read_patterns(texts: list[str]) -> list[ast.Pattern]:
    """What the parser makes of the patterns, each with its guard left out."""
    arms = "\n".join(f"        {text} => 1" for text in texts)
    bag = DiagnosticBag()
    module = parse(SourceFile("patterns.kav", f"fn f() -> Int {{\n    match 1 {{\n{arms}\n    }}\n}}\n"), bag)
    assert not bag.items, [item.message for item in bag.items]
    function = module.declarations[0]
    assert isinstance(function, ast.Function)
    statement = function.body.statements[0]
    assert isinstance(statement, ast.ExpressionStatement) and isinstance(statement.expression, ast.Match)
    return [arm.pattern for arm in statement.expression.arms]


def fits(pattern: ast.Pattern, type_: Small, value: Value) -> bool:
    """Whether the pattern fits the value, by the words of spec 3.match and the rules below it."""
    if isinstance(pattern, ast.WildcardPattern):
        return True
    if isinstance(pattern, ast.OrPattern):
        return any(fits(item, type_, value) for item in pattern.alternatives)
    if type_.name == "?":
        if isinstance(pattern, ast.LiteralPattern) and isinstance(pattern.value, ast.NoneLiteral):
            return value is None
        return isinstance(value, tuple) and fits(pattern, type_.parts[0], value[1])
    match pattern:
        case ast.NamePattern():
            return True
        case ast.LiteralPattern():
            return value == _literal(pattern)
        case ast.RangePattern():
            assert isinstance(value, int)
            start, end = pattern.start, pattern.end
            assert isinstance(start, ast.IntLiteral) and isinstance(end, ast.IntLiteral)
            return start.value <= value < end.value or (pattern.inclusive and value == end.value)
        case ast.ConstructorPattern() if type_.variants:
            assert isinstance(value, tuple)
            variant, fields = value
            is_same = pattern.path[1].text == f"V{variant}"
            return is_same and _fields_fit(pattern, type_.variants[variant], fields)
        case ast.ConstructorPattern():
            assert isinstance(value, tuple)
            return _fields_fit(pattern, type_.parts, value)
        case ast.TuplePattern():
            assert isinstance(value, tuple)
            return all(map(fits, pattern.elements, type_.parts, value))
        case ast.ArrayPattern():
            assert isinstance(value, tuple)
            count = len(pattern.elements)
            has_length = len(value) >= count if pattern.rest is not None else len(value) == count
            return has_length and all(map(fits, pattern.elements, type_.parts * count, value))
    raise AssertionError(pattern)


def reached(pattern: ast.Pattern, type_: Small, value: Value) -> Iterator[ast.Pattern]:
    """The alternatives in a pattern which fits the value that are the first ones to do so."""
    match pattern:
        case ast.OrPattern():
            first = next(item for item in pattern.alternatives if fits(item, type_, value))
            yield first
            yield from reached(first, type_, value)
        case ast.ConstructorPattern() | ast.TuplePattern() | ast.ArrayPattern() if type_.name == "?":
            assert isinstance(value, tuple)
            yield from reached(pattern, type_.parts[0], value[1])
        case ast.ConstructorPattern():
            assert isinstance(value, tuple)
            types, fields = (type_.variants[value[0]], value[1]) if type_.variants else (type_.parts, value)
            for position, argument in enumerate(pattern.arguments):
                index = position if argument.name is None else int(argument.name.text[1:])
                yield from reached(argument.pattern, types[index], fields[index])
        case ast.TuplePattern() | ast.ArrayPattern():
            assert isinstance(value, tuple)
            types = type_.parts if isinstance(pattern, ast.TuplePattern) else type_.parts * len(pattern.elements)
            for element, part, inside in zip(pattern.elements, types, value, strict=False):
                yield from reached(element, part, inside)


def inner_alternatives(pattern: ast.Pattern) -> Iterator[ast.Pattern]:
    """The alternatives in a pattern, in source order."""
    match pattern:
        case ast.OrPattern():
            for item in pattern.alternatives:
                yield item
                yield from inner_alternatives(item)
        case ast.ConstructorPattern():
            for argument in pattern.arguments:
                yield from inner_alternatives(argument.pattern)
        case ast.TuplePattern() | ast.ArrayPattern():
            for element in pattern.elements:
                yield from inner_alternatives(element)


def _fields_fit(pattern: ast.ConstructorPattern, types: tuple[Small, ...], fields: tuple[Value, ...]) -> bool:
    for position, argument in enumerate(pattern.arguments):
        index = position if argument.name is None else int(argument.name.text[1:])
        if not fits(argument.pattern, types[index], fields[index]):
            return False
    return True


def _literal(pattern: ast.LiteralPattern) -> Value:
    literal = pattern.value
    if isinstance(literal, ast.StringLiteral):
        return "".join(str(part) for part in literal.parts)
    assert isinstance(literal, ast.IntLiteral | ast.BoolLiteral)
    return literal.value
