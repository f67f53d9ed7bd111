"""Runs Python generators as Kavach tasks on the native runtime: a coroutine is a number, `resume` is a callback.

def main(program):
    answer = yield from program.ask(0, kind, "prompt")
    program.print(answer.kind)

result = run(main, agents=[...], test_model={...})
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator
from contextlib import suppress
from ctypes import CDLL, addressof, byref, c_void_p, cast
from dataclasses import dataclass, field
from typing import Any

from kavachc.backend.runtime_build import runtime_library
from kavachc.bindings import abi
from kavachc.bindings.descriptors import (
    NOTHING,
    STRING,
    Agent,
    Description,
    Descriptors,
    TaskOf,
    buffer_for,
    read_text,
    read_value,
)
from kavachc.bindings.host import Host, HostTable
from kavachc.bindings.library import load_library

TASK = TaskOf(NOTHING)
SECOND = 1_000_000_000
VIRTUAL_START_NS = 1_767_225_600 * SECOND  # 2026-01-01T00:00:00Z
MODEL_PATH = "model.json"
REPORT_PATH = "report.txt"

Body = Generator[None, None, None]


@dataclass
class MemoryHost(Host):
    """Keeps what is written; clocks stand still unless a test moves them."""

    environment_values: dict[bytes, bytes] = field(default_factory=dict)
    files: dict[bytes, bytes] = field(default_factory=dict)
    now_ns: int = 0
    written: dict[int, bytearray] = field(default_factory=lambda: {1: bytearray(), 2: bytearray()})

    def write(self, descriptor: int, content: bytes) -> bool:
        self.written[descriptor] += content
        return True

    def is_terminal(self, descriptor: int) -> bool:
        return False

    def monotonic_ns(self) -> int:
        return self.now_ns

    def random(self) -> int:
        return 0

    def sleep(self, duration_ns: int) -> None:
        self.now_ns += duration_ns

    def environment(self, name: bytes) -> bytes | None:
        return self.environment_values.get(name)

    def read_file(self, path: bytes) -> bytes | None:
        return self.files.get(path)

    def write_file(self, path: bytes, content: bytes) -> bool:
        self.files[path] = content
        return True

    def exit(self, status: int) -> None:
        """Native code ends here; `run_to_exit` reads what was written from the pipes."""
        for descriptor, content in self.written.items():
            os.write(descriptor, bytes(content))
        os._exit(status)


@dataclass
class Answer:
    kind: str
    status: int
    text: str
    value: Any = None


@dataclass
class Result:
    status: int
    out: str
    err: str
    report: str
    answers: list[Answer]


@dataclass
class Coroutine:
    body: Body
    out: Any
    parent: int | None


class Program:
    """What a test's generators call."""

    def __init__(self, library: CDLL, agents: list[Agent]) -> None:
        self.library = library
        self.descriptors = Descriptors()
        self.agents = agents
        self.answers: list[Answer] = []
        self._coroutines: dict[int, Coroutine] = {}
        self._next = 1
        self._current = 0
        self._main = 0
        # The handles that `main` holds until it ends.
        self._tasks: list[int] = []

    def print(self, text: str) -> None:
        string = self._string(text)
        self.library.kv_print(string)
        self._free(string)

    def sleep(self, duration_ns: int) -> Body:
        if not self.library.kv_sleep(duration_ns, self._current):
            yield

    def now_ns(self) -> int:
        """Since the start of virtual time."""
        return int(self.library.kv_now()) - VIRTUAL_START_NS

    def spawn(self, body: Body) -> int:
        task = self.library.kv_task_new(byref(self.descriptors.type(NOTHING)))
        first = self._create(body, self.library.kv_task_outcome(task), None)
        self.library.kv_task_start(task, first)
        self._tasks.append(task)
        return int(task)

    def wait(self, task: int) -> Generator[None, None, abi.Status]:
        if not self.library.kv_task_wait(task, self._current):
            yield
        return abi.Status(self.library.kv_task_outcome(task).contents.status)

    def wait_for(self, task: int, limit_ns: int) -> Generator[None, None, abi.Status | None]:
        if not self.library.kv_task_wait_for(task, limit_ns, self._current):
            yield
        ended = self.library.kv_task_ended(task)
        return abi.Status(self.library.kv_task_outcome(task).contents.status) if ended else None

    def cancel(self, task: int) -> None:
        self.library.kv_task_cancel(task)

    def ask(
        self,
        agent: int,
        kind: Description,
        prompt: str,
        sample: str = "null",
        way: abi.SchemaWay = abi.SchemaWay.FREE_TEXT,
        schema_text: str = "",
    ) -> Generator[None, None, Answer]:
        answer = abi.Answer()
        native_type = self.descriptors.type(kind)
        string = self._string(prompt)
        try:
            schema = byref(self.descriptors.schema(way, schema_text, sample, ""))
            if not self.library.kv_ask(agent, byref(native_type), schema, string, byref(answer), self._current):
                yield
        finally:
            self._free(string)
        name = abi.AnswerKind(answer.kind).name
        text = read_text(answer.text)
        value = None
        if name == "ANSWERED":
            value = text if kind is STRING else self._decode(kind, answer)
        self._free(answer.text)
        self.answers.append(Answer(name, answer.status, text, value))
        return self.answers[-1]

    def call(self, agent: int, limit: int, amounts: list[int | float | bool | None]) -> str | None:
        """One call against a limit, one amount for each rule; the reason when it is refused."""
        library = self.library
        library.kv_limit_begin(agent, limit)
        for index, (rule, amount) in enumerate(zip(self.agents[agent].limits[limit].rules, amounts, strict=True)):
            match rule.kind:
                case abi.RuleKind.CONDITION:
                    passes = library.kv_limit_condition(index, amount)
                case abi.RuleKind.SUM_INT:
                    passes = library.kv_limit_sum_int(index, amount)
                case abi.RuleKind.SUM_FLOAT:
                    passes = library.kv_limit_sum_float(index, amount)
                case _:
                    passes = library.kv_limit_count(index)
            if not passes:
                reason = library.kv_limit_refuse(index)
                text = read_text(reason)
                self._free(reason)
                return text
        answer = abi.Answer()
        assert library.kv_limit_commit(byref(answer), self._current), "it waits for a state file only"
        return None

    def _decode(self, kind: Description, answer: abi.Answer) -> Any:
        native_type = self.descriptors.type(kind)
        room = buffer_for(native_type)
        self.library.kv_decode(byref(native_type), answer.text, room)
        value = read_value(kind, addressof(room))
        self.library.kv_release_value(byref(native_type), room)
        return value

    def _string(self, text: str) -> Any:
        encoded = text.encode()
        return self.library.kv_string_new(encoded, len(encoded))

    def _free(self, string: Any) -> None:
        """Gives up one count of a string."""
        self._release(STRING, cast(string, c_void_p).value)

    def _release(self, kind: Description, block: int | None) -> None:
        room = c_void_p(block)
        self.library.kv_release_value(byref(self.descriptors.type(kind)), byref(room))

    def _create(self, body: Body, out: Any, parent: int | None) -> int:
        number = self._next
        self._next += 1
        self._coroutines[number] = Coroutine(body, out, parent)
        return number

    def start_main(self, body: Body, out: Any, parent: int | None) -> int:
        self._main = self._create(body, out, parent)
        return self._main

    def resume(self, number: int) -> None:
        self._current = number
        coroutine = self._coroutines[number]
        if self.library.kv_cancelled():
            coroutine.body.close()
            coroutine.out.contents.status = abi.Status.CANCELLED
        else:
            with suppress(StopIteration):
                next(coroutine.body)
                return
            coroutine.out.contents.status = abi.Status.OK
        del self._coroutines[number]
        if number == self._main:
            for task in self._tasks:
                self._release(TASK, task)
        self.library.kv_return(coroutine.parent)


def run(
    main: Callable[[Program], Body],
    *,
    agents: list[Agent] | None = None,
    test_model: dict[str, Any] | bytes | None = None,
    dry_run: bool = False,
    virtual_time: bool = True,
    host: MemoryHost | None = None,
    uses_model: bool = True,
    audit_log: str | None = None,
) -> Result:
    library = load_library(runtime_library())
    program = Program(library, agents or [])
    host = host or MemoryHost()
    if test_model is not None:
        content = test_model if isinstance(test_model, bytes) else json.dumps(test_model).encode()
        host.files[MODEL_PATH.encode()] = content
    table = HostTable(host, library)
    native = abi.Program(
        abi.MainFunction(table.guard(0, lambda out, parent: program.start_main(main(program), out, parent))),
        abi.ResumeFunction(table.guard(None, program.resume)),
        program.descriptors.agents(program.agents),
        len(program.agents),
        cast(library.kv_ledger_part, abi.PartFunction),
        cast(library.kv_model_part, abi.PartFunction) if uses_model else abi.PartFunction(),
    )
    options = program.descriptors.kept.options(
        dry_run=dry_run,
        virtual_time=virtual_time,
        test_model=MODEL_PATH if test_model is not None else None,
        report=REPORT_PATH,
        audit_log=audit_log,
    )
    status = library.kv_run(byref(native), byref(table.table), byref(options))
    return Result(
        status,
        host.written[1].decode(),
        host.written[2].decode(),
        host.files.get(REPORT_PATH.encode(), b"").decode(),
        program.answers,
    )


def run_to_exit(action: Callable[[], Any]) -> tuple[int, str, str]:
    """Runs something that ends the process, in a child: its status, stdout and stderr."""
    load_library(runtime_library())
    ends = [os.pipe(), os.pipe()]
    child = os.fork()
    if child == 0:
        for descriptor, (_, write_end) in zip((1, 2), ends, strict=True):
            os.dup2(write_end, descriptor)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 - pytest has its own
        try:
            action()
        finally:
            os._exit(99)
    texts = []
    for _, write_end in ends:
        os.close(write_end)
    for read_end, _ in ends:
        with os.fdopen(read_end, "rb") as stream:
            texts.append(stream.read().decode())
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), texts[0], texts[1]
