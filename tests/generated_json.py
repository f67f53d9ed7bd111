"""JSON of generated programs: written and read back, read where it fits and where it does not; and asserts."""

from __future__ import annotations

from generated_types import FLOAT, INT, STRING, Ty, array
from generated_values import Writer

JSON_ERROR = Ty("JsonError")


def of_json(writer: Writer, type_: Ty, operand: bool) -> str:
    world = writer.world
    if type_ == STRING and writer.choose(4):
        known = [part for _, part in writer.paths() if world.is_json(part)]
        known += [item for item in world.named if world.is_json(item)] + [INT, array(STRING)]
        # Floats may be what JSON has no number for.
        calm = [item for item in known if FLOAT not in world.inside(item)]
        return f"json.encode({writer.expression(world.pick(calm if writer.choose(8) else known), True)})"
    if not world.is_json(type_):
        return writer.leaf(type_, operand)
    how = writer.choose(4)
    if how < 2 and FLOAT not in world.inside(type_):
        text = f"json.encode({writer.expression(type_, True)})"
    else:
        text = _quoted(_damaged(writer, world.json(type_)) if how == 3 else world.json(type_))
    return writer.handled(f"json.decode<{type_}>({text})", JSON_ERROR, type_)


def _quoted(json_text: str) -> str:
    for mark in ("\\", '"', "{", "}"):
        json_text = json_text.replace(mark, f"\\{mark}")
    return f'"{json_text}"'


def _damaged(writer: Writer, text: str) -> str:
    """With a character more, less, or another one."""
    place = writer.choose(len(text)) if text else 0
    mark = writer.world.pick(["", "]", "}", '"', ",", "0", ":", "{", "[", "e", "-", " "])
    return text[:place] + mark + text[place + writer.choose(2) :]


def assertion(writer: Writer) -> str:
    """An assert, which seldom fails: of what is read back, of values with themselves, of anything."""
    world = writer.world
    known = [(text, part) for text, part in writer.paths() if world.is_comparable(part)]
    read_back = [place for place in known if world.is_json(place[1]) and FLOAT not in world.inside(place[1])]
    if read_back and writer.choose(2):
        text, type_ = world.pick(read_back)
        name = world.new_name("j")
        decoded = f"json.decode<{type_}>(json.encode({text})) catch {name} => {{ print({name})\n{text} }}"
        return f"assert ({decoded}) == {text}"
    message = f", {writer.expression(STRING)}" if writer.choose(2) else ""
    if known and writer.choose(8):
        text, type_ = world.pick([place for place in known if FLOAT not in world.inside(place[1])] or known)
        return f"assert {text} == {text}{message}"
    return f"assert {writer.expression(Ty('Bool'))} || {writer.expression(Ty('Bool'))}{message}"
