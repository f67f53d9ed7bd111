"""Which JSON schemas the providers take for structured output. Each function gives what is wrong, or None."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

ANTHROPIC_FORBIDDEN = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "maxItems", "uniqueItems", "patternProperties", "prefixItems"),
)
ANTHROPIC_OPTIONALS_MAX = 24
ANTHROPIC_UNIONS_MAX = 16
SCHEMA_DEPTH_MAX = 200


def _parts(schema: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The schema and every one inside it, definitions too."""
    if not isinstance(schema, dict) or depth > SCHEMA_DEPTH_MAX:
        return
    yield schema
    for name in ("properties", "$defs", "definitions"):
        inner = schema.get(name)
        if isinstance(inner, dict):
            for each in inner.values():
                yield from _parts(each, depth + 1)
    for name in ("anyOf", "oneOf", "allOf"):
        inner = schema.get(name)
        if isinstance(inner, list):
            for each in inner:
                yield from _parts(each, depth + 1)
    for name in ("items", "additionalProperties"):
        yield from _parts(schema.get(name), depth + 1)


def _is_recursive(schema: dict[str, Any]) -> bool:
    """Whether a definition leads back to itself."""
    definitions: dict[str, Any] = schema.get("$defs") or {}
    leads_to = {
        name: {part["$ref"].removeprefix("#/$defs/") for part in _parts(inner) if isinstance(part.get("$ref"), str)}
        for name, inner in definitions.items()
    }
    for name in definitions:
        reached: set[str] = set()
        waiting = [name]
        while waiting:
            for other in leads_to.get(waiting.pop(), ()):
                if other == name:
                    return True
                if other not in reached:
                    reached.add(other)
                    waiting.append(other)
    return any(part.get("$ref") == "#" for part in _parts(schema))


def _is_union(part: dict[str, Any]) -> bool:
    return "anyOf" in part or isinstance(part.get("type"), list)


def _common_problem(schema: dict[str, Any]) -> str | None:
    for part in _parts(schema):
        reference = part.get("$ref")
        if reference is not None and not str(reference).startswith("#"):
            return f"external $ref is not supported: {reference}"
        if part.get("type") == "object" and part.get("additionalProperties") is not False:
            return "For 'object' type, 'additionalProperties' must be explicitly set to false"
    if _is_recursive(schema):
        return "recursive schemas are not supported"
    return None


def anthropic_problem(schema: dict[str, Any]) -> str | None:
    optionals = unions = 0
    for part in _parts(schema):
        for name in ANTHROPIC_FORBIDDEN:
            if name in part:
                return f"property '{name}' is not supported"
        if part.get("minItems", 0) not in (0, 1):
            return "'minItems' values other than 0 or 1 are not supported"
        properties = part.get("properties") or {}
        optionals += len(set(properties) - set(part.get("required") or ()))
        unions += _is_union(part)
    if optionals > ANTHROPIC_OPTIONALS_MAX:
        return f"Schemas contains too many optional parameters ({optionals}), limit {ANTHROPIC_OPTIONALS_MAX}"
    if unions > ANTHROPIC_UNIONS_MAX:
        return f"Schemas contains too many parameters with union types ({unions}), limit {ANTHROPIC_UNIONS_MAX}"
    return _common_problem(schema)


def openai_problem(schema: dict[str, Any]) -> str | None:
    """Under `strict`."""
    if schema.get("type") != "object":
        return "schema must be a JSON Schema of 'type: \"object\"'"
    for part in _parts(schema):
        missing = sorted(set(part.get("properties") or {}) - set(part.get("required") or ()))
        if missing:
            return (
                f"'required' is required to be supplied and to be an array including every key. Missing '{missing[0]}'"
            )
    return _common_problem(schema)
