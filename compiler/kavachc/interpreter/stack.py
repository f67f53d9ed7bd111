"""A Python stack large enough for any program's nesting.

Calls of Kavach functions do not nest on it (`calls.py`), but the parts of an expression do: a chain of 10,000 `+` is
a tree 10,000 deep. The thread's stack is reserved, and costs memory only where it is touched.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

# The largest that the system grants.
STACK_BYTES = (512 << 20, 64 << 20, 8 << 20)
# Each level of Python calls takes about 400 bytes of the stack where it is a generator, otherwise none (measured).
STACK_BYTES_PER_LEVEL = 1_700
# A deep recursion of the program keeps a million generators alive, which Python's collector of cycles would visit over
# and over. The interpreter makes few cycles, so it may look for them less often.
OBJECTS_BETWEEN_COLLECTIONS = 200_000

Result = TypeVar("Result")


def with_large_stack(function: Callable[[], Result]) -> Result:
    """Runs `function` on a thread of its own and gives its result, or raises what it raised."""
    results: list[Result] = []
    problems: list[BaseException] = []

    def target() -> None:
        try:
            results.append(function())
        except BaseException as problem:
            problems.append(problem)

    size_before = threading.stack_size()
    limit_before = sys.getrecursionlimit()
    thresholds_before = gc.get_threshold()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *thresholds_before[1:])
    try:
        _start(target).join()
    finally:
        threading.stack_size(size_before)
        sys.setrecursionlimit(limit_before)
        gc.set_threshold(*thresholds_before)
    if problems:
        raise problems[0]
    return results[0]


def _start(target: Callable[[], None]) -> threading.Thread:
    """A thread that runs `target`: a daemon, so that Ctrl-C, which only the main thread sees, ends the process."""
    for size in STACK_BYTES:
        threading.stack_size(size)
        sys.setrecursionlimit(size // STACK_BYTES_PER_LEVEL)
        thread = threading.Thread(target=target, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            continue
        return thread
    raise MemoryError("the system grants no stack for the interpreter")
