"""`try`, `catch`, `fail`, `return`, `break`, `continue` and `spawn` (spec 3, 4, 7)."""

from __future__ import annotations

from dataclasses import replace

from kavachc.diagnostics import codes
from kavachc.diagnostics.codes import Code
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import DROPPED, Body, drop, unknown
from kavachc.semantics.calls import check_call, record_call
from kavachc.semantics.checked_call import Checked, no_call
from kavachc.semantics.conversions import has_bound, same_type
from kavachc.semantics.names import function_signature
from kavachc.semantics.ranks import needs_wanted
from kavachc.semantics.types import (
    ERROR,
    INFERRED,
    NEVER,
    NOTHING,
    UNKNOWN,
    OptionalType,
    RecordType,
    SumType,
    TaskType,
    Type,
    TypeVariable,
)
from kavachc.semantics.wording import single_spaced
from kavachc.source import Span
from kavachc.syntax import ast


def _fallible_call(body: Body, word: str, node: ast.Expression, wanted: Type | None) -> Checked:
    """The operand of `try` or `catch`: a call that can fail. `error` is UNKNOWN after a report."""
    if not isinstance(node, ast.Call):
        checked = body.expression(node)
        if checked.type is not UNKNOWN:
            advice = f"write `{word}` on the call itself" if word == "try" else "write `catch` after the call itself"
            body.report(codes.TRY_NEEDS_CALL, node.span, word=word, advice=advice)
        return Checked(checked, "", UNKNOWN, is_wrong=True)
    call = check_call(body, node, wanted)
    record_call(body, call, spawned=False)
    if call.error is None and not call.is_wrong:
        name = call.name or single_spaced(node.span.text, 30)
        body.report(codes.TRY_CANNOT_FAIL, node.span, word=word, name=name)
    return call


def check_try(body: Body, node: ast.Try, wanted: Type | None) -> typed.Expr:
    """`try f()`: the value, or leave the function with the error."""
    call = _fallible_call(body, "try", node.operand, wanted)
    error = call.error
    if error is None or error is UNKNOWN:
        return call.wrap(call.call)
    own = _error_of_function(body, node.span, "try", error)
    if own is None:
        return typed.NothingValue(node.span, call.call.type)
    converts = own is ERROR and error is not ERROR and not isinstance(error, TypeVariable)
    if not converts and not same_type(error, own):
        body.report(
            codes.ERROR_DOES_NOT_FIT,
            node.span,
            found=error,
            name=body.name(),
            wanted=own,
            help="handle it with `catch`, and `fail` with the function's own error",
        )
    return call.wrap(typed.Try(node.span, call.call.type, call.call, error, converts))


def _error_of_function(body: Body, span: Span, word: str, error: Type) -> Type | None:
    """The error type that `try` and `fail` must fit; None, and reported, when the function cannot fail."""
    if body.function is None:
        body.report(codes.OUTSIDE_FUNCTION, span, word=word)
        return None
    if body.function.error is None:
        shown = error if isinstance(error, RecordType | SumType) or error is ERROR else "Error"
        help_text = f"write `{function_signature(body.function, shown)}`"
        if word == "try":
            help_text += ", or handle the error with `catch`"
        body.report(codes.FUNCTION_CANNOT_FAIL, span, word=word, name=body.name(), help=help_text)
        return None
    if body.function.error is INFERRED:
        # The first that leaves the closure says what it fails with.
        body.function.error = error
    return body.function.error


def check_catch(body: Body, node: ast.Catch, wanted: Type | None) -> typed.Expr:
    """`f() catch e => value`. Where the value is dropped, the two sides may differ, and the whole gives nothing."""
    call = _fallible_call(body, "catch", node.operand, wanted)
    body.scope.enter()
    binder = None
    if node.binder is not None:
        binder = body.declare(node.binder, call.error or UNKNOWN, False, "the error that was caught")
    type_, wraps = call.call.type, False
    if wanted is DROPPED:
        handler = drop(body.expression(node.handler, type_ if needs_wanted(body, node.handler) else DROPPED))
        type_ = NOTHING
    elif type_ is UNKNOWN or type_ is NEVER:
        handler = body.expression(node.handler, UNKNOWN if type_ is UNKNOWN and wanted is None else wanted)
    else:
        # `f() catch _ => none`: an optional is wanted, and the call gives what it would hold.
        wraps = isinstance(wanted, OptionalType) and same_type(type_, wanted.element)
        type_ = wanted if wraps and wanted is not None else type_
        handler = body.value(node.handler, type_)
    body.scope.leave()
    if call.error is None or call.error is UNKNOWN:
        return call.wrap(call.call)
    return call.wrap(typed.Catch(node.span, type_, call.call, call.error, binder, handler, wraps))


def check_fail(body: Body, node: ast.Fail, wanted: Type | None) -> typed.Expr:
    """`fail e`: leave the function with `e` as its error."""
    own = None if body.function is None else body.function.error
    error = body.operand(node.error, None if own is INFERRED else own)
    if error.type is UNKNOWN:
        return typed.Fail(node.span, NEVER, error)
    is_error = isinstance(error.type, RecordType | SumType) or error.type is ERROR
    if not is_error and not (isinstance(error.type, TypeVariable) and has_bound(error.type, "Error")):
        body.report(codes.NOT_AN_ERROR_TYPE, node.error.span, type=error.type)
        return typed.Fail(node.span, NEVER, unknown(node.error.span))
    own = _error_of_function(body, node.span, "fail", error.type)
    if own is None:
        return typed.Fail(node.span, NEVER, error)
    if (own is not ERROR or isinstance(error.type, TypeVariable)) and not same_type(error.type, own):
        body.report(codes.ERROR_DOES_NOT_FIT, node.error.span, found=error.type, name=body.name(), wanted=own)
        return typed.Fail(node.span, NEVER, error)
    return typed.Fail(node.span, NEVER, body.convert(error, own))


def check_return(body: Body, node: ast.Return, wanted: Type | None) -> typed.Expr:
    """`return`, with a value exactly where the function has a result."""
    if body.function is None:
        body.report(codes.OUTSIDE_FUNCTION, node.span, word="return")
        return typed.Return(node.span, NEVER, None)
    result = body.function.result
    if node.value is None:
        if result is not NOTHING and result is not UNKNOWN:
            body.report(codes.RETURN_VALUE_MISSING, node.span, name=body.name(), type=result)
        return typed.Return(node.span, NEVER, None)
    if result is UNKNOWN and body.function.captures is not None:
        body.report(codes.RETURN_OF_UNKNOWN, node.span)
    if result is not NOTHING:
        return typed.Return(node.span, NEVER, body.value(node.value, result))
    value = body.expression(node.value)
    if value.type not in (NOTHING, NEVER, UNKNOWN):
        help_text = "write `return` alone"
        if body.function is not body.world.functions.get("main"):
            help_text += f", or `{_signature_with_result(body.function, value.type)}`"
        body.report(codes.RETURN_VALUE_UNEXPECTED, node.value.span, name=body.name(), help=help_text)
    return typed.Return(node.span, NEVER, value)


def _signature_with_result(function: typed.Function, result: Type) -> str:
    return function_signature(replace(function, result=result))


def check_break(body: Body, node: ast.Break, wanted: Type | None) -> typed.Expr:
    if body.loops:
        body.loops[-1].has_break = True
    else:
        body.report(codes.OUTSIDE_LOOP, node.span, word="break")
    return typed.Break(node.span, NEVER)


def check_continue(body: Body, node: ast.Continue, wanted: Type | None) -> typed.Expr:
    if not body.loops:
        body.report(codes.OUTSIDE_LOOP, node.span, word="continue")
    return typed.Continue(node.span, NEVER)


def check_spawn(body: Body, node: ast.Spawn, wanted: Type | None) -> typed.Expr:
    """`spawn f(x)`: a `Task` of what the call gives; its error comes out of `wait`."""
    result = wanted.result if isinstance(wanted, TaskType) else None
    call = check_call(body, node.call, result) if isinstance(node.call, ast.Call) else None
    if call is None:
        call = no_call(node.span)
        if body.expression(node.call).type is not UNKNOWN:
            _report_spawn(body, node, codes.SPAWN_NEEDS_CALL)
    record_call(body, call, spawned=True)
    body.facts.acts.append(("starts a task", node.span))
    if call.is_wrong:
        return unknown(node.span)
    started = (
        typed.CallFunction,
        typed.CallValue,
        typed.CallCapability,
        typed.CallHandler,
        typed.CallBuiltin,
        typed.Ask,
    )
    arguments = call.call.arguments if isinstance(call.call, typed.CallFunction) else ()
    changes = any(isinstance(item, typed.MutArgument) for item in arguments)
    if changes or isinstance(call.call, typed.CallMutatingBuiltin):
        return body.report(codes.SPAWN_BUILT_IN, node.span, name=call.name)
    if not isinstance(call.call, started):
        return unknown(node.span) if call.call.type is UNKNOWN else _report_spawn(body, node, codes.SPAWN_NEEDS_CALL)
    return call.wrap(typed.Spawn(node.span, TaskType(call.call.type), call.call))


def _report_spawn(body: Body, node: ast.Spawn, code: Code) -> typed.Expr:
    return body.report(code, node.call.span, help="write `spawn f(…)`")
