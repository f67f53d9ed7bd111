"""Which values fit where: equality of types, the two conversions, and what can be compared, shown or asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kavachc.semantics.holding import held
from kavachc.semantics.types import (
    BOOL,
    DURATION,
    ERROR,
    FLOAT,
    INSTANT,
    INT,
    NEVER,
    NOTHING,
    STRING,
    UNKNOWN,
    UNKNOWN_USES,
    AgentType,
    CapabilityType,
    FunctionType,
    MapType,
    OptionalType,
    PrimitiveType,
    RecordType,
    SumType,
    TaskType,
    TupleType,
    Type,
    TypeVariable,
    is_date,
    parts,
    same_head,
    variables,
)
from kavachc.semantics.wording import a

# What has an order, besides the prelude's `Date` and tuples of such.
ORDERED = (INT, FLOAT, STRING, DURATION, INSTANT)
NO_ORDER_HELP = "compare by a key that has an order: `sort_by`, `min_by` and `max_by` take a function that gives it"


def same_type(left: Type, right: Type) -> bool:
    """Equal, or unknown in some part (which has been reported already)."""
    pending = [(left, right)]
    while pending:
        one, other = pending.pop()
        if one is UNKNOWN or other is UNKNOWN or one == other:
            continue
        if not same_head(one, other):
            return False
        pending.extend(zip(parts(one), parts(other), strict=True))
    return True


def is_partly_unknown(value: object) -> bool:
    """Whether `value` is a type of which a part was reported as wrong."""
    if not isinstance(value, Type):
        return False
    pending: list[Type] = [value]
    while pending:
        current = pending.pop()
        if current is UNKNOWN or (isinstance(current, FunctionType) and current.uses == UNKNOWN_USES):
            return True
        pending.extend(parts(current))
    return False


def convertible(found: Type, wanted: Type) -> bool:
    """Whether a value of type `found` may stand where a `wanted` is wanted (spec 2.convert)."""
    if found is NEVER or same_type(found, wanted):
        return True
    if isinstance(wanted, OptionalType):
        return convertible(found, wanted.element)
    if wanted is ERROR:
        return isinstance(found, RecordType | SumType)
    if isinstance(found, FunctionType) and isinstance(wanted, FunctionType):
        return is_usable_as(found, wanted)
    return isinstance(wanted, CapabilityType) and isinstance(found, RecordType) and wanted in found.capabilities


def is_usable_as(found: FunctionType, wanted: FunctionType) -> bool:
    """Whether the types are the same but for what they say with `uses` (`promises.py`), and for an error of `wanted`
    where `found` has none."""
    error = None if found.error is None else wanted.error
    return same_type(replace(found, uses=()), replace(wanted, error=error, uses=()))


def find_inside(type_: Type, is_wanted: Callable[[Type], bool]) -> Type | None:
    """The first type for which `is_wanted` holds among `type_` and all that its values can hold."""
    seen: set[Type] = set()
    pending = [type_]
    while pending:
        current = pending.pop()
        if is_wanted(current):
            return current
        if current in seen:
            continue
        seen.add(current)
        pending.extend(reversed(list(held(current))))
    return None


def described(type_: Type) -> str:
    """`a task`, `an agent`, `a capability`, `an Error`, or the type's own name."""
    if isinstance(type_, TaskType):
        return "a task"
    if isinstance(type_, FunctionType):
        return "a function"
    if isinstance(type_, AgentType):
        return "an agent"
    if isinstance(type_, CapabilityType):
        return "a capability"
    if type_ is ERROR:
        return "an `Error`"
    return "nothing, `()`" if type_ is NOTHING else a(type_)


def _reason(type_: Type, found: Type | None, rule: str) -> str | None:
    if found is None:
        return None
    if isinstance(found, TypeVariable):
        rule = f"may be of a type that {rule}"
    return f"{described(found)} {rule}" if found == type_ else f"it holds {described(found)}, which {rule}"


def why_not_comparable(type_: Type) -> str | None:
    """None when `==` works on the type."""
    return _reason(type_, find_inside(type_, _is_incomparable), "is equal to nothing")


def why_not_shown(type_: Type) -> str | None:
    """None when the type's values show as text (spec 2.show)."""
    return _reason(type_, find_inside(type_, _is_without_text), "has no text")


def why_not_ordered(type_: Type) -> str | None:
    """None when `<` works on the type."""
    pending = [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, TupleType):
            pending.extend(reversed(current.elements))
            continue
        ordered = has_bound(current, "Ord") if isinstance(current, TypeVariable) else current in ORDERED
        if not (ordered or is_date(current) or current is UNKNOWN):
            return _reason(type_, current, "has no order")
    return None


def why_not_plain(type_: Type) -> str | None:
    """None when a constant can be of the type."""
    found = find_inside(type_, lambda part: _is_of_the_run(part) or part is ERROR)
    return _reason(type_, found, "exists only while the program runs")


def why_not_askable(type_: Type) -> str | None:
    """None when `ask` can give the type (spec 8.4.strict); a type variable is looked at where it is known."""
    found = find_inside(type_, _is_not_written)
    return _reason(type_, found, "is not something that a model can write")


def why_not_json(type_: Type) -> str | None:
    """None when values of the type can be written as JSON and read back; a type variable is looked at where it is
    known."""
    optional = find_inside(
        type_, lambda part: isinstance(part, OptionalType) and isinstance(part.element, OptionalType)
    )
    if optional is not None:
        return _reason(type_, optional, "has two kinds of `none`, and JSON only one")
    found = find_inside(type_, lambda part: _is_of_the_run(part) or part in (ERROR, NOTHING))
    return _reason(type_, found, "is not something that JSON can hold")


def _is_not_written(part: Type) -> bool:
    """JSON has objects for maps, whose keys are Strings."""
    is_map = isinstance(part, MapType) and part.key not in (STRING, UNKNOWN) and not isinstance(part.key, TypeVariable)
    return _is_of_the_run(part) or part in (ERROR, DURATION, INSTANT, NOTHING) or is_map


def _is_of_the_run(part: Type) -> bool:
    return isinstance(part, TaskType | AgentType | CapabilityType | FunctionType)


def _is_without_text(part: Type) -> bool:
    return _is_of_the_run(part) or (isinstance(part, TypeVariable) and not has_bound(part, "Show"))


def _is_incomparable(part: Type) -> bool:
    lacks_bound = isinstance(part, TypeVariable) and not has_bound(part, "Eq")
    return _is_of_the_run(part) or part is ERROR or lacks_bound


def why_not_key(type_: Type) -> str | None:
    """None when the type's values can be the keys of a map (spec 2.map.key)."""
    return _reason(type_, find_inside(type_, _is_no_key), "is no key")


def _is_no_key(part: Type) -> bool:
    if isinstance(part, TypeVariable):
        return not has_bound(part, "Key")
    if isinstance(part, PrimitiveType):
        return part not in (INT, STRING, BOOL, DURATION, INSTANT, UNKNOWN)
    return not isinstance(part, TupleType | RecordType | SumType)


def why_not_error(type_: Type) -> str | None:
    """None when a function can fail with the type (spec 4.types)."""
    if type_ in (ERROR, NEVER, UNKNOWN) or (isinstance(type_, TypeVariable) and has_bound(type_, "Error")):
        return None
    if isinstance(type_, RecordType | SumType):
        return why_not_shown(type_)
    return _reason(type_, type_, "is no error type")


# Bounds of type parameters: each with what a type that has it can do.


@dataclass(frozen=True, slots=True)
class Bound:
    """`why_not` says why a type does not have it."""

    name: str
    why_not: Callable[[Type], str | None]


BOUNDS = {
    bound.name: bound
    for bound in (
        Bound("Eq", why_not_comparable),
        Bound("Ord", why_not_ordered),
        Bound("Show", why_not_shown),
        Bound("Key", why_not_key),
        Bound("Error", why_not_error),
    )
}


def has_bound(variable: TypeVariable, bound: str) -> bool:
    """What has an order, or can be a key, can be compared for equality too, and an error can be shown."""
    implied = {"Eq": {"Ord", "Key"}, "Show": {"Error"}}.get(bound, set())
    return bound in variable.bounds or not implied.isdisjoint(variable.bounds)


def bound_help(type_: Type, bound: str) -> str | None:
    """The help "write `T: Ord` …", where it is a type variable that keeps `type_` from having the bound; otherwise what
    to do without an order."""
    for variable in variables(type_):
        if variable.span is not None and not has_bound(variable, bound):
            kept = [item for item in variable.bounds if not (bound in ("Ord", "Key") and item == "Eq")]
            return f"write `{variable}: {' + '.join([*kept, bound])}` where `{variable}` is declared"
    return NO_ORDER_HELP if bound == "Ord" else None
