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

STACK_BYTES = 512 * 1024 * 1024
# Each level of Python calls takes about 400 bytes of the stack where it is a generator, otherwise none (measured).
RECURSION_MAX = 300_000
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

    size_before = threading.stack_size(STACK_BYTES)
    limit_before = sys.getrecursionlimit()
    thresholds_before = gc.get_threshold()
    sys.setrecursionlimit(RECURSION_MAX)
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *thresholds_before[1:])
    try:
        # A daemon, so that Ctrl-C, which only the main thread sees, ends the process.
        thread = threading.Thread(target=target, daemon=True)
        thread.start()
        threading.stack_size(size_before)
        thread.join()
    finally:
        sys.setrecursionlimit(limit_before)
        gc.set_threshold(*thresholds_before)
    if problems:
        raise problems[0]
    return results[0]
