"""`A.start(Payments: …)` (spec 8.1)."""

from __future__ import annotations

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import Body
from kavachc.semantics.builtins import BUILTIN_CAPABILITIES
from kavachc.semantics.checked_call import Checked, wrong_call
from kavachc.semantics.names import start_example
from kavachc.semantics.types import CapabilityType, RecordType
from kavachc.semantics.wording import near_miss, quoted
from kavachc.semantics.world import Use
from kavachc.source import Span
from kavachc.syntax import ast


def check_start(body: Body, node: ast.Call, agent: typed.Agent, name: ast.Identifier) -> Checked:
    """Start `agent`: its own capabilities are given by name, the built-in ones are the starter's."""
    if name.text != "start":
        if name.text in agent.handlers:
            example = f"const bot = {start_help(body, agent)}"
            body.report(codes.HANDLER_ON_AGENT, name.span, name=name.text, agent=agent.name, example=example)
        else:
            help_text = near_miss(name.text, ["start", *agent.handlers])
            body.report(codes.UNKNOWN_METHOD, name.span, type=agent.name, name=name.text, help=help_text)
        return wrong_call(body, node)
    example = start_help(body, agent)
    placed: dict[int, Span] = {}
    values: list[tuple[int, typed.Expr]] = []
    complete = True
    for argument in node.arguments:
        if argument.name is None:
            body.report(codes.START_NEEDS_NAMES, argument.span, example=example)
            complete = False
            break
        index = next((place for place, item in enumerate(agent.capabilities) if item.name == argument.name.text), None)
        if index is None:
            _report_unknown(body, agent, argument.name, example)
            body.expression(argument.value)
            complete = False
            continue
        if index in placed:
            labels = (Label(placed[index], "first given here"),)
            body.report(codes.ARGUMENT_TWICE, argument.span, argument=argument.name.text, labels=labels)
            continue
        placed[index] = argument.span
        values.append((index, body.value(argument.value, agent.capabilities[index])))
    missing = [item.name for index, item in enumerate(agent.capabilities) if index not in placed]
    if missing and complete:
        body.report(
            codes.START_CAPABILITY_MISSING, node.span, agent=agent.name, missing=quoted(missing), example=example
        )
    for effect in agent.can:
        if effect.capability in BUILTIN_CAPABILITIES:
            body.facts.uses.append(Use(effect, node.span))
    call = typed.AgentStart(node.span, agent.type, agent, tuple(values))
    return Checked(call, "start", acts="starts an agent")


def _report_unknown(body: Body, agent: typed.Agent, name: ast.Identifier, example: str) -> None:
    notes: tuple[str, ...] = ()
    if body.world.is_spoiled(name.text) or body.world.at(agent.span).is_spoiled(name.text):
        return
    if name.text in BUILTIN_CAPABILITIES:
        notes = ("the built-in capabilities come from the function that starts the agent",)
    help_text = near_miss(name.text, [str(item) for item in agent.capabilities])
    body.report(
        codes.START_CAPABILITY_UNKNOWN,
        name.span,
        agent=agent.name,
        name=name.text,
        example=example,
        help=help_text,
        notes=notes,
    )


def start_help(body: Body, agent: typed.Agent) -> str:
    """`Refunder.start(Payments: Bank())`, with an implementation of the program's where there is one."""
    if not agent.capabilities:
        return start_example(agent)
    given = ", ".join(f"{item}: {_implementation(body, item)}" for item in agent.capabilities)
    return f"{agent.name}.start({given})"


def _implementation(body: Body, capability: CapabilityType) -> str:
    for found in body.world.types.values():
        if isinstance(found, RecordType) and capability in found.capabilities:
            return f"{found}({'…' if found.fields else ''})"
    return "…"
