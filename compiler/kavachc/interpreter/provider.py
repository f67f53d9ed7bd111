"""The providers' wire formats (docs/providers.md): what a request says, and what an answer means. Pure functions; the
native runtime has the same in provider.zig, byte for byte."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kavachc.bindings.abi import ExchangeProblem
from kavachc.bindings.exchange import HttpRequest
from kavachc.bindings.http_url import Fault, Url, parse_url
from kavachc.interpreter.arithmetic import INT_MAX
from kavachc.interpreter.json_text import Json, NotJson, read_json
from kavachc.interpreter.key_mask import body_without_key, told_without_key, without_key
from kavachc.interpreter.replies import Dropped, ModelAnswer, ModelFailure, ModelReply, Stop, Usage
from kavachc.semantics.schema import WRAPPER, Schema
from kavachc.semantics.typed_ast import ModelSettings

BODY_BYTES_MAX = 16 << 20
CONNECT_LIMIT_NS = 10_000_000_000
# The caller's own timer comes first, and says what is to be said; this is for a request that nobody waits for any more.
LIMIT_MARGIN_NS = 5_000_000_000
USER_AGENT = ("user-agent", "kavach")
# Of an answer that is no JSON.
SHOWN_CHARACTERS_MAX = 80
BLANKS = " \t\r\n"
SCHEMA_IN_PROMPT = "\n\nAnswer with JSON only, which fits this JSON schema:\n"
ProviderName: TypeAlias = Literal["Anthropic", "OpenAi"]
KEY_VARIABLES: dict[ProviderName, str] = {"Anthropic": "ANTHROPIC_API_KEY", "OpenAi": "OPENAI_API_KEY"}
BASE_URL_VARIABLES: dict[ProviderName, str] = {"Anthropic": "ANTHROPIC_BASE_URL", "OpenAi": "OPENAI_BASE_URL"}
OFFICIAL_URLS: dict[ProviderName, str] = {"Anthropic": "https://api.anthropic.com", "OpenAi": "https://api.openai.com"}
PATHS: dict[ProviderName, str] = {"Anthropic": "/v1/messages", "OpenAi": "/v1/chat/completions"}
STOPS: dict[str, Stop] = {
    "refusal": "refusal",
    "max_tokens": "cut_off",
    "model_context_window_exceeded": "cut_off",
    # OpenAI's words.
    "content_filter": "refusal",
    "length": "cut_off",
}
FAULT_TEXTS: dict[Fault, str] = {
    "form": 'the base URL "{}" is no http or https URL',
    "login": "the base URL has a name or a password in it, which no request would carry",
    "host": 'the host in the base URL "{}" is neither a name nor an address',
    "dots": 'the base URL "{}" has "." or ".." in its path',
}
ANTHROPIC_STOPS = ("refusal", "max_tokens", "model_context_window_exceeded")
OPENAI_STOPS = ("content_filter", "length")
ANTHROPIC_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model's requests go. `base_url` is as it was set, or the official one."""

    model: ModelSettings
    base_url: str
    key: str


@dataclass(frozen=True, slots=True)
class Received:
    """What came over HTTP. Header names are in lower case, the first of a name counts; `all_headers` has the values of
    each name, one after the other."""

    status: int
    problem: ExchangeProblem
    body: bytes
    headers: Mapping[str, str]
    all_headers: Mapping[str, str] = field(default_factory=dict)


def endpoint_of(model: ModelSettings, environment: Mapping[str, str]) -> Endpoint:
    provider = model.provider
    base_url = model.base_url
    if base_url is None:
        base_url = environment.get(BASE_URL_VARIABLES[provider]) or OFFICIAL_URLS[provider]
        # Python keeps bytes that are not UTF-8 as surrogates, which no String holds.
        base_url = base_url.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    # HTTP takes blanks off a header's ends: a provider would see, and might repeat, the key without them.
    return Endpoint(model, base_url, environment.get(KEY_VARIABLES[provider], "").strip(BLANKS))


def obstacle(endpoint: Endpoint) -> str | None:
    """Why no request can be sent, whoever answers it; None when one can."""
    if not all(" " <= character <= "~" for character in endpoint.key):
        return f"the key in {KEY_VARIABLES[endpoint.model.provider]} has characters that no key has"
    fault = parse_url(endpoint.base_url)
    if not isinstance(fault, str):
        return None
    return told_without_key(endpoint.key, FAULT_TEXTS[fault].format(endpoint.base_url))


# The request.


def gate_key(endpoint: Endpoint) -> tuple[str, str]:
    """What endpoints have in common to which one gate leads, however they are written (spec 8.4.gate). A scripted model
    answers also where the base URL is none."""
    url = parse_url(endpoint.base_url)
    return endpoint.model.provider, endpoint.base_url if isinstance(url, str) else url.root


def request(endpoint: Endpoint, schema: Schema, prompt: str) -> HttpRequest:
    provider = endpoint.model.provider
    return HttpRequest(
        "POST",
        _url(endpoint).root + PATHS[provider],
        _headers(provider, endpoint.key),
        _body(endpoint.model, schema, prompt).encode(),
        CONNECT_LIMIT_NS,
        endpoint.model.timeout_ns + LIMIT_MARGIN_NS,
    )


def _url(endpoint: Endpoint) -> Url:
    url = parse_url(endpoint.base_url)
    assert isinstance(url, Url), "there is no obstacle"
    return url


def _headers(provider: ProviderName, key: str) -> tuple[tuple[str, str], ...]:
    common = (("content-type", "application/json"), ("accept", "application/json"), USER_AGENT)
    if provider == "Anthropic":
        return (("x-api-key", key), ("anthropic-version", "2023-06-01"), *common)
    return (("authorization", f"Bearer {key}"), *common)


def prompt_as_sent(schema: Schema, prompt: str) -> str:
    """With the schema, where that stands in it."""
    return prompt + SCHEMA_IN_PROMPT + schema.text if schema.way == "prompt" else prompt


def _body(model: ModelSettings, schema: Schema, prompt: str) -> str:
    is_anthropic = model.provider == "Anthropic"
    content = prompt_as_sent(schema, prompt)
    count = "max_tokens" if is_anthropic else "max_completion_tokens"
    message = f'{{"role":"user","content":{_string(content)}}}'
    body = f'{{"model":{_string(model.name)},"{count}":{model.max_tokens},"messages":[{message}]'
    if schema.way not in ("structured", "wrapped"):
        return body + "}"
    if is_anthropic:
        return body + f',"output_config":{{"format":{{"type":"json_schema","schema":{schema.text}}}}}}}'
    named = f'{{"name":"answer","schema":{schema.text},"strict":true}}'
    return body + f',"response_format":{{"type":"json_schema","json_schema":{named}}}}}'


ESCAPED = re.compile(r'[\x00-\x1f"\\]')
SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def _string(text: str) -> str:
    """A JSON string with nothing escaped that need not be."""
    return f'"{ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    return SHORT_ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04x}"


# The answer.


def read(endpoint: Endpoint, schema: Schema, prompt: str, received: Received) -> ModelReply:
    """The reply to the prompt. The key is never in it."""
    if received.problem != ExchangeProblem.NO_PROBLEM:
        return _read_problem(endpoint, prompt, received)
    body = body_without_key(endpoint.key, received.body)
    if 200 <= received.status < 300:
        return _read_answer(endpoint, schema, prompt, received, body)
    if 300 <= received.status < 400:
        location = without_key(endpoint.key, received.headers.get("location", ""))
        if not location:
            return ModelFailure(received.status)
        return ModelFailure(received.status, f"the provider redirects to {location}: set base_url to it")
    return _read_error(endpoint, received, body)


def _read_problem(endpoint: Endpoint, prompt: str, received: Received) -> ModelFailure | Dropped:
    """Of an answer that began well and did not come whole, nobody knows more than what it can have taken at most."""
    problem = received.problem
    has_begun = 200 <= received.status < 300
    usage = Usage(len(prompt.encode()), endpoint.model.max_tokens) if has_begun else Usage()
    if problem in (ExchangeProblem.DROPPED, ExchangeProblem.ABORTED):
        return Dropped(usage)
    again: Literal["always", "never"] = "always" if problem == ExchangeProblem.TIMED_OUT else "never"
    text = problem_text(_url(endpoint), problem)
    return ModelFailure(received.status, text, is_explained=True, again=again, usage=usage)


def problem_text(url: Url, problem: ExchangeProblem) -> str:
    """In our words, not those of a library."""
    host, place = url.host, f"{url.host}:{url.port}"
    return {
        ExchangeProblem.UNKNOWN_HOST: f"cannot find the host {host}",
        ExchangeProblem.REFUSED: f"{place} refused the connection",
        ExchangeProblem.UNREACHABLE: f"cannot reach {place}",
        ExchangeProblem.UNTRUSTED: (
            f"the certificate of {host} is not trusted (set SSL_CERT_FILE to the CA that signed it)"
        ),
        ExchangeProblem.NO_AUTHORITIES: (
            f"the certificate of {host} is not trusted, and SSL_CERT_FILE names no file with certificates"
        ),
        ExchangeProblem.WRONG_NAME: f"the certificate is not for {host}",
        ExchangeProblem.TLS: f"TLS with {host} failed",
        ExchangeProblem.TIMED_OUT: f"no connection to {place} within 10s",
        ExchangeProblem.LATE: "no answer in time",
        ExchangeProblem.TOO_LARGE: "the answer is larger than 16 MB",
        ExchangeProblem.NO_FILES: "this process is out of file descriptors: raise ulimit -n",
        ExchangeProblem.NO_THREADS: "the system gives this process no more threads: raise ulimit -u",
        ExchangeProblem.MALFORMED: f"the answer of {place} is not HTTP",
    }[problem]


def _json(body: bytes) -> Json | None:
    try:
        return read_json(body.decode())
    except (UnicodeDecodeError, NotJson):
        return None


def _members(item: Json | None) -> tuple[tuple[str, Json], ...]:
    """The keys and values of an object, in their order; none of anything else."""
    return item.value if item is not None and item.kind == "object" else ()


def _without_text(endpoint: Endpoint, content: Json) -> str:
    """Some gateways say status 200, and then what went wrong."""
    message, _ = _failure(content)
    told = "the provider's answer has no text"
    return told if message is None or is_blank(message) else f"{told}: {without_key(endpoint.key, message)}"


def _read_answer(endpoint: Endpoint, schema: Schema, prompt: str, received: Received, body: bytes) -> ModelReply:
    """`body` is that which came, without the key."""
    status, body_bytes = received.status, len(received.body)
    content = _json(body)
    if content is None:
        beginning = body[: 4 * SHOWN_CHARACTERS_MAX].decode("utf-8", "replace")
        shown = without_key(endpoint.key, beginning)[:SHOWN_CHARACTERS_MAX]
        message = "the provider's answer is empty" if is_blank(shown) else f"the provider's answer is not JSON: {shown}"
        return ModelFailure(status, message, usage=Usage(len(prompt.encode()), body_bytes))
    is_anthropic = endpoint.model.provider == "Anthropic"
    text, stop, counted = _read_anthropic(content) if is_anthropic else _read_openai(content)
    if text is None:
        if stop == "complete":
            message = _without_text(endpoint, content)
            return ModelFailure(status, message, usage=counted.usage(prompt, body_bytes))
        text = ""
    usage = counted.usage(prompt, len(text.encode()))
    if schema.way == "wrapped" and stop == "complete":
        text = _unwrapped(text)
    return ModelAnswer(without_key(endpoint.key, text), stop, usage)


def _unwrapped(text: str) -> str:
    """The value of an object that has just the field `answer`; anything else as it stands."""
    try:
        members = _members(read_json(text))
    except NotJson:
        return text
    return members[0][1].text if len(members) == 1 and members[0][0] == WRAPPER else text


def _read_anthropic(content: Json) -> tuple[str | None, Stop, _Counted]:
    text: str | None = None
    stop: Stop = "complete"
    counted = _Counted()
    for key, value in _members(content):
        if key == "content" and value.kind == "array":
            pieces = (piece for block in value.value for piece in _members(block))
            text = "".join(part.value for name, part in pieces if name == "text" and part.kind == "string")
        elif key == "stop_reason":
            stop = STOPS[value.value] if value.kind == "string" and value.value in ANTHROPIC_STOPS else "complete"
        elif key == "usage":
            counted = counted.plus(_count(value, ANTHROPIC_INPUT), _count(value, ("output_tokens",)))
    return text, stop, counted


def _read_openai(content: Json) -> tuple[str | None, Stop, _Counted]:
    text: str | None = None
    stop: Stop = "complete"
    counted = _Counted()
    for key, value in _members(content):
        if key == "choices" and value.kind == "array":
            if value.value:
                text, stop = _read_choice(value.value[0], text, stop)
        elif key == "usage":
            counted = counted.plus(_count(value, ("prompt_tokens",)), _count(value, ("completion_tokens",)))
    return text, stop, counted


def _read_choice(choice: Json, text: str | None, stop: Stop) -> tuple[str | None, Stop]:
    refusal: str | None = None
    for key, value in _members(choice):
        if key == "message":
            for name, part in _members(value):
                if name == "content":
                    text = part.value if part.kind == "string" else None
                elif name == "refusal":
                    refusal = part.value if part.kind == "string" else None
        elif key == "finish_reason":
            stop = STOPS[value.value] if value.kind == "string" and value.value in OPENAI_STOPS else "complete"
    return (text, stop) if refusal is None else (refusal, "refusal")


@dataclass(frozen=True, slots=True)
class _Counted:
    """The tokens that an answer counts; None where it does not."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    def plus(self, input_tokens: int | None, output_tokens: int | None) -> _Counted:
        return _Counted(_sum(self.input_tokens, input_tokens), _sum(self.output_tokens, output_tokens))

    def usage(self, prompt: str, bytes_said: int) -> Usage:
        """What is not counted has at most one token for each byte."""
        return Usage(
            len(prompt.encode()) if self.input_tokens is None else self.input_tokens,
            bytes_said if self.output_tokens is None else self.output_tokens,
        )


def _sum(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return left if right is None else right
    return min(left + right, INT_MAX)


def _count(usage: Json, names: tuple[str, ...]) -> int | None:
    """The tokens under these names, each number rounded up; None where there is none that is 0 or more."""
    tokens: int | None = None
    for name, value in _members(usage):
        if name in names and value.kind == "number" and not value.text.startswith("-"):
            tokens = _sum(tokens, _tokens(value.text))
    return tokens


def _tokens(number: str) -> int:
    if number.isdecimal():
        return min(int(number), INT_MAX) if len(number) < 20 else INT_MAX
    count = float(number)
    return math.ceil(count) if count < 2.0**63 else INT_MAX


def _read_error(endpoint: Endpoint, received: Received, body: bytes) -> ModelFailure:
    message, code = _failure(_json(body))
    if message is not None:
        message = without_key(endpoint.key, message)
    return ModelFailure(received.status, message, code, received.headers.get("retry-after", ""))


def _failure(content: Json | None) -> tuple[str | None, str]:
    """Message and code of `{"error": {"message": …, "code": …, "details": {"error_code": …}}}`, or of a text as `error`
    or `message`."""
    message: str | None = None
    code = ""
    for key, value in _members(content):
        if key == "error" and value.kind == "object":
            message, code = _read_details(value, message, code)
        elif key in ("error", "message") and value.kind == "string":
            message = value.value
    return message, code


def _read_details(error: Json, message: str | None, code: str) -> tuple[str | None, str]:
    for key, value in _members(error):
        if key == "message":
            message = value.value if value.kind == "string" else None
        elif key == "code" and value.kind == "string":
            code = value.value
        elif key == "details":
            for name, part in _members(value):
                if name == "error_code" and part.kind == "string":
                    code = part.value
    return message, code


def failure_text(endpoint: Endpoint, failure: ModelFailure) -> str:
    """What a program is told of a failure: the provider's own words, and what to do in front."""
    return told_without_key(endpoint.key, _failure_text(endpoint, failure))


def _failure_text(endpoint: Endpoint, failure: ModelFailure) -> str:
    message = failure.message
    if message is not None and is_blank(message):
        message = None
    if failure.is_explained:
        assert message is not None
        return message
    variable = KEY_VARIABLES[endpoint.model.provider]
    name = endpoint.model.name
    base_url = endpoint.base_url.rstrip("/")
    known = {
        401: f"the key in {variable} was refused",
        403: f"the key in {variable} may not use {name}",
        404: f'there is no model "{name}" at {base_url}',
        407: f"the proxy wants a name and a password: set {_proxy_variable(base_url)} to http://NAME:PASSWORD@HOST:PORT",
        413: "the prompt is too large",
    }.get(failure.status)
    if known is None:
        return f"HTTP {failure.status}" if message is None else message
    return known if message is None else f"{known}: {message}"


def _proxy_variable(base_url: str) -> str:
    return "HTTP_PROXY" if base_url[:5].lower() == "http:" else "HTTPS_PROXY"


def refusal_text(text: str) -> str:
    return "refused" if is_blank(text) else f"refused: {text}"


def is_blank(text: str) -> bool:
    return not text.strip(BLANKS)
