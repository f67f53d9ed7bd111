"""Certificates that an authority of a test signs, and those whom it signed."""

from __future__ import annotations

import base64
import itertools
from dataclasses import dataclass

from hostile_tls import point, sign

_numbers = itertools.count(1000)
_SIGNED_WITH = bytes.fromhex("300a06082a8648ce3d040302")
_KIND_OF_KEY = bytes.fromhex("301306072a8648ce3d020106082a8648ce3d030107")
_VALIDITY = b"\x30\x1e\x17\x0d240101000000Z\x17\x0d491231235959Z"
AUTHORITY = "551d13"
USAGE = "551d0f"
NAMES = "551d11"
PURPOSES = "551d25"
LIMITS_OF_NAMES = "551d1e"


def element(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    return bytes([tag, 0x82]) + length.to_bytes(2, "big") + content


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose certificate it is, and the key."""

    name: str
    key: int
    certificate: bytes

    @property
    def pem(self) -> str:
        return (
            f"-----BEGIN CERTIFICATE-----\n{base64.b64encode(self.certificate).decode()}\n-----END CERTIFICATE-----\n"
        )


def issue(name: str, by: Owner | None, *extensions: tuple[str, bytes]) -> Owner:
    """Signed by the other, or by itself. An extension is its number, after `!` where it must be understood, and what
    it says."""
    key = next(_numbers)
    x, y = point(key)
    public = element(0x30, _KIND_OF_KEY, element(3, b"\x00\x04" + x.to_bytes(32, "big") + y.to_bytes(32, "big")))
    listed = [
        element(
            0x30,
            element(6, bytes.fromhex(number.lstrip("!"))),
            b"\x01\x01\xff" * number.startswith("!"),
            element(4, value),
        )
        for number, value in extensions
    ]
    to_sign = element(
        0x30,
        b"\xa0\x03\x02\x01\x02",
        element(2, key.to_bytes(2, "big")),
        _SIGNED_WITH,
        _named(by.name if by else name),
        _VALIDITY,
        _named(name),
        public,
        element(0xA3, element(0x30, *listed)),
    )
    signature = sign(by.key if by else key, to_sign)
    return Owner(name, key, element(0x30, to_sign, _SIGNED_WITH, element(3, b"\x00" + signature)))


def _named(name: str) -> bytes:
    return element(0x30, element(0x31, element(0x30, element(6, b"\x55\x04\x03"), element(12, name.encode()))))


def authority(below_max: int | None = None) -> tuple[str, bytes]:
    """It may sign, and so may that many under it."""
    limit = b"" if below_max is None else element(2, bytes([below_max]))
    return AUTHORITY, element(0x30, b"\x01\x01\xff", limit)


def usage(bits: int) -> tuple[str, bytes]:
    return USAGE, element(3, b"\x00" + bytes([bits]))


def critical(extension: tuple[str, bytes]) -> tuple[str, bytes]:
    """It must be understood."""
    number, value = extension
    return f"!{number}", value


def purposes(*numbers: int) -> tuple[str, bytes]:
    """1 is to be a server, 2 to be a client."""
    return PURPOSES, element(0x30, *(element(6, bytes.fromhex(f"2b060105050703{number:02x}")) for number in numbers))


def only_names(below: str) -> tuple[str, bytes]:
    return LIMITS_OF_NAMES, element(0x30, element(0xA0, element(0x30, element(0x82, below.encode()))))


def host(name: str) -> tuple[str, bytes]:
    return NAMES, element(0x30, element(0x82, name.encode()))
