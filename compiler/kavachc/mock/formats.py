"""The two wire formats as a provider sees them: what a request must be, and what answers and errors look like.

Written from the providers' documentation and not from `interpreter/provider.py`, so that each checks the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kavachc.mock.schema_rules import anthropic_problem, openai_problem

HALF_OF_A_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that is as it should be. `prompt` is all the text in it; `schema` the JSON schema that the answer must
    fit, where there is one."""

    model: str
    prompt: str
    max_tokens: int | None
    schema: Any = None


class Refused(Exception):
    """A request that the provider would refuse."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class ModelText:
    """What the model said. `stop_reason` is in Anthropic's words."""

    text: str
    stop_reason: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class WireFormat:
    """`read` raises `Refused`; `answer` and `error` give the body. `key_header` is what a request cannot be without;
    its provider's SDKs may send an `Authorization` instead."""

    name: str
    path: str
    key_header: str
    request_id_header: str
    read: Callable[[Mapping[str, str], bytes], Asked]
    answer: Callable[[str, str, ModelText], bytes]
    error: Callable[[int, str | None, str, str], bytes]


def _encoded(content: dict[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _content(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "The request body is not valid JSON") from None
    if not isinstance(content, dict):
        raise Refused(400, "The request body is not a JSON object")
    # Only an escape can bring half of a surrogate pair, which nothing could write on.
    if HALF_OF_A_PAIR.search(body) and not _is_text(json.dumps(content, ensure_ascii=False)):
        raise Refused(400, "The request body is not valid JSON: half of a surrogate pair")
    return content


def _is_text(content: str) -> bool:
    try:
        content.encode()
    except UnicodeEncodeError:
        return False
    return True


def _field(content: Mapping[str, Any], name: str, wanted: type, place: str = "") -> Any:
    if name not in content:
        raise Refused(400, f"{place}{name}: Field required")
    value = content[name]
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise Refused(400, f"{place}{name}: Input should be a valid {_WORDS[wanted]}")
    return value


_WORDS: dict[type, str] = {str: "string", int: "integer", list: "list", dict: "dictionary"}


def _positive(content: Mapping[str, Any], name: str) -> int:
    number: int = _field(content, name, int)
    if number < 1:
        raise Refused(400, f"{name}: must be greater than or equal to 1")
    return number


def _text_of(content: Any, place: str) -> str:
    """The text of a message or a system prompt: a string, or a list of blocks of which some are text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Refused(400, f"{place}: Input should be a valid string or list")
    return "\n".join(
        block["text"] for block in content if isinstance(block, dict) and isinstance(block.get("text"), str)
    )


def _messages(content: dict[str, Any], roles: tuple[str, ...]) -> list[str]:
    texts: list[str] = []
    for index, message in enumerate(_field(content, "messages", list)):
        place = f"messages.{index}"
        if not isinstance(message, dict):
            raise Refused(400, f"{place}: Input should be a valid dictionary")
        if _field(message, "role", str, f"{place}.") not in roles:
            raise Refused(400, f"{place}.role: Input should be {' or '.join(roles)}")
        if "content" not in message:
            raise Refused(400, f"{place}.content: Field required")
        texts.append(_text_of(message["content"] or "", f"{place}.content"))
    if not texts:
        raise Refused(400, "messages: at least one message is required")
    return texts


def _no_stream(content: dict[str, Any]) -> None:
    if content.get("stream"):
        raise Refused(400, "stream: kavachc mock-provider answers whole, and does not stream")


# ---- Anthropic Messages


ANTHROPIC_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    409: "conflict_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def _read_anthropic(headers: Mapping[str, str], body: bytes) -> Asked:
    if "anthropic-version" not in headers:
        raise Refused(400, "anthropic-version: header is required")
    content = _content(body)
    model = _field(content, "model", str)
    max_tokens = _positive(content, "max_tokens")
    texts = _messages(content, ("user", "assistant"))
    if any(not text for text in texts[:-1]) or not texts[-1]:
        raise Refused(400, "messages: text content blocks must be non-empty")
    _no_stream(content)
    if "system" in content:
        texts.insert(0, _text_of(content["system"], "system"))
    schema = None
    if "output_config" in content:
        output = _field(content, "output_config", dict)
        if "format" in output:
            form = _field(output, "format", dict, "output_config.")
            if form.get("type") != "json_schema":
                raise Refused(400, "output_config.format.type: Input should be 'json_schema'")
            schema = _field(form, "schema", dict, "output_config.format.")
            if problem := anthropic_problem(schema):
                raise Refused(400, f"output_config.format.schema: {problem}")
    return Asked(model, "\n".join(texts), max_tokens, schema)


def _answer_anthropic(identity: str, model: str, said: ModelText) -> bytes:
    return _encoded(
        {
            "id": f"msg_{identity}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [{"type": "text", "text": said.text}] if said.text else [],
            "stop_reason": said.stop_reason,
            "stop_sequence": None,
            "usage": {
                "input_tokens": said.input_tokens,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": said.output_tokens,
            },
        }
    )


def _error_anthropic(status: int, message: str | None, error_code: str, identity: str) -> bytes:
    error: dict[str, Any] = {"type": ANTHROPIC_ERRORS.get(status, "api_error")}
    if message is not None:
        error["message"] = message
    if error_code:
        error["details"] = {"error_code": error_code}
    return _encoded({"type": "error", "error": error, "request_id": identity})


# ---- OpenAI-compatible chat completions


OPENAI_ERRORS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
OPENAI_FINISHES = {"max_tokens": "length", "model_context_window_exceeded": "length"}
OPENAI_ROLES = ("user", "assistant", "system", "developer", "tool")


def _read_openai(_headers: Mapping[str, str], body: bytes) -> Asked:
    content = _content(body)
    model = _field(content, "model", str)
    texts = _messages(content, OPENAI_ROLES)
    _no_stream(content)
    max_tokens = None
    for name in ("max_completion_tokens", "max_tokens"):
        if content.get(name) is not None:
            max_tokens = _positive(content, name)
            break
    schema = None
    form = content.get("response_format")
    if form is not None:
        if not isinstance(form, dict) or form.get("type") not in ("text", "json_object", "json_schema"):
            raise Refused(400, "Invalid value for 'response_format.type'")
        if form["type"] == "json_schema":
            named = _field(form, "json_schema", dict, "response_format.")
            _field(named, "name", str, "response_format.json_schema.")
            schema = _field(named, "schema", dict, "response_format.json_schema.")
            problem = openai_problem(schema) if named.get("strict") else None
            if problem:
                raise Refused(400, f"Invalid schema for response_format '{named['name']}': {problem}")
    return Asked(model, "\n".join(texts), max_tokens, schema)


def _answer_openai(identity: str, model: str, said: ModelText) -> bytes:
    is_refusal = said.stop_reason == "refusal"
    message = {
        "role": "assistant",
        "content": None if is_refusal else said.text,
        "refusal": said.text if is_refusal else None,
    }
    return _encoded(
        {
            "id": f"chatcmpl-{identity}",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "logprobs": None,
                    "finish_reason": OPENAI_FINISHES.get(said.stop_reason, "stop"),
                }
            ],
            "usage": {
                "prompt_tokens": said.input_tokens,
                "completion_tokens": said.output_tokens,
                "total_tokens": said.input_tokens + said.output_tokens,
            },
        }
    )


def _error_openai(status: int, message: str | None, error_code: str, _identity: str) -> bytes:
    kind = OPENAI_ERRORS.get(status, "invalid_request_error" if status < 500 else "server_error")
    error: dict[str, Any] = {} if message is None else {"message": message}
    return _encoded({"error": {**error, "type": kind, "param": None, "code": error_code or None}})


ANTHROPIC = WireFormat(
    "anthropic", "/v1/messages", "x-api-key", "request-id", _read_anthropic, _answer_anthropic, _error_anthropic
)
OPENAI = WireFormat(
    "openai", "/v1/chat/completions", "authorization", "x-request-id", _read_openai, _answer_openai, _error_openai
)
FORMATS = {form.path: form for form in (ANTHROPIC, OPENAI)}
