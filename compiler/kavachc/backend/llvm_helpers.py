"""Internal helper functions of an emitted module, made when first asked for.

Whatever needs the address of a value on the stack is a function of its own that takes the value: the caller's
variables then stay in registers, and coroutine frames small.
"""

from __future__ import annotations

from collections.abc import Callable

from kavachc.backend.layout import BOX_VALUE_OFFSET, LENGTH_OFFSET, Layouts
from kavachc.backend.llvm_constants import Constants, global_name
from kavachc.backend.llvm_descriptors import Descriptors
from kavachc.backend.llvm_library import library_function, library_name
from kavachc.backend.llvm_runtime import LENGTH_RANGE, RuntimeDeclarations, alias_tag
from kavachc.ir.facts import is_counted, named
from kavachc.ir.library import LibraryEntry, in_memory
from kavachc.ir.module import Record, Sum
from kavachc.ir.panics import CALLS_TOO_DEEP, DIVISION_BY_ZERO, INTEGER_OVERFLOW, STACK_OVERFLOW
from kavachc.ir.types import ANSWER, BOOL, FLOAT, STRING, Array, Box, IrType, Named, Optional, Scalar, Task, Tuple

PANICS = {"overflow": INTEGER_OVERFLOW, "division": DIVISION_BY_ZERO, "depth": CALLS_TOO_DEEP, "stack": STACK_OVERFLOW}


class Helpers:
    """`retain(type)`, `release(type)` and so on give the symbol of the function that does it to one value."""

    def __init__(
        self, layouts: Layouts, constants: Constants, descriptors: Descriptors, runtime: RuntimeDeclarations
    ) -> None:
        self._layouts = layouts
        self._constants = constants
        self._descriptors = descriptors
        self._runtime = runtime
        self._made: dict[str, str] = {}

    @property
    def texts(self) -> list[str]:
        return list(self._made.values())

    def define(self, name: str, signature: str, attributes: str, body: Callable[[], str]) -> str:
        """The symbol of a function for what only one file of emitters needs."""
        return self._function(name, signature, attributes, body)

    def _function(self, name: str, signature: str, attributes: str, body: Callable[[], str]) -> str:
        """`signature` has `@` where the symbol goes."""
        symbol = global_name(name)
        if name not in self._made:
            self._made[name] = ""  # Claimed first: the body may ask for it again.
            head = signature.replace("@", symbol, 1)
            self._made[name] = f"define internal {head} {attributes} {{\n{body()}}}\n"
        return symbol

    # Counting.

    def retain(self, type: IrType) -> str:
        if self._layouts.memory_type(type) != "ptr":
            return self._each_part("retain", type, self.retain)
        return self._function("retain", "void @(ptr %block)", "alwaysinline #0", lambda: _RETAIN)

    def release(self, type: IrType) -> str:
        if self._layouts.memory_type(type) != "ptr":
            return self._each_part("release", type, self.release)
        if type == STRING or (isinstance(type, Array) and not is_counted(type.element, self._layouts.module)):
            return self._release_block("block", self._runtime.call("kv_free", "%block"))
        if isinstance(type, Task):
            return self._release_block("task", self._runtime.call("kv_task_free", "%block"))
        free = self._function(f"free.{type}", "void @(ptr %block)", "cold noinline #0", lambda: self._free(type))
        return self._release_block(str(type), f"call void {free}(ptr %block)")

    def _release_block(self, name: str, free: str) -> str:
        body = _RELEASE.replace("FREE", free)
        return self._function(f"release.{name}", "void @(ptr %block)", "alwaysinline #0", lambda: body)

    def _free(self, type: IrType) -> str:
        call = self._runtime.call("kv_release_value", self._descriptors.type(type), "%slot")
        return f"  %slot = alloca ptr\n  store ptr %block, ptr %slot\n  {call}\n  ret void\n"

    def _each_part(self, verb: str, type: IrType, of_part: Callable[[IrType], str]) -> str:
        """Does it to every counted part of the aggregate."""
        memory_type = self._layouts.memory_type(type)
        signature = f"void @({memory_type} %value)"
        return self._function(f"{verb}.{type}", signature, "#0", lambda: self._each_part_body(type, of_part))

    def _each_part_body(self, type: IrType, of_part: Callable[[IrType], str]) -> str:
        memory_type = self._layouts.memory_type(type)
        if type == ANSWER:
            return self._parts(memory_type, [(2, STRING)], of_part, "") + "  ret void\n"
        if isinstance(type, Tuple):
            return self._parts(memory_type, list(enumerate(type.elements)), of_part, "") + "  ret void\n"
        if isinstance(type, Optional):
            present = self._parts(memory_type, [(1, type.element)], of_part, "")
            return (
                f"  %tag = extractvalue {memory_type} %value, 0\n  %present = icmp ne i32 %tag, 0\n"
                f"  br i1 %present, label %some, label %end\nsome:\n{present}  br label %end\nend:\n  ret void\n"
            )
        assert isinstance(type, Named)
        declared = named(type.name, self._layouts.module)
        if isinstance(declared, Record):
            parts = [(number, field.type) for number, field in enumerate(declared.fields)]
            return self._parts(memory_type, parts, of_part, "") + "  ret void\n"
        assert isinstance(declared, Sum)
        cases: list[str] = []
        blocks: list[str] = []
        for number, variant in enumerate(declared.variants):
            parts = [
                (self._layouts.member_of_variant(type, number, at), field.type)
                for at, field in enumerate(variant.fields)
            ]
            body = self._parts(memory_type, parts, of_part, f"{number}.")
            if body:
                cases.append(f"i32 {number}, label %variant{number}")
                blocks.append(f"variant{number}:\n{body}  br label %end\n")
        return (
            f"  %tag = extractvalue {memory_type} %value, 0\n"
            f"  switch i32 %tag, label %end [{' '.join(cases)}]\n{''.join(blocks)}end:\n  ret void\n"
        )

    def _parts(
        self, memory_type: str, parts: list[tuple[int, IrType]], of_part: Callable[[IrType], str], prefix: str
    ) -> str:
        lines: list[str] = []
        for member, type in parts:
            if is_counted(type, self._layouts.module):
                part = f"%part{prefix}{member}"
                lines.append(f"  {part} = extractvalue {memory_type} %value, {member}\n")
                lines.append(f"  call void {of_part(type)}({self._layouts.memory_type(type)} {part})\n")
        return "".join(lines)

    # Comparison.

    def equal(self, type: IrType) -> str:
        """For types that no single instruction compares."""
        register_type = self._layouts.register_type(type)
        signature = f"i1 @({register_type} %left, {register_type} %right)"
        if type == STRING:
            return self._function("equal.string", signature, "#0", self._equal_strings)
        if isinstance(type, Tuple):
            return self._function(
                f"equal.{type}", signature, "#0", lambda: self._equal_members(register_type, type.elements)
            )
        if isinstance(type, Named):
            declared = named(type.name, self._layouts.module)
            if isinstance(declared, Record):
                types = tuple([field.type for field in declared.fields])
                return self._function(
                    f"equal.{type}", signature, "#0", lambda: self._equal_members(register_type, types)
                )
            if isinstance(declared, Sum) and not any(variant.fields for variant in declared.variants):
                return self._function(f"equal.{type}", signature, "alwaysinline #0", lambda: _equal_tags(register_type))
        return self._function(f"equal.{type}", signature, "noinline #0", lambda: self._equal_in_memory(type))

    def _equal_strings(self) -> str:
        call = self._runtime.call("kv_string_equal", "%left", "%right")
        tag = alias_tag("length")
        return (
            f"  %left.at = getelementptr inbounds i8, ptr %left, i64 {LENGTH_OFFSET}\n"
            f"  %right.at = getelementptr inbounds i8, ptr %right, i64 {LENGTH_OFFSET}\n"
            f"  %left.length = load i64, ptr %left.at{tag}{LENGTH_RANGE}\n"
            f"  %right.length = load i64, ptr %right.at{tag}{LENGTH_RANGE}\n"
            "  %same = icmp eq i64 %left.length, %right.length\n"
            "  br i1 %same, label %compare, label %differ\n"
            f"compare:\n  %equal = {call}\n  ret i1 %equal\n"
            "differ:\n  ret i1 false\n"
        )

    def _equal_members(self, record_type: str, types: tuple[IrType, ...]) -> str:
        lines: list[str] = []
        result = "true"
        for number, type in enumerate(types):
            memory_type = self._layouts.memory_type(type)
            left, right, equal = f"%left{number}", f"%right{number}", f"%equal{number}"
            lines.append(f"  {left} = extractvalue {record_type} %left, {number}\n")
            lines.append(f"  {right} = extractvalue {record_type} %right, {number}\n")
            comparison = self.comparison(type, memory_type, left, right)
            lines.append(f"  {equal} = {comparison}\n  %all{number} = and i1 {result}, {equal}\n")
            result = f"%all{number}"
        return "".join(lines) + f"  ret i1 {result}\n"

    def comparison(self, type: IrType, llvm_type: str, left: str, right: str) -> str:
        """The instruction that says whether two values are equal."""
        if type == FLOAT:
            return f"fcmp oeq double {left}, {right}"
        if isinstance(type, Scalar) and llvm_type != "ptr":
            return f"icmp eq {llvm_type} {left}, {right}"
        return f"call i1 {self.equal(type)}({llvm_type} {left}, {llvm_type} {right})"

    def _equal_in_memory(self, type: IrType) -> str:
        memory_type = self._layouts.memory_type(type)
        call = self._runtime.call("kv_equal", self._descriptors.type(type), "%left.at", "%right.at")
        return (
            f"  %left.at = alloca {memory_type}\n  %right.at = alloca {memory_type}\n"
            f"  store {memory_type} %left, ptr %left.at\n  store {memory_type} %right, ptr %right.at\n"
            f"  %equal = {call}\n  ret i1 %equal\n"
        )

    # Through memory: showing, decoding, arrays that must be made anew.

    def text(self, type: IrType) -> str:
        memory_type = self._layouts.memory_type(type)

        def body() -> str:
            call = self._runtime.call("kv_text_value", "%text", self._descriptors.type(type), "%at")
            return f"  %at = alloca {memory_type}\n  store {memory_type} %value, ptr %at\n  {call}\n  ret void\n"

        return self._function(f"text.{type}", f"void @(ptr %text, {memory_type} %value)", "noinline #0", body)

    def decode(self, type: IrType) -> str:
        memory_type = self._layouts.memory_type(type)

        def body() -> str:
            call = self._runtime.call("kv_decode", self._descriptors.type(type), "%json", "%at")
            load = f"  %at = alloca {memory_type}\n  {call}\n  %value = load {memory_type}, ptr %at\n"
            if type == BOOL:
                return load + "  %bit = trunc i8 %value to i1\n  ret i1 %bit\n"
            return load + f"  ret {memory_type} %value\n"

        return self._function(
            f"decode.{type}", f"{self._layouts.register_type(type)} @(ptr %json)", "noinline #0", body
        )

    def unique(self, element: IrType) -> str:
        return self._array("unique", element, "kv_array_unique")

    def grow(self, element: IrType) -> str:
        return self._array("grow", element, "kv_array_grow")

    def unique_box(self, type: Box) -> str:
        """A box of its own with what the shared one holds, which loses an owner."""
        element, count = type.element, alias_tag("count")
        memory_type = self._layouts.memory_type(element)
        size = BOX_VALUE_OFFSET + self._layouts.size(element)

        def body() -> str:
            retain = f"  call void {self.retain(element)}({memory_type} %value)\n"
            return (
                f"  %made = {self._runtime.call('kv_allocate', str(size))}\n"
                f"  %from = getelementptr inbounds i8, ptr %box, i64 {BOX_VALUE_OFFSET}\n"
                f"  %to = getelementptr inbounds i8, ptr %made, i64 {BOX_VALUE_OFFSET}\n"
                f"  %value = load {memory_type}, ptr %from\n  store {memory_type} %value, ptr %to\n"
                f"{retain if is_counted(element, self._layouts.module) else ''}"
                f"  %count = load i64, ptr %box{count}\n  %less = add nsw i64 %count, -1\n"
                f"  store i64 %less, ptr %box{count}\n  ret ptr %made\n"
            )

        return self._function(f"unique.{type}", "ptr @(ptr %box)", "cold noinline #0", body)

    def _array(self, verb: str, element: IrType, entry: str) -> str:
        def body() -> str:
            call = self._runtime.call(entry, "%slot", self._descriptors.type(element))
            return (
                f"  %slot = alloca ptr\n  store ptr %array, ptr %slot\n  {call}\n"
                "  %made = load ptr, ptr %slot\n  ret ptr %made\n"
            )

        return self._function(f"{verb}.{element}", "ptr @(ptr %array)", "cold noinline #0", body)

    def library(self, entry: LibraryEntry, variable: IrType | None) -> str:
        """Takes the operands, and the place where the entry panics."""
        signature, body = library_function(entry, variable, self._layouts, self._descriptors, self._runtime)
        # Apart from the caller, whose frame need not hold what is passed by address.
        passes_memory = any(in_memory(type) for type in (*entry.parameters, entry.result))
        attributes = "noinline #0" if passes_memory else "alwaysinline #0"
        return self._function(library_name(entry, variable), signature, attributes, body)

    # Panics.

    def panic(self, kind: str) -> str:
        """Takes the place; `kind` is a key of PANICS."""

        def body() -> str:
            message = PANICS[kind].encode()
            at = self._constants.bytes_at(message)
            return f"  {self._runtime.call('kv_panic', at, str(len(message)), '%site', '%caller')}\n  unreachable\n"

        return self._function(f"panic.{kind}", "void @(ptr %site, ptr %caller)", "cold noinline noreturn #0", body)


def _equal_tags(type: str) -> str:
    return (
        f"  %left.tag = extractvalue {type} %left, 0\n  %right.tag = extractvalue {type} %right, 0\n"
        "  %equal = icmp eq i32 %left.tag, %right.tag\n  ret i1 %equal\n"
    )


_COUNT = alias_tag("count")
_RETAIN = f"""\
  %count = load i64, ptr %block{_COUNT}
  %static = icmp eq i64 %count, 0
  br i1 %static, label %end, label %counted
counted:
  %more = add nuw nsw i64 %count, 1
  store i64 %more, ptr %block{_COUNT}
  br label %end
end:
  ret void
"""
_RELEASE = f"""\
  %count = load i64, ptr %block{_COUNT}
  %shared = icmp ugt i64 %count, 1
  br i1 %shared, label %decrease, label %last
decrease:
  %less = add nsw i64 %count, -1
  store i64 %less, ptr %block{_COUNT}
  ret void
last:
  %static = icmp eq i64 %count, 0
  br i1 %static, label %end, label %free
free:
  FREE
  br label %end
end:
  ret void
"""
