"""How control leaves the middle of an evaluation: one small exception for each way.

`Fails` and `Leaves` are kept apart so that `f(try g()) catch e => …` catches what `f` fails with and not what `g`
fails with: a call that failed raises `Fails`; a `try` or `fail` turns the error into `Leaves`, which no `catch` sees,
and which becomes the `Fails` of the function that it leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kavachc.interpreter.values import Value
from kavachc.semantics import panics
from kavachc.semantics.typed_ast import ArithmeticOperation, Expr
from kavachc.source import Span

if TYPE_CHECKING:
    from kavachc.interpreter.frames import Frame


class Fails(Exception):
    """A call failed with `error`."""

    def __init__(self, error: Value) -> None:
        self.error = error


class Leaves(Exception):
    """The running function ends with `error`."""

    def __init__(self, error: Value) -> None:
        self.error = error


class Returns(Exception):
    """The running function ends with `value`."""

    def __init__(self, value: Value) -> None:
        self.value = value


class Breaks(Exception):
    """The innermost loop ends."""


class Continues(Exception):
    """The innermost loop goes on to its next turn."""


class KavachPanic(Exception):
    """A bug in the Kavach program (spec 4.panic)."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        # Of the calls around, set by the innermost that it leaves.
        self.trace: list[str] | None = None

    def leave(self, frame: Frame) -> None:
        """It leaves the call of `frame`."""
        if self.trace is None:
            self.span = frame.seen(self.span)
            self.trace = frame.trace()

    def report(self) -> str:
        """All lines, the last one without its end."""
        return "\n".join([f"panic: {self.message} at {self.span.place()}", *(self.trace or ())])


# What Python raises where there is no more memory, or no more stack.
EXHAUSTED = (MemoryError, RecursionError)


def exhausted(problem: MemoryError | RecursionError, node: Expr) -> KavachPanic:
    """The panic that it becomes where `node` was being evaluated."""
    message = panics.OUT_OF_MEMORY if isinstance(problem, MemoryError) else panics.STACK_OVERFLOW
    return KavachPanic(message, node.operator_span if isinstance(node, ArithmeticOperation) else node.span)


class Panics(Exception):
    """A function of the library panics with this message; whoever called it knows where."""


class ProgramStops(Exception):
    """The program ends now with `status`, after `message` on stderr: nothing of it runs any more."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
