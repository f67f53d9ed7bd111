"""The LALR(1) tables: lark reads `grammar.lark` and computes them, once per process.

lark's own parse loop is not used. The loop in `parser.py` reads these tables instead: it is about three times
faster, gives each node its exact span, and can start afresh after a syntax error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import itemgetter
from typing import Any, TypeAlias

from lark import Lark
from lark.grammar import Rule
from lark.lexer import Lexer, PatternStr
from lark.parsers.lalr_analysis import Shift

from kavachc.syntax.tokens import END

# The children of a production, taken off the value stack as a tuple.
Getter: TypeAlias = Callable[[Sequence[Any]], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Production:
    """One alternative of a rule.

    `action` names the method of the AST builder, or is None where the value of the one child stands for the
    whole. `spliced` is set where children are helper lists of lark's, whose items are children themselves.
    """

    rule: str
    action: str | None
    size: int
    getter: Getter
    spliced: tuple[bool, ...] | None
    goto: dict[int, int]


# A state number to shift to, a production to reduce by, or `ACCEPT`.
Action: TypeAlias = int | Production
ACCEPT = -1
# The action of lark's helper rules for repetition, whose value is a list that the rule around it takes in.
SPLICE = "splice"


@dataclass(frozen=True, slots=True)
class Tables:
    """`actions[state][kind]` is what to do with a token of that kind."""

    start_state: int
    actions: dict[int, dict[str, Action]]
    productions: tuple[Production, ...]


class _NoLexer(Lexer):
    """Tells lark that tokens come from elsewhere."""

    def __init__(self, configuration: object) -> None:
        pass

    def lex(self, *_: object) -> Iterator[Any]:
        return iter(())


@cache
def load_tables() -> Tables:
    """The tables of `grammar.lark`."""
    grammar = files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    lark = Lark(grammar, parser="lalr", lexer=_NoLexer, maybe_placeholders=True)
    parse_table = lark.parser.parser.parser.parse_table
    kinds = {
        terminal.name: terminal.pattern.value for terminal in lark.terminals if isinstance(terminal.pattern, PatternStr)
    }
    gotos: dict[str, dict[int, int]] = {}
    productions = {rule: _production(rule, gotos) for rule in lark.rules}
    actions: dict[int, dict[str, Action]] = {}
    for state, row in parse_table.states.items():
        actions[state] = row_actions = {}
        for symbol, (action, argument) in row.items():
            if symbol in gotos:
                gotos[symbol][state] = argument
            else:
                kind = kinds.get(symbol, symbol.lstrip("_"))
                row_actions[kind] = argument if action is Shift else productions[argument]
    actions[parse_table.end_states["start"]][END] = ACCEPT
    return Tables(parse_table.start_states["start"], actions, tuple(productions.values()))


def _production(rule: Rule, gotos: dict[str, dict[int, int]]) -> Production:
    name = rule.origin.name
    size = len(rule.expansion)
    kept = [index for index, symbol in enumerate(rule.expansion) if not getattr(symbol, "filter_out", False)]
    helper = name.startswith("_")
    action: str | None = rule.alias or name
    if helper:
        action = SPLICE
    elif rule.options.expand1 and not rule.alias and len(kept) == 1:
        action = None
    splices = tuple(rule.expansion[index].name.startswith("_") for index in kept)
    goto = gotos.setdefault(name, {})
    return Production(name, action, size, _getter(rule, kept), splices if any(splices) or helper else None, goto)


def _getter(rule: Rule, kept: list[int]) -> Getter:
    """Takes the kept children off a value stack whose first item is None, with None for each absent `[x]`."""
    size = len(rule.expansion)
    positions: list[int] = []
    index = 0
    for absent in rule.options.empty_indices or (False,) * size:
        if absent:
            positions.append(0)
            continue
        if index in kept:
            positions.append(index - size)
        index += 1
    if not positions:
        return _nothing
    if len(positions) == 1:
        only = positions[0]
        return lambda values: (values[only],)
    return itemgetter(*positions)


def _nothing(_: Sequence[Any]) -> tuple[Any, ...]:
    return ()
