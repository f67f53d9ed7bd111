"""The host in plain Python: scheduler, ledger and model client, put together."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from kavachc.interpreter.clocks import Clock, RealClock, VirtualClock
from kavachc.interpreter.host import Answer, Outcome, TaskBody
from kavachc.interpreter.model_client import ModelClient
from kavachc.interpreter.model_ledger import Ledger
from kavachc.interpreter.model_scheduler import Scheduler, Task
from kavachc.interpreter.output import Output
from kavachc.interpreter.scripted_model import ScriptError, load_script
from kavachc.interpreter.show import show
from kavachc.interpreter.signals import ProgramStops
from kavachc.options import RunOptions
from kavachc.semantics.typed_ast import Agent, Effect, Limit, Program
from kavachc.semantics.types import ERROR, Type

NEEDS_TEST_MODEL = "error: virtual time needs a test model or a dry run, since a real model answers in real time"


class ModelHost:
    """A `Host`. Raises `ProgramStops` when the options do not fit the program."""

    def __init__(self, program: Program, options: RunOptions, output: Output) -> None:
        can_ask = Effect("Ai") in program.main.effects
        if options.virtual_time and can_ask and not options.dry_run and options.test_model is None:
            raise ProgramStops(NEEDS_TEST_MODEL, 2)
        self._output = output
        self._report_path = options.report
        script = None
        if options.test_model is not None and can_ask:
            try:
                script = load_script(options.test_model)
            except ScriptError as problem:
                raise ProgramStops(f"error: test model {options.test_model}: {problem}", 2) from None
        clock: Clock = VirtualClock() if options.virtual_time else RealClock()
        self._scheduler = Scheduler(clock, output.flush)
        self._ledger = Ledger(program, clock.monotonic_ns, output.error_line)
        self._client = ModelClient(self._scheduler, self._ledger, output, script, is_dry_run=options.dry_run)
        self._limit: Limit | None = None

    def print_line(self, text: str) -> None:
        self._output.print_line(text)

    def now(self) -> int:
        return self._scheduler.clock.utc_ns()

    def sleep(self, duration_ns: int) -> Generator[None, None, None]:
        return self._scheduler.sleep(duration_ns)

    def spawn(self, body: TaskBody, result: Type) -> Task:
        return self._scheduler.spawn(body)

    def wait(self, task: Task) -> Generator[None, None, Outcome]:
        return self._scheduler.wait(task)

    def cancel(self, task: Task) -> None:
        self._scheduler.cancel(task)

    def limit_begin(self, agent: Agent, limit: Limit) -> None:
        self._ledger.begin(agent, limit)
        self._limit = limit

    @property
    def _checked(self) -> Limit:
        assert self._limit is not None
        return self._limit

    def limit_condition(self, rule: int, holds: bool) -> bool:
        return self._ledger.condition(self._checked.rules[rule], holds)

    def limit_sum(self, rule: int, amount: int | float) -> bool:
        return self._ledger.amount(self._checked.rules[rule], amount)

    def limit_count(self, rule: int) -> bool:
        return self._ledger.amount(self._checked.rules[rule], 1)

    def limit_commit(self) -> None:
        self._ledger.commit()

    def limit_refuse(self, rule: int) -> str:
        return self._ledger.refuse(self._checked.rules[rule])

    def ask(self, agent: Agent | None, wanted: Type, prompt: str) -> Generator[None, None, Answer]:
        return self._client.ask(agent, wanted, prompt)

    def run(self, main: TaskBody) -> int:
        """Spec 4.main and 7.unwaited."""
        main_task = self._scheduler.spawn(main)
        main_task.is_seen = True
        self._scheduler.run()
        status = 0
        for task in self._scheduler.unseen_failures:
            if not task.is_seen:
                self._report_error("error: a task that nobody waited for failed: ", task)
                status = 1
        assert main_task.outcome is not None
        if main_task.outcome.status == "failed":
            self._report_error("error: ", main_task)
            status = 1
        if not self._write_report():
            status = 1
        self._output.flush()
        return status

    def _report_error(self, prefix: str, task: Task) -> None:
        assert task.outcome is not None
        self._output.error_line(prefix + show(task.outcome.value, ERROR))

    def _write_report(self) -> bool:
        """Spec, Reports. Python frees its own memory, so no block is ever left."""
        if self._report_path is None:
            return True
        lines = ["live_blocks 0", *self._ledger.report_lines()]
        try:
            Path(self._report_path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        except OSError:
            self._output.error_line(f"error: cannot write the report to {self._report_path}")
            return False
        return True
