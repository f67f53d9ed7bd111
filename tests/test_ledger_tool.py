"""`kavachc ledger`: what a state file holds, as text, JSON and a page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from kavachc.ledger import views
from kavachc.ledger.bounds import bound_of
from kavachc.ledger.reading import Contents, Row, read_contents

DAY = 86_400 * 10**9
HOUR = 3_600 * 10**9


def row(rule: str, entries: list[tuple[int, int | float]], *, length_ns: int = DAY, key: str | None = None) -> Row:
    is_float = any(isinstance(amount, float) for _, amount in entries)
    return Row("Refunder", "Payments.refund", rule, key, length_ns, is_float, bound_of(rule), tuple(entries), 0)


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


def test_json_and_page() -> None:
    found = json.loads(views.as_json(SAMPLE))
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
    from kavachc.errors import ToolError
    from test_state_file import written

    path = tmp_path / "state"
    written(path, 2, close=True)
    run = CliRunner()
    assert run.invoke(cli, ["ledger", str(path), "--check"]).output == f"{path}: sound: 2 frames, 2 records\n"
    assert json.loads(run.invoke(cli, ["ledger", str(path), "--json"]).output)["records"] == 2
    assert run.invoke(cli, ["ledger", str(path), "--html", str(tmp_path / "page.html")]).output == ""
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    result = run.invoke(cli, ["ledger", str(path), "--check"])
    assert isinstance(result.exception, ToolError)
    assert "has lost records" in str(result.exception)
