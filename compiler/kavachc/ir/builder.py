"""Makes functions, instruction by instruction: what the lowering writes with.

The types of results come from `typing_rules.py`, so a wrong operand is found where it is written. Callees must be in
`module.functions` (perhaps still without blocks) before the first call of them is built, and the tables of types
must be complete.
"""

from __future__ import annotations

from collections.abc import Sequence

from kavachc.ir.errors import IrError
from kavachc.ir.facts import is_counted, member_types, variant_of
from kavachc.ir.module import Attribute, Block, Cases, Function, Instruction, Local, Location, Module, Value
from kavachc.ir.ops import OPS
from kavachc.ir.types import INT, Address, Array, Box, IrType
from kavachc.ir.typing_rules import result_type


class FunctionBuilder:
    """Writes into `block` of `function`, at its end. It starts in a new block `entry`.

    Every instruction made while `location` is set carries it, unless it is given its own.
    """

    def __init__(self, function: Function, module: Module) -> None:
        self.function = function
        self.module = module
        self.location: Location | None = None
        self._taken_names: dict[str, int] = {}
        self.block = self.new_block("entry")

    # Blocks, locals, instructions in general.

    def new_block(self, hint: str) -> Block:
        """A block at the end of the function, named after `hint`. Building goes on in the current one."""
        block = Block(self._unique_name(hint, "block "))
        self.function.blocks.append(block)
        return block

    def new_local(self, hint: str, type: IrType) -> Local:
        """An empty local, named after `hint`."""
        local = Local(self._unique_name(hint, "local "), type)
        self.function.locals.append(local)
        return local

    def _unique_name(self, hint: str, family: str) -> str:
        count = self._taken_names.get(family + hint, 0)
        self._taken_names[family + hint] = count + 1
        if count == 0:
            return hint
        # `x1` may itself have been a hint, so the numbered name is claimed too.
        return self._unique_name(f"{hint}{count}", family)

    def position(self, block: Block) -> None:
        """Goes on at the end of `block`."""
        self.block = block

    @property
    def is_terminated(self) -> bool:
        """The current block has its terminator: nothing more can be written there."""
        return bool(self.block.instructions) and self.block.terminator.op.terminator

    def emit(
        self,
        op_name: str,
        *operands: Value,
        attributes: Sequence[Attribute] = (),
        type: IrType | None = None,
        location: Location | None = None,
    ) -> Value:
        """Writes an instruction that has a result, and gives the result."""
        result = self._write(op_name, operands, attributes, type, location)
        if result is None:
            raise IrError(f"{op_name} has no result: use perform")
        return result

    def perform(
        self,
        op_name: str,
        *operands: Value,
        attributes: Sequence[Attribute] = (),
        location: Location | None = None,
    ) -> None:
        """Writes an instruction that has no result."""
        if self._write(op_name, operands, attributes, None, location) is not None:
            raise IrError(f"{op_name} has a result: use emit")

    def _write(
        self,
        op_name: str,
        operands: Sequence[Value],
        attributes: Sequence[Attribute],
        type: IrType | None,
        location: Location | None,
    ) -> Value | None:
        op = OPS[op_name]
        if self.is_terminated:
            raise IrError(f"{self.function.name}: {op_name} after the end of the block {self.block.name}")
        values = list(operands)
        try:
            found = result_type(op, values, tuple(attributes), type, self.function, self.module)
        except IrError as error:
            raise IrError(f"{self.function.name}, {self.block.name}, {op_name}: {error}") from None
        if type is not None and found != type:
            raise IrError(f"{self.function.name}, {self.block.name}: {op_name} gives {found}, not {type}")
        result = None if found is None else Value(found)
        self.block.instructions.append(Instruction(op, values, tuple(attributes), result, location or self.location))
        return result

    # Constants.

    def int_const(self, value: int, type: IrType = INT) -> Value:
        """An int, duration or instant."""
        return self.emit("const.int", attributes=(value,), type=type)

    def float_const(self, value: float) -> Value:
        return self.emit("const.float", attributes=(value,))

    def bool_const(self, value: bool) -> Value:
        return self.emit("const.bool", attributes=(value,))

    def string_const(self, value: str) -> Value:
        return self.emit("const.string", attributes=(value,))

    def nothing(self) -> Value:
        return self.emit("const.nothing")

    # Ownership, locals, addresses.

    def is_counted(self, type: IrType) -> bool:
        return is_counted(type, self.module)

    def copy(self, value: Value) -> Value:
        """An owned copy; the value itself when its type is not counted."""
        return self.emit("copy", value) if self.is_counted(value.type) else value

    def release(self, value: Value) -> None:
        """Gives up an owned value; nothing when its type is not counted."""
        if self.is_counted(value.type):
            self.perform("release", value)

    def local_get(self, local: Local) -> Value:
        return self.emit("local.get", attributes=(local,))

    def local_set(self, local: Local, value: Value) -> None:
        self.perform("local.set", value, attributes=(local,))

    def local_take(self, local: Local) -> Value:
        return self.emit("local.take", attributes=(local,))

    def local_drop(self, local: Local) -> None:
        """Empties a full local; nothing when its type is not counted."""
        if self.is_counted(local.type):
            self.release(self.local_take(local))

    def local_address(self, local: Local) -> Value:
        return self.emit("local.address", attributes=(local,))

    def field_address(self, address: Value, field: int) -> Value:
        """Where the field itself is, also where it is stored in a box."""
        found = self.emit("field.address", address, attributes=(field,))
        is_box = isinstance(found.type, Address) and isinstance(found.type.target, Box)
        return self.emit("box.address", found) if is_box else found

    def element_address(self, address: Value, index: Value, location: Location | None = None) -> Value:
        return self.emit("element.address", address, index, location=location)

    def load(self, address: Value) -> Value:
        return self.emit("load", address)

    def store(self, address: Value, value: Value) -> None:
        self.perform("store", address, value)

    def array_push(self, address: Value, element: Value) -> None:
        self.perform("array.push", address, element)

    # Operators.

    def compare(self, op_name: str, predicate: str, left: Value, right: Value) -> Value:
        """`op_name`: int.compare, float.compare or string.compare."""
        return self.emit(op_name, left, right, attributes=(predicate,))

    def equal(self, left: Value, right: Value) -> Value:
        return self.emit("equal", left, right)

    def bool_not(self, value: Value) -> Value:
        return self.emit("bool.not", value)

    def int_step(self, value: Value) -> Value:
        return self.emit("int.step", value)

    def text_make(self, parts: Sequence[Value]) -> Value:
        return self.emit("text.make", *parts)

    # Records, sums, arrays, errors.

    def record_make(self, type: IrType, fields: Sequence[Value]) -> Value:
        """`fields` in the order of the record or tuple; those that it stores in boxes are put there."""
        return self.emit("record.make", *self._boxed(fields, member_types(type, self.module)), type=type)

    def record_get(self, record: Value, field: int) -> Value:
        """The field itself, also where it is stored in a box."""
        return self._unboxed(self.emit("record.get", record, attributes=(field,)))

    def _boxed(self, values: Sequence[Value], wanted: Sequence[IrType]) -> list[Value]:
        return [
            self.emit("box.make", value) if isinstance(type, Box) else value
            for value, type in zip(values, wanted, strict=True)
        ]

    def _unboxed(self, value: Value) -> Value:
        return self.emit("box.get", value) if isinstance(value.type, Box) else value

    def variant_make(self, type: IrType, variant: int, fields: Sequence[Value]) -> Value:
        wanted = [field.type for field in variant_of(type, variant, self.module).fields]
        return self.emit("variant.make", *self._boxed(fields, wanted), attributes=(variant,), type=type)

    def variant_tag(self, value: Value) -> Value:
        return self.emit("variant.tag", value)

    def variant_get(self, value: Value, variant: int, field: int) -> Value:
        return self._unboxed(self.emit("variant.get", value, attributes=(variant, field)))

    def optional_none(self, type: IrType) -> Value:
        return self.emit("optional.none", type=type)

    def optional_some(self, value: Value) -> Value:
        return self.emit("optional.some", value)

    def optional_is(self, value: Value) -> Value:
        return self.emit("optional.is", value)

    def optional_get(self, value: Value) -> Value:
        return self.emit("optional.get", value)

    def array_make(self, element: IrType, elements: Sequence[Value]) -> Value:
        return self.emit("array.make", *elements, type=Array(element))

    def array_length(self, array: Value) -> Value:
        return self.emit("array.length", array)

    def array_get(self, array: Value, index: Value, location: Location | None = None) -> Value:
        return self.emit("array.get", array, index, location=location)

    def array_rest(self, array: Value, start: Value) -> Value:
        return self.emit("array.rest", array, start)

    def array_at(self, array: Value, index: Value) -> Value:
        return self.emit("array.at", array, index)

    def error_make(self, value: Value) -> Value:
        return self.emit("error.make", value)

    def error_is(self, error: Value, type: IrType) -> Value:
        return self.emit("error.is", error, attributes=(type,))

    def error_get(self, error: Value, type: IrType) -> Value:
        return self.emit("error.get", error, type=type)

    # Calls and tasks.

    def call(self, function: str, arguments: Sequence[Value], depth: str, location: Location | None) -> Value:
        """`depth` is `counted` or `plain`. The result is an outcome when the callee can fail or may wait."""
        return self.emit("call", *arguments, attributes=(function, depth), location=location)

    def call_capability(
        self,
        value: Value,
        capability: str,
        method: int,
        arguments: Sequence[Value],
        depth: str,
        location: Location | None,
    ) -> Value:
        attributes = (capability, method, depth)
        return self.emit("call.capability", value, *arguments, attributes=attributes, location=location)

    def outcome_status(self, outcome: Value) -> Value:
        return self.emit("outcome.status", outcome)

    def outcome_value(self, outcome: Value) -> Value:
        return self.emit("outcome.value", outcome)

    def outcome_error(self, outcome: Value) -> Value:
        return self.emit("outcome.error", outcome)

    def outcome_none(self, outcome: Value) -> None:
        self.perform("outcome.none", outcome)

    def spawn(self, function: str, arguments: Sequence[Value]) -> Value:
        return self.emit("spawn", *arguments, attributes=(function,))

    def ask(self, agent: Value, prompt: Value, type: IrType, *texts: str) -> Value:
        return self.emit("ask", agent, prompt, attributes=(type, *texts))

    def decode(self, json: Value, type: IrType) -> Value:
        return self.emit("decode", json, type=type)

    # Agents and capabilities.

    def agent_make(self, agent: int, capabilities: Sequence[Value]) -> Value:
        return self.emit("agent.make", *capabilities, attributes=(agent,))

    def agent_capability(self, agent: Value, index: int) -> Value:
        return self.emit("agent.capability", agent, attributes=(index,))

    def capability_make(self, vtable: str, payload: Value) -> Value:
        return self.emit("capability.make", payload, attributes=(vtable,))

    def capability_payload(self, capability: Value, type: IrType) -> Value:
        return self.emit("capability.payload", capability, type=type)

    # Terminators.

    def jump(self, block: Block) -> None:
        self.perform("jump", attributes=(block,))

    def branch(self, condition: Value, then: Block, otherwise: Block) -> None:
        self.perform("branch", condition, attributes=(then, otherwise))

    def switch(self, value: Value, cases: Sequence[tuple[int, Block]], otherwise: Block) -> None:
        self.perform("switch", value, attributes=(Cases(tuple(cases)), otherwise))

    def return_value(self, value: Value) -> None:
        self.perform("return", value)

    def fail(self, error: Value) -> None:
        self.perform("fail", error)

    def return_cancelled(self) -> None:
        self.perform("return.cancelled")

    def unreachable(self) -> None:
        self.perform("unreachable")
