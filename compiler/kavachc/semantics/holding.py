"""What values of a type hold, and which types hold themselves (spec 2.recursive)."""

from __future__ import annotations

from collections.abc import Iterator

from kavachc.semantics.types import ArrayType, FieldInfo, MapType, OptionalType, RecordType, SumType, TupleType, Type


def fields_of(type_: RecordType | SumType) -> list[FieldInfo]:
    """All fields of a record, or of a sum's variants."""
    if isinstance(type_, RecordType):
        return list(type_.fields)
    return [item for variant in type_.variants for item in variant.fields]


def held_inside(type_: Type) -> Iterator[Type]:
    """The types of the parts that every value of the type consists of, or may."""
    if isinstance(type_, OptionalType):
        yield type_.element
    elif isinstance(type_, TupleType):
        yield from type_.elements
    elif isinstance(type_, RecordType | SumType):
        for item in fields_of(type_):
            yield item.type


def held(type_: Type) -> Iterator[Type]:
    """All types of parts, elements of arrays, keys and values of maps included."""
    if isinstance(type_, ArrayType):
        yield type_.element
    elif isinstance(type_, MapType):
        yield type_.key
        yield type_.value
    else:
        yield from held_inside(type_)


def reaches(type_: Type, wanted: Type) -> bool:
    """Whether a value of `type_` may hold one of type `wanted` without an array between. A field whose type reaches
    the type that holds the field is stored apart from it natively, since no value lies inside itself."""
    seen: set[Type] = set()
    pending = [type_]
    while pending:
        current = pending.pop()
        if current == wanted:
            return True
        if current not in seen:
            seen.add(current)
            pending.extend(held_inside(current))
    return False


def without_value(types: list[RecordType | SumType]) -> set[RecordType | SumType]:
    """Those of the types that no value can be of, since it would have to hold another, and so on without end."""
    endless = set(types)
    # Of a record, or of each variant, the types that must have a value first; and who waits for a type.
    ways: list[tuple[RecordType | SumType, set[RecordType | SumType]]] = []
    waiting: dict[RecordType | SumType, list[int]] = {}
    ended: list[RecordType | SumType] = []
    for type_ in types:
        for fields in [type_.fields] if isinstance(type_, RecordType) else [item.fields for item in type_.variants]:
            needed = {item for field in fields for item in needed_by(field.type) if item in endless}
            for item in needed:
                waiting.setdefault(item, []).append(len(ways))
            ways.append((type_, needed))
            if not needed:
                ended.append(type_)
    while ended:
        type_ = ended.pop()
        if type_ in endless:
            endless.remove(type_)
            for way in waiting.get(type_, ()):
                owner, needed = ways[way]
                needed.discard(type_)
                if not needed:
                    ended.append(owner)
    return endless


def needed_by(type_: Type) -> Iterator[RecordType | SumType]:
    """The records and sums of which every value of the type holds one: not those in arrays and optionals."""
    pending = [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, RecordType | SumType):
            yield current
        elif isinstance(current, TupleType):
            pending.extend(current.elements)
