"""What follows an operation that gives an outcome: on with the value, to the failure, or out, cancelled."""

from __future__ import annotations

from collections.abc import Callable

from kavachc.ir.module import Block, Value
from kavachc.ir.types import ERROR, IrType, Outcome
from kavachc.lower.function import Failure, FunctionLowering

OK, FAILED, CANCELLED = 0, 1, 2


def settle(
    state: FunctionLowering,
    outcome: Value,
    waits: bool,
    fails: Failure | None,
    ended: Callable[[], None] = lambda: None,
) -> Value:
    """The value of an outcome, owned, in a block of its own; `outcome` itself when it is no outcome. `ended` writes
    what comes first where the operation was not cancelled."""
    if not isinstance(outcome.type, Outcome):
        ended()
        return outcome
    build = state.build
    ways: list[tuple[int, Block]] = [(OK, build.new_block("ok"))]
    if outcome.type.error is not None:
        ways.append((FAILED, build.new_block("failed")))
    if waits:
        ways.append((CANCELLED, build.new_block("cancelled")))
    build.switch(build.outcome_status(outcome), ways[:-1], ways[-1][1])
    for status, block in ways[1:]:
        state.start(block)
        if status == FAILED:
            assert fails is not None, "a call that can fail stands in a try, a catch or a spawn"
            ended()
            fails(build.outcome_error(outcome))
        else:
            build.outcome_none(outcome)
            state.leave_cancelled()
    state.start(ways[0][1])
    ended()
    return build.outcome_value(outcome)


def as_error(state: FunctionLowering, error: Value, wanted: IrType | None) -> Value:
    """The owned error as one of the type `wanted`."""
    return state.build.error_make(error) if wanted == ERROR and error.type != ERROR else error
