"""Runs the tests in several processes: `pytest --processes 2`. A plugin of pytest, which conftest.py loads.

The processes are forks of the one that collected the tests. Each takes the next few tests, always of one file, from a
counter that all share, and sends its reports to that first process, which shows them as if it had run the tests itself:
one line of dots, one summary, one exit status.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import Any, cast

import pytest

CHUNK_TESTS = 16
FORK = multiprocessing.get_context("fork")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--processes",
        default="1",
        help="run the tests in N processes (auto: two for each CPU, since most of them wait)",
    )


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Takes the place of pytest's own loop where more than one process is wanted."""
    wanted = session.config.getoption("--processes")
    count = 2 * len(os.sched_getaffinity(0)) if wanted == "auto" else int(wanted)
    if count < 2 or session.testsfailed or session.config.option.collectonly:
        return None
    # The folder of tmp_path is made here, once, so that it is tidied away as it is without this plugin.
    cast(Any, session.config)._tmp_path_factory.getbasetemp()
    _Run(session).run(count)
    return True


def _chunks(items: list[pytest.Item]) -> list[list[pytest.Item]]:
    """The tests in their order, cut so that no chunk has tests of two files, whose fixtures it would have to make."""
    chunks = []
    for _, of_one_file in itertools.groupby(items, key=lambda item: item.path):
        tests = list(of_one_file)
        chunks += [tests[start : start + CHUNK_TESTS] for start in range(0, len(tests), CHUNK_TESTS)]
    return chunks


class _Run:
    """One run of a session's tests in several processes."""

    def __init__(self, session: pytest.Session) -> None:
        self.session = session
        self.chunks = _chunks(session.items)
        self.next_chunk = FORK.Value("i", 0)
        self.stopped = FORK.Event()
        self.running: dict[Connection, tuple[str, tuple[str, int | None, str]]] = {}

    def run(self, count: int) -> None:
        """Starts the processes and shows what they report until all have ended."""
        ends = {}
        for _ in range(count):
            here, there = FORK.Pipe(duplex=False)
            process = FORK.Process(target=self._work, args=(there,), daemon=False)
            process.start()
            there.close()
            ends[here] = process
        try:
            while ends:
                for ready in wait(list(ends)):
                    connection = cast(Connection, ready)
                    if not self._take(connection):
                        ends.pop(connection).join()
        finally:
            for process in ends.values():
                process.terminate()
                process.join()
        if self.session.shouldfail:
            raise self.session.Failed(self.session.shouldfail)
        if self.session.shouldstop:
            raise self.session.Interrupted(self.session.shouldstop)

    def _take(self, connection: Connection) -> bool:
        """Shows one report of a process; false when there will be no more from it."""
        hook = self.session.config.hook
        try:
            kind, content = connection.recv()
        except EOFError:
            nodeid, location = self.running.pop(connection)
            text = "the process that ran this test ended, and with it the tests that it had taken"
            hook.pytest_runtest_logreport(report=pytest.TestReport(nodeid, location, {}, "failed", text, "call"))
            return False
        if kind == "start":
            self.running[connection] = content
        elif kind == "report":
            report = hook.pytest_report_from_serializable(config=self.session.config, data=content)
            hook.pytest_runtest_logreport(report=report)
        elif kind == "warning":
            hook.pytest_warning_recorded.call_historic(kwargs=content)
        if self.session.shouldfail or self.session.shouldstop:
            self.stopped.set()
        return bool(kind != "end")

    def _work(self, connection: Connection) -> None:
        """A process's own part: runs tests until none are left. Its output is caught apart from the other's."""
        plugins = self.session.config.pluginmanager
        plugins.unregister(name="terminalreporter")
        capture: Any = plugins.getplugin("capturemanager")
        if capture.is_globally_capturing():
            capture.stop_global_capturing()
            capture.start_global_capturing()
        plugins.register(_Sender(self, connection))
        tests = self._tests()
        item = next(tests, None)
        try:
            while item is not None:
                following = next(tests, None)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                item = following if not self.session.shouldstop else None
        except KeyboardInterrupt:
            os._exit(2)
        connection.send(("end", None))

    def _tests(self) -> Iterator[pytest.Item]:
        while True:
            with self.next_chunk.get_lock():
                index = self.next_chunk.value
                self.next_chunk.value += 1
            if index >= len(self.chunks):
                return
            yield from self.chunks[index]


class _Sender:
    """The hooks by which a process tells the first one what happens."""

    def __init__(self, run: _Run, connection: Connection) -> None:
        self.run = run
        self.connection = connection

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self.connection.send(("start", (nodeid, location)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        config = self.run.session.config
        self.connection.send(("report", config.hook.pytest_report_to_serializable(config=config, report=report)))
        if self.run.stopped.is_set():
            self.run.session.shouldstop = "stopped by another process"

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: tuple[str, int, str] | None
    ) -> None:
        content = {"warning_message": warning_message, "when": when, "nodeid": nodeid, "location": location}
        self.connection.send(("warning", content))
