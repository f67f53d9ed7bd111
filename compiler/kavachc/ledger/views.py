"""What a state file holds, as text for a terminal, as JSON, and as a page that needs nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from html import escape
from math import isfinite

from kavachc.ledger.reading import Contents, Row

BAR_CELLS = 24
SPARK_CELLS = 48
COLUMNS = 96
KEYS_IN_TEXT, KEYS_IN_PAGE = 10, 100
_SPARKS = "▁▂▃▄▅▆▇█"
_UNITS = (("d", 86_400 * 10**9), ("h", 3_600 * 10**9), ("m", 60 * 10**9), ("s", 10**9), ("ms", 10**6))


def utc(time_ns: int) -> str:
    days, seconds = divmod(time_ns // 10**9, 86_400)
    minutes, second = divmod(seconds, 60)
    return f"{_date(days)}T{minutes // 60:02}:{minutes % 60:02}:{second:02}Z"


@lru_cache(1024)
def _date(days: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=days)).isoformat()


def length(duration_ns: int) -> str:
    """The two greatest units: `1d 4h`, `59m 3s`, `0s`."""
    parts: list[str] = []
    for unit, size in _UNITS:
        count, duration_ns = divmod(duration_ns, size)
        if count or (parts and len(parts) < 2):
            parts.append(f"{count}{unit}")
        if len(parts) == 2:
            break
    shown = [part for part in parts if not part.startswith("0")]
    return " ".join(shown) or "0s"


#: What a terminal takes for an order, what turns the direction of text, and what is no character at all: a state file
#: can be anybody's.
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def plain(text: str) -> str:
    """Safe to show anywhere: `\\u{9b}` in place of what is not to be shown as it is."""
    return _UNSHOWN.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)


def _amount(row: Row, amount: int | float) -> str:
    if row.bound is not None and row.bound.is_duration and isinstance(amount, int):
        return length(amount)
    return f"{amount:_}"


def _bound(row: Row) -> str:
    """Written as amounts are, however the program writes it; as there where its value is not known."""
    if row.bound is None:
        return "?"
    return plain(row.bound.text) if row.bound.value is None else _amount(row, row.bound.value)


def _room(row: Row) -> str:
    returns_ns = row.room_returns_ns()
    if returns_ns is None:
        return "room never"
    return "room now" if returns_ns == 0 else f"room in {length(returns_ns)}"


def _used(row: Row) -> str:
    return f"{_amount(row, row.used)} of {_bound(row)}"


def buckets(row: Row, count: int) -> list[float]:
    """What each part of the window holds, the oldest first."""
    found = [0.0] * count
    for age, amount in row.entries:
        place = count - 1 - min(count - 1, age * count // row.length_ns)
        found[place] += amount
    return found


def levels(row: Row, count: int) -> list[float]:
    """The same as parts of the largest, which is 1.0 (if there is any)."""
    parts = buckets(row, count)
    most = max(parts)
    return [0.0 if part == 0 else 1.0 if part == most else part / most for part in parts]


def bar(share: float | None) -> str:
    filled = 0 if share is None else round(max(0.0, min(1.0, share)) * BAR_CELLS)
    if share and not filled:
        filled = 1
    return "█" * filled + "░" * (BAR_CELLS - filled)


def sparkline(row: Row) -> str:
    return "".join("·" if level == 0 else _SPARKS[min(7, int(level * 7.999))] for level in levels(row, SPARK_CELLS))


@dataclass(frozen=True, slots=True)
class Rule:
    """`shown` is the one window of a rule, or its fullest keys; then how many keys and records are not shown."""

    shown: list[Row]
    key_count: int
    record_count: int


def _by_agent(contents: Contents, keys_max: int) -> Iterator[tuple[str, str, list[Rule]]]:
    """Agent, target and their rules, in the order in which they came into the file."""
    groups: dict[tuple[str, str], dict[object, list[Row]]] = {}
    for row in contents.rows:
        rule = (row.rule, row.length_ns, row.is_float, row.key is None)
        groups.setdefault((row.agent, row.target), {}).setdefault(rule, []).append(row)
    for (agent, target), rules in groups.items():
        yield plain(agent), plain(target), [_fullest(rows, keys_max) for rows in rules.values()]


def _fullest(rows: list[Row], keys_max: int) -> Rule:
    if len(rows) > keys_max:
        rows.sort(key=lambda row: (-(row.share or 0.0), row.key or ""))
    rest = rows[keys_max:]
    return Rule(rows[:keys_max], len(rest), sum(len(row.entries) for row in rest))


def text_lines(contents: Contents) -> Iterator[str]:
    written = "never written to" if contents.last_written_utc_ns is None else utc(contents.last_written_utc_ns)
    yield f"{plain(contents.path)}: {len(contents.rows):_} windows, {contents.size:_} bytes, last record {written}"
    if contents.torn_bytes:
        yield f"its last {contents.torn_bytes} bytes are a record that was not written to its end"
    for agent, target, rules in _by_agent(contents, KEYS_IN_TEXT):
        yield ""
        yield f"{agent} on {target}"
        for rule in rules:
            for row in rule.shown:
                yield from _row_lines(row)
            if rule.key_count:
                yield f"    {_more(rule)}; --json has them all"


def _more(rule: Rule) -> str:
    return f"… and {rule.key_count:_} more key{'s'[: rule.key_count != 1]} with {_records(rule.record_count)}"


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count:_} records"


def _row_lines(row: Row) -> Iterator[str]:
    key = "" if row.key is None else f"  {plain(json.dumps(row.key, ensure_ascii=False))}"
    yield f"  {plain(row.rule)}{key}"
    percent = "" if row.share is None else f" {row.share:4.0%}"
    reserved = f", {row.reserved} of them not settled" if row.reserved else ""
    records = _records(len(row.entries))
    yield f"    {bar(row.share)}{percent}  {_used(row)}, {records}{reserved}, {_room(row)}"
    yield f"    {sparkline(row)}  {length(row.length_ns)} ago to now"


def json_lines(contents: Contents) -> Iterator[str]:
    """One object, with a line for each window."""
    head: dict[str, str | int | None] = {
        "file": contents.path,
        "bytes": contents.size,
        "frames": contents.frame_count,
        "records": contents.item_count,
        "rewritten": contents.generation - 1,
        "torn_bytes": contents.torn_bytes,
        "last_record": None if contents.last_written_utc_ns is None else utc(contents.last_written_utc_ns),
        "read": utc(contents.now_utc_ns),
    }
    yield "{"
    yield from (f"  {_json(name)}: {_json(value)}," for name, value in head.items())
    yield '  "windows": ['
    for place, row in enumerate(contents.rows, 1):
        yield f"    {_json_row(row, contents.now_utc_ns)}{','[: place < len(contents.rows)]}"
    yield "  ]"
    yield "}"


_encode = json.JSONEncoder(ensure_ascii=False).encode


def _json(value: str | int | float | None) -> str:
    """On one line, safe to show anywhere. JSON has no infinity."""
    if value is None:
        return "null"
    if isinstance(value, str):
        text = _encode(value)
        return text if text.isprintable() else _UNSHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return repr(value) if isfinite(value) else f'"{value}"'


@lru_cache(1024)
def _json_of_rule(agent: str, target: str, rule: str) -> str:
    return f'"agent": {_json(agent)}, "target": {_json(target)}, "rule": {_json(rule)}'


def _json_row(row: Row, now_utc_ns: int) -> str:
    returns_ns = row.room_returns_ns()
    room = _json(None if returns_ns is None else returns_ns / 1e9)
    entries = [f'{{"time": "{utc(now_utc_ns - age)}", "amount": {_json(amount)}}}' for age, amount in row.entries]
    return (
        f'{{{_json_of_rule(row.agent, row.target, row.rule)}, "key": {_json(row.key)}, '
        f'"window_seconds": {row.length_ns / 1e9}, "bound": {_json(row.bound.value if row.bound else None)}, '
        f'"used": {_json(row.used)}, "not_settled": {row.reserved}, "room_returns_in_seconds": {room}, '
        f'"entries": [{", ".join(entries)}]}}'
    )


_STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#1b1b1f, #ececf1); --faint: light-dark(#e4e4ea, #35353d);
  --full: light-dark(#2463b8, #7fb0f5); --over: light-dark(#b3261e, #ff8a80); }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.3rem } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem } code { font-size: .95em }
.window { margin: 0 0 1.2rem } .window p { margin: .15rem 0 } svg { display: block; width: 100% }
.small { opacity: .75; font-size: .87rem }
"""


def as_page(contents: Contents) -> str:
    title = escape(plain(contents.path))
    parts = [
        f"<!doctype html>\n<html lang=en><meta charset=utf-8><title>{title}</title>",
        '<meta name=viewport content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style>\n<h1>{title}</h1>",
        f"<p class=small>{len(contents.rows):_} windows, {contents.size:_} bytes, read {utc(contents.now_utc_ns)}</p>",
    ]
    for agent, target, rules in _by_agent(contents, KEYS_IN_PAGE):
        parts.append(f"<h2>{escape(agent)} on {escape(target)}</h2>")
        for rule in rules:
            parts.extend(_page_row(row) for row in rule.shown)
            if rule.key_count:
                parts.append(f"<p class=small>{_more(rule)}</p>")
    return "\n".join([*parts, "</html>", ""])


def _page_row(row: Row) -> str:
    key = "" if row.key is None else f" <b>{escape(plain(row.key))}</b>"
    share = row.share or 0.0
    colour = "var(--over)" if share >= 1 else "var(--full)"
    width = max(0.0, min(1.0, share)) * 600
    columns = "".join(
        f'<rect x="{place * 6.25:.2f}" y="{60 - level * 58:.2f}" width="5.25" height="{level * 58:.2f}"/>'
        for place, level in enumerate(levels(row, COLUMNS))
        if level
    )
    what = f"{_used(row)}, {_records(len(row.entries))}, {_room(row)}"
    return (
        f"<div class=window><p><code>{escape(plain(row.rule))}</code>{key}</p>"
        f'<svg viewBox="0 0 600 12" role=img aria-label="{escape(what, quote=True)}">'
        f'<rect width="600" height="12" rx="3" fill="var(--faint)"/>'
        f'<rect width="{width:.1f}" height="12" rx="3" fill="{colour}"/></svg>'
        f"<p>{escape(what)}</p>"
        f'<svg viewBox="0 0 600 62" role=img aria-label="records over time"><g fill="{colour}">{columns}</g>'
        f'<path d="M0 61H600" stroke="var(--faint)"/></svg>'
        f"<p class=small>{length(row.length_ns)} ago to now</p></div>"
    )
