"""The runtime's core through its shared library: text, equality, freeing, arrays, tasks, the run's status.

Tasks are Python generators here: one yields where a coroutine would suspend, after it has told the runtime why.
"""

from __future__ import annotations

import math
import re
import struct
import time
from collections.abc import Callable, Generator
from ctypes import POINTER, addressof, byref, c_int64, c_void_p, cast, pointer, string_at
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from kavachc.backend.runtime_build import RuntimeBuildError, runtime_library, runtime_object
from kavachc.bindings import abi
from kavachc.bindings.host import Host, HostTable
from kavachc.bindings.kept import Kept
from kavachc.bindings.library import load_library
from kavachc.ir.runtime_calls import LIBRARY_CALLS

LIBRARY = load_library(runtime_library())
KEPT = Kept()
INT = abi.Type(kind=abi.Kind.INT, size=8, alignment=8)
STRING = abi.Type(kind=abi.Kind.STRING, counted=1, size=8, alignment=8)


def new_string(text: str) -> Any:
    encoded = text.encode()
    return LIBRARY.kv_string_new(encoded, len(encoded))


def taken(string: Any) -> str:
    """A string's text; the string is freed."""
    text = string_at(addressof(string.contents) + 16, string.contents.length).decode()
    if string.contents.count != 0:
        assert string.contents.count == 1
        LIBRARY.kv_free(string)
    return text


def shown(entry: str, *arguments: Any) -> str:
    text = abi.Text()
    LIBRARY.kv_text_begin(byref(text))
    getattr(LIBRARY, entry)(byref(text), *arguments)
    return taken(LIBRARY.kv_text_finish(byref(text)))


# ---- The library and the header


def exported_names(path: str) -> set[str]:
    """The symbols that an ELF shared library defines for others."""
    with open(path, "rb") as file:
        content = file.read()
    table_at, entry_size, count = (
        struct.unpack_from("<Q", content, 0x28)[0],
        *struct.unpack_from("<HH", content, 0x3A),
    )
    sections = [struct.unpack_from("<IIQQQQIIQQ", content, table_at + i * entry_size) for i in range(count)]
    names: set[str] = set()
    for _, kind, _, _, offset, size, link, _, _, _ in sections:
        if kind != 11:  # SHT_DYNSYM
            continue
        strings_at = sections[link][4]
        for at in range(offset, offset + size, 24):
            name_at, _, _, section = struct.unpack_from("<IBBH", content, at)
            end = content.index(b"\0", strings_at + name_at)
            if section != 0:
                names.add(content[strings_at + name_at : end].decode())
    return names


def test_the_header_declares_what_the_library_exports() -> None:
    header = re.sub(r"/\*.*?\*/", " ", (ROOT / "runtime/include/kavach.h").read_text(), flags=re.DOTALL)
    declared = set(re.findall(r"^[\w][\w \*]*?(kv_\w+)\([^)]*\);", header, flags=re.MULTILINE))
    declared |= set(re.findall(r"^extern .*?(kv_\w+);", header, flags=re.MULTILINE))
    exported = {name for name in exported_names(str(runtime_library())) if name.startswith("kv_")}
    assert exported == declared | set(LIBRARY_CALLS)  # Those of the library have a table of their own.


def test_an_unknown_target_is_named() -> None:
    with pytest.raises(RuntimeBuildError, match="no runtime for the target sparc"):
        runtime_object("sparc")


def test_a_cache_that_cannot_be_written_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAVACHC_CACHE", "/dev/null/cache")
    with pytest.raises(RuntimeBuildError, match=r"cannot build the Kavach runtime in /dev/null/cache.*Not a dir"):
        runtime_library()


# ---- Text


@given(st.integers(-(2**63), 2**63 - 1))
def test_ints_show_in_decimal(number: int) -> None:
    assert shown("kv_text_int", number) == str(number)


def expected_float(number: float) -> str:
    if not math.isfinite(number):
        return {"nan": "nan", "inf": "inf", "-inf": "-inf"}[repr(number)]
    mantissa, _, exponent = repr(number).partition("e")
    if number == 0 or 1e-6 <= abs(number) < 1e16:
        if not exponent:
            return mantissa
        digits = mantissa.lstrip("-").replace(".", "")  # Python turns to `e` below 1e-4 already.
        return ("-" if number < 0 else "") + "0." + "0" * (-int(exponent) - 1) + digits
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}"


@given(st.floats())
def test_floats_show_the_shortest_text(number: float) -> None:
    text = shown("kv_text_float", number)
    assert text == expected_float(number)
    assert math.isnan(number) or float(text) == number


@given(st.text(), st.text())
def test_strings_join_and_compare_by_code_point(left: str, right: str) -> None:
    first, second = new_string(left), new_string(right)
    assert LIBRARY.kv_string_equal(first, second) == (left == right)
    assert LIBRARY.kv_string_compare(first, second) == (left > right) - (left < right)
    assert taken(LIBRARY.kv_string_concat(first, second)) == left + right
    assert shown("kv_text_string", first) == left
    assert (taken(first), taken(second)) == (left, right)


def test_a_string_is_bare_at_the_top_and_escaped_inside() -> None:
    slot = pointer(new_string('a"{\n\x1b\x7f'))
    assert shown("kv_text_value", byref(STRING), slot) == 'a"{\n\x1b\x7f'
    fields = [abi.Field(KEPT.text("name"), pointer(STRING), 0, KEPT.text(None))]
    record = abi.Type(kind=abi.Kind.RECORD, counted=1, size=8, alignment=8, name=KEPT.text("R"), field_count=1)
    record.fields = KEPT.table(abi.Field, fields)
    assert shown("kv_text_value", byref(record), slot) == 'R(name: "a\\"\\{\\n\\u{1b}\\u{7f}")'
    LIBRARY.kv_release_value(byref(record), slot)


# ---- Arrays


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=200))
def test_an_array_grows_and_is_copied_on_write(numbers: list[int]) -> None:
    live_before = LIBRARY.kv_live_blocks()
    array_type = abi.Type(kind=abi.Kind.ARRAY, counted=1, size=8, alignment=8, element=pointer(INT))
    slot = LIBRARY.kv_array_new(byref(INT), 0)
    for number in numbers:
        LIBRARY.kv_array_grow(byref(slot), byref(INT))
        array = slot.contents
        assert array.count == 1 and array.length < array.capacity
        c_int64.from_address(addressof(array) + 24 + 8 * array.length).value = number
        array.length += 1
    slot.contents.count += 1
    copy = cast(slot, POINTER(abi.Array))
    LIBRARY.kv_array_unique(byref(copy), byref(INT))
    assert addressof(copy.contents) != addressof(slot.contents)
    assert LIBRARY.kv_equal(byref(array_type), byref(slot), byref(copy))
    assert shown("kv_text_value", byref(array_type), byref(copy)) == str(numbers)
    for array in (slot, copy):
        LIBRARY.kv_release_value(byref(array_type), byref(array))
    assert LIBRARY.kv_live_blocks() == live_before


# ---- Tasks

Coroutine = Generator[None, None, int]
"""Returns its status after `finish`, or is finished with KV_OK when it just ends."""


class World(Host):
    """Records what is written; in real time the clock is one that only `sleep` moves."""

    def __init__(self) -> None:
        self.out = b""
        self.error = b""
        self.files: dict[bytes, bytes] = {}
        self.now_ns = 0
        self.sleeps: list[int] = []

    def write(self, descriptor: int, content: bytes) -> bool:
        if descriptor == 1:
            self.out += content
        else:
            self.error += content
        return True

    def monotonic_ns(self) -> int:
        return self.now_ns

    def sleep(self, duration_ns: int) -> None:
        self.sleeps.append(duration_ns)
        self.now_ns += duration_ns

    def write_file(self, path: bytes, content: bytes) -> bool:
        self.files[path] = content
        return True


class Tasks:
    """Runs a generator as `main`. In a generator, `yield from` a method of this waits as the language would."""

    def __init__(self, *, virtual_time: bool = True) -> None:
        self.log: list[str] = []
        self.world = World()
        self._virtual_time = virtual_time
        self._coroutines: dict[int, tuple[Coroutine, Any, int | None]] = {}
        self._number_next = 1
        self._running = 0

    def run(self, main: Callable[[Tasks], Coroutine]) -> int:
        program = abi.Program(
            main=abi.MainFunction(lambda out, parent: self._create(main(self), out, parent)),
            resume=abi.ResumeFunction(self._resume),
        )
        host = HostTable(self.world, LIBRARY)
        options = KEPT.options(virtual_time=self._virtual_time, report="report")
        return int(LIBRARY.kv_run(byref(program), byref(host.table), byref(options)))

    def live_blocks(self) -> int:
        return int(self.world.files[b"report"].split()[1])

    def _create(self, body: Coroutine, out: Any, parent: int | None) -> int:
        number = self._number_next
        self._number_next += 1
        self._coroutines[number] = (body, out, parent)
        return number

    def _resume(self, number: int) -> None:
        body, out, parent = self._coroutines[number]
        status = abi.Status.CANCELLED
        self._running = number
        if not LIBRARY.kv_cancelled():
            try:
                next(body)
                return
            except StopIteration as ended:
                status = ended.value or abi.Status.OK
                if status == abi.Status.FAILED:
                    payload = c_int64(7)
                    out.contents.error = LIBRARY.kv_error_new(byref(INT), byref(payload))
        del self._coroutines[number]
        out.contents.status = status
        LIBRARY.kv_return(parent)

    def spawn(self, body: Coroutine) -> int:
        task = LIBRARY.kv_task_new(byref(INT))
        LIBRARY.kv_task_start(task, self._create(body, LIBRARY.kv_task_outcome(task), None))
        return int(task)

    def drop(self, *tasks: int) -> None:
        task_type = abi.Type(kind=abi.Kind.TASK, counted=1, size=8, alignment=8, element=pointer(INT))
        for task in tasks:
            LIBRARY.kv_release_value(byref(task_type), byref(c_void_p(task)))

    def sleep(self, duration_ns: int) -> Generator[None, None, None]:
        assert not LIBRARY.kv_sleep(duration_ns, self._running)
        yield

    def wait(self, task: int) -> Generator[None, None, int]:
        if not LIBRARY.kv_task_wait(task, self._running):
            yield
        return int(LIBRARY.kv_task_outcome(task).contents.status)

    def call(self, body: Coroutine, out: abi.Outcome) -> Generator[None, None, None]:
        LIBRARY.kv_call(self._create(body, pointer(out), self._running))
        yield


def step(tasks: Tasks, name: str, *sleeps: int, status: int = abi.Status.OK) -> Coroutine:
    for duration in sleeps:
        tasks.log.append(f"{name} sleeps {duration}")
        yield from tasks.sleep(duration)
    tasks.log.append(f"{name} ends")
    return status
    yield


def test_ready_tasks_run_first_in_first_out_and_timers_by_time_and_creation() -> None:
    def main(tasks: Tasks) -> Coroutine:
        made = [tasks.spawn(step(tasks, name, *sleeps)) for name, sleeps in work.items()]
        tasks.log.append("main")
        for task in made:
            assert (yield from tasks.wait(task)) == abi.Status.OK
        tasks.drop(*made)
        return abi.Status.OK

    work = {"a": (20,), "b": (10, 10), "c": (), "d": (-5,), "e": (20,)}
    tasks = Tasks()
    assert tasks.run(main) == 0
    assert tasks.log == [
        "main", "a sleeps 20", "b sleeps 10", "c ends", "d sleeps -5", "e sleeps 20",
        "d ends", "b sleeps 10", "a ends", "e ends", "b ends",
    ]  # fmt: skip
    assert tasks.live_blocks() == 0


def test_a_busy_program_does_not_starve_a_timer() -> None:
    def busy(tasks: Tasks) -> Coroutine:
        for _ in range(10):
            tasks.world.now_ns += 10
            yield from tasks.sleep(0)
        tasks.log.append("busy ends")
        return abi.Status.OK

    def main(tasks: Tasks) -> Coroutine:
        tasks.drop(tasks.spawn(busy(tasks)), tasks.spawn(step(tasks, "sleeper", 50)))
        return abi.Status.OK
        yield

    tasks = Tasks(virtual_time=False)
    assert tasks.run(main) == 0
    assert tasks.log == ["sleeper sleeps 50", "sleeper ends", "busy ends"]
    assert tasks.world.sleeps == []


def test_waiters_go_on_in_the_order_in_which_they_began_to_wait() -> None:
    def waiter(tasks: Tasks, name: str, task: int, delay: int) -> Coroutine:
        yield from tasks.sleep(delay)
        status = yield from tasks.wait(task)
        tasks.log.append(f"{name} got {status}")
        return abi.Status.OK

    def main(tasks: Tasks) -> Coroutine:
        target = tasks.spawn(step(tasks, "target", 100))
        for name, delay in (("x", 3), ("y", 1), ("z", 2)):
            tasks.drop(tasks.spawn(waiter(tasks, name, target, delay)))
        yield from tasks.wait(target)
        tasks.log.append("main got it")
        yield from tasks.sleep(0)
        tasks.drop(target)
        return abi.Status.OK

    tasks = Tasks()
    assert tasks.run(main) == 0
    assert tasks.log[-4:] == ["main got it", "y got 0", "z got 0", "x got 0"]
    assert tasks.live_blocks() == 0


def test_a_cancelled_waiter_leaves_the_others() -> None:
    def waiter(tasks: Tasks, name: str, task: int) -> Coroutine:
        status = yield from tasks.wait(task)
        tasks.log.append(f"{name} got {status}")
        return abi.Status.OK

    for victim in range(3):
        tasks = Tasks()

        def main(tasks: Tasks, victim: int = victim) -> Coroutine:
            target = tasks.spawn(step(tasks, "target", 100))
            waiters = [tasks.spawn(waiter(tasks, name, target)) for name in "xyz"]
            yield from tasks.sleep(10)
            LIBRARY.kv_task_cancel(waiters[victim])
            LIBRARY.kv_task_cancel(waiters[victim])
            assert (yield from tasks.wait(waiters[victim])) == abi.Status.CANCELLED
            yield from tasks.wait(target)
            yield from tasks.sleep(0)
            tasks.drop(target, *waiters)
            return abi.Status.OK

        assert tasks.run(main) == 0
        left = [name for index, name in enumerate("xyz") if index != victim]
        assert tasks.log == ["target sleeps 100", "target ends", *(f"{name} got 0" for name in left)]
        assert tasks.live_blocks() == 0


def test_cancelling_reaches_the_innermost_call_and_its_callers() -> None:
    def outer(tasks: Tasks) -> Coroutine:
        out = abi.Outcome()
        yield from tasks.call(step(tasks, "inner", 50), out)
        tasks.log.append("never")
        return abi.Status.OK

    def main(tasks: Tasks) -> Coroutine:
        task = tasks.spawn(outer(tasks))
        yield from tasks.sleep(10)
        LIBRARY.kv_task_cancel(task)
        assert (yield from tasks.wait(task)) == abi.Status.CANCELLED
        LIBRARY.kv_task_cancel(task)
        tasks.drop(task)
        return abi.Status.OK

    tasks = Tasks()
    assert tasks.run(main) == 0
    assert tasks.log == ["inner sleeps 50"]
    assert tasks.live_blocks() == 0


def test_failures_that_nobody_waited_for_are_reported_in_the_order_of_their_ends() -> None:
    def main(tasks: Tasks) -> Coroutine:
        late = tasks.spawn(step(tasks, "late", 30, status=abi.Status.FAILED))
        seen = tasks.spawn(step(tasks, "seen", 10, status=abi.Status.FAILED))
        tasks.drop(late, tasks.spawn(step(tasks, "early", status=abi.Status.FAILED)))
        yield from tasks.sleep(20)
        assert (yield from tasks.wait(seen)) == abi.Status.FAILED
        assert (yield from tasks.wait(seen)) == abi.Status.FAILED
        tasks.drop(seen)
        return abi.Status.FAILED

    tasks = Tasks()
    assert tasks.run(main) == 1
    line = b"error: a task that nobody waited for failed: 7\n"
    assert sorted(tasks.world.error.splitlines(True)) == sorted([line, line, b"error: 7\n"])
    assert tasks.live_blocks() == 0


def test_virtual_time_starts_at_2026_and_costs_none() -> None:
    def main(tasks: Tasks) -> Coroutine:
        started = LIBRARY.kv_now()
        assert shown("kv_text_instant", started) == "2026-01-01T00:00:00Z"
        yield from tasks.sleep(3600 * 10**9)
        assert LIBRARY.kv_now() == started + 3600 * 10**9
        return abi.Status.OK

    began = time.monotonic()
    for _ in range(2):  # A run leaves nothing behind for the next.
        assert Tasks().run(main) == 0
    assert time.monotonic() - began < 5


def test_virtual_time_is_refused_with_a_real_model() -> None:
    program = abi.Program(
        main=abi.MainFunction(lambda out, parent: 0),
        resume=abi.ResumeFunction(lambda coroutine: None),
        model_part=abi.PartFunction(lambda moment: None),
    )
    world = World()
    options = KEPT.options(virtual_time=True)
    assert LIBRARY.kv_run(byref(program), byref(HostTable(world, LIBRARY).table), byref(options)) == 2
    assert world.error.startswith(b"error: virtual time needs a test model or a dry run")


def test_output_is_flushed_before_the_program_sleeps() -> None:
    def main(tasks: Tasks) -> Coroutine:
        line = new_string("before")
        LIBRARY.kv_print(line)
        taken(line)
        assert tasks.world.out == b""
        yield from tasks.sleep(10)
        assert tasks.world.out == b"before\n"
        return abi.Status.OK

    tasks = Tasks(virtual_time=False)
    assert tasks.run(main) == 0
    assert tasks.world.sleeps == [10]


def test_output_comes_before_what_goes_to_stderr() -> None:
    pieces: list[bytes] = []

    def main(tasks: Tasks) -> Coroutine:
        for text in ("x" * 20_000, "last"):
            line = new_string(text)
            LIBRARY.kv_print(line)
            taken(line)
        return abi.Status.FAILED
        yield

    tasks = Tasks()

    def write(descriptor: int, content: bytes) -> bool:
        pieces.append(content)
        return True

    tasks.world.write = write  # type: ignore[method-assign]
    assert tasks.run(main) == 1
    assert b"".join(pieces) == b"x" * 20_000 + b"\nlast\nerror: 7\n"
