"""The built-in functions and methods: one implementation for each row of `semantics/builtins.py`, by its key.

Those that only compute are in `library.py`; here are those that wait or need the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kavachc.bindings.abi import FileOperation
from kavachc.interpreter.frames import Steps
from kavachc.interpreter.host import Outcome
from kavachc.interpreter.json_library import decoded, encode
from kavachc.interpreter.show import show
from kavachc.interpreter.signals import Fails
from kavachc.interpreter.values import (
    ABSENT,
    ArrayValue,
    MapValue,
    Present,
    RecordValue,
    TupleValue,
    Value,
    key_of,
    map_of,
    variant,
)
from kavachc.interpreter.web import WebRequest
from kavachc.semantics.typed_ast import Agent
from kavachc.semantics.types import Type

if TYPE_CHECKING:
    from kavachc.interpreter.evaluator import Evaluator

# Of the arguments, and of the result.
Types = tuple[Type, ...]
Values = list[Value]


def _print(evaluator: Evaluator, types: Types, values: Values) -> None:
    evaluator.host.print_line(show(values[0], types[0]))


def _map_len(_evaluator: Evaluator, _types: Types, values: Values) -> int:
    return len(values[0].items)


def _map_get(_evaluator: Evaluator, _types: Types, values: Values) -> Value:
    held = values[0].items.get(key_of(values[1]))
    return ABSENT if held is None else Present(held[1])


def _map_contains(_evaluator: Evaluator, _types: Types, values: Values) -> bool:
    return key_of(values[1]) in values[0].items


def _map_keys(_evaluator: Evaluator, _types: Types, values: Values) -> ArrayValue:
    return ArrayValue([key for key, _ in values[0].items.values()])


def _map_values(_evaluator: Evaluator, _types: Types, values: Values) -> ArrayValue:
    return ArrayValue([value for _, value in values[0].items.values()])


def _map_entries(_evaluator: Evaluator, _types: Types, values: Values) -> ArrayValue:
    return ArrayValue([TupleValue(pair) for pair in values[0].items.values()])


def _task_cancel(evaluator: Evaluator, _types: Types, values: Values) -> None:
    evaluator.host.cancel(values[0])


def _time_now(evaluator: Evaluator, _types: Types, _values: Values) -> int:
    return evaluator.host.now()


def _time_sleep(evaluator: Evaluator, _agent: Agent | None, values: Values) -> Steps:
    yield from evaluator.host.sleep(values[0])
    return None


def _task_wait(evaluator: Evaluator, _agent: Agent | None, values: Values) -> Steps:
    """The task's value, or its error; a cancelled task fails with `TaskError.Cancelled` (spec 7.wait, 7.cancel)."""
    return _result(evaluator, (yield from evaluator.host.wait(values[0])))


def _task_wait_for(evaluator: Evaluator, _agent: Agent | None, values: Values) -> Steps:
    """As `_task_wait`, or fails with `TaskError.TimedOut` (spec 7.wait-for)."""
    outcome: Outcome | None = yield from evaluator.host.wait_for(*values)
    if outcome is None:
        raise Fails(variant(evaluator.program.task_error, "TimedOut"))
    return _result(evaluator, outcome)


def _result(evaluator: Evaluator, outcome: Outcome) -> Value:
    if outcome.status == "ok":
        return outcome.value
    raise Fails(outcome.value if outcome.status == "failed" else variant(evaluator.program.task_error, "Cancelled"))


def _http_get(evaluator: Evaluator, agent: Agent | None, values: Values) -> Steps:
    url, headers, timeout_ns = values
    return (yield from _http(evaluator, agent, url, None, headers, timeout_ns))


def _http_post(evaluator: Evaluator, agent: Agent | None, values: Values) -> Steps:
    return (yield from _http(evaluator, agent, *values))


def _http(
    evaluator: Evaluator, agent: Agent | None, url: str, body: str | None, headers: MapValue, timeout_ns: int
) -> Steps:
    given = tuple([(name, value) for name, value in headers.items.values()])
    answer = yield from evaluator.host.http(agent, WebRequest(url, body, given, timeout_ns))
    if answer.ending == "Answered":
        items = [part for header in answer.headers.items() for part in header]
        return RecordValue(evaluator.program.http_answer, (answer.status, map_of(items), answer.text))
    held = answer.status if answer.ending == "NotText" else answer.text
    raise Fails(variant(evaluator.program.http_error, answer.ending, held))


def _file(operation: FileOperation) -> Callable[[Evaluator, Types, Values], Value]:
    def perform(evaluator: Evaluator, _types: Types, values: Values) -> Value:
        read = evaluator.world.file(operation, evaluator.program.file_error, *values)
        return read if operation == FileOperation.READ else None

    return perform


# Rows that neither wait nor write: (evaluator, the arguments' types, the arguments).
AT_ONCE: dict[str, Callable[[Evaluator, Types, Values], Value]] = {
    "json.encode": lambda _evaluator, types, values: encode(values[0], types[0]),
    "json.decode": lambda evaluator, types, values: decoded(evaluator, values[0], types[-1]),
    "env.get": lambda evaluator, _, values: evaluator.world.variable(*values),
    "env.args": lambda evaluator, _, _values: evaluator.world.arguments(),
    "random.int": lambda evaluator, _, values: evaluator.world.random_int(*values),
    "random.float": lambda evaluator, _, _values: evaluator.world.random_float(),
    "random.seed": lambda evaluator, _, values: evaluator.world.seed(*values),
    "files.read": _file(FileOperation.READ),
    "files.write": _file(FileOperation.WRITE),
    "files.append": _file(FileOperation.APPEND),
    "files.remove": _file(FileOperation.REMOVE),
    "files.exists": lambda evaluator, _, values: evaluator.world.exists(*values),
    "print": _print,
    "map.len": _map_len,
    "map.get": _map_get,
    "map.contains": _map_contains,
    "map.keys": _map_keys,
    "map.values": _map_values,
    "map.entries": _map_entries,
    "task.cancel": _task_cancel,
    "time.now": _time_now,
}
# Rows that may wait: (evaluator, the agent on whose behalf, the arguments).
WAITING: dict[str, Callable[[Evaluator, Agent | None, Values], Steps]] = {
    "task.wait": _task_wait,
    "task.wait_for": _task_wait_for,
    "time.sleep": _time_sleep,
    "http.get": _http_get,
    "http.post": _http_post,
}
