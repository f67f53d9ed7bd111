"""Closures of generated programs, and calls of the library's functions that take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from generated_types import BOOL, DURATION, ERROR, FLOAT, INT, NOTHING, STRING, Ty, array, optional
from generated_units import Name, Unit
from generated_values import DEPTH_MAX, Writer

# How often the library calls a function, for an array as it is made here.
CALLS = 4


def closure(writer: Writer, parameters: list[Ty], result: Ty, error: Ty | None = None) -> str:
    """A function value: short, of what is at hand, or in full, where all of the language may stand."""
    names = [(writer.world.new_name("c"), type_) for type_ in parameters]
    outer = (writer.unit, writer.names, writer.block_start, writer.loops, writer.times, writer.depth, writer.must_end)
    captured = [replace(name, mutable=False) for name in writer.names]
    own = [Name(name, type_) for name, type_ in names]
    writer.loops, writer.times, writer.must_end = 0, writer.times * CALLS, False
    if error is None and result != NOTHING and writer.choose(3):
        writer.names, writer.depth = captured + own, DEPTH_MAX
        inside = ", ".join(f"{name}: {type_}" if writer.choose(2) else name for name, type_ in names)
        text = f"fn({inside}) => {writer.expression(result, True)}"
    else:
        writer.names = captured
        writer.unit = Unit("closure", None, names, result, error)
        last = None if result == NOTHING else (lambda: writer.expression(result))
        body = writer.body(writer.choose(3), last, tuple(own))
        ending = f"{'' if result == NOTHING else f' -> {result}'}{'' if error is None else f' ! {error}'}"
        text = f"fn({', '.join(f'{name}: {type_}' for name, type_ in names)}){ending} {body}"
    writer.unit, writer.names, writer.block_start, writer.loops, writer.times, writer.depth, writer.must_end = outer
    return text


def library(writer: Writer, type_: Ty, operand: bool) -> str:
    """A call of a function of the library that gives a value of the type, whatever that is."""
    world = writer.world
    element = world.pick([INT, STRING, BOOL, FLOAT, *world.own_types, *_elements(writer)])
    error = world.pick([None, None, world.pick(world.errors)])

    def xs(held: Ty = element) -> str:
        return f"({writer.expression(array(held), True)})"

    def call(receiver: str, name: str, parameters: list[Ty], result: Ty, gives: Ty, before: str = "") -> str:
        text = f"{receiver}.{name}({before}{closure(writer, parameters, result, error)})"
        return text if error is None else writer.handled(text, error, gives)

    def fold() -> str:
        return call(xs(), "fold", [type_, element], type_, type_, f"{writer.expression(type_, True)}, ")

    options: list[Callable[[], str]] = [fold]
    if type_ == INT:
        options.append(lambda: call(xs(), "count", [element], BOOL, INT))
        options.append(lambda: f"({call(xs(), 'index_where', [element], BOOL, optional(INT))} ?? 7)")
    elif type_ == BOOL:
        options.append(lambda: call(xs(), world.pick(["any", "all"]), [element], BOOL, BOOL))
    elif type_ == STRING:
        options.append(lambda: f'{call(xs(), "map", [element], STRING, array(STRING))}.join("|")')
    elif type_.name == "?" and not operand:
        options.append(lambda: call(xs(type_.args[0]), "find", [type_.args[0]], BOOL, type_))
        key = world.pick([INT, FLOAT, STRING, DURATION])
        options.append(lambda: call(xs(type_.args[0]), world.pick(["min_by", "max_by"]), [type_.args[0]], key, type_))
        if element.name != "?":
            held = optional(element)
            options.append(lambda: call(f"({writer.expression(held, True)})", "map", [element], type_.args[0], type_))
    elif type_.name == "[]":
        options += _arrays(writer, type_, element, call, xs)
    return world.pick(options)()


def _arrays(
    writer: Writer, type_: Ty, element: Ty, call: Callable[..., str], xs: Callable[..., str]
) -> list[Callable[[], str]]:
    world, held = writer.world, type_.args[0]
    key = world.pick([INT, FLOAT, STRING, DURATION])
    number = world.pick(["0", "1", "2", "9"])
    options: list[Callable[[], str]] = [
        lambda: call(xs(), "map", [element], held, type_),
        lambda: call(xs(held), "filter", [held], BOOL, type_),
        lambda: call(xs(held), "sort_by", [held], key, type_),
        lambda: call(xs(held), "sort_with", [held, held], BOOL, type_),
        lambda: call(xs(), "flat_map", [element], type_, type_),
        lambda: f"{xs(held)}.{world.pick(['take', 'drop', 'repeat'])}({number})",
        lambda: f"{xs(held)}.chunks({number if number != '0' else '3'}).flatten()",
    ]
    if held.name != "?":
        options.append(lambda: call(xs(), "filter_map", [element], optional(held), type_))
    if held != ERROR and held not in world.implementations:
        kind = world.pick([INT, STRING, BOOL])

        def grouped() -> str:
            groups = f"{xs()}.group_by({closure(writer, [element], kind)})"
            return f"{groups}.map_values({closure(writer, [array(element)], held)}).values()"

        options.append(grouped)
    if held.name == "()" and len(held.args) == 2:
        first, second = held.args
        options.append(lambda: f"{xs(first)}.zip({writer.expression(array(second), True)})")
    return options


def _elements(writer: Writer) -> list[Ty]:
    return [part.args[0] for _, part in writer.paths() if part.name == "[]" and part.args[0] != NOTHING]
