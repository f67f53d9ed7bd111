"""Strings and dates of generated programs: slices, searches, numbers, days."""

from __future__ import annotations

from collections.abc import Callable

from generated_types import BOOL, DATE, DURATION, FLOAT, INSTANT, INT, STRING, Ty, array
from generated_values import Writer

PIECES = ['"a"', '""', '" "', '"é"', '"\\u{1F600}"', '"er"', '"\\n"']


def of_text(writer: Writer, type_: Ty, operand: bool) -> str:
    """A value of the type from a String, a number or a date, where there is such a thing."""
    world = writer.world
    options: dict[Ty, Callable[[Writer], str]] = {
        STRING: _string,
        INT: _int,
        FLOAT: _float,
        BOOL: _bool,
        DATE: _date,
        DURATION: lambda writer: f"{writer.expression(INSTANT, True)}.time_of_day()",
        INSTANT: lambda writer: f"{world.pick(['Date(2024, 2, 29)', 'Date(1969, 12, 31)'])}.start()",
        array(STRING): lambda writer: (
            f"{writer.expression(STRING, True)}.{world.pick(['chars()', 'lines()', _split(writer)])}"
        ),
        array(INT): lambda writer: f"{writer.expression(array(INT), True)}.{world.pick(['sort()', 'reverse()'])}",
    }
    return options[type_](writer) if type_ in options else writer.leaf(type_, operand)


def _split(writer: Writer) -> str:
    return f"split({writer.world.pick([item for item in PIECES if item != chr(34) * 2])})"


def _string(writer: Writer) -> str:
    world = writer.world
    text = writer.expression(STRING, True)
    how = writer.choose(10)
    piece = world.pick(PIECES)
    if how == 0:
        return f"{text}.{world.pick(['trim', 'to_upper', 'to_lower', 'reverse'])}()"
    if how == 1 and piece != '""':
        return f"{text}.replace({piece}, {world.pick(PIECES)})"
    if how == 2:
        return f"{text}.repeat({writer.choose(4)})"
    if how == 3:
        return f'{text}.{world.pick(["pad_left", "pad_right"])}({writer.choose(9)}, "é")'
    if how == 4:
        return f"{writer.expression(DATE, True)}.to_iso()"
    if how == 5:
        return f"{writer.expression(array(STRING), True)}.join({piece})"
    if how == 6:
        return f"({text}.chars().first() ?? {piece})"
    name = world.new_name("s")
    if world.chance(25):
        return f"{text}.slice({writer.choose(3)}, {writer.choose(9)})"
    # A slice in range, of which the ends are characters, not bytes.
    index = writer.expression(INT, True)
    from_, to = (f"at({index}, {name}.len())", f"{name}.len()") if writer.choose(2) else ("0", f"{name}.len() / 2")
    return f"{{ const {name} = {text}{writer.line(1)}{name}.slice({from_}, {to}) }}"


def _int(writer: Writer) -> str:
    text = writer.expression(STRING, True)
    how = writer.choose(6)
    if how == 0:
        return f"{text}.len()"
    if how == 1:
        return f"{text}.byte_len()"
    if how == 2:
        return f"({text}.index_of({writer.world.pick(PIECES)}) ?? -1)"
    if how == 3:
        return f"({writer.world.pick([text, chr(34) + '12' + chr(34)])}.to_int() ?? 5)"
    if how == 4:
        date = writer.expression(DATE, True)
        return f"{date}.{writer.world.pick(['weekday', 'day_of_year', 'days_in_month'])}()"
    return f"(({writer.expression(FLOAT, True)}).to_int() ?? 3)"


def _float(writer: Writer) -> str:
    how = writer.choose(3)
    if how == 0:
        return f"({writer.expression(INT, True)}).to_float()"
    if how == 1:
        return f"({writer.expression(STRING, True)}.to_float() ?? 0.5)"
    name = writer.world.pick(["floor", "ceil", "round", "trunc", "sqrt", "abs"])
    return f"({writer.expression(FLOAT, True)}).{name}()"


def _bool(writer: Writer) -> str:
    name = writer.world.pick(["contains", "starts_with", "ends_with"])
    return f"{writer.expression(STRING, True)}.{name}({writer.world.pick(PIECES)})"


def _date(writer: Writer) -> str:
    how = writer.choose(3)
    if how == 0:
        return (
            f"{writer.world.literal(DATE)}.add_days({writer.choose(2000)} - 1000)"
            if writer.world.chance(9)
            else (f"Date(2024, 2, 29).add_days({writer.choose(2000)} - 1000)")
        )
    if how == 1:
        return f"Date(2026, 1, 31).add_months({writer.expression(INT, True)} & 1023)"
    return f"{writer.expression(INSTANT, True)}.date()"
