"""Statements and patterns of generated programs."""

from __future__ import annotations

from generated_matches import match
from generated_types import (
    BOOL,
    DURATION,
    ERROR,
    FLOAT,
    INSTANT,
    INT,
    NOTHING,
    PLAIN,
    STRING,
    Ty,
    array,
    optional,
    task,
    tuple_of,
)
from generated_units import Name, Unit
from generated_values import COST_MAX, Writer


def statements(writer: Writer, count: int) -> list[str]:
    lines: list[str] = []
    for _ in range(count):
        if writer.size <= 0:
            break
        # No statement takes all that is left.
        before = writer.size
        writer.size = given = min(before, 2 + writer.choose(14))
        writer.cost += writer.times
        lines.extend(_statement(writer).split(SPLIT))
        writer.size = before - given + writer.size - 1
    return lines


def opening(writer: Writer, count: int) -> list[str]:
    """Names to work with, some of them changeable arrays and tasks."""
    return [_declare(writer) for _ in range(count)]


def closing(writer: Writer) -> list[str]:
    """What the names have become."""
    shown = [name for name in writer.visible() if name.mutable and writer.world.is_shown(name.type)]
    return [f'print("{name.text} {{{name.text}}}")' for name in shown]


# Between statements that are made together.
SPLIT = "\x00"


def _statement(writer: Writer) -> str:
    options = [_print, _declare, _print, _assign, _assign, _compound, _push, _push, _place, _place, _print, _call]
    options += [
        _call,
        _call,
        _if,
        _for,
        _for,
        _while,
        _leave,
        _spawn,
        _task_step,
        _task_step,
        _sleep,
        _match,
        _evaluate,
    ]
    options += [_other] * 12
    return writer.world.pick(options)(writer)


def _other(writer: Writer) -> str:
    text = writer.world.pick(writer.more_statements)(writer)
    return _print(writer) if text is None else text


def _print(writer: Writer) -> str:
    return f"print({writer.shown()})"


def some_type(writer: Writer) -> Ty:
    """Of a name in scope, or any."""
    known = [name.type for name in writer.visible()]
    named = [*writer.world.named, *writer.world.implementations, *writer.world.known_variables]
    types = [*PLAIN, *named, *named, array(INT), array(STRING), *known, ERROR, INSTANT]
    chosen = writer.world.pick(types)
    if chosen.name != "Task":
        return writer.world.wrapped(chosen)
    if writer.choose(8) == 1:
        return task(writer.world.pick([item for item in writer.world.later if item != NOTHING]))
    return chosen


def _declare(writer: Writer) -> str:
    type_ = some_type(writer)
    word = writer.world.pick(["let", "const", "let", "let"])
    if writer.choose(2):
        value = writer.expression(type_, writer.must_end)
        return f"{word} {writer.declare('v', type_, word == 'let')}: {type_} = {value}"
    value = writer.expression(type_, True)
    return f"{word} {writer.declare('v', type_, word == 'let')} = {value}"


def _take_apart(writer: Writer) -> str:
    types = [writer.world.wrapped(writer.world.pick(PLAIN)), some_type(writer)]
    value = writer.expression(tuple_of(*types), True)
    word = writer.world.pick(["let", "const"])
    names = ["_" if writer.world.chance(5) else writer.declare("v", type_, word == "let") for type_ in types]
    return f"{word} ({', '.join(names)}) = {value}"


def _if_const(writer: Writer) -> str:
    known = [type_ for _, type_ in writer.paths() if type_.name == "?"]
    type_ = writer.world.pick([optional(writer.world.pick(PLAIN)), *known])
    value = writer.expression(type_, True)
    name = writer.world.new_name("o")
    then = _in_branch(writer, 1 + writer.choose(2), (Name(name, type_.args[0]),), writer.must_end)
    return f"if const {name} = {value} {then} else {_in_branch(writer, 1)}"


def _places(writer: Writer) -> list[tuple[str, Ty]]:
    return writer.paths(mutable=True)


def _assign(writer: Writer) -> str:
    places = _places(writer)
    if not places:
        return _declare(writer)
    text, type_ = writer.world.pick(places)
    return f"{text} = {writer.expression(type_, writer.must_end)}"


def _compound(writer: Writer) -> str:
    places = [place for place in _places(writer) if place[1] in (INT, STRING, FLOAT, DURATION)]
    if not places:
        return _declare(writer)
    return changed_by(writer, *writer.world.pick(places))


def changed_by(writer: Writer, text: str, type_: Ty) -> str:
    """`place op= value`, of an operator that seldom panics."""
    if type_ == INT:
        if writer.choose(2):
            return f"{text} %= {writer.world.pick(['97', '7', '-5'])}"
        operator = writer.world.pick(["+=", "-=", "*="])
        value = writer.expression(INT, True)
        return f"{text} {operator} {value} & 15" if not writer.world.chance(20) else f"{text} {operator} {value}"
    if type_ == DURATION:
        if writer.choose(2):
            return f"{text} /= ({writer.expression(INT, True)} & 3 | 1)"
        return f"{text} += {writer.expression(DURATION, True)} / 64"
    operator = "+=" if type_ == STRING else writer.world.pick(["+=", "-=", "*=", "/=", "%="])
    return f"{text} {operator} {writer.expression(type_, True)}"


def _index(writer: Writer, array_text: str) -> str:
    """An index that is in range where the array is not empty, and seldom not."""
    index = writer.expression(INT) if writer.choose(2) else str(writer.choose(3))
    return index if writer.world.chance(25) else f"at({index}, {array_text}.len())"


def _place(writer: Writer) -> str:
    """Something done to a place inside an array, perhaps far inside."""
    world = writer.world
    arrays = [place for place in _places(writer) if place[1].name == "[]"]
    if not arrays:
        return _declare(writer)
    first, type_ = world.pick(arrays)
    text, element = f"{first}[{_index(writer, first)}]", type_.args[0]
    for _ in range(2):
        named = world.named.get(element)
        if named is not None and named.fields and writer.choose(3):
            item = world.pick(named.fields)
            text, element = f"{text}.{item.name}", item.type
    outer = writer.must_end
    writer.must_end = False
    if element.name == "[]":
        change = f"{text}.push({writer.expression(element.args[0])})"
    elif element in (INT, STRING, FLOAT, DURATION) and writer.choose(2):
        change = changed_by(writer, text, element)
    else:
        change = f"{text} = {writer.expression(element)}"
    writer.must_end = outer
    return f"if {first}.len() > 0 {{ {change} }}"


def _push(writer: Writer) -> str:
    arrays = [place for place in _places(writer) if place[1].name == "[]"]
    if not arrays:
        return _declare(writer)
    text, type_ = writer.world.pick(arrays)
    return f"{text}.push({writer.expression(type_.args[0])})"


def _call(writer: Writer) -> str:
    """A call whose value, if any, is dropped."""
    units = writer.callable_units(lambda unit: True)
    if not units:
        return _print(writer)
    own = [unit for unit in units if unit.is_own]
    unit = writer.world.pick(own if own and writer.choose(2) else units)
    return writer.handled(writer.bare_call(unit), unit.error, NOTHING)


def exercise(writer: Writer, unit: Unit) -> list[str]:
    """Calls of a unit, each with what it gives."""
    if writer.cost + writer.times * unit.cost >= COST_MAX or unit.is_own > writer.in_handler or writer.choose(4) == 3:
        return []
    before = []
    if writer.places_for(unit.changed) is None:
        before = [_let(writer, type_) for type_ in unit.changed]
        if writer.places_for(unit.changed) is None:
            return before
    size, writer.size = writer.size, 8
    times = 1 + writer.choose(3) if writer.cost + 3 * unit.cost < COST_MAX else 1
    outer, writer.times = writer.times, writer.times * times
    call = writer.bare_call(unit)
    if writer.world.is_shown(unit.result) and unit.result != NOTHING and writer.choose(2):
        text = f'print("{unit.text}: {{{writer.handled(call, unit.error, unit.result)}}}")'
    else:
        # Braced: what it gives is dropped, whether there is an error or not.
        text = call if unit.error is None else f'{{ {call} catch e => {{ print("{unit.text}: {{e}}") }} }}'
    writer.times, writer.size = outer, size
    if times > 1:
        return [*before, f"for _ in 0..{times} {{ {text} }}"]
    return [*before, text]


def _let(writer: Writer, type_: Ty) -> str:
    value = writer.world.literal(type_)
    return f"let {writer.declare('v', type_, True)}: {type_} = {value}"


def _evaluate(writer: Writer) -> str:
    """A value that is dropped. Nothing would say what an empty array is to hold, or what is absent in a `none`."""
    type_ = some_type(writer)
    if type_.name in ("[]", "?", "()", "[:]", "fn"):
        return f"const _: {type_} = {writer.expression(type_, writer.must_end)}"
    return writer.expression(type_, True)


def _in_branch(writer: Writer, count: int, names: tuple[Name, ...] = (), must_end: bool = False) -> str:
    outer, writer.must_end = writer.must_end, must_end
    text = writer.body(count, None, names)
    writer.must_end = outer
    return text


def _if(writer: Writer) -> str:
    condition = writer.expression(BOOL)
    text = f"if {condition} {_in_branch(writer, 1 + writer.choose(3), (), writer.must_end)}"
    return f"{text} else {_in_branch(writer, 1 + writer.choose(2))}" if writer.choose(2) else text


def _loop(writer: Writer, times: int, name: Name | None) -> str:
    """The body of a loop that runs at most `times` times."""
    outer = writer.times
    writer.times *= times
    writer.loops += 1
    count = 1 + writer.choose(3) if writer.cost + writer.times < COST_MAX else 0
    text = _in_branch(writer, count, () if name is None else (name,))
    writer.loops -= 1
    writer.times = outer
    return text


def _for(writer: Writer) -> str:
    world = writer.world
    name = world.new_name("i")
    if writer.choose(2):
        types = [part for _, part in writer.paths() if part.name == "[]"]
        type_ = world.pick([array(INT), array(STRING), *types])
        iterable = writer.expression(type_, True)
        if world.chance(5):
            return f"for _ in {iterable} {_loop(writer, 4, None)}"
        return f"for {name} in {iterable} {_loop(writer, 4, Name(name, type_.args[0]))}"
    text = world.pick(["0..3", "0..=2", "-1..2", "9223372036854775805..=9223372036854775807", "3..0", "5..=4"])
    if world.chance(4):
        text = f"{writer.expression(INT, True)} & 1..{writer.expression(INT, True)} & 3"
    return f"for {name} in {text} {_loop(writer, 3, Name(name, INT))}"


def _while(writer: Writer) -> str:
    fuel = writer.world.new_name("w")
    writer.names.append(Name(fuel, INT, True, False))
    if writer.world.chance(4):
        body = _loop(writer, 3, None)
        opened = f"while true {{{writer.line(1)}{fuel} += 1{writer.line(1)}if {fuel} > 3 {{ break }}"
    else:
        outer, writer.must_end = writer.must_end, False
        condition = writer.expression(BOOL)
        writer.must_end = outer
        body = _loop(writer, 3, None)
        opened = f"while {fuel} < 3 && {condition} {{{writer.line(1)}{fuel} += 1"
    rest = body[1:] if body != "{}" else f"{writer.line()}}}"
    return f"let {fuel} = 0{SPLIT}{opened}{rest}"


def _leave(writer: Writer) -> str:
    condition = writer.expression(BOOL)
    outer, writer.must_end = writer.must_end, False
    text = writer.leave()
    writer.must_end = outer
    return f"if {condition} {{ {text} }}"


def _spawn(writer: Writer) -> str:
    units = writer.callable_units(lambda unit: not unit.mutable)
    if not units:
        return _print(writer)
    unit = writer.world.pick(units)
    value = f"spawn {writer.bare_call(unit)}"
    return f"const {writer.declare('t', task(unit.result), False)} = {value}"


def _task_step(writer: Writer) -> str:
    """A task waited for or cancelled."""
    tasks = [(text, type_) for text, type_ in writer.paths() if type_.name == "Task"]
    if not tasks:
        return _spawn(writer)
    text, type_ = writer.world.pick(tasks)
    if writer.choose(3) == 0:
        return f"{text}.cancel()"
    result = type_.args[0]
    if result != NOTHING and writer.world.is_shown(result) and writer.choose(2):
        return f"print({writer.handled(f'{text}.wait()', ERROR, result)})"
    return writer.handled(f"{text}.wait()", ERROR, NOTHING)


def _sleep(writer: Writer) -> str:
    return f"Time.sleep({writer.expression(DURATION) if writer.choose(2) else writer.world.pick(['0s', '1s', '2s'])})"


def _match(writer: Writer) -> str:
    return match(writer, NOTHING, writer.must_end)
