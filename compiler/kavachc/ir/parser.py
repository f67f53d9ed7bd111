"""Reads the text form that `printer.py` writes: `print_module(parse_module(text))` is `text` again.

What the words mean is checked (names of blocks, locals, values, ops); whether the IR is right is the verifier's
business. Comments, `// …`, are dropped.
"""

from __future__ import annotations

from kavachc.ir.cursor import Cursor
from kavachc.ir.errors import IrTextError
from kavachc.ir.module import (
    Agent,
    Attribute,
    Block,
    Capability,
    Cases,
    Field,
    FieldRule,
    Function,
    Instruction,
    Limit,
    Local,
    Method,
    Model,
    Module,
    Record,
    Rule,
    Sum,
    Value,
    Variant,
    Vtable,
)
from kavachc.ir.ops import ATTRIBUTE_KINDS, DEPTHS, OPS, PREDICATES, WAYS, Op
from kavachc.ir.types import NOTHING, IrType

# The attributes that are one of a few words.
_WORDS = {"predicate": PREDICATES, "depth": DEPTHS, "way": WAYS}


def parse_module(text: str) -> Module:
    """The module that `text` describes; IrTextError, with the line, when it describes none."""
    cursor = Cursor(text)
    module = Module()
    while cursor.kind != "end":
        _declaration(cursor, module)
    return module


def _declaration(cursor: Cursor, module: Module) -> None:
    if cursor.accept("entry"):
        module.entry = cursor.name()
    elif cursor.accept("asks"):
        module.can_ask = True
    elif cursor.accept("sends"):
        module.can_send = True
    elif cursor.accept("waits"):
        cursor.expect("fn")
        module.waiting_shapes.add((cursor.integer(), cursor.accept("!")))
    elif cursor.accept("record"):
        record = _record(cursor)
        module.records[record.name] = record
    elif cursor.accept("sum"):
        sum = _sum(cursor)
        module.sums[sum.name] = sum
    elif cursor.accept("capability"):
        capability = _capability(cursor)
        module.capabilities[capability.name] = capability
    elif cursor.accept("agent"):
        module.agents.append(_agent(cursor))
    elif cursor.accept("vtable"):
        vtable = Vtable(cursor.name(), cursor.name(), cursor.type(), tuple(_names(cursor)))
        module.vtables[vtable.name] = vtable
    elif cursor.accept("function"):
        line = cursor.line
        function = _FunctionParser(cursor).function()
        if function.name in module.functions:
            raise IrTextError(line, f"there are two functions {function.name}")
        module.functions[function.name] = function
    else:
        cursor.fail("a declaration")


def _names(cursor: Cursor) -> list[str]:
    names: list[str] = []
    cursor.expect("[")
    while not cursor.accept("]"):
        if names:
            cursor.expect(",")
        names.append(cursor.name())
    return names


def _field(cursor: Cursor) -> Field:
    name = cursor.name()
    is_hidden = name == "hidden" and not cursor.accept(":")
    if is_hidden:
        name = cursor.name()
    if is_hidden or name != "hidden":
        cursor.expect(":")
    type = cursor.type()
    rule = FieldRule(cursor.string(), cursor.name()) if cursor.accept("where") else None
    return Field(name, type, rule, is_hidden)


def _record(cursor: Cursor) -> Record:
    name = cursor.name()
    fields: list[Field] = []
    cursor.expect("{")
    while not cursor.accept("}"):
        fields.append(_field(cursor))
    return Record(name, tuple(fields))


def _sum(cursor: Cursor) -> Sum:
    name = cursor.name()
    variants: list[Variant] = []
    cursor.expect("{")
    while not cursor.accept("}"):
        variants.append(_variant(cursor))
    return Sum(name, tuple(variants))


def _variant(cursor: Cursor) -> Variant:
    name = cursor.name()
    fields: list[Field] = []
    if cursor.accept("("):
        while not cursor.accept(")"):
            if fields:
                cursor.expect(",")
            fields.append(_field(cursor))
    return Variant(name, tuple(fields))


def _signature_end(cursor: Cursor) -> tuple[IrType, IrType | None, bool]:
    cursor.expect("->")
    result = cursor.type()
    error = cursor.type() if cursor.accept("!") else None
    return result, error, cursor.accept("waits")


def _captures(cursor: Cursor) -> tuple[IrType, ...] | None:
    if not cursor.accept("captures"):
        return None
    types: list[IrType] = []
    cursor.expect("[")
    while not cursor.accept("]"):
        if types:
            cursor.expect(",")
        types.append(cursor.type())
    return tuple(types)


def _capability(cursor: Cursor) -> Capability:
    name = cursor.name()
    methods: list[Method] = []
    cursor.expect("{")
    while not cursor.accept("}"):
        method = cursor.name()
        parameters: list[IrType] = []
        cursor.expect("(")
        while not cursor.accept(")"):
            if parameters:
                cursor.expect(",")
            parameters.append(cursor.type())
        result, error, waits = _signature_end(cursor)
        methods.append(Method(method, tuple(parameters), result, error, waits))
    return Capability(name, tuple(methods))


def _agent(cursor: Cursor) -> Agent:
    name = cursor.name()
    cursor.expect("{")
    model = _model(cursor)
    cursor.expect("settings")
    asks_under_way, mode = cursor.name(), cursor.name()
    cursor.expect("capabilities")
    capabilities = tuple(_names(cursor))
    limits: list[Limit] = []
    while not cursor.accept("}"):
        cursor.expect("limit")
        target = cursor.name()
        rules: list[Rule] = []
        cursor.expect("{")
        while not cursor.accept("}"):
            rules.append(_rule(cursor))
        limits.append(Limit(target, tuple(rules)))
    return Agent(name, model, asks_under_way, mode, tuple(limits), capabilities)


def _model(cursor: Cursor) -> Model:
    cursor.expect("model")
    name, max_tokens, provider = cursor.string(), cursor.integer(), cursor.name()
    cursor.expect("at")
    base_url = cursor.string()
    cursor.expect("budget")
    context_budget = cursor.integer()
    cursor.expect("within")
    return Model(name, max_tokens, provider, base_url, context_budget, cursor.integer())


def _rule(cursor: Cursor) -> Rule:
    kind, text = cursor.name(), cursor.string()
    strict = cursor.accept("<")
    if not strict:
        cursor.expect("<=")
    bound = cursor.number()
    cursor.expect("per")
    return Rule(kind, text, strict, cursor.integer(), bound, cursor.accept("keyed"))


class _FunctionParser:
    """One function. Blocks and values may be named before they are made."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._locals: dict[str, Local] = {}
        self._blocks: dict[str, Block] = {}
        self._values: dict[str, Value] = {}
        self._open_blocks: dict[str, int] = {}
        self._open_values: dict[str, int] = {}

    def function(self) -> Function:
        cursor = self._cursor
        name = cursor.name()
        parameters: list[Value] = []
        cursor.expect("(")
        while not cursor.accept(")"):
            if parameters:
                cursor.expect(",")
            parameters.append(self._defined_value())
        result, error, waits = _signature_end(cursor)
        owns = cursor.accept("owns")
        captures = _captures(cursor)
        title = None if cursor.accept("untitled") else cursor.string() if cursor.accept("titled") else name
        file = cursor.string()
        location = cursor.optional_location()
        function = Function(
            name, file, parameters, result, error, waits, owns, location=location, captures=captures, title=title
        )
        cursor.expect("{")
        while cursor.peek() != ":" and cursor.accept("local"):
            function.locals.append(self._local())
        while not cursor.accept("}"):
            function.blocks.append(self._block())
        self._check_all_defined()
        return function

    def _local(self) -> Local:
        line = self._cursor.line
        name = self._cursor.marked_name("local")
        self._cursor.expect(":")
        if name in self._locals:
            raise IrTextError(line, f"there are two locals &{name}")
        local = self._locals[name] = Local(name, self._cursor.type())
        return local

    def _check_all_defined(self) -> None:
        for name, line in self._open_blocks.items():
            raise IrTextError(line, f"there is no block {name}")
        for name, line in self._open_values.items():
            raise IrTextError(line, f"nothing makes %{name}")

    def _defined_value(self) -> Value:
        """`%name: type`, where the value is made. Numbers are no names: the printer gives new ones."""
        cursor = self._cursor
        line = cursor.line
        is_number = cursor.word[1:2].isdecimal()
        key = cursor.word[1:]
        name = cursor.marked_name("value")
        if key in self._values and key not in self._open_values:
            raise IrTextError(line, f"%{name} is made twice")
        value = self._values.setdefault(key, Value(NOTHING))
        self._open_values.pop(key, None)
        value.name = "" if is_number else name
        cursor.expect(":")
        value.type = cursor.type()
        return value

    def _used_value(self) -> Value:
        key = self._cursor.word[1:]
        line = self._cursor.line
        self._cursor.marked_name("value")
        if key not in self._values:
            self._values[key] = Value(NOTHING)
            self._open_values[key] = line
        return self._values[key]

    def _block(self) -> Block:
        cursor = self._cursor
        line = cursor.line
        name = cursor.name()
        if name in self._blocks and name not in self._open_blocks:
            raise IrTextError(line, f"there are two blocks {name}")
        block = self._blocks.setdefault(name, Block(name))
        self._open_blocks.pop(name, None)
        cursor.expect(":")
        while cursor.kind == "value" or (not cursor.at("}") and cursor.peek() != ":"):
            block.instructions.append(self._instruction())
        return block

    def _used_block(self) -> Block:
        line = self._cursor.line
        name = self._cursor.name()
        if name not in self._blocks:
            self._blocks[name] = Block(name)
            self._open_blocks[name] = line
        return self._blocks[name]

    def _instruction(self) -> Instruction:
        cursor = self._cursor
        result = None
        if cursor.kind == "value":
            result = self._defined_value()
            cursor.expect("=")
        line = cursor.line
        name = cursor.name()
        op = OPS.get(name)
        if op is None:
            raise IrTextError(line, f"there is no op {name}")
        if (result is None) != (op.result == "none"):
            raise IrTextError(line, f"{name} has {'no' if op.result == 'none' else 'a'} result")
        operands: list[Value] = []
        if op.terminator:
            self._operands(operands)
        attributes = tuple(self._attribute(op, attribute) for attribute in op.attributes)
        if not op.terminator:
            self._operands(operands)
        return Instruction(op, operands, attributes, result, cursor.optional_location())

    def _operands(self, operands: list[Value]) -> None:
        cursor = self._cursor
        # A value followed by `:` is the next instruction's result.
        if cursor.kind != "value" or cursor.peek() == ":":
            return
        operands.append(self._used_value())
        while cursor.accept(","):
            operands.append(self._used_value())

    def _attribute(self, op: Op, name: str) -> Attribute:
        cursor = self._cursor
        kind = ATTRIBUTE_KINDS[name]
        if kind == "value":
            return self._constant(op)
        if kind == "number":
            return cursor.integer()
        if kind == "name":
            return cursor.name()
        if kind == "text":
            return cursor.string()
        if kind == "local":
            line = cursor.line
            local = self._locals.get(cursor.marked_name("local"))
            if local is None:
                raise IrTextError(line, "there is no such local")
            return local
        if kind == "type":
            return cursor.type()
        if kind == "block":
            return self._used_block()
        if kind == "cases":
            return self._cases()
        if cursor.word not in _WORDS[kind]:
            cursor.fail(f"a {kind}")
        return cursor.advance()

    def _constant(self, op: Op) -> Attribute:
        cursor = self._cursor
        if op.name == "const.string":
            return cursor.string()
        if op.name == "const.int":
            return cursor.integer()
        if op.name == "const.float":
            return float(cursor.number())
        if not cursor.at("true") and not cursor.at("false"):
            cursor.fail("true or false")
        return cursor.advance() == "true"

    def _cases(self) -> Cases:
        cursor = self._cursor
        targets: list[tuple[int, Block]] = []
        cursor.expect("[")
        while not cursor.accept("]"):
            if targets:
                cursor.expect(",")
            number = cursor.integer()
            cursor.expect(":")
            targets.append((number, self._used_block()))
        return Cases(tuple(targets))
