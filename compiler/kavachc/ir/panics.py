"""The panics that ops bring with them. A test compares them with `semantics/panics.py`, which `ir` may not import."""

INTEGER_OVERFLOW = "integer overflow"
DIVISION_BY_ZERO = "division by zero"
CALLS_TOO_DEEP = "calls are nested more than 100000 deep"
STACK_OVERFLOW = "stack overflow"
CALL_DEPTH_MAX = 100_000
