"""`ask`: what the model client answered, as a value or as one of the prelude's `AiError`s."""

from __future__ import annotations

from kavachc.ir.module import Block, Value
from kavachc.ir.types import Named
from kavachc.lower.function import Failure, FunctionLowering
from kavachc.lower.settle import settle
from kavachc.lower.types import lower_type
from kavachc.semantics import types
from kavachc.semantics.schema import answer_schema

ANSWERED = 0
# kv_answer_kind: which variant of AiError each of the other kinds becomes.
_FAILURES = {1: "NoKey", 2: "Failed", 3: "InvalidOutput", 4: "Denied"}


def perform_ask(
    state: FunctionLowering, answer_type: types.Type, operands: list[Value], mark: int, fails: Failure
) -> Value:
    """`operands` are the agent's number and the prompt; the value is of `answer_type`."""
    build = state.build
    agent, prompt = operands
    schema = answer_schema(answer_type)
    sample = state.program.source.samples[answer_type]
    texts = (schema.way, schema.text, sample.text or "", sample.problem)
    outcome = build.ask(agent, prompt, lower_type(answer_type), *texts)
    state.release_to(mark)
    answer = settle(state, outcome, True, None)
    kind, status = build.emit("answer.kind", answer), build.emit("answer.status", answer)
    retry_after = build.emit("answer.retry_after", answer)
    text = build.emit("answer.text", answer)
    answered, failed = build.new_block("answered"), build.new_block("ask.failed")
    ai_error = state.program.source.ai_error
    error = build.new_local("ask.error", lower_type(ai_error))
    ways: list[tuple[int, Block]] = [(ANSWERED, answered)]
    ways.extend((number, build.new_block(f"ask.{name}")) for number, name in _FAILURES.items())
    build.switch(kind, ways[:-1], ways[-1][1])
    for number, block in ways[1:]:
        state.start(block)
        fields = [status, text, retry_after] if _FAILURES[number] == "Failed" else [text]
        build.local_set(error, _error(state, ai_error, _FAILURES[number], fields))
        build.jump(failed)
    state.start(failed)
    fails(build.local_take(error))
    state.start(answered)
    if answer_type == types.STRING:
        # The model's text as it stands (spec 8.4.string).
        return text
    value = build.decode(text, lower_type(answer_type))
    build.release(text)
    return value


def _error(state: FunctionLowering, ai_error: types.SumType, name: str, fields: list[Value]) -> Value:
    variant = ai_error.variant_index(name)
    assert variant is not None, f"AiError has no {name}"
    return state.build.variant_make(Named(ai_error.name), variant, fields)
