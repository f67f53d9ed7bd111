"""Debug information of an emitted module: its files, functions and lines, for `kavachc build -g` (DWARF 4).

define internal i64 @"fn.pick"(…) #0 !dbg !100003 {
  %v1 = add i64 %p0, 1, !dbg !100004
"""

from __future__ import annotations

import os

from kavachc.backend.llvm_constants import quoted_bytes
from kavachc.ir.module import Function, Location

# The module's other metadata have numbers of their own, from 0 on.
_FIRST = 100_000
_UNIT, _TYPE = _FIRST, _FIRST + 1


class DebugInfo:
    """Each file, function and place once, numbered in the order of first use."""

    def __init__(self, main_file: str) -> None:
        self._lines: list[str] = []
        self._numbers: dict[object, int] = {}
        self._next = _FIRST + 4
        file = self._file(main_file)
        self._unit = (
            f"!{_UNIT} = distinct !DICompileUnit(language: DW_LANG_C99, file: !{file}, "
            'producer: "kavachc", isOptimized: false, runtimeVersion: 0, emissionKind: FullDebug)'
        )

    def function(self, function: Function) -> str:
        """What stands before the `{` of its definition."""
        return f" !dbg !{self._subprogram(function)}"

    def location(self, function: Function, location: Location) -> str:
        """What stands at the end of an instruction."""
        scope = self._subprogram(function)
        text = f"!DILocation(line: {location.line}, column: {location.column}, scope: !{scope})"
        return f", !dbg !{self._number((function.name, location), text)}"

    def text(self) -> str:
        flags = ('!{i32 2, !"Debug Info Version", i32 3}', '!{i32 7, !"Dwarf Version", i32 4}')
        head = [
            f"!llvm.dbg.cu = !{{!{_UNIT}}}",
            f"!llvm.module.flags = !{{!{_FIRST + 2}, !{_FIRST + 3}}}",
            self._unit,
            f"!{_TYPE} = !DISubroutineType(types: !{{}})",
            *(f"!{_FIRST + 2 + number} = {flag}" for number, flag in enumerate(flags)),
        ]
        return "\n".join([*head, *self._lines]) + "\n"

    def _subprogram(self, function: Function) -> int:
        file = self._file(function.file)
        line = function.location.line if function.location else 1
        name = _text(function.title or function.name)
        text = (
            f"distinct !DISubprogram(name: {name}, scope: !{file}, file: !{file}, line: {line}, type: !{_TYPE}, "
            f"scopeLine: {line}, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !{_UNIT})"
        )
        return self._number(function.name, text)

    def _file(self, path: str) -> int:
        text = f"!DIFile(filename: {_text(path)}, directory: {_text(os.getcwd())})"
        return self._number(("file", path), text)

    def _number(self, key: object, text: str) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._next
            self._next += 1
            self._lines.append(f"!{number} = {text}")
        return number


def _text(text: str) -> str:
    """A string of metadata: as a constant's bytes, without their `c`."""
    return quoted_bytes(text.encode("utf-8", "surrogateescape"))[1:]
