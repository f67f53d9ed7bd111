"""A TLS server, 1.2 or 1.3, whose every message a test may spoil before it goes out: what no library would send.

Its cryptography is the least that both engines' TLS takes (x25519, ChaCha20-Poly1305, ECDSA on P-256), and hides
nothing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: What becomes of a part of the handshake, by its name, or of the answer.
Spoil = Callable[[str, bytes], bytes]

HANDSHAKE, ALERT, CIPHER_SPEC, APPLICATION = 22, 21, 20, 23
SERVER_HELLO, EXTENSIONS, CERTIFICATE, KEY_EXCHANGE, DONE, VERIFY, FINISHED = 2, 8, 11, 12, 14, 15, 20
#: The parts of each version's handshake, in their order; `certificate` is the certificate itself, and `after` what
#: comes before the answer, which is nothing.
PARTS = {
    "1.2": ("server_hello", "certificate", "certificates", "key_exchange", "done", "finished", "after"),
    "1.3": ("server_hello", "extensions", "certificate", "certificates", "verify", "finished", "after"),
}


@dataclass(frozen=True, slots=True)
class Identity:
    """A certificate, the number that is its key, and the certificates of those who signed it."""

    certificate: bytes
    key: int
    signers: tuple[bytes, ...] = ()

    @staticmethod
    def read(path: Path) -> Identity:
        blocks = {kind: base64.b64decode(text) for kind, text in _BLOCK.findall(path.read_text())}
        private = next(content for kind, content in blocks.items() if kind.endswith("PRIVATE KEY"))
        # In both of its forms the number stands after version 1.
        at = private.index(b"\x02\x01\x01\x04\x20") + 5
        return Identity(blocks["CERTIFICATE"], int.from_bytes(private[at : at + 32], "big"))


_BLOCK = re.compile(r"-----BEGIN ([A-Z ]+)-----([^-]*)-----END")


def serve(peer: socket.socket, version: str, identity: Identity, spoil: Spoil, answer: bytes) -> None:
    """One handshake, and one answer; then the end, with an alert, so that nobody waits for more."""
    hello = _Hello(_receive(peer)[1])
    talk = _talk_13 if version == "1.3" else _talk_12
    talk(peer, hello, identity, spoil, answer)


class _Hello:
    """What a client says first."""

    def __init__(self, message: bytes) -> None:
        self.message = message
        self.random = message[6:38]
        self.session = message[39 : 39 + message[38]]
        at = 39 + len(self.session)
        count = int.from_bytes(message[at : at + 2], "big")
        self.suites = [message[at + 2 + index : at + 4 + index] for index in range(0, count, 2)]
        key_share = message.find(b"\x00\x1d\x00\x20")
        self.key_share = message[key_share + 4 : key_share + 36]


def _talk_13(peer: socket.socket, hello: _Hello, identity: Identity, spoil: Spoil, answer: bytes) -> None:
    own = os.urandom(32)
    share = b"\x00\x33\x00\x24\x00\x1d\x00\x20" + x25519(own, _BASE)
    head = b"\x03\x03" + os.urandom(32) + _sized(hello.session, 1) + b"\x13\x03\x00"
    said = spoil("server_hello", _message(SERVER_HELLO, head + _sized(b"\x00\x2b\x00\x02\x03\x04" + share, 2)))
    peer.sendall(_record(HANDSHAKE, said) + _record(CIPHER_SPEC, b"\x01"))
    transcript = hello.message + said
    empty = hashlib.sha256().digest()
    early = _hmac(bytes(32), bytes(32))
    secret = _hmac(_expand(early, b"derived", empty, 32), x25519(own, hello.key_share))
    traffic = _expand(secret, b"s hs traffic", _hash(transcript), 32)
    cipher = _Cipher13(traffic)
    chain = b"".join(_sized(each, 3) + b"\x00\x00" for each in _chain(identity, spoil))

    def say(name: str, kind: int, content: bytes) -> None:
        nonlocal transcript
        message = spoil(name, _message(kind, content))
        transcript += message
        peer.sendall(cipher.record(HANDSHAKE, message))

    say("extensions", EXTENSIONS, b"\x00\x00")
    say("certificates", CERTIFICATE, b"\x00" + _sized(chain, 3))
    signed = b" " * 64 + b"TLS 1.3, server CertificateVerify\x00" + _hash(transcript)
    say("verify", VERIFY, b"\x04\x03" + _sized(sign(identity.key, signed), 2))
    say("finished", FINISHED, _hmac(_expand(traffic, b"finished", b"", 32), _hash(transcript)))
    master = _hmac(_expand(secret, b"derived", empty, 32), bytes(32))
    cipher = _Cipher13(_expand(master, b"s ap traffic", _hash(transcript), 32))
    _wait_for_request(peer)
    _finish(peer, cipher, spoil, answer)


def _talk_12(peer: socket.socket, hello: _Hello, identity: Identity, spoil: Spoil, answer: bytes) -> None:
    own, random = os.urandom(32), os.urandom(32)
    # Zig's TLS has the suites with the word RSA only, and takes a certificate of any kind with them.
    suite = b"\xcc\xa9" if b"\xcc\xa9" in hello.suites else b"\xcc\xa8"
    extensions = _sized(b"\xff\x01\x00\x01\x00", 2) if suite == b"\xcc\xa9" else b""
    head = b"\x03\x03" + random + _sized(hello.session, 1) + suite + b"\x00" + extensions
    transcript = hello.message

    def say(name: str, kind: int, content: bytes) -> None:
        nonlocal transcript
        message = spoil(name, _message(kind, content))
        transcript += message
        peer.sendall(_record(HANDSHAKE, message))

    say("server_hello", SERVER_HELLO, head)
    say("certificates", CERTIFICATE, _sized(b"".join(_sized(each, 3) for each in _chain(identity, spoil)), 3))
    offered = b"\x03\x00\x1d" + _sized(x25519(own, _BASE), 1)
    signature = sign(identity.key, hello.random + random + offered)
    say("key_exchange", KEY_EXCHANGE, offered + b"\x04\x03" + _sized(signature, 2))
    say("done", DONE, b"")
    _, exchange = _receive(peer)
    if exchange[:1] != b"\x10":
        return  # An alert.
    transcript += exchange
    _receive(peer)
    master = _expand_12(x25519(own, exchange[5:37]), b"master secret" + hello.random + random, 48)
    block = _expand_12(master, b"key expansion" + random + hello.random, 88)
    theirs = _Cipher12(block[:32], block[64:76])
    transcript += theirs.open(HANDSHAKE, _receive(peer)[1])
    cipher = _Cipher12(block[32:64], block[76:88])
    verified = _expand_12(master, b"server finished" + _hash(transcript), 12)
    finished = spoil("finished", _message(FINISHED, verified))
    peer.sendall(_record(CIPHER_SPEC, b"\x01") + cipher.record(HANDSHAKE, finished))
    _wait_for_request(peer)
    _finish(peer, cipher, spoil, answer)


def _chain(identity: Identity, spoil: Spoil) -> tuple[bytes, ...]:
    return (spoil("certificate", identity.certificate), *identity.signers)


def _finish(peer: socket.socket, cipher: _Cipher13 | _Cipher12, spoil: Spoil, answer: bytes) -> None:
    after = spoil("after", b"")
    if after:
        peer.sendall(cipher.record(HANDSHAKE, after))
    peer.sendall(cipher.record(APPLICATION, spoil("answer", answer)) + cipher.record(ALERT, b"\x02\x28"))


def _wait_for_request(peer: socket.socket) -> None:
    """Until a record of the request has come, or an alert."""
    while True:
        kind, content = _receive(peer)
        # What ends a handshake of TLS 1.3 looks like the request, but is shorter.
        if kind == ALERT or (kind == APPLICATION and len(content) > 60):
            return


def refuse(peer: socket.socket) -> None:
    """The plain alert that ends what was not whole."""
    peer.sendall(_record(ALERT, b"\x02\x28"))


# Records and messages.


def _receive(peer: socket.socket) -> tuple[int, bytes]:
    head = _exactly(peer, 5)
    return head[0], _exactly(peer, int.from_bytes(head[3:5], "big"))


def _exactly(peer: socket.socket, length: int) -> bytes:
    content = b""
    while len(content) < length:
        piece = peer.recv(length - len(content))
        if not piece:
            raise ConnectionError
        content += piece
    return content


def _sized(content: bytes, width: int) -> bytes:
    return len(content).to_bytes(width, "big") + content


def _message(kind: int, content: bytes) -> bytes:
    return bytes([kind]) + _sized(content, 3)


def _record(kind: int, content: bytes) -> bytes:
    return bytes([kind]) + b"\x03\x03" + _sized(content[: (1 << 16) - 1], 2)


class _Cipher13:
    def __init__(self, secret: bytes) -> None:
        self.key = _expand(secret, b"key", b"", 32)
        self.iv = _expand(secret, b"iv", b"", 12)
        self.count = 0

    def record(self, kind: int, content: bytes) -> bytes:
        head = bytes([APPLICATION]) + b"\x03\x03" + (len(content) + 17).to_bytes(2, "big")
        sealed = seal(self.key, _nonce(self.iv, self.count), content + bytes([kind]), head)
        self.count += 1
        return head + sealed


class _Cipher12:
    def __init__(self, key: bytes, iv: bytes) -> None:
        self.key, self.iv, self.count = key, iv, 0

    def record(self, kind: int, content: bytes) -> bytes:
        sealed = seal(self.key, _nonce(self.iv, self.count), content, self._bound(kind, len(content)))
        return _record(kind, sealed)

    def open(self, kind: int, sealed: bytes) -> bytes:
        content = chacha20(self.key, _nonce(self.iv, self.count), sealed[:-16])
        assert seal(self.key, _nonce(self.iv, self.count), content, self._bound(kind, len(content))) == sealed
        return content

    def _bound(self, kind: int, length: int) -> bytes:
        self.count += 1
        return struct.pack(">QB2sH", self.count - 1, kind, b"\x03\x03", length)


def _nonce(iv: bytes, count: int) -> bytes:
    return bytes(a ^ b for a, b in zip(iv, count.to_bytes(12, "big"), strict=True))


# Cryptography.


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _hmac(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, content, "sha256")


def _expand(secret: bytes, label: bytes, context: bytes, length: int) -> bytes:
    info = length.to_bytes(2, "big") + _sized(b"tls13 " + label, 1) + _sized(context, 1)
    return _hmac(secret, info + b"\x01")[:length]


def _expand_12(secret: bytes, seed: bytes, length: int) -> bytes:
    result, link = b"", seed
    while len(result) < length:
        link = _hmac(secret, link)
        result += _hmac(secret, link + seed)
    return result[:length]


_BASE = bytes([9]) + bytes(31)
_P25519 = 2**255 - 19


def x25519(scalar: bytes, point: bytes) -> bytes:
    p = _P25519
    k = (int.from_bytes(scalar, "little") & ~7 & (2**255 - 1)) | 2**254
    x = int.from_bytes(point, "little") & (2**255 - 1)
    x2, z2, x3, z3, swapped = 1, 0, x, 1, 0
    for position in range(254, -1, -1):
        bit = k >> position & 1
        if bit != swapped:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swapped = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % p, b * b % p, d * a % p, c * b % p
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % p, x * (da - cb) ** 2 % p
        x2, z2 = aa * bb % p, e * (aa + 121665 * e) % p
    if swapped:
        x2, z2 = x3, z3
    return (x2 * pow(z2, -1, p) % p).to_bytes(32, "little")


def chacha20(key: bytes, nonce: bytes, content: bytes, counter: int = 1) -> bytes:
    result = bytearray()
    for at in range(0, len(content), 64):
        block = _chacha20_block(key, nonce, counter + at // 64)
        result += bytes(a ^ b for a, b in zip(content[at : at + 64], block, strict=False))
    return bytes(result)


_QUARTERS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
_DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))


def _chacha20_block(key: bytes, nonce: bytes, counter: int) -> bytes:
    start = struct.unpack("<16I", b"expand 32-byte k" + key + counter.to_bytes(4, "little") + nonce)
    s = list(start)
    for _ in range(10):
        for a, b, c, d in _QUARTERS + _DIAGONALS:
            for left, right, turned, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                s[left] = (s[left] + s[right]) & 0xFFFFFFFF
                mixed = s[turned] ^ s[left]
                s[turned] = (mixed << by | mixed >> (32 - by)) & 0xFFFFFFFF
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(s, start, strict=True)))


def seal(key: bytes, nonce: bytes, content: bytes, bound: bytes) -> bytes:
    """ChaCha20-Poly1305: what is sealed, and its tag."""
    sealed = chacha20(key, nonce, content)
    padded = b"".join(each + bytes(-len(each) % 16) for each in (bound, sealed))
    authenticated = padded + struct.pack("<QQ", len(bound), len(sealed))
    once = _chacha20_block(key, nonce, 0)
    r = int.from_bytes(once[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    total = 0
    for at in range(0, len(authenticated), 16):
        total = (total + int.from_bytes(authenticated[at : at + 16] + b"\x01", "little")) * r % (2**130 - 5)
    return sealed + ((total + int.from_bytes(once[16:32], "little")) % 2**128).to_bytes(16, "little")


_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def point(k: int) -> tuple[int, int]:
    """The base point, k times (in Jacobian coordinates)."""
    x, y, z = 0, 1, 0
    for position in range(k.bit_length() - 1, -1, -1):
        if z:
            yy = y * y % _P
            s, m = 4 * x * yy % _P, 3 * (x - z * z) * (x + z * z) % _P
            z = 2 * y * z % _P
            x = (m * m - 2 * s) % _P
            y = (m * (s - x) - 8 * yy * yy) % _P
        if k >> position & 1:
            if not z:
                (x, y), z = _G, 1
                continue
            zz = z * z % _P
            h, r = (_G[0] * zz - x) % _P, (_G[1] * zz * z - y) % _P
            hh = h * h % _P
            v = x * hh % _P
            x = (r * r - h * hh - 2 * v) % _P
            y = (r * (v - x) - y * h * hh) % _P
            z = z * h % _P
    return x * pow(z * z, -1, _P) % _P, y * pow(z**3, -1, _P) % _P


def sign(key: int, content: bytes) -> bytes:
    """ECDSA on P-256 with SHA-256."""
    k = int.from_bytes(os.urandom(32), "big") % (_N - 1) + 1
    r = point(k)[0] % _N
    s = pow(k, -1, _N) * (int.from_bytes(_hash(content), "big") + r * key) % _N
    numbers = b"".join(b"\x02" + _sized(each.to_bytes(each.bit_length() // 8 + 1, "big"), 1) for each in (r, s))
    return b"\x30" + _sized(numbers, 1)
