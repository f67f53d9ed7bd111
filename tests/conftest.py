"""Options and folders that the tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

# A shell starts what it runs in the background with Ctrl-C ignored, which the programs under test would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["parallel"]

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update", action="store_true", help="rewrite the golden files with what came out (review the diff)"
    )


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update"))


@pytest.fixture(autouse=True)
def no_keys_and_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test depends on what is set where it runs: keys of providers, settings of built programs."""
    for name in list(os.environ):
        if name.startswith("KAVACH_") or name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
            monkeypatch.delenv(name)
