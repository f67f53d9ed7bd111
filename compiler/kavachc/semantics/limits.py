"""`limit`: rules on a capability's method, or on what an agent asks (spec 8.3)."""

from __future__ import annotations

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import Body, Dispatch
from kavachc.semantics.builtins import BUILTIN_CAPABILITIES
from kavachc.semantics.capability_names import resolve_capability
from kavachc.semantics.effects import Effects
from kavachc.semantics.folding import folded
from kavachc.semantics.types import (
    BOOL,
    DURATION,
    FLOAT,
    INT,
    STRING,
    UNKNOWN,
    CapabilityMethod,
    CapabilityType,
    SumType,
    Type,
)
from kavachc.semantics.wording import near_miss
from kavachc.semantics.world import Facts, World
from kavachc.source import Span
from kavachc.syntax import ast

WINDOWS_NS = {
    "minute": 60 * 10**9,
    "hour": 3_600 * 10**9,
    "day": 86_400 * 10**9,
    "week": 7 * 86_400 * 10**9,
    "month": 30 * 86_400 * 10**9,
}
BOUND_EXAMPLES: dict[Type, str] = {INT: "500", FLOAT: "99.5", DURATION: "10m"}


class Limits:
    """Checks the limits of every agent; what their rules call is looked at when the effects are known."""

    def __init__(self, world: World, dispatch: Dispatch) -> None:
        self.world = world
        self.dispatch = dispatch
        self._rules: list[tuple[Span, Facts]] = []

    def check(self) -> None:
        for agent_type, agent in self.world.agents.items():
            first: dict[typed.Effect, Span] = {}
            limits: list[typed.Limit] = []
            for written in self.world.agent_declarations[agent_type].limits:
                target = resolve_capability(self.world.at(agent.span), written.target)
                if target is None:
                    continue
                if target in first:
                    labels = (Label(first[target], "first limited here"),)
                    self.world.bag.report(
                        codes.LIMIT_TWICE, written.target.span, agent=agent.name, target=target, labels=labels
                    )
                    continue
                first[target] = written.target.span
                limit = self._check_limit(agent, written, target)
                if limit is not None:
                    limits.append(limit)
            agent.limits = tuple(limits)

    def check_calls(self, effects: Effects) -> None:
        """Rules compute with the parameters, and do nothing else."""
        for span, facts in self._rules:
            found = effects.why_impure(facts, calls_values=False)
            if found is not None:
                labels = (Label(found[1], "here"),) if found[1] != span else ()
                self.world.bag.report(codes.RULE_NOT_PURE, span, reason=found[0], labels=labels)

    def _check_limit(self, agent: typed.Agent, written: ast.Limit, target: typed.Effect) -> typed.Limit | None:
        name = target.capability
        if name in BUILTIN_CAPABILITIES and name != "Ai":
            self.world.bag.report(codes.LIMIT_BUILT_IN, written.target.span, name=name)
            return None
        capability: CapabilityType | None = None
        method: CapabilityMethod | None = None
        found = self.world.at(agent.span).types.get(name)
        if isinstance(found, CapabilityType):
            capability = found
            if target.method is None:
                example = f"{name}.{found.methods[0].name}" if found.methods else f"{name}.method"
                self.world.bag.report(codes.LIMIT_WITHOUT_METHOD, written.target.span, name=name, example=example)
                return None
            method = found.method(target.method)
        if target not in agent.can and typed.Effect(name) not in agent.can:
            self.world.bag.report(codes.LIMIT_NOT_USED, written.target.span, agent=agent.name, target=target)
        denied = self._denied(written.target.span, target, method)
        parameters: tuple[typed.Local, ...] = ()
        if method is not None:
            parameters = tuple(
                typed.Local(parameter, type_, False, method.span)
                for parameter, type_ in zip(method.parameter_names, method.parameter_types, strict=True)
            )
        rules = [self._check_rule(rule, str(target), parameters) for rule in written.rules]
        kept = tuple(rule for rule in rules if rule is not None)
        return typed.Limit(written.span, str(target), capability, method, parameters, kept, denied)

    def _denied(self, span: Span, target: typed.Effect, method: CapabilityMethod | None) -> int:
        """The variant that a refusal becomes (spec 8.3.denied)."""
        error = self.world.sum("AiError") if method is None else method.error
        if isinstance(error, SumType):
            index = error.variant_index("Denied")
            if index is not None:
                fields = error.variants[index].fields
                if len(fields) == 1 and fields[0].name == "reason" and fields[0].type is STRING:
                    return index
        if error is UNKNOWN:
            return 0
        if error is None:
            shown, help_text = (
                "type is not written, so it",
                "write `! E` after it, with `type E = Denied(reason: String)`",
            )
        elif isinstance(error, SumType) and error.variant_index("Denied") is None:
            variants = [*(item.name for item in error.variants), "Denied(reason: String)"]
            shown = f"type `{error}`"
            help_text = f"add the variant: `type {error} = {' | '.join(variants)}`"
            if any(item.fields for item in error.variants):
                help_text = f"add `| Denied(reason: String)` to `{error}`"
        else:
            shown = f"type `{error}`"
            help_text = "its error type is to be a sum such as `type E = Denied(reason: String)`"
            if isinstance(error, SumType):
                help_text = f"write the variant of `{error}` as `Denied(reason: String)`"
        labels = () if method is None else (Label(method.span, "the method is declared here"),)
        self.world.bag.report(
            codes.LIMIT_DENIED_MISSING, span, target=target, error=shown, labels=labels, help=help_text
        )
        return 0

    def _check_rule(
        self, written: ast.LimitRule, target: str, parameters: tuple[typed.Local, ...]
    ) -> typed.Rule | None:
        facts = Facts()
        self._rules.append((written.span, facts))
        body = Body(self.world.at(written.span), self.dispatch, facts, rule_target=target)
        for parameter in parameters:
            body.scope.declare(parameter)
        text = " ".join(written.span.text.split())
        if written.window is not None:
            return self._check_windowed(body, written, written.window, text)
        if target == "Ai":
            self._report_ai_rule(body, written)
            return None
        condition = written.condition
        word = rule_word(condition.left) if isinstance(condition, ast.Binary) else None
        if isinstance(condition, ast.Binary) and word is not None and word not in map(_name, parameters):
            code = codes.TOKENS_OUTSIDE_AI if word == "tokens" else codes.RULE_WINDOW_MISSING
            self.world.bag.report(code, condition.left.span, word=word, help=_with_window(condition))
            return None
        checked = body.value(written.condition, BOOL)
        return typed.Rule("condition", written.span, text, checked, 0, False, 0)

    def _report_ai_rule(self, body: Body, written: ast.LimitRule) -> None:
        condition = written.condition
        word = rule_word(condition.left) if isinstance(condition, ast.Binary) else None
        if word in ("count", "tokens"):
            body.report(codes.RULE_WINDOW_MISSING, written.span, word=word)
        else:
            body.report(codes.LIMIT_AI_RULE, written.span)

    def _check_windowed(self, body: Body, written: ast.LimitRule, window: ast.Window, text: str) -> typed.Rule | None:
        """`sum(e) <= N per W`, `count <= N per W`, `tokens <= N per W`."""
        window_ns = self._window(window)
        condition = written.condition
        example = next(body.scope.names(), "amount")
        word = rule_word(condition.left) if isinstance(condition, ast.Binary) else None
        if word == "tokens" and body.rule_target != "Ai":
            body.report(codes.TOKENS_OUTSIDE_AI, condition.span)
            return None
        if body.rule_target == "Ai" and word not in ("count", "tokens"):
            body.report(codes.LIMIT_AI_RULE, written.span)
            return None
        if not isinstance(condition, ast.Binary) or word is None or condition.operator not in ("<=", "<"):
            body.report(codes.RULE_SHAPE, condition.span, example=example)
            return None
        strict = condition.operator == "<"
        summed: typed.Expr | None = None
        bound_type: Type = INT
        if word == "sum":
            assert isinstance(condition.left, ast.Call)
            if len(condition.left.arguments) != 1 or condition.left.arguments[0].name is not None:
                body.report(codes.RULE_SHAPE, condition.left.span, example=example)
                return None
            summed = body.operand(condition.left.arguments[0].value)
            bound_type = summed.type
            if bound_type not in (INT, FLOAT, DURATION):
                if bound_type is not UNKNOWN:
                    body.report(codes.RULE_SUM_TYPE, summed.span, type=bound_type)
                return None
        bound = self._bound(body, condition.right, bound_type)
        if bound is None or window_ns is None:
            return None
        if word != "sum" and (bound < 0 or (strict and bound == 0)):
            body.report(codes.RULE_BOUND_NEGATIVE, condition.right.span, word=word)
            return None
        kind: typed.RuleKind = "sum" if word == "sum" else "count" if word == "count" else "tokens"
        key = self._key(body, written)
        return typed.Rule(kind, written.span, text, summed, bound, strict, window_ns, key)

    def _key(self, body: Body, written: ast.LimitRule) -> typed.Expr | None:
        if written.key is None:
            return None
        if body.rule_target == "Ai":
            body.report(codes.RULE_KEY_AI, written.key.span)
            return None
        key = body.operand(written.key)
        if key.type not in (INT, STRING, BOOL, UNKNOWN):
            body.report(codes.RULE_KEY_TYPE, key.span, type=key.type)
        return key

    def _bound(self, body: Body, node: ast.Expression, wanted: Type) -> int | float | None:
        checked = body.value(node, wanted)
        if checked.type is UNKNOWN:
            return None
        value = folded(checked)
        if isinstance(value, str):
            body.report(codes.RULE_BOUND, node.span, reason=value, example=BOUND_EXAMPLES[wanted])
            return None
        return value

    def _window(self, window: ast.Window) -> int | None:
        length = window.length
        if isinstance(length, ast.DurationLiteral):
            if length.value_ns <= 0:
                self.world.bag.report(codes.RULE_WINDOW_EMPTY, window.span)
                return None
            if length.value_ns >= 2**63:
                self.world.bag.report(codes.NUMBER_TOO_LARGE, length.span, text=length.span.text, type="a Duration")
                return None
            return length.value_ns
        if length.text not in WINDOWS_NS:
            help_text = near_miss(length.text, WINDOWS_NS)
            self.world.bag.report(codes.RULE_WINDOW_UNKNOWN, length.span, word=length.text, help=help_text)
            return None
        return WINDOWS_NS[length.text]


def _name(local: typed.Local) -> str:
    return local.name


def _with_window(condition: ast.Binary) -> str | None:
    """Help for `count <= 5 / day`."""
    bound = condition.right
    if isinstance(bound, ast.Binary) and bound.operator == "/" and bound.right.span.text in WINDOWS_NS:
        text = f"{condition.left.span.text} {condition.operator} {bound.left.span.text} per {bound.right.span.text}"
        return f"write `{text}`"
    return None


def rule_word(node: ast.Expression) -> str | None:
    """`sum`, `count` or `tokens` when the left side of a windowed rule is one of them."""
    if isinstance(node, ast.Name) and node.text in ("count", "tokens"):
        return node.text
    if isinstance(node, ast.Call) and isinstance(node.callee, ast.Name) and node.callee.text == "sum":
        return "sum"
    return None
