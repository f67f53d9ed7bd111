"""Places far inside values, which generated programs change: `a.b[i].c[k] += 1`."""

from __future__ import annotations

from generated_maps import pure
from generated_types import DURATION, FLOAT, INT, STRING, Ty
from generated_values import COST_MAX, Writer


def deep_place(writer: Writer) -> tuple[list[str], str, Ty] | None:
    """A place, its type, and the conditions under which it is there, which are to be checked in order."""
    world = writer.world
    places = writer.paths(mutable=True)
    starts = [place for place in places if place[1].name in ("[]", "[:]") or place[1] in world.named]
    if not starts:
        return None
    text, type_ = world.pick(starts)
    guards: list[str] = []
    for _ in range(2 + writer.choose(4)):
        named = world.named.get(type_)
        if type_.name == "[]":
            guards.append(f"{text}.len() > 0")
            index = f"at({pure(writer, INT)}, {text}.len())" if writer.choose(2) else "0"
            text, type_ = f"{text}[{index}]", type_.args[0]
        elif type_.name == "[:]":
            key = pure(writer, type_.args[0])
            guards.append(f"{text}.contains({key})")
            text, type_ = f"{text}[{key}]", type_.args[1]
        elif named is not None and named.fields:
            item = world.pick(named.fields)
            text, type_ = f"{text}.{item.name}", item.type
        else:
            break
    return guards, text, type_


def change_place(writer: Writer) -> str | None:
    """A change of a place far inside, where it is there. (What is evaluated meanwhile may change that.)"""
    found = deep_place(writer)
    if found is None:
        return None
    guards, text, type_ = found
    outer, writer.must_end = writer.must_end, writer.must_end and not guards
    change = _changed(writer, text, type_)
    writer.must_end = outer
    return change if not guards else f"if {' && '.join(guards)} {{ {change} }}"


def _changed(writer: Writer, text: str, type_: Ty) -> str:
    world = writer.world
    units = [
        unit
        for unit in writer.units
        if (unit.receiver is None or "self" in unit.mutable)
        and unit.changed == [type_]
        and unit.error is None
        and not unit.fuel
        and not unit.is_own
        and writer.cost + writer.times * unit.cost < COST_MAX
    ]
    if units and writer.choose(2):
        unit = world.pick(units)
        writer.cost += unit.cost * writer.times
        if "self" in unit.mutable:
            return f"{text}.{unit.text}({writer.arguments(unit, [], False)})"
        return f"{unit.text}({writer.arguments(unit, [text], bool(unit.type_arguments))})"
    if type_.name == "[]" and writer.choose(3):
        how = writer.choose(4)
        if how == 1:
            return f"const _ = {text}.pop()"
        if how == 2:
            return f"{text}.insert(0, {writer.expression(type_.args[0])})"
        return f"{text}.push({writer.expression(type_.args[0])})"
    if type_.name == "[:]" and writer.choose(3):
        key = writer.expression(type_.args[0])
        if writer.choose(3) == 0:
            return f"const _ = {text}.remove({key})"
        return f"{text}[{key}] = {writer.expression(type_.args[1], writer.must_end)}"
    if type_ in (INT, STRING, FLOAT, DURATION) and writer.choose(2):
        return writer.changed_by(text, type_)
    return f"{text} = {writer.expression(type_, writer.must_end)}"
