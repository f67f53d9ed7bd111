"""The static tables that the runtime reads: kv_type and its parts, agents, vtables and kv_program (kavach.h)."""

from __future__ import annotations

import struct

from kavachc.backend.layout import Layouts
from kavachc.backend.llvm_constants import Constants, global_name
from kavachc.ir.facts import is_counted, named
from kavachc.ir.module import Agent, Field, Function, Limit, Model, Module, Record, Rule, Sum, shown_name
from kavachc.ir.ops import WAYS
from kavachc.ir.types import (
    BOOL,
    DURATION,
    ERROR,
    FLOAT,
    INSTANT,
    INT,
    NOTHING,
    STRING,
    Array,
    Box,
    FunctionValue,
    IrType,
    Map,
    Named,
    Optional,
    Task,
    Tuple,
)

_TEXT = "{ ptr, i64 }"
_TYPE = f"{{ i32, i32, i64, i64, {_TEXT}, ptr, ptr, i64, ptr, i64, ptr }}"
_FIELD = f"{{ {_TEXT}, ptr, i64, {_TEXT}, ptr }}"
_VARIANT = f"{{ {_TEXT}, ptr, i64 }}"
_RULE = f"{{ i32, i32, {_TEXT}, i64, i64, double, i64 }}"
_LIMIT = f"{{ {_TEXT}, ptr, i64 }}"
_MODEL = f"{{ {_TEXT}, {_TEXT}, i64, i64, i64, i32, i32 }}"
_AGENT = f"{{ {_TEXT}, {_MODEL}, i32, i32, i32, i32, ptr, i64 }}"
_SCHEMA = f"{{ i32, {_TEXT}, {_TEXT}, {_TEXT} }}"
_PROGRAM = "{ ptr, ptr, ptr, i64, ptr, ptr }"

_ARRAY, _RECORD, _SUM, _TASK, _AGENT_KIND, _CAPABILITY, _OPTIONAL, _TUPLE, _BOX = 7, 8, 9, 10, 11, 12, 14, 15, 16
_MAP, _FUNCTION = 17, 18
_SCALAR_KINDS = {INT: 0, FLOAT: 1, BOOL: 2, NOTHING: 3, STRING: 4, DURATION: 5, INSTANT: 6, ERROR: 13}
_RULE_KINDS = {"condition": 0, "sum_int": 1, "sum_float": 2, "count": 3, "tokens": 4}
_PROVIDERS = {"Anthropic": 0, "OpenAi": 1}
_UNDER_WAY = {"Average": 0, "Largest": 1, "NotCounted": 2}
_MODES = {"Enforce": 0, "Observe": 1}


def float_bits(value: float) -> str:
    """A double as LLVM writes it exactly."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


class Descriptors:
    """Type descriptors are made when first asked for: a program has those that it needs, each once."""

    def __init__(self, layouts: Layouts, constants: Constants, function_names: dict[str, str]) -> None:
        self._function_names = function_names
        self._layouts = layouts
        self._constants = constants
        self._names: dict[IrType, str] = {}
        self._schemas: dict[tuple[str, str, str, str], str] = {}
        self.lines: list[str] = []

    @property
    def _module(self) -> Module:
        return self._layouts.module

    def type(self, type: IrType) -> str:
        """The name of the kv_type."""
        name = self._names.get(type)
        if name is None:
            # Named before it is made: a type may hold arrays of itself.
            name = self._names[type] = global_name(f"type.{type}")
            self.lines.append(f"{name} = internal constant {_TYPE} {self._type_value(type)}")
        return name

    def schema(self, way: str, text: str, sample: str, problem: str) -> str:
        """The name of the kv_schema."""
        key = (way, text, sample, problem)
        name = self._schemas.get(key)
        if name is None:
            name = self._schemas[key] = f"@schema.{len(self._schemas)}"
            texts = ", ".join(self._text(item) for item in (text, None if problem else sample, problem))
            self.lines.append(f"{name} = internal constant {_SCHEMA} {{ i32 {WAYS.index(way)}, {texts} }}")
        return name

    def _type_value(self, type: IrType) -> str:
        counted = int(is_counted(type, self._module))
        layout = f"i64 {self._layouts.size(type)}, i64 {self._layouts.alignment(type)}"
        name: str | None = None
        element, key = "null", "null"
        fields, field_count = "null", 0
        variants, variant_count = "null", 0
        if isinstance(type, Array):
            kind, element = _ARRAY, self.type(type.element)
        elif isinstance(type, Map):
            kind, element, key = _MAP, self.type(type.value), self.type(type.key)
        elif isinstance(type, Optional | Box):
            kind, element = _OPTIONAL if isinstance(type, Optional) else _BOX, self.type(type.element)
        elif isinstance(type, Tuple):
            kind = _TUPLE
            offsets = self._layouts.aggregate(type).offsets
            members = tuple([Field("", element) for element in type.elements])
            fields, field_count = self._fields(members, offsets, f"{type}"), len(members)
        elif isinstance(type, Task):
            kind, element = _TASK, self.type(type.result)
        elif isinstance(type, FunctionValue):
            kind = _FUNCTION
        elif isinstance(type, Named):
            declared = named(type.name, self._module)
            name = shown_name(declared.name)
            if isinstance(declared, Record):
                kind = _RECORD
                offsets = self._layouts.aggregate(type).offsets
                fields, field_count = self._fields(declared.fields, offsets, f"{type}"), len(declared.fields)
            elif isinstance(declared, Sum):
                kind = _SUM
                variants, variant_count = self._variants(declared, type), len(declared.variants)
            else:
                kind = _AGENT_KIND if isinstance(declared, Agent) else _CAPABILITY
        else:
            assert type in _SCALAR_KINDS, f"no descriptor of {type}"
            kind = _SCALAR_KINDS[type]
        return (
            f"{{ i32 {kind}, i32 {counted}, {layout}, {self._text(name)}, ptr {element}, "
            f"ptr {fields}, i64 {field_count}, ptr {variants}, i64 {variant_count}, ptr {key} }}"
        )

    def _text(self, text: str | None) -> str:
        return self._constants.text_view(text)

    def _fields(self, fields: tuple[Field, ...], offsets: tuple[int, ...], owner: str) -> str:
        if not fields:
            return "null"
        rows = [
            f"{_FIELD} {{ {self._text(field.name)}, ptr {self.type(field.type)}, i64 {offset}, "
            f"{self._rule_of(field)} }}"
            for field, offset in zip(fields, offsets, strict=False)
        ]
        return self._table(f"fields.{owner}", _FIELD, rows)

    def _rule_of(self, field: Field) -> str:
        if field.rule is None:
            return f"{self._text(None)}, ptr null"
        return f"{self._text(field.rule.text)}, ptr {self._function_names[field.rule.check]}"

    def _variants(self, declared: Sum, type: IrType) -> str:
        offsets = self._layouts.aggregate(type).offsets
        rows: list[str] = []
        for number, variant in enumerate(declared.variants):
            shown = tuple(field for field in variant.fields if not field.is_hidden)
            places = tuple(offsets[self._layouts.member_of_variant(type, number, at)] for at in range(len(shown)))
            fields = self._fields(shown, places, f"{type}.{variant.name}")
            rows.append(f"{_VARIANT} {{ {self._text(variant.name)}, ptr {fields}, i64 {len(shown)} }}")
        return self._table(f"variants.{type}", _VARIANT, rows)

    def _table(self, name: str, row_type: str, rows: list[str]) -> str:
        """An array of rows; null when there are none."""
        if not rows:
            return "null"
        name = global_name(name)
        self.lines.append(
            f"{name} = private unnamed_addr constant [{len(rows)} x {row_type}] [{', '.join(rows)}], align 8"
        )
        return name

    # Vtables, agents, the program.

    def vtables(self) -> None:
        for vtable in self._module.vtables.values():
            methods = ", ".join(f"ptr {self._function_names[name]}" for name in vtable.functions)
            array = f"[{len(vtable.functions)} x ptr]"
            value = f"[{methods}]" if methods else "zeroinitializer"
            self.lines.append(
                f'@"vtable.{vtable.name}" = internal constant {{ ptr, {array} }} '
                f"{{ ptr {self.type(vtable.payload)}, {array} {value} }}"
            )

    def code_tables(self) -> None:
        """What function values point to: a vtable of their captures, and of the code as its one method."""
        for function in self._module.functions.values():
            if function.captures is None:
                continue
            captures = f"captures.{function.name}"
            self.lines.append(
                f'@"code.{function.name}" = internal constant {{ ptr, ptr }} '
                f'{{ ptr @"{captures}", ptr {self._function_names[function.name]} }}'
            )
            if not function.captures:
                # A value that captures nothing is a static block.
                self.lines.append(
                    f'@"function.{function.name}" = internal constant {{ i64, ptr }} '
                    f'{{ i64 0, ptr @"code.{function.name}" }}, align 8'
                )
            self.lines.append(f'@"{captures}" = internal constant {_TYPE} {self._captures(function)}')

    def _captures(self, function: Function) -> str:
        """As a record without names."""
        types = function.captures or ()
        layout = self._layouts.captures(types)
        fields = tuple(Field("", type) for type in types)
        table = self._fields(fields, layout.offsets, f"captures.{function.name}")
        counted = int(any(is_counted(type, self._module) for type in types))
        return (
            f"{{ i32 {_RECORD}, i32 {counted}, i64 {layout.size}, i64 {layout.alignment}, {self._text(None)}, "
            f"ptr null, ptr {table}, i64 {len(types)}, ptr null, i64 0, ptr null }}"
        )

    def program(self, entry: str, resume: str, parts: tuple[str, str]) -> None:
        agents = self._table("agents", _AGENT, [self._agent(agent) for agent in self._module.agents])
        self.lines.append(
            f"@kv_program = constant {_PROGRAM} {{ ptr {entry}, ptr {resume}, ptr {agents}, "
            f"i64 {len(self._module.agents)}, ptr {parts[0]}, ptr {parts[1]} }}"
        )

    def _agent(self, agent: Agent) -> str:
        limits = [self._limit(limit, f"{agent.name}.{number}") for number, limit in enumerate(agent.limits)]
        table = self._table(f"limits.{agent.name}", _LIMIT, limits)
        return (
            f"{_AGENT} {{ {self._text(agent.name)}, {self._model(agent.model)}, "
            f"i32 {_UNDER_WAY[agent.asks_under_way]}, i32 {_MODES[agent.mode]}, "
            f"i32 {agent.ai_limit}, i32 0, ptr {table}, i64 {len(limits)} }}"
        )

    def _model(self, model: Model) -> str:
        return (
            f"{_MODEL} {{ {self._text(model.name)}, {self._text(model.base_url or None)}, i64 {model.max_tokens}, "
            f"i64 {model.context_budget}, i64 {model.timeout_ns}, i32 {_PROVIDERS[model.provider]}, i32 0 }}"
        )

    def _limit(self, limit: Limit, owner: str) -> str:
        rules = self._table(f"rules.{owner}", _RULE, [self._rule(rule) for rule in limit.rules])
        return f"{_LIMIT} {{ {self._text(limit.target)}, ptr {rules}, i64 {len(limit.rules)} }}"

    def _rule(self, rule: Rule) -> str:
        is_float = rule.kind == "sum_float"
        whole = 0 if is_float else int(rule.bound)
        fraction = float_bits(float(rule.bound)) if is_float else float_bits(0.0)
        return (
            f"{_RULE} {{ i32 {_RULE_KINDS[rule.kind]}, i32 {int(rule.strict)}, {self._text(rule.text)}, "
            f"i64 {rule.window_ns}, i64 {whole}, double {fraction}, i64 {int(rule.keyed)} }}"
        )
