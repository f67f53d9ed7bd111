"""The state of lowering one function: what it writes with, what it owns, and where its loops lead.

Ownership. `value` gives an owned value that nobody holds yet. A value that must outlive the evaluation of something
else is `held`: it stands on a stack, together with the locals in scope, and whatever way leaves a part of the
function (its end, `return`, `fail`, `try`, `break`, `continue`, a cancelled wait) releases what stands above the mark
of the place that it goes to, last first.

Leaving. An expression that never gives a value ends its block and raises `Left`; the nearest construct in which
another way goes on (`Way`) catches it. So nothing is ever written after a terminator, and code that cannot run is
not lowered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from kavachc.ir import module as ir
from kavachc.ir.builder import FunctionBuilder
from kavachc.ir.module import Block, Location, Value
from kavachc.ir.types import INT, NOTHING
from kavachc.lower.leaving import Exit, Held, Leaving
from kavachc.lower.reachable import tidy
from kavachc.lower.types import lower_type
from kavachc.semantics import typed_ast as typed
from kavachc.semantics import types
from kavachc.source import SourceFile, Span

if TYPE_CHECKING:
    from kavachc.lower.program import ProgramLowering


class Left(Exception):
    """The current block has ended: there is no value, and nothing after it runs."""


# Given an owned error, releases what stands above where it goes, and ends the block.
Failure: TypeAlias = Callable[[Value], None]
# One per kind of node; `Any` is the node's class, by which it is found.
ExpressionLowering: TypeAlias = Callable[["FunctionLowering", Any], Value]
StatementLowering: TypeAlias = Callable[["FunctionLowering", Any], None]


@dataclass(slots=True)
class Loop:
    """Where `break` and `continue` go, and what is owned there."""

    after: Exit
    next: Exit
    mark: int
    has_break: bool = False


@dataclass(frozen=True, slots=True)
class Lowerings:
    """How each kind of node is lowered."""

    expressions: Mapping[type[typed.Expr], ExpressionLowering]
    statements: Mapping[type, StatementLowering]


@dataclass(slots=True)
class FunctionLowering:
    """`hidden_agent` is the number of the agent on whose behalf the function runs, or the parameter that says it;
    `handle` is the agent's handle, in a handler. `counts_calls` is False where the call that it
    makes is nested in no other (it starts a task), or has been counted already (a method behind a capability)."""

    program: ProgramLowering
    build: FunctionBuilder
    file: SourceFile
    hidden_agent: Value | int = -1
    handle: Value | None = None
    counts_calls: bool = True
    loops: list[Loop] = field(default_factory=list)
    owned: list[Held] = field(default_factory=list)
    leaving: Leaving = field(init=False)
    _parameters: dict[typed.Local, Value] = field(default_factory=dict)
    _locals: dict[typed.Local, ir.Local] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.leaving = Leaving(self.build)

    # Values.

    def value(self, expression: typed.Expr) -> Value:
        """The expression's value, owned. Instructions that it makes carry its place."""
        outer = self.build.location
        self.locate(expression.span)
        value = self.program.lowerings.expressions[type(expression)](self, expression)
        self.build.location = outer
        return value

    def held(self, expression: typed.Expr) -> Value:
        """The expression's value, held until the stack is cut."""
        return self.hold(self.value(expression))

    def value_as(self, expression: typed.Expr, wanted: types.Type) -> Value:
        """The expression's value; where nothing is wanted, it is released and nothing stands for it."""
        value = self.value(expression)
        if wanted == types.NOTHING and value.type != NOTHING:
            self.build.release(value)
            return self.build.nothing()
        return value

    def run(self, expression: typed.Expr) -> None:
        """Evaluates the expression for its effects."""
        self.build.release(self.value(expression))

    def statement(self, statement: typed.Statement) -> None:
        outer = self.build.location
        self.locate(statement.span)
        self.program.lowerings.statements[type(statement)](self, statement)
        self.build.location = outer

    # Places in the source.

    def locate(self, span: Span) -> None:
        """What is written next stands at `span`. What was written in another file (defaults, constants) keeps the
        place where it is used, since a function has one file."""
        self.build.location = self.location(span)

    def location(self, span: Span) -> Location | None:
        if span.file is not self.file:
            return self.build.location
        line, column = span.file.position(span.start)
        return Location(line, column)

    # What is owned.

    def mark(self) -> int:
        return len(self.owned)

    def hold(self, value: Value) -> Value:
        if self.build.is_counted(value.type):
            self.owned.append(Held(value))
        return value

    def unwind(self, mark: int) -> None:
        """Releases what stands above `mark`, on a way that leaves: other ways still hold it."""
        for held in reversed(self.owned[mark:]):
            self.leaving.release(held)

    def release_to(self, mark: int) -> None:
        """Releases what stands above `mark`."""
        self.unwind(mark)
        del self.owned[mark:]

    def forget_to(self, mark: int) -> None:
        """Something has consumed what stands above `mark`."""
        del self.owned[mark:]

    # Names of the program.

    def bind_parameter(self, local: typed.Local, value: Value) -> None:
        self._parameters[local] = value

    def declare(self, local: typed.Local, value: Value) -> None:
        """The local comes into scope, until the stack is cut, and takes over the owned `value`."""
        variable = self.variable(local)
        self.build.local_set(variable, value)
        self.owned.append(Held(variable))

    def variable(self, local: typed.Local) -> ir.Local:
        """The IR local of a name declared in a body."""
        assert local not in self._parameters, f"the parameter {local.name} cannot be changed"
        found = self._locals.get(local)
        if found is None:
            found = self.build.new_local(local.name, lower_type(local.type))
            self._locals[local] = found
        return found

    def look(self, local: typed.Local) -> Value:
        """What the local holds, borrowed."""
        parameter = self._parameters.get(local)
        if parameter is None:
            return self.build.local_get(self.variable(local))
        return self.build.load(parameter) if local.is_reference else parameter

    def address_of(self, local: typed.Local) -> Value:
        """Where the local is: a `mut` parameter, with the caller."""
        if local.is_reference:
            return self._parameters[local]
        return self.build.local_address(self.variable(local))

    def depth_of(self, is_recursive: bool) -> str:
        """How a call counts toward spec 4.depth."""
        return "counted" if is_recursive and self.counts_calls else "plain"

    def agent_number(self) -> Value:
        """The number of the agent on whose behalf the function runs."""
        if isinstance(self.hidden_agent, Value):
            return self.hidden_agent
        return self.build.int_const(self.hidden_agent, INT)

    # Blocks.

    def start(self, block: Block) -> None:
        self.build.position(block)

    def leave_by_return(self, value: Value) -> None:
        self.leaving.leave(self.leaving.result, self.owned, value)

    def leave_by_failure(self, error: Value) -> None:
        self.leaving.leave(self.leaving.failure, self.owned, error)

    def leave_cancelled(self) -> None:
        self.leaving.leave(self.leaving.cancelled, self.owned)

    def leave_to(self, exit: Exit, mark: int) -> None:
        """Ends the block: releases what stands above `mark`, on the way to `exit`."""
        self.leaving.leave(exit, self.owned[mark:])

    def finish(self) -> None:
        """The function is written: blocks that no way leads to are dropped."""
        tidy(self.build.function)


class Way:
    """`with Way(state):` one of several ways through a construct, from the current block. Where it leaves, the
    others go on with what was owned before it."""

    def __init__(self, state: FunctionLowering) -> None:
        self.state = state
        self.mark = state.mark()
        self.location = state.build.location
        self.loops = len(state.loops)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> bool:
        if kind is not Left:
            assert kind is not None or self.state.mark() == self.mark, "a way ends with what it began with"
            return False
        self.state.forget_to(self.mark)
        self.state.build.location = self.location
        del self.state.loops[self.loops :]
        return True


class Join:
    """Where the ways through an expression meet, each bringing the expression's value."""

    def __init__(self, state: FunctionLowering, name: str, type: types.Type) -> None:
        self.state = state
        self.type = type
        self.block = state.build.new_block(f"{name}.end")
        self.result: ir.Local | None = None
        self.name = name
        self.is_reached = False

    def bring(self, value: Value) -> None:
        """This way ends with the owned `value`."""
        self.is_reached = True
        if self.type != types.NOTHING:
            if self.result is None:
                self.result = self.state.build.new_local(self.name, lower_type(self.type))
            self.state.build.local_set(self.result, value)
        self.state.build.jump(self.block)

    def bring_value(self, expression: typed.Expr) -> None:
        """This way ends with the expression's value."""
        self.bring(self.state.value_as(expression, self.type))

    def finish(self) -> Value:
        """The value, where the ways meet."""
        if not self.is_reached:
            raise Left
        self.state.start(self.block)
        return self.state.build.nothing() if self.result is None else self.state.build.local_take(self.result)
