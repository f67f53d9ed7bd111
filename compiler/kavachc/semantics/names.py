"""What a name means at one place: a local, a constant, or something that is not a value by itself."""

from __future__ import annotations

from dataclasses import replace

from kavachc.diagnostics import codes
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import Body
from kavachc.semantics.builtins import BUILTIN_CAPABILITIES, NAMESPACES
from kavachc.semantics.constants import constant_named
from kavachc.semantics.conversions import is_partly_unknown
from kavachc.semantics.habits import help_for_call, help_for_value
from kavachc.semantics.inference import Inference
from kavachc.semantics.literals import present
from kavachc.semantics.promises import take_promise
from kavachc.semantics.types import (
    AgentType,
    CapabilityType,
    FunctionType,
    NominalType,
    RecordType,
    SumType,
    Type,
    TypeVariable,
    variables,
)
from kavachc.semantics.wording import parameter_list, signature
from kavachc.semantics.world import BUILT_IN_NAMES, BUILTIN_FUNCTIONS, PRIMITIVES, GenericCall, Use
from kavachc.source import Span
from kavachc.syntax import ast

# What people look for on the built-in types.
READING = {
    "Int": "an Int is read from text with `text.to_int()`, and made of a Float with `x.to_int()`",
    "Float": "a Float is read from text with `text.to_float()`, and made of an Int with `n.to_float()`",
    "String": 'any value is text inside text: `"{value}"`',
}
RULE_WORDS = ("sum", "count", "tokens")


def type_named_by(body: Body, node: ast.Expression) -> NominalType | str | None:
    """The type that `node` names before a `.`, or a built-in capability's name; None when it is a value."""
    if not isinstance(node, ast.Name) or body.scope.find(node.text) is not None:
        return None
    if node.text in body.world.types:
        return body.world.types[node.text]
    return node.text if node.text in (*BUILTIN_CAPABILITIES, *NAMESPACES) else None


def check_name(body: Body, node: ast.Name, wanted: Type | None) -> typed.Expr:
    """A name read as a value."""
    local = body.scope.find(node.text)
    if local is not None:
        return typed.LocalGet(node.span, local.type, local)
    world = body.world
    if node.text in world.constants:
        constant = constant_named(body, node)
        return typed.ConstGet(node.span, constant.type, constant)
    found = world.types.get(node.text)
    if isinstance(found, CapabilityType):
        return capability_here(body, node.span, found, None)
    if found is not None or node.text in PRIMITIVES:
        help_text = None
        if isinstance(found, SumType) and found.variants:
            help_text = f"name a variant: `{found.name}.{found.variants[0].name}`"
        elif isinstance(found, AgentType):
            help_text = f"start it: `{start_example(world.agents[found])}`"
        elif found is not None:
            help_text = f"make one: `{node.text}(…)`"
        else:
            help_text = READING.get(node.text)
        return body.report(codes.NOT_A_VALUE, node.span, name=node.text, what="a type", help=help_text)
    if node.text in world.functions:
        return _function_value(body, node, world.functions[node.text], wanted)
    if node.text in BUILTIN_FUNCTIONS or node.text == "ask":
        what, help_text = "a function", f"call it: `{node.text}(…)`"
        return body.report(codes.NOT_A_VALUE, node.span, name=node.text, what=what, help=help_text)
    if node.text in BUILTIN_CAPABILITIES:
        return body.report(codes.NOT_A_VALUE, node.span, name=node.text, what="a built-in capability")
    return report_unknown_name(body, node.span, node.text, wanted)


def _function_value(body: Body, node: ast.Name, function: typed.Function, wanted: Type | None) -> typed.Expr:
    """A function's name as a value. What the parameters of a generic one stand for, the place says."""
    if any(item.is_reference for item in function.parameters):
        return body.report(codes.MUT_VALUE, node.span, name=function.name)
    body.world.want(function)
    held = present(wanted)
    uses = held.uses if isinstance(held, FunctionType) else ()
    type_ = FunctionType(tuple([item.type for item in function.parameters]), function.result, function.error, uses)
    take_promise(body, function, type_, node.span)
    if not function.type_parameters:
        return typed.FunctionValue(node.span, type_, function)
    example = f"fn({', '.join(f'{item.name}: …' for item in function.parameters)}) => {function.name}(…)"
    inference = Inference(function.name, node.span, function.type_parameters, type_, example)
    if isinstance(wanted, FunctionType) and function.error is None:
        wanted = replace(wanted, error=None)  # It will be converted.
    inference.match_wanted(wanted)
    inference.bindings = {key: item for key, item in inference.bindings.items() if not is_partly_unknown(item)}
    arguments = inference.finish(body)
    body.facts.calls_of_generics.append(GenericCall(function, arguments, node.span))
    return typed.FunctionValue(node.span, inference.of(type_), function, arguments)


def stands_for_any(variable: TypeVariable) -> str:
    return f"`{variable}` stands for any type, so it has no fields and no methods"


def report_unknown_name(
    body: Body, span: Span, name: str, wanted: Type | None, call: ast.Call | None = None
) -> typed.Expr:
    """No such name: say what it could have been, unless that was said where it should have been declared."""
    if name == "_":
        return body.report(codes.UNDERSCORE_READ, span)
    if name == "self":
        return body.report(codes.SELF_OUTSIDE_METHOD, span)
    if body.rule_target is not None and name in RULE_WORDS:
        if name == "tokens" and body.rule_target != "Ai":
            return body.report(codes.TOKENS_OUTSIDE_AI, span)
        return body.report(codes.RULE_WINDOW_MISSING, span, word=name)
    if any(item.name == name for item in body.variables()):
        return body.report(codes.NOT_A_VALUE, span, name=name, what="a type")
    if body.world.is_spoiled(name):
        return body.said(span)
    owner = body.world.variant_owner(name, wanted)
    if owner is not None:
        return body.report(codes.BARE_VARIANT, span, name=name, type=owner)
    help_text = _own_member(body, name)
    if help_text is None:
        help_text = help_for_value(name) if call is None else help_for_call(name, call.arguments)
    if help_text is None:
        help_text = body.world.help_for_name(name, [*body.scope.names(), *body.world.names()])
    return body.report(codes.UNKNOWN_NAME, span, name=name, help=help_text)


def is_known(body: Body, name: str) -> bool:
    """Whether `name` stands for anything here, be it a value or not, or may be what a spoiled declaration declares.
    What an import would bring that could not be read never changes, so for an assignment that is no matter."""
    world = body.world
    known = name in world.spans or name in world.types or name in world.functions or name in BUILT_IN_NAMES
    return known or body.scope.find(name) is not None or name in ("_", "self") or name in world.spoiled


def _own_member(body: Body, name: str) -> str | None:
    """Help for a field or a method of one's own that is named without `self`."""
    receiver = body.scope.find("self")
    if receiver is None or not isinstance(receiver.type, RecordType | SumType):
        return None
    if isinstance(receiver.type, RecordType) and receiver.type.field_index(name) is not None:
        return f"write `self.{name}`"
    return f"write `self.{name}(…)`" if name in body.world.methods_of(receiver.type) else None


def capability_here(body: Body, span: Span, capability: CapabilityType, method: str | None) -> typed.Expr:
    """The capability that the handler's agent was started with; an error outside a handler (spec 6).

    `method` is the one that is called, None when the capability itself is passed on.
    """
    if body.agent is None:
        example = capability.name[:1].lower() + capability.name[1:]
        return body.report(codes.CAPABILITY_OUTSIDE_HANDLER, span, name=capability.name, example=example)
    effect = typed.Effect(capability.name, method)
    body.facts.uses.append(Use(effect, span))
    if body.outer is not None:
        value = capability_here(body.outer, span, capability, method)
        return typed.LocalGet(span, capability, body.capture(capability, capability.name, capability.span, value))
    if capability not in body.agent.capabilities:
        # `effects.py` reports that the agent may not use it; no index exists to go on with.
        return typed.NothingValue(span, capability)
    return typed.AgentCapability(span, capability, body.agent, body.agent.capabilities.index(capability))


def start_example(agent: typed.Agent) -> str:
    """`Refunder.start(Payments: …)`, as the help texts write it."""
    given = ", ".join(f"{capability}: …" for capability in agent.capabilities)
    return f"{agent.name}.start({given})"


def own_type_parameters(function: typed.Function) -> tuple[TypeVariable, ...]:
    """The function's type parameters without those of the type that it is a method of."""
    is_method = "." in function.name and bool(function.parameters)
    outer = set(variables(function.parameters[0].type)) if is_method else set()
    return tuple([item for item in function.type_parameters if item not in outer])


def function_signature(function: typed.Function, error: Type | str | None = None) -> str:
    """The function's first line as its author writes it, perhaps with another error type."""
    takes_self = bool(function.parameters) and function.parameters[0].name == "self"
    parameters = [(item.name, item.type) for item in function.parameters[1 if takes_self else 0 :]]
    word = "fn" if function.agent is None else "on"
    if function.captures is not None:
        text = signature("fn", "", parameters, function.result, error or function.error)
        return f"{text.replace('fn (', 'fn(', 1)} {{ … }}"
    name = function.name.rpartition(".")[2] + parameter_list(own_type_parameters(function))
    return signature(word, name, parameters, function.result, error or function.error, takes_self)
