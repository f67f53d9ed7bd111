"""The built-in functions and methods: one implementation per row of `semantics/builtins.py`, found by its key; most
are entries of the library (`ir/library.py`), which need nothing here.

Operands are borrowed, and still held by the caller; the result is owned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from kavachc.ir.library import LIBRARY
from kavachc.ir.module import Value
from kavachc.ir.types import STRING
from kavachc.lower.function import Failure, FunctionLowering
from kavachc.lower.json_library import decode_json
from kavachc.lower.settle import FAILED, OK, settle
from kavachc.lower.types import lower_type
from kavachc.semantics.types import Type


def _print(state: FunctionLowering, operands: list[Value], fails: Failure | None) -> Value:
    build = state.build
    if operands[0].type == STRING:
        build.perform("print", operands[0])
    else:
        text = build.text_make(operands)
        build.perform("print", text)
        build.release(text)
    return build.nothing()


def _array_len(state: FunctionLowering, operands: list[Value], fails: Failure | None) -> Value:
    return state.build.array_length(operands[0])


def _task_wait(state: FunctionLowering, operands: list[Value], fails: Failure | None) -> Value:
    """First the wait, which this task may be called out of; then what became of the task waited for."""
    assert fails is not None, "a wait can fail"
    settle(state, state.build.emit("task.wait", operands[0]), True, None)
    return _result_of_task(state, operands[0], fails)


def _task_wait_for(state: FunctionLowering, operands: list[Value], fails: Failure | None) -> Value:
    """As `_task_wait`, but the wait may be over before the task has ended."""
    assert fails is not None, "a wait can fail"
    build = state.build
    settle(state, build.emit("task.wait_for", *operands), True, None)
    ended, late = build.new_block("task.in_time"), build.new_block("task.late")
    build.branch(build.emit("task.ended", operands[0]), ended, late)
    state.start(late)
    fails(_task_error(state, "TimedOut"))
    state.start(ended)
    return _result_of_task(state, operands[0], fails)


def _result_of_task(state: FunctionLowering, task: Value, fails: Failure) -> Value:
    build = state.build
    ended, failed, cancelled = (build.new_block(f"task.{name}") for name in ("ended", "failed", "cancelled"))
    status = build.emit("task.status", task)
    build.switch(status, [(OK, ended), (FAILED, failed)], cancelled)
    state.start(failed)
    fails(build.copy(build.emit("task.error", task)))
    state.start(cancelled)
    fails(_task_error(state, "Cancelled"))
    state.start(ended)
    return build.copy(build.emit("task.value", task))


def _task_error(state: FunctionLowering, name: str) -> Value:
    task_error = state.program.source.task_error
    variant = task_error.variant_index(name)
    assert variant is not None
    return state.build.error_make(state.build.variant_make(lower_type(task_error), variant, []))


def _task_cancel(state: FunctionLowering, operands: list[Value], fails: Failure | None) -> Value:
    state.build.perform("task.cancel", operands[0])
    return state.build.nothing()


def _sleep(state: FunctionLowering, operands: list[Value], fails: Failure | None) -> Value:
    return settle(state, state.build.emit("sleep", operands[0]), True, None)


def _now(state: FunctionLowering, operands: list[Value], fails: Failure | None) -> Value:
    return state.build.emit("now")


Lowering: TypeAlias = Callable[[FunctionLowering, list[Value], Failure | None], Value]


def _of_library(key: str) -> Lowering:
    def lower(state: FunctionLowering, operands: list[Value], fails: Failure | None) -> Value:
        return state.build.emit("builtin", *operands, attributes=(key,))

    return lower


def _of_map(op: str) -> Lowering:
    """The op of that name on the operands."""

    def lower(state: FunctionLowering, operands: list[Value], fails: Failure | None) -> Value:
        return state.build.emit(op, *operands)

    return lower


def _file(key: str, *, gives_text: bool) -> Lowering:
    """The call gives a status and a text; each other status is a variant of FileError, in their order."""

    def lower(state: FunctionLowering, operands: list[Value], fails: Failure | None) -> Value:
        assert fails is not None, "a file can fail"
        build = state.build
        file_error = state.program.source.file_error
        made = build.emit("builtin", *operands, attributes=(key,))
        status = build.record_get(made, 0)
        text = build.copy(build.record_get(made, 1))
        build.release(made)
        ended = build.new_block("file.ended")
        blocks = [build.new_block(f"file.{variant.name}") for variant in file_error.variants]
        build.switch(status, [(OK, ended), *enumerate(blocks[:-1], start=1)], blocks[-1])
        for index, (variant, block) in enumerate(zip(file_error.variants, blocks, strict=True)):
            state.start(block)
            fields = [build.copy(operands[0])]
            if len(variant.fields) > 1:
                fields.append(text)
            else:
                build.release(text)
            fails(build.variant_make(lower_type(file_error), index, fields))
        state.start(ended)
        if gives_text:
            return text
        build.release(text)
        return build.nothing()

    return lower


def _http(key: str) -> Lowering:
    """The call gives what is in `ir/library.py`; each way to end but the first is a variant of HttpError, in order."""

    def lower(state: FunctionLowering, operands: list[Value], fails: Failure | None) -> Value:
        assert fails is not None, "a request can fail"
        build = state.build
        http_error = state.program.source.http_error
        made = settle(state, build.emit("builtin.wait", *operands, attributes=(key,)), True, None)
        ending, status = build.record_get(made, 0), build.record_get(made, 1)
        headers, text = (build.copy(build.record_get(made, field)) for field in (2, 3))
        build.release(made)
        answered = build.new_block("http.answered")
        blocks = [build.new_block(f"http.{variant.name}") for variant in http_error.variants]
        build.switch(ending, [(OK, answered), *enumerate(blocks[:-1], start=1)], blocks[-1])
        for index, (variant, block) in enumerate(zip(http_error.variants, blocks, strict=True)):
            state.start(block)
            build.release(headers)
            has_text = lower_type(variant.fields[0].type) == STRING
            if not has_text:
                build.release(text)
            fails(build.variant_make(lower_type(http_error), index, [text if has_text else status]))
        state.start(answered)
        return build.record_make(lower_type(state.program.source.http_answer), [status, headers, text])

    return lower


BUILTINS: dict[str, Lowering] = {
    **{entry.key: _of_library(entry.key) for entry in LIBRARY.values() if not entry.changes and not entry.waits},
    "http.get": _http("http.get"),
    "http.post": _http("http.post"),
    "files.read": _file("files.read", gives_text=True),
    "files.write": _file("files.write", gives_text=False),
    "files.append": _file("files.append", gives_text=False),
    "files.remove": _file("files.remove", gives_text=False),
    "print": _print,
    "array.len": _array_len,
    "map.len": _of_map("map.length"),
    "map.get": _of_map("map.find"),
    "map.contains": _of_map("map.contains"),
    "map.keys": _of_map("map.keys"),
    "map.values": _of_map("map.values"),
    "map.entries": _of_map("map.entries"),
    "task.wait": _task_wait,
    "task.wait_for": _task_wait_for,
    "task.cancel": _task_cancel,
    "time.sleep": _sleep,
    "time.now": _now,
}


# Rows whose result has a type that the call names.
TypedLowering: TypeAlias = Callable[[FunctionLowering, Type, list[Value], Failure | None], Value]
TYPED_BUILTINS: dict[str, TypedLowering] = {"json.decode": decode_json}

Change: TypeAlias = Callable[[FunctionLowering, Value, list[Value]], Value]


def _push(state: FunctionLowering, address: Value, arguments: list[Value]) -> Value:
    state.build.array_push(address, arguments[0])
    return state.build.nothing()


def _set(state: FunctionLowering, address: Value, arguments: list[Value]) -> Value:
    state.build.perform("map.set", address, *arguments)
    return state.build.nothing()


def _remove(state: FunctionLowering, address: Value, arguments: list[Value]) -> Value:
    build = state.build
    removed = build.emit("map.find", build.load(address), arguments[0])
    build.perform("map.remove", address, arguments[0])
    build.release(arguments[0])
    return removed


def _change(key: str) -> Change:
    def lower(state: FunctionLowering, address: Value, arguments: list[Value]) -> Value:
        made = state.build.emit("builtin.change", address, *arguments, attributes=(key,))
        for argument in arguments:
            state.build.release(argument)
        return made

    return lower


# Rows that change their receiver in place: they are given its address and owned arguments, which they use up.
MUTATING_BUILTINS: dict[str, Change] = {
    **{entry.key: _change(entry.key) for entry in LIBRARY.values() if entry.changes},
    "array.push": _push,
    "map.set": _set,
    "map.remove": _remove,
}
