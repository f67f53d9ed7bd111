"""The JSON schema that a model is given for the type of an ask (spec 8.4.schema).

Providers take a part of JSON schema ("structured output"); a type outside it has its schema written at the end of the
prompt. Each type stands where it is used, so that every place can have its documentation; a schema for the prompt names
what holds itself, or stands in several places, once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.semantics.types import (
    BOOL,
    FLOAT,
    INT,
    STRING,
    ArrayType,
    FieldInfo,
    MapType,
    OptionalType,
    RecordType,
    SumType,
    TupleType,
    Type,
    VariantInfo,
    is_date,
    parts,
)

if TYPE_CHECKING:
    from kavachc.semantics.typed_ast import Program

# How the schema goes to the model. `wrapped`: as structured output, whose root is an object, with the answer as its one
# field `answer`. `none`: the answer is the model's text.
Way: TypeAlias = Literal["none", "structured", "wrapped", "prompt"]

WRAPPER = "answer"
# What structured output takes, of Anthropic and of OpenAI the less:
# https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations (optionals, choices),
# https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas (the rest).
OPTIONALS_MAX = 24
CHOICES_MAX = 16
PROPERTIES_MAX = 5_000
NAMES_MAX = 1_000
LEVELS_MAX = 10
CHARACTERS_MAX = 120_000
# A sum with more names than this has a bound of its own on their characters.
FEW_NAMES_MAX = 250
MANY_NAMES_CHARACTERS_MAX = 15_000

Node: TypeAlias = dict[str, object]
_BASIC: dict[Type, str] = {INT: "integer", FLOAT: "number", BOOL: "boolean", STRING: "string"}


@dataclass(frozen=True, slots=True)
class Schema:
    """`text` is compact JSON, empty for `none`. `reason` says why the schema goes into the prompt, otherwise empty."""

    text: str
    way: Way
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """What a dry run answers: JSON, or the bare text of a String. None, and a `problem`, where no value is known."""

    text: str | None
    problem: str = ""


@lru_cache(maxsize=256)
def answer_schema(wanted: Type) -> Schema:
    """The schema for answers of a type that can be asked for."""
    if wanted == STRING:
        return Schema("", "none")
    reason = _why_not_structured(wanted)
    if reason is not None:
        return Schema(_text(_Writer(_shared(wanted)).whole(wanted)), "prompt", reason)
    node = _Writer({}).node(wanted)
    if node.get("type") == "object":
        return Schema(_text(node), "structured")
    return Schema(_text(_object([(WRAPPER, node)])), "wrapped")


def note_asks(program: Program, bag: DiagnosticBag) -> None:
    """A note for each ask whose schema goes into the prompt."""
    for wanted, span in program.asks:
        schema = answer_schema(wanted)
        if schema.way == "prompt":
            bag.report(codes.SCHEMA_IN_PROMPT, span, type=wanted, reason=schema.reason)


# What structured output takes.


@dataclass(frozen=True, slots=True)
class _Size:
    """Of a schema, everything counted in each place where it stands."""

    optionals: int = 0
    choices: int = 0
    properties: int = 0
    names: int = 0
    levels: int = 0
    characters: int = 0
    many_names_characters: int = 0

    def __add__(self, other: _Size) -> _Size:
        return _Size(
            self.optionals + other.optionals,
            self.choices + other.choices,
            self.properties + other.properties,
            self.names + other.names,
            max(self.levels, other.levels),
            self.characters + other.characters,
            max(self.many_names_characters, other.many_names_characters),
        )


def _why_not_structured(wanted: Type) -> str | None:
    for item in _inside(wanted):
        if isinstance(item, MapType):
            return f"`{item}` is a map, whose keys are not known before"
        if isinstance(item, TupleType):
            return f"`{item}` is a tuple, whose elements have types of their own"
        if isinstance(item, RecordType | SumType) and item in _reached_from(item):
            return f"`{item}` holds itself"
    size = _size(wanted, {})
    checks = (
        (size.choices, CHOICES_MAX, "places with a choice (`?` is one)"),
        (size.optionals, OPTIONALS_MAX, "optional values"),
        (size.properties, PROPERTIES_MAX, "fields"),
        (size.names, NAMES_MAX, "names of variants"),
        (size.levels, LEVELS_MAX, "levels of objects"),
        (size.characters, CHARACTERS_MAX, "characters in names of fields and variants"),
        (size.many_names_characters, MANY_NAMES_CHARACTERS_MAX, "characters in so many names of one sum"),
    )
    for count, most, what in checks:
        if count > most:
            return f"it has {count} {what}, and providers take at most {most}"
    return None


def _size(wanted: Type, known: dict[Type, _Size]) -> _Size:
    """Of a type that does not hold itself. A type that stands in many places is looked at once."""
    found = known.get(wanted)
    if found is None:
        found = known[wanted] = _own_size(wanted, known)
    return found


def _own_size(wanted: Type, known: dict[Type, _Size]) -> _Size:
    size = _Size()
    for held in _held(wanted):
        size += _size(held, known)
    if isinstance(wanted, OptionalType):
        return size if isinstance(wanted.element, OptionalType) else size + _Size(optionals=1, choices=1)
    if isinstance(wanted, RecordType) and not is_date(wanted):
        characters = sum(len(item.name) for item in wanted.fields)
        return size + _Size(properties=len(wanted.fields), levels=size.levels + 1, characters=characters)
    if isinstance(wanted, SumType):
        objects = [item for item in wanted.variants if item.fields]
        bare = len(wanted.variants) - len(objects)
        names_characters = sum(len(item.name) for item in wanted.variants if not item.fields)
        size += _Size(
            choices=int(len(objects) + min(bare, 1) > 1),
            properties=sum(1 + len(item.fields) for item in objects),
            names=bare,
            characters=sum(len(item.name) + sum(len(field.name) for field in item.fields) for item in wanted.variants),
            many_names_characters=names_characters if bare > FEW_NAMES_MAX else 0,
        )
        return size + _Size(levels=size.levels + 2) if objects else size
    return size


def _held(type_: Type) -> Sequence[Type]:
    """The types that a value of `type_` is directly made of in JSON, where a date is text."""
    if is_date(type_):
        return ()
    if isinstance(type_, RecordType):
        return [item.type for item in type_.fields]
    if isinstance(type_, SumType):
        return [item.type for variant in type_.variants for item in variant.fields]
    return parts(type_)


def _reached_from(type_: Type) -> set[Type]:
    """All types in a value of `type_`; itself only where it holds itself."""
    found: set[Type] = set()
    pending = [*_held(type_)]
    while pending:
        current = pending.pop()
        if current not in found:
            found.add(current)
            pending.extend(_held(current))
    return found


def _inside(wanted: Type) -> Iterator[Type]:
    """`wanted` and all types in it, each once, in the order in which they are written."""
    seen: set[Type] = set()
    pending = [wanted]
    while pending:
        current = pending.pop()
        if current not in seen:
            seen.add(current)
            yield current
            pending.extend(reversed(_held(current)))


def _shared(wanted: Type) -> dict[Type, str]:
    """The names of the records and sums that hold themselves, or stand in more than one place."""
    named = [item for item in _inside(wanted) if isinstance(item, RecordType | SumType) and not is_date(item)]
    places: dict[Type, int] = {}
    pending = [wanted, *(held for item in named for held in _held(item))]
    while pending:
        current = pending.pop()
        if isinstance(current, RecordType | SumType):
            places[current] = places.get(current, 0) + 1
        else:
            pending.extend(parts(current))
    names: dict[Type, str] = {}
    for item in named:
        if places[item] > 1:
            names[item] = _free_name(item.name, names)
    return names


def _free_name(name: str, names: dict[Type, str]) -> str:
    taken = set(names.values())
    number = 2
    free = name
    while free in taken:
        free = f"{name}{number}"
        number += 1
    return free


# Writing it.


@dataclass(frozen=True, slots=True)
class _Writer:
    """`names` are the types that are written as a reference."""

    names: dict[Type, str]

    def whole(self, wanted: Type) -> Node:
        """The schema with the definitions that it refers to."""
        node = self.node(wanted)
        if self.names:
            node["$defs"] = {name: self._described(type_, "") for type_, name in self.names.items()}
        return node

    def node(self, wanted: Type, documentation: str = "") -> Node:
        """`documentation` is that of the place where the type stands."""
        name = self.names.get(wanted)
        if name is not None:
            return _documented(documentation, {"$ref": f"#/$defs/{name}"})
        return self._described(wanted, documentation)

    def _described(self, wanted: Type, documentation: str) -> Node:
        if is_date(wanted):
            return _documented(documentation, {"type": "string", "format": "date"})
        if isinstance(wanted, RecordType):
            return _documented(_joined(documentation, wanted.documentation), self._record(wanted.fields))
        if isinstance(wanted, SumType):
            own = "" if any(item.fields for item in wanted.variants) else _meanings(wanted.variants)
            return _documented(_joined(documentation, wanted.documentation, own), self._sum(wanted))
        return _documented(documentation, self._plain(wanted))

    def _plain(self, wanted: Type) -> Node:
        if wanted in _BASIC:
            return {"type": _BASIC[wanted]}
        if isinstance(wanted, ArrayType):
            return {"type": "array", "items": self.node(wanted.element)}
        if isinstance(wanted, MapType):
            return {"type": "object", "additionalProperties": self.node(wanted.value)}
        if isinstance(wanted, TupleType):
            count = len(wanted.elements)
            items = [self.node(item) for item in wanted.elements]
            return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}
        assert isinstance(wanted, OptionalType), f"{wanted} cannot be asked for"
        held = wanted.element
        # In JSON an absent value and a present `none` are the same.
        return self._plain(held) if isinstance(held, OptionalType) else {"anyOf": [self.node(held), {"type": "null"}]}

    def _record(self, fields: Sequence[FieldInfo]) -> Node:
        return _object([(item.name, self.node(item.type, _field_documentation(item))) for item in fields])

    def _sum(self, wanted: SumType) -> Node:
        """Variants without fields are names, the others objects with one key."""
        bare = [item for item in wanted.variants if not item.fields]
        choices: list[Node] = []
        if bare:
            names: Node = {"type": "string", "enum": [item.name for item in bare]}
            has_objects = len(bare) < len(wanted.variants)
            choices.append(_documented(_meanings(bare), names) if has_objects else names)
        for item in wanted.variants:
            if item.fields:
                made = _object([(item.name, self._record(item.fields))])
                choices.append(_documented(item.documentation or "", made))
        return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _field_documentation(field: FieldInfo) -> str:
    return _joined(field.documentation, None if field.rule is None else f"Must hold: {field.rule.text}")


def _object(properties: list[tuple[str, Node]]) -> Node:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name, _ in properties],
        "additionalProperties": False,
    }


def _meanings(variants: Sequence[VariantInfo]) -> str:
    """What the names of variants mean, a line each."""
    return "\n".join(f"{item.name}: {item.documentation}" for item in variants if item.documentation)


def _joined(*texts: str | None) -> str:
    return "\n".join([text for text in texts if text])


def _documented(documentation: str, node: Node) -> Node:
    """The description stands first; what `node` says of itself follows in it."""
    own = node.get("description")
    text = _joined(documentation, own if isinstance(own, str) else None)
    return (
        {"description": text, **{key: value for key, value in node.items() if key != "description"}} if text else node
    )


def _text(node: Node) -> str:
    return json.dumps(node, ensure_ascii=False, separators=(",", ":"))
