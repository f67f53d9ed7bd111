"""What one running call knows, and the shape of its evaluation."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kavachc.interpreter.values import AgentHandle, Value
from kavachc.semantics import panics
from kavachc.semantics.typed_ast import Agent, Function, Local
from kavachc.semantics.types import NO_BINDINGS, Bindings, Type, substitute
from kavachc.source import Span

# An evaluation in steps. It yields another evaluation, the body of a function that is called, and is sent that
# body's value; or None, where its task waits. `calls.run_steps` drives it.
Steps: TypeAlias = Generator[Any, Any, Value]


@dataclass(eq=False, slots=True)
class Frame:
    """The variables of one running call.

    `owners` holds, for a variable that may change its arrays in place, the token that those arrays carry
    (`places.py`). `agent` is the agent that an `ask` here counts for; `handle` is set in handlers only. `depth` is
    the number of recursive calls around this one (spec 4.depth), None before a task's own call. `types` are what the
    type parameters of the running function stand for. `call` is how the trace after a panic shows this one, and where
    it was called; None where nothing called it. Without a name it is the library's: a panic in it is one where it was
    called. `caller` is the frame around, None for the first of a task, and never the library's.
    """

    agent: Agent | None = None
    handle: AgentHandle | None = None
    depth: int | None = 0
    types: Bindings = field(default_factory=lambda: NO_BINDINGS)
    values: dict[Local, Value] = field(default_factory=dict)
    owners: dict[Local, object] = field(default_factory=dict)
    caller: Frame | None = None
    call: tuple[str | None, Span] | None = None

    def enter(self, caller: Frame, name: str | None, place: Span) -> None:
        """Tells the trace of this call. A caller that stands for the start of a task (no depth) is none of it."""
        self.call = (name, caller.seen(place))
        if caller.is_library:
            self.caller = caller.caller
        else:
            self.caller = caller if caller.depth is not None else None

    @property
    def is_library(self) -> bool:
        return self.call is not None and self.call[0] is None

    def seen(self, place: Span) -> Span:
        """Where a panic says that something is which is at `place` in this call."""
        return self.call[1] if self.call is not None and self.call[0] is None else place

    def trace(self) -> list[str]:
        """The calls that this one is nested in, itself included (spec 4.trace)."""
        lines: list[str] = []
        frame: Frame | None = self
        while frame is not None:
            if frame.call is not None and frame.call[0] is not None:
                name, span = frame.call
                form = panics.TRACE_STARTED if frame.caller is None else panics.TRACE_CALLED
                lines.append(form.format(name=name, place=span.place()))
            frame = frame.caller
        hidden = len(lines) - panics.TRACE_FIRST - panics.TRACE_LAST
        if hidden > 1:
            lines[panics.TRACE_FIRST : -panics.TRACE_LAST] = [panics.TRACE_MORE.format(count=hidden)]
        return lines

    def bindings(self, function: Function, arguments: tuple[Type, ...]) -> Bindings:
        """What the type parameters of a function stand for, that is called or named here."""
        if not arguments:
            return NO_BINDINGS
        return dict(zip(function.type_parameters, map(self.type, arguments), strict=True))

    def type(self, written: Type) -> Type:
        """What a type in the function's body stands for in this call."""
        return substitute(written, self.types) if self.types else written
