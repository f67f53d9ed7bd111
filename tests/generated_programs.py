"""Whole programs, composed of everything that the language has (docs/spec.md), and the hypothesis strategy of them.

What keeps a program short: functions call only what stands before them, or themselves with less `fuel`; loops turn a
few times; and each unit counts what it costs to run. What keeps it from panicking at once: operators on extreme
values are mostly masked, indexes mostly in range. A few are not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from generated_library import library
from generated_statements import closing, exercise, match, opening, statements
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
    Choose,
    Field,
    Named,
    Ty,
    Variant,
    World,
    array,
    optional,
    task,
)
from generated_values import Name, Unit, Writer
from hypothesis import strategies as st

AI_ERROR, TASK_ERROR = Ty("AiError"), Ty("TaskError")
PRELUDE = """fn at(index: Int, length: Int) -> Int {
    if length == 0 { 0 } else { (index % length + length) % length }
}
"""


@dataclass(frozen=True, slots=True)
class Generated:
    """`model` is the scripted model's file."""

    source: str
    model: str
    dry_run: bool

    def __repr__(self) -> str:
        return f"\n{self.source}\n// dry run: {self.dry_run}; model:\n// {self.model}\n"


class ProgramWriter:
    def __init__(self, choose: Choose) -> None:
        self.world = World(choose)
        self.units: list[Unit] = []
        self.parts: list[str] = [PRELUDE]
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
        self.world.errors += [TASK_ERROR, AI_ERROR]

    def program(self) -> Generated:
        choose = self.world.choose
        self._error_type()
        for _ in range(choose(4)):
            self._type()
        for result in (INT, STRING, NOTHING, *list(self.world.named)[2:]):
            self.world.giver(result)
        for _ in range(choose(3)):
            type_ = self.world.pick(PLAIN)
            name = self.world.new_name("K")
            self.parts.append(f"const {name}: {type_} = {self.world.literal(type_)}\n" if type_ != INSTANT else "")
            self.world.constants.append((name, type_))
        kinds = [self._function, self._agent, self._capability, self._agent, self._function]
        for _ in range(choose(7)):
            self.world.pick(kinds)()
        self._main()
        model = {"replies": [*self.world.replies, {"text": "1", "times": 100_000}]}
        return Generated("\n".join([*self.parts, *self.world.givers]), json.dumps(model), self.world.chance(8))

    # Types.

    def _field_type(self) -> Ty:
        world = self.world
        types = [*PLAIN, BOOL, FLOAT, *list(world.named)[2:], *world.implementations, ERROR, INSTANT]
        chosen = world.pick(types)
        if world.choose(2):
            return world.wrapped(chosen)
        if world.later and world.choose(10) == 1:
            return task(world.pick([item for item in world.later if item != NOTHING]))
        return chosen

    def _fields(self, owner: Ty | None = None, must_end: bool = True) -> list[Field]:
        fields: list[Field] = []
        for _ in range(self.world.choose(5)):
            type_ = self._field_type()
            if owner is not None and self.world.chance(8):
                type_ = self.world.pick([array(owner), optional(owner), *([] if must_end else [owner])])
            default = self.world.literal(type_) if type_ in PLAIN and self.world.chance(4) else None
            fields.append(Field(self.world.new_name("x"), type_, default))
        return fields

    @staticmethod
    def _declared(fields: list[Field]) -> str:
        return ", ".join(
            f"{item.name}: {item.type}" + ("" if item.default is None else f" = {item.default}") for item in fields
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

    def _sum(self, type_: Ty, variants: list[Variant]) -> None:
        texts = [item.name + (f"({self._declared(item.fields)})" if item.fields else "") for item in variants]
        self.parts.append(f"type {type_} = {' | '.join(texts)}\n")
        self.world.named[type_] = Named(type_, variants, True)

    def _type(self) -> None:
        world = self.world
        if world.choose(2):
            type_ = Ty(world.new_name("S"))
            count = 1 + world.choose(4)
            self._sum(type_, [Variant(world.new_name("V"), self._fields(type_, index == 0)) for index in range(count)])
        else:
            type_ = Ty(world.new_name("R"))
            fields = self._fields(type_)
            self.parts.append(f"type {type_} {{ {self._declared(fields)} }}\n")
            world.named[type_] = Named(type_, [Variant(str(type_), fields)], False)
        if world.is_shown(type_):
            world.errors.append(type_)
            if not world.named[type_].variants[0].fields:
                world.errors.reverse()

    # Units.

    def _unit(self, unit: Unit, header: str, in_handler: bool = False, self_type: Ty | None = None) -> str:
        """`header { body }`; the unit's cost is known after it."""
        choose = self.world.choose
        is_main = unit.text == "main"
        writer = Writer(self.world, self.units, unit, choose(200 if is_main else 80), in_handler)
        writer.library = library
        writer.statements, writer.matching, writer.closing = statements, match, closing
        writer.names = [Name(name, type_) for name, type_ in unit.parameters]
        if self_type is not None:
            writer.names.append(Name("self", self_type))
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
        body = writer.body(choose(16 if is_main else 6), last, (), first)
        unit.cost = writer.cost * (4 if unit.fuel else 1)
        return f"{header} {body}"

    def _signature(self, word: str, unit: Unit) -> str:
        parameters = [f"{name}: {type_}" for name, type_ in unit.parameters]
        if unit.fuel:
            parameters.insert(0, "fuel: Int")
        if unit.receiver is not None:
            parameters.insert(0, "self")
        result = "" if unit.result == NOTHING else f" -> {unit.result}"
        error = "" if unit.error is None else f" ! {unit.error}"
        return f"{word} {unit.text}({', '.join(parameters)}){result}{error}"

    def _parameters(self) -> list[tuple[str, Ty]]:
        types: list[Ty] = []
        for _ in range(self.world.choose(4)):
            types.append(self.world.pick([INT, self._field_type(), self._field_type(), *self.world.agents]))
        return [(self.world.new_name("p"), type_) for type_ in types]

    def _result(self) -> Ty:
        return self.world.pick([NOTHING, INT, STRING, BOOL, FLOAT, DURATION, self._field_type(), self._field_type()])

    def _error(self) -> Ty | None:
        return self.world.pick([None, None, self.world.errors[0], ERROR, self.world.pick(self.world.errors)])

    def _function(self) -> None:
        """A function, or a method of a type."""
        world = self.world
        unit = Unit(world.new_name("f"), None, self._parameters(), self._result(), self._error())
        unit.fuel = world.chance(4)
        self.parts.append(self._unit(unit, self._signature("fn", unit)) + "\n")
        self.units.append(unit)

    def _capability(self) -> None:
        """A capability and the records that implement it. Each becomes known when all of it is written."""
        world = self.world
        capability = Ty(world.new_name("C"))
        parameters = [("amount", INT), ("cost", FLOAT), ("time", DURATION)][: 1 + world.choose(3)]
        error = world.pick([Ty("E"), Ty("E"), None, ERROR])
        methods = [
            Unit(world.new_name("m"), capability, parameters, self._result(), error if index == 0 else self._error())
            for index in range(1 + world.choose(2))
        ]
        signatures = [
            self._signature("fn", method).replace("(self, ", "(").replace("(self)", "()") for method in methods
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
                texts.append("    " + self._unit(own, self._signature("fn", own), False, record))
                costs.append(own.cost)
                method.cost = max(method.cost, own.cost)
            self.units += [
                Unit(method.text, record, method.parameters, method.result, method.error, cost)
                for method, cost in zip(methods, costs, strict=True)
            ]
            separator = "" if not fields else ", "
            body = ",\n".join(texts).lstrip()
            self.parts.append(
                f"type {record}: {capability} {{\n    {self._declared(fields)}{separator}\n    {body}\n}}\n"
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
            Unit(world.new_name("h"), None, self._parameters(), self._result(), self._error())
            for _ in range(1 + world.choose(2))
        ]
        written: list[Unit] = []
        for handler in handlers:
            lines.append(self._unit(handler, self._signature("on", handler), True))
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
        rules += ["at(amount, 5) != 3 && amount > -1_000"]
        if "cost" in parameters:
            rules += ["sum(cost) <= 2.5 per 1s", "cost < 1e17 || cost != cost", "sum(cost * 0.1) < 0.3 per week"]
        if "time" in parameters:
            rules += ["sum(time) <= 1h per month", "time >= 0s"]
        return "\n        ".join(self.world.pick(rules) for _ in range(1 + self.world.choose(3)))

    def _main(self) -> None:
        unit = Unit("main", None, [], NOTHING, self.world.pick([None, None, ERROR, Ty("E")]))
        self.parts.append(self._unit(unit, self._signature("fn", unit)) + "\n")


def generate(choose: Choose) -> Generated:
    return ProgramWriter(choose).program()


@st.composite
def programs(draw: st.DrawFn) -> Generated:
    numbers: dict[int, st.SearchStrategy[int]] = {}

    def choose(bound: int) -> int:
        if bound <= 1:
            return 0
        return draw(numbers.setdefault(bound, st.integers(0, bound - 1)))

    return generate(choose)
