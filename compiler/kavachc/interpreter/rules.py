"""Rules of fields, looked at after a place was changed (spec 2.where). Those of values that are made are part of the
tree (`semantics/rules.py`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kavachc.interpreter.frames import Frame, Steps
from kavachc.interpreter.places import read_place
from kavachc.interpreter.signals import KavachPanic
from kavachc.interpreter.values import Value
from kavachc.semantics import panics
from kavachc.semantics.typed_ast import FieldStep, Place
from kavachc.semantics.types import FieldRule, Type
from kavachc.source import Span

if TYPE_CHECKING:
    from kavachc.interpreter.evaluator import Evaluator


def look_at_rules(evaluator: Evaluator, place: Place, indexes: list[Value], frame: Frame) -> Steps:
    """The rules of the fields on the way to the place, the innermost first; panics at one that does not hold."""
    for position, step in reversed([*enumerate(place.steps)]):
        if isinstance(step, FieldStep) and step.rule is not None:
            field = replace(place, steps=place.steps[: position + 1])
            value = read_place(field, indexes, frame)
            if not (yield from holds(evaluator, step.rule, step.type_arguments, value, frame, place.span)):
                message = panics.FIELD_RULE_BROKEN.format(place=step.rule.place, rule=step.rule.text)
                raise KavachPanic(message, place.span)


def holds(
    evaluator: Evaluator,
    rule: FieldRule,
    type_arguments: tuple[Type, ...],
    value: Value,
    frame: Frame | None,
    span: Span,
) -> Steps:
    """Whether the rule holds for the value of its field, which `frame` has changed, if it is not an answer's."""
    from kavachc.interpreter.statements import function_body

    function = rule.function
    around = frame or Frame()
    evaluator.count_step(span)
    callee = Frame(None, None, around.depth, around.bindings(function, type_arguments))
    callee.values[function.parameters[0]] = value
    if frame is not None:
        callee.enter(frame, function.traced_name, span)
    return (yield function_body(evaluator, function, callee))
