"""Emits one function: what all op emitters write through.

Results of instructions are LLVM operands by name; constants are operands themselves. A function that waits becomes a
coroutine ramp `ptr f(parameters…, ptr caller, i64 depth, ptr out, ptr parent)`: it suspends at once, and hands its
frame back. Kavach.h tells how coroutines call, return and wait. `caller` leads to the calls around (trace.zig), `depth`
is how many recursive ones they are (spec 4.depth).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from kavachc.backend.llvm_constants import ROOT
from kavachc.backend.llvm_runtime import LENGTH_RANGE, UNLIKELY, alias_tag
from kavachc.ir.facts import is_counted
from kavachc.ir.module import Block, Function, Instruction, Local, Location, Value
from kavachc.ir.runtime_calls import HERE, RUNTIME_CALLS
from kavachc.ir.types import BOOL, IrType

if TYPE_CHECKING:
    from kavachc.backend.llvm_emit import Emission

# Writes one instruction, and gives the operand that stands for its result ("" when it has none).
Emitter: TypeAlias = "Callable[[FunctionEmitter, Instruction], str]"

_COROUTINE_ENTRY = """\
  %id = call token @llvm.coro.id(i32 0, ptr null, ptr null, ptr null)
  %size = call i64 @llvm.coro.size.i64()
  %memory = {allocate}
  %frame = call ptr @llvm.coro.begin(token %id, ptr %memory)
  %started = call i8 @llvm.coro.suspend(token none, i1 false)
  switch i8 %started, label %suspended [i8 0, label %body
    i8 1, label %destroyed]
body:
"""
# The parent is read before the frame goes. Frames are never destroyed from outside, so that path does not exist.
_COROUTINE_EXIT = """\
finish:
  %parent.now = load ptr, ptr %parent.at
  %memory.now = call ptr @llvm.coro.free(token %id, ptr %frame)
  {free}
  {resume_parent}
  br label %suspended
destroyed:
  unreachable
suspended:
  call void @llvm.coro.end(ptr %frame, i1 false, token none)
  ret ptr %frame
"""
TEXT_SIZE = 24
# LLVM's time grows with the square of a function's length: one that is longer than this is not optimised. Coroutines
# are: to split one that is not takes even longer.
LINES_MAX = 40_000
HUGE = "noinline optnone "
# Where the function was called, and what called its caller, in the arguments of a panic; known only when it is read.
_CALLED_AT = "ptr %called.site, ptr %called.parent"


class FunctionEmitter:
    """Invariant: `lines` ends inside the block named `label`, before its terminator."""

    def __init__(self, emission: Emission, function: Function) -> None:
        self.emission = emission
        self.layouts = emission.layouts
        self.runtime = emission.runtime
        self.helpers = emission.helpers
        self.function = function
        self.lines: list[str] = []
        self.label = "entry"
        self._cold_lines: list[str] = []
        self._count = 0
        # At the end of each instruction, where there is debug information.
        self._place = ""
        self._operands: dict[Value, str] = {}
        self._labels = {block: f"b{number}" for number, block in enumerate(function.blocks)}
        self._locals = {local: f"%local{number}" for number, local in enumerate(function.locals)}
        self._panic_blocks: dict[str, str] = {}
        self._scratch_size = 0
        self._needs_text = False
        # It tells others where it calls them from.
        self._calls = False
        self._instruction: Instruction | None = None
        self._is_told = False
        is_outermost = function.name in emission.called_by_runtime
        self.caller = ROOT if is_outermost else "%caller"
        self.depth = "0" if is_outermost else "%depth"

    # Operands.

    def operand(self, value: Value) -> str:
        return self._operands[value]

    def typed(self, value: Value) -> str:
        return f"{self.layouts.register_type(value.type)} {self._operands[value]}"

    def arguments(self, values: list[Value]) -> str:
        return ", ".join([self.typed(value) for value in values])

    def member(self, value: Value) -> str:
        """The operand with its type, as it stands in memory and in aggregates."""
        if value.type == BOOL:
            return "i8 " + self.assign(f"zext i1 {self._operands[value]} to i8")
        return f"{self.layouts.memory_type(value.type)} {self._operands[value]}"

    def from_member(self, type: IrType, operand: str) -> str:
        return self.assign(f"trunc nuw i8 {operand} to i1") if type == BOOL else operand

    def is_counted(self, type: IrType) -> bool:
        return is_counted(type, self.emission.module)

    def local(self, local: Local) -> str:
        return self._locals[local]

    def block_label(self, block: Block) -> str:
        return self._labels[block]

    # Writing.

    def fresh(self, hint: str) -> str:
        self._count += 1
        return f"{hint}{self._count}"

    def write(self, text: str) -> None:
        self.lines.append(f"  {text}{self._place}")

    def assign(self, text: str) -> str:
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"  {name} = {text}{self._place}")
        return name

    def start_block(self, label: str) -> None:
        self.lines.append(label + ":")
        self.label = label

    def call(self, name: str, *arguments: str) -> str:
        """A runtime entry with a result."""
        if RUNTIME_CALLS[name].needs_memory:
            self.tell_place()
        return self.assign(self.runtime.call(name, *arguments))

    def perform(self, name: str, *arguments: str) -> None:
        """A runtime entry without one."""
        if RUNTIME_CALLS[name].needs_memory:
            self.tell_place()
        self.write(self.runtime.call(name, *arguments))

    # Memory.

    def at(self, address: str, offset: int) -> str:
        return address if offset == 0 else self.assign(f"getelementptr inbounds nuw i8, ptr {address}, i64 {offset}")

    def load(self, type: IrType, address: str) -> str:
        memory_type = self.layouts.memory_type(type)
        return self.from_member(type, self.assign(f"load {memory_type}, ptr {address}{alias_tag(memory_type)}"))

    def store(self, value: Value, address: str) -> None:
        tag = alias_tag(self.layouts.memory_type(value.type))
        self.write(f"store {self.member(value)}, ptr {address}{tag}")

    def load_header(self, block: str, offset: int, name: str) -> str:
        """`name`: count, length or capacity."""
        known = LENGTH_RANGE if name == "length" else ""
        return self.assign(f"load i64, ptr {self.at(block, offset)}{alias_tag(name)}{known}")

    def store_header(self, value: str, block: str, offset: int, name: str) -> None:
        self.write(f"store i64 {value}, ptr {self.at(block, offset)}{alias_tag(name)}")

    def retain(self, type: IrType, operand: str) -> None:
        self.write(f"call void {self.helpers.retain(type)}({self.layouts.memory_type(type)} {operand})")

    def release(self, type: IrType, operand: str) -> None:
        self.write(f"call void {self.helpers.release(type)}({self.layouts.memory_type(type)} {operand})")

    def scratch(self, size: int) -> str:
        """Memory for one outcome or answer at a time; in a coroutine it lives across suspends."""
        self._scratch_size = max(self._scratch_size, size)
        return "%scratch"

    def text_memory(self) -> str:
        self._needs_text = True
        return "%text"

    # Control.

    def site(self, instruction: Instruction) -> str:
        function = self.function
        location = instruction.location or function.location or Location(1, 1)
        return self.emission.constants.site(function.file, function.title, location)

    def place(self, instruction: Instruction) -> str:
        """Where a panic happens, as two arguments: the site, and who called this function; that of its call, where the
        trace does not show this function."""
        if self.function.title is None and self.caller != ROOT:
            return _CALLED_AT
        return f"ptr {self.site(instruction)}, ptr {self.caller}"

    def as_caller(self, instruction: Instruction) -> str:
        """The kv_caller for a call: this function at the call's site, or, where the trace shall not know of the call,
        the function's own caller."""
        texts, caller = self._caller_at(instruction)
        for text in texts:
            self.write(text)
        return caller

    def _caller_at(self, instruction: Instruction) -> tuple[list[str], str]:
        """What makes the kv_caller, and where it is then."""
        if self.function.title is None or instruction.location is None:
            return [], self.caller
        self._calls = True
        return [f"store ptr {self.site(instruction)}, ptr %here.site"], "%here"

    def telling_place(self) -> list[str]:
        """What tells the runtime where the program is: it stands before all that may need memory."""
        assert self._instruction is not None
        texts, here = self._caller_at(self._instruction)
        return [*texts, f"store ptr {here}, ptr @{HERE}"]

    def tell_place(self) -> None:
        """Once is enough for an instruction."""
        if not self._is_told:
            self._is_told = True
            for text in self.telling_place():
                self.write(text)

    def panic_if(self, condition: str, panic: str) -> None:
        """`panic` is the call that ends the program; the same one is written once."""
        label = self._panic_blocks.get(panic)
        if label is None:
            label = self._panic_blocks[panic] = self.fresh("panic")
            self.write_cold(label, [panic, "unreachable"])
        self._branch_unlikely(condition, label)

    def panic_of(self, kind: str, instruction: Instruction) -> str:
        return f"call void {self.helpers.panic(kind)}({self.place(instruction)})"

    def _branch_unlikely(self, condition: str, label: str) -> None:
        going_on = self.fresh("on")
        self.write(f"br i1 {condition}, label %{label}, label %{going_on}{UNLIKELY}")
        self.start_block(going_on)

    def write_cold(self, label: str, texts: list[str]) -> None:
        """A block that is seldom entered; it stands after all others."""
        self._cold_lines.append(label + ":")
        self._cold_lines.extend([f"  {text}{self._place}" for text in texts])

    def _with_callers_from_memory(self) -> list[str]:
        """The cold lines, in which a panic after a call need not have kept the function's caller in a register."""
        lines: list[str] = []
        for line in self._cold_lines:
            before, found, after = line.partition(f"ptr {self.caller})")
            if found:
                name = self.fresh("%known")
                lines.append(f"  {name} = load ptr, ptr %here")
                line = f"{before}ptr {name}){after}"
            lines.append(line)
        return lines

    def _with_call_read(self, lines: list[str]) -> list[str]:
        """The lines, where `_CALLED_AT` is read from the function's kv_caller."""
        read: list[str] = []
        for line in lines:
            if _CALLED_AT in line:
                parent, at, site = (self.fresh("%called") for _ in range(3))
                read.append(f"  {parent} = load ptr, ptr {self.caller}")
                read.append(f"  {at} = getelementptr i8, ptr {self.caller}, i64 8\n  {site} = load ptr, ptr {at}")
                line = line.replace(_CALLED_AT, f"ptr {site}, ptr {parent}")
            read.append(line)
        return read

    def suspend(self) -> None:
        result = self.assign("call i8 @llvm.coro.suspend(token none, i1 false)")
        resumed = self.fresh("resumed")
        self.write(f"switch i8 {result}, label %suspended [i8 0, label %{resumed}\n    i8 1, label %destroyed]")
        self.start_block(resumed)

    # The whole function.

    def emit(self, emitters: dict[str, Emitter]) -> str:
        for number, parameter in enumerate(self.function.parameters):
            self._operands[parameter] = f"%p{number}"
        for block in _in_order(self.function.blocks[0]):
            self.start_block(self._labels[block])
            for instruction in block.instructions:
                self._go_to(instruction.location)
                self._instruction, self._is_told = instruction, False
                operand = emitters[instruction.op.name](self, instruction)
                if instruction.result is not None:
                    self._operands[instruction.result] = operand
        waits = self.function.waits
        debug = "" if self.emission.debug is None else self.emission.debug.function(self.function)
        cold_lines = self._with_callers_from_memory() if self._calls else self._cold_lines
        lines = self.lines + cold_lines
        is_huge = len(lines) > LINES_MAX and not waits
        self.emission.has_huge = self.emission.has_huge or is_huge
        attributes = "presplitcoroutine " * waits + HUGE * is_huge + "#0"
        parts = [f"define internal {self._signature()} {attributes}{debug} {{"]
        parts.extend(self._entry())
        parts.extend(self._with_call_read(lines) if self.function.title is None else lines)
        if waits:
            free = self.runtime.call("kv_frame_free", "%memory.now")
            parts.append(_COROUTINE_EXIT.format(free=free, resume_parent=self.runtime.call("kv_return", "%parent.now")))
        parts.append("}\n")
        return "\n".join(parts)

    def _go_to(self, location: Location | None) -> None:
        """What is written next belongs to this place."""
        if self.emission.debug is not None:
            place = location or self.function.location or Location(1, 1)
            self._place = self.emission.debug.location(self.function, place)

    def _signature(self) -> str:
        function = self.function
        parameters = [self.typed(parameter) for parameter in function.parameters]
        if self.caller != ROOT:
            parameters += [f"ptr {self.caller}", f"i64 {self.depth}"]
        name = self.emission.function_names[function.name]
        if function.waits:
            return f"ptr {name}({', '.join([*parameters, 'ptr %out', 'ptr %parent'])})"
        return f"{self.emission.result_type(function.call_type)} {name}({', '.join(parameters)})"

    def _entry(self) -> list[str]:
        lines = ["entry:"]
        if self._calls:
            lines.append("  %here = alloca { ptr, ptr }\n  %here.site = getelementptr i8, ptr %here, i64 8")
        for local, name in self._locals.items():
            lines.append(f"  {name} = alloca {self.layouts.memory_type(local.type)}")
        if self._scratch_size:
            lines.append(f"  %scratch = alloca [{self._scratch_size} x i8], align 8")
        if self._needs_text:
            lines.append(f"  %text = alloca [{TEXT_SIZE} x i8], align 8")
        if self.function.waits:
            lines.append("  %parent.at = alloca ptr\n  store ptr %parent, ptr %parent.at")
            allocate = self.runtime.call("kv_frame_allocate", "%size")
            lines.append(f"  store ptr {self.caller}, ptr @{HERE}")
            lines.append(_COROUTINE_ENTRY.format(allocate=allocate).rstrip("\n"))
        if self._calls:
            lines.append(f"  store ptr {self.caller}, ptr %here")
        lines.append("  br label %b0")
        return lines


def _in_order(entry: Block) -> list[Block]:
    """The blocks that can be reached, each after the ones that dominate it."""
    finished: list[Block] = []
    seen = {entry}
    stack = [(entry, iter(entry.successors()))]
    while stack:
        block, successors = stack[-1]
        for successor in successors:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(successor.successors())))
                break
        else:
            finished.append(block)
            stack.pop()
    finished.reverse()
    return finished
