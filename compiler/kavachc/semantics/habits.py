"""Names of other languages, and what to write for each: help for who knows those languages better (spec 12.habits)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kavachc.semantics.types import (
    BOOL,
    FLOAT,
    INSTANT,
    INT,
    STRING,
    ArrayType,
    MapType,
    OptionalType,
    PrimitiveType,
    TupleType,
    Type,
)
from kavachc.semantics.wording import single_spaced
from kavachc.syntax import ast

_VALUES: Final = {
    **dict.fromkeys(("null", "nil", "None", "NULL", "undefined", "nullptr", "Nothing"), "write `none`"),
    **dict.fromkeys(("True", "TRUE"), "write `true`"),
    **dict.fromkeys(("False", "FALSE"), "write `false`"),
    "this": "write `self`, the first parameter of a method",
    "pass": "leave it out: a block may be empty, `{ }`",
    "not": "write `!`",
    "console": "write `print(…)`",
    "fmt": "write `print(…)`",
    "Math": "functions of numbers are methods: `x.abs()`",
    "math": "functions of numbers are methods: `x.abs()`",
    "os": "write `Env.get(…)` or `Files.read(…)`",
    "sys": "write `Env.args()`; a program ends when `main` does: `return`, or `fail` for status 1",
    "JSON": "write `json.encode(value)` or `json.decode<T>(text)`",
    "System": "write `print(…)`, `Env.args()` or `Time.now()`",
    "NaN": "write `0.0 / 0.0`",
}

# `{0}` and `{1}` are the call's arguments.
_CALLS: Final = {
    **dict.fromkeys(("len", "length", "size", "strlen"), "write `{0}.len()`"),
    **dict.fromkeys(("str", "repr", "toString", "to_string", "Str"), 'write `"{{{0}}}"`: text shows any value'),
    **dict.fromkeys(("int", "parseInt", "parse_int", "atoi"), "write `{0}.to_int()`, which is `none` where it cannot"),
    **dict.fromkeys(("float", "parseFloat", "parse_float", "double"), "write `{0}.to_float()`"),
    **dict.fromkeys(("println", "printf", "puts", "echo", "log", "printLine"), "write `print({0})`"),
    **dict.fromkeys(
        ("input", "readline", "readLine", "read_line", "gets"), "a program has arguments, no keyboard: `Env.args()`"
    ),
    **dict.fromkeys(("eprint", "eprintln"), "write `print({0})`; what `main` fails with goes to stderr"),
    **dict.fromkeys(("random", "rand", "randint"), "write `Random.int(1, 6)` or `Random.float()`"),
    **dict.fromkeys(("exit", "quit"), "a program ends when `main` does: `return`, or `fail` for status 1"),
    **dict.fromkeys(
        ("typeof", "type_of", "isinstance"), "types are known when the program is built: `match` looks at variants"
    ),
    **dict.fromkeys(("throw", "raise"), "write `fail {0}`"),
    "await": "write `{0}.wait()`",
    "range": "write `0..{0}`",
    "sleep": "write `Time.sleep(5s)`, with a unit",
    "now": "write `Time.now()`",
    "open": "write `Files.read({0})`",
    **dict.fromkeys(
        ("format", "sprintf", "Sprintf"), 'put values into text with braces: `"{{value}}"`, `"{{value.to_fixed(2)}}"`'
    ),
    "abs": "write `{0}.abs()`",
    "round": "write `{0}.round()`",
    "max": "write `{0}.max({1})`",
    "min": "write `{0}.min({1})`",
    "pow": "write `{0}.pow({1})`",
    "sum": "write `{0}.sum()`",
    "sorted": "write `{0}.sort()`",
    "reversed": "write `{0}.reverse()`",
    "enumerate": "write `{0}.enumerate()`",
    "zip": "write `{0}.zip({1})`",
    "map": "write `{1}.map({0})`",
    "filter": "write `{1}.filter({0})`",
    **dict.fromkeys(("Set", "HashSet", "set"), "a map serves as a set: `let seen: [String: Bool] = [:]`"),
    **dict.fromkeys(("List", "Array", "Vec", "list"), "write `[…]`; an empty one with its type, `let xs: [Int] = []`"),
    **dict.fromkeys(
        ("Map", "Dict", "HashMap", "dict"), "write `[k: v]`; an empty one with its type, `let m: [String: Int] = [:]`"
    ),
    **dict.fromkeys(("Some", "Just"), "write `{0}`: a value is present by itself"),
    "Ok": "write `{0}`: what succeeds gives its value",
    "Err": "write `fail {0}`",
    "getenv": "write `Env.get({0})`",
    "switch": "write `match {0} {{ … => … }}`",
    "delete": "write `m.remove(key)`",
    "panic": "write `assert false`, or `fail` with an error",
}

_TEXT: Final = ("str", "char", "text", "Str", "Char", "CharSequence")
_INTS: Final = (
    "i64",
    "i32",
    "u64",
    "u32",
    "u8",
    "usize",
    "long",
    "Long",
    "integer",
    "Integer",
    "int64",
    "Int64",
    "short",
)
_FLOATS: Final = ("double", "Double", "f64", "f32", "real", "Decimal", "float64")
# `{0}` and `{1}` are the type arguments.
_TYPES: Final = {
    **dict.fromkeys(_TEXT, "write `String`"),
    **dict.fromkeys(("boolean", "Boolean"), "write `Bool`"),
    **dict.fromkeys(_INTS, "write `Int`"),
    **dict.fromkeys(_FLOATS, "write `Float`"),
    **dict.fromkeys(("number", "Number"), "write `Int` for whole numbers, `Float` for others"),
    **dict.fromkeys(
        ("void", "Void", "Unit", "None", "null"), "leave it out, with its `->`: a function without gives nothing"
    ),
    **dict.fromkeys(
        ("any", "Any", "object", "Object", "dynamic"),
        "write the type that is meant, or a type parameter: `fn f<T>(x: T)`",
    ),
    **dict.fromkeys(("List", "Array", "Vec", "list", "ArrayList", "Seq", "Slice"), "write `[{0}]`"),
    **dict.fromkeys(("Map", "Dict", "HashMap", "dict", "Dictionary"), "write `[{0}: {1}]`"),
    **dict.fromkeys(("Set", "HashSet", "set"), "write `[{0}: Bool]`"),
    **dict.fromkeys(("Option", "Optional", "Maybe"), "write `{0}?`"),
    **dict.fromkeys(("Result", "Either"), "a function that can fail says so after its result: `-> {0} ! {1}`"),
    **dict.fromkeys(("Tuple", "tuple", "Pair"), "write `({0}, {1})`"),
    **dict.fromkeys(("Promise", "Future"), "write `Task<{0}>`"),
    **dict.fromkeys(("Function", "Func", "Callable"), "write `fn({0}) -> {1}`"),
    **dict.fromkeys(("Exception", "Throwable", "error"), "write `Error`"),
    **dict.fromkeys(("DateTime", "Date", "datetime", "Timestamp", "Time"), "write `Instant`"),
    **dict.fromkeys(("TimeSpan", "timedelta"), "write `Duration`"),
}
_STAND_INS: Final = {"Map": ("String", "Int"), "Dict": ("String", "Int"), "HashMap": ("String", "Int")}

_LENGTH: Final = dict.fromkeys(("length", "size", "count", "Length", "Count", "len"), "len")
_OF_TEXT: Final = {
    **_LENGTH,
    **dict.fromkeys(("ljust", "padEnd", "pad_end", "padRight"), "pad_right"),
    **dict.fromkeys(("rjust", "padStart", "pad_start", "padLeft", "zfill"), "pad_left"),
    **dict.fromkeys(("upper", "toUpperCase", "to_uppercase", "toUpper", "upcase"), "to_upper"),
    **dict.fromkeys(("lower", "toLowerCase", "to_lowercase", "toLower", "downcase"), "to_lower"),
    **dict.fromkeys(("strip", "trimmed"), "trim"),
    **dict.fromkeys(("substring", "substr", "sub"), "slice"),
    **dict.fromkeys(("includes", "has", "contains_text"), "contains"),
    **dict.fromkeys(("find", "indexOf", "index"), "index_of"),
    **dict.fromkeys(("toInt", "parse_int", "parse"), "to_int"),
    **dict.fromkeys(("characters", "toCharArray", "graphemes"), "chars"),
    **dict.fromkeys(("replaceAll", "replace_all", "gsub"), "replace"),
    **dict.fromkeys(("startsWith", "startswith", "hasPrefix"), "starts_with"),
    **dict.fromkeys(("endsWith", "endswith", "hasSuffix"), "ends_with"),
}
_OF_ARRAYS: Final = {
    **_LENGTH,
    **dict.fromkeys(("append", "add", "push_back", "Add", "prepend_last"), "push"),
    **dict.fromkeys(("includes", "has", "include"), "contains"),
    **dict.fromkeys(("indexOf", "index"), "index_of"),
    **dict.fromkeys(("reduce", "foldl", "inject", "aggregate"), "fold"),
    **dict.fromkeys(("sorted", "sort_unstable", "order"), "sort"),
    **dict.fromkeys(("extend", "addAll", "append_all", "plus"), "concat"),
    **dict.fromkeys(("delete", "removeAt", "erase", "splice"), "remove_at"),
    **dict.fromkeys(("some", "exists"), "any"),
    **dict.fromkeys(("every", "forall"), "all"),
    **dict.fromkeys(("select", "collect"), "map"),
    **dict.fromkeys(("where", "find_all"), "filter"),
    **dict.fromkeys(("distinct", "uniq"), "unique"),
    **dict.fromkeys(("reversed",), "reverse"),
}
_OF_MAPS: Final = {
    **_LENGTH,
    **dict.fromkeys(("has", "has_key", "containsKey", "contains_key", "includes"), "contains"),
    **dict.fromkeys(("put", "insert", "add"), "set"),
    **dict.fromkeys(("delete", "erase", "pop", "del"), "remove"),
    **dict.fromkeys(("items", "iter", "pairs"), "entries"),
}
_OF_OPTIONALS: Final = {
    **dict.fromkeys(("unwrap_or", "orElse", "getOrElse", "or", "or_else", "unwrapOr"), "write `{0} ?? …`"),
    **dict.fromkeys(("is_some", "isPresent", "is_present", "has_value"), "write `{0} != none`"),
    **dict.fromkeys(("is_none", "isEmpty", "is_null", "isNull"), "write `{0} == none`"),
    **dict.fromkeys(
        ("unwrap", "get", "expect", "value"), "say what then: `{0} ?? …`, or look with `if const value = {0} {{ … }}`"
    ),
}
_OF_INSTANTS: Final = {
    **dict.fromkeys(("year", "month", "day"), "write `{0}.date().{1}`"),
    **dict.fromkeys(("hour", "minute", "second"), "write `{0}.{1}()`"),
    **dict.fromkeys(
        ("timestamp", "unix", "toISOString", "isoformat"), 'text shows it: `"{{{0}}}"`, or `{0}.since_1970()`'
    ),
}
_OF_NAMESPACES: Final = {
    **dict.fromkeys(("json.parse", "json.loads", "json.load"), "write `json.decode<T>({0})`"),
    **dict.fromkeys(("json.stringify", "json.dumps", "json.dump", "json.serialize"), "write `json.encode({0})`"),
    **dict.fromkeys(
        ("Console.log", "Console.print", "Console.println", "Console.write", "Console.writeLine"), "write `print({0})`"
    ),
    **dict.fromkeys(("Console.read", "Console.read_line", "Console.readLine"), _CALLS["input"]),
}
_FIXED: Final = (
    "toFixed",
    "fixed",
    "to_fixed",
    "format",
    "formatted",
    "toStringAsFixed",
    "round_to",
    "roundTo",
    "round",
)
_SHUFFLED: Final = "write `{0}.sort_by(fn(_) => Random.float())`"
_CHOSEN: Final = "write `{0}[Random.int(0, {0}.len() - 1)]`"
_AT_RANDOM: Final = {
    **dict.fromkeys(("shuffle", "shuffled"), _SHUFFLED),
    **dict.fromkeys(("choice", "choose", "sample", "random", "random_element", "randomElement"), _CHOSEN),
}
_SHOWING: Final = ("toString", "to_string", "to_str", "str", "ToString", "show", "format", "inspect")


def help_for_value(name: str) -> str | None:
    """What to write for the value `name`, or for a call of it whose arguments are not known."""
    return _VALUES.get(name)


def help_for_call(name: str, arguments: Sequence[ast.Argument]) -> str | None:
    """What to write for the call of a function that other languages have."""
    texts = [single_spaced(argument.value.span.text) for argument in arguments]
    if name == "range" and len(texts) == 2:
        return f"write `{texts[0]}..{texts[1]}`"
    if name == "round" and len(texts) == 2:
        return f"write `{texts[0]}.to_fixed({texts[1]})`, which is text"
    if name in ("max", "min") and len(texts) == 1:
        return f"write `{texts[0]}.{name}()`"
    found = _CALLS.get(name) or _VALUES.get(name)
    if name in ("str", "repr", "toString", "to_string", "Str") and texts and '"' in texts[0]:
        return 'text shows any value: give it a name, and write `"{name}"`'
    return None if found is None else found.format(*texts, *["…"] * 2)


def help_for_type(name: str, arguments: Sequence[ast.TypeExpression]) -> str | None:
    """What to write for the type `name` of another language."""
    found = _TYPES.get(name)
    if found is None:
        return None
    texts = [single_spaced(argument.span.text) for argument in arguments]
    if name in ("Result", "Either") and len(texts) == 2 and texts[1] in ("String", "str", "string", "Int"):
        # What is no type of errors.
        texts[1] = "Error"
    stand_ins = ("String", "Int") if "{0}: {1}" in found else ("Int", "Error") if "!" in found else ("Int", "Int")
    return found.format(*[*texts, *stand_ins[len(texts) :]])


def help_for_method(
    type_: Type, name: str, receiver: str, known: Sequence[str], arguments: Sequence[ast.Argument] = ()
) -> str | None:
    """What to write for `receiver.name(…)`, where other languages have such a method."""
    if type_ is INSTANT:
        advice = _OF_INSTANTS.get(name)
        return None if advice is None else advice.format(receiver, name)
    if type_ in (INT, FLOAT) and name in _FIXED and arguments:
        number = f"{receiver}.to_float()" if type_ is INT else receiver
        decimals = single_spaced(arguments[-1].span.text, 30)
        return f"write `{number}.to_fixed({decimals if decimals.isdigit() else 2})`, which is text"
    if isinstance(type_, OptionalType):
        advice = _OF_OPTIONALS.get(name)
        return None if advice is None else advice.format(receiver)
    if name in _SHOWING and isinstance(type_, PrimitiveType | ArrayType | MapType | TupleType):
        return (
            'text shows any value: write `"{' + receiver + '}"`'
            if '"' not in receiver
            else 'text shows any value: `"{x}"`'
        )
    if isinstance(type_, ArrayType) and name in _AT_RANDOM:
        return _AT_RANDOM[name].format(receiver)
    if isinstance(type_, ArrayType) and re.fullmatch("for_?[eE]ach|each", name):
        return f"write `for x in {receiver} {{ … }}`"
    table = _OF_TEXT if type_ is STRING else _OF_ARRAYS if isinstance(type_, ArrayType) else {}
    table = _OF_MAPS if isinstance(type_, MapType) else table
    found = table.get(name)
    texts = [single_spaced(argument.span.text, 30) for argument in arguments]
    if found not in known or (found == "len" and texts):
        return None
    receiver = "" if receiver.endswith("…") else receiver
    if found == "slice" and len(texts) == 1:
        texts.append(f"{receiver}.len()" if receiver else "…")
    if found == "fold" and len(texts) != 2:
        texts = ["start", "fn(total, x) => …"]
    elif found == "fold" and isinstance(arguments[0].value, ast.Closure):
        texts.reverse()
    if found == "sort" and texts:
        names = arguments[0].value.parameters if isinstance(arguments[0].value, ast.Closure) else ()
        found = "sort_with" if len(names) == 2 else "sort_by"
    if found in ("pad_left", "pad_right") and len(texts) == 1:
        texts.append('"0"' if name == "zfill" else '" "')
    return f"write `{receiver}.{found}({', '.join(texts)})`"


def help_for_namespace(owner: str, name: str, arguments: Sequence[ast.Argument]) -> str | None:
    """What to write for `owner.name(…)`, where other languages have such a function in such a place."""
    found = _OF_NAMESPACES.get(f"{owner}.{name}")
    if owner == "Random" and arguments:
        found = _AT_RANDOM.get(name)
    return None if found is None else found.format(*[single_spaced(item.span.text, 30) for item in arguments], "…")


def help_for_index(type_: Type, target: str, index: str) -> str | None:
    """What to write for `target[index]` of what has no elements."""
    if type_ is STRING:
        if index.isdigit():
            return f"write `{target}.slice({index}, {int(index) + 1})`, or `{target}.chars()[{index}]`"
        return f"write `{target}.chars()[{index}]`"
    if isinstance(type_, TupleType):
        names = ", ".join("abcdefgh"[: len(type_.elements)]) if len(type_.elements) <= 8 else "a, b, …"
        return f"take it apart: `const ({names}) = {target}`"
    return None


def help_for_too_many(name: str, arguments: Sequence[ast.Argument]) -> str | None:
    """What to write where other languages give `name` one argument more."""
    if name == "round" and len(arguments) == 1:
        return f"write `to_fixed({single_spaced(arguments[0].value.span.text, 30)})`, which is text"
    texts = [single_spaced(argument.value.span.text, 30) for argument in arguments]
    if name == "sort" and len(texts) == 1:
        value = arguments[0].value
        by = "sort_with" if isinstance(value, ast.Closure) and len(value.parameters) == 2 else "sort_by"
        return f"write `{by}({texts[0]})`"
    return f"write `get({texts[0]}) ?? {texts[1]}`" if name == "get" and len(texts) == 2 else None


def help_for_printing(arguments: Sequence[ast.Argument]) -> str:
    """One text in place of several values for `print`."""
    inside = " ".join(_in_text(argument.value) for argument in arguments)
    return f'write `print("{inside}")`'


def help_for_adding(left: Type, right: Type, left_text: str, right_text: str) -> str | None:
    """What to write for `+` between two that have no sum, but something like it."""
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        return f"write `{left_text}.concat({right_text})`"
    if isinstance(left, ArrayType):
        return f"write `{left_text}.concat([{right_text}])`, or `push` it"
    return None


def help_for_joining(left: ast.Expression, right: ast.Expression) -> str:
    """One text in place of text `+` what is none."""
    return f'put values into text with braces: `"{_in_text(left)}{_in_text(right)}"`'


def _in_text(node: ast.Expression) -> str:
    """How `node` stands inside a text."""
    text = single_spaced(node.span.text, 30)
    if isinstance(node, ast.StringLiteral) and not text.startswith('"""'):
        return text[1:-1]
    return "{value}" if '"' in text or "…" in text else "{" + text + "}"


def help_for_mismatch(found: Type, wanted: Type, text: str) -> str | None:
    """What makes a `wanted` of the value `text`, in the cases where people expect that to happen by itself."""
    name = text if re.fullmatch(r"[A-Za-z_][\w.]*", text) else None
    if wanted == PrimitiveType("Duration") and found is INT:
        return (
            f"write it with its unit: `{text}s` or `{text}ms`"
            if text.isdigit()
            else f"with its unit: `{name or 'n'} * 1s`"
        )
    if wanted is BOOL:
        return _help_for_condition(found, text)
    if wanted is STRING and isinstance(found, PrimitiveType):
        return 'as text it is `"{' + (name or "x") + '}"`' if not text.isdigit() else f'as text it is `"{text}"`'
    if found is STRING and wanted is INT and name is not None:
        return f"write `{name}.to_int()`, which is an `Int?`: `none` where it cannot be read"
    return None


def _help_for_condition(found: Type, text: str) -> str | None:
    """What to ask of a value that other languages take for true or false by itself."""
    if text.endswith("…"):
        return None
    if isinstance(found, OptionalType):
        return f"write `{text} != none`, or `if const value = {text} {{ … }}`"
    if found is INT:
        return f"write `{text} != 0`"
    if found is STRING or isinstance(found, ArrayType | MapType):
        return f"write `!{text}.is_empty()`"
    return None
