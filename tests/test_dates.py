"""Dates and times on every engine, against Python's `datetime` (spec 10.date)."""

from __future__ import annotations

import calendar
import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from kavachc.driver import Compilation
from kavachc.engines import ENGINES, Engine, run_engine, skip_reason
from kavachc.options import RunOptions

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INSTANT_MIN, INSTANT_MAX = -(2**63), 2**63 - 1
DAY_NS = 86_400 * 10**9
_RANDOM = random.Random(20261130)
_EDGES = [date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 1), date(1900, 2, 28), date(2000, 2, 29), date(2024, 2, 29)]
DATES = _EDGES + [date.fromordinal(_RANDOM.randint(1, date.max.toordinal())) for _ in range(150)]
MOMENTS_NS = [INSTANT_MIN, INSTANT_MAX, -1, 0, 1, -DAY_NS, DAY_NS - 1] + [
    _RANDOM.randint(INSTANT_MIN, INSTANT_MAX) // unit * unit for unit in (1, 1_000, 10**6, 10**9) for _ in range(30)
]

SOURCE = """
fn shown(text: String) -> String {
    const day = text.to_date() ?? return "no date"
    "{day.to_iso()} {day.weekday()} {day.day_of_year()} {day.days_in_month()} {day.is_leap_year()}"
}

fn moment(ns: Int) -> String {
    const at = (1ns * ns).after_1970()
    const again = "{at}".to_instant()
    "{at.date().to_iso()} {at.hour()} {at.minute()} {at.second()} {at.time_of_day() / 1ns} {again == at}"
}

fn main() {
    const days = [DAYS]
    for i in 0..days.len() {
        print(shown(days[i]))
        const day = days[i].to_date() ?? Date(1, 1, 1)
        const other = days[days.len() - 1 - i].to_date() ?? Date(1, 1, 1)
        const between = day.days_until(other)
        print("{between} {day.add_days(between) == other} {other.days_until(day)}")
    }
    for (text, months) in [MONTHS] {
        print((text.to_date() ?? Date(1, 1, 1)).add_months(months).to_iso())
    }
    for ns in [MOMENTS] { print(moment(ns)) }
}
"""


def _literal(number: int) -> str:
    return str(number) if number >= 0 else f"-{-number}"


def _add_months(day: date, months: int) -> date:
    year, month = divmod(12 * day.year + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _moment(ns: int) -> str:
    days, rest = divmod(ns, DAY_NS)
    at = EPOCH + timedelta(days=days, seconds=rest // 10**9)
    return f"{at.date().isoformat()} {at.hour} {at.minute} {at.second} {rest} true"


def _months(day: date) -> int:
    return _RANDOM.randint(12 - 12 * day.year - day.month + 1, 119_999 - 12 * day.year - day.month + 1)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[Compilation, str]:
    """The program, and what it must print."""
    added = [(day, months) for day in DATES for months in (1, -1, _months(day)) if 12 <= _total(day, months) < 120_000]
    source = SOURCE.replace("DAYS", ", ".join(f'"{day.isoformat()}"' for day in DATES))
    source = source.replace("MONTHS", ", ".join(f'("{day.isoformat()}", {months})' for day, months in added))
    source = source.replace("MOMENTS", ", ".join(map(_literal, MOMENTS_NS)))
    expected: list[str] = []
    for day, other in zip(DATES, reversed(DATES), strict=True):
        leap = "true" if calendar.isleap(day.year) else "false"
        in_month = calendar.monthrange(day.year, day.month)[1]
        expected.append(f"{day.isoformat()} {day.isoweekday()} {day.timetuple().tm_yday} {in_month} {leap}")
        expected.append(f"{(other - day).days} true {(day - other).days}")
    expected += [_add_months(day, months).isoformat() for day, months in added]
    expected += map(_moment, MOMENTS_NS)
    file = tmp_path_factory.mktemp("dates") / "dates.kav"
    file.write_text(source, encoding="utf-8")
    return Compilation(str(file)), "".join(line + "\n" for line in expected)


def _total(day: date, months: int) -> int:
    return 12 * day.year + day.month - 1 + months


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_dates_are_those_of_python(
    engine: Engine, program: tuple[Compilation, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = skip_reason(engine)
    if reason is not None:
        pytest.skip(reason)
    monkeypatch.chdir(tmp_path)
    compilation, expected = program
    result = run_engine(engine, compilation, RunOptions(virtual_time=True, dry_run=True), 60.0)
    assert result.stderr == ""
    assert result.stdout.splitlines() == expected.splitlines()
