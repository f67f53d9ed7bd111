"""`Http.get` and `Http.post` (spec 10.http): what a request must be, and what became of it. Pure functions; the native
runtime has the same in library_http.zig."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kavachc.bindings.abi import ExchangeProblem
from kavachc.bindings.exchange import HttpRequest
from kavachc.bindings.http_url import Fault, Url, parse_with_query
from kavachc.interpreter.provider import (
    CONNECT_LIMIT_NS,
    LIMIT_MARGIN_NS,
    USER_AGENT,
    Received,
    problem_text,
)
from kavachc.interpreter.show import quote, show_duration

# How a request ends: with an answer, or with a variant of HttpError. In the order of the runtime's numbers.
Ending: TypeAlias = Literal["Answered", "BadRequest", "NotReached", "NoAnswer", "NotText"]
ENDINGS: tuple[Ending, ...] = ("Answered", "BadRequest", "NotReached", "NoAnswer", "NotText")
# The server has seen nothing of the request.
BEFORE_CONNECTED = (
    ExchangeProblem.UNKNOWN_HOST,
    ExchangeProblem.REFUSED,
    ExchangeProblem.UNREACHABLE,
    ExchangeProblem.UNTRUSTED,
    ExchangeProblem.NO_AUTHORITIES,
    ExchangeProblem.WRONG_NAME,
    ExchangeProblem.TIMED_OUT,
    ExchangeProblem.NO_FILES,
    ExchangeProblem.NO_THREADS,
)
DROPPED_MESSAGE = "connection dropped"
FAULT_TEXTS: dict[Fault, str] = {
    "form": "{} is no http or https URL",
    "login": "the URL has a name or a password in it: send them in a header",
    "host": "the host in {} is neither a name nor an address",
    "dots": '{} has "." or ".." in its path',
}
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
HEADER_VALUE = re.compile(r"[\t -~]*")
# What a request says of itself, and of the connection.
OUR_HEADERS = frozenset(
    "accept-encoding connection content-length expect host keep-alive proxy-authorization proxy-connection te trailer"
    " transfer-encoding upgrade".split()
)


@dataclass(frozen=True, slots=True)
class WebRequest:
    """What a program wants to send; `body` is None for a GET."""

    url: str
    body: str | None
    headers: tuple[tuple[str, str], ...]
    timeout_ns: int

    @property
    def method(self) -> str:
        return "GET" if self.body is None else "POST"

    def shown(self) -> str:
        if self.body is None:
            return f"Http.get({quote(self.url)})"
        return f"Http.post({quote(self.url)}, {quote(self.body)})"


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """`text` is the body, or the reason of an error that has one."""

    ending: Ending
    text: str
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)


DRY_RUN_ANSWER = WebAnswer("Answered", "text", 200)


def obstacle(request: WebRequest) -> str | None:
    """Why the request cannot be sent, None when it can."""
    url = parse_with_query(request.url)
    if isinstance(url, str):
        return FAULT_TEXTS[url].format(quote(request.url))
    seen: set[str] = set()
    for name, value in request.headers:
        if not HEADER_NAME.fullmatch(name):
            return f"{quote(name)} is no header's name"
        lower = name.lower()
        if lower in OUR_HEADERS:
            return f"the header {quote(name)} is not for programs to set"
        if lower in seen:
            return f"the header {quote(name)} is given twice"
        seen.add(lower)
        if not HEADER_VALUE.fullmatch(value):
            return f"the value of the header {quote(name)} has characters that no header has"
    return None


def http_request(request: WebRequest) -> HttpRequest:
    """For a request that can be sent."""
    url = _parsed(request)
    given = {name.lower() for name, _ in request.headers}
    ours = [("accept", "*/*"), USER_AGENT]
    if request.body is not None:
        ours.append(("content-type", "text/plain; charset=utf-8"))
    headers = [header for header in ours if header[0] not in given] + list(request.headers)
    return HttpRequest(
        request.method,
        url.origin + ("" if url.path.startswith("/") else "/") + url.path,
        tuple(headers),
        (request.body or "").encode(),
        CONNECT_LIMIT_NS,
        max(0, request.timeout_ns) + LIMIT_MARGIN_NS,
    )


def place_of(request: WebRequest) -> str:
    """The server that a request which can be sent goes to."""
    url = _parsed(request)
    return f"{url.host}:{url.port}"


def _parsed(request: WebRequest) -> Url:
    url = parse_with_query(request.url)
    assert isinstance(url, Url), "there is no obstacle"
    return url


def answer_of(request: WebRequest, received: Received) -> WebAnswer:
    problem = received.problem
    if problem in (ExchangeProblem.DROPPED, ExchangeProblem.ABORTED):
        return WebAnswer("NoAnswer", DROPPED_MESSAGE)
    if problem != ExchangeProblem.NO_PROBLEM:
        ending: Ending = "NotReached" if problem in BEFORE_CONNECTED else "NoAnswer"
        return WebAnswer(ending, problem_text(_parsed(request), problem))
    try:
        return WebAnswer("Answered", received.body.decode(), received.status, received.all_headers)
    except UnicodeDecodeError:
        return WebAnswer("NotText", "", received.status)


def too_late(request: WebRequest) -> WebAnswer:
    return WebAnswer("NoAnswer", f"no answer within {show_duration(max(0, request.timeout_ns))}")
