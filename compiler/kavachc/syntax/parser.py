"""From a source file to its syntax tree, reporting every syntax error on the way.

After a syntax error the parser starts afresh at the next line that begins with the first word of a declaration,
without indentation: so one mistake spoils one declaration, whatever it left open. The names that spoiled declarations
would have declared go with the tree, so that nobody is told that they are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from kavachc.diagnostics.diagnostic import Diagnostic, DiagnosticBag
from kavachc.source import SourceFile, Span
from kavachc.syntax import ast
from kavachc.syntax.ast_builder import AstBuilder
from kavachc.syntax.building.base import GiveUp
from kavachc.syntax.lexer import Lexer
from kavachc.syntax.spoiled import (
    FOREIGN_DECLARATIONS,
    FOREIGN_IMPORTS,
    drop_cut_short,
    imports,
    names_declared,
    split_spoiled,
    without_start,
)
from kavachc.syntax.syntax_errors import SyntaxErrorSite, advance, report_syntax_error
from kavachc.syntax.tables import ACCEPT, SPLICE, Production, load_tables
from kavachc.syntax.tokens import DECLARATION_KEYWORDS, END, IDENTIFIER, MISTAKE, SOFT_KEYWORDS, Token

# The first word of a declaration, perhaps of one in another language, at the start of a line.
_STARTS: Final = "|".join(["test", *sorted(DECLARATION_KEYWORDS), *FOREIGN_DECLARATIONS, *FOREIGN_IMPORTS])
_DECLARATION_START: Final = re.compile(rf"^(?:{_STARTS})\b", re.MULTILINE)


def parse(file: SourceFile, bag: DiagnosticBag) -> ast.Module:
    """The tree of `file`: every declaration that could be read. What could not is reported to `bag`."""
    reported = len(bag.items)
    # What stopped the parser is about what could not be read; the rest may be about what could.
    stopped: set[int] = set()
    lexer = Lexer(file, bag)
    lexer.report_control_characters()
    builder = AstBuilder(file, bag, lexer.documentation)
    run = _Run(file, lexer, builder)
    unread: list[str] = []
    position: int | None = 0
    while position is not None:
        site = run.parse_from(position)
        if site is None:
            break
        if site.token.kind != MISTAKE:
            report_syntax_error(site, bag)
            stopped.add(id(bag.items[-1]))
        start = max(position, builder.end)
        position = _next_declaration(file, site.resume_from)
        text = without_start(file.text[start:position])
        if text:
            unread.append(text)
        two_on_a_line = site.token.kind in DECLARATION_KEYWORDS and file.text[:start].endswith("}")
        if not file.text[start : site.token.start].strip() and not two_on_a_line:
            cut = drop_cut_short(file, builder.declarations, site.token.start)
            unread.extend(declaration.span.text for declaration in cut)
    builder.finish()
    inside = [item for item in bag.items[reported:] if id(item) not in stopped]
    sound, wrong = split_spoiled(builder.declarations, inside)
    bag.items[reported:] = sorted(bag.items[reported:], key=_place)
    spoiled = {ast.declared_name(declaration).text for declaration in wrong}
    named = [names_declared(text) for text in unread]
    spoiled.update(*named)
    return ast.Module(
        file,
        tuple(sound),
        tuple(builder.imports),
        frozenset(builder.public),
        frozenset(spoiled.difference(ast.declared_name(declaration).text for declaration in sound)),
        not all(named) or any(map(imports, unread)),
    )


def _next_declaration(file: SourceFile, position: int) -> int | None:
    """Where the next declaration from `position` on starts, with the documentation before it."""
    match = _DECLARATION_START.search(file.text, position)
    if match is None:
        return None
    line, _ = file.position(match.start())
    while line > 1 and file.line_text(line - 1).startswith("///"):
        line -= 1
    return file.line_starts[line - 1]


def _place(diagnostic: Diagnostic) -> int:
    return diagnostic.span.start if diagnostic.span else 0


class _Run:
    """The LALR automaton over one file.

    Three stacks in step: states, values, and where each value starts. `values[0]` is None, which stands for
    an optional part that is absent.
    """

    def __init__(self, file: SourceFile, lexer: Lexer, builder: AstBuilder) -> None:
        self._file = file
        self._lexer = lexer
        self._tables = load_tables()
        self._builds: dict[str | None, Callable[..., Any]] = {
            production.action: builder.action(production.action)
            for production in self._tables.productions
            if production.action is not None and production.action != SPLICE
        }
        self._states: list[int] = []
        self._values: list[Any] = []
        self._starts: list[int] = []

    def parse_from(self, position: int) -> SyntaxErrorSite | None:
        """Parse declarations from `position` to the end of the file, or to the first syntax error."""
        lexer = self._lexer
        actions = self._tables.actions
        states = self._states = [self._tables.start_state]
        values: list[Any] = [None]
        starts = [position]
        self._values, self._starts = values, starts
        previous = Token("NEWLINE", position, position, "")
        for token in lexer.tokens(position):
            kind = token.kind
            while True:
                action = actions[states[-1]].get(kind)
                if isinstance(action, int):
                    if action == ACCEPT:
                        return None
                    states.append(action)
                    values.append(token)
                    starts.append(token.start)
                    break
                if action is not None:
                    try:
                        self._reduce(action, previous.end, token.start)
                    except GiveUp:
                        mistake = token._replace(kind=MISTAKE)
                        return SyntaxErrorSite(
                            self._file, self._tables, (), mistake, previous, (), resume_from=token.start + 1
                        )
                elif kind in SOFT_KEYWORDS:
                    kind = IDENTIFIER
                else:
                    return self._stop(position, token, previous)
            previous = token
        raise AssertionError("the lexer ended without END or MISTAKE")

    def _reduce(self, production: Production, end: int, next_start: int) -> None:
        """Replace the children of `production` on the stacks by what the builder makes of them."""
        states, values, starts = self._states, self._values, self._starts
        size = production.size
        action = production.action
        if size == 0:
            values.append(self._builds[action](Span(self._file, next_start, next_start)))
            starts.append(next_start)
            states.append(production.goto[states[-1]])
            return
        if action is None and size == 1:
            del states[-1]
            states.append(production.goto[states[-1]])
            return
        children: Sequence[Any] = production.getter(values)
        if production.spliced is not None:
            children = _splice(children, production.spliced)
        value: Any
        if action is None:
            value = children[0]
        elif action == SPLICE:
            value = children
        else:
            value = self._builds[action](Span(self._file, starts[-size], end), *children)
        del states[-size:]
        del values[-size:]
        values.append(value)
        if size > 1:
            del starts[1 - size :]
        states.append(production.goto[states[-1]])

    def _stop(self, position: int, token: Token, previous: Token) -> SyntaxErrorSite:
        """Describe the error at `token`, and keep the declaration before it if that was complete."""
        begins_line = self._file.position(previous.start)[1] == 1
        if previous.kind == "fn" and token.kind == IDENTIFIER and begins_line and self._lexer.open:
            # Not a closure but the next declaration: what is open was to be closed before it.
            token, previous = previous, self._token_before(previous, position)
        states = self._states_before(token, position)
        # Never the same place twice: what could not start a declaration is left behind.
        starts_declaration = "agent" in self._tables.actions[states[-1]]
        site = SyntaxErrorSite(
            self._file,
            self._tables,
            states,
            token,
            previous,
            tuple(self._lexer.open),
            token.start + 1 if starts_declaration else token.start,
        )
        while isinstance(production := self._tables.actions[self._states[-1]].get(END), Production):
            self._reduce(production, previous.end, previous.end)
        return site

    def _token_before(self, token: Token, position: int) -> Token:
        before = token
        for earlier in self._lexer.silent_copy().tokens(position):
            if earlier.start == token.start and earlier.kind == token.kind:
                break
            before = earlier
        return before

    def _states_before(self, token: Token, position: int) -> tuple[int, ...]:
        """The stack of states as it was before `token`, found by running again from `position`.

        LALR tables may reduce before they find an error, and then no longer know all that could have stood there.
        """
        states = [self._tables.start_state]
        for earlier in self._lexer.silent_copy().tokens(position):
            if earlier.start == token.start and earlier.kind == token.kind:
                break
            if not advance(self._tables, states, earlier.kind):
                advance(self._tables, states, IDENTIFIER)
        return tuple(states)


def _splice(children: Sequence[Any], spliced: tuple[bool, ...]) -> list[Any]:
    """`children` with the items of each helper list in its place.

    A list that comes first is extended rather than copied: a long list would cost its square otherwise.
    """
    items: list[Any] = children[0] if spliced[0] else [children[0]]
    for child, is_list in zip(children[1:], spliced[1:], strict=True):
        if is_list:
            items.extend(child)
        else:
            items.append(child)
    return items
