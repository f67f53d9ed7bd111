"""What a program knows of the world outside, but for time and models: its arguments, its environment, random numbers
and files (spec 10.env, 10.random, 10.files). Both hosts of the interpreter have this one."""

from __future__ import annotations

import os

from kavachc.bindings.abi import FileOperation, FileStatus
from kavachc.bindings.files import file_operation
from kavachc.interpreter.model_retry import SplitMix64, host_random
from kavachc.interpreter.signals import Fails, Panics
from kavachc.interpreter.values import ABSENT, ArrayValue, Present, Value, variant
from kavachc.semantics import panics
from kavachc.semantics.types import SumType

_VARIANTS = {
    FileStatus.FILE_NOT_FOUND: "NotFound",
    FileStatus.FILE_NOT_ALLOWED: "NotAllowed",
    FileStatus.FILE_NOT_TEXT: "NotText",
}


def repaired(content: bytes) -> str:
    """Text from outside: every byte that is no part of valid UTF-8 becomes U+FFFD."""
    text = content.decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if "\udc80" <= character <= "\udcff" else character for character in text)


class World:
    def __init__(self, arguments: tuple[str, ...]) -> None:
        self._arguments = arguments
        self._random: SplitMix64 | None = None

    def variable(self, name: str) -> Value:
        if not name or "=" in name or "\0" in name:
            return ABSENT
        found = os.environb.get(name.encode())
        return ABSENT if found is None else Present(repaired(found))

    def arguments(self) -> ArrayValue:
        return ArrayValue([repaired(os.fsencode(argument)) for argument in self._arguments])

    # Random numbers: SplitMix64.

    def seed(self, seed: int) -> None:
        self._random = SplitMix64(seed % 2**64)

    def _next(self) -> int:
        if self._random is None:
            self._random = SplitMix64(host_random())
        return self._random()

    def random_int(self, low: int, high: int) -> int:
        if low > high:
            raise Panics(panics.EMPTY_RANGE.format(low=low, high=high))
        span = high - low + 1
        # The last, incomplete run of `span` numbers would make some results likelier than others.
        usable = 2**64 - 2**64 % span
        number = self._next()
        while number >= usable:
            number = self._next()
        if span == 2**64:
            return number - 2**64 if number >= 2**63 else number
        return low + number % span

    def random_float(self) -> float:
        return (self._next() >> 11) * 2.0**-53

    # Files.

    def file(self, operation: FileOperation, file_error: SumType, path: str, text: str = "") -> str:
        status, content = file_operation(operation, path.encode(), text.encode())
        if status == FileStatus.FILE_OK:
            try:
                return content.decode()
            except UnicodeDecodeError:
                status = FileStatus.FILE_NOT_TEXT
        if status in _VARIANTS:
            raise Fails(variant(file_error, _VARIANTS[status], path))
        raise Fails(variant(file_error, "Other", path, content.decode()))

    def exists(self, path: str) -> bool:
        return file_operation(FileOperation.EXISTS, path.encode(), b"")[0] == FileStatus.FILE_OK
