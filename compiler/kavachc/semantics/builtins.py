"""The built-in functions and methods: one row each, from which every other fact about them is derived.

The checker types calls by these rows. What only computes has, by its `key`, one line in `interpreter/library.py`, one
row in `ir/library.py` and one export of the runtime (`library_*.zig`); the others have one implementation each in
`interpreter/builtins.py` and `lower/builtins.py`. Tests check that none is missing.
"""

from __future__ import annotations

from kavachc.semantics.builtin_row import Builtin, Default, method
from kavachc.semantics.types import (
    BOOL,
    DURATION,
    ERROR,
    FLOAT,
    INSTANT,
    INT,
    NOTHING,
    STRING,
    ArrayType,
    MapType,
    OptionalType,
    TaskType,
    TupleType,
    TypeVariable,
)

T = TypeVariable("T")
K = TypeVariable("K")
V = TypeVariable("V")
COMPARED = TypeVariable("T", ("Eq",))
ORDERED = TypeVariable("T", ("Ord",))
# Any value that can be shown (spec 2.show).
SHOWN = TypeVariable("Shown")


# What stands before the dot of functions that belong together and only compute.
NAMESPACES = ("json",)
BUILTIN_CAPABILITIES = ("Ai", "Console", "Time", "Random", "Env", "Files", "Http")


_STRINGS = ArrayType(STRING)
_ARRAY = ArrayType(T)
_COMPARED = ArrayType(COMPARED)
_MAP = MapType(K, V)

_STRING_ROWS = (
    method("string.len", STRING, "", (), INT, "The number of characters (Unicode code points)."),
    method("string.byte_len", STRING, "", (), INT, "The number of bytes in UTF-8."),
    method("string.is_empty", STRING, "", (), BOOL, "Whether it has no characters."),
    method("string.chars", STRING, "", (), _STRINGS, "Its characters, each as a String."),
    method(
        "string.lines",
        STRING,
        "",
        (),
        _STRINGS,
        "Its lines, without their ends `\\n` or `\\r\\n`; a line break at the end begins no further line.",
    ),
    method(
        "string.split",
        STRING,
        "separator",
        (STRING,),
        _STRINGS,
        "The parts between the separators, empty ones too. An empty separator is a panic.",
    ),
    method("string.trim", STRING, "", (), STRING, "Without the white space at both ends."),
    method(
        "string.contains",
        STRING,
        "part",
        (STRING,),
        BOOL,
        "Whether `part` stands anywhere in it. The empty text stands everywhere.",
    ),
    method("string.starts_with", STRING, "start", (STRING,), BOOL, "Whether it begins with `start`."),
    method("string.ends_with", STRING, "end", (STRING,), BOOL, "Whether it ends with `end`."),
    method("string.index_of", STRING, "part", (STRING,), OptionalType(INT), "At which character `part` first begins."),
    method(
        "string.replace",
        STRING,
        "old new",
        (STRING, STRING),
        STRING,
        "With `new` for every `old`, from left to right. An empty `old` is a panic.",
    ),
    method(
        "string.to_upper",
        STRING,
        "",
        (),
        STRING,
        "In upper case, character by character; one whose upper case is several characters stays.",
    ),
    method(
        "string.to_lower",
        STRING,
        "",
        (),
        STRING,
        "In lower case, character by character; one whose lower case is several characters stays.",
    ),
    method(
        "string.slice",
        STRING,
        "from to",
        (INT, INT),
        STRING,
        "The characters `from` up to, but without, `to`. Out of range is a panic.",
    ),
    method(
        "string.repeat",
        STRING,
        "count",
        (INT,),
        STRING,
        "The text `count` times, one after the other. A negative count is a panic.",
    ),
    method("string.reverse", STRING, "", (), STRING, "Its characters from the last to the first."),
    method(
        "string.pad_left",
        STRING,
        "width fill",
        (INT, STRING),
        STRING,
        "With `fill` before it until it is `width` characters long. A `fill` other than one character is a panic.",
    ),
    method(
        "string.pad_right",
        STRING,
        "width fill",
        (INT, STRING),
        STRING,
        "With `fill` after it until it is `width` characters long. A `fill` other than one character is a panic.",
    ),
    method(
        "string.to_int",
        STRING,
        "",
        (),
        OptionalType(INT),
        "The Int that it writes: digits, perhaps after a sign, and nothing else.",
    ),
    method(
        "string.to_float",
        STRING,
        "",
        (),
        OptionalType(FLOAT),
        "The Float that it writes: digits, perhaps a sign, a point with digits, an exponent; or `nan`, `inf`, `-inf`.",
    ),
)
_URL_ENCODE = method(
    "string.url_encode",
    STRING,
    "",
    (),
    STRING,
    "As it stands for itself in a path or a query: every byte of it but letters, digits and `-._~` as `%E4`.",
)
_NUMBER_ROWS = (
    method("int.abs", INT, "", (), INT, "Without its sign. Of the least Int, a panic."),
    method("int.min", INT, "other", (INT,), INT, "The smaller of the two."),
    method("int.max", INT, "other", (INT,), INT, "The larger of the two."),
    method("int.clamp", INT, "low high", (INT, INT), INT, "The nearest of `low`..=`high`. An empty range is a panic."),
    method(
        "int.pow",
        INT,
        "exponent",
        (INT,),
        INT,
        "To the power of `exponent`. Overflow and a negative exponent are panics.",
    ),
    method("int.to_float", INT, "", (), FLOAT, "The nearest Float; of two equally near, the even one."),
    method("float.abs", FLOAT, "", (), FLOAT, "Without its sign."),
    method(
        "float.min", FLOAT, "other", (FLOAT,), FLOAT, "The smaller of the two: `nan` if one is, and -0.0 before 0.0."
    ),
    method(
        "float.max", FLOAT, "other", (FLOAT,), FLOAT, "The larger of the two: `nan` if one is, and 0.0 before -0.0."
    ),
    method("float.floor", FLOAT, "", (), FLOAT, "The next whole number down."),
    method("float.ceil", FLOAT, "", (), FLOAT, "The next whole number up."),
    method(
        "float.round", FLOAT, "", (), FLOAT, "The nearest whole number; of two equally near, the one further from zero."
    ),
    method("float.trunc", FLOAT, "", (), FLOAT, "The next whole number toward zero."),
    method(
        "float.sqrt", FLOAT, "", (), FLOAT, "The square root, rounded to the nearest Float; `nan` of less than zero."
    ),
    method("instant.since_1970", INSTANT, "", (), DURATION, "The time since 1970-01-01T00:00:00Z, which is zero."),
    method("duration.after_1970", DURATION, "", (), INSTANT, "The Instant so long after 1970-01-01T00:00:00Z."),
    method("float.is_nan", FLOAT, "", (), BOOL, "Whether it is `nan`."),
    method("float.to_int", FLOAT, "", (), OptionalType(INT), "Its whole part, or `none` where that is no Int."),
    method(
        "float.to_fixed",
        FLOAT,
        "decimals",
        (INT,),
        STRING,
        "As text with so many decimals, `(2.5).to_fixed(2)` is `2.50`: the nearest such text, of two equally near the "
        "one with an even last digit. Decimals outside 0..=100 are a panic.",
    ),
)
_GUARD_DATE = method("guard.date", INT, "month day", (INT, INT), INT, "The year of a day that there is.")
# What stands around an argument of a library function that is written in Kavach, by the parameter's name: so that the
# panic's place is the call's. What takes a Date's parts stands around a Date.
GUARDS = {
    "date": _GUARD_DATE,
    "later": _GUARD_DATE,
    "instant_date": method("guard.instant", INT, "month day", (INT, INT), INT, "The year of a day of the Instants."),
    "count": method("guard.count", INT, "", (), INT, "The count, which is not negative."),
    "size": method("guard.size", INT, "", (), INT, "The size, which is at least 1."),
}
_ARRAY_ROWS = (
    method("array.len", _ARRAY, "", (), INT, "The number of elements."),
    method("array.is_empty", _ARRAY, "", (), BOOL, "Whether it has no elements."),
    method("array.first", _ARRAY, "", (), OptionalType(T), "The first element."),
    method("array.last", _ARRAY, "", (), OptionalType(T), "The last element."),
    method("array.contains", _COMPARED, "value", (COMPARED,), BOOL, "Whether some element is equal to `value`."),
    method(
        "array.index_of",
        _COMPARED,
        "value",
        (COMPARED,),
        OptionalType(INT),
        "Where the first element equal to `value` stands.",
    ),
    method("array.reverse", _ARRAY, "", (), _ARRAY, "A copy, from the last element to the first."),
    method(
        "array.slice",
        _ARRAY,
        "from to",
        (INT, INT),
        _ARRAY,
        "A copy of the elements `from` up to, but without, `to`. Out of range is a panic.",
    ),
    method("array.concat", _ARRAY, "other", (_ARRAY,), _ARRAY, "A copy, with the elements of `other` after its own."),
    method(
        "array.repeat",
        _ARRAY,
        "count",
        (INT,),
        _ARRAY,
        "A copy of the array `count` times, one after the other. A negative count is a panic.",
    ),
    method(
        "array.sort",
        ArrayType(ORDERED),
        "",
        (),
        ArrayType(ORDERED),
        "A copy, from the least element to the greatest; equal ones keep their order, and `nan` comes last.",
    ),
    method(
        "array.join",
        _STRINGS,
        "separator",
        (STRING,),
        STRING,
        "Its texts, one after the other, with the separator between two.",
    ),
    method(
        "array.sum_int",
        ArrayType(INT),
        "",
        (),
        INT,
        "The sum of its elements, from left to right. Overflow is a panic.",
    ),
    method("array.sum_float", ArrayType(FLOAT), "", (), FLOAT, "The sum of its elements, from left to right."),
    method("array.push", _ARRAY, "value", (T,), NOTHING, "Adds an element at the end.", mutates=True),
    method("array.pop", _ARRAY, "", (), OptionalType(T), "Takes the last element away, and gives it.", mutates=True),
    method(
        "array.insert",
        _ARRAY,
        "index value",
        (INT, T),
        NOTHING,
        "Puts `value` before the element at `index`, or at the end. Out of range is a panic.",
        mutates=True,
    ),
    method(
        "array.remove_at",
        _ARRAY,
        "index",
        (INT,),
        T,
        "Takes the element at `index` away, and gives it. Out of range is a panic.",
        mutates=True,
    ),
    method("array.clear", _ARRAY, "", (), NOTHING, "Takes all elements away.", mutates=True),
)

_MAP_ROWS = (
    method("map.len", _MAP, "", (), INT, "The number of keys."),
    method("map.get", _MAP, "key", (K,), OptionalType(V), "The key's value, if it is there."),
    method("map.contains", _MAP, "key", (K,), BOOL, "Whether the key is there."),
    method("map.keys", _MAP, "", (), ArrayType(K), "The keys, in the order in which they came."),
    method("map.values", _MAP, "", (), ArrayType(V), "The values, in the order of their keys."),
    method("map.entries", _MAP, "", (), ArrayType(TupleType((K, V))), "The keys with their values, in order."),
    method(
        "map.set",
        _MAP,
        "key value",
        (K, V),
        NOTHING,
        "Puts the value at the key: in the place of the one that is there, otherwise at the end.",
        mutates=True,
    ),
    method(
        "map.remove",
        _MAP,
        "key",
        (K,),
        OptionalType(V),
        "Takes the key away, and gives its value, if it is there.",
        mutates=True,
    ),
)

_HEADERS = ("headers", MapType(STRING, STRING))
_TIMEOUT = ("timeout", DURATION)
_HTTP_DEFAULTS = (("headers", Default("[:]", None)), ("timeout", Default("30s", 30_000_000_000)))
# The record of the prelude.
HTTP_ANSWER = "HttpAnswer"

BUILTINS: tuple[Builtin, ...] = (
    Builtin(
        "print",
        "print",
        None,
        (("value", SHOWN),),
        NOTHING,
        "Writes the value and a line break.",
        effect="Console",
    ),
    *_STRING_ROWS,
    _URL_ENCODE,
    *_NUMBER_ROWS,
    *_ARRAY_ROWS,
    *_MAP_ROWS,
    Builtin(
        "task.wait",
        "wait",
        TaskType(T),
        (),
        T,
        "The call's result, when it has one.",
        error=ERROR,
        waits=True,
    ),
    Builtin(
        "task.wait_for",
        "wait_for",
        TaskType(T),
        (("limit", DURATION),),
        T,
        "The call's result, if it has one within `limit`; otherwise fails with `TimedOut`, and the task goes on.",
        error=ERROR,
        waits=True,
    ),
    Builtin("task.cancel", "cancel", TaskType(T), (), NOTHING, "Ends the task at its next wait."),
    Builtin("time.sleep", "sleep", "Time", (("duration", DURATION),), NOTHING, "Waits.", effect="Time", waits=True),
    Builtin(
        "json.encode",
        "encode",
        "json",
        (("value", T),),
        STRING,
        "The value as JSON, without white space. A Float that is no number is a panic.",
    ),
    Builtin(
        "json.decode",
        "decode",
        "json",
        (("text", STRING),),
        T,
        "The value of the type `T` that the text is as JSON, exactly: `json.decode<Order>(text)`.",
        error="JsonError",
    ),
    Builtin("time.now", "now", "Time", (), INSTANT, "The UTC time.", effect="Time"),
    Builtin(
        "env.get",
        "get",
        "Env",
        (("name", STRING),),
        OptionalType(STRING),
        "An environment variable, or `none` where it is not set.",
        effect="Env",
    ),
    Builtin(
        "env.args", "args", "Env", (), ArrayType(STRING), "The program's arguments, without its name.", effect="Env"
    ),
    Builtin(
        "random.int",
        "int",
        "Random",
        (("low", INT), ("high", INT)),
        INT,
        "One of `low`..=`high`, each as likely. An empty range is a panic.",
        effect="Random",
    ),
    Builtin("random.float", "float", "Random", (), FLOAT, "At least 0.0, and less than 1.0.", effect="Random"),
    Builtin(
        "random.seed",
        "seed",
        "Random",
        (("seed", INT),),
        NOTHING,
        "From here on the numbers are those that follow from `seed`.",
        effect="Random",
    ),
    Builtin(
        "files.read",
        "read",
        "Files",
        (("path", STRING),),
        STRING,
        "The text of a file.",
        error="FileError",
        effect="Files",
    ),
    Builtin(
        "files.write",
        "write",
        "Files",
        (("path", STRING), ("text", STRING)),
        NOTHING,
        "Makes the text the whole of a file, which is made if it is not there.",
        error="FileError",
        effect="Files",
    ),
    Builtin(
        "files.append",
        "append",
        "Files",
        (("path", STRING), ("text", STRING)),
        NOTHING,
        "Adds the text at the end of a file, which is made if it is not there.",
        error="FileError",
        effect="Files",
    ),
    Builtin(
        "files.remove",
        "remove",
        "Files",
        (("path", STRING),),
        NOTHING,
        "Takes a file away. A folder is not taken away.",
        error="FileError",
        effect="Files",
    ),
    Builtin(
        "files.exists",
        "exists",
        "Files",
        (("path", STRING),),
        BOOL,
        "Whether there is a file or a directory of this name.",
        effect="Files",
    ),
    Builtin(
        "http.get",
        "get",
        "Http",
        (("url", STRING), _HEADERS, _TIMEOUT),
        HTTP_ANSWER,
        "What the server answers, whatever its status.",
        error="HttpError",
        effect="Http",
        waits=True,
        defaults=_HTTP_DEFAULTS,
    ),
    Builtin(
        "http.post",
        "post",
        "Http",
        (("url", STRING), ("body", STRING), _HEADERS, _TIMEOUT),
        HTTP_ANSWER,
        "What the server answers to the body, whatever its status.",
        error="HttpError",
        effect="Http",
        waits=True,
        defaults=_HTTP_DEFAULTS,
    ),
)
