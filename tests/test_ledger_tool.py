"""`kavachc ledger`: what a state file holds, as text, JSON and a page."""

from __future__ import annotations

import fcntl
import json
import re
import threading
import time
from dataclasses import replace
from html.parser import HTMLParser
from math import inf
from pathlib import Path

import pytest
from kavachc.errors import ToolError
from kavachc.ledger import views
from kavachc.ledger.bounds import bound_of
from kavachc.ledger.reading import Contents, Row, read_contents
from test_state_file import written

DAY = 86_400 * 10**9
HOUR = 3_600 * 10**9


def row(rule: str, entries: list[tuple[int, int | float]], *, length_ns: int = DAY, key: str | None = None) -> Row:
    is_float = any(isinstance(amount, float) for _, amount in entries)
    return Row("Refunder", "Payments.refund", rule, key, length_ns, is_float, bound_of(rule), tuple(entries), 0)


def as_json(contents: Contents) -> str:
    return "\n".join(views.json_lines(contents))


SAMPLE = Contents(
    "windows.state",
    2048,
    3,
    3,
    1,
    1_767_225_600 * 10**9,
    1_767_225_660 * 10**9,
    0,
    (
        row("sum(amount) <= 700 per day", [(23 * HOUR, 400), (HOUR, 300)]),
        row("count < 4 per day by customer", [(23 * HOUR, 1), (HOUR, 1)], key='<"ann">'),
    ),
)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("sum(amount) <= 50_000 per day", 50_000),
        ("count < 7 per 10m by key", 7),
        ("sum(amount) <= 2 * 350 - 1 per day", 699),
        ("sum(x) <= -7 / 2 per day", -3),
        ("sum(f) <= 99.5 per week", 99.5),
        ("sum(d) <= 10m + 1s per day", 601 * 10**9),
        ("sum(if a < b { 1 } else { 2 }) <= 9 per day", 9),
        ("sum(x) <= f() per day", None),
    ],
)
def test_the_bound_is_in_the_text(rule: str, value: int | float | None) -> None:
    found = bound_of(rule)
    assert found is not None
    if "if a" not in rule:
        assert found.value == value


def test_room_returns_when_enough_has_left() -> None:
    assert row("sum(amount) <= 700 per day", [(23 * HOUR, 400), (HOUR, 300)]).room_returns_ns() == HOUR
    assert row("sum(amount) <= 700 per day", [(23 * HOUR, 400)]).room_returns_ns() == 0
    assert row("count <= 1 per day", [(5 * HOUR, 1), (HOUR, 1)]).room_returns_ns() == 23 * HOUR
    assert row("count <= 0 per day", []).room_returns_ns() is None


def test_totals_of_floats_are_exact() -> None:
    """2^53 + 1 + 1 is a Float; rounded after each, it would be 2^53. When 2^53 has left, 2 is left."""
    entries = [(23 * HOUR, 2.0**53), (HOUR, 1.0), (HOUR, 1.0)]
    assert row("sum(f) <= 10.0 per day", entries).used == 2.0**53 + 2
    assert row("sum(f) <= 2.0 per day", entries).room_returns_ns() == HOUR
    assert row("sum(f) < 2.0 per day", entries).room_returns_ns() == 23 * HOUR


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ("sum(cents) <= 1_500_00 per day", "1_570 of 150_000"),
        ("sum(cents) <= 3 * 500 per day", "1_570 of 1_500"),
        ("sum(cents) <= f() per day", "1_570 of f()"),
        ("sum(cents) <= 2000s per day", "0s of 33m 20s"),
        ("r", "1_570 of ?"),
    ],
)
def test_what_is_used_and_the_bound_are_written_alike(rule: str, shown: str) -> None:
    lines = list(views.text_lines(replace(SAMPLE, rows=(row(rule, [(HOUR, 1570)]),))))
    assert f"  {shown}, 1 record, " in lines[4]


def test_the_text_has_a_bar_and_a_sparkline() -> None:
    lines = list(views.text_lines(SAMPLE))
    assert lines[:4] == [
        "windows.state: 2 windows, 2_048 bytes, last record 2026-01-01T00:00:00Z",
        "",
        "Refunder on Payments.refund",
        "  sum(amount) <= 700 per day",
    ]
    assert lines[4] == "    " + "█" * 24 + " 100%  700 of 700, 2 records, room in 1h"
    # 23 hours ago is the second of 48 half hours, counted from the oldest; one hour ago the last but two.
    assert lines[5] == "    ·█" + "·" * 43 + "▆··  1d ago to now"
    assert lines[6] == '  count < 4 per day by customer  "<\\"ann\\">"'
    assert lines[7].startswith("    " + "█" * 12 + "░" * 12 + "  50%  2 of 4, 2 records, room now")


def test_the_page_shows_the_same_numbers() -> None:
    """Read as a browser reads it: well formed, the text of each window, the widths of bars, the heights of columns."""
    page = Page()
    page.feed(views.as_page(SAMPLE))
    assert page.open_tags == []
    assert page.texts[:2] == ["windows.state", "2 windows, 2_048 bytes, read 2026-01-01T00:01:00Z"]
    assert "700 of 700, 2 records, room in 1h" in page.texts
    assert "2 of 4, 2 records, room now" in page.texts
    bars = [rect for rect in page.rects if rect["height"] == "12" and rect["fill"] != "var(--faint)"]
    assert [(rect["width"], rect["fill"]) for rect in bars] == [("600.0", "var(--over)"), ("300.0", "var(--full)")]
    columns = [(float(rect["x"] or ""), float(rect["height"] or "")) for rect in page.rects if rect["height"] != "12"]
    # 96 columns of a quarter of an hour: 23 hours ago is the fourth, one hour ago the fifth from the end.
    expected = [(3 * 6.25, 58.0), (91 * 6.25, 58.0 * 300 / 400), (3 * 6.25, 58.0), (91 * 6.25, 58.0)]
    assert columns == [pytest.approx(each, abs=0.01) for each in expected]


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open_tags: list[str] = []
        self.texts: list[str] = []
        self.rects: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "rect":
            self.rects.append(dict(attributes))
        if tag not in ("meta", "rect", "path"):
            self.open_tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("rect", "path"):
            assert self.open_tags.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and "style" not in self.open_tags and "title" not in self.open_tags:
            self.texts.append(data.strip())


ODD = '\x1b[2J\x9b31m\u202e<script>&"\udcff\n\u2028'


def test_what_a_file_says_is_never_an_order_to_a_terminal_or_a_browser() -> None:
    odd = Row(ODD, ODD, ODD + "sum(f) <= 1 per day", ODD, DAY, True, bound_of("sum(f) <= 1 per day"), ((0, 1.0),), 1)
    contents = replace(SAMPLE, path=ODD, rows=(odd,))
    text = "\n".join(views.text_lines(contents))
    shown = '\\u{1b}[2J\\u{9b}31m\\u{202e}<script>&"\\u{dcff}\\u{a}\\u{2028}'
    assert f"\n{shown} on {shown}\n" in text
    page = views.as_page(contents)
    for output in (text, page, as_json(contents)):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028\ud800-\udfff]", output)
        output.encode()
    assert "<script" not in page
    assert json.loads(as_json(contents))["windows"][0]["key"] == ODD


@pytest.mark.parametrize(
    "rule",
    ["count <= " + "9" * 5000 + "s per day", "sum(x) <= " + "(" * 5000 + " per day", "count <= 1e999 per day", "r", ""],
    ids=["digits", "nested", "infinite", "none", "empty"],
)
@pytest.mark.parametrize("amounts", [[inf, 1.0], [1e308, 1e308], [2**63 - 1] * 3, [0], []])
def test_odd_rules_and_amounts(rule: str, amounts: list[int | float]) -> None:
    entries = tuple((age, amount) for age, amount in enumerate(amounts))
    for length_ns in (1, DAY, 2**63 - 1):
        odd = Row("A", "P.f", rule, None, length_ns, inf in amounts, bound_of(rule), entries, 0)
        contents = replace(SAMPLE, rows=(odd,), now_utc_ns=2**63 - 1, last_written_utc_ns=-(2**63))
        assert list(views.text_lines(contents))
        assert json.loads(as_json(contents), parse_constant=pytest.fail)
        assert views.as_page(contents)


def test_of_many_keys_the_fullest_are_shown() -> None:
    rule = "count <= 500 per day by key"
    keys = tuple(row(rule, [(0, 1)] * (number % 200), key=f"{number:04}") for number in range(1000))
    lines = list(views.text_lines(replace(SAMPLE, rows=keys)))
    assert [line for line in lines if rule in line] == [f'  {rule}  "{number:04}"' for number in _fullest(10)]
    assert lines[-1] == "    … and 990 more keys with 97_515 records; --json has them all"
    page = views.as_page(replace(SAMPLE, rows=keys))
    assert page.count("<div class=window>") == 100
    assert "… and 900 more keys with" in page
    assert len(json.loads(as_json(replace(SAMPLE, rows=keys)))["windows"]) == 1000


def _fullest(count: int) -> list[int]:
    return sorted(range(1000), key=lambda number: (-(number % 200), number))[:count]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is empty, which a state file never is"),
        (b"#!/bin/sh\n" * 1000, "is not a state file of Kavach"),
        (b"KAVACHST\x01", "is not a state file of Kavach"),
        (b"KAVACHST\x02\0\0\0", "has format 2, and this program knows format 1 only"),
        (b"KAVACHST\x01\0\0\0", "is damaged at byte 12"),
    ],
)
def test_a_file_of_another_kind(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "state"
    path.write_bytes(content)
    with pytest.raises(ToolError, match=re.escape(f"state file {path} {what}\n  help: ")):
        read_contents(str(path))


def test_of_a_huge_file_of_another_kind_only_the_start_is_read(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with open(path, "wb") as file:
        file.truncate(2**42)
    with pytest.raises(ToolError, match="is not a state file of Kavach"):
        read_contents(str(path))


def test_it_says_when_it_waits_for_a_program_that_writes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "state"
    written(path, 2, close=True)
    with open(path) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        reader = threading.Thread(target=read_contents, args=[str(path)])
        reader.start()
        heard = ""
        while not heard:
            heard += capfd.readouterr().err
            time.sleep(0.01)
    reader.join()
    assert heard == f"note: state file {path} is locked by another process; this one waits for it\n"


def test_it_tells_how_far_it_has_read(tmp_path: Path) -> None:
    path = tmp_path / "state"
    written(path, 5, close=True)
    heard: list[float] = []
    read_contents(str(path), heard.append)
    assert len(heard) == 5
    assert heard == sorted(heard)
    assert heard[-1] == 1


def test_json_and_page() -> None:
    found = json.loads(as_json(SAMPLE))
    first = found["windows"][0]
    assert (first["used"], first["bound"], first["room_returns_in_seconds"]) == (700, 700, 3600.0)
    assert first["entries"][1] == {"time": "2025-12-31T23:01:00Z", "amount": 300}
    page = views.as_page(SAMPLE)
    assert "&lt;&quot;ann&quot;&gt;" in page
    assert not re.search(r"(src|href)=|https?:|<script", page), "it needs nothing else"
    assert page.count("<svg") == 4


@pytest.mark.parametrize(("duration_ns", "shown"), [(0, "0s"), (90 * 10**9, "1m 30s"), (DAY, "1d"), (DAY + 1, "1d")])
def test_lengths(duration_ns: int, shown: str) -> None:
    assert views.length(duration_ns) == shown


def test_it_reads_what_a_program_wrote_and_changes_nothing(tmp_path: Path) -> None:
    from kavachc.engines import ENGINES, run_engine
    from kavachc.options import RunOptions
    from test_state_file import board

    path = tmp_path / "state"
    run_engine(ENGINES[1], board(tmp_path, calls=3), RunOptions(state_file=str(path)))
    content = path.read_bytes()
    contents = read_contents(str(path))
    assert [(each.agent, each.target, each.rule, each.used) for each in contents.rows] == [
        ("Poster", "Board.post", "count <= 4 per day", 3)
    ]
    path.write_bytes(content + b"\1")
    assert read_contents(str(path)).torn_bytes == 1
    assert path.read_bytes() == content + b"\1"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from click.testing import CliRunner
    from kavachc.cli import cli

    path = tmp_path / "state"
    written(path, 2, close=True)
    run = CliRunner()
    assert run.invoke(cli, ["ledger", str(path), "--check"]).output == f"{path}: sound: 2 frames, 2 records\n"
    as_json = run.invoke(cli, ["ledger", str(path), "--json"]).output
    assert json.loads(as_json)["records"] == 2
    assert '\n    {"agent": "Poster", "target": "Board.post", "rule": "count <= 4 per day", "key": null, ' in as_json
    assert run.invoke(cli, ["ledger", str(path), "--html", str(tmp_path / "page.html")]).output == ""
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    result = run.invoke(cli, ["ledger", str(path), "--check"])
    assert isinstance(result.exception, ToolError)
    assert "has lost records" in str(result.exception)
