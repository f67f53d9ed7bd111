"""Whole programs, composed of everything that the language has (docs/spec.md), and the hypothesis strategy of them.

What keeps a program short: functions call only what stands before them, or themselves with less `fuel`; loops turn a
few times; and each unit counts what it costs to run. What keeps it from panicking at once: operators on extreme
values are mostly masked, indexes mostly in range. A few are not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from generated_functions import call_any_value, of_function, signature
from generated_generics import generic_function, generic_type, held_names
from generated_json import JSON_ERROR, assertion, of_json
from generated_library import library
from generated_maps import change_map, of_map, over_map
from generated_matches import match
from generated_modules import in_files
from generated_places import change_place
from generated_statements import changed_by, closing, exercise, opening, statements
from generated_texts import of_text
from generated_types import (
    BOOL,
    DATE,
    DURATION,
    ERROR,
    FLOAT,
    INSTANT,
    INT,
    NOTHING,
    PLAIN,
    STRING,
    Choose,
    Field,
    Named,
    Ty,
    Variant,
    World,
    array,
    function,
    map_of,
    optional,
    task,
)
from generated_units import Name, Unit
from generated_values import Writer
from hypothesis import strategies as st

AI_ERROR, TASK_ERROR = Ty("AiError"), Ty("TaskError")
PRELUDE = """fn at(index: Int, length: Int) -> Int {
    if length == 0 { 0 } else { (index % length + length) % length }
}
"""


@dataclass(frozen=True, slots=True)
class Generated:
    """`files` is the program, of which `program.kav` is the main file; `model` is the scripted model's file."""

    files: dict[str, str]
    model: str
    dry_run: bool

    def __repr__(self) -> str:
        texts = "".join(f"\n// {name}\n{text}" for name, text in self.files.items())
        return f"{texts}\n// dry run: {self.dry_run}; model:\n// {self.model}\n"


class ProgramWriter:
    def __init__(self, choose: Choose) -> None:
        self.world = World(choose)
        self.units: list[Unit] = []
        self.parts: list[str] = [PRELUDE]
        # Of generic types, by their names, and of generic functions, what their type parameters must have.
        self.generic_methods: dict[str, list[Unit]] = {}
        self.generic_functions: list[tuple[Unit, dict[Ty, frozenset[str]], Ty | None]] = []
        self.with_methods: set[Ty] = set()
        self._known_types()

    def _known_types(self) -> None:
        variants = [
            Variant("NoKey", [Field("variable", STRING)]),
            Variant("Failed", [Field("status", INT), Field("message", STRING)]),
            Variant("InvalidOutput", [Field("answer", STRING)]),
            Variant("Denied", [Field("reason", STRING)]),
        ]
        self.world.named[AI_ERROR] = Named(AI_ERROR, variants, True)
        self.world.named[TASK_ERROR] = Named(TASK_ERROR, [Variant("Cancelled", []), Variant("TimedOut", [])], True)
        variants = [Variant("NotJson", [Field("reason", STRING)]), Variant("Misfit", [Field("reason", STRING)])]
        self.world.named[JSON_ERROR] = Named(JSON_ERROR, variants, True)
        self.world.errors += [TASK_ERROR, AI_ERROR, JSON_ERROR]
        fields = [Field(name, INT) for name in ("year", "month", "day")]
        self.world.named[DATE] = Named(DATE, [Variant("Date", fields)], False)

    def program(self) -> Generated:
        choose = self.world.choose
        self._error_type()
        self.world.on_giver = self.parts.append
        for _ in range(choose(4)):
            if choose(2):
                generic_type(self)
            else:
                self._type()
        for result in (INT, STRING, NOTHING, *[self.world.pick(self.world.own_types) for _ in range(choose(3))]):
            self.world.giver(result)
        for _ in range(choose(3)):
            type_ = self.world.pick([*PLAIN, array(INT), map_of(STRING, INT), map_of(INT, array(STRING))])
            name = self.world.new_name("K")
            self.parts.append(f"const {name}: {type_} = {self.world.literal(type_)}\n" if type_ != INSTANT else "")
            self.world.constants.append((name, type_))
        kinds = [self._function, self._agent, self._capability, self._agent, self._function, self._own_method]
        kinds += [lambda: generic_function(self), lambda: generic_type(self), self._function]
        for _ in range(choose(7)):
            self.world.pick(kinds)()
        self._main()
        model = {"replies": [*self.world.replies, {"text": "1", "times": 100_000}]}
        files = in_files(self.world, self.parts)
        return Generated(files, json.dumps(model), self.world.chance(8))

    # Types.

    def field_type(self) -> Ty:
        world = self.world
        types = [*PLAIN, BOOL, FLOAT, *world.own_types, *world.implementations, ERROR, INSTANT]
        types += [*world.known_variables] * 3
        chosen = world.pick(types)
        if world.chance(8):
            chosen = self._function_type()
        if world.choose(2):
            return world.wrapped(chosen)
        if world.later and world.choose(10) == 1:
            return task(world.pick([item for item in world.later if item != NOTHING]))
        return chosen

    def _function_type(self) -> Ty:
        """That of a function, or one of plain types."""
        world = self.world
        known = [signature(unit) for unit in self.units if unit.receiver is None and not unit.mutable]
        if known and world.choose(2):
            return world.pick(known)
        parameters = [world.pick(PLAIN) for _ in range(world.choose(3))]
        result = world.pick([*PLAIN, NOTHING, *world.own_types])
        return function(parameters, result, world.pick([None, None, *world.errors]))

    def _rule(self, name: str, type_: Ty) -> str | None:
        """A rule that most values keep."""
        rules = {
            INT: [f"{name} % 1000 != 77", f"at({name}, 999) != 11", f"{name} != 7 || {name} < 0"],
            STRING: [f"{name}.len() < 60", f'{name} != "b c!" && !{name}.starts_with("é é")'],
            FLOAT: [f"{name} < 1e300 || {name} >= 1e300 || {name} != {name}", f"{name} != 2.25"],
            DURATION: [f"{name} != 17ms"],
            BOOL: [f"{name} || !{name}"],
        }
        if type_.name in ("[]", "[:]"):
            return f"{name}.len() < 6"
        if type_.name == "?":
            return f"{name}.is_none() || at(3, 2) == 1"
        return self.world.pick(rules[type_]) if type_ in rules else None

    def _fields(self, owner: Ty | None = None, must_end: bool = True) -> list[Field]:
        fields: list[Field] = []
        for _ in range(self.world.choose(5)):
            type_ = self.field_type()
            if owner is not None and self.world.chance(8):
                type_ = self.world.pick([array(owner), optional(owner), *([] if must_end else [owner])])
            default = self.world.literal(type_) if type_ in PLAIN and self.world.chance(4) else None
            name = self.world.new_name("x")
            rule = self._rule(name, type_) if self.world.chance(4) else None
            # What the compiler evaluates keeps every rule.
            fields.append(Field(name, type_, None if rule is not None else default, rule))
        return fields

    @staticmethod
    def declared(fields: list[Field]) -> str:
        return ", ".join(
            f"{item.name}: {item.type}"
            + ("" if item.default is None else f" = {item.default}")
            + ("" if item.rule is None else f" where {item.rule}")
            for item in fields
        )

    def _error_type(self) -> None:
        """A sum that limits can refuse with."""
        type_ = Ty("E")
        plain = [Field(self.world.new_name("x"), self.world.pick(PLAIN)) for _ in range(self.world.choose(3))]
        variants = [Variant("Denied", [Field("reason", STRING)]), Variant("Plain", [])]
        if plain:
            variants.append(Variant("More", plain))
        self._sum(type_, variants)
        self.world.errors.insert(0, type_)

    def _sum(self, type_: Ty, variants: list[Variant], methods: int = 0) -> None:
        self.world.named[type_] = Named(type_, variants, True)
        texts = [item.name + (f"({self.declared(item.fields)})" if item.fields else "") for item in variants]
        body = "\n    ".join(self._methods(type_, methods))
        self.parts.append(f"type {type_} = {' | '.join(texts)}{body and f' {{ {body} }}'}\n")

    def _methods(self, type_: Ty, count: int) -> list[str]:
        made = [self.method(type_, []) for _ in range(count)]
        self.units += [unit for unit, _ in made]
        return [text for _, text in made]

    def method(self, receiver: Ty, held: list[tuple[str, Ty]]) -> tuple[Unit, str]:
        """A method and its text; it becomes known when its type is written. `held` are its first parameters."""
        world = self.world
        name = world.new_name("m")
        unit = Unit(name, receiver, [*held, *self._parameters()], self._result(), self.error())
        mutable = {item for item, _ in unit.parameters[len(held) :] if world.chance(4)}
        unit.mutable = frozenset(mutable | ({"self"} if world.choose(2) else set()))
        return unit, self.unit(unit, self.signature("fn", unit), False, receiver)

    def _type(self) -> None:
        world = self.world
        if world.choose(2):
            type_ = Ty(world.new_name("S"))
            count = 1 + world.choose(4)
            variants = [Variant(world.new_name("V"), self._fields(type_, index == 0)) for index in range(count)]
            self._sum(type_, variants, world.choose(2))
        else:
            type_ = Ty(world.new_name("R"))
            fields = self._fields(type_)
            world.named[type_] = Named(type_, [Variant(str(type_), fields)], False)
            methods = self._methods(type_, world.choose(3))
            separator = ", " if fields and methods else ""
            self.parts.append(f"type {type_} {{ {self.declared(fields)}{separator}{', '.join(methods)} }}\n")
        if world.is_shown(type_):
            world.errors.append(type_)
            if not world.named[type_].variants[0].fields:
                world.errors.reverse()

    # Units.

    def unit(self, unit: Unit, header: str, in_handler: bool = False, self_type: Ty | None = None) -> str:
        """`header { body }`; the unit's cost is known after it."""
        choose = self.world.choose
        is_main = unit.text == "main"
        writer = Writer(self.world, self.units, unit, choose(140 if is_main else 60), in_handler)
        writer.more = (library, library, of_map, of_map, of_function, of_function, of_text, of_json)
        writer.more_statements = (change_place, change_map, over_map, call_any_value, assertion, change_place)
        writer.changed_by = lambda text, type_: changed_by(writer, text, type_)
        writer.statements, writer.matching, writer.closing = statements, match, closing
        writer.names = held_names(unit, self.world)
        if self_type is not None:
            writer.names.append(Name("self", self_type, "self" in unit.mutable))
        writer.indent = 1 if self_type is not None or in_handler else 0

        def first() -> list[str]:
            lines: list[str] = []
            if unit.fuel:
                value = "" if unit.result == NOTHING else f" {self.world.literal(unit.result)}"
                lines.append(f"if fuel <= 0 {{ return{value} }}")
            if choose(3) and not is_main:
                shown = "".join(f" {{{name}}}" for name, type_ in unit.parameters if self.world.is_shown(type_))
                lines.append(f'print("{unit.text}{shown}")')
            lines += opening(writer, choose(6 if is_main else 3))
            for tried in self.units:
                if is_main or tried.is_own:
                    lines += exercise(writer, tried)
            return lines

        last = None if unit.result == NOTHING else (lambda: writer.expression(unit.result))
        body = writer.body(choose(12 if is_main else 5), last, (), first)
        unit.cost = writer.cost * (4 if unit.fuel else 1)
        return f"{header} {body}"

    def signature(self, word: str, unit: Unit) -> str:
        """Of a generic function, `word` has the name and the type parameters."""
        parameters = [f"{'mut ' if name in unit.mutable else ''}{name}: {type_}" for name, type_ in unit.parameters]
        if unit.fuel:
            parameters.insert(0, "fuel: Int")
        if unit.receiver is not None:
            parameters.insert(0, "mut self" if "self" in unit.mutable else "self")
        result = "" if unit.result == NOTHING else f" -> {unit.result}"
        error = "" if unit.error is None else f" ! {unit.error}"
        head = word if "<" in word else f"{word} {unit.text}"
        return f"{head}({', '.join(parameters)}){result}{error}"

    def _parameters(self) -> list[tuple[str, Ty]]:
        types: list[Ty] = []
        for _ in range(self.world.choose(4)):
            types.append(self.world.pick([INT, self.field_type(), self.field_type(), *self.world.agents]))
        return [(self.world.new_name("p"), type_) for type_ in types]

    def _result(self) -> Ty:
        return self.world.pick([NOTHING, INT, STRING, BOOL, FLOAT, DURATION, self.field_type(), self.field_type()])

    def error(self) -> Ty | None:
        return self.world.pick([None, None, self.world.errors[0], ERROR, self.world.pick(self.world.errors)])

    def _function(self) -> None:
        world = self.world
        unit = Unit(world.new_name("f"), None, self._parameters(), self._result(), self.error())
        unit.fuel = world.chance(4)
        if world.chance(3):
            unit.mutable = frozenset(name for name, _ in unit.parameters if world.choose(2))
        self.parts.append(self.unit(unit, self.signature("fn", unit)) + "\n")
        self.units.append(unit)

    def _own_method(self) -> None:
        """A record or a sum whose methods know what stands before it."""
        self._type()

    def _capability(self) -> None:
        """A capability and the records that implement it. Each becomes known when all of it is written."""
        world = self.world
        capability = Ty(world.new_name("C"))
        parameters = [("amount", INT), ("cost", FLOAT), ("time", DURATION)][: 1 + world.choose(3)]
        error = world.pick([Ty("E"), Ty("E"), None, ERROR])
        methods = [
            Unit(world.new_name("m"), capability, parameters, self._result(), error if index == 0 else self.error())
            for index in range(1 + world.choose(2))
        ]
        signatures = [
            self.signature("fn", method).replace("(self, ", "(").replace("(self)", "()") for method in methods
        ]
        self.parts.append(f"capability {capability} {{\n    {f'{chr(10)}    '.join(signatures)}\n}}\n")
        implementations: list[Ty] = []
        for _ in range(1 + world.choose(2)):
            record = Ty(world.new_name("I"))
            fields = self._fields()
            world.named[record] = Named(record, [Variant(str(record), fields)], False, str(capability))
            texts: list[str] = []
            costs: list[int] = []
            for method in methods:
                own = Unit(method.text, record, method.parameters, method.result, method.error)
                texts.append("    " + self.unit(own, self.signature("fn", own), False, record))
                costs.append(own.cost)
                method.cost = max(method.cost, own.cost)
            self.units += [
                Unit(method.text, record, method.parameters, method.result, method.error, cost)
                for method, cost in zip(methods, costs, strict=True)
            ]
            separator = "" if not fields else ", "
            body = ",\n".join(texts).lstrip()
            self.parts.append(
                f"type {record}: {capability} {{\n    {self.declared(fields)}{separator}\n    {body}\n}}\n"
            )
            implementations.append(record)
        world.implementations[capability] = implementations
        self.units += methods

    def _agent(self) -> None:
        world = self.world
        if not world.implementations and world.choose(4):
            self._capability()
        agent = Ty(world.new_name("A"))
        capabilities = [item for item in world.implementations if world.choose(4)]
        lines = [self._settings(), "can Ai, Console, Time" + "".join(f", {item}" for item in capabilities)]
        if world.choose(2):
            lines.append(f"limit Ai {{ {self._ai_rules()} }}")
        own: list[Unit] = []
        for capability in capabilities:
            methods = [unit for unit in self.units if unit.receiver == capability]
            for method in methods:
                own.append(
                    Unit(
                        f"{capability}.{method.text}",
                        None,
                        method.parameters,
                        method.result,
                        method.error,
                        method.cost,
                        True,
                    )
                )
            if methods[0].error == Ty("E") and world.choose(3):
                rules = self._rules([name for name, _ in methods[0].parameters])
                lines.append(f"limit {capability}.{methods[0].text} {{\n        {rules}\n    }}")
        before = list(self.units)
        self.units += own
        handlers = [
            Unit(world.new_name("h"), None, self._parameters(), self._result(), self.error())
            for _ in range(1 + world.choose(2))
        ]
        written: list[Unit] = []
        for handler in handlers:
            lines.append(self.unit(handler, self.signature("on", handler), True))
            handler.receiver = agent
            written.append(handler)
        self.units[:] = [*before, *written]
        self.parts.append(f"agent {agent} {{\n    {f'{chr(10)}    '.join(line for line in lines if line)}\n}}\n")
        started = ", ".join(f"{item}: {world.literal(item)}" for item in capabilities)
        world.agents[agent] = f"{agent}.start({started})"

    def _settings(self) -> str:
        given: list[str] = []
        if self.world.choose(3) == 1:
            given.append("mode: Mode.Observe")
        if self.world.choose(2):
            given.append(f"asks_under_way: UnderWay.{self.world.pick(['Largest', 'NotCounted'])}")
        return f"settings AgentSettings({', '.join(given)})" if given else ""

    def _ai_rules(self) -> str:
        rules = ["count <= 3 per day", "tokens <= 150 per hour", "tokens < 70 per 2s", "count < 2 per 1s"]
        return ", ".join(self.world.pick(rules) for _ in range(1 + self.world.choose(2)))

    def _rules(self, parameters: list[str]) -> str:
        rules = ["amount <= 7", "sum(amount) <= 20 per day", "count <= 3 per 2s", "sum(amount & 15) < 9 per minute"]
        keys = ["at(amount, 3)", "amount > 3", '"{amount & 1} {amount > 5}"']
        rules += [f"sum(amount) <= 20 per day by {key}" for key in keys] + ["count < 3 per 2s by amount & 3"]
        rules += ["at(amount, 5) != 3 && amount > -1_000"]
        if "cost" in parameters:
            rules += ["sum(cost) <= 2.5 per 1s", "cost < 1e17 || cost != cost", "sum(cost * 0.1) < 0.3 per week"]
        if "time" in parameters:
            rules += ["sum(time) <= 1h per month", "time >= 0s"]
        return "\n        ".join(self.world.pick(rules) for _ in range(1 + self.world.choose(3)))

    def _main(self) -> None:
        unit = Unit("main", None, [], NOTHING, self.world.pick([None, None, ERROR, Ty("E")]))
        self.parts.append(self.unit(unit, self.signature("fn", unit)) + "\n")


def generate(choose: Choose) -> Generated:
    return ProgramWriter(choose).program()


@st.composite
def drawn(draw: st.DrawFn, make: Callable[[Choose], Generated]) -> Generated:
    """What `make` makes of choices that hypothesis draws, and shrinks."""
    numbers: dict[int, st.SearchStrategy[int]] = {}

    def choose(bound: int) -> int:
        if bound <= 1:
            return 0
        return draw(numbers.setdefault(bound, st.integers(0, bound - 1)))

    return make(choose)


def programs() -> st.SearchStrategy[Generated]:
    return drawn(generate)
