"""Builds the runtime's tables (`kv_type`, `kv_agent`) from plain descriptions, and reads native values back.

Descriptions are compared by identity: one object for one declared type, so that a type may refer to itself through an
array or a box (give its fields after making it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ctypes import Structure, c_double, c_int32, c_int64, c_uint8, c_void_p, pointer, string_at
from dataclasses import dataclass, field
from typing import Any

from kavachc.bindings import abi
from kavachc.bindings.abi import Kind
from kavachc.bindings.kept import Kept

_ELEMENTS_OFFSET = 24
_BYTES_OFFSET = 16
_ENTRIES_OFFSET = 32
_KEY_OFFSET = 8
_BOX_VALUE_OFFSET = 8
_TAG_SIZE = 4


@dataclass(eq=False)
class Basic:
    kind: Kind


@dataclass(eq=False)
class ArrayOf:
    element: Description


@dataclass(eq=False)
class MapOf:
    key: Description
    value: Description


@dataclass(eq=False)
class OptionalOf:
    element: Description


@dataclass(eq=False)
class TupleOf:
    elements: list[Description]


@dataclass(eq=False)
class BoxOf:
    """A field through which a type holds itself."""

    element: Description


@dataclass(eq=False)
class TaskOf:
    result: Description


@dataclass(eq=False)
class FieldOf:
    """`rule` is the text of the field's rule, and what says whether it holds for the value at an address."""

    name: str
    type: Description
    rule: tuple[str, Callable[[int], bool]] | None = None


@dataclass(eq=False)
class RecordOf:
    name: str
    fields: list[FieldOf] = field(default_factory=list)


@dataclass(eq=False)
class VariantOf:
    name: str
    fields: list[FieldOf] = field(default_factory=list)


@dataclass(eq=False)
class SumOf:
    name: str
    variants: list[VariantOf] = field(default_factory=list)


Description = Basic | ArrayOf | MapOf | OptionalOf | TupleOf | BoxOf | TaskOf | RecordOf | SumOf

INT = Basic(Kind.INT)
FLOAT = Basic(Kind.FLOAT)
BOOL = Basic(Kind.BOOL)
NOTHING = Basic(Kind.NOTHING)
STRING = Basic(Kind.STRING)
DURATION = Basic(Kind.DURATION)
INSTANT = Basic(Kind.INSTANT)
AGENT = Basic(Kind.AGENT)
CAPABILITY = Basic(Kind.CAPABILITY)
ERROR = Basic(Kind.ERROR)

_BYTE_KINDS = (Kind.BOOL, Kind.NOTHING)
_COUNTED_KINDS = (Kind.STRING, Kind.AGENT, Kind.CAPABILITY, Kind.ERROR)


@dataclass(frozen=True)
class Rule:
    kind: abi.RuleKind
    text: str
    window_ns: int = 0
    bound: int | float = 0
    strict: bool = False
    keyed: bool = False


@dataclass(frozen=True)
class Limit:
    target: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class Agent:
    name: str
    limits: tuple[Limit, ...] = ()
    model_name: str = "claude-haiku-5-5"
    max_tokens: int = 4096
    provider: abi.Provider = abi.Provider.ANTHROPIC
    base_url: str | None = None
    context_budget: int | None = None
    timeout_ns: int = 600_000_000_000
    asks_under_way: abi.UnderWay = abi.UnderWay.AVERAGE
    mode: abi.Mode = abi.Mode.ENFORCE

    @property
    def ai_limit(self) -> int:
        """The index of `limit Ai`, or -1."""
        return next((index for index, limit in enumerate(self.limits) if limit.target == "Ai"), -1)


class Descriptors:
    """Native tables, alive as long as this is."""

    def __init__(self) -> None:
        self.kept = Kept()
        self._types: dict[Description, abi.Type] = {}
        self._schemas: dict[tuple[abi.SchemaWay, str, str | None, str], abi.Schema] = {}
        # What is only pointed to is made last, when all that lies inside one another has its size.
        self._pointed_to: list[tuple[abi.Type, Description]] = []
        self._depth = 0

    def type(self, description: Description) -> abi.Type:
        """The one kv_type of a description."""
        found = self._types.get(description)
        if found is not None:
            return found
        made = abi.Type()
        self._types[description] = made  # Before its parts, which may refer to it.
        self._depth += 1
        self._fill(made, description)
        self._depth -= 1
        while self._depth == 0 and self._pointed_to:
            holder, element = self._pointed_to.pop()
            holder.element = pointer(self.type(element))
        return made

    def schema(self, way: abi.SchemaWay, text: str, sample: str | None, problem: str) -> abi.Schema:
        """The one kv_schema of these texts."""
        key = (way, text, sample, problem)
        made = self._schemas.get(key)
        if made is None:
            texts = [self.kept.text(item) for item in (text, sample, problem)]
            made = self._schemas[key] = abi.Schema(way, *texts)
        return made

    def _fill(self, made: abi.Type, description: Description) -> None:
        match description:
            case Basic(kind):
                _set_size(made, kind, 1 if kind in _BYTE_KINDS else 8, kind in _COUNTED_KINDS)
            case ArrayOf(element):
                _set_size(made, Kind.ARRAY, 8, True)
                self._pointed_to.append((made, element))
            case MapOf(key, element):
                _set_size(made, Kind.MAP, 8, True)
                made.key = pointer(self.type(key))
                self._pointed_to.append((made, element))
            case OptionalOf(element):
                held = self.type(element)
                made.element = pointer(held)
                alignment = max(_TAG_SIZE, held.alignment)
                size = _round_up(alignment + held.size, alignment)
                _set_size(made, Kind.OPTIONAL, size, bool(held.counted), alignment)
            case TupleOf(elements):
                layout = self._fields([FieldOf("", element) for element in elements], 0)
                made.fields = self.kept.table(abi.Field, layout.rows)
                made.field_count = len(layout.rows)
                size = _round_up(layout.end, layout.alignment)
                _set_size(made, Kind.TUPLE, size, layout.counted, layout.alignment)
            case BoxOf(element):
                _set_size(made, Kind.BOX, 8, True)
                self._pointed_to.append((made, element))
            case TaskOf(result):
                _set_size(made, Kind.TASK, 8, True)
                self._pointed_to.append((made, result))
            case RecordOf():
                self._fill_record(made, description)
            case SumOf():
                self._fill_sum(made, description)

    def agents(self, agents: Iterable[Agent]) -> Any:
        return self.kept.table(abi.Agent, [self._agent(agent) for agent in agents])

    def _fill_record(self, made: abi.Type, description: RecordOf) -> None:
        layout = self._fields(description.fields, 0)
        made.name = self.kept.text(description.name)
        made.fields = self.kept.table(abi.Field, layout.rows)
        made.field_count = len(layout.rows)
        made.alignment = layout.alignment
        _set_size(made, Kind.RECORD, _round_up(layout.end, layout.alignment), layout.counted, layout.alignment)

    def _fill_sum(self, made: abi.Type, description: SumOf) -> None:
        layouts = [self._fields(variant.fields, _TAG_SIZE) for variant in description.variants]
        rows = [
            abi.Variant(
                self.kept.text(variant.name),
                self.kept.table(abi.Field, layout.rows),
                len(layout.rows),
            )
            for variant, layout in zip(description.variants, layouts, strict=True)
        ]
        alignment = max([_TAG_SIZE, *(layout.alignment for layout in layouts)])
        end = max([_TAG_SIZE, *(layout.end for layout in layouts)])
        made.name = self.kept.text(description.name)
        made.variants = self.kept.table(abi.Variant, rows)
        made.variant_count = len(rows)
        counted = any(layout.counted for layout in layouts)
        _set_size(made, Kind.SUM, _round_up(end, alignment), counted, alignment)

    def _fields(self, fields: list[FieldOf], start: int) -> _FieldLayout:
        """Lays fields out one after another from `start`, as C does."""
        layout = _FieldLayout(end=start)
        for each in fields:
            kind = self.type(each.type)
            assert kind.size > 0 or kind.kind == Kind.RECORD, f"{each.name}: a value cannot hold itself"
            offset = _round_up(layout.end, kind.alignment)
            rule = self._rule_of(each)
            layout.rows.append(abi.Field(self.kept.text(each.name), pointer(kind), offset, *rule))
            layout.end = offset + kind.size
            layout.alignment = max(layout.alignment, kind.alignment)
            layout.counted = layout.counted or bool(kind.counted)
        return layout

    def _rule_of(self, field: FieldOf) -> tuple[abi.TextView, Any]:
        if field.rule is None:
            return self.kept.text(None), abi.HoldsFunction()
        text, holds = field.rule
        return self.kept.text(text), self.kept.keep(abi.HoldsFunction(holds))

    def _agent(self, agent: Agent) -> abi.Agent:
        limits = [
            abi.Limit(
                self.kept.text(limit.target),
                self.kept.table(abi.Rule, [self._rule(rule) for rule in limit.rules]),
                len(limit.rules),
            )
            for limit in agent.limits
        ]
        return abi.Agent(
            self.kept.text(agent.name),
            self._model(agent),
            agent.asks_under_way,
            agent.mode,
            agent.ai_limit,
            0,
            self.kept.table(abi.Limit, limits),
            len(limits),
        )

    def _model(self, agent: Agent) -> abi.Model:
        return abi.Model(
            self.kept.text(agent.model_name),
            self.kept.text(agent.base_url) if agent.base_url else abi.TextView(),
            agent.max_tokens,
            agent.context_budget or 0,
            agent.timeout_ns,
            agent.provider,
            0,
        )

    def _rule(self, rule: Rule) -> abi.Rule:
        is_float = rule.kind == abi.RuleKind.SUM_FLOAT
        bound_int = 0 if is_float else int(rule.bound)
        bound_float = float(rule.bound) if is_float else 0.0
        text = self.kept.text(rule.text)
        return abi.Rule(rule.kind, int(rule.strict), text, rule.window_ns, bound_int, bound_float, int(rule.keyed))


@dataclass
class _FieldLayout:
    end: int
    rows: list[Structure] = field(default_factory=list)
    alignment: int = 1
    counted: bool = False


def _set_size(made: abi.Type, kind: Kind, size: int, counted: bool, alignment: int | None = None) -> None:
    made.kind = kind
    made.size = size
    made.alignment = size if alignment is None else alignment
    made.counted = int(counted)


def _round_up(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment


def read_text(string: Any) -> str:
    """The text of a `kv_string *`."""
    address = c_void_p.from_buffer(string).value
    assert address is not None
    return string_at(address + _BYTES_OFFSET, string.contents.length).decode()


def read_value(description: Description, address: int) -> Any:
    """The value at an address as plain Python: a record is a dict, a variant its name, or (name, dict) with fields."""
    match description:
        case Basic(Kind.INT | Kind.DURATION | Kind.INSTANT):
            return c_int64.from_address(address).value
        case Basic(Kind.FLOAT):
            return c_double.from_address(address).value
        case Basic(Kind.BOOL):
            return bool(c_uint8.from_address(address).value)
        case Basic(Kind.STRING):
            block = c_void_p.from_address(address).value or 0
            return string_at(block + _BYTES_OFFSET, abi.String.from_address(block).length).decode()
        case ArrayOf(element):
            block = c_void_p.from_address(address).value or 0
            kind = Descriptors().type(element)
            stride = _round_up(kind.size, kind.alignment)
            start = block + _ELEMENTS_OFFSET
            length = abi.Array.from_address(block).length
            return [read_value(element, start + index * stride) for index in range(length)]
        case MapOf(key, element):
            return _read_map(key, element, c_void_p.from_address(address).value or 0)
        case OptionalOf(element):
            kind = Descriptors().type(element)
            is_there = c_int32.from_address(address).value
            return read_value(element, address + max(_TAG_SIZE, kind.alignment)) if is_there else None
        case TupleOf(elements):
            parts = [FieldOf(str(index), element) for index, element in enumerate(elements)]
            return tuple(_read_fields(parts, 0, address).values())
        case BoxOf(element):
            return read_value(element, (c_void_p.from_address(address).value or 0) + _BOX_VALUE_OFFSET)
        case RecordOf(_, fields):
            return _read_fields(fields, 0, address)
        case SumOf(_, variants):
            variant = variants[c_int32.from_address(address).value]
            held = _read_fields(variant.fields, _TAG_SIZE, address)
            return (variant.name, held) if held else variant.name
        case _:
            raise TypeError(f"a value of {description} cannot be read")


def _read_map(key: Description, element: Description, block: int) -> dict[Any, Any]:
    """The entries that stand: each is its hash word, 0 for one that was taken away, the key and the value."""
    kinds = Descriptors()
    key_type, held = kinds.type(key), kinds.type(element)
    value_offset = _round_up(_KEY_OFFSET + key_type.size, held.alignment)
    stride = _round_up(value_offset + held.size, 8)
    entries = [block + _ENTRIES_OFFSET + index * stride for index in range(abi.Map.from_address(block).used)]
    return {
        read_value(key, entry + _KEY_OFFSET): read_value(element, entry + value_offset)
        for entry in entries
        if c_int64.from_address(entry).value
    }


def _read_fields(fields: list[FieldOf], start: int, base: int) -> dict[str, Any]:
    layout = Descriptors()._fields(fields, start)
    offsets = [row.offset for row in layout.rows]
    return {each.name: read_value(each.type, base + offset) for each, offset in zip(fields, offsets, strict=True)}


def buffer_for(kind: abi.Type) -> Any:
    """Room for one value of a type, zeroed and aligned."""
    return (c_int64 * max(1, -(-kind.size // 8)))()
