"""Expressions of generated programs: every kind, composed, of a wanted type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from generated_asks import ask
from generated_types import (
    BOOL,
    COMPARED,
    DATE,
    DURATION,
    ERROR,
    FLOAT,
    INSTANT,
    INT,
    NOTHING,
    STRING,
    Choose,
    Ty,
    World,
)
from generated_units import Name, Unit

COST_MAX = 1_500
DEPTH_MAX = 7


@dataclass(slots=True)
class Writer:
    """Writes the body of one unit. `size`: how many more things it may make; `cost`: how much it does when it runs."""

    world: World
    units: list[Unit]
    unit: Unit
    size: int
    in_handler: bool = False
    names: list[Name] = field(default_factory=list)
    block_start: int = 0
    loops: int = 0
    depth: int = 0
    indent: int = 1
    times: int = 1
    cost: int = 1
    recursions: int = 0
    # Whether what is written must give a value, or go on after it.
    must_end: bool = False
    statements: Callable[[Writer, int], list[str]] = lambda writer, count: []
    matching: Callable[[Writer, Ty, bool], str] = lambda writer, type_, operand: ""
    # What other files know of: a function gives a value of the type.
    more: Sequence[Callable[[Writer, Ty, bool], str]] = ()
    more_statements: Sequence[Callable[[Writer], str | None]] = ()
    changed_by: Callable[[str, Ty], str] = lambda text, type_: ""
    closing: Callable[[Writer], list[str]] = lambda writer: []

    @property
    def choose(self) -> Choose:
        return self.world.choose

    # Names.

    def declare(self, stem: str, type_: Ty, mutable: bool) -> str:
        """A new name; now and then it hides one of an outer block."""
        outer = [name for name in self.names[: self.block_start] if name.readable and name.text != "self"]
        if outer and self.world.chance(12):
            text = self.world.pick(outer).text
            if all(name.text != text for name in self.names[self.block_start :]):
                self.names.append(Name(text, type_, mutable))
                return text
        text = self.world.new_name(stem)
        self.names.append(Name(text, type_, mutable))
        return text

    def visible(self) -> list[Name]:
        found: dict[str, Name] = {}
        for name in self.names:
            found[name.text] = name
        return [name for name in found.values() if name.readable]

    def paths(self, mutable: bool = False) -> list[tuple[str, Ty]]:
        """Names and fields of fields of names."""
        found: list[tuple[str, Ty]] = []
        pending = [(name.text, name.type, 0) for name in self.visible() if name.mutable or not mutable]
        while pending:
            text, type_, depth = pending.pop(0)
            found.append((text, type_))
            named = self.world.named.get(type_)
            if named is not None and depth < 2:
                pending.extend((f"{text}.{item.name}", item.type, depth + 1) for item in named.fields)
        return found

    # Blocks.

    def line(self, extra: int = 0) -> str:
        return "\n" + "    " * (self.indent + extra)

    def body(
        self,
        count: int,
        last: Callable[[], str] | None = None,
        names: tuple[Name, ...] = (),
        first: Callable[[], list[str]] | None = None,
    ) -> str:
        """`{ … }` with statements and perhaps a value. With what comes `first`, it shows what its names become."""
        mark, start = len(self.names), self.block_start
        self.names.extend(names)
        self.block_start = len(self.names)
        self.indent += 1
        lines = [] if first is None else first()
        lines += self.statements(self, count)
        if first is not None:
            lines += self.closing(self)
        if last is not None:
            lines.append(last())
        text = "".join(self.line() + line for line in lines)
        self.indent -= 1
        del self.names[mark:]
        self.block_start = start
        return f"{{{text}{self.line()}}}" if lines else "{}"

    # Expressions.

    def expression(self, type_: Ty, operand: bool = False) -> str:
        """`operand`: the place wants a value (not something that leaves) whose type it does not know."""
        self.size -= 1
        if self.size <= 0 or self.depth >= DEPTH_MAX:
            return self.leaf(type_, operand)
        self.depth += 1
        outer, self.must_end = self.must_end, operand
        options: list[Callable[[Ty, bool], str]] = [self.leaf, self.leaf, self.part, *self.special(type_, operand)]
        options += [self.call, self.conditional, self.call, self.block, self.element, self.part, self.call]
        options += [self.call, self.matching_value, self.otherwise, self.of_others, self.of_others]
        if not operand:
            options.append(self.leaving)
        text = self.world.pick(options)(type_, operand)
        self.must_end = outer
        self.depth -= 1
        return text

    def matching_value(self, type_: Ty, operand: bool) -> str:
        return self.matching(self, type_, operand)

    def of_others(self, type_: Ty, operand: bool) -> str:
        return self.world.pick(self.more)(self, type_, operand)

    def leaf(self, type_: Ty, operand: bool) -> str:
        known = [name.text for name in self.visible() if name.type == type_]
        known += [text for text, constant in self.world.constants if constant == type_]
        if known and self.choose(3):
            return known[-1 - self.choose(len(known))]
        return self.world.literal(type_, operand)

    def part(self, type_: Ty, operand: bool) -> str:
        """A field of a name, an element of an array that has one."""
        found = [text for text, part in self.paths() if part == type_]
        arrays = [text for text, part in self.paths() if part.name == "[]" and part.args[0] == type_]
        if arrays and self.choose(2):
            array = self.world.pick(arrays)
            index = self.expression(INT) if self.choose(2) else str(self.choose(3))
            if self.world.chance(25):
                return f"{array}[{index}]"
            other = self.leaf(type_, False)
            return f"(if {array}.len() > 0 {{ {array}[at({index}, {array}.len())] }} else {{ {other} }})"
        return self.world.pick(found) if found else self.leaf(type_, operand)

    def conditional(self, type_: Ty, operand: bool) -> str:
        condition = self.expression(BOOL)
        then = self.body(self.choose(2), lambda: self.expression(type_, operand))
        outer, self.must_end = self.must_end, False
        otherwise = self.body(self.choose(2), lambda: self.expression(type_))
        self.must_end = outer
        return f"(if {condition} {then} else {otherwise})"

    def otherwise(self, type_: Ty, operand: bool) -> str:
        """What an optional holds, or something else."""
        if type_ == ERROR or type_ in self.world.implementations or type_.name in ("?", "Task", "fn"):
            return self.conditional(type_, operand)
        held = self.expression(Ty("?", (type_,)), True)
        if self.choose(2):
            name = self.world.new_name("o")
            then = self.body(self.choose(2), lambda: self.expression(type_, operand), (Name(name, type_),))
            outer, self.must_end = self.must_end, False
            text = f"(if const {name} = {held} {then} else {self.body(self.choose(2), lambda: self.expression(type_))})"
            self.must_end = outer
            return text
        return f"({held} ?? {self.expression(type_)})"

    def block(self, type_: Ty, operand: bool) -> str:
        return self.body(1 + self.choose(2), lambda: self.expression(type_, operand))

    def element(self, type_: Ty, operand: bool) -> str:
        """An element of an array, or a field of a record, that nobody else holds."""
        owners = [
            (named, index)
            for named in self.world.named.values()
            for index, item in enumerate(named.fields)
            if item.type == type_
        ]
        if owners and self.choose(2):
            named, index = self.world.pick(owners)
            return f"{self.expression(named.type, True)}.{named.fields[index].name}"
        count = 1 + self.choose(3)
        items = [self.expression(type_, index == 0) for index in range(count)]
        return f"[{', '.join(items)}][{self.choose(count)}]"

    def leaving(self, type_: Ty, operand: bool) -> str:
        if self.choose(12 if self.unit.text == "main" else 5):
            return self.leaf(type_, operand)
        return f"({self.leave()})"

    def can_make(self, error: Ty) -> bool:
        """Whether there is a value of it: of a type parameter that stands for errors, only where one is known."""
        held = self.world.variables.get(error)
        return held is None or held.held != "" or any(name.type == error for name in self.visible())

    def leave(self) -> str:
        """`break`, `continue`, `return`, `fail`: any that may stand here."""
        options = ["return"]
        if self.loops:
            options = ["continue", "break", "return"]
        if self.unit.error is not None and self.can_make(self.unit.error):
            options.append("fail")
        word = self.world.pick(options)
        if word == "return" and self.unit.result != NOTHING:
            return f"return {self.expression(self.unit.result)}"
        if word == "fail":
            error = self.unit.error if self.unit.error is not None else ERROR
            if error == ERROR and self.choose(2):
                return f"fail {self.expression(self.world.pick(self.world.errors), True)}"
            return f"fail {self.expression(error, True)}"
        return word

    # Calls.

    def arguments(self, unit: Unit, places: list[str], operand: bool) -> str:
        """`places`: what is given for its `mut` parameters, in order."""
        parameters = unit.parameters
        given = iter(places)
        marked = {name: f"mut {next(given)}" for name, _ in parameters if name in unit.mutable}

        def value(name: str, type_: Ty) -> str:
            return marked[name] if name in marked else self.expression(type_, operand)

        if len(parameters) > 1 and self.world.chance(4):
            texts = [f"{name}: {value(name, type_)}" for name, type_ in reversed(parameters)]
            return ", ".join(texts)
        first_named = self.choose(len(parameters) + 1) if self.world.chance(4) else len(parameters)
        texts = [value(name, type_) for name, type_ in parameters]
        return ", ".join(
            f"{parameters[index][0]}: {text}" if index >= first_named else text for index, text in enumerate(texts)
        )

    def places_for(self, types: list[Ty]) -> list[str] | None:
        """A place for each type, all of different variables; None where there are not so many."""
        known = self.paths(mutable=True) if types else []
        found: list[str] = []
        for type_ in types:
            used = {place.split(".")[0] for place in found}
            fitting = [text for text, part in known if part == type_ and text.split(".")[0] not in used]
            if not fitting:
                return None
            found.append(self.world.pick(fitting))
        return found

    def callable_units(self, wanted: Callable[[Unit], bool]) -> list[Unit]:
        found = [
            unit
            for unit in self.units
            if wanted(unit)
            and (self.in_handler or not unit.is_own)
            and self.cost + self.times * unit.cost < COST_MAX
            and (not unit.mutable or self.places_for(unit.changed) is not None)
        ]
        own = self.unit
        if own.fuel and self.times == 1 and self.recursions == 0 and wanted(own):
            found += [own] if self.places_for(own.changed) is not None else []
        return found

    def bare_call(self, unit: Unit) -> str:
        """The call without what handles its error."""
        self.cost += self.times * unit.cost
        arguments: list[str] = []
        if unit.fuel:
            if unit is self.unit:
                self.recursions += 1
                arguments.append("fuel - 1")
            else:
                arguments.append(str(self.choose(4)))
        places = self.places_for(unit.changed) or []
        if "self" in unit.mutable:
            receiver = f"{places.pop(0)}."
        else:
            receiver = "" if unit.receiver is None else f"{self.expression(unit.receiver, True)}."
        written = ""
        is_found = bool(unit.type_arguments) and (not unit.is_written or self.world.chance(2))
        if unit.type_arguments and not is_found:
            written = f"<{', '.join(map(str, unit.type_arguments))}>"
        rest = self.arguments(unit, places, is_found)
        return f"{receiver}{unit.text}{written}({', '.join([*arguments, rest] if rest else arguments)})"

    def handled(self, call: str, error: Ty | None, result: Ty) -> str:
        """The call, with its error handled in one of the ways that may stand here."""
        if error is None:
            return call
        own = self.unit.error
        if own is not None and own in (ERROR, error) and self.choose(8) < (1 if self.unit.text == "main" else 4):
            return f"(try {call})"
        return f"({call} catch {self.handler(error, result)})"

    def handler(self, error: Ty, result: Ty) -> str:
        if self.world.chance(4):
            return f"_ => {self.after_error(result)}"
        mark = len(self.names)
        name = self.world.new_name("e")
        # Nothing would be at hand where another value of a type parameter's error is wanted.
        is_variable = error in self.world.variables
        self.names.append(Name(name, error, readable=not is_variable))
        text = f"{name} => {self.after_error(result)}"
        del self.names[mark:]
        return text

    def after_error(self, result: Ty) -> str:
        outer, self.must_end = self.must_end, False
        if self.world.chance(12 if self.unit.text == "main" else 4):
            text = self.leave()
        elif result == NOTHING:
            text = self.body(1 + self.choose(2))
        else:
            text = self.expression(result)
        self.must_end = outer
        return text

    def call(self, type_: Ty, operand: bool) -> str:
        units = self.callable_units(lambda unit: unit.result == type_)
        options: list[Callable[[], str]] = []
        options.append(lambda: self.leaf(type_, operand))
        if units:
            options += [lambda: self.call_of(self.world.pick(units))] * 6
        if type_ in self.world.later:
            options += [lambda: self.wait(type_)] * 2
        if type_ == STRING or self.world.is_askable(type_):
            options.append(lambda: ask(self, type_))
        return self.world.pick(options)()

    def call_of(self, unit: Unit) -> str:
        return self.handled(self.bare_call(unit), unit.error, unit.result)

    def wait(self, type_: Ty) -> str:
        limit = self.world.pick(["", "", "0s", "1s", "3s"])
        waited = f"wait_for({limit})" if limit else "wait()"
        return self.handled(f"{self.expression(Ty('Task', (type_,)), True)}.{waited}", ERROR, type_)

    # What only some types have.

    def special(self, type_: Ty, operand: bool) -> list[Callable[[Ty, bool], str]]:
        world = self.world
        if type_ == INT:
            return [self.arithmetic, self.length, self.int_operation, self.int_operation]
        if type_ == FLOAT:
            return [self.float_operation] * 3
        if type_ == BOOL:
            return [self.comparison, self.logical, self.comparison]
        if type_ == STRING:
            return [self.interpolation, self.concatenation, self.interpolation]
        if type_ in (DURATION, INSTANT):
            return [self.time_operation] * 2
        if type_.name == "[]":
            return [self.array_of] * 3
        if type_.name == "Task":
            return [self.spawn] * 3
        if type_.name == "()":
            return [self.tuple_of] * 3
        if type_.name == "?" and not operand:
            return [self.present] * 3
        named = world.named.get(type_)
        if named is not None:
            return [self.construct] * 3 if named.is_sum else [self.construct, self.construct, self.changed]
        return []

    def two(self, left: Ty, operator: str, right: Ty) -> str:
        return f"({self.expression(left, True)} {operator} {self.expression(right, True)})"

    def arithmetic(self, type_: Ty, operand: bool) -> str:
        """Of small numbers, so that it seldom overflows."""
        return f"({self.two(INT, '&', INT)} {self.world.pick(['+', '-', '*', '%'])} {1 + self.choose(9)})"

    def int_operation(self, type_: Ty, operand: bool) -> str:
        operator = self.world.pick(["&", "|", "^", "<<", ">>", "/", "%", "~", "-", "+", "Duration"])
        if operator in ("<<", ">>"):
            return f"({self.expression(INT, True)} {operator} ({self.expression(INT, True)} & 63))"
        if operator in ("/", "%"):
            right = self.expression(INT, True)
            right = f"({right} & 0xff | 1)" if not self.world.chance(20) else right
            return f"({self.expression(INT, True)} {operator} {right})"
        if operator in ("~", "-"):
            inner = self.expression(INT, True)
            return f"(~{inner})" if operator == "~" or not self.world.chance(6) else f"(-{inner})"
        if operator == "Duration":
            return f"({self.expression(DURATION, True)} / {self.world.pick(['1s', '7ns', '1d', '-3ms'])})"
        if operator == "+" and not self.world.chance(10):
            return f"(({self.expression(INT, True)} >> 2) {self.world.pick(['+', '-'])} 17)"
        return self.two(INT, operator, INT)

    def length(self, type_: Ty, operand: bool) -> str:
        arrays = [text for text, part in self.paths() if part.name == "[]"]
        return f"{self.world.pick(arrays)}.len()" if arrays else self.leaf(type_, operand)

    def float_operation(self, type_: Ty, operand: bool) -> str:
        operator = self.world.pick(["+", "-", "*", "/", "%", "neg"])
        return f"(-{self.expression(FLOAT, True)})" if operator == "neg" else self.two(FLOAT, operator, FLOAT)

    def comparison(self, type_: Ty, operand: bool) -> str:
        operator = self.world.pick(["==", "!=", "<", "<=", ">", ">="])
        if operator in ("==", "!="):
            types = [*COMPARED, BOOL, *[name for name in self.world.named if self.world.is_comparable(name)]]
            types += [part for _, part in self.paths() if self.world.is_comparable(part)]
            compared = self.world.pick(types)
        else:
            ordered = [item for item, variable in self.world.variables.items() if "Ord" in variable.bounds]
            compared = self.world.pick([*COMPARED, *ordered, *ordered])
        return self.two(compared, operator, compared)

    def logical(self, type_: Ty, operand: bool) -> str:
        if self.choose(3) == 0:
            return f"(!{self.expression(BOOL, True)})"
        return f"({self.expression(BOOL)} {self.world.pick(['&&', '||'])} {self.expression(BOOL)})"

    def shown(self) -> str:
        """An expression of any type that shows."""
        types = [name.type for name in self.visible() if self.world.is_shown(name.type)]
        types += [INT, STRING, FLOAT, BOOL, DURATION, *[name for name in self.world.named if self.world.is_shown(name)]]
        return self.expression(self.world.pick(types), True)

    def interpolation(self, type_: Ty, operand: bool) -> str:
        before = ["", " ", "x=", "\\n"]
        parts = [f"{self.world.pick(before)}{{{self.shown()}}}" for _ in range(1 + self.choose(3))]
        return f'"{"".join(parts)}"'

    def concatenation(self, type_: Ty, operand: bool) -> str:
        return self.two(STRING, "+", STRING)

    def time_operation(self, type_: Ty, operand: bool) -> str:
        if type_ == INSTANT:
            return f"({self.expression(INSTANT, True)} + {self.world.pick(['1s', '-1h', '3ns'])})"
        operator = self.world.pick(["+", "*", "/", "-", "neg", "instants"])
        if operator == "instants":
            return self.two(INSTANT, "-", INSTANT)
        if operator == "neg":
            return f"(-{self.expression(DURATION, True)})"
        if operator in ("+", "-"):
            return f"({self.expression(DURATION, True)} / 3 {operator} {self.world.pick(['1s', '7ns'])})"
        number = f"({self.expression(INT, True)} & 7 | 1)"
        if operator == "*":
            return f"({number} * ({self.expression(DURATION, True)} / 16))"
        return f"({self.expression(DURATION, True)} / {number})"

    def array_of(self, type_: Ty, operand: bool) -> str:
        count = self.choose(4)
        count = max(count, 1) if operand else count
        items = [self.expression(type_.args[0], operand and index == 0) for index in range(count)]
        return f"[{', '.join(items)}]"

    def tuple_of(self, type_: Ty, operand: bool) -> str:
        return f"({', '.join(self.expression(item, operand) for item in type_.args)})"

    def present(self, type_: Ty, operand: bool) -> str:
        return self.expression(type_.args[0]) if self.choose(4) else "none"

    def spawn(self, type_: Ty, operand: bool) -> str:
        result = type_.args[0]
        units = self.callable_units(lambda unit: unit.result == result and not unit.mutable)
        if units and self.choose(4):
            return f"(spawn {self.bare_call(self.world.pick(units))})"
        given = INT if result == NOTHING else result
        is_generic = bool(self.world.inside(given) & set(self.world.variables))
        return f"(spawn {self.world.giver(result)}({self.expression(given, is_generic)}))"

    def construct(self, type_: Ty, operand: bool) -> str:
        if type_ == DATE and not self.world.chance(20):
            return self.world.literal(type_)
        named = self.world.named[type_]
        variant = self.world.pick(named.variants)
        if named.is_sum and not variant.fields:
            return named.path(variant)
        given = [item for item in variant.fields if item.default is None or self.world.chance(2)]
        if self.world.chance(4):
            given.reverse()
        fields = ", ".join(f"{item.name}: {self.expression(item.type)}" for item in given)
        return f"{named.path(variant)}({fields})"

    def changed(self, type_: Ty, operand: bool) -> str:
        fields = [item for item in self.world.named[type_].fields if self.choose(2)]
        if not fields or type_ == DATE:
            return self.construct(type_, operand)
        updates = ", ".join(f"{item.name}: {self.expression(item.type)}" for item in fields)
        return f"({self.expression(type_, True)} with {{ {updates} }})"
