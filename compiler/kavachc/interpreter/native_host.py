"""The Zig runtime as a host, through ctypes: `interp --host native`.

The runtime's scheduler, ledger and model client do the work; the values stay in Python. Each task is one coroutine to
the runtime, known by a number: `resume` takes the number and advances that task's generator.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import closing
from ctypes import CDLL, POINTER, Structure, addressof, byref, c_bool, c_int64, c_void_p, cast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kavachc.bindings import abi
from kavachc.bindings.descriptors import NOTHING, STRING, Descriptors, MapOf, TaskOf, read_text, read_value
from kavachc.bindings.host import Host as NativeCallbacks
from kavachc.bindings.host import HostTable
from kavachc.bindings.library import load_library
from kavachc.interpreter.decode import Holds, no_rules
from kavachc.interpreter.host import Answer, Outcome, TaskBody
from kavachc.interpreter.native_tables import Descriptions, agent_row
from kavachc.interpreter.output import Output
from kavachc.interpreter.show import show
from kavachc.interpreter.signals import Fails, KavachPanic
from kavachc.interpreter.values import Value
from kavachc.interpreter.web import ENDINGS, WebAnswer, WebRequest
from kavachc.options import RunOptions
from kavachc.semantics import panics
from kavachc.semantics.schema import Sample, Schema
from kavachc.semantics.typed_ast import Agent, Limit, Program
from kavachc.semantics.types import ERROR, FieldRule, Type

SCHEMA_WAYS: dict[str, abi.SchemaWay] = {
    "none": abi.SchemaWay.FREE_TEXT,
    "structured": abi.SchemaWay.STRUCTURED,
    "wrapped": abi.SchemaWay.WRAPPED,
    "prompt": abi.SchemaWay.IN_PROMPT,
}
ANSWER_KINDS: dict[int, Any] = {
    abi.AnswerKind.ANSWERED: "Answered",
    abi.AnswerKind.NO_KEY: "NoKey",
    abi.AnswerKind.FAILED_ASK: "Failed",
    abi.AnswerKind.INVALID_OUTPUT: "InvalidOutput",
    abi.AnswerKind.DENIED: "Denied",
}


class WebResult(Structure):
    """What `http.get` and `http.post` of the runtime's library give (`ir/library.py`)."""

    _fields_ = (
        ("ending", c_int64),
        ("status", c_int64),
        ("headers", POINTER(abi.Map)),
        ("text", POINTER(abi.String)),
    )


STRINGS_BY_NAME = MapOf(STRING, STRING)


class Callbacks(NativeCallbacks):
    """What the runtime writes goes where the interpreter's output goes."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def write(self, descriptor: int, content: bytes) -> bool:
        return self._output.write(descriptor, content)

    def is_terminal(self, descriptor: int) -> bool:
        return descriptor == 1 and self._output.is_terminal

    def exit(self, status: int) -> None:
        """Nothing is buffered in Python, so there is nothing to lose."""
        os._exit(status)


@dataclass(eq=False, slots=True)
class NativeTask:
    """A task of the runtime; `outcome` is set when it has ended."""

    address: int
    outcome: Outcome | None = None


@dataclass(eq=False, slots=True)
class Coroutine:
    """`out` is where the runtime finds how it ended; `task` is None for main."""

    body: TaskBody
    out: Any
    task: NativeTask | None


class NativeHost:
    """A `Host`. Panics and a stdout that takes no more end the process from inside `run`."""

    def __init__(self, program: Program, options: RunOptions, output: Output, library: CDLL) -> None:
        self._program = program
        self._options = options
        self._library = library
        for send in (library.kv_lib_http_get, library.kv_lib_http_post):
            send.restype = c_bool
        self._callbacks = HostTable(Callbacks(output), library)
        self._tables = Descriptors()
        self.holds: Holds = no_rules
        self._descriptions = Descriptions(self._rule_holds)
        self._string_type = self._tables.type(STRING)
        self._task_type = self._tables.type(TaskOf(NOTHING))
        self._coroutines: dict[int, Coroutine] = {}
        self._coroutines_made = 0
        self._running = 0
        self._tasks: list[NativeTask] = []

    # Output and time.

    def print_line(self, text: str) -> None:
        string = self._string(text)
        self._library.kv_print(string)
        self._release_string(string)

    def now(self) -> int:
        return int(self._library.kv_now())

    def sleep(self, duration_ns: int) -> Generator[None, None, None]:
        if not self._library.kv_sleep(duration_ns, self._running):
            yield

    # Tasks.

    def spawn(self, body: TaskBody, result: Type) -> NativeTask:
        """The result stays in Python, so to the runtime every task gives nothing."""
        address = self._library.kv_task_new(byref(self._tables.type(NOTHING)))
        task = NativeTask(address)
        self._tasks.append(task)
        number = self._new_coroutine(body, self._library.kv_task_outcome(address), task)
        self._library.kv_task_start(address, number)
        return task

    def wait(self, task: NativeTask) -> Generator[None, None, Outcome]:
        if not self._library.kv_task_wait(task.address, self._running):
            yield
        assert task.outcome is not None
        return task.outcome

    def wait_for(self, task: NativeTask, limit_ns: int) -> Generator[None, None, Outcome | None]:
        if not self._library.kv_task_wait_for(task.address, limit_ns, self._running):
            yield
        return task.outcome if self._library.kv_task_ended(task.address) else None

    def cancel(self, task: NativeTask) -> None:
        self._library.kv_task_cancel(task.address)

    def _new_coroutine(self, body: TaskBody, out: Any, task: NativeTask | None) -> int:
        self._coroutines_made += 1
        self._coroutines[self._coroutines_made] = Coroutine(body, out, task)
        return self._coroutines_made

    def _resume(self, number: int) -> None:
        """Called by the runtime: advances the task to its next wait or its end."""
        self._running = number
        coroutine = self._coroutines[number]
        outcome = self._advance(coroutine)
        if outcome is None:
            return
        del self._coroutines[number]
        if coroutine.task is not None:
            coroutine.task.outcome = outcome
        self._write_outcome(outcome, coroutine.out.contents)
        if not self._coroutines:
            self._release_tasks()
        self._library.kv_return(None)

    def _advance(self, coroutine: Coroutine) -> Outcome | None:
        """How the coroutine ended; None when it waits."""
        if self._library.kv_cancelled():
            return Outcome("cancelled")
        try:
            coroutine.body.send(None)
        except StopIteration as end:
            return Outcome("ok", end.value)
        except Fails as failure:
            return Outcome("failed", failure.error)
        except KavachPanic as panic:
            self._panic(panic.report().removeprefix("panic: "))
        except RecursionError:
            self._panic(panics.STACK_OVERFLOW)
        except MemoryError:
            self._panic(panics.OUT_OF_MEMORY)
        return None

    def _panic(self, message: str) -> None:
        """Does not return: the runtime ends the process. The message has its place and its trace already."""
        self._library.kv_panic(message.encode(), len(message.encode()), None, None)

    def _write_outcome(self, outcome: Outcome, out: Any) -> None:
        if outcome.status == "cancelled":
            out.status = abi.Status.CANCELLED
        elif outcome.status == "ok":
            out.status = abi.Status.OK
        else:
            # The runtime only ever shows it, so the text will do.
            text = c_void_p(cast(self._string(show(outcome.value, ERROR)), c_void_p).value)
            out.error = self._library.kv_error_new(byref(self._string_type), byref(text))
            out.status = abi.Status.FAILED

    def _release_tasks(self) -> None:
        """The last task ends: Python's values go with it, and so do its counts of the runtime's tasks."""
        for task in self._tasks:
            self._library.kv_release_value(byref(self._task_type), byref(c_void_p(task.address)))
        self._tasks = []

    # Limits.

    def audit_call(self, agent: Agent, target: str) -> None:
        string = self._string(target)
        self._library.kv_audit_call(agent.index, string)
        self._release_string(string)

    def limit_begin(self, agent: Agent, limit: Limit) -> None:
        index = next(index for index, each in enumerate(agent.limits) if each is limit)
        self._library.kv_limit_begin(agent.index, index)

    def limit_key(self, rule: int, key: str) -> None:
        string = self._string(key)
        self._library.kv_limit_key(rule, string)
        self._release_string(string)

    def limit_condition(self, rule: int, holds: bool) -> bool:
        return bool(self._library.kv_limit_condition(rule, holds))

    def limit_sum(self, rule: int, amount: int | float) -> bool:
        if isinstance(amount, float):
            return bool(self._library.kv_limit_sum_float(rule, amount))
        return bool(self._library.kv_limit_sum_int(rule, amount))

    def limit_count(self, rule: int) -> bool:
        return bool(self._library.kv_limit_count(rule))

    def limit_commit(self) -> Generator[None, None, str | None]:
        answer = abi.Answer()
        if not self._library.kv_limit_commit(byref(answer), self._running):
            yield
        text = self._taken(answer.text)
        return text if answer.kind == abi.AnswerKind.DENIED else None

    def limit_refuse(self, rule: int) -> str:
        return self._taken(self._library.kv_limit_refuse(rule))

    # The model.

    def ask(
        self, agent: Agent | None, wanted: Type, schema: Schema, sample: Sample, prompt: str
    ) -> Generator[None, None, Answer]:
        index = -1 if agent is None else agent.index
        native_type = self._tables.type(self._descriptions.of(wanted))
        answer = abi.Answer()
        string = self._string(prompt)
        native_schema = self._tables.schema(SCHEMA_WAYS[schema.way], schema.text, sample.text, sample.problem)
        has_ended = self._library.kv_ask(
            index, byref(native_type), byref(native_schema), string, byref(answer), self._running
        )
        self._release_string(string)  # The runtime holds a count of its own while it asks.
        if not has_ended:
            yield
        return Answer(ANSWER_KINDS[answer.kind], self._taken(answer.text), answer.status, answer.retry_after)

    # HTTP.

    def http(self, agent: Agent | None, request: WebRequest) -> Generator[None, None, WebAnswer]:
        library, out = self._library, WebResult()
        url = self._string(request.url)
        headers = self._map(request.headers)
        body = None if request.body is None else self._string(request.body)
        sender = c_int64(-1 if agent is None else agent.index)
        given = (headers, c_int64(request.timeout_ns), byref(out), c_void_p(self._running))
        # The runtime has its own copies when it comes back.
        if body is None:
            has_ended = library.kv_lib_http_get(sender, url, *given)
        else:
            has_ended = library.kv_lib_http_post(sender, url, body, *given)
            self._release_string(body)
        self._release_string(url)
        self._release_map(headers)
        if not has_ended:
            yield
        found = read_value(STRINGS_BY_NAME, addressof(out) + WebResult.headers.offset)
        self._release_map(out.headers)
        return WebAnswer(ENDINGS[out.ending], self._taken(out.text), out.status, found)

    def _map(self, entries: tuple[tuple[str, str], ...]) -> Any:
        kind = self._tables.type(STRINGS_BY_NAME)
        made = self._library.kv_map_new(byref(kind), len(entries))
        for key, value in entries:
            self._library.kv_map_set(byref(made), byref(kind), byref(self._string(key)), byref(self._string(value)))
        return made

    def _release_map(self, map: Any) -> None:
        address = c_void_p(cast(map, c_void_p).value)
        self._library.kv_release_value(byref(self._tables.type(STRINGS_BY_NAME)), byref(address))

    def _rule_holds(self, rule: FieldRule, arguments: tuple[Type, ...], value: Value) -> bool:
        """Called by the runtime for an answer's field."""
        try:
            return self.holds(rule, arguments, value)
        except KavachPanic as panic:
            self._panic(panic.report().removeprefix("panic: "))
        except RecursionError:
            self._panic(panics.STACK_OVERFLOW)
        return False

    # Strings of the runtime.

    def _string(self, text: str) -> Any:
        content = text.encode()
        return self._library.kv_string_new(content, len(content))

    def _release_string(self, string: Any) -> None:
        address = c_void_p(cast(string, c_void_p).value)
        self._library.kv_release_value(byref(self._string_type), byref(address))

    def _taken(self, string: Any) -> str:
        """The text of a string that is given to the caller."""
        text = read_text(string)
        self._release_string(string)
        return text

    # The run.

    def run(self, main: TaskBody) -> int:
        library, guard = self._library, self._callbacks.guard
        agents = self._program.agents
        ledger = library.kv_ledger_part if any(agent.limits for agent in agents) else None
        if ledger is None and (self._program.can_send or any(agent.capabilities for agent in agents)):
            ledger = library.kv_audit_part
        start: Callable[..., int] = lambda out, _parent: self._new_coroutine(main, out, None)  # noqa: E731
        table = abi.Program(
            abi.MainFunction(guard(0, start)),
            abi.ResumeFunction(guard(None, self._resume)),
            self._tables.agents(agent_row(agent) for agent in self._program.agents),
            len(self._program.agents),
            cast(ledger, abi.PartFunction) if ledger is not None else abi.PartFunction(),
            cast(library.kv_model_part, abi.PartFunction) if self._program.can_ask else abi.PartFunction(),
        )
        options = self._tables.kept.options(
            dry_run=self._options.dry_run,
            virtual_time=self._options.virtual_time,
            test_model=self._options.test_model,
            report=self._options.report,
            state_file=self._options.state_file,
            audit_log=self._options.audit_log,
            audit_prompts=self._options.audit_prompts,
            arguments=self._options.arguments,
        )
        with closing(self._callbacks):
            return int(library.kv_run(byref(table), byref(self._callbacks.table), byref(options)))


def native_host(program: Program, options: RunOptions, output: Output, library: Path) -> NativeHost:
    """A host on the runtime's shared library at `library`."""
    return NativeHost(program, options, output, load_library(library))
