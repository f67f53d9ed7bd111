"""What a panic says (spec 2 and 4): one row each, used by the interpreter and by the lowering."""

INTEGER_OVERFLOW = "integer overflow"
DIVISION_BY_ZERO = "division by zero"
SHIFT_OUT_OF_RANGE = "shift by {amount} is outside 0..63"
INDEX_OUT_OF_RANGE = "index {index} is out of range: the length is {length}"
KEY_MISSING = "key {key} is not in the map"
CALLS_TOO_DEEP = "calls are nested more than 100000 deep"
# The trace after a panic (spec 4.trace): a line for each call, the innermost first; of more than TRACE_LINES_MAX the
# first and the last ones.
TRACE_CALLED = "  in {name}, called at {place}"
TRACE_STARTED = "  in {name}, started at {place}"
TRACE_MORE = "  … {count} more"
TRACE_FIRST = 10
TRACE_LAST = 9
TRACE_LINES_MAX = TRACE_FIRST + 1 + TRACE_LAST
CLOSURE_NAME = "a function at {place}"
LIMIT_NAME = "limit {target}"
# These two have no place: they happen in the runtime as much as in the program.
OUT_OF_MEMORY = "out of memory"
STACK_OVERFLOW = "stack overflow"
CALL_DEPTH_MAX = 100_000
SLICE_OUT_OF_RANGE = "slice {start}..{end} is out of range: the length is {length}"
EMPTY_SEPARATOR = "the text to look for is empty"
NEGATIVE_COUNT = "the count {count} is negative"
SIZE_TOO_SMALL = "the size {size} is less than 1"
NO_DATE = "there is no date {year}-{month}-{day}"
DATE_OUT_OF_RANGE = "the date is outside the years 1 to 9999"
DATE_OF_NO_INSTANT = "the date is outside the Instants, 1677-09-22 to 2262-04-11"
NEGATIVE_EXPONENT = "the exponent {exponent} is negative"
DECIMALS_OUT_OF_RANGE = "the number of decimals {decimals} is outside 0..=100"
DECIMALS_MAX = 100
FILL_NOT_ONE = "the fill is not one character"
ASSERTION_FAILED = "assertion failed: {condition}"
# Where the condition is a comparison. Values are shown as inside another value, and cut after so many characters.
ASSERTION_SIDES = " (left: {left}, right: {right})"
ASSERTION_MESSAGE = ": {message}"
SHOWN_LENGTH_MAX = 200
EMPTY_RANGE = "the range {low}..={high} is empty"
FIELD_RULE_BROKEN = "the rule of {place} does not hold: {rule}"
JSON_NO_NUMBER = "{value} is no JSON number"
JSON_TOO_DEEP = "the value is nested too deeply for JSON"
