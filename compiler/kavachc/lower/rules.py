"""Rules of fields: looked at after a change, and by the runtime in what it reads (spec 2.where).

function Person.age.check(%field: address<int>) -> int
    1 where the rule holds for what stands there
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kavachc.ir.module import Function, Value
from kavachc.lower.function import FunctionLowering
from kavachc.semantics import panics
from kavachc.semantics.types import FieldRule, RecordType, SumType, Type

if TYPE_CHECKING:
    from kavachc.lower.program import ProgramLowering


def check_name(rule: FieldRule, holder: RecordType | SumType) -> str:
    """Of the function that looks at a field of `holder`, which may be an application."""
    inside = rule.place.partition(".")[2]
    return f"{holder}.{inside}.check"


def lower_check(program: ProgramLowering, declared: Function, rule: FieldRule, holder: RecordType | SumType) -> None:
    state = program.open(declared, rule.function.span)
    build = state.build
    found = _holds(state, rule, holder.arguments, build.load(declared.parameters[0]))
    holds, broken = build.new_block("holds"), build.new_block("broken")
    build.branch(found, holds, broken)
    for block, number in ((broken, 0), (holds, 1)):
        state.start(block)
        state.leave_by_return(build.int_const(number))
    state.finish()


def look_at(state: FunctionLowering, rule: FieldRule, type_arguments: tuple[Type, ...], value: Value) -> None:
    """Panics where the rule does not hold for the borrowed value of its field."""
    build = state.build
    found = _holds(state, rule, type_arguments, value)
    holds, broken = build.new_block("holds"), build.new_block("broken")
    build.branch(found, holds, broken)
    state.start(broken)
    message = panics.FIELD_RULE_BROKEN.format(place=rule.place, rule=rule.text)
    build.perform("panic", build.string_const(message))
    build.unreachable()
    state.start(holds)


def _holds(state: FunctionLowering, rule: FieldRule, type_arguments: tuple[Type, ...], value: Value) -> Value:
    function = state.program.instance(rule.function, type_arguments)
    depth = state.depth_of(function.is_recursive)
    return state.build.call(state.program.function_name(function), [value], depth, state.build.location)
