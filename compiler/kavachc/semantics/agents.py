"""Agents: what they `can`, and the shape of their `model` and `settings` (spec 8.1, 8.2, 8.5)."""

from __future__ import annotations

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import Body, Dispatch
from kavachc.semantics.capability_names import resolve_capability
from kavachc.semantics.constants import not_plain
from kavachc.semantics.effects import Effects
from kavachc.semantics.types import UNKNOWN, CapabilityType
from kavachc.semantics.world import Facts, World
from kavachc.source import Span
from kavachc.syntax import ast


def resolve_can(world: World) -> None:
    """Fill in `can` and `capabilities` of every agent. A reference that is repeated is an error."""
    for agent_type, agent in world.agents.items():
        view = world.at(agent.span)
        first: dict[typed.Effect, Span] = {}
        for reference in world.agent_declarations[agent_type].can:
            effect = resolve_capability(view, reference)
            if effect is None:
                continue
            whole = typed.Effect(effect.capability)
            if effect in first or whole in first:
                earlier = first.get(effect, first.get(whole))
                assert earlier is not None
                labels = (Label(earlier, "first given here"),)
                world.bag.report(codes.CAN_TWICE, reference.span, agent=agent.name, effect=effect, labels=labels)
                continue
            if effect == whole:
                for part in [item for item in first if item.capability == effect.capability]:
                    labels = (Label(reference.span, "given as a whole here"),)
                    world.bag.report(codes.CAN_TWICE, first[part], agent=agent.name, effect=part, labels=labels)
            first[effect] = reference.span
        agent.can = tuple(first)
        capabilities: dict[CapabilityType, None] = {}
        for effect in first:
            found = view.types.get(effect.capability)
            if isinstance(found, CapabilityType):
                capabilities[found] = None
        agent.capabilities = tuple(capabilities)


class Settings:
    """Checks `model` and `settings`; what the calls in them do is looked at when the effects are known."""

    def __init__(self, world: World, dispatch: Dispatch) -> None:
        self.world = world
        self.dispatch = dispatch
        self._calls: list[tuple[codes.Code, Span, Facts]] = []

    def check(self) -> None:
        for agent_type, agent in self.world.agents.items():
            first: dict[str, Span] = {}
            for setting in self.world.agent_declarations[agent_type].settings:
                if setting.kind in first:
                    labels = (Label(first[setting.kind], "first given here"),)
                    self.world.bag.report(
                        codes.SETTING_TWICE, setting.span, agent=agent.name, kind=setting.kind, labels=labels
                    )
                    continue
                first[setting.kind] = setting.span
                expression = self._check_setting(setting)
                if setting.kind == "model":
                    agent.model_expression = expression
                else:
                    agent.settings_expression = expression

    def check_calls(self, effects: Effects) -> None:
        """The functions that give settings have no effects."""
        for code, span, facts in self._calls:
            if effects.why_impure(facts) is not None:
                self.world.bag.report(code, span)

    def _check_setting(self, setting: ast.AgentSetting) -> typed.Expr | None:
        code = codes.MODEL_NOT_KNOWN if setting.kind == "model" else codes.SETTINGS_NOT_KNOWN
        record = self.world.record("Model" if setting.kind == "model" else "AgentSettings")
        offending = self._offending(setting.value, record.name)
        if offending is not None:
            self.world.bag.report(code, offending.span)
            return None
        facts = Facts()
        body = Body(self.world.at(setting.span), self.dispatch, facts)
        checked = body.expression(setting.value, record)
        if checked.type is not record:
            if checked.type is not UNKNOWN:
                self.world.bag.report(code, setting.value.span)
            return None
        self._calls.append((code, setting.value.span, facts))
        return checked

    def _offending(self, written: ast.Expression, record: str) -> ast.Expression | None:
        """What is neither `Model(…)` with plain values nor a call without arguments of a function without parameters
        that cannot fail, perhaps `with { plain values }`; None when all is well."""
        value = written.target if isinstance(written, ast.With) else written
        updates = written.updates if isinstance(written, ast.With) else ()
        if not isinstance(value, ast.Call) or not isinstance(value.callee, ast.Name) or value.type_arguments:
            return value
        name = value.callee.text
        world = self.world.at(written.span)
        function = world.functions.get(name)
        if function is not None:
            if value.arguments or function.parameters or function.error is not None:
                return value
        elif name != record:
            return None if world.is_spoiled(name) else value
        values = [*(argument.value for argument in value.arguments), *(update.value for update in updates)]
        return next((part for part in (not_plain(item, world) for item in values) if part is not None), None)
