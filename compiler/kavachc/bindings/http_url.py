"""An `http` or `https` URL to which requests can go, as the native engine's url.zig reads it (spec 8.5.base-url)."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

#: Why a text is no such URL. `login`: it has a name or a password in it, so it is not repeated.
Fault: TypeAlias = Literal["form", "login", "host", "dots"]

LENGTH_MAX = 8_192
HOST_LENGTH_MAX = 253
# No URL has these, or no path can stand behind them.
NEVER = '?#"<>\\^`{|}'
PARTS = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[^/\[\]]*\]|[^/:\[\]]+)(?::(?P<port>[0-9]{0,5}))?(?P<path>/.*)?", re.IGNORECASE
)
LABEL = re.compile("[0-9a-z_-]{1,63}", re.IGNORECASE | re.ASCII)
NUMBER = re.compile("[0-9]+|0x[0-9a-f]*", re.IGNORECASE | re.ASCII)
BYTE = re.compile("0|[1-9][0-9]{0,2}", re.ASCII)
LONE_PERCENT = re.compile("%(?![0-9a-f][0-9a-f])", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Url:
    """`host` is in lower case, and has the brackets of an IPv6 address; `path` is what follows, with the query."""

    is_tls: bool
    host: str
    port: int
    path: str

    @property
    def name(self) -> str:
        """The host as one looks it up, without the dot at its end."""
        return self.host.strip("[]").removesuffix(".")

    @property
    def origin(self) -> str:
        """Scheme, host and port, however they were written."""
        scheme, usual = ("https", 443) if self.is_tls else ("http", 80)
        return f"{scheme}://{self.host}" + ("" if self.port == usual else f":{self.port}")

    @property
    def root(self) -> str:
        """The URL without what may stand at the end of a base URL or not."""
        return self.origin + self.path.rstrip("/").removesuffix("/v1")


def parse_url(text: str) -> Url | Fault:
    """The URL, or what is wrong with it."""
    if len(text) > LENGTH_MAX or not all("!" <= each <= "~" and each not in NEVER for each in text):
        return "login" if "@" in text else "form"
    found = PARTS.fullmatch(text)
    if "@" in text and (found is None or "@" in found["host"]):
        return "login"
    if found is None:
        return "form"
    if not is_host(found["host"]):
        return "host"
    is_tls = found["scheme"].lower() == "https"
    port = int(found["port"]) if found["port"] else 443 if is_tls else 80
    path = found["path"] or ""
    if not 0 < port < 65_536 or LONE_PERCENT.search(path):
        return "form"
    if any(segment in (".", "..") for segment in path.split("/")):
        return "dots"
    return Url(is_tls, found["host"].lower(), port, path)


def parse_with_query(text: str) -> Url | Fault:
    """As `parse_url`, perhaps with `?` and a query."""
    base, mark, query = text.partition("?")
    if len(text) > LENGTH_MAX:
        return "login" if "@" in text else "form"
    url = parse_url(base)
    if isinstance(url, str) or not mark:
        return url
    if not all("!" <= each <= "~" and (each == "?" or each not in NEVER) for each in query) or LONE_PERCENT.search(
        query
    ):
        return "form"
    return replace(url, path=f"{url.path}?{query}")


def is_host(text: str) -> bool:
    """A name, an IPv4 address of four numbers, or an IPv6 address in brackets. What only some systems read as an
    address, such as `127.1`, is neither."""
    if text.startswith("["):
        return _is_ip6(text[1:-1])
    labels = text.removesuffix(".").split(".")
    if NUMBER.fullmatch(labels[-1]):
        return len(text.split(".")) == 4 and all(BYTE.fullmatch(each) and int(each) < 256 for each in labels)
    return len(text.removesuffix(".")) <= HOST_LENGTH_MAX and all(LABEL.fullmatch(each) for each in labels)


def _is_ip6(text: str) -> bool:
    if "%" in text:
        return False
    try:
        return bool(socket.inet_pton(socket.AF_INET6, text))
    except (OSError, ValueError):
        return False
