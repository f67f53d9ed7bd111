"""What the whole program does: effects, waiting and recursion, found over the call graph (spec 5, 8.2).

Four kinds of edge leave a body. A call of a function or method carries its effects to the caller; a call of a
handler or of a capability's method does not, since those effects are their own, and neither does a call of a function
value: whoever made it has its effects already, and where its type says what it uses, the call counts as that
(`promises.py`). So a function has `effects`, with those of every value that it makes, which agents are held to, and
`listed`, without those of values whose types say what they use, which its own `uses` must list. All but `spawn` make
the caller wait for the callee's end, so they count for `may_wait` and for recursion.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.capability_names import beyond, resolve_uses
from kavachc.semantics.graph import components
from kavachc.semantics.types import CapabilityMethod, FunctionShape
from kavachc.semantics.wording import quoted
from kavachc.semantics.world import Callee, Facts, World
from kavachc.source import Span
from kavachc.syntax import ast

Node: TypeAlias = Callee | typed.Constant


class Effects:
    """Fills in `effects`, `may_wait` and `is_recursive`, then checks the promises that were made about them."""

    def __init__(self, world: World) -> None:
        self.world = world
        rules = [entry.rule.function for entry in world.rules]
        self.functions = [*(function for function, _ in world.bodies), *world.closures, *rules]
        self.implementers: dict[CapabilityMethod, list[typed.Function]] = {}
        for implementation in world.implementations.values():
            for method, function in zip(implementation.capability.methods, implementation.methods, strict=True):
                self.implementers.setdefault(method, []).append(function)
        # What keeps a function out of constants and rules, though it uses no capability.
        self.acts: dict[typed.Function, str] = {}
        # What keeps a function out of rules: a function value may do anything.
        self.calls_values: set[typed.Function] = set()

    def infer(self) -> None:
        """Set what is known only over the whole program."""
        self._infer_effects()
        self._infer_waiting()
        self._infer_acts()
        self._infer_value_calls()
        nodes: list[Node] = [*self.functions]
        for component, has_cycle in components(nodes, self.runs_now):
            for member in component:
                if isinstance(member, typed.Function):
                    member.is_recursive = has_cycle
        for shape in self.world.shapes.values():
            shape.is_recursive = any(function.is_recursive for function in self._valued(shape))
        for method, implementers in self.implementers.items():
            method.is_recursive = any(function.is_recursive for function in implementers)

    def _facts(self, owner: typed.Function | typed.Constant) -> Facts:
        return self.world.facts.get(owner) or Facts()

    def _behind(self, node: CapabilityMethod | FunctionShape) -> Iterable[Node]:
        """The functions that a call through the node may run."""
        if isinstance(node, CapabilityMethod):
            return self.implementers.get(node, [])
        return self._valued(node)

    def _valued(self, shape: FunctionShape) -> list[typed.Function]:
        if shape.can_fail is not None:
            return self.world.valued.get(shape, [])
        either = [self.world.shapes.get((shape.parameter_count, can_fail)) for can_fail in (False, True)]
        return [function for item in either if item is not None for function in self.world.valued.get(item, [])]

    def runs_now(self, node: Node) -> Iterable[Node]:
        """What the node runs, and waits for."""
        if isinstance(node, CapabilityMethod | FunctionShape):
            return self._behind(node)
        return [edge.callee for edge in self._facts(node).edges if edge.runs_now]

    def _with_constants(self, node: Node) -> Iterable[Node]:
        if isinstance(node, FunctionShape):
            return ()  # Whoever made the value has an edge to its function.
        if isinstance(node, CapabilityMethod):
            return self._behind(node)
        facts = self._facts(node)
        return [*(edge.callee for edge in facts.edges), *(constant for constant, _ in facts.constants)]

    def _infer_effects(self) -> None:
        callers: dict[typed.Function, list[tuple[typed.Function, bool]]] = {}
        for function in self.functions:
            facts = self._facts(function)
            function.effects = function.listed = frozenset(use.effect for use in facts.uses)
            for edge in facts.edges:
                if edge.carries_effects and isinstance(edge.callee, typed.Function):
                    callers.setdefault(edge.callee, []).append((function, edge.is_promised))
        pending = list(self.functions)
        while pending:
            callee = pending.pop()
            for caller, is_promised in callers.get(callee, ()):
                listed = caller.listed if is_promised else caller.listed | callee.listed
                if not callee.effects <= caller.effects or listed != caller.listed:
                    caller.effects |= callee.effects
                    caller.listed = listed
                    pending.append(caller)

    def _callers(self, makers: bool = False) -> dict[Callee, list[Callee]]:
        """Who calls what. With `makers`, also who makes a value of which function, or spawns it."""
        callers: dict[Callee, list[Callee]] = {}
        for function in self.functions:
            for edge in self._facts(function).edges:
                if edge.runs_now or (makers and edge.carries_effects):
                    callers.setdefault(edge.callee, []).append(function)
        for method, implementers in self.implementers.items():
            for function in implementers:
                callers.setdefault(function, []).append(method)
        for shape in self.world.shapes.values():
            for function in self._valued(shape):
                callers.setdefault(function, []).append(shape)
        return callers

    def _infer_waiting(self) -> None:
        callers = self._callers()
        pending: list[Callee] = [function for function in self.functions if self._facts(function).waits]
        # Until its records are durable, when there is a state file.
        limits = [limit for agent in self.world.agents.values() for limit in agent.limits]
        pending.extend(dict.fromkeys(limit.method for limit in limits if limit.method is not None))
        for callee in pending:
            callee.may_wait = True
        while pending:
            for caller in callers.get(pending.pop(), ()):
                if not caller.may_wait:
                    caller.may_wait = True
                    pending.append(caller)

    def _infer_acts(self) -> None:
        callers = self._callers(makers=True)
        pending: list[Callee] = []
        for function in self.functions:
            facts = self._facts(function)
            if facts.acts:
                self.acts[function] = facts.acts[0][0]
                pending.append(function)
        while pending:
            callee = pending.pop()
            for caller in callers.get(callee, ()):
                if isinstance(caller, typed.Function) and caller not in self.acts:
                    self.acts[caller] = (
                        self.acts[callee] if isinstance(callee, typed.Function) else "calls a capability"
                    )
                    pending.append(caller)

    def _infer_value_calls(self) -> None:
        callers = self._callers()
        pending = [
            function
            for function in self.functions
            if any(isinstance(edge.callee, FunctionShape) for edge in self._facts(function).edges)
        ]
        while pending:
            function = pending.pop()
            if function not in self.calls_values:
                self.calls_values.add(function)
                pending.extend(caller for caller in callers.get(function, ()) if isinstance(caller, typed.Function))

    def why_impure(self, facts: Facts, *, calls_values: bool = True) -> tuple[str, Span] | None:
        """What a constant or a rule may not do, and where it does it: `prints`, `starts a task`, … A constant may call
        function values: it has none but those that it makes, which counts as using what they use."""
        for use in facts.uses:
            return f"uses `{use.effect}`", use.span
        for what, span in facts.acts:
            return what, span
        for edge in facts.edges:
            callee = edge.callee
            if isinstance(callee, FunctionShape):
                if calls_values:
                    continue
                return "calls a function value", edge.span
            if not isinstance(callee, typed.Function):
                return "calls a capability", edge.span
            if not calls_values and callee in self.calls_values:
                return f"calls a function value, in `{callee.name.rpartition('.')[2]}`", edge.span
            name = callee.name.rpartition(".")[2]
            if callee.effects:
                shown = quoted(sorted(str(effect) for effect in callee.effects))
                return f"uses {shown}, in `{name}`", edge.span
            if callee in self.acts:
                return f"{self.acts[callee]}, in `{name}`", edge.span
        return None

    def check_constants(self) -> None:
        """A constant has no effects, and does not need itself."""
        roots: list[Node] = [entry.constant for entry in self.world.all_constants if entry.state != "cycle"]
        for component, has_cycle in components(roots, self._with_constants):
            constants = [member for member in component if isinstance(member, typed.Constant)]
            if has_cycle and constants:
                first = min(constants, key=lambda constant: constant.span.start)
                names = [member.name for member in component if not isinstance(member, FunctionShape)]
                notes = (f"by way of {quoted(names)}",) if len(component) > 1 else ()
                self.world.bag.report(codes.CONSTANT_CYCLE, first.span, name=first.name, notes=notes)
        for entry in self.world.all_constants:
            found = self.why_impure(self._facts(entry.constant))
            if found is not None:
                self.world.bag.report(codes.CONSTANT_NOT_PURE, found[1], name=entry.constant.name, reason=found[0])

    def check_promises(self) -> None:
        """`uses` lists no less than a function uses, and a handler uses no more than its agent `can`."""
        for function, declaration in self.world.bodies:
            name = function.name.rpartition(".")[2]
            uses = declaration.signature.uses
            if uses is not None:
                promised = resolve_uses(self.world, uses)
                for effect in beyond(function.listed, promised):
                    self._report(
                        function, declaration, effect, codes.EFFECT_NOT_PROMISED, name, f"add `{effect}` to `uses`"
                    )
            if function.agent is not None:
                for effect in beyond(function.effects, function.agent.can):
                    help_text = f"add `can {effect}` to `{function.agent.name}`"
                    self._report(function, declaration, effect, codes.EFFECT_NOT_ALLOWED, name, help_text)

    def check_given(self) -> None:
        """What is given where a function type says what it may use uses no more."""
        for given in self.world.given:
            for effect in beyond(given.function.listed, given.type.uses):
                origin = self._origin(given.function, effect, is_listed=True)
                is_closure = given.function.captures is not None
                name = "this function" if is_closure else f"`{given.function.name.rpartition('.')[2]}`"
                labels = () if origin is None or origin.span == given.span else (origin,)
                self.world.bag.report(
                    codes.FUNCTION_USES_MORE, given.span, name=name, effect=effect, type=given.type, labels=labels
                )

    def _report(
        self,
        function: typed.Function,
        declaration: ast.Function,
        effect: typed.Effect,
        code: codes.Code,
        name: str,
        help_text: str,
    ) -> None:
        """At the place in the function's own body where the effect comes from."""
        origin = self._origin(function, effect, is_listed=code is codes.EFFECT_NOT_PROMISED)
        labels = () if origin is None else (origin,)
        where = declaration.signature.name.span
        self.world.bag.report(code, where, name=name, effect=effect, labels=labels, help=help_text)

    def _origin(self, function: typed.Function, effect: typed.Effect, is_listed: bool) -> Label | None:
        """Where in the text of the function the effect comes from, one that its `uses` must list, or any."""
        facts = self._facts(function)
        for use in facts.uses:
            if use.effect == effect:
                return Label(use.span, f"this uses `{effect}`")
        for edge in facts.edges:
            callee = edge.callee
            if not edge.carries_effects or not isinstance(callee, typed.Function) or (is_listed and edge.is_promised):
                continue
            if effect in (callee.listed if is_listed else callee.effects):
                if callee.captures is not None:
                    return self._origin(callee, effect, is_listed)
                return Label(edge.span, f"`{callee.name.rpartition('.')[2]}` uses `{effect}`")
        return None
