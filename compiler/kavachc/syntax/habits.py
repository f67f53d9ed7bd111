"""What people write who know other languages better, as it shows at a syntax error, and what to write instead
(spec 12.habits).

Most habits show in the text of a line, so most of them are rows of `_LINES`; what depends on what the grammar wanted is
in `_by_context`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kavachc.source import SourceFile
from kavachc.syntax.number_literals import UNIT_WORDS
from kavachc.syntax.tokens import END, IDENTIFIER, NEWLINE, Token

TEXT_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class Habit:
    """`help` says what to write. `word`, from `start` to `end`, is what Kavach does not have; None where that is not a
    word or mark, and the message names what was expected."""

    help: str
    word: str | None = None
    start: int = 0
    end: int = 0


# In the rows, `S` is where a statement begins, `V` a value that ends where a statement does.
_S: Final = r"(?:^|[{};])\s*"
_V: Final = r"(?:[^\s{};/](?:[^{};\n]*?[^\s{};\n])?)(?=\s*(?:[{};]|//|$))"


def _row(pattern: str, advice: str) -> tuple[re.Pattern[str], str]:
    return re.compile(pattern.replace("<S>", _S).replace("<V>", _V)), advice


# Text of a line, and the help, in which `{name}` is a group. A group `word` is what Kavach does not have.
_LINES: Final = (
    _row(
        r"<S>(?P<word>(?:while|until)\s+(?:let|var|val)\b)\s*(?P<rest>[^{}]+?)\s*\{",
        "write `while true {{ if const {rest} {{ … }} else {{ break }} }}`",
    ),
    _row(
        r"(?P<word>\bif\s+(?:let|var|val)\b)\s*(?P<rest>[^{}]+?)\s*\{",
        "write `if const {rest} {{ … }}`",
    ),
    _row(
        r"<S>(?P<word>guard)\s+(?:let|var|const)\s+(?P<name>\w+)\s*=\s*(?P<value>.+?)\s*\belse\b",
        "write `const {name} = {value} ?? …`, where `…` may be `return` or `fail`",
    ),
    _row(r"<S>(?P<word>guard)\s+(?P<rest>[^{}]+?)\s*\belse\b", "write `if !({rest}) {{ … }}`"),
    _row(r"<S>(?P<word>defer)\b\s*", "write it where it is to happen: Kavach has nothing that needs closing"),
    _row(r"(?P<word>\b(?:async|go))\s+(?P<call>[\w.]+\([^()]*\))", "write `spawn {call}`"),
    _row(r"<S>(?:let|const)\s+(?P<names>\w+(?:\s*,\s*\w+)+)\s*=", "a tuple is taken apart with `({names})`"),
    _row(
        r"<S>(?P<word>impl|extension)\s+(?:<[^<>]*>\s*)?(?P<name>\w+)",
        "methods stand in the type: `type {name} {{ fn f(self) {{ … }} }}`",
    ),
    _row(
        r"<S>(?:pub\s+)?type\s+\w+\s+(?P<word>extends|implements)\s+(?P<name>\w+)",
        "no type extends another: hold it in a field, `base: {name}`",
    ),
    _row(
        r"<S>(?:pub\s+)?fn\s+(?P<type>\w+)\.(?P<name>\w+)\s*\(",
        "a method stands in its type: `type {type} {{ fn {name}(self) {{ … }} }}`",
    ),
    _row(
        r"\bfn\b.*(?P<word>\bwhere)\s+(?P<name>\w+)\s*:\s*(?P<bound>\w+)",
        "a bound stands with its type parameter: `<{name}: {bound}>`",
    ),
    _row(
        r"<S>(?:pub\s+)?type\s+(?P<name>\w+)\s*\{\s*(?P<list>[A-Z]\w*(?:\s*,\s*[A-Z]\w*)+)",
        "write `type {name} = {BARS}`",
    ),
    _row(r":\s*(?P<type>[\w.]+)\s*\|\s*(?:none|null|nil|None|undefined)\b", "write `{type}?`"),
    _row(r":\s*(?P<type>[A-Z]\w*)(?P<word>\.\.\.)", "write `[{type}]`: a function takes one array"),
    _row(
        r"<S>limit\s+(?P<name>Files|Http|Env|Console|Random|Time)\b(?:\.\w+)?\s*",
        "limits are for capabilities that a program declares: give one a method that uses `{name}`",
    ),
    _row(
        r"<S>(?P<word>while\s+const)\s+(?P<rest>[^{}]+?)\s*\{",
        "write `while true {{ if const {rest} {{ … }} else {{ break }} }}`",
    ),
    _row(
        r"<S>(?:pub\s+)?fn\s+(?P<name>\w+)\s*\((?P<inside>[^()]*)\)(?P<ending>[^{}=]*?)\s*\{",
        "{INNER}",
    ),
    _row(
        r"\buses\s+(?P<names>[\w.]+(?:\s*,\s*[\w.]+)*)\s*!\s*(?P<error>\w+)",
        "the error stands before it: write `! {error} uses {names}`",
    ),
    _row(
        r"\)[^(){}=,]*?\buses\s*(?:\(\s*\)|(?=[{),=]|$))",
        "leave `uses` out: a function that uses nothing needs no promise",
    ),
    _row(r"^\s*\}?\s*(?P<word>catch|except)\b\s*(?:\(?\w*\)?)?\s*[{:]?", "{TRY}"),
    _row(r"^\s*\}\s*catch\b.*\{", "{TRY}"),
    _row(r"<S>(?P<word>try)\s*:", "{TRY}"),
    _row(
        r"(?P<call>[\w.]+\([^()]*\))\s*catch\s*\(?\s*(?P<name>\w+)\s*\)?\s*\{", "write `{call} catch {name} => {{ … }}`"
    ),
    _row(r"<S>(?P<word>switch)\b\s*\(?(?P<x>[^(){}]*[^(){}\s])?\)?\s*\{?", "write `match {x} {{ … => … }}`"),
    _row(r"<S>(?P<word>case|when)\s+(?P<pattern>[^:=>\-]+?)\s*(?::|=>|->)", "leave it out: an arm is `{pattern} => …`"),
    _row(r"<S>(?P<word>default)\s*:", "write `_ => …`"),
    _row(r"(?:^|[{,])\s*else\s*(?:=>|->)", "write `_ => …`"),
    _row(r"(?:<S>|,\s*)(?P<pattern>[\w.\"()]+)\s*:(?!:)\s*[^=]*(?<!\s)$", "{ARM}"),
    _row(r"<S>(?P<word>async)\s", "leave it out: any function may wait, and `spawn f()` starts one as a task"),
    _row(r"<S>(?P<word>public|export)(?:\s+default)?\s+(?P<rest>\w+(?:\s+\w+)?)", "write `pub {rest}`"),
    _row(
        r"<S>(?P<word>private|protected|internal|static|final|abstract|inline|override)\s",
        "leave it out: what is not `pub` is known in its file only",
    ),
    _row(
        r"<S>(?P<word>def|function|func|fun)\s+(?P<name>\w+)\s*\((?P<inside>[^()]*)\)",
        "write `fn {name}({inside}) {{ … }}`",
    ),
    _row(r"<S>(?P<word>def|function|func|fun)\b", "write `fn`"),
    _row(r"<S>(?P<word>class|struct)\s+(?P<name>\w+)", "write `type {name} {{ … }}`"),
    _row(r"<S>(?P<word>enum)\s+(?P<name>\w+)\s*\{\s*(?P<list>\w+(?:\s*,\s*\w+)*)", "write `type {name} = {BARS}`"),
    _row(r"<S>(?P<word>enum)\s+(?P<name>\w+)", "write `type {name} = First | Second`"),
    _row(r"<S>(?P<word>interface|trait|protocol)\s+(?P<name>\w+)", "write `capability {name} {{ … }}`"),
    _row(r"<S>(?P<word>let\s+mut)\s+(?P<rest><V>)", "write `let {rest}`: what `let` declares can change"),
    _row(r"<S>(?P<word>var)\s+(?P<rest><V>)", "write `let {rest}`"),
    _row(r"<S>(?P<word>val)\s+(?P<rest><V>)", "write `const {rest}`"),
    _row(r"^let\s+(?P<rest><V>)", "at the top level write `const {rest}`; what changes is declared in a function"),
    _row(r"<S>(?P<name>\w+)\s*(?P<word>:=)\s*(?P<rest><V>)", "write `const {name} = {rest}`, or `let {name} = {rest}`"),
    _row(r"<S>(?P<word>throw|raise)\s+(?P<rest><V>)", "write `fail {rest}`"),
    _row(r"<S>(?P<word>elif|elsif|elseif)\b", "write `else if`"),
    _row(r"<S>(?P<word>unless)\s+(?P<rest><V>)", "write `if !({rest}) {{ … }}`"),
    _row(r"<S>(?P<word>until)\s+(?P<rest><V>)", "write `while !({rest}) {{ … }}`"),
    _row(
        r"<S>(?P<word>do)\s*\{",
        "what repeats is `while true {{ … }}`, left with `break`; an error is handled with `f() catch e => {{ … }}`",
    ),
    _row(r"<S>(?P<word>loop|repeat)\s*\{", "write `while true {{ … }}`, and leave it with `break`"),
    _row(r"<S>(?P<word>foreach)\b", "write `for x in xs {{ … }}`"),
    _row(
        r"(?P<a>[\w.]+(?:\([^()]*\))?)\s*(?P<word>\.\.\.|\.\.<)\s*(?P<b>[\w.]+(?:\([^()]*\))?)",
        "write `{a}..{b}`, without `{b}`, or `{a}..={b}`, with it",
    ),
    _row(
        r"<S>for\s*\(?\s*(?:let\s+|var\s+|int\s+|const\s+)?(?P<name>\w+)\s*=\s*(?P<from>\S+?)\s*;\s*\w+\s*<\s*(?P<to>[\w.()]+)",
        "write `for {name} in {from}..{to} {{ … }}`",
    ),
    _row(
        r"<S>for\s*\(?\s*(?:let\s+|var\s+|int\s+|const\s+)?(?P<name>\w+)\s*=\s*(?P<from>\S+?)\s*;\s*\w+\s*<=\s*(?P<to>[\w.()]+)",
        "write `for {name} in {from}..={to} {{ … }}`",
    ),
    _row(
        r"<S>for\s*\(?\s*(?P<a>\w+)\s*,\s*(?P<b>\w+)\s+(?:in|of)\s+(?P<rest>[^{};]+\.(?:enumerate|entries|zip)\([^()]*\))",
        "write `for ({a}, {b}) in {rest}`",
    ),
    _row(
        r"<S>for\s*\(?\s*(?P<a>\w+)\s*,\s*(?P<b>\w+)\s+(?:in|of)\s+(?P<rest><V>)",
        "write `for ({a}, {b}) in {rest}` over a map, `for ({a}, {b}) in {rest}.enumerate()` over an array",
    ),
    _row(
        r"<S>for\s+(?P<name>\w+)\s+in\s+(?P<range>\S+)\s+(?P<word>step|by)\s+(?P<step>\w+)",
        "a range counts by one: write `for {name} in {range} {{ … }}` and use `{name} * {step}`",
    ),
    _row(
        r"<S>for\s*\(?\s*(?:let\s+|var\s+|const\s+)?(?P<name>\w+)\s+(?:of|in)\s+(?P<rest>[^{}():]+(?:\(\))?)",
        "write `for {name} in {rest} {{ … }}`",
    ),
    _row(r"<S>(?:if|while)\s+(?P<rest>[^{}]+?)\s*(?::\s*$|\bthen\b)", "a block stands in braces: `{{ … }}`"),
    _row(r"<S>else\s*:", "a block stands in braces: `else {{ … }}`"),
    _row(r"<S>(?P<word>del|delete)\s+(?P<map>[\w.]+)\[(?P<key>[^\]]+)\]", "write `{map}.remove({key})`"),
    _row(r"<S>(?P<word>yield)\b", "Kavach has no generators: give back an array"),
    _row(r"<S>with\s", "Kavach has no `with` blocks: what was opened needs no closing"),
    _row(r"(?P<word>new)\s+(?:List|Array|ArrayList|Vec|Vector)\b", "write `[]`, with its type: `let xs: [Int] = []`"),
    _row(r"(?P<word>new)\s+\w*(?:Map|Dict|Dictionary)\b", "write `[:]`, with its type: `let m: [String: Int] = [:]`"),
    _row(r"(?P<word>new)\s+\w*Set\b", "a map serves as a set: `let seen: [String: Bool] = [:]`"),
    _row(r"(?P<word>new)\s+(?P<name>[A-Z]\w*)\s*\((?P<inside>[^()]*)\)", "leave it out: write `{name}({inside})`"),
    _row(r"(?P<word>new)\s", "leave it out: a record is made with `Name(…)`"),
    _row(r"(?P<word>await)\s+(?P<call>[\w.]+\([^()]*\))", "leave it out: write `{call}`, which waits by itself"),
    _row(r"(?P<word>await)\s+(?P<task>[\w.]+)", "write `{task}.wait()`, perhaps with `try` before it"),
    _row(r"(?P<word>lambda)\s*(?P<names>[\w, ]*):\s*(?P<rest><V>)", "write `fn({names}) => {rest}`"),
    _row(
        r"(?P<word>\b(?:typeof|instanceof))\b\s*",
        "types are known at once: `match` looks at variants",
    ),
    _row(r"(?P<word>\btry[?!])\s*(?P<call>[\w.]+\([^()]*\))", "write `{call} catch e => …`, with a value for `…`"),
    _row(
        r"(?P<value>\w+)(?P<word>\?)\.(?P<field>\w+(?:\([^()]*\))?)",
        "write `if const {value} = {value} {{ {value}.{field} }}`",
    ),
    _row(
        r"(?P<call>(?:\"[^\"{}]*\")?[\w.]+\([^()]*\))(?P<word>\?)(?=\s*(?:[,;)\]}.]|//|$))",
        "to pass an error on, write `try {call}`; for what may be `none`, `{call} ?? …`",
    ),
    _row(
        r"(?P<then>(?:\"[^\"]*\"|[\w.\-]+)(?:\([^()]*\))?)\s+(?P<word>if)\s+(?P<condition>[^{}]+?)\s+else\s+(?P<otherwise>\"[^\"]*\"|[\w.\-]+(?:\([^()]*\))?)",
        "write `if {condition} {{ {then} }} else {{ {otherwise} }}`",
    ),
    _row(
        r"(?:\breturn\s+|(?<![=!<>])=(?!=)\s*|[(,]\s*)?(?P<condition>(?!return\b)(?=\S)(?:[^?(){}=,]|==|!=|<=|>=|\([^()]*\))+?)\s*(?P<word>\?)\s*(?P<then>[^:?{}]+?)\s*:\s*(?P<otherwise>[^,(){}]+)",
        "write `if {condition} {{ {then} }} else {{ {otherwise} }}`",
    ),
    _row(r"(?P<value>[\w.\[\]]+)\s*(?P<word>\+\+)", "write `{value} += 1`"),
    _row(r"(?P<word>\+\+)\s*(?P<value>[\w.\[\]]+)", "write `{value} += 1`"),
    _row(r"(?P<value>[\w.\[\]]+)\s*(?P<word>--)", "write `{value} -= 1`"),
    _row(r"(?P<a>[\w.]+)\s*(?P<word>\*\*)\s*(?P<b>[\w.]+)", "write `{a}.pow({b})`"),
    _row(r"(?P<word>/\*)", "comments start with `//`, on each line"),
    _row(r"(?P<a>\w+)(?P<word>::)(?P<b>\w+)", "write `{a}.{b}`"),
    _row(r"(?P<a>\w+)->(?P<b>\w+)", "write `{a}.{b}`"),
    _row(r"(?P<word>===)", "write `==`: it compares what values hold"),
    _row(r"(?P<word>!==)", "write `!=`"),
    _row(r"(?P<word><>)", "write `!=`"),
    _row(r"(?P<word>\.\.\.)(?P<name>\w*)", "write `{name}.concat([…])`"),
    _row(r"(?P<word>\bformat!)\s*\(", 'write the values into the text: `"{{a}} and {{b}}"`'),
    _row(r"(?P<word>\bpanic!)\s*\(", 'write `assert false, "why"`, or `fail` with an error'),
    _row(r"(?P<word>\bvec!)\s*\[(?P<inside>[^\[\]]*)\]", "write `[{inside}]`"),
    _row(r"(?P<word>\b(?:println|print|printf)!)\s*\((?P<inside>[^(),{}]*)\)", "write `print({inside})`"),
    _row(r"(?P<word>\b(?:println|print|printf)!)\s*\(", 'write `print("…")`, with values in braces: `{{value}}`'),
    _row(r"(?P<value>[\w.\[\]]+)(?P<word>!)(?=[\s).;,}]|$)", "it may be `none`: write `{value} ?? …`"),
    _row(r"(?P<word>\bnot)\s+(?P<rest>[\w.]+(?:\([^()]*\))?)", "write `!{rest}`"),
    _row(r"(?P<word>\band)\b", "write `&&`"),
    _row(r"(?P<word>\bor)\b", "write `||`"),
    _row(r"\{\s*\(?(?P<names>\w+(?:\s*,\s*\w+)*)\)?\s+(?P<word>in)\s+(?P<rest><V>)", "{LAMBDA}"),
    _row(
        r"(?P<a>[\w.]+)\s+(?P<word>as)\s+(?:Int|int|i64|i32|u64|usize|long)\b",
        "Kavach converts with methods: `{a}.to_int()`",
    ),
    _row(
        r"(?P<a>[\w.]+)\s+(?P<word>as)\s+(?:Float|float|double|f64|f32)\b",
        "Kavach converts with methods: `{a}.to_float()`",
    ),
    _row(r"(?P<a>[\w.]+)\s+(?P<word>as)\s+(?:String|str|string)\b", 'as text it is `"{{{a}}}"`'),
    _row(r"\w\s+(?P<word>as)\s", "Kavach converts with methods: `n.to_float()`"),
    _row(r"(?P<a>[\w.\"]+)\s+(?:not\s+)?in\s+(?P<b>[\w.]+|\[[^\[\]]*\])", "write `{b}.contains({a})`"),
    _row(r"(?P<a>\w+)\s+(?P<word>is)\s", "write `==`, or `match` for variants"),
    _row(r"(?P<word>\b[fF])(?P<text>\"[^\"]*\")", "leave it out: every text has values in braces, `{text}`"),
    _row(r"(?P<word>\b[rb])\"", "leave it out: a backslash in text is written `\\\\`"),
    _row(r"(?P<a>[\w.]+|\"[^\"]*\")\[(?P<from>[^\[\]:.]+)\.\.=?\]", "write `{a}.slice({from}, {a}.len())`"),
    _row(r"(?P<a>[\w.]+|\"[^\"]*\")\[\.\.=?(?P<to>[^\[\]:.]+)\]", "write `{a}.slice(0, {to})`"),
    _row(r"(?P<a>\w+)\[(?P<from>[^\[\]:]*):(?P<to>[^\[\]:]*)\]", "write `{a}.slice({from}, {to})`"),
    _row(r"(?P<name>\w+)\[\s*\]", "write `[{name}]`"),
    _row(r"\(?(?P<names>\b[A-Za-z_]\w*(?:\s*,\s*\w+)*)\)?\s*(?:=>|->)\s*(?P<rest><V>)", "{LAMBDA}"),
    _row(r"[=(,]\s*\|(?P<names>[\w, ]*)\|\s*(?P<rest><V>)", "{LAMBDA}"),
    _row(r"\bfn\s*\((?P<names>[^()]*)\)\s*(?P<rest>(?=[\w(\"\[])<V>)", "{LAMBDA}"),
    _row(
        r"\{(?P<value>[A-Za-z_][\w.]*(?:\([^(){}\"]*\))?)\s*:[^{}\"]*\.(?P<decimals>[0-9]+)[fFeE]?\}",
        "write `{{{value}.to_fixed({decimals})}}`",
    ),
    _row(
        r"\{(?P<value>[A-Za-z_][\w.]*(?:\([^(){}\"]*\))?)\s*:(?P<fill>0?)>?(?P<width>[0-9]+)[di]?\}",
        "{PADDED}",
    ),
    _row(
        r"\{[0-9]*:[^{}\"]*\.(?P<decimals>[0-9]+)[fFeE]?\}",
        "a value stands in the braces: `{{x.to_fixed({decimals})}}`",
    ),
    _row(r"\bimport\s+(?P<name>[A-Za-z_]\w*)", 'a file is imported by its path: `import "{name}.kav"`'),
    _row(r"<S>(?P<word>from)\s+\"?(?P<name>\w+)\"?\s+import\b", 'write `import "{name}.kav"`'),
    _row(r"<S>#?(?P<word>use|using|include|require)\s*[\"<(]*(?P<name>\w+)", 'write `import "{name}.kav"`'),
)
_TRY: Final = "`try` stands before one call; to handle its error write `f() catch e => { … }`"
_UNITS: Final = {**{unit: unit for unit in ("ns", "us", "ms", "s", "m", "h", "d")}, **UNIT_WORDS}
_DECLARING: Final = ("var", "val", "def", "func", "fun", "new", "not", "await", "let")
_STATEMENTS: Final = ("return", "if", "for", "while", "match", "try", "fail", "(", "STRING")
_NO_ARM: Final = (":", "=>", "->", "=", "else", "?", ")", "]")


def find_habit(file: SourceFile, token: Token, previous: Token, expected: frozenset[str], bracket: str) -> Habit | None:
    """The habit that shows where `token` stands after `previous` in place of one of the kinds `expected`; `bracket` is
    the innermost open one."""
    return (
        _by_context(file, token, previous, expected, bracket)
        or _by_line(file, token, previous, expected)
        or _by_place(file, token, previous, expected, bracket)
    )


def _by_line(file: SourceFile, token: Token, previous: Token, expected: frozenset[str]) -> Habit | None:
    """The row whose text stands around the error, and which takes in most of the line before it."""
    place = previous if token.kind in (NEWLINE, END) else token
    line, column = file.position(place.start)
    text = file.line_text(line)
    if len(text) > 1_000:
        return None
    for pattern, advice in _LINES:
        for match in pattern.finditer(text):
            if not match.start() <= column - 1 <= match.end():
                continue
            if "{ARM}" in advice and "=>" not in expected:
                continue
            if "{LAMBDA}" in advice and token.kind not in ("=>", "->", "|", "in") and not match[0].startswith("fn"):
                continue
            if "{INNER}" in advice and (previous.kind != "fn" or expected != {"("}):
                continue
            help_text = advice.format(**_values(match))
            if "word" not in match.groupdict():
                return Habit(help_text)
            start = file.line_starts[line - 1]
            return Habit(
                help_text, " ".join(match["word"].split()), start + match.start("word"), start + match.end("word")
            )
    return None


def _values(match: re.Match[str]) -> dict[str, str]:
    values = {key: _cut(value or "") for key, value in match.groupdict().items()}
    values["TRY"] = _TRY
    ending = f" {values['ending']}" if values.get("ending") else ""
    inner = f"const {values.get('name')} = fn({values.get('inside')}){ending}"
    values["INNER"] = f"a function inside a function is a value: `{inner} {{ … }}`"
    values["ARM"] = "write `=>`"
    values["LAMBDA"] = (
        f"a function value is `fn({values.get('names')}) => {_cut(_closed(match['rest']))}`" if "rest" in values else ""
    )
    fill = values.get("fill") or " "
    values["PADDED"] = (
        f'write `{{text.pad_left({values.get("width")}, "{fill}")}}`, where `text` is `"{{{values.get("value")}}}"`'
    )
    values["BARS"] = " | ".join(part.strip() for part in values.get("list", "").split(","))
    return values


def _closed(text: str) -> str:
    """`text` up to the first bracket that it closes and does not open, or comma outside of brackets."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth < 0 or (depth == 0 and character == ","):
            return text[:place].rstrip()
    return text


def _cut(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= TEXT_MAX else shown[: TEXT_MAX - 1] + "…"


def _by_context(
    file: SourceFile, token: Token, previous: Token, expected: frozenset[str], bracket: str
) -> Habit | None:
    """Habits that show by what stands where the grammar wants something else."""
    kind, text = token.kind, token.text
    if kind == IDENTIFIER and previous.kind == "INT" and text in _UNITS:
        return Habit(f"a unit touches its number: write `{previous.text}{_UNITS[text]}`")
    if expected == {":"} and previous.kind == IDENTIFIER:
        if kind == IDENTIFIER and text[0].isupper() and not previous.text[0].isupper():
            return Habit(f"a `:` stands before a type: write `{previous.text}: {text}`")
        if kind == IDENTIFIER:
            return Habit(f"the name comes before its type: write `{text}: {previous.text}`")
        if kind in (")", ",") and previous.text[0].isupper() and bracket != "{":
            return Habit(f"every field has a name: `value: {previous.text}`")
        if kind == ")" or (kind == "," and bracket == "("):
            return Habit(f"every parameter has a type: `{previous.text}: Int`")
    if kind == IDENTIFIER and previous.kind == IDENTIFIER and NEWLINE in expected and previous.text not in _DECLARING:
        after = file.text[token.end : token.end + 20].lstrip()
        if after.startswith("=") and not after.startswith("=="):
            return Habit(f"write `let {text} = …`, or `const` for what never changes")
    if kind == ":" and previous.kind == IDENTIFIER and NEWLINE in expected:
        line = file.line_text(file.position(token.start)[0])
        match = re.search(rf"(?:^|[{{}};])\s*{re.escape(previous.text)}\s*:\s*([^={{}}]+?)\s*=", line)
        if match:
            return Habit(f"write `let {previous.text}: {_cut(match[1])} = …`, or `const` for what never changes")
    if kind == ":" and bracket == "{" and NEWLINE in expected and previous.kind in (IDENTIFIER, "STRING"):
        key = f'"{previous.text}"'
        record = ", and a record is made with `Name(…)`" if previous.kind == IDENTIFIER else ""
        return Habit(f"a map stands in brackets, `[{_cut(key)}: …]`{record}")
    if kind == "{" and "(" in expected and previous.kind == IDENTIFIER and NEWLINE not in expected:
        if previous.text[0].isupper():
            return Habit(f"a record is made with parentheses: `{previous.text}(…)`")
        return Habit(f"a function has parentheses: `fn {previous.text}() {{ … }}`")
    if kind == "=" and bracket == "(" and ":" in expected and previous.kind == IDENTIFIER:
        return Habit(f"an argument's name stands before `:`, as `{previous.text}: …`")
    if kind == "=" and bracket == "(" and previous.kind == IDENTIFIER and ")" in expected:
        return Habit("a parameter has no default: make a second function, or a record whose fields have defaults")
    if kind == "," and previous.kind == IDENTIFIER and {"{", "!"} <= expected and "=" not in expected:
        return Habit("several values are one tuple: `-> (Int, Int)`")
    if kind == "," and previous.kind == IDENTIFIER and "|" in expected:
        return Habit("`|` stands between the variants: `type Name = First | Second`")
    if kind == "fn" and "on" in expected:
        return Habit("what an agent does is a handler: write `on name(…) { … }`")
    if kind == "[" and previous.kind == "can":
        return Habit("write them without brackets: `can Ai, Console`")
    if kind == "TYPE_OPEN" and "=>" in expected:
        return Habit(f"a pattern names a type without type arguments: `{previous.text}`")
    if kind in ("INT", "FLOAT") and previous.kind == ".":
        return Habit("a tuple is taken apart: `const (a, b) = …`")
    if kind == "{" and previous.kind == "->":
        return Habit("write the type of the result after `->`, or leave `->` out where there is none")
    if previous.kind in ("STRING_START", "STRING_MIDDLE") and kind in ("STRING_MIDDLE", "STRING_END"):
        return Habit(r"a value stands in the braces, `{value}`; for the marks themselves write `\{\}`")
    return None


def _by_place(file: SourceFile, token: Token, previous: Token, expected: frozenset[str], bracket: str) -> Habit | None:
    """What is wanted in a place where something else stands that would be right elsewhere."""
    kind = token.kind
    if "agent" in expected and (kind in _STATEMENTS or kind == IDENTIFIER):
        return Habit("statements stand in a function: `fn main() { … }`")
    if "{" in expected and "OPERATOR" in expected and kind not in (":", "=", END, NEWLINE, ",", ")"):
        line = file.line_text(file.position(token.start)[0])
        if re.search(r"(?:^|[{};])\s*(?:if|while|for|else if)\b", line):
            return Habit("a block stands in braces: `{ … }`")
    if previous.kind == "=>" or "=>" in expected or "," not in expected:
        return None
    if bracket == "{" and {"}", NEWLINE} <= expected and "OPERATOR" in expected and kind not in _NO_ARM:
        return Habit("arms stand on lines of their own, or have a `,` between them")
    return None
