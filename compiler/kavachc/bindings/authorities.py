"""Whose certificates are trusted: those of the system, and those in the file that SSL_CERT_FILE names."""

from __future__ import annotations

import base64
import binascii
import os
import ssl
import stat
from collections.abc import Iterator

from kavachc.bindings.shortage import SHORT_ERRNOS

# Where systems keep the authorities that they trust; the first that is there counts.
SYSTEM_AUTHORITIES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
FILE_BYTES_MAX = 64 << 20
_BEGIN, _END = b"-----BEGIN CERTIFICATE-----", b"-----END CERTIFICATE-----"


class Authorities:
    """What cannot be read is left out: a certificate is then not trusted. `are_missing`: SSL_CERT_FILE is set, and
    names nothing in which there is a certificate. Raises an OSError where there is no file descriptor to read with."""

    def __init__(self) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        own = ssl.get_default_verify_paths().openssl_cafile
        for path in (*SYSTEM_AUTHORITIES, own):
            content = _content(path) if path else None
            if content is not None:
                self._trust(content)
                break
        named = os.environ.get("SSL_CERT_FILE")
        self.are_missing = bool(named) and not self._trust(_content(named or "") or b"")

    def _trust(self, content: bytes) -> bool:
        """False: there is none."""
        count = 0
        for certificate in _certificates(content):
            try:
                self.context.load_verify_locations(cadata=certificate)
                count += 1
            except (OSError, ValueError):
                continue
        return count > 0


def _content(path: str) -> bytes | None:
    """Of a file: from a pipe or a device there may never come anything."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except ValueError:
        return None
    except OSError as error:
        if error.errno in SHORT_ERRNOS:
            raise  # It may well be read later.
        return None
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > FILE_BYTES_MAX:
            return None
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return content if len(content) <= FILE_BYTES_MAX else None


def _certificates(content: bytes) -> Iterator[bytes]:
    """One that is damaged takes no other with it."""
    *blocks, _ = content.split(_END)
    for block in blocks:
        _, begin, encoded = block.rpartition(_BEGIN)
        if not begin:
            continue
        try:
            yield base64.b64decode(encoded.translate(None, b" \t\r\n"), validate=True)
        except binascii.Error:
            continue
