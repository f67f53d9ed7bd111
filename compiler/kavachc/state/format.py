"""The bytes of a state file (docs/state-file.md), as `runtime/src/state_format.zig` has them too."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import Literal, NamedTuple
from zlib import crc32

MAGIC = b"KAVACHST"
VERSION = 1
MARK_OFFSETS = (512, 1024)
FRAMES_START = 1536
SECTOR_BYTES = 512

_HEAD = struct.Struct("<8sII16sQ24x")
_MARK = struct.Struct("<QQII")
_FRAME_HEAD = struct.Struct("<IIQqqIIII")
_FRAME_HEAD_SUMMED = 40
_NAME_HEAD = struct.Struct("<IIIIqBB6x")
_ITEM = struct.Struct("<IIqQQ")
_FLOAT = struct.Struct("<d")
_WORD = struct.Struct("<Q")
INT_MIN, INT_MAX = -(2**63), 2**63 - 1


class DamagedError(Exception):
    """What is there cannot have been written so."""


@dataclass(frozen=True, slots=True)
class Head:
    version: int
    identity: bytes
    generation: int
    is_sound: bool


def read_head(data: bytes) -> Head:
    _magic, version, checksum, identity, generation = _HEAD.unpack_from(data)
    summed = data[:12] + b"\0\0\0\0" + data[16 : _HEAD.size]
    return Head(version, identity, generation, checksum == crc32(summed))


@dataclass(frozen=True, slots=True)
class Mark:
    """So much of the file is known to be durable; of the two in a file, the one with the greater sequence counts."""

    sequence: int
    end: int

    @property
    def offset(self) -> int:
        return MARK_OFFSETS[self.sequence & 1]

    def data(self, generation: int) -> bytes:
        return _MARK.pack(self.sequence, self.end, self._checksum(generation), 0)

    def _checksum(self, generation: int) -> int:
        return crc32(_WORD.pack(generation) + _WORD.pack(self.sequence) + _WORD.pack(self.end))


def read_mark(data: bytes, offset: int, generation: int) -> Mark | None:
    """The mark at that place, None when it is not whole."""
    sequence, end, _checksum, _reserved = _MARK.unpack_from(data, offset)
    mark = Mark(sequence, end)
    is_whole = data[offset : offset + _MARK.size] == mark.data(generation)
    return mark if is_whole and mark.offset == offset and end >= FRAMES_START else None


def start_of_file(identity: bytes, generation: int, end: int) -> bytes:
    head = _HEAD.pack(MAGIC, VERSION, 0, identity, generation)
    head = _HEAD.pack(MAGIC, VERSION, crc32(head), identity, generation)
    start = bytearray(FRAMES_START)
    start[: len(head)] = head
    for sequence in range(2):
        mark = Mark(sequence, end)
        data = mark.data(generation)
        start[mark.offset : mark.offset + len(data)] = data
    return bytes(start)


class Name(NamedTuple):
    """Names one window: `key` is a value of a rule's key, None for a rule without one."""

    agent: str
    target: str
    rule: str
    length_ns: int
    is_float: bool
    key: str | None = None

    def data(self) -> bytes:
        parts = [part.encode(errors="surrogateescape") for part in (self.agent, self.target, self.rule, self.key or "")]
        head = _NAME_HEAD.pack(*map(len, parts), self.length_ns, self.is_float, self.key is not None)
        data = head + b"".join(parts)
        return data + bytes(-len(data) % 8)


def read_names(data: bytes) -> Iterator[Name]:
    at = 0
    while at < len(data):
        if len(data) - at < _NAME_HEAD.size:
            raise DamagedError
        *lengths, length_ns, is_float, has_key = _NAME_HEAD.unpack_from(data, at)
        end = at + _NAME_HEAD.size + sum(lengths)
        if end + -end % 8 > len(data) or is_float > 1 or has_key > 1 or length_ns <= 0:
            raise DamagedError
        rule_at = at + _NAME_HEAD.size
        key_at = end - lengths[3]
        agent, target, rule = _rule_texts(data[rule_at:key_at], lengths[0], lengths[0] + lengths[1])
        yield Name(agent, target, rule, length_ns, bool(is_float), _decoded(data[key_at:end]) if has_key else None)
        at = end + -end % 8


# A rule with keys has a name for each of them.
@lru_cache(1024)
def _rule_texts(texts: bytes, agent_end: int, target_end: int) -> tuple[str, str, str]:
    return _decoded(texts[:agent_end]), _decoded(texts[agent_end:target_end]), _decoded(texts[target_end:])


def _decoded(text: bytes) -> str:
    return text.decode(errors="surrogateescape")


class ItemKind(IntEnum):
    ENTRY = 1
    RESERVE = 2
    SETTLE = 3


class Item(NamedTuple):
    """`amount` is an Int, or the bits of a Float; `reference` connects a reservation and what settles it."""

    window: int
    kind: int
    utc_ns: int
    amount: int
    reference: int = 0


def amount_bits(amount: int | float) -> int:
    if isinstance(amount, float):
        return int(_WORD.unpack(_FLOAT.pack(amount))[0])
    return amount & (2**64 - 1)


def amount_from(bits: int, is_float: bool) -> int | float:
    if is_float:
        return float(_FLOAT.unpack(_WORD.pack(bits))[0])
    return bits - 2**64 if bits >= 2**63 else bits


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment on two clocks: that of a run of the machine, which `boot` names, and UTC."""

    boot: int
    boot_ns: int
    utc_ns: int

    @property
    def offset(self) -> int:
        return clamp(self.utc_ns - self.boot_ns)


def clamp(value: int) -> int:
    """Within 64 bits."""
    return max(INT_MIN, min(INT_MAX, value))


@dataclass(slots=True)
class Frame:
    """What is written at once. `length` is known of one that was read."""

    moment: Moment
    names: list[Name] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    length: int = 0

    def data(self, generation: int, at: int) -> bytes:
        names = b"".join(name.data() for name in self.names)
        items = b"".join(
            _ITEM.pack(item.window, item.kind, item.utc_ns, item.amount, item.reference) for item in self.items
        )
        body = names + items
        moment = self.moment
        fields = (_FRAME_HEAD.size + len(body), len(names), moment.boot, moment.boot_ns, moment.utc_ns, len(self.items))
        head = _FRAME_HEAD.pack(*fields, crc32(body), 0, 0)
        return _FRAME_HEAD.pack(*fields, crc32(body), _head_checksum(head, generation, at), 0) + body


def _head_checksum(head: bytes, generation: int, at: int) -> int:
    return crc32(_WORD.pack(generation) + _WORD.pack(at) + head[:_FRAME_HEAD_SUMMED])


def read_frame(
    data: bytes | memoryview, start: int, generation: int, at: int, *, heads_only: bool = False
) -> Frame | Literal["end", "torn", "damaged"]:
    """What stands at `start` of `data`, which reaches to the file's end; in the file, it stands at `at`."""
    remaining = len(data) - start
    if remaining <= 0:
        return "end"
    if remaining < _FRAME_HEAD.size:
        return "torn"
    head = bytes(data[start : start + _FRAME_HEAD.size])
    length, names_length, boot, boot_ns, utc_ns, item_count, body_sum, head_sum, reserved = _FRAME_HEAD.unpack(head)
    fits = names_length % 8 == 0 and length == _FRAME_HEAD.size + names_length + item_count * _ITEM.size
    if head_sum != _head_checksum(head, generation, at) or reserved != 0 or not fits:
        return "torn" if _has_empty_sector(data, start, at) else "damaged"
    if length > remaining:
        return "torn"
    moment = Moment(boot, boot_ns, utc_ns)
    if heads_only:
        return Frame(moment, length=length)
    body = bytes(data[start + _FRAME_HEAD.size : start + length])
    if crc32(body) != body_sum:
        return "torn" if _has_empty_sector(data, start, at) else "damaged"
    items = list(map(Item._make, _ITEM.iter_unpack(body[names_length:])))
    return Frame(moment, list(read_names(body[:names_length])), items, length)


def _has_empty_sector(data: bytes | memoryview, start: int, at: int) -> bool:
    """Whether some sector holds nothing but zeros: that is how one looks that was never written."""
    end = len(data)
    while start < end:
        stop = min(end, start + SECTOR_BYTES - at % SECTOR_BYTES)
        if not any(data[start:stop]):
            return True
        at += stop - start
        start = stop
    return False
