"""The scripted model: replies from a JSON file, in the order in which requests arrive (spec 8.4.script).

Every key and value is checked, and a mistake named with its place: a script that is quietly misread would make a test
that proves nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from kavachc.interpreter.arithmetic import INT_MAX
from kavachc.interpreter.decode import whole_number
from kavachc.interpreter.json_text import DEPTH_MAX, Json, NotJson, read_json
from kavachc.interpreter.replies import DROPPED, ModelAnswer, ModelFailure, ModelReply, Stop, Usage
from kavachc.interpreter.show import DURATION_UNITS

# A file of this size or more, such as one without an end (`/dev/zero`), cannot be read.
SCRIPT_BYTES_MAX = 256 << 20
# An answer stands inside the file's object, the array of replies and its reply.
SCRIPT_DEPTH_MAX = DEPTH_MAX + 3

# What an answer takes where its reply does not say.
INPUT_TOKENS = 60
OUTPUT_TOKENS = 10

STOP_REASONS: dict[str, Stop] = {
    "end_turn": "complete",
    "stop_sequence": "complete",
    "refusal": "refusal",
    "max_tokens": "cut_off",
    "model_context_window_exceeded": "cut_off",
}


@dataclass(frozen=True, slots=True)
class WireDetails:
    """What a reply says over HTTP beyond what a program sees of it (`kavachc mock-provider`). `headers` have lower-case
    names."""

    headers: tuple[tuple[str, str], ...] = ()
    stop_reason: str = "end_turn"
    input_tokens: int = INPUT_TOKENS
    output_tokens: int = OUTPUT_TOKENS


@dataclass(slots=True)
class ScriptedReply:
    reply: ModelReply
    delay_ns: int
    times_left: int
    when: str | None
    wire: WireDetails


@dataclass(slots=True)
class Script:
    """`capacity` holds (from when on, how many may be under way), ascending; before the first, and without any, there
    is no bound."""

    replies: list[ScriptedReply]
    then: Literal["repeat_last", "fail"] = "repeat_last"
    capacity: list[tuple[int, int]] = field(default_factory=list)

    def next(self, prompt: str) -> ScriptedReply | None:
        """The reply for a request that arrives now: those with a `when` that fits first; None when none is left."""
        matching = [reply for reply in self.replies if reply.when is not None and reply.when in prompt]
        plain = [reply for reply in self.replies if reply.when is None]
        for reply in matching + plain:
            if reply.times_left > 0:
                reply.times_left -= 1
                return reply
        candidates = plain or matching
        return candidates[-1] if self.then == "repeat_last" and candidates else None

    def capacity_at(self, since_start_ns: int) -> int | None:
        current = [capacity for from_ns, capacity in self.capacity if from_ns <= since_start_ns]
        return current[-1] if current else None


class ScriptError(Exception):
    """The script is not valid; says what is wrong and where."""


def load_script(path: str) -> Script:
    """Reads the file; raises `ScriptError`."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(SCRIPT_BYTES_MAX)
    except OSError:
        raise ScriptError("cannot be read") from None
    if len(content) == SCRIPT_BYTES_MAX:
        raise ScriptError("cannot be read")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise ScriptError("not valid UTF-8") from None
    return read_script(text)


def read_script(text: str) -> Script:
    """The script that a JSON text is; raises `ScriptError`."""
    try:
        content = read_json(text, SCRIPT_DEPTH_MAX, keeps_lone_surrogates=True)
    except NotJson as wrong:
        line = text.count("\n", 0, wrong.position) + 1
        column = wrong.position - text.rfind("\n", 0, wrong.position)
        raise ScriptError(f"no valid JSON at line {line}, column {column}: {wrong.problem}") from None
    keys = _keys(content, {"replies": _replies, "then": _then, "capacity": _capacity}, "")
    if "replies" not in keys:
        raise ScriptError('the key "replies" is missing')
    return Script(**keys)


def _keys(item: Json, readers: dict[str, Callable[[Json, str], Any]], path: str) -> dict[str, Any]:
    """An object with some of these keys, each at most once, each value read by its reader."""
    if item.kind != "object":
        raise _invalid(path, "expected an object")
    keys: dict[str, Any] = {}
    for name, value in item.value:
        if _whole_text(name, path) not in readers:
            raise _invalid(path, f'unknown key "{name}"')
        place = f"{path}.{name}" if path else name
        if name in keys:
            raise _invalid(place, "the key is given twice")
        keys[name] = readers[name](value, place)
    return keys


def _invalid(path: str, problem: str) -> ScriptError:
    return ScriptError(f"{path}: {problem}" if path else problem)


def _replies(item: Json, path: str) -> list[ScriptedReply]:
    if item.kind != "array":
        raise _invalid(path, "expected an array of replies")
    return [_reply(part, f"{path}[{index}]") for index, part in enumerate(item.value)]


def _reply(item: Json, path: str) -> ScriptedReply:
    keys = _keys(item, REPLY_KEYS, path)
    kinds = [name for name in ("answer", "text", "status", "drop") if name in keys]
    if len(kinds) != 1:
        raise _invalid(path, 'needs exactly one of "answer", "text", "status" and "drop"')
    for name in ("input_tokens", "output_tokens", "stop_reason"):
        if name in keys and kinds[0] not in ("answer", "text"):
            raise _invalid(path, f'"{name}" goes with "answer" or "text" only')
    for name in ("headers", "message", "error_code"):
        if name in keys and kinds[0] != "status":
            raise _invalid(path, f'"{name}" goes with "status" only')
    wire = WireDetails(**{name: keys[name] for name in WIRE_KEYS if name in keys})
    reply = _model_reply(keys, kinds[0], wire)
    return ScriptedReply(reply, keys.get("delay", 0), keys.get("times", 1), keys.get("when"), wire)


def _model_reply(keys: dict[str, Any], kind: str, wire: WireDetails) -> ModelReply:
    if kind == "drop":
        return DROPPED
    if kind == "status":
        status = keys["status"]
        return ModelFailure(
            status, keys.get("message"), keys.get("error_code", ""), dict(wire.headers).get("retry-after", "")
        )
    usage = Usage(wire.input_tokens, wire.output_tokens)
    return ModelAnswer(keys[kind], STOP_REASONS[wire.stop_reason], usage)


def _whole_number(least: int, most: int) -> Callable[[Json, str], int]:
    def read(item: Json, path: str) -> int:
        number = whole_number(item)
        if number is not None and least <= number <= most:
            return number
        if least == most:
            raise _invalid(path, f'expected {least}, or a text such as "2s"')
        bounds = f"{least} up" if most == INT_MAX else f"{least} to {most}"
        raise _invalid(path, f"expected a whole number from {bounds}")

    return read


def _text(item: Json, path: str) -> str:
    if item.kind != "string":
        raise _invalid(path, "expected a text")
    return _whole_text(item.value, path)


def _whole_text(text: str, path: str) -> str:
    if not _is_text(text):
        raise _invalid(path, "half of a surrogate pair is no text")
    return text


def _when(item: Json, path: str) -> str:
    text = _text(item, path)
    if not text:
        raise _invalid(path, "expected a text that is not empty")
    return text


def _literally_true(item: Json, path: str) -> bool:
    if item.value is not True:
        raise _invalid(path, "expected true")
    return True


def _duration(item: Json, path: str) -> int:
    parts = re.fullmatch(r"0*([0-9]{1,19})([a-z]+)", _text(item, path))
    units = dict(DURATION_UNITS)
    if parts and parts[2] in units:
        duration_ns = int(parts[1]) * units[parts[2]]
        if duration_ns <= INT_MAX:
            return duration_ns
    raise _invalid(path, 'expected a duration such as "50ms"')


def _stop_reason(item: Json, path: str) -> str:
    text = _text(item, path)
    if text not in STOP_REASONS:
        *first, last = (f'"{name}"' for name in STOP_REASONS)
        raise _invalid(path, f"expected {', '.join(first)} or {last}")
    return text


def _headers(item: Json, path: str) -> tuple[tuple[str, str], ...]:
    """Names in lower case, each once, with its last value. `retry-after` alone means anything in process."""
    if item.kind != "object":
        raise _invalid(path, "expected an object of texts")
    values = {_whole_text(name, path).lower(): _text(value, path) for name, value in item.value}
    return tuple(values.items())


def _then(item: Json, path: str) -> str:
    text = _text(item, path)
    if text not in ("repeat_last", "fail"):
        raise _invalid(path, 'expected "repeat_last" or "fail"')
    return text


def _capacity(item: Json, path: str) -> list[tuple[int, int]]:
    number = _whole_number(0, INT_MAX)
    if item.kind == "number":
        return [(0, number(item, path))]
    wanted = _invalid(path, "expected a number, or a list of [time, number] with ascending times")
    if item.kind != "array":
        raise wanted
    steps: list[tuple[int, int]] = []
    for pair in item.value:
        if pair.kind != "array" or not pair.value:
            raise wanted
        time, *capacity = pair.value
        from_ns = _whole_number(0, 0)(time, path) if time.kind == "number" else _duration(time, path)
        if not capacity or (steps and from_ns <= steps[-1][0]):
            raise wanted
        steps.append((from_ns, number(capacity[0], path)))
        if len(capacity) > 1:
            raise wanted
    return steps


def _answer(item: Json, path: str) -> str:
    """The value as JSON without white space; numbers stay as they were written."""
    match item.kind:
        case "array":
            return f"[{','.join(_answer(part, path) for part in item.value)}]"
        case "object":
            return f"{{{','.join(f'{_encoded(name)}:{_answer(value, path)}' for name, value in item.value)}}}"
        case "string":
            return _encoded(item.value)
        case _:
            return item.text


def _encoded(text: str) -> str:
    # Escapes half of a surrogate pair again, which could not be written otherwise.
    return json.dumps(text, ensure_ascii=not _is_text(text))


def _is_text(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


WIRE_KEYS = ("headers", "stop_reason", "input_tokens", "output_tokens")
REPLY_KEYS: dict[str, Callable[[Json, str], Any]] = {
    "answer": _answer,
    "text": _text,
    "status": _whole_number(400, 599),
    "drop": _literally_true,
    "input_tokens": _whole_number(0, INT_MAX),
    "output_tokens": _whole_number(0, INT_MAX),
    "stop_reason": _stop_reason,
    "headers": _headers,
    "message": _text,
    "error_code": _text,
    "delay": _duration,
    "times": _whole_number(1, INT_MAX),
    "when": _when,
}
