"""Which proxy a request goes through, by the usual variables of the environment (lower-case names first).

As the native engine's proxy.zig does it, so that a program finds its provider on every engine or on none; the rules of
Python's libraries differ in `NO_PROXY`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

PORT = re.compile("[0-9]{1,5}", re.ASCII)


class UnusableProxy(Exception):
    """The variable holds no `http://[NAME:PASSWORD@]HOST[:PORT]`."""


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """The URL of the proxy, None for none; raises `UnusableProxy`."""
    parts = urlsplit(url)
    text = _variable(environment, f"{parts.scheme}_proxy") or _variable(environment, "all_proxy")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if not text or _is_exempt(parts.hostname or "", port, _variable(environment, "no_proxy")):
        return None
    return _usable(text)


def _usable(text: str) -> str:
    """`http://[NAME:PASSWORD@]HOST[:PORT][/…]`, of which the scheme may be left out, as a whole URL."""
    scheme, separator, rest = text.rpartition("://")
    if separator and scheme.lower() != "http":
        raise UnusableProxy
    login, at, place = rest.rpartition("@")
    place = place.partition("/")[0]
    try:
        parts = urlsplit(f"http://{place}")
        if not parts.hostname or parts.port == 0:
            raise UnusableProxy
    except ValueError:  # A port that is none.
        raise UnusableProxy from None
    return f"http://{login}{at}{place}"


def _variable(environment: Mapping[str, str], name: str) -> str:
    for each in (name, name.upper()):
        text = environment.get(each, "").strip(" \t")
        if text:
            return text
    return ""


def _is_exempt(host: str, port: int, exempt: str) -> bool:
    """`NO_PROXY`: a list of hosts, each with its sub-domains (`.example.com`: those alone), perhaps with a port; `*` is
    all."""
    for entry in (each.strip(" \t").lower() for each in exempt.split(",")):
        if not entry:
            continue
        if entry in ("*", host):
            return True
        name, colon, digits = entry.rpartition(":")
        if colon and PORT.fullmatch(digits) and (entry.count(":") == 1 or entry.startswith("[")):
            if int(digits) != port:
                continue
        else:
            name = entry
        name = name.strip("[]")
        if name == host:
            return True
        bare = name.lstrip(".")
        if bare and host.endswith(f".{bare}"):
            return True
    return False
