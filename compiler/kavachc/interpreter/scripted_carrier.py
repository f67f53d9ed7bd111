"""Requests that the scripted model answers, in process (spec 8.4.script)."""

from __future__ import annotations

from collections.abc import Generator

from kavachc.interpreter.host import Answer
from kavachc.interpreter.model_scheduler import Scheduler
from kavachc.interpreter.provider import Endpoint
from kavachc.interpreter.replies import ModelFailure, ModelReply
from kavachc.interpreter.scripted_model import Script
from kavachc.interpreter.show import quote
from kavachc.interpreter.signals import ProgramStops
from kavachc.semantics.schema import Schema


class ScriptedCarrier:
    """A `Carrier`."""

    def __init__(self, scheduler: Scheduler, script: Script) -> None:
        self._scheduler = scheduler
        self._script = script
        self._under_way = 0
        self._start_ns = scheduler.clock.monotonic_ns()

    def obstacle(self, endpoint: Endpoint) -> Answer | None:
        return None

    def reply(self, endpoint: Endpoint, schema: Schema, asked: str, prompt: str) -> Generator[None, None, ModelReply]:
        """A request counts as under way until its reply is taken."""
        capacity = self._script.capacity_at(self._scheduler.clock.monotonic_ns() - self._start_ns)
        if capacity is not None and self._under_way >= capacity:
            yield from self._scheduler.sleep(0)
            return ModelFailure(429, "too many requests")
        scripted = self._script.next(prompt)
        if scripted is None:
            raise ProgramStops(f"error: the test model has no reply left for the prompt: {quote(asked)}", 1)
        self._under_way += 1
        with self._scheduler.calling_off(self._ended):
            yield from self._scheduler.sleep(scripted.delay_ns)
        self._ended()
        return scripted.reply

    def _ended(self) -> None:
        self._under_way -= 1
