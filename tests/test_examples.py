"""The examples print what their readers are told, on every engine."""

from __future__ import annotations

import pytest
from conftest import ROOT
from kavachc.conform import Expectation, compare_result
from kavachc.driver import Compilation
from kavachc.engines import ENGINES, run_engine, skip_reason
from kavachc.options import RunOptions

EXAMPLES: dict[str, tuple[RunOptions, str, str]] = {
    "limit.kav": (
        RunOptions(),
        "refunded 400 on order 1\n"
        'refused: Denied(reason: "limit broken: amount <= 500")\n'
        "refunded 250 on order 3\n"
        'refused: Denied(reason: "limit broken: sum(amount) <= 700 per day")\n',
        "",
    ),
    "review.kav": (
        RunOptions(dry_run=True),
        "positive: true\n",
        '[dry run] ask("Is this review positive? Arrived late, but works well") -> Verdict(positive: true)\n',
    ),
    "writers.kav": (RunOptions(test_model="examples/writers.model.json"), "answered 3\n", ""),
}


def test_every_example_is_tested_and_listed() -> None:
    programs = {path.name for path in (ROOT / "examples").glob("*.kav")}
    listed = (ROOT / "examples" / "README.md").read_text()
    assert programs == set(EXAMPLES)
    assert all(f"`{name}`" in listed for name in programs)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    options, stdout, stderr = EXAMPLES[name]
    compilation = Compilation(f"examples/{name}")
    expected = Expectation("expected", stdout, stderr, 0, None)
    for engine in ENGINES:
        if skip_reason(engine) is None:
            result = run_engine(engine, compilation, options)
            assert compare_result(engine, expected, result, options) == []
