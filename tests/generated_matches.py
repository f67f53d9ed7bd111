"""Matches and patterns of generated programs."""

from __future__ import annotations

from generated_types import BOOL, DURATION, ERROR, FLOAT, INT, NOTHING, STRING, Ty, array
from generated_units import Name
from generated_values import Writer

# Patterns of one type that do not overlap, each with whether it is a single value.
SLOTS = {
    INT: ["0", "1", "-1 | 7", "2..=3", "4..7", "8..=9_000", "-9223372036854775808..-1", "9223372036854775807"],
    STRING: ['"a"', '""', '"b c" | "é\\u{1F600}"', '"\\n\\t\\"\\\\"'],
    FLOAT: ["0.0", "1.5", "-2.5", "1e16 | 0.1"],
    DURATION: ["0s", "1s..1m", "-3s", "1h | 1d"],
    BOOL: ["true", "false"],
}


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
        error = world.pick([item for item in world.errors if not item.args])
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
        path = named.pattern(variant)
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
    rest = [variant for variant in named.variants if named.pattern(variant) not in covered]
    if len(rest) > 1 and writer.choose(2):
        together = [_bare(named.pattern(item), len(item.fields)) for item in rest]
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
            pattern, more = _bound(writer, type_.name, [(item.name, item.type) for item in inner.fields])
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
