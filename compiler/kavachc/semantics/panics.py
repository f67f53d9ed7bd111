"""What a panic says (spec 2 and 4): one row each, used by the interpreter and by the lowering."""

INTEGER_OVERFLOW = "integer overflow"
DIVISION_BY_ZERO = "division by zero"
SHIFT_OUT_OF_RANGE = "shift by {amount} is outside 0..63"
INDEX_OUT_OF_RANGE = "index {index} is out of range: the length is {length}"
CALLS_TOO_DEEP = "calls are nested more than 100000 deep"
CALL_DEPTH_MAX = 100_000
