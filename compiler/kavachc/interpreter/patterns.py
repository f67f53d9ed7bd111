"""Whether a pattern fits a value; the names in it are bound as it goes, left to right."""

from __future__ import annotations

from itertools import repeat

from kavachc.interpreter.frames import Frame
from kavachc.interpreter.values import ABSENT, ArrayValue, Value, VariantValue
from kavachc.semantics import typed_ast as typed


def matches(pattern: typed.Pattern, value: Value, frame: Frame) -> bool:
    match pattern:
        case typed.WildcardPattern():
            return True
        case typed.BindPattern():
            frame.values[pattern.local] = value
            return True
        case typed.LiteralPattern():
            return bool(value == pattern.value)
        case typed.RangePattern():
            return pattern.start <= value < pattern.end or (pattern.inclusive and value == pattern.end)
        case typed.VariantPattern():
            if value.variant != pattern.variant:
                return False
            return all(matches(part, value.part(index), frame) for index, part in pattern.fields)
        case typed.RecordPattern():
            return all(matches(part, value.fields[index], frame) for index, part in pattern.fields)
        case typed.NonePattern():
            return value is ABSENT
        case typed.PresentPattern():
            return value is not ABSENT and matches(pattern.inner, value.value, frame)
        case typed.TuplePattern():
            return all(map(matches, pattern.elements, value.fields, repeat(frame)))
        case typed.ArrayPattern():
            return _array_matches(pattern, value, frame)
        case typed.ErrorPattern():
            held = value.sum if isinstance(value, VariantValue) else value.record
            return held is pattern.held and matches(pattern.inner, value, frame)
        case typed.OrPattern():
            return any(matches(alternative, value, frame) for alternative in pattern.alternatives)


def _array_matches(pattern: typed.ArrayPattern, value: ArrayValue, frame: Frame) -> bool:
    length = len(pattern.elements)
    if len(value.items) < length or (len(value.items) > length and not pattern.is_open):
        return False
    if not all(map(matches, pattern.elements, value.items[:length], repeat(frame))):
        return False
    if pattern.rest is not None:
        frame.values[pattern.rest] = ArrayValue(value.items[length:])
    return True
