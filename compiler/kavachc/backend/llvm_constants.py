"""Constant data of an emitted module: bytes, static strings, and the places that panics name."""

from __future__ import annotations

from kavachc.ir.module import Location

_PLAIN_BYTES = {byte for byte in range(0x20, 0x7F) if byte not in b'"\\'}
_BYTE_TEXTS = [chr(byte) if byte in _PLAIN_BYTES else f"\\{byte:02X}" for byte in range(256)]
# What called `main`, and whatever else the runtime calls: the end of every trace.
ROOT = "@root"
ROOT_LINE = f"{ROOT} = private constant {{ ptr, ptr }} zeroinitializer, align 8"
NO_TEXT = "{ ptr, i64 } zeroinitializer"


def global_name(name: str) -> str:
    """The LLVM name of something of the compiler's own, whose `name` may hold an IR type with quotes in it."""
    return '@"' + name.replace('"', "") + '"'


def quoted_bytes(data: bytes) -> str:
    """The constant as LLVM writes it."""
    return 'c"' + "".join([_BYTE_TEXTS[byte] for byte in data]) + '"'


class Constants:
    """Each constant once, in the order of first use, so that output is the same every time."""

    def __init__(self) -> None:
        self.lines: list[str] = [ROOT_LINE]
        self._bytes: dict[bytes, str] = {}
        self._strings: dict[bytes, str] = {}
        self._sites: dict[tuple[str, str | None, Location], str] = {}
        self._starts: dict[str, str] = {}
        self._traced_functions: dict[tuple[str, str | None], str] = {}
        self._empty_array = ""
        self._empty_map = ""
        self._element_tables = 0

    def bytes_at(self, data: bytes) -> str:
        """The name of the bytes, without a count before them."""
        name = self._bytes.get(data)
        if name is None:
            name = self._bytes[data] = f"@bytes.{len(self._bytes)}"
            self.lines.append(f"{name} = private unnamed_addr constant [{len(data)} x i8] {quoted_bytes(data)}")
        return name

    def text_view(self, text: str | None) -> str:
        """A kv_text_view, with its type."""
        if text is None:
            return NO_TEXT
        data = text.encode()
        return f"{{ ptr, i64 }} {{ ptr {self.bytes_at(data)}, i64 {len(data)} }}"

    def string(self, text: str) -> str:
        """A kv_string that is never counted."""
        data = text.encode()
        name = self._strings.get(data)
        if name is None:
            name = self._strings[data] = f"@string.{len(self._strings)}"
            type = f"{{ i64, i64, [{len(data)} x i8] }}"
            value = f"{{ i64 0, i64 {len(data)}, [{len(data)} x i8] {quoted_bytes(data)} }}"
            self.lines.append(f"{name} = private unnamed_addr constant {type} {value}, align 8")
        return name

    def elements(self, type: str, operands: list[str]) -> str:
        """The elements of an array, side by side; each operand is a constant of 8 bytes."""
        name = f"@elements.{self._element_tables}"
        self._element_tables += 1
        content = ", ".join([f"{type} {operand}" for operand in operands])
        self.lines.append(f"{name} = private unnamed_addr constant [{len(operands)} x {type}] [{content}], align 8")
        return name

    def empty_array(self) -> str:
        """A kv_array that is never counted: writing to it makes another first."""
        if not self._empty_array:
            self._empty_array = "@array.empty"
            self.lines.append("@array.empty = private unnamed_addr constant { i64, i64, i64 } zeroinitializer, align 8")
        return self._empty_array

    def empty_map(self) -> str:
        """A kv_map that is never counted: writing to it makes another first."""
        if not self._empty_map:
            self._empty_map = "@map.empty"
            zeros = "{ i64, i64, i64, i64 } zeroinitializer"
            self.lines.append(f"@map.empty = private unnamed_addr constant {zeros}, align 8")
        return self._empty_map

    def site(self, file: str, title: str | None, location: Location) -> str:
        """The name of a kv_site: a place in a function of this title."""
        key = (file, title, location)
        name = self._sites.get(key)
        if name is None:
            name = self._sites[key] = f"@site.{len(self._sites)}"
            function = self._traced_function(file, title)
            value = f"{{ ptr, i32, i32 }} {{ ptr {function}, i32 {location.line}, i32 {location.column} }}"
            self.lines.append(f"{name} = private unnamed_addr constant {value}, align 8")
        return name

    def start(self, site: str) -> str:
        """The name of a kv_caller: what starts a task at the site."""
        name = self._starts.get(site)
        if name is None:
            name = self._starts[site] = f"@start.{len(self._starts)}"
            self.lines.append(f"{name} = private constant {{ ptr, ptr }} {{ ptr null, ptr {site} }}, align 8")
        return name

    def _traced_function(self, file: str, title: str | None) -> str:
        name = self._traced_functions.get((file, title))
        if name is None:
            name = self._traced_functions[file, title] = f"@traced.{len(self._traced_functions)}"
            views = f"{self.text_view(title)}, {self.text_view(file)}"
            self.lines.append(
                f"{name} = private unnamed_addr constant {{ {{ ptr, i64 }}, {{ ptr, i64 }} }} {{ {views} }}, align 8"
            )
        return name


def is_static_block(operand: str) -> bool:
    """Whether the operand is a block with count 0, so that counting it does nothing."""
    return operand.startswith(("@string.", "@array.empty", "@map.empty", '@"function.'))
