"""Binary operators: how tightly each binds, and building the tree of a flat chain.

a + b * c == d        [a, +, b, *, c, ==, d]        Binary(==, Binary(+, a, Binary(*, b, c)), d)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, cast

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import DiagnosticBag, Label
from kavachc.source import SourceFile, Span
from kavachc.syntax import ast
from kavachc.syntax.tokens import Token

# Loosest first. All associate to the left, except that ranges and comparisons do not associate, and `??` does to the
# right.
_LEVELS: Final = (
    ("..", "..="),
    ("||",),
    ("&&",),
    ("==", "!=", "<", "<=", ">", ">="),
    ("??",),
    ("|",),
    ("^",),
    ("&",),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_TIGHTNESS: Final = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_RANGE: Final = _TIGHTNESS[".."]
_COMPARISON: Final = _TIGHTNESS["=="]
_COALESCE: Final = _TIGHTNESS["??"]

# Operand, operator, operand, …
Chain: TypeAlias = Sequence[ast.Expression | Token]


def build_chain(chain: Chain, file: SourceFile, bag: DiagnosticBag) -> ast.Expression:
    """The tree of `chain`. Works on two stacks, so the length of a chain is not bounded."""
    operands = [cast(ast.Expression, chain[0])]
    operators: list[Token] = []
    for index in range(1, len(chain), 2):
        operator = cast(Token, chain[index])
        tightness = _TIGHTNESS[operator.text]
        while operators and _TIGHTNESS[operators[-1].text] >= tightness + (tightness == _COALESCE):
            previous = operators.pop()
            if tightness == _TIGHTNESS[previous.text] and tightness in (_RANGE, _COMPARISON):
                _refuse_chain(previous, operator, file, bag)
            _combine(operands, previous, file)
        operators.append(operator)
        operands.append(cast(ast.Expression, chain[index + 1]))
    while operators:
        _combine(operands, operators.pop(), file)
    return operands[0]


def _combine(operands: list[ast.Expression], operator: Token, file: SourceFile) -> None:
    """Replace the last two operands by the node of `operator` between them."""
    right = operands.pop()
    left = operands[-1]
    span = Span(file, left.span.start, right.span.end)
    if operator.kind == "RANGE":
        operands[-1] = ast.RangeExpression(span, left, right, operator.text == "..=")
    elif operator.kind == "??":
        operands[-1] = ast.Coalesce(span, left, right)
    else:
        operator_span = Span(file, operator.start, operator.end)
        operands[-1] = ast.Binary(span, cast(ast.BinaryOperator, operator.text), operator_span, left, right)


def _refuse_chain(first: Token, second: Token, file: SourceFile, bag: DiagnosticBag) -> None:
    code = codes.RANGE_CHAIN if second.kind == "RANGE" else codes.COMPARISON_CHAIN
    label = Label(Span(file, first.start, first.end), "the first one is here")
    bag.report(code, Span(file, second.start, second.end), labels=(label,))
