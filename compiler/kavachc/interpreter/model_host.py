"""The host in plain Python: scheduler, ledger and model client, put together."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from kavachc.interpreter.clocks import Clock, RealClock, VirtualClock
from kavachc.interpreter.decode import Holds, no_rules
from kavachc.interpreter.host import Answer, Outcome, TaskBody
from kavachc.interpreter.http_model import HttpCarrier
from kavachc.interpreter.http_sender import HttpSender
from kavachc.interpreter.model_audit import AuditLog
from kavachc.interpreter.model_client import ModelClient, Wanted
from kavachc.interpreter.model_journal import Journal, Refused, Verdict
from kavachc.interpreter.model_ledger import Ledger, Record
from kavachc.interpreter.model_scheduler import Scheduler, Task
from kavachc.interpreter.output import Output
from kavachc.interpreter.replies import Carrier
from kavachc.interpreter.scripted_carrier import ScriptedCarrier
from kavachc.interpreter.scripted_model import ScriptError, load_script
from kavachc.interpreter.show import show
from kavachc.interpreter.signals import ProgramStops
from kavachc.interpreter.web import WebAnswer, WebRequest
from kavachc.interpreter.web_client import WebClient
from kavachc.options import RunOptions
from kavachc.semantics.schema import Sample, Schema
from kavachc.semantics.typed_ast import Agent, Limit, Program, Rule
from kavachc.semantics.types import ERROR, Type
from kavachc.state.problem import StateProblem

NEEDS_TEST_MODEL = "error: virtual time needs a test model or a dry run, since a real model answers in real time"


@dataclass(eq=False, slots=True)
class Commit:
    """A limited call that every rule let pass, until its records are durable (`Waiter`)."""

    scheduler: Scheduler
    task: Task | None
    journal: Journal
    ledger: Ledger
    agent: Agent
    limit: Limit
    refused: str | None = None

    def call_off(self) -> None:
        """Cancelled: what was recorded stays."""
        self.task = None

    def finish(self, verdict: Verdict) -> None:
        if isinstance(verdict, Refused):
            self.refused = verdict.reason
        if self.task is not None:
            self.scheduler.wake(self.task)

    def undo(self) -> None:
        """Nothing but records came with it."""

    def again(self, records: list[Record]) -> Verdict | None:
        found = self.ledger.commit_again(self.agent, self.limit, records)
        if isinstance(found, str):
            return Refused(found)
        self.journal.submit(self, found)
        return None


class ModelHost:
    """A `Host`. Raises `ProgramStops` when the options do not fit the program."""

    def __init__(self, program: Program, options: RunOptions, output: Output) -> None:
        can_ask = program.can_ask
        if options.virtual_time and can_ask and not options.dry_run and options.test_model is None:
            raise ProgramStops(NEEDS_TEST_MODEL, 2)
        self._output = output
        self._report_path = options.report
        clock: Clock = VirtualClock() if options.virtual_time else RealClock()
        self._scheduler = Scheduler(clock, output.flush)
        self._http = HttpSender(self._scheduler)
        carrier = self._carrier(options, can_ask)
        self._ledger = Ledger(program, clock.monotonic_ns, output.error_line, self._record_broken)
        self._journal = self._open_journal(program, options, clock)
        self._audit: AuditLog | None = None
        if options.audit_log is not None and (
            can_ask or program.can_send or any(agent.limits or agent.capabilities for agent in program.agents)
        ):
            # Last, when nothing else can keep the program from starting.
            self._audit = AuditLog(options.audit_log, options, clock.utc_ns, output.error_line)
        self._client = ModelClient(self._scheduler, self._ledger, output, carrier, self._journal, self._audit)
        self._web = WebClient(self._scheduler, self._http, output, self._audit, dry_run=options.dry_run)
        self._limit: Limit | None = None
        self.holds: Holds = no_rules

    def _carrier(self, options: RunOptions, can_ask: bool) -> Carrier | None:
        if options.test_model is None or not can_ask:
            return None if options.dry_run else HttpCarrier(self._http)
        try:
            script = load_script(options.test_model)
        except ScriptError as problem:
            raise ProgramStops(f"error: test model {options.test_model}: {problem}", 2) from None
        return None if options.dry_run else ScriptedCarrier(self._scheduler, script)

    def _open_journal(self, program: Program, options: RunOptions, clock: Clock) -> Journal | None:
        """A program without limits has nothing to keep."""
        if options.state_file is None or not any(agent.limits for agent in program.agents):
            return None
        try:
            journal = Journal(options.state_file, self._ledger, clock, self._output.error_line)
        except StateProblem as problem:
            raise ProgramStops(problem.message(options.state_file), 2) from None
        self._scheduler.round_end = journal.flush
        return journal

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

    def wait_for(self, task: Task, limit_ns: int) -> Generator[None, None, Outcome | None]:
        return self._scheduler.wait_for(task, limit_ns)

    def cancel(self, task: Task) -> None:
        self._scheduler.cancel(task)

    def audit_call(self, agent: Agent, target: str) -> None:
        if self._audit is not None:
            self._audit.record_call(agent.name, target, "unlimited")

    def limit_begin(self, agent: Agent, limit: Limit) -> None:
        self._ledger.begin(agent, limit)
        self._limit = limit

    @property
    def _checked(self) -> Limit:
        assert self._limit is not None
        return self._limit

    def limit_key(self, rule: int, key: str) -> None:
        self._ledger.key(self._checked.rules[rule], key)

    def limit_condition(self, rule: int, holds: bool) -> bool:
        return self._ledger.condition(self._checked.rules[rule], holds)

    def limit_sum(self, rule: int, amount: int | float) -> bool:
        return self._ledger.amount(self._checked.rules[rule], amount)

    def limit_count(self, rule: int) -> bool:
        return self._ledger.amount(self._checked.rules[rule], 1)

    def limit_commit(self) -> Generator[None, None, str | None]:
        agent, limit, records = self._ledger.checked_agent, self._checked, self._ledger.commit()
        if self._journal is None or not records:
            self._record_call(agent, limit, None)
            return None
        commit = Commit(self._scheduler, self._scheduler.current, self._journal, self._ledger, agent, limit)
        self._journal.submit(commit, records)
        yield from self._scheduler.pause(commit.call_off)
        self._record_call(agent, limit, commit.refused)
        return commit.refused

    def limit_refuse(self, rule: int) -> str:
        agent, limit = self._ledger.checked_agent, self._checked
        reason = self._ledger.refuse(limit.rules[rule])
        self._record_call(agent, limit, reason)
        return reason

    def _record_call(self, agent: Agent, limit: Limit, reason: str | None) -> None:
        if self._audit is not None:
            self._audit.record_call(agent.name, limit.target, "allowed" if reason is None else "refused", reason)

    def _record_broken(self, agent: Agent, limit: Limit, rule: Rule) -> None:
        if self._audit is not None:
            self._audit.record("observed", agent=agent.name, target=limit.target, rule=rule.text)

    def ask(
        self, agent: Agent | None, wanted: Type, schema: Schema, sample: Sample, prompt: str
    ) -> Generator[None, None, Answer]:
        return self._client.ask(agent, Wanted(wanted, schema, sample, self.holds), prompt)

    def http(self, agent: Agent | None, request: WebRequest) -> Generator[None, None, WebAnswer]:
        return self._web.answer(agent, request)

    def run(self, main: TaskBody) -> int:
        """Spec 4.main and 7.unwaited."""
        main_task = self._scheduler.spawn(main)
        main_task.is_seen = True
        with closing(self._http):
            try:
                self._scheduler.run()
            except BaseException:
                if self._journal is not None:
                    self._journal.settle_at_the_end()
                raise
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
        if self._audit is not None:
            self._audit.close()
        if self._journal is not None and not self._journal.stop():
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
