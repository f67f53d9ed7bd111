"""Declarations of runtime entries and LLVM intrinsics, and the fixed frame of every module."""

from __future__ import annotations

from kavachc.ir.runtime_calls import RUNTIME_CALLS, RUNTIME_VARIABLES, RuntimeCall

_TYPES = {
    "none": "void",
    "pointer": "ptr",
    "int64": "i64",
    "int32": "i32",
    "float": "double",
    "bool": "i1 zeroext",
}
_EFFECTS = {
    "any": "nounwind",
    "ends": "nounwind cold noreturn",
    "allocates": "nounwind",
    "reads": "nounwind willreturn memory(read)",
    "small": "nounwind",
}

# Header fields of blocks never alias elements, so that loops keep lengths and counts in registers.
_ALIAS_CLASSES = ("count", "length", "capacity", "i64", "double", "i8", "ptr", "i32")
_ALIAS_TAGS = {name: f", !tbaa !{2 + 2 * number}" for number, name in enumerate(_ALIAS_CLASSES)}
_AFTER_TAGS = 1 + 2 * len(_ALIAS_CLASSES)
LENGTH_RANGE = f", !range !{_AFTER_TAGS}"
UNLIKELY = f", !prof !{_AFTER_TAGS + 1}"
LIKELY = f", !prof !{_AFTER_TAGS + 2}"

INTRINSICS = """\
declare { i64, i1 } @llvm.sadd.with.overflow.i64(i64, i64)
declare { i64, i1 } @llvm.ssub.with.overflow.i64(i64, i64)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare ptr @llvm.stacksave.p0()
declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)
declare token @llvm.coro.id(i32, ptr, ptr, ptr)
declare i64 @llvm.coro.size.i64()
declare ptr @llvm.coro.begin(token, ptr)
declare i8 @llvm.coro.suspend(token, i1)
declare ptr @llvm.coro.free(token, ptr)
declare void @llvm.coro.end(ptr, i1, token)
declare void @llvm.coro.resume(ptr)
"""
# Large frames touch every page of the stack in turn, so that none steps over the guard page.
ATTRIBUTES = 'attributes #0 = { nounwind "probe-stack"="inline-asm" }\n'


def alias_tag(name: str) -> str:
    """What a load or store of this kind carries; nothing for aggregates."""
    return _ALIAS_TAGS.get(name, "")


def metadata() -> str:
    lines = ['!0 = !{!"kavach"}']
    for number, name in enumerate(_ALIAS_CLASSES):
        lines.append(f'!{1 + 2 * number} = !{{!"{name}", !0, i64 0}}')
        lines.append(f"!{2 + 2 * number} = !{{!{1 + 2 * number}, !{1 + 2 * number}, i64 0}}")
    lines.append(f"!{_AFTER_TAGS} = !{{i64 0, i64 {2**63 - 1}}}")
    lines.append(f'!{_AFTER_TAGS + 1} = !{{!"branch_weights", i32 1, i32 1048575}}')
    lines.append(f'!{_AFTER_TAGS + 2} = !{{!"branch_weights", i32 1048575, i32 1}}')
    return "\n".join(lines) + "\n"


class RuntimeDeclarations:
    """Writes calls of runtime entries, and remembers which a module uses."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def use(self, name: str) -> str:
        """The symbol of the entry."""
        self._used.add(name)
        return "@" + name

    def call(self, name: str, *arguments: str) -> str:
        """The call; `arguments` are operands without types."""
        row = RUNTIME_CALLS[name]
        typed = ", ".join(
            f"{_TYPES[kind]} {argument}" for kind, argument in zip(row.parameters, arguments, strict=True)
        )
        return f"call {_result_type(row)} {self.use(name)}({typed})"

    def lines(self) -> list[str]:
        variables = [f"@{name} = external global ptr" for name in RUNTIME_VARIABLES]
        return variables + [_declaration(row) for row in RUNTIME_CALLS.values() if row.name in self._used]


def _result_type(row: RuntimeCall) -> str:
    result = _TYPES[row.result]
    return "zeroext i1" if row.result == "bool" else result


def _declaration(row: RuntimeCall) -> str:
    result = "noalias ptr" if row.effect == "allocates" else _result_type(row)
    parameters = ", ".join(_TYPES[kind] for kind in row.parameters)
    return f"declare {result} @{row.name}({parameters}) {_EFFECTS[row.effect]}"
