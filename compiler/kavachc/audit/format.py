"""The lines of an audit log (docs/audit-log.md)."""

from __future__ import annotations

import hashlib
import json
import re

FIRST = "0" * 64
LINE = re.compile(rb'\{"previous":"([0-9a-f]{64})","time":-?[0-9]+,"event":"[a-z]+".*\}')

Field = str | int | bool | None


def encode(previous: str, time_ns: int, event: str, fields: dict[str, Field]) -> bytes:
    """One line, without its line break."""
    content = {"previous": previous, "time": time_ns, "event": event, **fields}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
