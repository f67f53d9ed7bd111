"""Servers that send what no TLS library would, and files of certificates that are none, on every engine: an ask fails,
and the program goes on."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from certificate_maker import AUTHORITY, authority, critical, element, host, issue, only_names, purposes, usage
from hostile_tls import PARTS, Identity, Spoil, refuse
from hostile_tls import serve as serve_tls
from http_programs import ENGINES, TARGETS, Connection, Ran, Run, Server, answered, raw_server, runner
from test_http_connections import CA, CERTIFICATES

ONE_ASK_EACH = """
agent Claude {
    model Model(timeout: 20s)
    can Ai
    on go() -> String ! AiError { try ask<String>("p") }
}
fn main() {
    const claude = Claude.start()
    for _ in Env.args() { print(claude.go() catch e => "{e}") }
}
"""
IDENTITY = Identity.read(CERTIFICATES / "localhost.pem")
CERTIFICATE = IDENTITY.certificate
ANSWER = answered("fine")
FINE = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)
UNTRUSTED = "the certificate of localhost is not trusted (set SSL_CERT_FILE to the CA that signed it)"
NO_AUTHORITIES = "the certificate of localhost is not trusted, and SSL_CERT_FILE names no file with certificates"
TLS_FAILED = "TLS with localhost failed"


def said(message: str) -> str:
    return f'Failed(status: 0, message: "{message}")'


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def run(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return runner(engine, ONE_ASK_EACH, tmp_path_factory.mktemp("asks"))


def unspoiled(_name: str, content: bytes) -> bytes:
    return content


@contextmanager
def hostile(*turns: tuple[str, Spoil], identities: Sequence[Identity] = ()) -> Iterator[Server]:
    """The version of TLS, and what is spoiled, of one connection after another, and who the server is; whole ones after
    them."""

    def serve(server: Server, connection: Connection) -> None:
        turn = server.connections - 1
        version, spoil = turns[turn] if turn < len(turns) else ("1.3", unspoiled)
        connection.socket.settimeout(30 if spoil is unspoiled else 1)
        identity = identities[turn] if turn < len(identities) else IDENTITY
        with suppress(OSError, AssertionError):
            serve_tls(connection.socket, version, identity, spoil, FINE)
        with suppress(OSError):
            refuse(connection.socket)
            connection.socket.shutdown(socket.SHUT_WR)
            connection.socket.settimeout(1)
            connection.wait_for_close()

    with raw_server(serve) as server:
        server.url = server.url.replace("http:", "https:")
        yield server


def ask(run: Run, server: Server, count: int = 1, authorities: str = CA) -> Ran:
    settings = {"ANTHROPIC_API_KEY": "sk-planted-marker-key", "ANTHROPIC_BASE_URL": server.url}
    return run(*["ask"] * count, SSL_CERT_FILE=authorities, **settings)


def instead(of: str, content: bytes) -> Spoil:
    return lambda name, whole: content if name == of else whole


#: What is sent instead of the certificate.
NO_CERTIFICATES = {
    "nothing": b"",
    "zeros": bytes(3),
    "one byte": b"\x30",
    "ends in a length": b"\x30\x82\x01",
    "ends in a sequence": b"\x30\x03\x30\x01\x30",
    "a length beyond the end": b"\x30\x82\xff\xff" + b"\x30" * 40,
    "a length beyond 32 bits": b"\x30\x84\xff\xff\xff\xff" + b"\x30" * 40,
    "noise": bytes(random.Random(1).randrange(256) for _ in range(400)),
    "half of one": CERTIFICATE[: len(CERTIFICATE) // 2],
    "all but its last byte": CERTIFICATE[:-1],
}


@pytest.mark.parametrize("version", PARTS)
def test_a_certificate_that_is_none_fails_its_ask_only(run: Run, version: str) -> None:
    turns = [(version, instead("certificate", content)) for content in NO_CERTIFICATES.values()]
    with hostile(*turns) as server:
        ran = ask(run, server, len(turns) + 1)
    assert (ran.err, ran.status) == ("", 0)
    assert ran.out.splitlines() == [said(TLS_FAILED)] * len(turns) + ["fine"]


#: In which version, which part, and what becomes of it.
SPOILED: dict[str, tuple[str, str, Callable[[bytes], bytes]]] = {
    "an empty hello": ("1.3", "server_hello", lambda _: b"\x02\x00\x00\x00"),
    "another version": ("1.2", "server_hello", lambda whole: whole[:4] + b"\x03\x05" + whole[6:]),
    "a session beyond the end": ("1.2", "server_hello", lambda whole: whole[:38] + b"\xff" + whole[39:]),
    "a suite that nobody has": ("1.3", "server_hello", lambda whole: whole.replace(b"\x13\x03\x00", b"\x13\x77\x00")),
    "no list of certificates": ("1.2", "certificates", lambda _: b"\x0b\x00\x00\x00"),
    "a list beyond the end": ("1.3", "certificates", lambda whole: whole[:5] + b"\xff" + whole[6:]),
    "an unknown curve": ("1.2", "key_exchange", lambda whole: whole.replace(b"\x03\x00\x1d", b"\x03\xff\xff")),
    "a wrong signature": ("1.2", "key_exchange", lambda whole: whole[:-3] + b"abc"),
    "a signature that is cut": ("1.3", "verify", lambda whole: b"\x0f\x00\x00\x06\x04\x03\x00\x02\x30\x45"),
    "an empty signature": ("1.3", "verify", lambda whole: b"\x0f\x00\x00\x04\x04\x03\x00\x00"),
    "a wrong end": ("1.3", "finished", lambda whole: whole[:-1] + bytes([whole[-1] ^ 1])),
    "certificates twice": ("1.3", "certificates", lambda whole: whole + whole),
    "certificates twice, in plain text": ("1.2", "certificates", lambda whole: whole + whole),
    "certificates before their time": ("1.3", "extensions", lambda whole: b"\x0b\x00\x00\x04\x00\x00\x00\x00" + whole),
    "an end without content": ("1.2", "finished", lambda _: b"\x14\x00\x00\x00"),
    "half a message after the end": ("1.3", "after", lambda _: b"\x04"),
    "a message after the end that is longer": ("1.3", "after", lambda _: b"\x04\xff\xff\xff\x00"),
}


def test_a_handshake_that_is_spoiled_fails_its_ask_only(run: Run) -> None:
    def spoil(of: str, change: Callable[[bytes], bytes]) -> Spoil:
        return lambda name, whole: change(whole) if name == of else whole

    turns = [(version, spoil(part, change)) for version, part, change in SPOILED.values()]
    with hostile(*turns) as server:
        ran = ask(run, server, len(turns) + 1)
    assert (ran.err, ran.status) == ("", 0)
    outcomes = dict(zip([*SPOILED, "whole"], ran.out.splitlines(), strict=True))
    assert outcomes == {**dict.fromkeys(SPOILED, said(TLS_FAILED)), "whole": "fine"}


# Who may sign.

SIGNS, DOES_NOT = usage(0x06), usage(0x80)
ROOT = issue("root", None, authority(), SIGNS)
SERVER = host("localhost")
UNKNOWN = ("2a0304", b"\x05\x00")
#: Who stands between the root and the server, from the root on, and whether that is trusted.
BETWEEN: dict[str, tuple[list[list[tuple[str, bytes]]], bool]] = {
    "nobody": ([], True),
    "an authority": ([[authority(), SIGNS]], True),
    "an authority, of which is not said what for": ([[authority()]], True),
    "two authorities": ([[authority(1), SIGNS], [authority(0), SIGNS]], True),
    "another server": ([[host("evil.example"), usage(0x80)]], False),
    "another server, of which is not said what for": ([[host("evil.example")]], False),
    "one that is no authority": ([[(AUTHORITY, element(0x30)), SIGNS]], False),
    "one that is said to be none": ([[(AUTHORITY, element(0x30, b"\x01\x01\x00")), SIGNS]], False),
    "an authority that may sign no certificates": ([[authority(), DOES_NOT]], False),
    "an authority under one that allows none": ([[authority(0), SIGNS], [authority(), SIGNS]], False),
    "an authority for servers": ([[authority(), SIGNS, purposes(1)]], True),
    "an authority for clients": ([[authority(), SIGNS, purposes(2)]], False),
    "an authority for other names": ([[authority(), SIGNS, critical(only_names("example.com"))]], False),
    "an authority of which something must be understood": ([[authority(), SIGNS, critical(UNKNOWN)]], False),
}
#: What the server's own says, besides its name.
OWN: dict[str, tuple[list[tuple[str, bytes]], bool]] = {
    "to sign": ([critical(usage(0x80))], True),
    "to sign certificates": ([critical(usage(0x04))], False),
    "a server": ([purposes(1)], True),
    "a server and a client": ([purposes(2, 1)], True),
    "a client": ([purposes(2)], False),
    "something": ([UNKNOWN], True),
    "something that must be understood": ([critical(UNKNOWN)], False),
}


@pytest.mark.parametrize("version", PARTS)
def test_only_authorities_sign(run: Run, version: str, tmp_path: Path) -> None:
    """Otherwise whoever has a certificate for a name could be every server."""
    (tmp_path / "root.pem").write_text(ROOT.pem)
    cases: list[tuple[list[list[tuple[str, bytes]]], list[tuple[str, bytes]]]] = [
        (between, []) for between, _ in BETWEEN.values()
    ] + [([], own) for own, _ in OWN.values()]
    identities = []
    for between, own in cases:
        chain = [ROOT]
        for number, extensions in enumerate(between):
            chain.append(issue(f"between {number}", chain[-1], *extensions))
        server = issue("server", chain[-1], SERVER, *own)
        signers = tuple(each.certificate for each in reversed(chain[1:]))
        identities.append(Identity(server.certificate, server.key, signers))
    turns = [(version, unspoiled)] * len(identities)
    with hostile(*turns, identities=identities) as listening:
        ran = ask(run, listening, len(turns), str(tmp_path / "root.pem"))
    assert (ran.err, ran.status) == ("", 0)
    expected = {name: is_trusted for table in (BETWEEN, OWN) for name, (_, is_trusted) in table.items()}
    outcomes = dict(zip(expected, ran.out.splitlines(), strict=True))
    assert outcomes == {name: "fine" if is_trusted else said(UNTRUSTED) for name, is_trusted in expected.items()}


@pytest.mark.parametrize("engine", list(TARGETS), scope="module")
def test_no_random_handshake_ends_a_binary(run: Run, engine: str) -> None:
    chosen = random.Random(7)

    def damaged(content: bytes) -> bytes:
        at = chosen.randrange(len(content) + 1)
        way = chosen.randrange(4)
        if way == 0:
            return content[:at]
        if way == 1:
            return content[:at] + chosen.randbytes(chosen.randrange(1, 9)) + content[at:]
        return content[:at] + chosen.randbytes(way - 1) + content[at + way - 1 :]

    def turn() -> tuple[str, Spoil]:
        version = chosen.choice(list(PARTS))
        part = chosen.choice(["certificate", *PARTS[version]])
        return version, lambda name, whole: damaged(whole) if name == part else whole

    count = 100 if engine == TARGETS[0] else 40
    with hostile(*(turn() for _ in range(count))) as server:
        # Some connections are dropped, and their asks sent again: a few more make sure of whole ones at the end.
        ran = ask(run, server, count + 2)
    assert (ran.err, ran.status) == ("", 0)
    assert len(ran.out.splitlines()) == count + 2
    assert ran.out.endswith("\nfine\n")


# Files of certificates.


def authorities(kind: str, folder: Path) -> str:
    """The path of such a file."""
    path = folder / "authorities.pem"
    block = "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n".format
    good = Path(CA).read_text()
    damaged = f"{block('AAAA')}{block('!!!')}-----BEGIN CERTIFICATE-----\n!!!\n"
    texts = {
        "empty": "",
        "words": "no certificates here\n",
        "without an end": good.rsplit("-----END", 1)[0],
        "zeros only": block("AAAA"),
        "nothing between": block(""),
        "half of one": block(good.split("-----")[2][:200]),
        "damaged ones, and a good one": damaged + good + block("MIIB"),
    }
    if kind in texts:
        path.write_text(texts[kind])
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "sparse":
        path.touch()
        os.truncate(path, 1 << 30)
    elif kind == "unreadable":
        path.symlink_to(folder / "nowhere")
    else:
        return {"folder": str(folder), "device": "/dev/zero", "terminal": "/dev/ptmx", "long": "/" + "a" * 5000}[kind]
    return str(path)


BAD_FILES = (
    "empty", "words", "without an end", "zeros only", "nothing between", "half of one", "fifo", "sparse", "unreadable",
    "folder", "device", "terminal", "long",
)  # fmt: skip


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_file_of_certificates_that_is_none_is_told(run: Run, kind: str, tmp_path: Path) -> None:
    with hostile() as server:
        ran = ask(run, server, 1, authorities(kind, tmp_path))
    assert ran == Ran(said(NO_AUTHORITIES) + "\n", "", 0)


def test_a_damaged_certificate_takes_no_other_with_it(run: Run, tmp_path: Path) -> None:
    with hostile() as server:
        ran = ask(run, server, 1, authorities("damaged ones, and a good one", tmp_path))
    assert ran == Ran("fine\n", "", 0)


def test_a_file_that_is_not_named_is_not_told(run: Run) -> None:
    with hostile() as server:
        ran = ask(run, server, 1, "")
    assert ran == Ran(said(UNTRUSTED) + "\n", "", 0)
