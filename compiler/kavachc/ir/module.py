"""The IR as data: a module of type tables, agents, vtables and functions; functions of blocks; blocks of instructions.

Values (`Value`) are assigned once, by the instruction or parameter that makes them, and are used only where that
dominates; variables that change are locals. See `ops.py` for what instructions mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from kavachc.ir.ops import OPS, Op
from kavachc.ir.types import IrType, Outcome


@dataclass(eq=False, slots=True)
class Value:
    """The result of an instruction, or a parameter. Printed `%number`, or `%name` for a parameter."""

    type: IrType
    name: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    """1-based line and column in the function's file."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Cases:
    """The attribute of `switch`."""

    targets: tuple[tuple[int, Block], ...]


Attribute: TypeAlias = "int | float | bool | str | Block | Local | IrType | Cases"


@dataclass(eq=False, slots=True)
class Instruction:
    """`attributes` stand in the order of the op's row. `result` is None for ops that have none."""

    op: Op
    operands: list[Value]
    attributes: tuple[Attribute, ...]
    result: Value | None
    location: Location | None = None

    def attribute(self, name: str) -> Attribute:
        return self.attributes[self.op.attributes.index(name)]


@dataclass(eq=False, slots=True)
class Block:
    """Ends with the one terminator in it."""

    name: str
    instructions: list[Instruction] = field(default_factory=list, repr=False)

    @property
    def terminator(self) -> Instruction:
        return self.instructions[-1]

    def successors(self) -> list[Block]:
        found: list[Block] = []
        for attribute in self.terminator.attributes:
            if isinstance(attribute, Block):
                found.append(attribute)
            elif isinstance(attribute, Cases):
                found.extend(block for _, block in attribute.targets)
        return found


@dataclass(eq=False, slots=True)
class Local:
    """A variable of a function; printed `&name`, unique in it."""

    name: str
    type: IrType


@dataclass(eq=False, slots=True)
class Function:
    """`owns_parameters`: it must consume them (functions that `spawn` starts, and only those). `captures` are set in
    the code of function values, whose first parameter is the value. `title` is what the trace after a panic calls it;
    a call that has no place, or stands in a function without a title, is for the trace the one that its caller made,
    and a panic in such a function is one where it was called."""

    name: str
    file: str
    parameters: list[Value]
    result: IrType
    error: IrType | None
    waits: bool
    owns_parameters: bool = False
    locals: list[Local] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    location: Location | None = None
    captures: tuple[IrType, ...] | None = None
    title: str | None = None

    @property
    def call_type(self) -> IrType:
        """The type of a call of it."""
        return Outcome(self.result, self.error) if self.error is not None or self.waits else self.result


# Type tables.


@dataclass(frozen=True, slots=True)
class FieldRule:
    """`check` is a function that says, not zero, whether the rule holds for the field's value at an address."""

    text: str
    check: str


@dataclass(frozen=True, slots=True)
class Field:
    """A hidden field is in no descriptor: it is not shown and not compared. It stands after the others, and is not
    counted."""

    name: str
    type: IrType
    rule: FieldRule | None = None
    is_hidden: bool = False


def shown_name(name: str) -> str:
    """How values of a type show their type's name: `Pair`, where the type itself is `Pair<Int, String>` or
    `Pair@bank.kav`."""
    return name.partition("<")[0].partition("@")[0]


@dataclass(frozen=True, slots=True)
class Record:
    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    name: str
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class Method:
    """`parameters` without the capability value itself."""

    name: str
    parameters: tuple[IrType, ...]
    result: IrType
    error: IrType | None
    waits: bool

    @property
    def call_type(self) -> IrType:
        return Outcome(self.result, self.error) if self.error is not None or self.waits else self.result


@dataclass(frozen=True, slots=True)
class Capability:
    name: str
    methods: tuple[Method, ...]


@dataclass(frozen=True, slots=True)
class Vtable:
    """How a value of type `payload` is the capability: one function's name per method, in order."""

    name: str
    capability: str
    payload: IrType
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """As kv_rule: kind is `condition`, `sum_int`, `sum_float`, `count` or `tokens`."""

    kind: str
    text: str
    strict: bool
    window_ns: int
    bound: int | float
    keyed: bool = False


@dataclass(frozen=True, slots=True)
class Limit:
    target: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """As kv_model: an empty `base_url` and a `context_budget` of 0 stand for none."""

    name: str
    max_tokens: int
    provider: str
    base_url: str
    context_budget: int
    timeout_ns: int


@dataclass(frozen=True, slots=True)
class Agent:
    """As kv_agent; its place in the module's list is its number. `capability_count` is that of its handles."""

    name: str
    model: Model
    asks_under_way: str
    mode: str
    limits: tuple[Limit, ...]
    capabilities: tuple[str, ...]

    @property
    def ai_limit(self) -> int:
        return next((index for index, limit in enumerate(self.limits) if limit.target == "Ai"), -1)


@dataclass(slots=True)
class Module:
    """A whole program. `entry` names the function (`() -> nothing ! error waits`) that runs `main`. `counted_names`
    is what `facts.is_counted` has found out. `waiting_shapes` are those of function values whose calls may wait.
    `can_ask`: the program may ask a model, whatever is left of its asks after the passes; `can_send`: it may call
    `Http`."""

    records: dict[str, Record] = field(default_factory=dict)
    sums: dict[str, Sum] = field(default_factory=dict)
    capabilities: dict[str, Capability] = field(default_factory=dict)
    agents: list[Agent] = field(default_factory=list)
    vtables: dict[str, Vtable] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    entry: str = ""
    can_ask: bool = False
    can_send: bool = False
    waiting_shapes: set[tuple[int, bool]] = field(default_factory=set)
    counted_names: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)


def instruction(
    name: str,
    operands: list[Value],
    attributes: tuple[Attribute, ...] = (),
    type: IrType | None = None,
    location: Location | None = None,
) -> Instruction:
    """An instruction of the op `name`, with a fresh result of `type` where the op has one."""
    op = OPS[name]
    result = None if op.result == "none" or type is None else Value(type)
    return Instruction(op, operands, attributes, result, location)
