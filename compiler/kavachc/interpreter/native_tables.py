"""What the native runtime must be told of a program: its agents, and the types that are asked for, as descriptors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from kavachc.bindings import descriptors as native
from kavachc.bindings.abi import Mode, Provider, RuleKind, UnderWay
from kavachc.interpreter.values import (
    ABSENT,
    ArrayValue,
    MapValue,
    Present,
    RecordValue,
    TupleValue,
    Value,
    VariantValue,
    put,
)
from kavachc.semantics.holding import reaches
from kavachc.semantics.typed_ast import Agent, Limit, Rule
from kavachc.semantics.types import (
    BOOL,
    FLOAT,
    INT,
    STRING,
    ArrayType,
    FieldInfo,
    FieldRule,
    MapType,
    OptionalType,
    RecordType,
    SumType,
    TupleType,
    Type,
)

PLAIN: dict[Type, native.Description] = {
    INT: native.INT,
    FLOAT: native.FLOAT,
    BOOL: native.BOOL,
    STRING: native.STRING,
}
MODES = {"Enforce": Mode.ENFORCE, "Observe": Mode.OBSERVE}
WAYS = {"Average": UnderWay.AVERAGE, "Largest": UnderWay.LARGEST, "NotCounted": UnderWay.NOT_COUNTED}
PROVIDERS = {"Anthropic": Provider.ANTHROPIC, "OpenAi": Provider.OPENAI}
RULE_KINDS = {"condition": RuleKind.CONDITION, "count": RuleKind.COUNT, "tokens": RuleKind.TOKENS}


Holds: TypeAlias = Callable[[FieldRule, tuple[Type, ...], Value], bool]


class Descriptions:
    """One description for each type, since descriptions are compared by identity."""

    def __init__(self, holds: Holds) -> None:
        self._holds = holds
        self._made: dict[Type, native.Description] = dict(PLAIN)

    def of(self, wanted: Type) -> native.Description:
        """The description of a type that can be asked for."""
        if wanted in self._made:
            return self._made[wanted]
        made: native.Description
        if isinstance(wanted, ArrayType):
            made = native.ArrayOf(self.of(wanted.element))
            self._made[wanted] = made
        elif isinstance(wanted, MapType):
            self._made[wanted] = made = native.MapOf(self.of(wanted.key), self.of(wanted.value))
        elif isinstance(wanted, OptionalType):
            self._made[wanted] = made = native.OptionalOf(self.of(wanted.element))
        elif isinstance(wanted, TupleType):
            self._made[wanted] = made = native.TupleOf([self.of(element) for element in wanted.elements])
        elif isinstance(wanted, RecordType):
            # Known before its fields are described, which may refer to it.
            self._made[wanted] = made = native.RecordOf(wanted.name)
            made.fields += self._fields(wanted, wanted.fields)
        else:
            assert isinstance(wanted, SumType), f"{wanted} cannot be asked for"
            self._made[wanted] = made = native.SumOf(wanted.name)
            made.variants += [
                native.VariantOf(info.name, self._fields(wanted, info.fields)) for info in wanted.variants
            ]
        return made

    def _fields(
        self, holder: RecordType | SumType, fields: list[FieldInfo] | tuple[FieldInfo, ...]
    ) -> list[native.FieldOf]:
        return [native.FieldOf(info.name, self._field(info.type, holder), self._rule(holder, info)) for info in fields]

    def _rule(self, holder: RecordType | SumType, info: FieldInfo) -> tuple[str, Callable[[int], bool]] | None:
        rule = info.rule
        if rule is None:
            return None
        description = self.of(info.type)
        holds: Callable[[int], bool] = lambda address: self._holds(  # noqa: E731
            rule, holder.arguments, as_value(native.read_value(description, address), info.type)
        )
        return rule.text, holds

    def _field(self, wanted: Type, holder: Type) -> native.Description:
        """A field through which a type holds itself is stored apart."""
        made = self.of(wanted)
        return native.BoxOf(made) if reaches(wanted, holder) else made


def as_value(plain: Any, wanted: Type) -> Value:
    """The interpreter's value for one that `read_value` has read."""
    if isinstance(wanted, ArrayType):
        return ArrayValue([as_value(item, wanted.element) for item in plain])
    if isinstance(wanted, MapType):
        made = MapValue({})
        for key, value in plain.items():
            put(made, as_value(key, wanted.key), as_value(value, wanted.value))
        return made
    if isinstance(wanted, OptionalType):
        return ABSENT if plain is None else Present(as_value(plain, wanted.element))
    if isinstance(wanted, TupleType):
        return TupleValue(tuple([as_value(*pair) for pair in zip(plain, wanted.elements, strict=True)]))
    if isinstance(wanted, RecordType):
        return RecordValue(wanted, _field_values(plain, wanted.fields))
    if isinstance(wanted, SumType):
        name, fields = (plain, {}) if isinstance(plain, str) else plain
        index = wanted.variant_index(name)
        assert index is not None, f"{wanted} has no {name}"
        return VariantValue(wanted, index, _field_values(fields, wanted.variants[index].fields))
    return plain


def _field_values(plain: dict[str, Any], fields: list[FieldInfo] | tuple[FieldInfo, ...]) -> tuple[Value, ...]:
    return tuple([as_value(plain[info.name], info.type) for info in fields])


def agent_row(agent: Agent) -> native.Agent:
    return native.Agent(
        agent.name,
        tuple(_limit_row(limit) for limit in agent.limits),
        agent.model.name,
        agent.model.max_tokens,
        PROVIDERS[agent.model.provider],
        agent.model.base_url,
        agent.model.context_budget,
        agent.model.timeout_ns,
        WAYS[agent.settings.asks_under_way],
        MODES[agent.settings.mode],
    )


def _limit_row(limit: Limit) -> native.Limit:
    return native.Limit(limit.target, tuple(_rule_row(rule) for rule in limit.rules))


def _rule_row(rule: Rule) -> native.Rule:
    if rule.kind == "sum":
        kind = RuleKind.SUM_FLOAT if isinstance(rule.bound, float) else RuleKind.SUM_INT
    else:
        kind = RULE_KINDS[rule.kind]
    return native.Rule(kind, rule.text, rule.window_ns, rule.bound, rule.strict, rule.key is not None)
