"""Function values of generated programs: made, named, kept in values, called."""

from __future__ import annotations

from generated_library import closure
from generated_types import NOTHING, Ty
from generated_units import Unit
from generated_values import COST_MAX, Writer

# What a call of a function value is taken to cost.
COST = 12


def of_function(writer: Writer, type_: Ty, operand: bool) -> str:
    """A function value where one is wanted; a call of one that gives the type otherwise."""
    if type_.name == "fn":
        return _value(writer, type_)
    text = call_value(writer, type_)
    return writer.leaf(type_, operand) if text is None else text


def _value(writer: Writer, type_: Ty) -> str:
    *parameters, result, error = type_.args
    named = [unit for unit in writer.units if is_value(unit) and signature(unit) == type_]
    if named and writer.choose(2):
        return writer.world.pick(named).text
    return f"({closure(writer, parameters, result, None if error == NOTHING else error)})"


def is_value(unit: Unit) -> bool:
    plain = unit.receiver is None and not unit.is_own and not unit.fuel
    return plain and not unit.mutable and not unit.type_arguments


def signature(unit: Unit) -> Ty:
    types = [type_ for _, type_ in unit.parameters]
    return Ty("fn", (*types, unit.result, NOTHING if unit.error is None else unit.error))


def call_value(writer: Writer, result: Ty) -> str | None:
    """A call of a function value at hand, with its error handled."""
    known = [place for place in writer.paths() if place[1].name == "fn" and place[1].args[-2] == result]
    if not known or writer.cost + writer.times * COST >= COST_MAX:
        return None
    text, type_ = writer.world.pick(known)
    writer.cost += writer.times * COST
    arguments = ", ".join(writer.expression(item) for item in type_.args[:-2])
    called = f"({text})({arguments})" if "." in text else f"{text}({arguments})"
    error = None if type_.args[-1] == NOTHING else type_.args[-1]
    return writer.handled(called, error, result)


def call_any_value(writer: Writer) -> str | None:
    """A statement: what it gives is dropped."""
    results = [type_.args[-2] for _, type_ in writer.paths() if type_.name == "fn"]
    if not results:
        return None
    result = writer.world.pick(results)
    text = call_value(writer, result)
    if text is None or result == NOTHING:
        return text
    return f"const {writer.declare('v', result, False)}: {result} = {text}"
