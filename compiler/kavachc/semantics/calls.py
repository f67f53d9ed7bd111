"""Calls: of functions, methods, handlers, capability methods and builtins (spec 2, 5, 6, 8.1).

A call is checked into a `Checked`, which says what it can fail with and what it does to its caller; the
expression around it (`try`, `catch`, `spawn`, or nothing) decides what becomes of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kavachc.diagnostics import codes
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.agent_start import check_start
from kavachc.semantics.arguments import Slot, Target, check_arguments, in_order
from kavachc.semantics.body import MAY_BE_NONE, Body, unknown
from kavachc.semantics.builtin_calls import builtin_named, check_ask, check_builtin, method_names
from kavachc.semantics.builtins import GUARDS
from kavachc.semantics.checked_call import Checked, wrong_call
from kavachc.semantics.construction import check_record_make, check_variant_make, shape, type_arguments_example
from kavachc.semantics.conversions import is_partly_unknown
from kavachc.semantics.habits import help_for_method, help_for_namespace
from kavachc.semantics.inference import Inference, refuse_type_arguments
from kavachc.semantics.json_calls import check_json
from kavachc.semantics.library import library_method, library_method_names
from kavachc.semantics.names import (
    READING,
    capability_here,
    own_type_parameters,
    report_unknown_name,
    stands_for_any,
    start_example,
    type_named_by,
)
from kavachc.semantics.statements import place_of
from kavachc.semantics.types import (
    INT,
    UNKNOWN,
    UNKNOWN_USES,
    AgentType,
    CapabilityMethod,
    CapabilityType,
    FunctionType,
    OptionalType,
    RecordType,
    SumType,
    Type,
    TypeVariable,
    error_or_none,
)
from kavachc.semantics.wording import a, near_miss, single_spaced
from kavachc.semantics.world import PRIMITIVES, Edge, GenericCall, Use
from kavachc.syntax import ast

# So many methods are named where one is not there.
NAMED_MAX = 12
LIBRARY = "docs/library.md"


def check_call_expression(body: Body, node: ast.Call, wanted: Type | None) -> typed.Expr:
    """A call that nothing surrounds: one that can fail is an error (spec 4)."""
    checked = check_call(body, node, wanted)
    record_call(body, checked, spawned=False)
    if checked.error is not None and checked.error is not UNKNOWN:
        text = single_spaced(node.span.text)
        # Outside functions there is no `try`, and a rule wants its `catch` in parentheses.
        caught = f"({text} catch e => …)" if body.rule_target is not None else f"{text} catch e => …"
        help_text = f"write `{caught}`" if body.function is None else None
        body.report(
            codes.ERROR_NOT_HANDLED, node.span, name=checked.name, error=checked.error, text=text, help=help_text
        )
    return checked.wrap(checked.call)


def record_call(body: Body, checked: Checked, spawned: bool) -> None:
    """Note what the call means for the whole program; a spawned one runs later, in its own task."""
    if checked.edge is not None:
        edge = checked.edge
        body.facts.edges.append(Edge(edge.callee, edge.span, edge.carries_effects, not spawned))
    if checked.effect is not None:
        body.facts.uses.append(Use(typed.Effect(checked.effect), checked.call.span))
    body.facts.uses.extend(Use(effect, checked.call.span) for effect in checked.uses)
    if checked.waits and not spawned:
        body.facts.waits = True
    if checked.acts is not None:
        body.facts.acts.append((checked.acts, checked.call.span))


def check_call(body: Body, node: ast.Call, wanted: Type | None = None) -> Checked:
    """Any call, by what stands before its parentheses. `wanted` helps to find type arguments."""
    callee = node.callee
    if isinstance(callee, ast.Name) and body.scope.find(callee.text) is None:
        return _check_named_call(body, node, callee, wanted)
    if isinstance(callee, ast.FieldAccess) and not callee.in_parentheses:
        named = type_named_by(body, callee.target)
        if named is None:
            return _check_method_call(body, node, callee, wanted)
        if not isinstance(named, SumType):
            refuse_type_arguments(body, callee.type_arguments, callee.target)
        example = type_arguments_example(named, callee.name) if isinstance(named, SumType) else None
        if named != "json":
            refuse_type_arguments(body, node.type_arguments, callee.name, example)
        return _check_call_of_part(body, node, callee, named, wanted)
    checked = body.operand(callee)
    if isinstance(checked.type, FunctionType):
        return _call_value(body, node, checked, checked.type)
    if not is_partly_unknown(checked.type):
        body.report(codes.NOT_CALLABLE, callee.span, what=a(checked.type))
    return wrong_call(body, node)


def _check_named_call(body: Body, node: ast.Call, callee: ast.Name, wanted: Type | None) -> Checked:
    world, name = body.world, callee.text
    function = world.functions.get(name)
    if function is None and name == "ask":
        return check_ask(body, node)
    if function is not None:
        return _call_function(body, node, function, None, wanted)
    found = world.types.get(name)
    if isinstance(found, RecordType):
        return Checked(check_record_make(body, node, found, wanted), name)
    row = builtin_named(None, name)
    if row is not None or found is not None or name in world.constants:
        refuse_type_arguments(body, node.type_arguments, callee)
    if row is not None and found is None:
        return check_builtin(body, node, row, None)
    if isinstance(found, SumType):
        example = shape(f"{found}.{found.variants[0].name}", found.variants[0].fields) if found.variants else name
        body.report(codes.CONSTRUCT_SUM, node.span, type=found, example=example.removesuffix("()"))
    elif isinstance(found, AgentType):
        body.report(codes.AGENT_NOT_CALLED, node.span, example=start_example(world.agents[found]))
    elif found is not None:
        body.report(codes.NOT_CALLABLE, callee.span, what=f"the capability `{name}`")
    elif name in world.constants:
        body.report(codes.NOT_CALLABLE, callee.span, what=f"the constant `{name}`")
    elif name in PRIMITIVES:
        body.report(codes.NOT_CALLABLE, callee.span, what=f"the type `{name}`", help=READING.get(name))
    else:
        report_unknown_name(body, callee.span, name, wanted, node)
    return wrong_call(body, node)


def _check_call_of_part(
    body: Body, node: ast.Call, callee: ast.FieldAccess, named: Type | str, wanted: Type | None
) -> Checked:
    """`PayError.Denied(…)`, `Refunder.start(…)`, `Payments.refund(…)`, `Time.sleep(…)`."""
    name = callee.name
    if isinstance(named, SumType):
        return Checked(check_variant_make(body, node, callee, named, wanted), name.text)
    if isinstance(named, AgentType):
        return check_start(body, node, body.world.agents[named], name)
    if isinstance(named, CapabilityType):
        method = named.method(name.text)
        if method is None:
            return _report_no_method(body, node, callee, named, [item.name for item in named.methods])
        target = capability_here(body, callee.target.span, named, method.name)
        return _call_capability(body, node, target, named, method)
    if isinstance(named, str):
        row = builtin_named(named, name.text)
        if row is None:
            return _report_no_method(body, node, callee, named, method_names(named))
        return check_json(body, node, callee, row) if named == "json" else check_builtin(body, node, row, None)
    if isinstance(named, RecordType) and name.text in body.world.methods_of(named):
        body.report(codes.METHOD_ON_TYPE, callee.span, name=name.text, type=named)
        return wrong_call(body, node)
    return _report_no_method(body, node, callee, named, [])


def _check_method_call(body: Body, node: ast.Call, callee: ast.FieldAccess, wanted: Type | None) -> Checked:
    """`value.method(…)`."""
    name = callee.name.text
    target = body.operand(callee.target)
    type_ = target.type
    if type_ is UNKNOWN:
        return wrong_call(body, node)
    refuse_type_arguments(body, callee.type_arguments, callee.target)
    if isinstance(type_, RecordType | SumType):
        methods = body.world.methods_of(type_)
        if name in methods:
            return _call_function(body, node, methods[name], target, wanted)
        if isinstance(type_, RecordType) and type_.field_index(name) is not None:
            what = f"`{name}` is a field of `{type_}`, and"
            is_function = isinstance(type_.fields[type_.field_index(name) or 0].type, FunctionType)
            help_text = f"call what it holds: `({single_spaced(callee.span.text)})(…)`" if is_function else None
            body.report(codes.NOT_CALLABLE, callee.span, what=what, help=help_text)
            return wrong_call(body, node)
        function = library_method(body.world, type_, name)
        if function is not None:
            return _call_function(body, node, function, target, wanted)
        known = [*methods, *library_method_names(body.world, type_)]
        return _report_no_method(body, node, callee, type_, known)
    if isinstance(type_, CapabilityType | AgentType):
        refuse_type_arguments(body, node.type_arguments, callee.name)
    if isinstance(type_, CapabilityType):
        method = type_.method(name)
        if method is not None:
            return _call_capability(body, node, target, type_, method)
        return _report_no_method(body, node, callee, type_, [item.name for item in type_.methods])
    if isinstance(type_, AgentType):
        handlers = body.world.agents[type_].handlers
        if name in handlers:
            return _call_handler(body, node, target, handlers[name])
        return _report_no_method(body, node, callee, type_, list(handlers))
    row = builtin_named(type_, name)
    function = library_method(body.world, type_, name) if row is None else None
    if function is not None:
        return _call_function(body, node, function, target, wanted)
    refuse_type_arguments(body, node.type_arguments, callee.name)
    if row is None:
        known = [*method_names(type_), *library_method_names(body.world, type_)]
        return _report_no_method(body, node, callee, type_, known)
    return check_builtin(body, node, row, target)


def _report_no_method(
    body: Body, node: ast.Call, callee: ast.FieldAccess, type_: Type | str, known: Sequence[str]
) -> Checked:
    name = callee.name.text
    habit = (
        help_for_namespace(type_, name, node.arguments)
        if isinstance(type_, str)
        else help_for_method(type_, name, single_spaced(callee.target.span.text, 30), known, node.arguments)
    )
    help_text = habit or near_miss(name, known)
    if isinstance(type_, OptionalType):
        help_text = habit or MAY_BE_NONE
    elif isinstance(type_, TypeVariable):
        help_text = stands_for_any(type_)
    elif help_text is None and known:
        more = f" and more: {LIBRARY} has all" if len(known) > NAMED_MAX else ""
        help_text = f"it has {', '.join(f'`{item}`' for item in known[:NAMED_MAX])}{more}"
    body.report(codes.UNKNOWN_METHOD, callee.name.span, type=type_, name=name, help=help_text)
    return wrong_call(body, node)


@dataclass(frozen=True, slots=True)
class _Arguments:
    before: tuple[typed.Statement, ...]
    receiver: typed.Expr | None
    values: tuple[typed.Expr, ...]


def _check_parameters(
    body: Body,
    node: ast.Call,
    name: str,
    parameters: Sequence[tuple[str, Type]],
    receiver: typed.Expr | None,
    inference: Inference | None = None,
    wanted: Type | None = None,
    takes_names: bool = True,
    mutable: Sequence[bool] = (),
) -> _Arguments:
    marks = mutable or [False] * len(parameters)
    slots = [Slot(parameter, type_, False, mark) for (parameter, type_), mark in zip(parameters, marks, strict=True)]
    inside = ", ".join(f"{slot.name}: {'mut ' if slot.is_mutable else ''}…" if takes_names else "…" for slot in slots)
    target = Target(name, "parameter", f"{name}({inside})", slots, inference, wanted)
    values = check_arguments(body, node.span, target, node.arguments)
    values = [(index, _as_place(body, value) if slots[index].is_mutable else value) for index, value in values]
    return _Arguments(*in_order(body, target, receiver, values))


def _as_place(body: Body, value: typed.Expr) -> typed.Expr:
    """The place that `value` reads, for a `mut` parameter. It holds just the parameter's type, and stays so."""
    if isinstance(value, typed.ToOptional | typed.ToError | typed.ToCapability):
        body.report(codes.TYPE_MISMATCH, value.span, wanted=value.type, found=value.value.type)
        return unknown(value.span)
    place = place_of(body, value)
    return unknown(value.span) if place is None else typed.MutArgument(value.span, value.type, place)


def _check_exclusive(body: Body, arguments: Sequence[typed.Expr]) -> None:
    """No variable is given to be changed twice in one call."""
    seen: set[typed.Local] = set()
    for argument in arguments:
        if isinstance(argument, typed.MutArgument):
            local = argument.place.local
            if local in seen:
                body.report(codes.MUT_TWICE, argument.span, name=local.name)
            seen.add(local)


def _call_function(
    body: Body, node: ast.Call, function: typed.Function, receiver: typed.Expr | None, wanted: Type | None
) -> Checked:
    body.world.want(function)
    name = function.name.rpartition(".")[2]
    own = function.parameters if receiver is None else function.parameters[1:]
    parameters = [(item.name, item.type) for item in own]
    edge = Edge(function, node.span, carries_effects=True, runs_now=True)
    inference = _start_inference(body, node, function, receiver) if function.type_parameters else None
    if inference is None:
        refuse_type_arguments(body, node.type_arguments, _callee_name(node))
    if receiver is not None and function.parameters[0].is_reference:
        receiver = _as_place(body, receiver)
    marks = [item.is_reference for item in own]
    found = _check_parameters(body, node, name, parameters, receiver, inference, wanted, mutable=marks)
    values = found.values
    arguments = values if found.receiver is None else (found.receiver, *values)
    is_guarded = function.span.file is body.world.library_file is not node.span.file
    if is_guarded:
        given = zip(function.parameters, arguments, strict=False)
        arguments = tuple([_guarded(body, node, item.name, value) for item, value in given])
    _check_exclusive(body, arguments)
    if inference is None:
        call: typed.Expr = typed.CallFunction(node.span, function.result, function, arguments)
        if is_guarded and function.name.startswith("date.") and isinstance(call.type, RecordType):
            call = _guarded(body, node, "date", call)
        return Checked(call, name, function.error, found.before, edge)
    type_arguments = inference.finish(body)
    body.facts.calls_of_generics.append(GenericCall(function, type_arguments, node.span))
    call = typed.CallFunction(node.span, inference.of(function.result), function, arguments, type_arguments)
    error = None if function.error is None else error_or_none(inference.of(function.error))
    return Checked(call, name, error, found.before, edge)


def _guarded(body: Body, node: ast.Call, parameter: str, value: typed.Expr) -> typed.Expr:
    """An argument of a function of the library, or its result, with what looks at it where the call stands."""
    guard = GUARDS.get(parameter)
    if guard is None or value.type is UNKNOWN:
        return value
    if not isinstance(value.type, RecordType):
        return typed.CallBuiltin(node.span, value.type, guard, (value,))
    held = body.fresh(parameter, value, value.type)
    read = typed.LocalGet(value.span, value.type, held.local)
    fields = [typed.FieldGet(node.span, item.type, read, index) for index, item in enumerate(value.type.fields)]
    look = typed.ExpressionStatement(node.span, typed.CallBuiltin(node.span, INT, guard, tuple(fields)))
    return typed.Block(value.span, value.type, (held, look), read)


def _start_inference(body: Body, node: ast.Call, function: typed.Function, receiver: typed.Expr | None) -> Inference:
    """What a call of a generic function says at once: by its receiver, and by the type arguments that are written."""
    name = function.name.rpartition(".")[2]
    # What stands for an error is always found.
    own = tuple([item for item in own_type_parameters(function) if "Error" not in item.bounds])
    before = "" if receiver is None else "…."
    inside = "…" if len(function.parameters) > (receiver is not None) else ""
    example = f"{before}{name}<{', '.join('…' for _ in own)}>({inside})"
    inference = Inference(name, _callee_name(node).span, function.type_parameters, function.result, example)
    if receiver is not None:
        inference.match(function.parameters[0].type, receiver.type)
    if own:
        inference.bind_written(body, node.type_arguments, name, own)
    else:
        refuse_type_arguments(body, node.type_arguments, _callee_name(node))
    return inference


def _callee_name(node: ast.Call) -> ast.Identifier | ast.Name:
    callee = node.callee
    assert isinstance(callee, ast.Name | ast.FieldAccess)
    return callee if isinstance(callee, ast.Name) else callee.name


def _call_value(body: Body, node: ast.Call, target: typed.Expr, type_: FunctionType) -> Checked:
    name = single_spaced(node.callee.span.text, 30)
    refuse_type_arguments(body, node.type_arguments, node.callee)
    numbered = [(f"argument {number}", item) for number, item in enumerate(type_.parameters, start=1)]
    found = _check_parameters(body, node, name, numbered, target, takes_names=False)
    assert found.receiver is not None
    shape = body.world.shape(len(type_.parameters), type_.error)
    call = typed.CallValue(node.span, type_.result, found.receiver, shape, found.values)
    edge = Edge(shape, node.span, carries_effects=False, runs_now=True)
    return Checked(call, name, type_.error, found.before, edge, uses=() if type_.uses == UNKNOWN_USES else type_.uses)


def _call_handler(body: Body, node: ast.Call, target: typed.Expr, function: typed.Function) -> Checked:
    name = function.name.rpartition(".")[2]
    found = _check_parameters(body, node, name, [(item.name, item.type) for item in function.parameters], target)
    assert found.receiver is not None
    call = typed.CallHandler(node.span, function.result, found.receiver, function, found.values)
    edge = Edge(function, node.span, carries_effects=False, runs_now=True)
    return Checked(call, name, function.error, found.before, edge, acts="calls an agent")


def _call_capability(
    body: Body, node: ast.Call, target: typed.Expr, capability: CapabilityType, method: CapabilityMethod
) -> Checked:
    parameters = list(zip(method.parameter_names, method.parameter_types, strict=True))
    found = _check_parameters(body, node, method.name, parameters, target)
    assert found.receiver is not None
    call = typed.CallCapability(node.span, method.result, found.receiver, capability, method, found.values)
    edge = Edge(method, node.span, carries_effects=False, runs_now=True)
    return Checked(call, method.name, method.error, found.before, edge, acts="calls a capability")
