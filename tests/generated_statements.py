"""Statements and patterns of generated programs."""

from __future__ import annotations

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
from generated_values import COST_MAX, Name, Unit, Writer

# Patterns of one type that do not overlap, each with whether it is a single value.
SLOTS = {
    INT: ["0", "1", "-1 | 7", "2..=3", "4..7", "8..=9_000", "-9223372036854775808..-1", "9223372036854775807"],
    STRING: ['"a"', '""', '"b c" | "é\\u{1F600}"', '"\\n\\t\\"\\\\"'],
    FLOAT: ["0.0", "1.5", "-2.5", "1e16 | 0.1"],
    DURATION: ["0s", "1s..1m", "-3s", "1h | 1d"],
    BOOL: ["true", "false"],
}


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
    return writer.world.pick(options)(writer)


def _print(writer: Writer) -> str:
    return f"print({writer.shown()})"


def some_type(writer: Writer) -> Ty:
    """Of a name in scope, or any."""
    known = [name.type for name in writer.visible()]
    named = [*writer.world.named, *writer.world.implementations]
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
    return f"{text} = {writer.expression(type_)}"


def _compound(writer: Writer) -> str:
    places = [place for place in _places(writer) if place[1] in (INT, STRING, FLOAT, DURATION)]
    if not places:
        return _declare(writer)
    return _changed(writer, *writer.world.pick(places))


def _changed(writer: Writer, text: str, type_: Ty) -> str:
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
        change = _changed(writer, text, element)
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
    if unit not in writer.callable_units(lambda known: True) or writer.choose(4) == 3:
        return []
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
        return [f"for _ in 0..{times} {{ {text} }}"]
    return [text]


def _evaluate(writer: Writer) -> str:
    """A value that is dropped. Nothing would say what an empty array is to hold, or what is absent in a `none`."""
    type_ = some_type(writer)
    if type_.name in ("[]", "?", "()"):
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
    units = writer.callable_units(lambda unit: True)
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


# Matching.


def _match(writer: Writer) -> str:
    return match(writer, NOTHING, writer.must_end)


def match(writer: Writer, type_: Ty, operand: bool) -> str:
    """A `match` that gives a `type_`, or whose arms are blocks."""
    world = writer.world
    types = [name.type for name in writer.visible()]
    subjects = [
        item for item in [*SLOTS, *world.named, *world.named, *types, ERROR] if item.name != "Task" and item != NOTHING
    ]
    subject = world.pick(subjects)
    value = writer.expression(subject, True)
    arms = _arms(writer, subject)
    lines: list[str] = []
    outer = writer.must_end
    for index, (pattern, guarded, names) in enumerate(arms):
        mark, start = len(writer.names), writer.block_start
        writer.names.extend(names)
        writer.block_start = len(writer.names)
        writer.indent += 1
        writer.must_end = operand and index == 0
        guard = f" if {writer.expression(BOOL)}" if guarded else ""
        if type_ == NOTHING:
            body = writer.leave() if world.chance(6) and not writer.must_end else writer.body(1 + writer.choose(2))
        else:
            body = writer.expression(type_, operand and index == 0)
        lines.append(f"{writer.line()}{pattern}{guard} => {body}")
        writer.indent -= 1
        del writer.names[mark:]
        writer.block_start = start
    writer.must_end = outer
    text = f"match {value} {{{''.join(lines)}{writer.line()}}}"
    return text if type_ == NOTHING else f"({text})"


Arm = tuple[str, bool, list[Name]]


def _arms(writer: Writer, subject: Ty) -> list[Arm]:
    """Arms that miss nothing, each of which something can reach."""
    world = writer.world
    arms: list[Arm] = []
    if subject in SLOTS:
        for slot in SLOTS[subject]:
            if writer.choose(3) == 1:
                arms.append((slot, world.chance(5), []))
        is_complete = subject == BOOL and len([arm for arm in arms if not arm[1]]) == 2
    elif subject.name == "?":
        arms, is_complete = _optional_arms(writer, subject.args[0])
    elif subject.name == "[]":
        arms, is_complete = _array_arms(writer, subject.args[0])
    elif subject.name == "()":
        texts, names = _parts(writer, list(subject.args))
        arms, is_complete = [(f"({', '.join(texts)})", False, names)], True
        if subject.args[-1] in SLOTS and writer.choose(2):
            arms.insert(0, (f"({'_, ' * (len(texts) - 1)}{SLOTS[subject.args[-1]][0]})", False, []))
    elif subject == ERROR:
        error = world.pick(world.errors)
        arms += _variant_arms(writer, error)[0]
        is_complete = False
    elif subject in world.named:
        arms, is_complete = _variant_arms(writer, subject)
    else:
        is_complete = False
    if is_complete:
        return arms
    if subject.name == "?" or writer.choose(2) == 0:
        return [*arms, ("_", False, [])]
    name = world.new_name("m")
    return [*arms, (name, False, [Name(name, subject)])]


def _optional_arms(writer: Writer, held: Ty) -> tuple[list[Arm], bool]:
    arms: list[Arm] = []
    if held in SLOTS and held != BOOL and writer.choose(2):
        arms.append((writer.world.pick(SLOTS[held]), writer.world.chance(4), []))
    if writer.choose(2):
        arms.append(("none", False, []))
    if writer.choose(2) and arms and arms[-1][0] == "none":
        name = writer.world.new_name("m")
        return [*arms, (name, False, [Name(name, held)])], True
    return arms, False


def _array_arms(writer: Writer, element: Ty) -> tuple[list[Arm], bool]:
    """By length: none, one, two and more."""
    world = writer.world
    arms: list[Arm] = []
    for count in range(3):
        if writer.choose(3):
            texts, names = _parts(writer, [element] * count)
            if count == 2:
                rest = world.new_name("r")
                texts.append(world.pick([f"..{rest}", ".."]))
                names += [Name(rest, array(element))] if rest in texts[-1] else []
            arms.append((f"[{', '.join(texts)}]", False, names))
    return arms, len(arms) == 3


def _parts(writer: Writer, types: list[Ty]) -> tuple[list[str], list[Name]]:
    """A name or `_` for each: a name would miss what is absent."""
    texts = [writer.world.new_name("p") if type_.name != "?" and writer.choose(2) else "_" for type_ in types]
    return texts, [Name(text, type_) for text, type_ in zip(texts, types, strict=True) if text != "_"]


def _variant_arms(writer: Writer, subject: Ty) -> tuple[list[Arm], bool]:
    """Arms for some of the variants, and whether they are complete."""
    world = writer.world
    named = world.named[subject]
    arms: list[Arm] = []
    covered: list[str] = []
    for variant in named.variants:
        path = named.path(variant)
        refutable = [item for item in variant.fields if item.type in SLOTS and item.type != BOOL]
        if refutable and writer.choose(2):
            item = world.pick(refutable)
            arms.append((f"{path}({item.name}: {world.pick(SLOTS[item.type])})", False, []))
        if writer.choose(3) == 2:
            arms.append((_bare(path, len(variant.fields)), True, []))
        if writer.choose(4):
            pattern, names = _bound(writer, path, [(item.name, item.type) for item in variant.fields])
            arms.append((pattern, world.chance(8), names))
            if not arms[-1][1]:
                covered.append(path)
    rest = [variant for variant in named.variants if named.path(variant) not in covered]
    if len(rest) > 1 and writer.choose(2):
        together = [_bare(named.path(item), len(item.fields)) for item in rest]
        return [*arms, (" | ".join(together), False, [])], True
    return arms, not rest


def _bound(writer: Writer, path: str, fields: list[tuple[str, Ty]]) -> tuple[str, list[Name]]:
    """A pattern that always fits its variant, with names for some of its fields, records in them taken apart."""
    if not fields:
        return _bare(path, 0), []
    world = writer.world
    names: list[Name] = []
    parts: list[str] = []
    by_name = writer.choose(2)
    for field_name, type_ in fields:
        inner = world.named.get(type_)
        pattern = "_"
        if inner is not None and inner.fields and writer.choose(2):
            pattern, more = _bound(writer, str(type_), [(item.name, item.type) for item in inner.fields])
            names += more
        elif type_.name != "?" and writer.choose(2):
            pattern = world.new_name("p")
            names.append(Name(pattern, type_))
        if not by_name or pattern != "_":
            parts.append(f"{field_name}: {pattern}" if by_name else pattern)
    return f"{path}({', '.join(parts)})" if parts else _bare(path, len(fields)), names


def _bare(path: str, fields: int) -> str:
    """A pattern of a variant or a record that binds nothing."""
    if fields == 0:
        return path if "." in path else f"{path}()"
    return f"{path}({', '.join('_' * fields)})"
