"""Every diagnostic, one row each: its stable code, its message, and the help that usually goes with it.

`{name}` stands for a value that the stage gives to `DiagnosticBag.report`. Codes are never reused.
Each has a page in `explain/`, with a wrong and a right program: a new row needs one (`tests/test_explain.py`).
K00xx files, K01xx syntax, K02xx names, K03xx types, K04xx effects and capabilities, K05xx agents and limits,
K06xx errors and control flow, K07xx patterns, K08xx constants and compile-time evaluation, K09xx building,
K10xx warnings, K11xx notes, which only `check --verbose` gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Code:
    code: str
    message: str
    help: str | None = None
    severity: Severity = "error"


FILE_NOT_FOUND = Code("K0001", "cannot find `{path}`", "check the path: a program is a file that ends in .kav")
FILE_IS_DIRECTORY = Code("K0002", "`{path}` is a directory, not a program", "name a .kav file in it")
FILE_NOT_UTF8 = Code("K0003", "`{path}` is not UTF-8: byte {byte} at offset {offset}", "save the file as UTF-8")
FILE_UNREADABLE = Code("K0004", "cannot read `{path}`: {reason}")
FILE_TOO_LARGE = Code("K0006", "`{path}` is too large for a program: it has more than {limit} MB")
TOO_MANY_ERRORS = Code(
    "K0007", "{limit} mistakes, and perhaps more: nothing after these was looked for", "mend them first"
)
FILE_EMPTY = Code("K0005", "`{path}` has no `main`", "write `fn main() {{ … }}`")

# K01xx syntax. `expected` and `found` are in the reader's words, made by `syntax/syntax_errors.py`.
EXPECTED = Code("K0101", "expected {expected}, found {found}")
# K0102 was for what was planned.
UNCLOSED_BRACKET = Code("K0103", "expected `{closer}` to close `{opener}`, found {found}")
MISMATCHED_BRACKET = Code("K0104", "`{closer}` does not close the `{opener}` that is open")
STRAY_BRACKET = Code("K0105", "`{closer}` closes nothing: no `{opener}` is open", "remove it")
SEMICOLON = Code(
    "K0106", "Kavach has no semicolons", "remove it: a new line ends a statement, one statement on each line"
)
UNKNOWN_CHARACTER = Code("K0107", "the character {character} has no meaning here")
CONTROL_CHARACTER = Code(
    "K0108",
    "the control character {character} cannot stand in a program",
    "remove it; inside text, write the escape `\\u{{{digits}}}`",
)
UNTERMINATED_STRING = Code("K0109", "this text is never closed: the closing `{quote}` is missing")
BAD_ESCAPE = Code("K0110", "`{escape}` is not an escape", r"the escapes are \n \t \r \0 \\ \" \{{ \}} and \u{{1F600}}")
STRAY_BRACE = Code("K0111", "a `}}` in text needs a backslash", r"write `\}}`")
BAD_NUMBER = Code("K0112", "`{text}` is not a number")
INT_TOO_LARGE = Code("K0113", "`{text}` is too large for Int", "the largest Int is 9223372036854775807")
FLOAT_TOO_LARGE = Code("K0114", "`{text}` is too large for Float", "the largest Float is about 1.79e308")
DURATION_TOO_LONG = Code("K0115", "the duration `{text}` is too long", "the longest is about 106751 days")
TOO_DEEP = Code("K0116", "nested deeper than {limit} levels", "give the inner parts names, or functions of their own")
COMPARISON_CHAIN = Code("K0117", "comparisons cannot be chained", "compare twice: `a < b && b < c`")
RANGE_CHAIN = Code("K0118", "a range cannot be part of a range", "a range is `start..end` or `start..=end`")
KEYWORD_AS_NAME = Code("K0119", "`{word}` is a keyword and cannot be a name", "choose another name")
NOT_GENERIC = Code(
    "K0123",
    "{what} has no type parameters",
    "functions, methods and types can be generic: write the types that are meant here",
)
NOT_KAVACH = Code("K0122", "`{word}` is not part of Kavach")
TEXT_NOT_PLAIN = Code(
    "K0124", "{what} is plain text, without values in `{{ }}`", "for the marks themselves write `\\{{` and `\\}}`"
)
REST_MARK = Code("K0140", "the rest of an array is written `..` in a pattern", "write `..`, or `..name`")
REST_NOT_LAST = Code("K0141", "`..` stands last in an array pattern", "move it to the end: `[first, ..rest]`")
RECEIVER_NOT_FIRST = Code("K0120", "`self` can only be the first parameter")
STRAY_DOCUMENTATION = Code(
    "K0121",
    "this `///` comment documents nothing: it stands after code on its line",
    "put it on the line before what it describes, or write `//`",
    "warning",
)

# K02xx: names.

UNKNOWN_NAME = Code("K0201", "`{name}` is not known here")
DUPLICATE_NAME = Code("K0202", "`{name}` is declared twice", "choose another name for one of them")
BUILT_IN_NAME = Code("K0203", "`{name}` is the name of something built in", "choose another name")
UNKNOWN_TYPE = Code("K0204", "there is no type `{name}`")
NOT_A_TYPE = Code("K0205", "`{name}` is {what}, not a type")
UNKNOWN_FIELD = Code("K0206", "`{type}` has no field `{name}`")
UNKNOWN_METHOD = Code("K0207", "`{type}` has no method `{name}`")
UNKNOWN_VARIANT = Code("K0208", "`{type}` has no variant `{name}`")
BARE_VARIANT = Code("K0209", "`{name}` is a variant of `{type}`, and is written with its name", "write `{type}.{name}`")
NOT_A_VALUE = Code("K0210", "`{name}` is {what}, not a value")
NOT_CALLABLE = Code("K0211", "{what} cannot be called")
UNDERSCORE_READ = Code("K0212", "`_` has no value: it stands for what nobody needs", "give it a name to read it")
SELF_OUTSIDE_METHOD = Code("K0213", "`self` is known only in a method of a type")
SELF_NOT_ALLOWED = Code("K0214", "{what} takes no `self`", "leave `self` out: write `{signature}`")
SELF_MISSING = Code("K0215", "the method `{name}` of `{type}` takes no `self`", "write `{signature}`")
UNKNOWN_CAPABILITY = Code("K0216", "there is no capability `{name}`")
TYPE_ARGUMENTS = Code("K0217", "`{name}` takes {wanted}, but {given}")
METHOD_ON_TYPE = Code("K0218", "`{name}` is called on a value of `{type}`, not on the type", "write `value.{name}(…)`")
IMPORTED_TWICE = Code("K0230", "`{path}` is imported twice", "remove one of the two")
IMPORT_CYCLE = Code(
    "K0231",
    "files cannot import each other: {ring}",
    "move what they share into a file of its own, which both import",
)
IMPORT_CLASH = Code("K0232", "`{path}` brings `{name}`, and {other}", "rename one of the two")
AGENT_TWICE = Code(
    "K0233",
    "a program has one agent `{name}`, and {path} declares another",
    "rename one of the two: the windows of limits are kept under the agent's name",
)
TEST_TWICE = Code("K0234", "two tests of this file are called {name}", "rename one: the name says which of them failed")
MUT_NOT_ALLOWED = Code("K0240", "{what} changes none of its arguments", "leave `mut` out, and give the new value back")
MUT_MISSING = Code("K0241", "`{name}` changes its `{argument}`, and the call has to say so", "write `mut {text}`")
MUT_UNWANTED = Code("K0242", "`{name}` does not change its `{argument}`", "leave `mut` out")
MUT_TWICE = Code(
    "K0243", "`{name}` would be changed through two parameters at once", "copy it first: `let other = {name}`"
)
MUT_VALUE = Code(
    "K0244",
    "`{name}` changes its argument, so it cannot be a value",
    "write a function that takes the value and gives the new one back",
)
METHOD_NOT_CALLED = Code(
    "K0219",
    "`{name}` is a method of `{type}`, not a field",
    "call it: `.{name}(…)`; where a function is wanted, wrap it: `fn(…) => ….{name}(…)`",
)

# K03xx: types.

TYPE_MISMATCH = Code("K0301", "expected `{wanted}`, but this is `{found}`")
NOTHING_GIVEN = Code("K0331", "expected `{wanted}`, but this gives nothing")
OPERATOR_TYPES = Code("K0302", "`{operator}` does not work on `{left}` and `{right}`")
UNARY_TYPE = Code("K0303", "`{operator}` does not work on `{type}`")
NOT_COMPARABLE = Code("K0304", "values of `{type}` cannot be compared with `{operator}`: {reason}")
NOT_SHOWN = Code("K0305", "{a_type} cannot be shown: {reason}")
EMPTY_ARRAY = Code(
    "K0306",
    "nothing says what this empty array is to hold",
    "write its type where it is declared, such as `let xs: [Int] = []`",
)
EMPTY_MAP = Code(
    "K0363",
    "nothing says what this empty map is to hold",
    "write its type where it is declared, such as `let m: [String: Int] = [:]`",
)
NOT_A_KEY = Code(
    "K0364",
    "`{type}` cannot be the type of keys: {reason}",
    "keys are Int, String, Bool, Duration, Instant, and tuples, records and sums of those",
)
NUMBER_TOO_LARGE = Code("K0307", "`{text}` does not fit in {type}")
NO_VALUE = Code("K0308", "this never gives a value: it leaves before it could", "write it as a statement of its own")
NOT_INDEXABLE = Code("K0309", "{a_type} has no elements to take by index")
NOT_ITERABLE = Code("K0310", "`for` cannot go over {a_type}", "it goes over an array, or over a range such as `0..10`")
RANGE_NOT_ALLOWED = Code("K0311", "a range stands only in `for` and in patterns", "write `for i in {range} {{ … }}`")
HAS_NO_END = Code(
    "K0312",
    "`{name}` has no end: a value of it would hold another `{name}`, and so on",
    "let a value end: hold `{held}?`, which may be `none`, or `[{held}]`, which may be empty",
)
NONE_TYPE = Code(
    "K0340",
    "nothing says what is absent in this `none`",
    "write its type where it is declared, such as `let x: Int? = none`",
)
NONE_NOT_WANTED = Code("K0341", "expected {a_type}, but this is `none`")
NOT_OPTIONAL = Code("K0342", "{what} needs a value that may be `none`, and this is {a_type}")
NOT_A_TUPLE = Code("K0343", "only a tuple can be taken apart, and this is {a_type}")
TUPLE_LENGTH = Code("K0344", "this tuple has {wanted}, but {given} taken here")
TOO_MANY_ARGUMENTS = Code("K0313", "`{name}` takes {wanted}, but {given} given")
ARGUMENT_MISSING = Code("K0314", "`{name}` needs {missing}")
ARGUMENT_UNKNOWN = Code("K0315", "`{name}` has no {kind} `{argument}`")
ARGUMENT_TWICE = Code("K0316", "`{argument}` is given twice", "leave one of them out")
POSITIONAL_AFTER_NAMED = Code(
    "K0317", "an argument without a name stands after one with a name", "write `{argument}: …` here too"
)
NO_FIELDS_TO_GIVE = Code("K0318", "`{name}` has no fields", "write `{name}`")
WITH_NOT_RECORD = Code("K0319", "`with` makes a changed copy of a record, and this is `{type}`")
PLACE_NOT_MUTABLE = Code("K0320", "`{name}` cannot change: it is {what}")
NOT_A_PLACE = Code(
    "K0321", "this is not something that can change", "change a name that was declared with `let`, or a part of one"
)
RESULT_MISSING = Code("K0322", "`{name}` gives {a_type}, but can end without one")
RETURN_VALUE_MISSING = Code("K0323", "`{name}` gives {a_type}: `return` needs a value", "write `return …`")
RETURN_VALUE_UNEXPECTED = Code("K0324", "`{name}` gives nothing, so `return` takes no value")
NOT_ASKABLE = Code("K0325", "`ask` cannot give {a_type}: {reason}")
NOT_JSON = Code("K0365", "JSON cannot hold {a_type}: {reason}")
ASK_TYPE_MISSING = Code("K0326", "nothing says what `ask` is to give", "write the type of the answer: `ask<Answer>(…)`")
IF_WITHOUT_ELSE = Code("K0327", "`if` without `else` gives nothing, and {a_type} is expected", "add `else {{ … }}`")
IF_GIVES_NOTHING = Code(
    "K0332", "`if` without `else` gives nothing, so `{name}` would hold nothing", "add `else {{ … }}`"
)
NOT_AN_ERROR_TYPE = Code(
    "K0328", "`{type}` cannot be an error type", "an error type is a `type` of your own, or `Error`"
)
CONSTRUCT_SUM = Code("K0329", "`{type}` is a choice of variants: name one of them", "write `{example}`")
SELF_CONTAINED_DEFAULT = Code("K0330", "the default of `{field}` has no end: it makes {a_type}, which needs it again")

TYPE_NOT_INFERRED = Code("K0350", "nothing says what `{parameter}` of `{name}` stands for here")
BOUND_MISSING = Code("K0351", "`{name}` needs `{parameter}: {bound}`, but `{type}` does not have it: {reason}")
UNKNOWN_BOUND = Code(
    "K0352",
    "`{name}` is not a bound",
    "the bounds are `Eq` (`==`), `Ord` (`<` and `==`), `Key` (keys of maps, and `==`) and `Show` (text)",
)
GENERIC_IMPLEMENTS = Code(
    "K0353", "`{type}` is generic, and only a type without type parameters can be a capability", "{advice}"
)
GROWS_WITHOUT_END = Code(
    "K0354", "`{name}` needs itself with ever larger types: `{parameter}` stands for `{larger}` there, and so on"
)
TOO_MANY_INSTANCES = Code(
    "K0355", "the generic functions of this program are needed with too many types: more than {limit}"
)
TYPE_TOO_LARGE = Code("K0357", "`{name}` is needed with a type too large to handle: more than {limit} types in one")
ERROR_OF_GENERIC = Code(
    "K0356",
    "`{name}` is generic, and an `Error` does not say which `{name}` it holds",
    "match it before it becomes an `Error`, or hold it in an error type without type parameters",
)
CLOSURE_PARAMETER_TYPE = Code("K0360", "nothing says what `{name}` is", "write its type, such as `{name}: Int`")
CLOSURE_PARAMETERS = Code("K0361", "expected `{wanted}`, but this function has {given}")
RETURN_OF_UNKNOWN = Code(
    "K0362",
    "`return` cannot stand here: nothing says what this function gives",
    "write the function in full, with its result: `fn(…) -> Int {{ … }}`",
)

# K04xx: effects and capabilities.

EFFECT_NOT_PROMISED = Code("K0401", "`{name}` uses `{effect}`, which its `uses` does not list")
FUNCTION_USES_MORE = Code(
    "K0409", "{name} uses `{effect}`, which `{type}` does not list", "add `{effect}` to the type's `uses`"
)
USES_TWICE = Code("K0410", "`uses` lists `{effect}` already", "leave it out here")
USES_NOT_SAID = Code("K0411", "what is given here may use no more than `{uses}`, and a `{type}` may use anything")
EFFECT_NOT_ALLOWED = Code("K0402", "the handler `{name}` uses `{effect}`, which its agent may not")
CAPABILITY_OUTSIDE_HANDLER = Code(
    "K0403",
    "`{name}` is a capability: only an agent's handlers can use it by name",
    "take it as a parameter, `{example}: {name}`, and use that",
)
CAPABILITY_METHOD_MISSING = Code(
    "K0404", "`{type}` does not have every method of `{capability}`: `{method}` is missing"
)
CAPABILITY_METHOD_DIFFERS = Code("K0405", "`{method}` of `{type}` is not as `{capability}` declares it")
NOT_A_CAPABILITY = Code("K0406", "`{name}` is {what}, not a capability")
BUILT_IN_HAS_NO_PARTS = Code("K0407", "`{capability}` is built in, and is given as a whole", "write `{capability}`")
CAPABILITY_USES = Code(
    "K0408",
    "a capability's method has no `uses`: what an implementation uses is its own affair",
    "leave `uses` out",
)

# K05xx: agents and limits. The texts of K0501, K0502 and K0510 are those of the reference pages.

SETTINGS_NOT_KNOWN = Code(
    "K0501",
    "an agent's settings are chosen when the program is built: write `AgentSettings(…)` with plain values, or call a "
    "function with no parameters that gives one, such as `standard()`, perhaps `with {{ … }}` (spec 8.5)",
)
MODEL_NOT_KNOWN = Code(
    "K0502",
    "an agent's model is chosen when the program is built: write `Model(…)` with plain values, or call a "
    "function with no parameters that gives one, such as `standard()`, perhaps `with {{ … }}` (spec 8.5)",
)
SETTING_TWICE = Code("K0503", "the agent `{agent}` has two `{kind}` lines", "leave one of them out")
CAN_TWICE = Code("K0504", "the agent `{agent}` can `{effect}` already", "leave it out here")
START_CAPABILITY_MISSING = Code("K0505", "`{agent}` cannot start without {missing}", "write `{example}`")
START_CAPABILITY_UNKNOWN = Code("K0506", "`{agent}` is not started with `{name}`", "write `{example}`")
START_NEEDS_NAMES = Code("K0507", "`start` takes its capabilities by name", "write `{example}`")
HANDLER_ON_AGENT = Code(
    "K0508", "`{name}` is a handler of `{agent}`: call it on a started agent", "write `{example}`, then `bot.{name}(…)`"
)
AGENT_NOT_CALLED = Code("K0509", "an agent is started, not called", "write `{example}`")
TOKENS_OUTSIDE_AI = Code("K0510", "`tokens` counts what AI calls took: it is for `limit Ai` rules (spec 8.3)")
LIMIT_NOT_USED = Code("K0511", "`{target}` is limited, but the agent `{agent}` cannot use it", "add `can {target}`")
LIMIT_TWICE = Code("K0512", "the agent `{agent}` limits `{target}` twice", "put all the rules in one `limit`")
LIMIT_BUILT_IN = Code("K0513", "of the built-in capabilities only `Ai` can be limited, not `{name}`")
LIMIT_WITHOUT_METHOD = Code("K0514", "a limit is on one method of `{name}`", "write `limit {example} {{ … }}`")
LIMIT_AI_RULE = Code(
    "K0515",
    "a rule of `limit Ai` counts asks or tokens",
    "write `count <= 100 per day` or `tokens <= 200_000 per day`",
)
LIMIT_DENIED_MISSING = Code(
    "K0516", "`{target}` is limited, but its error {error} has no variant `Denied(reason: String)` for a refusal"
)
RULE_SHAPE = Code(
    "K0517",
    "a rule with `per` compares `sum(…)` or `count` with `<=` or `<`",
    "write `sum({example}) <= 500 per day` or `count <= 100 per day`",
)
RULE_WINDOW_MISSING = Code("K0518", "`{word}` needs a window to count in", "add one at the end of the rule: `per day`")
RULE_BOUND = Code("K0519", "the bound of a rule is a plain number{reason}", "write it out, such as `{example}`")
RULE_BOUND_NEGATIVE = Code("K0520", "`{word}` is never below zero: this rule would refuse everything")
RULE_WINDOW_UNKNOWN = Code(
    "K0521", "`{word}` is not a length of time", "write minute, hour, day, week or month, or a duration such as `10m`"
)
RULE_WINDOW_EMPTY = Code("K0522", "a window is longer than nothing", "write a duration such as `10m`")
RULE_SUM_TYPE = Code("K0523", "`sum` adds up Int, Float or Duration, and this is {a_type}")
RULE_NOT_PURE = Code("K0524", "a rule only computes with the call's parameters, and this {reason}")
RULE_KEY_TYPE = Code("K0525", "a window's key is an Int, a String or a Bool, and this is {a_type}")
RULE_KEY_AI = Code(
    "K0526", "an ask has no parameters, so a rule of `limit Ai` has no key", "leave `by` and the key out"
)

# K06xx: errors and control flow.

ERROR_NOT_HANDLED = Code(
    "K0601", "`{name}` can fail with `{error}`, and nothing handles that", "write `try {text}` or `{text} catch e => …`"
)
TRY_CANNOT_FAIL = Code("K0602", "`{word}` is for a call that can fail, and `{name}` cannot", "leave `{word}` out")
TRY_NEEDS_CALL = Code("K0603", "`{word}` is for a call that can fail, and this is not a call", "{advice}")
FUNCTION_CANNOT_FAIL = Code("K0604", "`{word}` leaves `{name}` with an error, but `{name}` cannot fail")
ERROR_DOES_NOT_FIT = Code("K0605", "`{found}` is not the error that `{name}` fails with, `{wanted}`")
OUTSIDE_LOOP = Code("K0606", "`{word}` stands outside a loop")
OUTSIDE_FUNCTION = Code("K0607", "`{word}` stands outside a function")
SPAWN_NEEDS_CALL = Code("K0608", "`spawn` starts a call of a function or a method, and this is none")
MAIN_SHAPE = Code("K0609", "`main` takes no parameters and gives no result")
SPAWN_BUILT_IN = Code("K0610", "`{name}` changes a value in place, so it cannot be spawned", "call it without `spawn`")

# K07xx: patterns.

MATCH_MISSES = Code("K0701", "this `match` misses {missing}", "add {arms}")
ARM_UNREACHABLE = Code("K0702", "this arm never runs: the arms before it take every value that fits it")
ALTERNATIVE_UNREACHABLE = Code("K0703", "`{text}` never fits here: what stands before it takes every such value")
PATTERN_TYPE = Code("K0704", "this pattern fits {a_pattern}, but the value is {a_type}")
PATTERN_NONE = Code("K0720", "`none` fits only what may be absent, and the value is {a_type}")
PATTERN_FIELDS = Code("K0705", "`{name}` has {wanted}, but {given} given")
ALTERNATIVE_BINDS = Code(
    "K0706", "`{name}` cannot be bound here: the other alternatives would leave it without a value"
)
PATTERN_RANGE_EMPTY = Code("K0707", "no value lies in `{text}`", "the smaller bound stands first")
PATTERN_NOT_PLAIN = Code(
    "K0708",
    "the text of a pattern is plain, without values in `{{ }}`",
    'compare in a guard: `text if text == "…" => …`',
)
PATTERN_UNKNOWN = Code("K0709", "`{name}` is not something to match")
MATCH_TOO_INTRICATE = Code(
    "K0710",
    "this `match` has too many combinations to be sure that it misses none",
    "split it, or end it with `_ => …`",
)
PATTERN_IS_TYPE = Code("K0711", "`{name}` is a type, and cannot be bound here", "write `_` to match any value")

# K08xx: constants and what is computed when the program is built.

CONSTANT_CYCLE = Code("K0801", "the constant `{name}` needs itself")
CONSTANT_NOT_PURE = Code("K0802", "the constant `{name}` is computed when the program is built, and this {reason}")
CONSTANT_TYPE = Code("K0803", "the constant `{name}` cannot be {a_type}: {reason}")
DEFAULT_NOT_PLAIN = Code(
    "K0804", "the default of `{name}` is a plain value: literals, constants and what is made of them"
)
# By `interpreter/constants.py`.
EVALUATION_FAILS = Code("K0805", "computing {what} when the program is built ends in a mistake: {message}")
EVALUATION_TOO_LONG = Code(
    "K0806",
    "computing {what} when the program is built takes too long: more than {steps} steps",
    "a step is a call, or a turn of a loop: compute less here, or compute it when the program runs",
)
EVALUATION_TOO_LARGE = Code("K0807", "computing {what} when the program is built makes too large a value")
MODEL_NUMBER_TOO_SMALL = Code("K0808", "the model's `{name}` is {value}: it must be 1 or more")
MODEL_NAME_EMPTY = Code("K0809", "the model's name is empty", "write its name, such as `claude-haiku-5-5`")
MODEL_BASE_URL = Code(
    "K0810",
    "the model's `base_url` is no address of a provider: {value}",
    "write one such as `https://api.example.com`, with `http` or `https`, a host, and perhaps a port and a path",
)
MODEL_TIMEOUT = Code(
    "K0811",
    "the model's `timeout` is {value}: no answer comes so soon",
    "write how long an ask may take, such as `10m`",
)

# Rules of fields.

FIELD_RULE_NOT_PURE = Code("K0820", "the rule of `{place}` only computes with the field, and this {reason}")
FIELD_RULE_CYCLE = Code(
    "K0821",
    "the rule of `{place}` needs itself: to look at it, such a value is made or changed again",
    "let the rule look at the field only",
)

# K10xx: warnings, by `semantics/warnings.py`.

UNUSED_LOCAL = Code("K1001", "`{name}` is never used", "leave it out, or call it `_{name}`", "warning")
UNUSED_PARAMETER = Code(
    "K1002", "the parameter `{name}` is never used", "leave it out, or call it `_{name}`", "warning"
)
UNUSED_FUNCTION = Code("K1003", "nothing calls `{name}`", "leave it out, or call it `_{name}`", "warning")
UNREACHABLE = Code("K1004", "this never runs", "leave it out", "warning")
SHADOWED = Code(
    "K1005",
    "this `{name}` hides another one of the same type",
    "to change that one, leave out `let` or `const`; otherwise choose another name",
    "warning",
)
UNUSED_IMPORT = Code("K1007", "nothing of `{path}` is used", "leave the import out", "warning")
NEGATIVE_INDEX = Code(
    "K1008", "there is never an element `{text}`: indexes count from 0", "write `{example}`", "warning"
)
NEEDLESS_USES = Code("K1006", "`{name}` promises `{effect}` and never uses it", "leave `{effect}` out", "warning")
DROPPED_VALUE = Code("K1009", "nothing takes what `{name}` gives, and it does nothing else", None, "warning")

# K11xx: notes.

SCHEMA_IN_PROMPT = Code("K1101", "the schema for `ask<{type}>` goes into the prompt: {reason}", None, "note")
