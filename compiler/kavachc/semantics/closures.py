"""Closures: functions written as values (spec 2.fn). Each becomes a function of its own, with what it captures."""

from __future__ import annotations

from dataclasses import replace

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import DROPPED, Body, as_branch_block, drop
from kavachc.semantics.conversions import is_partly_unknown
from kavachc.semantics.promises import note_held, take_promise
from kavachc.semantics.scope import Scope
from kavachc.semantics.statements import check_function_body
from kavachc.semantics.types import INFERRED, NEVER, NOTHING, UNKNOWN, FunctionType, OptionalType, Type
from kavachc.semantics.wording import counted
from kavachc.semantics.world import Facts
from kavachc.syntax import ast

NAME = "closure"


def check_closure(body: Body, node: ast.Closure, wanted: Type | None) -> typed.Expr:
    """What is left out of a closure is taken from `wanted`, where that is a function. A result of unknown type there is
    taken from the body of the short form, and so is what a result may hold that may be absent."""
    while isinstance(wanted, OptionalType):
        wanted = wanted.element
    known = wanted if isinstance(wanted, FunctionType) else None
    if known is not None and len(known.parameters) != len(node.parameters):
        given = counted(len(node.parameters), "parameter")
        return body.report(codes.CLOSURE_PARAMETERS, node.span, wanted=_without_result(known), given=given)
    parameters = tuple([_parameter(body, node, index, known) for index in range(len(node.parameters))])
    result, error, uses = _ending(body, node, known)
    may_be_absent = isinstance(result, OptionalType) and result.element is UNKNOWN
    result = UNKNOWN if may_be_absent else result
    variables = body.variables()
    function = typed.Function(NAME, parameters, result, error, node.span, type_parameters=variables, captures=())
    inner = _body(body, function)
    if node.is_short:
        function.body = _check_short(inner, node)
    else:
        assert isinstance(node.body, ast.Block)
        function.body = check_function_body(inner, node.body)
    if function.result is UNKNOWN:
        gives = function.body.type
        if may_be_absent and gives not in (NOTHING, NEVER, UNKNOWN) and not isinstance(gives, OptionalType):
            function.body = as_branch_block(inner, function.body, OptionalType(gives))
        function.result = NOTHING if function.body.type is NEVER else function.body.type
    if function.error is INFERRED:
        function.error = None
    captured = inner.captured.values()
    function.captures = tuple([item.local for item in captured])
    body.world.closures.append(function)
    type_ = FunctionType(tuple([item.type for item in parameters]), function.result, function.error, uses)
    take_promise(body, function, type_, node.span)
    return typed.Closure(node.span, type_, function, tuple([item.value for item in captured]))


def _without_result(wanted: FunctionType) -> FunctionType | str:
    """`fn(Int) -> …`, where the closure's body is to say the result."""
    if any(map(is_partly_unknown, wanted.parameters)):
        return wanted
    if is_partly_unknown(wanted.result):
        return f"fn({', '.join(map(str, wanted.parameters))}) -> …"
    return replace(wanted, error=None) if wanted.error is INFERRED else wanted


def _parameter(body: Body, node: ast.Closure, index: int, known: FunctionType | None) -> typed.Local:
    written = node.parameters[index]
    name = written.name.text
    type_: Type = UNKNOWN
    if written.type is not None:
        type_ = body.resolve(written.type)
    elif known is not None:
        type_ = known.parameters[index]
    else:
        body.report(codes.CLOSURE_PARAMETER_TYPE, written.span, name=name)
    return typed.Local(name, type_, False, written.name.span)


def _ending(
    body: Body, node: ast.Closure, known: FunctionType | None
) -> tuple[Type, Type | None, tuple[typed.Effect, ...]]:
    """The result, the error and the promise. Written in full without the first two, a closure gives nothing, unless
    more is known."""
    written = ast.FunctionTypeExpression(node.span, (), node.result, node.error, node.uses)
    ending = body.resolve(written)
    assert isinstance(ending, FunctionType)
    uses = known.uses if node.uses is None and known is not None else ending.uses
    if node.result is not None or node.error is not None:
        return ending.result, ending.error, uses
    if known is not None:
        return known.result, known.error, uses
    if body.guesses:
        return UNKNOWN, UNKNOWN, uses
    return (UNKNOWN if node.is_short else NOTHING), None, uses


def _body(outer: Body, function: typed.Function) -> Body:
    """Where the names of the closure's surroundings are known as what it captures of them."""
    # What generic functions are asked for counts for the whole of the function that this stands in.
    shared = outer.facts
    facts = outer.world.facts[function] = Facts(
        calls_of_generics=shared.calls_of_generics, asks=shared.asks, jsons=shared.jsons
    )
    body = Body(outer.world, outer.dispatch, facts, function, outer.agent, outer.rule_target, outer=outer)
    body.guesses = outer.guesses

    def captured(name: str) -> typed.Local | None:
        local = outer.scope.find(name)
        if local is None:
            return None
        made = body.capture(local, local.name, local.span, typed.LocalGet(function.span, local.type, local))
        note_held(body, made, typed.LocalGet(function.span, local.type, local))
        return made

    body.scope = Scope(captured, outer.scope)
    for parameter in function.parameters:
        if parameter.name == "_":
            continue
        first = body.scope.declare(parameter)
        if first is not None:
            labels = (Label(first.span, "first declared here"),)
            body.report(codes.DUPLICATE_NAME, parameter.span, name=parameter.name, labels=labels)
    return body


def _check_short(body: Body, node: ast.Closure) -> typed.Block:
    assert body.function is not None
    result = body.function.result
    if result is NOTHING:
        value = drop(body.expression(node.body, DROPPED))
    elif result is UNKNOWN:
        value = body.expression(node.body)
    else:
        value = body.value(node.body, result)
    if value.type in (NOTHING, NEVER):
        return typed.Block(value.span, value.type, (typed.ExpressionStatement(value.span, value),), None)
    return typed.Block(value.span, value.type, (), value)
