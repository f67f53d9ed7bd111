"""`json.decode`: a look at whether the text fits, then the value or a `JsonError`."""

from __future__ import annotations

from kavachc.ir.module import Block, Value
from kavachc.lower.function import Failure, FunctionLowering
from kavachc.lower.types import lower_type
from kavachc.semantics.types import Type

FITS = 0
# Of kv_json_check: which variant of JsonError each of the other kinds becomes.
_FAILURES = {1: "NotJson", 2: "Misfit"}


def decode_json(state: FunctionLowering, wanted: Type, operands: list[Value], fails: Failure | None) -> Value:
    """The value of the type that the borrowed text is."""
    assert fails is not None, "a text may not fit"
    [text] = operands
    build = state.build
    json_error = state.program.source.json_error
    found = build.emit("json.check", text, attributes=(lower_type(wanted),))
    kind, note = build.emit("answer.kind", found), build.emit("answer.text", found)
    fits = build.new_block("json.fits")
    ways: list[tuple[int, Block]] = [(FITS, fits)]
    ways.extend((number, build.new_block(f"json.{name}")) for number, name in _FAILURES.items())
    build.switch(kind, ways[:-1], ways[-1][1])
    for number, block in ways[1:]:
        state.start(block)
        variant = json_error.variant_index(_FAILURES[number])
        assert variant is not None
        fails(build.variant_make(lower_type(json_error), variant, [note]))
    state.start(fits)
    build.release(note)
    return build.decode(text, lower_type(wanted))
