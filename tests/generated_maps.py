"""Maps of generated programs: what they give, and how they change."""

from __future__ import annotations

from collections.abc import Callable

from generated_library import closure
from generated_types import BOOL, DURATION, FLOAT, INT, STRING, Ty, array, map_of, tuple_of
from generated_units import Name
from generated_values import COST_MAX, Writer


def maps(writer: Writer) -> list[tuple[str, Ty]]:
    return [place for place in writer.paths() if place[1].name == "[:]"]


def pure(writer: Writer, type_: Ty) -> str:
    """A value that can be written twice: it does nothing and is always the same."""
    known = [text for text, part in writer.paths() if part == type_]
    is_known = bool(known) and writer.choose(2) == 1
    return writer.world.pick(known) if is_known else writer.world.literal(type_, True, 1)


def of_map(writer: Writer, type_: Ty, operand: bool) -> str:
    """A value of the type, whatever it is, from a map, or a map."""
    options: list[Callable[[], str]] = [lambda: _value(writer, type_, operand)]
    if type_.name == "[:]":
        options = [lambda: _entries(writer, type_, operand)] * 2 + [lambda: _made(writer, type_, operand)]
    elif type_.name == "[]":
        options.append(lambda: _listed(writer, type_, operand))
    elif type_.name == "?" and not operand:
        options += [lambda: _perhaps(writer, type_)] * 3
    known = maps(writer)
    if known and type_ == INT:
        options.append(lambda: f"{writer.world.pick(known)[0]}.len()")
    if known and type_ == BOOL:
        text, held = writer.world.pick(known)
        options.append(lambda: f"{text}.contains({writer.expression(held.args[0], True)})")
    return writer.world.pick(options)()


def _value(writer: Writer, type_: Ty, operand: bool) -> str:
    """`m[k]`, where the key is there; seldom where it is not."""
    known = [place for place in maps(writer) if place[1].args[1] == type_]
    if not known:
        if type_.name == "fn" or writer.choose(3):
            return writer.leaf(type_, operand)
        key = writer.world.pick([INT, STRING, BOOL])
        text = writer.world.literal(key, True)
        return f"[{text}: {writer.expression(type_, True)}][{text}]"
    text, held = writer.world.pick(known)
    if writer.world.chance(30):
        return f"{text}[{writer.expression(held.args[0], True)}]"
    key_text = pure(writer, held.args[0])
    return f"(if {text}.contains({key_text}) {{ {text}[{key_text}] }} else {{ {writer.leaf(type_, False)} }})"


def _entries(writer: Writer, type_: Ty, operand: bool) -> str:
    count = writer.choose(4)
    pairs = [
        f"{writer.expression(type_.args[0], operand and index == 0)}: "
        f"{writer.expression(type_.args[1], operand and index == 0)}"
        for index in range(max(count, 1 if operand else 0))
    ]
    return f"[{', '.join(pairs) or ':'}]"


def _made(writer: Writer, type_: Ty, operand: bool) -> str:
    """A map that is made of another one."""
    key, value = type_.args
    first = writer.expression(type_, True)
    how = writer.choose(6)
    if how == 1:
        return f"{first}.merge({writer.expression(type_)})"
    if how == 2:
        return f"({first}).filter({closure(writer, [key, value], BOOL)})"
    if how == 3:
        ordered = writer.world.pick([INT, STRING, FLOAT, DURATION])
        return f"({first}).sort_by({closure(writer, [key, value], ordered)})"
    if how == 4:
        source = writer.world.pick([INT, STRING])
        values = writer.expression(map_of(key, source), True)
        return f"({values}).map_values({closure(writer, [source], value)})"
    if how == 5:
        return f"{writer.expression(array(tuple_of(key, value)), True)}.to_map()"
    return first


def _listed(writer: Writer, type_: Ty, operand: bool) -> str:
    element = type_.args[0]
    options = [f"{text}.values()" for text, held in maps(writer) if held.args[1] == element]
    options += [f"{text}.keys()" for text, held in maps(writer) if held.args[0] == element]
    options += [f"{text}.entries()" for text, held in maps(writer) if Ty("()", held.args) == element]
    return writer.world.pick(options) if options else writer.leaf(type_, operand)


def _perhaps(writer: Writer, type_: Ty) -> str:
    known = [place for place in maps(writer) if place[1].args[1] == type_.args[0]]
    if not known:
        return writer.leaf(type_, False)
    text, held = writer.world.pick(known)
    changeable = [place for place, _ in writer.paths(mutable=True)]
    word = "remove" if text in changeable and writer.choose(2) else "get"
    return f"{text}.{word}({writer.expression(held.args[0], True)})"


def change_map(writer: Writer) -> str | None:
    """A statement that sets a key, or takes one away."""
    known = [place for place in writer.paths(mutable=True) if place[1].name == "[:]"]
    if not known:
        return None
    text, held = writer.world.pick(known)
    key, value = held.args
    how = writer.choose(4)
    if how == 0:
        return f"{text}[{writer.expression(key)}] = {writer.expression(value, writer.must_end)}"
    if how == 1:
        return f"{text}.set({writer.expression(key)}, {writer.expression(value)})"
    if how == 2:
        return f"const _: {value}? = {text}.remove({writer.expression(key)})" if value.name != "?" else None
    return f"{text} = {writer.expression(held, writer.must_end)}"


def over_map(writer: Writer) -> str | None:
    """A loop over a map's pairs; now and then it changes the map meanwhile."""
    if writer.cost + writer.times * 4 >= COST_MAX:
        return None
    known = [*maps(writer), ("", map_of(INT, STRING))]
    text, held = writer.world.pick(known)
    if not text or writer.choose(3) == 2:
        text = writer.expression(held, True)
    names = [writer.world.new_name("k"), writer.world.new_name("v")]
    outer, writer.times = (writer.times, writer.must_end), writer.times * 4
    writer.loops += 1
    writer.must_end = False
    inside = tuple(Name(name, type_) for name, type_ in zip(names, held.args, strict=True))
    body = writer.body(1 + writer.choose(3), None, inside)
    writer.loops -= 1
    writer.times, writer.must_end = outer
    return f"for ({names[0]}, {names[1]}) in {text} {body}"
