"""The entries of the library that are functions of the runtime: one row each, by the key of its row in
`semantics/builtins.py`. The op `builtin` calls them, `builtin.change` those that change an array in place, and
`builtin.wait` those that may suspend the task.

`builtin "array.first" %xs : optional<int>` is, by the row, a call of

    void kv_lib_array_first(kv_array *, const kv_type *element, void *out)

An entry is given its operands, all borrowed; the descriptor of each type variable; where the result goes, if that is
no word; and the panic's place, if it panics. An array that is changed is given by the address of what holds it. One
that waits is given the coroutine last, and says whether its result is there already; otherwise it is when the coroutine
is resumed. A test compares the rows with the signatures in the Zig source.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kavachc.ir.errors import IrError
from kavachc.ir.types import (
    BOOL,
    DURATION,
    FLOAT,
    INSTANT,
    INT,
    NOTHING,
    STRING,
    Address,
    Array,
    IrType,
    Map,
    Named,
    Optional,
    Tuple,
    made_of,
)

# The variable of the rows: no module has a type of this name.
T = Named("<T>")
_STRINGS = Array(STRING)
_ARRAY = Array(T)
_CHANGED = Address(_ARRAY)
_HEADERS = Map(STRING, STRING)
# How it ended (a kv_web_status), the answer's status, its headers, and its body or what there is to say.
_WEB_ANSWER = Tuple((INT, INT, _HEADERS, STRING))


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    key: str
    parameters: tuple[IrType, ...]
    result: IrType
    panics: bool = False
    waits: bool = False
    symbol: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "symbol", "kv_lib_" + self.key.replace(".", "_"))

    @property
    def changes(self) -> bool:
        """Its first operand is the address of an array."""
        return bool(self.parameters) and isinstance(self.parameters[0], Address)

    @property
    def is_generic(self) -> bool:
        return any(_mentions(type) for type in (*self.parameters, self.result))

    @property
    def needs_memory(self) -> bool:
        """It makes more than a word, or changes an array."""
        return self.changes or any(_is_block(type) for type in (self.result, *made_of(self.result)))

    def variable(self, types: list[IrType]) -> IrType | None:
        """What the variable stands for when the operands have these types, which must be right; None without one."""
        if len(types) != len(self.parameters):
            raise IrError(f"{self.key} takes {len(self.parameters)} operands, not {len(types)}")
        found: IrType | None = None
        for type, wanted in zip(types, self.parameters, strict=True):
            found = _match(wanted, type, found)
        return found

    def bound(self, declared: IrType, variable: IrType | None) -> IrType:
        """A type of the row with what its variable stands for."""
        return declared if variable is None else _replace(declared, variable)


def in_memory(declared: IrType) -> bool:
    """Whether an operand or a result of this type in a row is passed by address: what is no word."""
    return declared == T or isinstance(declared, Optional | Tuple)


def _mentions(type: IrType) -> bool:
    return type == T or any(_mentions(part) for part in made_of(type))


def _is_block(type: IrType) -> bool:
    return type in (STRING, T) or isinstance(type, Array)


def _match(wanted: IrType, type: IrType, found: IrType | None) -> IrType | None:
    if wanted == T:
        if found is not None and found != type:
            raise IrError(f"{type} stands where {found} is wanted")
        return type
    if isinstance(wanted, Array) and isinstance(type, Array):
        return _match(wanted.element, type.element, found)
    if isinstance(wanted, Address) and isinstance(type, Address):
        return _match(wanted.target, type.target, found)
    if wanted != type:
        raise IrError(f"{type} stands where {wanted} is wanted")
    return found


def _replace(type: IrType, variable: IrType) -> IrType:
    if type == T:
        return variable
    if isinstance(type, Array):
        return Array(_replace(type.element, variable))
    if isinstance(type, Optional):
        return Optional(_replace(type.element, variable))
    return type


def _row(key: str, *types: IrType, panics: bool = False, waits: bool = False) -> LibraryEntry:
    """`types` are the operands' and then the result's."""
    return LibraryEntry(key, types[:-1], types[-1], panics, waits)


_ROWS = (
    # Strings.
    _row("string.len", STRING, INT),
    _row("string.byte_len", STRING, INT),
    _row("string.is_empty", STRING, BOOL),
    _row("string.chars", STRING, _STRINGS),
    _row("string.lines", STRING, _STRINGS),
    _row("string.split", STRING, STRING, _STRINGS, panics=True),
    _row("string.trim", STRING, STRING),
    _row("string.contains", STRING, STRING, BOOL),
    _row("string.starts_with", STRING, STRING, BOOL),
    _row("string.ends_with", STRING, STRING, BOOL),
    _row("string.index_of", STRING, STRING, Optional(INT)),
    _row("string.replace", STRING, STRING, STRING, STRING, panics=True),
    _row("string.to_upper", STRING, STRING),
    _row("string.to_lower", STRING, STRING),
    _row("string.slice", STRING, INT, INT, STRING, panics=True),
    _row("string.repeat", STRING, INT, STRING, panics=True),
    _row("string.reverse", STRING, STRING),
    _row("string.pad_left", STRING, INT, STRING, STRING, panics=True),
    _row("string.pad_right", STRING, INT, STRING, STRING, panics=True),
    _row("string.to_int", STRING, Optional(INT)),
    _row("string.to_float", STRING, Optional(FLOAT)),
    _row("string.url_encode", STRING, STRING),
    # Numbers.
    _row("int.abs", INT, INT, panics=True),
    _row("int.min", INT, INT, INT),
    _row("int.max", INT, INT, INT),
    _row("int.clamp", INT, INT, INT, INT, panics=True),
    _row("int.pow", INT, INT, INT, panics=True),
    _row("int.to_float", INT, FLOAT),
    _row("float.abs", FLOAT, FLOAT),
    _row("float.min", FLOAT, FLOAT, FLOAT),
    _row("float.max", FLOAT, FLOAT, FLOAT),
    _row("float.floor", FLOAT, FLOAT),
    _row("float.ceil", FLOAT, FLOAT),
    _row("float.round", FLOAT, FLOAT),
    _row("float.trunc", FLOAT, FLOAT),
    _row("float.sqrt", FLOAT, FLOAT),
    _row("float.is_nan", FLOAT, BOOL),
    _row("float.to_int", FLOAT, Optional(INT)),
    _row("float.to_fixed", FLOAT, INT, STRING, panics=True),
    _row("instant.since_1970", INSTANT, DURATION),
    _row("duration.after_1970", DURATION, INSTANT),
    _row("guard.date", INT, INT, INT, INT, panics=True),
    _row("guard.instant", INT, INT, INT, INT, panics=True),
    _row("guard.count", INT, INT, panics=True),
    _row("guard.size", INT, INT, panics=True),
    # Arrays.
    _row("array.is_empty", _ARRAY, BOOL),
    _row("array.first", _ARRAY, Optional(T)),
    _row("array.last", _ARRAY, Optional(T)),
    _row("array.contains", _ARRAY, T, BOOL),
    _row("array.index_of", _ARRAY, T, Optional(INT)),
    _row("array.reverse", _ARRAY, _ARRAY),
    _row("array.slice", _ARRAY, INT, INT, _ARRAY, panics=True),
    _row("array.concat", _ARRAY, _ARRAY, _ARRAY),
    _row("array.repeat", _ARRAY, INT, _ARRAY, panics=True),
    _row("array.sort", _ARRAY, _ARRAY),
    _row("array.join", _STRINGS, STRING, STRING),
    _row("array.sum_int", Array(INT), INT, panics=True),
    _row("array.sum_float", Array(FLOAT), FLOAT),
    _row("array.pop", _CHANGED, Optional(T)),
    _row("array.insert", _CHANGED, INT, T, NOTHING, panics=True),
    _row("array.remove_at", _CHANGED, INT, T, panics=True),
    _row("array.clear", _CHANGED, NOTHING),
    # JSON.
    _row("json.encode", T, STRING, panics=True),
    # What needs the host. Of a file: a kv_file_status, and what was read or the reason.
    _row("env.get", STRING, Optional(STRING)),
    _row("env.args", _STRINGS),
    _row("random.int", INT, INT, INT, panics=True),
    _row("random.float", FLOAT),
    _row("random.seed", INT, NOTHING),
    _row("files.read", STRING, Tuple((INT, STRING))),
    _row("files.write", STRING, STRING, Tuple((INT, STRING))),
    _row("files.append", STRING, STRING, Tuple((INT, STRING))),
    _row("files.remove", STRING, Tuple((INT, STRING))),
    _row("files.exists", STRING, BOOL),
    # First: the number of the agent that sends.
    _row("http.get", INT, STRING, _HEADERS, DURATION, _WEB_ANSWER, waits=True),
    _row("http.post", INT, STRING, STRING, _HEADERS, DURATION, _WEB_ANSWER, waits=True),
)
LIBRARY: dict[str, LibraryEntry] = {row.key: row for row in _ROWS}

_WORDS: dict[IrType, str] = {
    INT: "int64",
    DURATION: "int64",
    INSTANT: "int64",
    FLOAT: "float",
    BOOL: "bool",
    NOTHING: "none",
}


def carried(declared: IrType) -> str:
    """How the ABI carries an operand or a result of this type in a row (`runtime_calls.Carried`)."""
    return "pointer" if in_memory(declared) else _WORDS.get(declared, "pointer")
