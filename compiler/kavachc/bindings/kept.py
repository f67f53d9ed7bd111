"""Memory that native tables point into, kept alive for as long as its owner."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import Structure, addressof, c_char, pointer
from typing import Any

from kavachc.bindings import abi


class Kept:
    """ctypes keeps a structure's own bytes alive, but not what an address in it points to. This does."""

    def __init__(self) -> None:
        self._objects: list[Any] = []

    def text(self, content: bytes | str | None) -> abi.TextView:
        """A view of the bytes; of None, the view of no text, which is not the empty one."""
        if content is None:
            return abi.TextView(None, 0)
        # A path may hold bytes that are not UTF-8: Python keeps them as surrogates.
        encoded = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
        # At least one byte, since the address of an empty text must not be NULL either.
        buffer = (c_char * max(1, len(encoded))).from_buffer_copy(encoded or b"\0")
        self._objects.append(buffer)
        return abi.TextView(addressof(buffer), len(encoded))

    def table(self, kind: type[Structure], rows: Sequence[Structure]) -> Any:
        """The rows side by side, as the pointer that a structure's field takes."""
        table = (kind * max(1, len(rows)))(*rows)
        self._objects.append(table)
        return pointer(table[0])

    def keep(self, item: Any) -> Any:
        self._objects.append(item)
        return item

    def options(
        self,
        *,
        dry_run: bool = False,
        virtual_time: bool = False,
        test_model: str | bytes | None = None,
        report: str | bytes | None = None,
        state_file: str | bytes | None = None,
        audit_log: str | bytes | None = None,
        audit_prompts: bool = False,
        arguments: Sequence[str] = (),
    ) -> abi.Options:
        paths = (self.text(test_model), self.text(report), self.text(state_file))
        return abi.Options(
            int(dry_run),
            int(virtual_time),
            *paths,
            self.table(abi.TextView, [self.text(item) for item in arguments]),
            len(arguments),
            self.text(audit_log),
            int(audit_prompts),
            0,
        )
