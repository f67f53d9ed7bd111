"""Patterns: what they fit, and the names that they bind (spec 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.binders import tuple_types
from kavachc.semantics.body import Body
from kavachc.semantics.conversions import same_type
from kavachc.semantics.literals import INT_MAX, INT_MIN
from kavachc.semantics.types import (
    BOOL,
    DURATION,
    ERROR,
    FLOAT,
    INT,
    STRING,
    UNKNOWN,
    ArrayType,
    FieldInfo,
    GenericT,
    OptionalType,
    RecordType,
    SumType,
    Type,
    apply,
    declared,
)
from kavachc.semantics.wording import a, are, counted, near_miss
from kavachc.source import Span
from kavachc.syntax import ast

BOUND_BY_PATTERN = "bound by a pattern"


def check_pattern(body: Body, node: ast.Pattern, subject: Type) -> typed.Pattern:
    """The typed pattern for a value of type `subject`; a wildcard stands for one that was reported."""
    if isinstance(subject, OptionalType) and not isinstance(node, ast.WildcardPattern | ast.OrPattern):
        if is_none(node):
            return typed.NonePattern(node.span)
        if isinstance(node, ast.NamePattern):
            # Of a `T??` a name is the `T?`, whether it holds something or not.
            return typed.PresentPattern(node.span, _check_name(body, node, subject.element))
        inner = check_pattern(body, node, subject.element)
        return typed.PresentPattern(node.span, inner)
    match node:
        case ast.WildcardPattern():
            return typed.WildcardPattern(node.span)
        case ast.NamePattern():
            return _check_name(body, node, subject)
        case ast.LiteralPattern():
            return _check_literal(body, node, subject)
        case ast.RangePattern():
            return _check_range(body, node, subject)
        case ast.ConstructorPattern():
            return _check_constructor(body, node, subject)
        case ast.TuplePattern():
            types = tuple_types(body, node, subject)
            elements = [check_pattern(body, item, type_) for item, type_ in zip(node.elements, types, strict=True)]
            return typed.TuplePattern(node.span, tuple(elements))
        case ast.ArrayPattern():
            return _check_array(body, node, subject)
        case ast.OrPattern():
            alternatives = [_check_alternative(body, item, subject) for item in node.alternatives]
            return typed.OrPattern(node.span, tuple(alternatives))


def is_none(node: ast.Pattern) -> bool:
    return isinstance(node, ast.LiteralPattern) and isinstance(node.value, ast.NoneLiteral)


def _check_array(body: Body, node: ast.ArrayPattern, subject: Type) -> typed.Pattern:
    """`[a, b]`, or with `..` at its end an array that may go on."""
    element: Type = UNKNOWN
    if isinstance(subject, ArrayType):
        element = subject.element
    elif subject is not UNKNOWN:
        body.report(codes.PATTERN_TYPE, node.span, pattern="[…]", type=subject)
    elements = tuple([check_pattern(body, item, element) for item in node.elements])
    rest = None
    if node.rest is not None and node.rest.name is not None:
        rest = body.declare(node.rest.name, subject, False, BOUND_BY_PATTERN)
    return typed.ArrayPattern(node.span, elements, node.rest is not None, rest)


def _check_alternative(body: Body, node: ast.Pattern, subject: Type) -> typed.Pattern:
    """An alternative of `A | B`, which binds no names."""
    name = _first_name(node)
    if name is not None and not _is_variant_of(name.text, subject):
        body.report(codes.ALTERNATIVE_BINDS, name.span, name=name.text, help="write `_`")
        return typed.WildcardPattern(node.span)
    return check_pattern(body, node, subject)


def _first_name(node: ast.Pattern) -> ast.Identifier | None:
    pending: list[ast.Pattern] = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, ast.NamePattern):
            return current.name
        if isinstance(current, ast.ConstructorPattern):
            pending.extend(argument.pattern for argument in reversed(current.arguments))
        elif isinstance(current, ast.TuplePattern):
            pending.extend(reversed(current.elements))
        elif isinstance(current, ast.ArrayPattern):
            if current.rest is not None and current.rest.name is not None:
                return current.rest.name
            pending.extend(reversed(current.elements))
        elif isinstance(current, ast.OrPattern):
            pending.extend(reversed(current.alternatives))
    return None


def _is_variant_of(name: str, subject: Type) -> bool:
    return isinstance(subject, SumType) and subject.variant_index(name) is not None


def _check_name(body: Body, node: ast.NamePattern, subject: Type) -> typed.Pattern:
    name = node.name.text
    if _is_variant_of(name, subject):
        body.report(codes.BARE_VARIANT, node.span, name=name, type=body.world.variant_owner(name, subject))
        return typed.WildcardPattern(node.span)
    found = body.world.types.get(name)
    if found is not None:
        help_text = f"write `{name}(…)`" if isinstance(found, RecordType) and _declares(found, subject) else None
        body.report(codes.PATTERN_IS_TYPE, node.span, name=name, help=help_text)
        return typed.WildcardPattern(node.span)
    return typed.BindPattern(node.span, body.declare(node.name, subject, False, BOUND_BY_PATTERN))


def _declares(declaration: Type, subject: Type) -> bool:
    return isinstance(subject, RecordType | SumType) and declared(subject) is declaration


def _application(declaration: GenericT, subject: Type) -> GenericT:
    """What a pattern of a generic type stands for: the subject's own application, where it is one."""
    if _declares(declaration, subject):
        return cast(GenericT, subject)
    return apply(declaration, (UNKNOWN,) * len(declaration.parameters))


def _check_literal(body: Body, node: ast.LiteralPattern, subject: Type) -> typed.Pattern:
    literal = node.value
    value: int | float | bool | str
    match literal:
        case ast.NoneLiteral():
            if subject is not UNKNOWN:
                body.report(codes.PATTERN_NONE, node.span, type=subject)
            return typed.WildcardPattern(node.span)
        case ast.IntLiteral():
            type_ = INT
            value = literal.value
            if subject is FLOAT:
                return typed.LiteralPattern(node.span, float(value), FLOAT)
        case ast.FloatLiteral():
            type_, value = FLOAT, literal.value
        case ast.BoolLiteral():
            type_, value = BOOL, literal.value
        case ast.DurationLiteral():
            type_, value = DURATION, literal.value_ns
        case ast.StringLiteral():
            type_ = STRING
            if any(not isinstance(part, str) for part in literal.parts):
                body.report(codes.PATTERN_NOT_PLAIN, node.span)
                return typed.WildcardPattern(node.span)
            value = "".join(part for part in literal.parts if isinstance(part, str))
    if not _fits(body, node.span, type_, subject):
        return typed.WildcardPattern(node.span)
    if type_ in (INT, DURATION) and isinstance(value, int) and not INT_MIN <= value <= INT_MAX:
        body.report(codes.NUMBER_TOO_LARGE, node.span, text=node.span.text, type=a(type_))
        return typed.WildcardPattern(node.span)
    return typed.LiteralPattern(node.span, value, type_)


def _fits(body: Body, span: Span, pattern: Type, subject: Type) -> bool:
    if same_type(pattern, subject):
        return True
    shown = pattern.name if isinstance(pattern, RecordType | SumType) else pattern
    body.report(codes.PATTERN_TYPE, span, pattern=shown, type=subject)
    return False


def _check_range(body: Body, node: ast.RangePattern, subject: Type) -> typed.Pattern:
    """`1..5` of Ints or Durations; one that holds nothing is an error."""
    types = [INT if isinstance(bound, ast.IntLiteral) else DURATION for bound in (node.start, node.end)]
    bounds = [bound.value if isinstance(bound, ast.IntLiteral) else bound.value_ns for bound in (node.start, node.end)]
    if types[0] is not types[1]:
        body.report(codes.PATTERN_TYPE, node.end.span, pattern=types[1], type=types[0])
    elif _fits(body, node.span, types[0], subject):
        if not all(INT_MIN <= bound <= INT_MAX for bound in bounds):
            body.report(codes.NUMBER_TOO_LARGE, node.span, text=node.span.text, type=a(types[0]))
        elif bounds[0] > bounds[1] or (bounds[0] == bounds[1] and not node.inclusive):
            body.report(codes.PATTERN_RANGE_EMPTY, node.span, text=node.span.text)
        else:
            return typed.RangePattern(node.span, bounds[0], bounds[1], node.inclusive)
    return typed.WildcardPattern(node.span)


def _check_constructor(body: Body, node: ast.ConstructorPattern, subject: Type) -> typed.Pattern:
    """`AiError.Denied(r)` or `Point(x: 0)`, on its own type or on an `Error`. Of a generic type, the subject says which
    application it is."""
    names = [item.text for item in node.path]
    found = body.world.types.get(names[0])
    if isinstance(found, RecordType | SumType) and found.parameters:
        if subject is ERROR:
            body.report(codes.ERROR_OF_GENERIC, node.span, name=found.name)
            return _bind_all(body, node)
        found = _application(found, subject)
    pattern: typed.Pattern
    if isinstance(found, SumType) and len(names) == 2:
        index = found.variant_index(names[1])
        if index is None:
            help_text = near_miss(names[1], [variant.name for variant in found.variants])
            body.report(codes.UNKNOWN_VARIANT, node.path[1].span, type=found.name, name=names[1], help=help_text)
            return _bind_all(body, node)
        if not _fits_or_held(body, node.span, found, subject):
            return _bind_all(body, node)
        variant = found.variants[index]
        known = variant.fields + variant.hidden if body.world.is_of_library(node.span) else variant.fields
        fields = _check_fields(body, node, f"{found.name}.{variant.name}", known)
        pattern = typed.VariantPattern(node.span, found, index, fields)
    elif isinstance(found, RecordType) and len(names) == 1:
        if not _fits_or_held(body, node.span, found, subject):
            return _bind_all(body, node)
        pattern = typed.RecordPattern(node.span, found, _check_fields(body, node, found.name, found.fields))
    else:
        _report_unknown(body, node, subject)
        return _bind_all(body, node)
    return typed.ErrorPattern(node.span, found, pattern) if subject is ERROR else pattern


def _bind_all(body: Body, node: ast.ConstructorPattern) -> typed.Pattern:
    """The names in a pattern that was reported are known in its arm all the same."""
    for argument in node.arguments:
        check_pattern(body, argument.pattern, UNKNOWN)
    return typed.WildcardPattern(node.span)


def _fits_or_held(body: Body, span: Span, pattern: Type, subject: Type) -> bool:
    return subject is ERROR or _fits(body, span, pattern, subject)


def _report_unknown(body: Body, node: ast.ConstructorPattern, subject: Type) -> None:
    first = node.path[0]
    if len(node.path) == 1:
        owner = body.world.variant_owner(first.text, subject)
        if owner is not None:
            body.report(codes.BARE_VARIANT, first.span, name=first.text, type=owner)
            return
    found = body.world.types.get(first.text)
    if found is None and body.world.is_spoiled(first.text):
        body.said(node.span)
        return
    if isinstance(found, SumType):
        help_text = f"name a variant: `{found}.{found.variants[0].name}`" if found.variants else None
    else:
        help_text = body.world.help_for_name(first.text, body.world.types)
    name = ".".join(item.text for item in node.path)
    body.report(codes.PATTERN_UNKNOWN, node.span, name=name, help=help_text)


def _check_fields(
    body: Body, node: ast.ConstructorPattern, name: str, fields: Sequence[FieldInfo]
) -> tuple[tuple[int, typed.Pattern], ...]:
    """By position, all of them; or by name, any of them."""
    arguments = node.arguments
    if node.has_arguments and not fields and not (arguments == () and "." not in name):
        body.report(codes.NO_FIELDS_TO_GIVE, node.span, name=name)
        return ()
    by_position = [argument for argument in arguments if argument.name is None]
    if node.has_arguments and (by_position or not arguments) and len(arguments) != len(fields):
        wanted, given = counted(len(fields), "field"), are(len(arguments))
        inside = ", ".join("_" for _ in fields)
        body.report(
            codes.PATTERN_FIELDS, node.span, name=name, wanted=wanted, given=given, help=f"write `{name}({inside})`"
        )
        _bind_all(body, node)
        return ()
    placed: dict[int, Span] = {}
    result: list[tuple[int, typed.Pattern]] = []
    for position, argument in enumerate(arguments):
        index = position
        if argument.name is not None:
            found = next((place for place, item in enumerate(fields) if item.name == argument.name.text), None)
            if found is None:
                help_text = near_miss(argument.name.text, [item.name for item in fields])
                body.report(codes.UNKNOWN_FIELD, argument.name.span, type=name, name=argument.name.text, help=help_text)
                continue
            index = found
        if index in placed:
            labels = (Label(placed[index], "first given here"),)
            body.report(codes.ARGUMENT_TWICE, argument.span, argument=fields[index].name, labels=labels)
            continue
        placed[index] = argument.span
        result.append((index, check_pattern(body, argument.pattern, fields[index].type)))
    return tuple(result)
