"""Reads an audit log: checks its chain, and shows it to people (docs/audit-log.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kavachc.audit.format import FIRST, LINE, digest
from kavachc.errors import unreadable


@dataclass(slots=True)
class Contents:
    """`events` are the lines up to the first that is wrong, `hashes` theirs; `problem` tells what is wrong there."""

    events: list[dict[str, Any]] = field(default_factory=list)
    hashes: list[str] = field(default_factory=list)
    problem: str | None = None

    @property
    def note(self) -> str | None:
        """What cannot be told apart from lines that were removed at the end."""
        if not self.events or self.events[-1]["event"] == "stop":
            return None
        return "the last run has no end: it was stopped or is under way, or lines were removed at the end"


def read_file(path: str) -> Contents:
    """The file's contents; raises `ToolError` where it cannot be read."""
    try:
        return read(Path(path).read_bytes())
    except OSError as error:
        raise unreadable(path, error, "an audit log") from None


def read(content: bytes) -> Contents:
    contents = Contents()
    *lines, torn = content.split(b"\n")
    previous = FIRST
    for number, line in enumerate(lines, start=1):
        event = _event(line)
        if event is None:
            is_no_log = number == 1 and not any(LINE.fullmatch(item) for item in lines)
            contents.problem = (
                "no line of it is one of an audit log"
                if is_no_log
                else f"line {number} was changed: it is no line of an audit log"
            )
            return contents
        if event["previous"] != previous:
            contents.problem = (
                "line 1 does not begin a log: lines before it were removed, or it was changed or moved"
                if number == 1
                else f"line {number} does not follow from line {number - 1}: "
                "one of them was changed or moved, or lines between them were removed"
            )
            return contents
        previous = digest(line)
        contents.events.append(event)
        contents.hashes.append(previous)
    if torn and not lines and not torn.startswith(b'{"previous":'):
        contents.problem = "no line of it is one of an audit log"
    elif torn:
        contents.problem = f"line {len(lines) + 1} was not written to its end"
    return contents


def _event(line: bytes) -> dict[str, Any] | None:
    if LINE.fullmatch(line) is None:
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    # A key that is there twice counts with its last value.
    kinds = {"previous": str, "time": int, "event": str}
    return event if all(isinstance(event[name], kind) for name, kind in kinds.items()) else None


def text_lines(events: list[dict[str, Any]]) -> Iterator[str]:
    """One line for each event, then the tokens of each model."""
    totals: dict[str, list[int]] = {}
    for event in events:
        yield f"{_time(event['time'])}  {_told(event)}"
        if event["event"] == "answer":
            _add(totals, event)
    for name, (tokens_in, tokens_out) in totals.items():
        yield f"in all  model: {_plain(name)}, {tokens_in} tokens in, {tokens_out} out"


def _add(totals: dict[str, list[int]], answer: dict[str, Any]) -> None:
    match answer:
        case {"model": str(name), "input_tokens": int(tokens_in), "output_tokens": int(tokens_out)}:
            total = totals.setdefault(name, [0, 0])
            total[0] += tokens_in
            total[1] += tokens_out


def _told(event: dict[str, Any]) -> str:
    try:
        match event["event"]:
            case "start":
                return "start" + "".join(f", {mode}" for name, mode in _MODES if event[name])
            case "call":
                return f"call {event['call']}  {_who(event)}: {_plain(event['target'])}: {_decision(event)}"
            case "request":
                return f"request {event['request']}  {_who(event)}: {_plain(event['method'])} {_plain(event['host'])}"
            case "response":
                status = f" {event['status']}" if event["status"] else ""
                message = "" if event["message"] is None else f": {_plain(event['message'])}"
                return f"request {event['request']}  end: {_plain(event['result'])}{status}{message}"
            case "observed":
                return f"observed  {_who(event)}: {_plain(event['target'])}: limit broken: {_plain(event['rule'])}"
            case "stop":
                return "stop"
            case _:
                return f"ask {event['ask']}  {_step(event)}"
    except (KeyError, TypeError):
        return f"{event['event']}  {_plain(json.dumps(event, ensure_ascii=False))}"


_MODES = (("dry_run", "a dry run"), ("virtual_time", "virtual time"))


def _step(event: dict[str, Any]) -> str:
    match event["event"]:
        case "ask":
            prompt = f", {_plain(json.dumps(event['prompt'], ensure_ascii=False))}" if "prompt" in event else ""
            return (
                f"{_who(event)} asks {_plain(event['model'])}: {event['prompt_bytes']} bytes, "
                f"sha256 {event['prompt_sha256']}{prompt}"
            )
        case "limit":
            return f"limit Ai: {_decision(event)}"
        case "gate":
            return f"gate: waited {_seconds(event['waited'])}"
        case "send":
            return f"try {event['try']}, send {event['send']}"
        case "answer":
            return f"model: {_plain(event['model'])}, {event['input_tokens']} tokens in, {event['output_tokens']} out"
        case "failure":
            return f"failure: {event['status']}: {_plain(event['message'])}"
        case "retry":
            return f"retry in {_seconds(event['wait'])}"
        case "end":
            status = f" {event['status']}" if event["result"] == "Failed" else ""
            message = "" if event["message"] is None else f": {_plain(event['message'])}"
            tokens = f"{event['input_tokens']} tokens in, {event['output_tokens']} out"
            return f"end: {_plain(event['result'])}{status}{message}; {tokens}"
        case other:
            return f"{other}  {_plain(json.dumps(event, ensure_ascii=False))}"


def _who(event: dict[str, Any]) -> str:
    return "no agent" if event["agent"] is None else _plain(event["agent"])


def _decision(event: dict[str, Any]) -> str:
    reason = "" if event["reason"] is None else f": {_plain(event['reason'])}"
    return f"{_plain(event['decision'])}{reason}"


def _plain(text: str) -> str:
    """What a terminal shows and does not obey."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def _seconds(duration_ns: int) -> str:
    whole, part = divmod(duration_ns, 1_000_000_000)
    return f"{whole}.{part:09}".rstrip("0").rstrip(".") + "s"


def _time(time_ns: int) -> str:
    seconds, part = divmod(time_ns, 1_000_000_000)
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        return f"{time_ns}ns"
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{part:09}".rstrip("0").rstrip(".") + "Z"
