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
    """`[T]` is Ty("[]", (T,)); `[K: V]` is Ty("[:]", (K, V)); `T?` is Ty("?", (T,)); `(A, B)` is Ty("()", (A, B));
    `fn(A, B) -> R ! E` is Ty("fn", (A, B, R, E)), with nothing where there is no result or error; `Task<T>`, and what
    a generic type is applied to, are the arguments of its name."""

    name: str
    args: tuple[Ty, ...] = ()

    def __str__(self) -> str:
        if self.name == "[]":
            return f"[{self.args[0]}]"
        if self.name == "?":
            return f"{self.args[0]}?"
        if self.name == "()":
            return f"({', '.join(str(item) for item in self.args)})"
        if self.name == "[:]":
            return f"[{self.args[0]}: {self.args[1]}]"
        if self.name == "fn":
            result, error = ("" if item == NOTHING else str(item) for item in self.args[-2:])
            head = f"fn({', '.join(str(item) for item in self.args[:-2])})"
            return f"({head}{result and f' -> {result}'}{error and f' ! {error}'})"
        return f"{self.name}<{', '.join(str(item) for item in self.args)}>" if self.args else self.name


INT, FLOAT, BOOL, STRING, DURATION, INSTANT, ERROR, NOTHING = map(
    Ty, ("Int", "Float", "Bool", "String", "Duration", "Instant", "Error", "()")
)
DATE = Ty("Date")
PLAIN = (INT, STRING, BOOL, FLOAT, DURATION)
KEYS = (INT, STRING, BOOL, DURATION, INSTANT)
COMPARED = (INT, FLOAT, STRING, DURATION, INSTANT)


def array(element: Ty) -> Ty:
    return Ty("[]", (element,))


def optional(held: Ty) -> Ty:
    return Ty("?", (held,))


def tuple_of(*items: Ty) -> Ty:
    return Ty("()", items)


def task(result: Ty) -> Ty:
    return Ty("Task", (result,))


def map_of(key: Ty, value: Ty) -> Ty:
    return Ty("[:]", (key, value))


def function(parameters: Sequence[Ty], result: Ty, error: Ty | None) -> Ty:
    return Ty("fn", (*parameters, result, NOTHING if error is None else error))


def substituted(type_: Ty, given: dict[Ty, Ty]) -> Ty:
    return given.get(type_) or Ty(type_.name, tuple(substituted(item, given) for item in type_.args))


@dataclass(slots=True)
class Field:
    name: str
    type: Ty
    default: str | None = None
    rule: str | None = None


@dataclass(slots=True)
class Variant:
    name: str
    fields: list[Field]


@dataclass(slots=True)
class Named:
    """A record has one variant, of its own name without arguments."""

    type: Ty
    variants: list[Variant]
    is_sum: bool
    capability: str | None = None

    @property
    def fields(self) -> list[Field]:
        return [] if self.is_sum else self.variants[0].fields

    def path(self, variant: Variant) -> str:
        return f"{self.type}.{variant.name}" if self.is_sum else str(self.type)

    def pattern(self, variant: Variant) -> str:
        return f"{self.type.name}.{variant.name}" if self.is_sum else self.type.name


@dataclass(frozen=True, slots=True)
class Variable:
    """A type parameter. `held`: the parameter of a function that is a value of it, which every body has at hand."""

    bounds: frozenset[str]
    held: str = ""


@dataclass(frozen=True, slots=True)
class Generic:
    """A generic type: `template` is its application to its own parameters."""

    template: Named
    bounds: tuple[frozenset[str], ...]

    @property
    def variables(self) -> tuple[Ty, ...]:
        return self.template.type.args


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
DATES = ["Date(2024, 2, 29)", "Date(2026, 1, 31)", "Date(1969, 12, 31)", "Date(1, 1, 1)", "Date(9999, 12, 31)"]
JSON_TEXTS = {
    "Int": ["0", "1", "-7", "9223372036854775807", "-9223372036854775808"],
    "Float": ["0", "1.5", "-0.0", "1e300", "5e-324"],
    "Bool": ["false", "true"],
    "String": ['""', '"a"', '"\\u00e9\\n{}"', '"a longer text, beyond what fits in a word"'],
    "Duration": ['"0s"', '"90s"', '"-1500ms"'],
    "Instant": ['"2026-01-01T00:00:00Z"', '"1969-12-31T23:59:59.5Z"'],
}


@dataclass(slots=True)
class World:
    """What a program declares, as far as it has been made."""

    choose: Choose
    named: dict[Ty, Named] = field(default_factory=dict)
    constants: list[tuple[str, Ty]] = field(default_factory=list)
    # For each result type of a task: a function that gives back what it is given, so that there is always a task.
    later: dict[Ty, str] = field(default_factory=dict)
    on_giver: Callable[[str], None] = lambda text: None
    implementations: dict[Ty, list[Ty]] = field(default_factory=dict)
    # Types that `fail` can raise.
    errors: list[Ty] = field(default_factory=list)
    agents: dict[Ty, str] = field(default_factory=dict)
    replies: list[dict[str, object]] = field(default_factory=list)
    generics: dict[str, Generic] = field(default_factory=dict)
    # The type parameters of what is being written.
    variables: dict[Ty, Variable] = field(default_factory=dict)
    names: int = 0

    @property
    def known_variables(self) -> list[Ty]:
        """The type parameters of which there is a value at hand."""
        return [item for item, variable in self.variables.items() if variable.held]

    @property
    def own_types(self) -> list[Ty]:
        """What the program declares, and `Date`."""
        return list(self.named)[3:]

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
        return self._holds(type_, "Show") and not any(
            part.name in ("Task", "fn") or part in self.implementations or part in self.agents
            for part in self.inside(type_)
        )

    def _holds(self, type_: Ty, bound: str) -> bool:
        """Whether all type parameters in it have the bound."""
        inside = self.inside(type_) & set(self.variables)
        return all(bound in self.variables[part].bounds for part in inside)

    def is_comparable(self, type_: Ty) -> bool:
        inside = self.inside(type_)
        is_data = not any(
            part.name in ("Task", "fn") or part in self.implementations or part in self.agents for part in inside
        )
        return is_data and ERROR not in inside and self._holds(type_, "Eq")

    def is_key(self, type_: Ty) -> bool:
        parts = self.inside(type_)
        return self.is_comparable(type_) and all(
            part in KEYS
            or part in self.named
            or part.name == "()"
            or (part in self.variables and "Key" in self.variables[part].bounds)
            for part in parts
        )

    def is_json(self, type_: Ty) -> bool:
        """Whether `json.decode` reads one. (`T??` would not be told apart.)"""
        parts = self.inside(type_)
        is_data = self.is_comparable(type_) and not parts & {NOTHING, *self.variables}
        return is_data and not any(part.name == "?" and part.args[0].name == "?" for part in parts)

    def is_askable(self, type_: Ty) -> bool:
        parts = self.inside(type_)
        return (
            self.is_json(type_)
            and not parts & {DURATION, INSTANT}
            and all(part.args[0] == STRING for part in parts if part.name == "[:]")
        )

    def has_bounds(self, type_: Ty, bounds: frozenset[str]) -> bool:
        if type_ in self.variables:
            return bounds <= self.variables[type_].bounds
        return (
            ("Show" not in bounds or self.is_shown(type_))
            and ("Eq" not in bounds or self.is_comparable(type_))
            and ("Key" not in bounds or self.is_key(type_))
            and ("Ord" not in bounds or type_ in COMPARED)
        )

    def apply(self, type_: Ty) -> Ty:
        """`type_`, when all applications of generic types in it are known."""
        for item in type_.args:
            self.apply(item)
        generic = self.generics.get(type_.name)
        if generic is not None and type_ not in self.named:
            given = dict(zip(generic.variables, type_.args, strict=True))
            variants = [
                Variant(
                    variant.name,
                    [
                        Field(item.name, substituted(item.type, given), item.default, item.rule)
                        for item in variant.fields
                    ],
                )
                for variant in generic.template.variants
            ]
            self.named[type_] = Named(type_, variants, generic.template.is_sum)
            for variant in variants:
                for each in variant.fields:
                    self.apply(each.type)
        return type_

    def application(self) -> Ty | None:
        """Of a generic type, to types that have its bounds; those in scope first."""
        if not self.generics:
            return None
        return self.application_of(self.pick(list(self.generics.values())))

    def application_of(self, generic: Generic) -> Ty | None:
        types = [*self.known_variables, *PLAIN, *PLAIN, *[item for item in self.own_types if not item.args]]
        types += [array(INT), optional(STRING), tuple_of(INT, STRING)]
        given: list[Ty] = []
        for bounds in generic.bounds:
            fitting = [item for item in types if self.has_bounds(item, bounds)]
            if not fitting:
                return None
            given.append(self.pick(fitting))
        return self.apply(Ty(generic.template.type.name, tuple(given)))

    def declared(self, variables: Sequence[Ty]) -> str:
        """`<T: Eq + Show, U>`, or nothing."""
        texts = [
            f"{item}{': ' if self.variables[item].bounds else ''}{' + '.join(sorted(self.variables[item].bounds))}"
            for item in variables
        ]
        return f"<{', '.join(texts)}>" if texts else ""

    def forget(self, variables: Sequence[Ty]) -> None:
        """What was known of these type parameters."""
        for known in (self.named, self.later):
            for item in [item for item in known if self.inside(item) & set(variables)]:
                del known[item]
        for item in variables:
            del self.variables[item]

    def giver(self, result: Ty) -> str:
        """The function that makes tasks of `result`: it gives what it is given, and perhaps sleeps before."""
        if result not in self.later:
            generic = self.declared([item for item in self.variables if item in self.inside(result)])
            name = self.later[result] = self.new_name("later")
            sleep = self.pick(["", "Time.sleep(1s)\n    ", "Time.sleep(0s)\n    "])
            if result == NOTHING:
                self.on_giver(f'fn {name}(value: Int) {{\n    {sleep}print("later {{value}}")\n}}\n')
            else:
                self.on_giver(f"fn {name}{generic}(value: {result}) -> {result} {{\n    {sleep}value\n}}\n")
        return self.later[result]

    def wrapped(self, type_: Ty) -> Ty:
        """`type_`, or an array, an optional or a tuple of it."""
        is_plain = type_ != ERROR and type_ not in self.implementations and type_.name not in ("?", "Task")
        how = self.choose(10)
        if how in (1, 2):
            return array(type_)
        if how in (3, 4) and is_plain:
            return optional(type_)
        if how in (6, 7):
            keys = [*KEYS, *KEYS, *(key for key in self.own_types if self.is_key(key)), tuple_of(INT, STRING)]
            return map_of(self.pick(keys), type_)
        return tuple_of(type_, self.pick(PLAIN)) if how == 5 else type_

    # Plain values. `operand`: the place does not say which type it wants.

    def literal(self, type_: Ty, operand: bool = False, depth: int = 2) -> str:
        if type_.name in TEXTS:
            return self.pick(TEXTS[type_.name])
        if type_ in self.variables:
            return self.variables[type_].held
        if type_ == DATE:
            return self.pick(DATES)
        if type_.name == "fn":
            return self._function(type_, depth)
        if type_.name == "[:]":
            count = max(self.choose(4) if depth > 0 else 0, 1 if operand else 0)
            pairs = [
                f"{self.literal(type_.args[0], operand and index == 0, depth - 1)}: "
                f"{self.literal(type_.args[1], operand and index == 0, depth - 1)}"
                for index in range(count)
            ]
            return f"[{', '.join(pairs) or ':'}]"
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
            is_generic = bool(self.inside(given) & set(self.variables))
            return f"(spawn {self.giver(type_.args[0])}({self.literal(given, is_generic, depth - 1)}))"
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

    def _function(self, type_: Ty, depth: int) -> str:
        *parameters, result, error = type_.args
        names = ", ".join(f"{self.new_name('_')}: {item}" for item in parameters)
        ending = ("" if result == NOTHING else f" -> {result}") + ("" if error == NOTHING else f" ! {error}")
        value = "" if result == NOTHING else f" {self.literal(result, False, depth - 1)} "
        return f"(fn({names}){ending} {{{value}}})"

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
        if type_.name == "[:]" and type_.args[0] == STRING:
            keys = ['"a"', '"b"', '"\\u00e9"'][: self.choose(3) if depth > 0 else 0]
            return f"{{{', '.join(f'{key}: {self.json(type_.args[1], depth - 1)}' for key in keys)}}}"
        if type_.name == "[:]":
            count = self.choose(3) if depth > 0 else 0
            pairs = (f"[{', '.join(self.json(item, depth - 1) for item in type_.args)}]" for _ in range(count))
            return f"[{', '.join(pairs)}]"
        named = self.named[type_]
        variant = self.pick(named.variants) if depth > 0 else named.variants[0]
        fields = ", ".join(f'"{item.name}": {self.json(item.type, depth - 1)}' for item in variant.fields)
        if not named.is_sum:
            return f"{{{fields}}}"
        return f'{{"{variant.name}": {{{fields}}}}}' if variant.fields else f'"{variant.name}"'
