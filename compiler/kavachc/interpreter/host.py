"""What the evaluator needs from outside: output, tasks, time, limits and the model.

Two implementations: `model_host.py`, in plain Python, and `native_host.py`, the Zig runtime through ctypes. The
methods stand for the entries of `runtime/include/kavach.h` with the same names. Those that may wait are generators:
they yield (nothing) where the task gives way to the others, and go on when the wait is over.

A task is a generator too: it yields where it waits, returns the value of its call, or raises `Fails`. A cancelled
one is never advanced again: Kavach has no code that runs on the way out.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from kavachc.interpreter.decode import Holds
from kavachc.interpreter.values import Value
from kavachc.interpreter.web import WebAnswer, WebRequest
from kavachc.semantics.schema import Sample, Schema
from kavachc.semantics.typed_ast import Agent, Limit
from kavachc.semantics.types import Type

TaskBody: TypeAlias = Generator[None, None, Value]
# Identifies a task, for the host that made it.
TaskHandle: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended: with a `value`, with an error in `value`, or cancelled."""

    status: Literal["ok", "failed", "cancelled"]
    value: Value = None


@dataclass(frozen=True, slots=True)
class Answer:
    """How an ask ended. `kind` names the variant of AiError, or says that it was answered; `text` is the answer's
    JSON (the bare text where a String was asked for), or the error's variable, message, last answer or reason.
    `retry_after` is the hidden field of `Failed`."""

    kind: Literal["Answered", "NoKey", "Failed", "InvalidOutput", "Denied"]
    text: str
    status: int = 0
    retry_after: int = 0


class Host(Protocol):
    def print_line(self, text: str) -> None:
        """Writes the text and a line break on stdout."""

    def now(self) -> int:
        """The UTC time in nanoseconds since 1970."""

    def sleep(self, duration_ns: int) -> Generator[None, None, None]: ...

    def spawn(self, body: TaskBody, result: Type) -> TaskHandle:
        """Puts a new task at the end of the ready queue."""

    def wait(self, task: TaskHandle) -> Generator[None, None, Outcome]: ...

    def wait_for(self, task: TaskHandle, limit_ns: int) -> Generator[None, None, Outcome | None]:
        """None: the task has not ended, and the limit has passed."""

    def cancel(self, task: TaskHandle) -> None: ...

    def audit_call(self, agent: Agent, target: str) -> None:
        """The agent makes a call that no limit applies to."""

    def limit_begin(self, agent: Agent, limit: Limit) -> None:
        """Begins the check of one call: the rules follow in order, and `limit_commit` or `limit_refuse` ends it.
        `rule` is an index into `limit.rules`. A check answers False where the rule refuses the call."""

    def limit_key(self, rule: int, key: str) -> None:
        """Comes before the check of a rule with a key."""

    def limit_condition(self, rule: int, holds: bool) -> bool: ...

    def limit_sum(self, rule: int, amount: int | float) -> bool: ...

    def limit_count(self, rule: int) -> bool: ...

    def limit_commit(self) -> Generator[None, None, str | None]:
        """Every rule let the call pass: all of them record it. With a state file, waits until that is durable; the
        reason where the call is refused after all."""

    def limit_refuse(self, rule: int) -> str:
        """Nothing is recorded; gives the reason."""

    # Whether the rule of a field holds for a value (`decode.py`); the evaluator sets it.
    holds: Holds

    def ask(
        self, agent: Agent | None, wanted: Type, schema: Schema, sample: Sample, prompt: str
    ) -> Generator[None, None, Answer]:
        """Asks the model of `agent` (None: the default model, and no limits) for a value of `wanted`, whose schema is
        `schema`, and of which a dry run answers `sample`."""

    def http(self, agent: Agent | None, request: WebRequest) -> Generator[None, None, WebAnswer]:
        """What becomes of the request that is sent on behalf of `agent` (None: outside agents)."""

    def run(self, main: TaskBody) -> int:
        """Runs `main` and every task that it starts, reports what went wrong, and gives the exit status. Raises
        `KavachPanic` and `ProgramStops` for `run.py` to report."""
