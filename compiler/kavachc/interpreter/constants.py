"""What the compiler evaluates itself: constants, and each agent's model and settings (spec 8.5.known).

Before: `const limit = 7 * 100` holds an operation, `model standard()` a call. After: `limit` holds the IntValue 700,
and the agent a `ModelSettings`. Evaluation is bounded, so that every build ends.
"""

from __future__ import annotations

from typing import Any, NoReturn, cast

from kavachc.bindings.http_url import parse_url
from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.interpreter.calls import run_steps
from kavachc.interpreter.evaluator import Evaluator
from kavachc.interpreter.frames import Frame
from kavachc.interpreter.host import Host
from kavachc.interpreter.samples import sample_of
from kavachc.interpreter.show import quote, show, show_duration
from kavachc.interpreter.signals import Fails, KavachPanic
from kavachc.interpreter.stack import with_large_stack
from kavachc.interpreter.values import ABSENT, ArrayValue, MapValue, RecordValue, TupleValue, Value, VariantValue
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.specialise import substituted
from kavachc.semantics.types import (
    BOOL,
    ERROR,
    FLOAT,
    NOTHING,
    STRING,
    ArrayType,
    FieldRule,
    MapType,
    OptionalType,
    TupleType,
    Type,
)
from kavachc.source import Span

STEPS_MAX = 1_000_000
TEXT_LENGTH_MAX = 1_000_000
VALUE_DEPTH_MAX = 200


class TooLong(Exception):
    """More than STEPS_MAX calls and turns of loops."""


class TooLarge(Exception):
    """A text too long, or a value nested too deeply, to be put into the program."""


class NoHost:
    """Constants have no effects (the checker has seen to it), so nothing ever asks for the host."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"a constant has no effects, but uses {name}")


class ConstantEvaluator(Evaluator):
    """Evaluates constants before they are plain, and counts what that takes."""

    def __init__(self, program: typed.Program) -> None:
        super().__init__(program, cast(Host, NoHost()))
        self._steps = 0
        self._text_length = 0

    def evaluate(self, node: typed.Expr) -> Value:
        task = run_steps(self.expression(node, Frame()))
        try:
            next(task)
        except StopIteration as end:
            return end.value
        raise AssertionError("a constant never waits")

    def evaluate_from_zero(self, node: typed.Expr) -> Value:
        """The value, with the whole of the bounds to spend."""
        self._steps = self._text_length = 0
        return self.evaluate(node)

    def rule_holds(self, rule: FieldRule, arguments: tuple[Type, ...], value: Value) -> bool:
        """For a sample: a rule that ends in a mistake does not hold."""
        self._steps = self._text_length = 0
        try:
            return self.holds(rule, arguments, value)
        except (KavachPanic, TooLong, TooLarge, RecursionError, MemoryError):
            return False

    def default_of(self, rule: FieldRule, arguments: tuple[Type, ...]) -> Value | None:
        if rule.default is None:
            return None
        bindings = dict(zip(rule.function.type_parameters, arguments, strict=True))
        try:
            return self.evaluate_from_zero(substituted(rule.default, bindings))
        except (KavachPanic, TooLong, TooLarge, RecursionError, MemoryError):
            return None

    def constant(self, constant: typed.Constant) -> Value:
        if constant not in self._constants:
            self._constants[constant] = self.evaluate(constant.value)
        return self._constants[constant]

    def count_step(self, span: Span) -> None:
        self._steps += 1
        if self._steps > STEPS_MAX:
            raise TooLong

    def count_text(self, text: str, span: Span) -> str:
        """Doubling a text needs few steps to fill the memory, so the texts made are counted as well."""
        self._text_length += len(text)
        if len(text) > TEXT_LENGTH_MAX or self._text_length > 100 * TEXT_LENGTH_MAX:
            raise TooLarge
        return text


def evaluate_constants(program: typed.Program, bag: DiagnosticBag) -> None:
    """Replaces the value of each constant by a tree of plain values, and fills in each agent's model and settings."""
    with_large_stack(lambda: _evaluate_all(program, bag))


def _evaluate_all(program: typed.Program, bag: DiagnosticBag) -> None:
    evaluator = ConstantEvaluator(program)
    plain: list[tuple[typed.Constant, typed.Expr]] = []
    for constant in program.constants:
        node = constant.value
        tree = _evaluated(evaluator, node, f"`{constant.name}`", bag, as_tree=True)
        if tree is not None:
            plain.append((constant, tree))
    for agent in program.agents:
        _evaluate_model(evaluator, agent, bag)
        _evaluate_settings(evaluator, agent, bag)
    for wanted, _ in program.asks:
        if wanted not in program.samples:
            program.samples[wanted] = sample_of(wanted, evaluator.rule_holds, evaluator.default_of)
    # At the end, since the evaluator knows nodes by their identity and needs them all alive.
    for constant, tree in plain:
        constant.value = tree


def _evaluated(
    evaluator: ConstantEvaluator, node: typed.Expr, what: str, bag: DiagnosticBag, *, as_tree: bool = False
) -> Any:
    """The value of `node`, or the tree that gives it; None after a diagnostic."""
    try:
        value = evaluator.evaluate_from_zero(node)
        return _plain_tree(value, node.type, node.span) if as_tree else value
    except KavachPanic as panic:
        notes = tuple([line.strip() for line in panic.trace or ()])
        bag.report(codes.EVALUATION_FAILS, panic.span, what=what, message=panic.message, notes=notes)
    except Fails as failure:
        bag.report(codes.EVALUATION_FAILS, node.span, what=what, message=show(failure.error, ERROR))
    except TooLong:
        bag.report(codes.EVALUATION_TOO_LONG, node.span, what=what, steps=f"{STEPS_MAX:,}".replace(",", "_"))
    except (TooLarge, RecursionError, MemoryError):
        bag.report(codes.EVALUATION_TOO_LARGE, node.span, what=what)
    return None


def _plain_tree(value: Value, value_type: Type, span: Span, depth: int = 0) -> typed.Expr:
    """The expression that gives `value`."""
    if depth > VALUE_DEPTH_MAX:
        raise TooLarge
    if isinstance(value, ArrayValue):
        assert isinstance(value_type, ArrayType)
        elements = tuple(_plain_tree(item, value_type.element, span, depth + 1) for item in value.items)
        return typed.ArrayMake(span, value_type, elements)
    if isinstance(value_type, OptionalType):
        if value is ABSENT:
            return typed.NoneValue(span, value_type)
        return typed.ToOptional(span, value_type, _plain_tree(value.value, value_type.element, span, depth + 1))
    if isinstance(value, TupleValue):
        assert isinstance(value_type, TupleType)
        parts = zip(value.fields, value_type.elements, strict=True)
        return typed.TupleMake(span, value_type, tuple([_plain_tree(*part, span, depth + 1) for part in parts]))
    if isinstance(value, MapValue):
        assert isinstance(value_type, MapType)
        pairs: list[typed.Expr] = []
        for key, held in value.items.values():
            pairs.append(_plain_tree(key, value_type.key, span, depth + 1))
            pairs.append(_plain_tree(held, value_type.value, span, depth + 1))
        return typed.MapMake(span, value_type, tuple(pairs))
    if isinstance(value, RecordValue):
        types = [info.type for info in value.record.fields]
        return typed.RecordMake(span, value_type, value.record, _plain_fields(value, types, span, depth))
    if isinstance(value, VariantValue):
        types = [info.type for info in value.sum.variants[value.variant].fields]
        return typed.VariantMake(span, value_type, value.sum, value.variant, _plain_fields(value, types, span, depth))
    if value_type is BOOL:
        return typed.BoolValue(span, value_type, value)
    if value_type is FLOAT:
        return typed.FloatValue(span, value_type, value)
    if value_type is STRING:
        return typed.StringValue(span, value_type, value)
    if value_type is NOTHING:
        return typed.NothingValue(span, value_type)
    return typed.IntValue(span, value_type, value)


def _plain_fields(
    value: RecordValue | VariantValue, types: list[Type], span: Span, depth: int
) -> tuple[tuple[int, typed.Expr], ...]:
    parts = enumerate(zip(value.fields, types, strict=True))
    return tuple((index, _plain_tree(item, item_type, span, depth + 1)) for index, (item, item_type) in parts)


def _evaluate_model(evaluator: ConstantEvaluator, agent: typed.Agent, bag: DiagnosticBag) -> None:
    node = agent.model_expression
    value = None if node is None else _evaluated(evaluator, node, f"the model of `{agent.name}`", bag)
    if node is None or value is None:
        return
    model = typed.ModelSettings(
        value.field("name"),
        value.field("max_tokens"),
        value.field("provider").name,
        _plain_optional(value.field("base_url")),
        _plain_optional(value.field("context_budget")),
        value.field("timeout"),
    )
    for name, number in (("max_tokens", model.max_tokens), ("context_budget", model.context_budget)):
        if number is not None and number < 1:
            bag.report(codes.MODEL_NUMBER_TOO_SMALL, node.span, name=name, value=number)
    if not model.name:
        bag.report(codes.MODEL_NAME_EMPTY, node.span)
    if model.base_url is not None and isinstance(parse_url(model.base_url), str):
        bag.report(codes.MODEL_BASE_URL, node.span, value=quote(model.base_url))
    if model.timeout_ns < 1:
        bag.report(codes.MODEL_TIMEOUT, node.span, value=show_duration(model.timeout_ns))
    agent.model = model


def _plain_optional(value: Value) -> Any:
    return None if value is ABSENT else value.value


def _evaluate_settings(evaluator: ConstantEvaluator, agent: typed.Agent, bag: DiagnosticBag) -> None:
    node = agent.settings_expression
    value = None if node is None else _evaluated(evaluator, node, f"the settings of `{agent.name}`", bag)
    if value is not None:
        agent.settings = typed.AgentSettings(value.field("asks_under_way").name, value.field("mode").name)
