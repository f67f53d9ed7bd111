"""What one running call knows, and the shape of its evaluation."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kavachc.interpreter.values import AgentHandle, Value
from kavachc.semantics.typed_ast import Agent, Function, Local
from kavachc.semantics.types import NO_BINDINGS, Bindings, Type, substitute

# An evaluation in steps. It yields another evaluation, the body of a function that is called, and is sent that
# body's value; or None, where its task waits. `calls.run_steps` drives it.
Steps: TypeAlias = Generator[Any, Any, Value]


@dataclass(eq=False, slots=True)
class Frame:
    """The variables of one running call.

    `owners` holds, for a variable that may change its arrays in place, the token that those arrays carry
    (`places.py`). `agent` is the agent that an `ask` here counts for; `handle` is set in handlers only. `depth` is
    the number of recursive calls around this one (spec 4.depth), None before a task's own call. `types` are what the
    type parameters of the running function stand for.
    """

    agent: Agent | None = None
    handle: AgentHandle | None = None
    depth: int | None = 0
    types: Bindings = field(default_factory=lambda: NO_BINDINGS)
    values: dict[Local, Value] = field(default_factory=dict)
    owners: dict[Local, object] = field(default_factory=dict)

    def bindings(self, function: Function, arguments: tuple[Type, ...]) -> Bindings:
        """What the type parameters of a function stand for, that is called or named here."""
        if not arguments:
            return NO_BINDINGS
        return dict(zip(function.type_parameters, map(self.type, arguments), strict=True))

    def type(self, written: Type) -> Type:
        """What a type in the function's body stands for in this call."""
        return substitute(written, self.types) if self.types else written
