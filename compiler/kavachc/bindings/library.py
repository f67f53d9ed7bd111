"""Loads the runtime's shared library: when it is first needed, and once."""

from __future__ import annotations

from ctypes import CDLL, c_void_p, cast
from functools import cache
from pathlib import Path

from kavachc.bindings.abi import FUNCTIONS


@cache
def load_library(path: Path) -> CDLL:
    """The library at `path`, each function with its prototype. Who builds it, and where, is the caller's matter."""
    library = CDLL(str(path))
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


def address_of(library: CDLL, name: str) -> int:
    """Where a function or variable of the library is, for tables and for native code that calls it."""
    address = cast(getattr(library, name), c_void_p).value
    assert address is not None, name
    return address
