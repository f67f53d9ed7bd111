"""Types, declarations and plain values of generated programs, and the choices that everything is made of.

A program is a function of a row of choices, each a number below a bound, and choice 0 is always the simplest: so
hypothesis can shrink a program, and a plain `random.Random` can make thousands of them quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Choose = Callable[[int], int]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Ty:
    """`[T]` is Ty("[]", (T,)); `T?` is Ty("?", (T,)); `(A, B)` is Ty("()", (A, B)); `Task<T>` is Ty("Task", (T,));
    anything else has a name alone."""

    name: str
    args: tuple[Ty, ...] = ()

    def __str__(self) -> str:
        if self.name == "[]":
            return f"[{self.args[0]}]"
        if self.name == "?":
            return f"{self.args[0]}?"
        if self.name == "()":
            return f"({', '.join(str(item) for item in self.args)})"
        return f"Task<{self.args[0]}>" if self.name == "Task" else self.name


INT, FLOAT, BOOL, STRING, DURATION, INSTANT, ERROR, NOTHING = map(
    Ty, ("Int", "Float", "Bool", "String", "Duration", "Instant", "Error", "()")
)
PLAIN = (INT, STRING, BOOL, FLOAT, DURATION)


def array(element: Ty) -> Ty:
    return Ty("[]", (element,))


def optional(held: Ty) -> Ty:
    return Ty("?", (held,))


def tuple_of(*items: Ty) -> Ty:
    return Ty("()", items)


def task(result: Ty) -> Ty:
    return Ty("Task", (result,))


@dataclass(slots=True)
class Field:
    name: str
    type: Ty
    default: str | None = None


@dataclass(slots=True)
class Variant:
    name: str
    fields: list[Field]


@dataclass(slots=True)
class Named:
    """A record has one variant, of its own name."""

    type: Ty
    variants: list[Variant]
    is_sum: bool
    capability: str | None = None
    methods: list[str] = field(default_factory=list)

    @property
    def fields(self) -> list[Field]:
        return [] if self.is_sum else self.variants[0].fields

    def path(self, variant: Variant) -> str:
        return f"{self.type}.{variant.name}" if self.is_sum else variant.name


INTS = "0 1 2 3 7 -1 -2 10 63 64 255 1_000 0xff 9223372036854775807 -9223372036854775808 4294967296 -2147483649".split()
FLOATS = "0.0 1.0 1.5 -2.5 0.1 -0.0 (0.0/0.0) (1.0/0.0) (-1.0/0.0) 1e16 5e-324 1.7976931348623157e308 1e-7 3e21".split()
STRINGS = [
    '""',
    '"a"',
    '"b c"',
    '"é\\u{1F600}"',
    '"\\n\\t\\"\\\\"',
    '"\\{\\}"',
    '"\\0\\u{1b}"',
    '"a longer text, beyond what fits in a word"',
]
DURATIONS = "0s 1s 2s 5ms 1h 1d 90s -3s 1ns -1500ms 100000d".split()
INSTANTS = ["Time.now()", "(Time.now() + 1500ms)", "(Time.now() - 1d)"]
TEXTS = {"Int": INTS, "Float": FLOATS, "Bool": ["false", "true"], "String": STRINGS, "Duration": DURATIONS}
TEXTS["Instant"] = INSTANTS
# As a model would write some of them.
JSON_TEXTS = {
    "Int": ["0", "1", "-7", "9223372036854775807", "-9223372036854775808"],
    "Float": ["0", "1.5", "-0.0", "1e300", "5e-324"],
    "Bool": ["false", "true"],
    "String": ['""', '"a"', '"\\u00e9\\n{}"', '"a longer text, beyond what fits in a word"'],
}


@dataclass(slots=True)
class World:
    """What a program declares, as far as it has been made."""

    choose: Choose
    named: dict[Ty, Named] = field(default_factory=dict)
    constants: list[tuple[str, Ty]] = field(default_factory=list)
    # For each result type of a task: a function that gives back what it is given, so that there is always a task.
    later: dict[Ty, str] = field(default_factory=dict)
    givers: list[str] = field(default_factory=list)
    implementations: dict[Ty, list[Ty]] = field(default_factory=dict)
    # Types that `fail` can raise.
    errors: list[Ty] = field(default_factory=list)
    agents: dict[Ty, str] = field(default_factory=dict)
    replies: list[dict[str, object]] = field(default_factory=list)
    names: int = 0

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.choose(len(items))]

    def chance(self, one_in: int) -> bool:
        return self.choose(one_in) == one_in - 1

    def new_name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def inside(self, type_: Ty) -> set[Ty]:
        """`type_` and all that its values can hold."""
        seen: set[Ty] = set()
        pending = [type_]
        while pending:
            current = pending.pop()
            if current not in seen:
                seen.add(current)
                pending.extend(current.args)
                if current in self.named:
                    pending.extend(item.type for variant in self.named[current].variants for item in variant.fields)
        return seen

    def is_shown(self, type_: Ty) -> bool:
        return not any(
            part.name == "Task" or part in self.implementations or part in self.agents for part in self.inside(type_)
        )

    def is_comparable(self, type_: Ty) -> bool:
        return self.is_shown(type_) and ERROR not in self.inside(type_)

    def is_askable(self, type_: Ty) -> bool:
        return self.is_comparable(type_) and not self.inside(type_) & {DURATION, INSTANT, NOTHING}

    def giver(self, result: Ty) -> str:
        """The function that makes tasks of `result`: it gives what it is given, and perhaps sleeps before."""
        if result not in self.later:
            name = self.later[result] = f"later{len(self.later)}"
            sleep = self.pick(["", "Time.sleep(1s)\n    ", "Time.sleep(0s)\n    "])
            if result == NOTHING:
                self.givers.append(f'fn {name}(value: Int) {{\n    {sleep}print("later {{value}}")\n}}\n')
            else:
                self.givers.append(f"fn {name}(value: {result}) -> {result} {{\n    {sleep}value\n}}\n")
        return self.later[result]

    def wrapped(self, type_: Ty) -> Ty:
        """`type_`, or an array, an optional or a tuple of it."""
        is_plain = type_ != ERROR and type_ not in self.implementations and type_.name not in ("?", "Task")
        how = self.choose(9)
        if how in (1, 2):
            return array(type_)
        if how in (3, 4) and is_plain:
            return optional(type_)
        return tuple_of(type_, self.pick(PLAIN)) if how == 5 else type_

    # Plain values. `operand`: the place does not say which type it wants.

    def literal(self, type_: Ty, operand: bool = False, depth: int = 2) -> str:
        if type_.name in TEXTS:
            return self.pick(TEXTS[type_.name])
        if type_.name == "[]":
            count = self.choose(4) if depth > 0 else 0
            if operand:
                count = max(count, 1)
            items = [self.literal(type_.args[0], operand and index == 0, depth - 1) for index in range(count)]
            return f"[{', '.join(items)}]"
        if type_.name == "()":
            return f"({', '.join(self.literal(item, operand, depth - 1) for item in type_.args)})"
        if type_.name == "?" and not operand:
            return self.literal(type_.args[0], False, depth - 1) if depth > 0 and self.choose(2) else "none"
        if type_.name == "Task":
            given = INT if type_.args[0] == NOTHING else type_.args[0]
            return f"(spawn {self.giver(type_.args[0])}({self.literal(given, False, depth - 1)}))"
        if operand and (type_ == ERROR or type_.name == "?" or type_ in self.implementations):
            name = self.new_name("t")
            return f"{{ const {name}: {type_} = {self.literal(type_, False, depth)}\n{name} }}"
        if type_ == ERROR:
            return self.literal(self.pick(self.errors), False, depth)
        if type_ in self.implementations:
            return self.literal(self.pick(self.implementations[type_]), False, depth)
        if type_ in self.agents:
            return self.agents[type_]
        named = self.named[type_]
        variant = self.pick(named.variants) if depth > 0 else named.variants[0]
        if named.is_sum and not variant.fields:
            return named.path(variant)
        fields = [
            f"{item.name}: {self.literal(item.type, False, depth - 1)}"
            for item in variant.fields
            if item.default is None or self.chance(3)
        ]
        return f"{named.path(variant)}({', '.join(fields)})"

    def json(self, type_: Ty, depth: int = 2) -> str:
        """An answer that fits `type_`."""
        if type_.name in JSON_TEXTS:
            return self.pick(JSON_TEXTS[type_.name])
        if type_.name == "[]":
            count = self.choose(3) if depth > 0 else 0
            return f"[{', '.join(self.json(type_.args[0], depth - 1) for _ in range(count))}]"
        if type_.name == "?":
            return self.json(type_.args[0], depth - 1) if depth > 0 and self.choose(2) else "null"
        if type_.name == "()":
            return f"[{', '.join(self.json(item, depth - 1) for item in type_.args)}]"
        named = self.named[type_]
        variant = self.pick(named.variants) if depth > 0 else named.variants[0]
        fields = ", ".join(f'"{item.name}": {self.json(item.type, depth - 1)}' for item in variant.fields)
        if not named.is_sum:
            return f"{{{fields}}}"
        return f'{{"{variant.name}": {{{fields}}}}}' if variant.fields else f'"{variant.name}"'
