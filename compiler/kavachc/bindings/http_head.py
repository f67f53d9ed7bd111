"""The head of an answer, looked at as it comes, before h11 sees it (docs/providers.md).

h11 waits for a whole head before it judges any of it, sets no exact bound, and takes other versions of HTTP. The native
engine's answer.zig judges line by line; so does this, and what it lets through h11 reads in the same way.
"""

from __future__ import annotations

import re

HEAD_BYTES_MAX = 64 << 10
START = b"HTTP/1."
STATUS = re.compile(rb"HTTP/1\.[0-9] ([0-9]{3})(?: [^\x00\r\n\x0b\x0c]*)?")
FIELD = re.compile(rb"([-!#$%&'*+.^_`|~0-9a-zA-Z]+):([^\x00\r\n\x0b\x0c]*)")
FOLDED = re.compile(rb"[ \t][^\x00\r\n\x0b\x0c]*")


class NotHttp(Exception):
    """This is no answer of HTTP/1."""


class HeadWatch:
    """Of one answer: `feed` it what comes. `status` is that of the final head, 0 before it has come whole; `fields` are
    its names and values, as they were sent but for folds, and `rest` is what came behind it."""

    def __init__(self) -> None:
        self.status = 0
        self.rest = b""
        self.fields: list[tuple[bytes, bytes]] = []
        # The head that is coming, and how far it has been looked at.
        self._text = b""
        self._looked_at = 0
        self._begun = 0

    def feed(self, content: bytes) -> None:
        """Raises `NotHttp`."""
        if self.status:
            return
        self._text += content
        while self._has_ended():
            self._text, rest = b"", self._text[self._looked_at :]
            self._looked_at, fields, self.fields = 0, self.fields, []
            if self._begun >= 200:
                self.fields = [(name, value.strip(b" \t")) for name, value in fields]
                self.status, self.rest = self._begun, rest
                return
            # One that only says that an answer will come is passed over.
            self._text = rest

    def _has_ended(self) -> bool:
        """Looks at the lines of the head that have come, up to the empty one."""
        if self._looked_at == 0 and not self._text.startswith(START[: len(self._text)]):
            raise NotHttp
        while (end := self._text.find(b"\n", self._looked_at, HEAD_BYTES_MAX)) >= 0:
            line = self._text[self._looked_at : end].removesuffix(b"\r")
            is_first, self._looked_at = self._looked_at == 0, end + 1
            if is_first:
                self._begun = _status(line)
            elif line:
                self._look_at_field(line)
            else:
                return True
        if len(self._text) >= HEAD_BYTES_MAX:
            raise NotHttp
        return False

    def _look_at_field(self, line: bytes) -> None:
        if self.fields and FOLDED.fullmatch(line):
            name, value = self.fields[-1]
            self.fields[-1] = name, value + b" " + line.lstrip(b" \t")
        elif found := FIELD.fullmatch(line):
            self.fields.append((found[1], found[2]))
        else:
            raise NotHttp


def _status(line: bytes) -> int:
    """101 would make it another protocol."""
    found = STATUS.fullmatch(line)
    if found is None or (status := int(found[1])) < 100 or status == 101:
        raise NotHttp
    return status
