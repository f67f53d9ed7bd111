"""Which proxy a request goes through, by the usual variables of the environment (lower-case names first).

As the native engine's proxy.zig does it, so that a program finds its provider on every engine or on none; the rules of
Python's libraries differ in `NO_PROXY`.
"""

from __future__ import annotations

import base64
import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from kavachc.bindings.http_url import Url, parse_url

PORT = re.compile("[0-9]{1,5}", re.ASCII)
NETWORK = re.compile(r"([0-9a-f:.]+)/([0-9]{1,3})", re.ASCII)
LOGIN_BYTES_MAX = 4_096


class UnusableProxy(Exception):
    """The variable holds no `http://[NAME:PASSWORD@]HOST[:PORT]`."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """`authorization` is the header with which it knows us, None for none."""

    host: str
    port: int
    authorization: str | None


def proxy_for(url: Url, environment: Mapping[str, str]) -> Proxy | None:
    """None for none; raises `UnusableProxy`."""
    scheme = "https" if url.is_tls else "http"
    text = _variable(environment, f"{scheme}_proxy") or _variable(environment, "all_proxy")
    if not text or _is_exempt(url, _variable(environment, "no_proxy")):
        return None
    return _usable(text)


def _usable(text: str) -> Proxy:
    """`http://[NAME:PASSWORD@]HOST[:PORT][/]`, of which the scheme may be left out. A login may hold any character, in
    percent signs or as it is."""
    scheme, separator, rest = text.partition("://")
    if not separator:
        rest = text
    elif scheme.lower() != "http":
        raise UnusableProxy
    login, _, place = rest.rpartition("@")
    url = parse_url(f"http://{place.removesuffix('/')}")
    if isinstance(url, str) or url.path or len(os.fsencode(login)) > LOGIN_BYTES_MAX:
        raise UnusableProxy
    return Proxy(url.name, url.port, _authorization(os.fsencode(login)) if login else None)


def _authorization(login: bytes) -> str:
    """Without a `:` the password is empty."""
    whole = login if b":" in login else login + b":"
    return "Basic " + base64.b64encode(unquote_to_bytes(whole)).decode()


def _variable(environment: Mapping[str, str], name: str) -> str:
    for each in (name, name.upper()):
        text = environment.get(each, "").strip(" \t")
        if text:
            return text
    return ""


def _is_exempt(url: Url, exempt: str) -> bool:
    """`NO_PROXY`: hosts, each with its sub-domains (`.example.com`, `*.example.com`: those alone), addresses, networks
    as `10.0.0.0/8`, perhaps with a port, between commas or blanks; `*` is all."""
    for entry in re.split("[, \t]+", exempt.lower()):
        if entry == "*":
            return True
        name, colon, digits = entry.rpartition(":")
        if not colon or not PORT.fullmatch(digits) or (entry.count(":") > 1 and not entry.startswith("[")):
            name = entry
        elif int(digits) != url.port:
            continue
        if _is_meant(url.name, name.strip("[]").removesuffix(".")):
            return True
    return False


def _is_meant(host: str, name: str) -> bool:
    address = _address(host)
    if address is not None:
        network = NETWORK.fullmatch(name)
        base = _address(network[1] if network else name)
        if base is None or base.version != address.version:
            return False
        bits = int(network[2]) if network else base.max_prefixlen
        return bits <= base.max_prefixlen and (int(address) ^ int(base)) >> (base.max_prefixlen - bits) == 0
    if name == host:
        return bool(name)
    domain = name.removeprefix("*").lstrip(".")
    return bool(domain) and host.endswith(f".{domain}")


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
