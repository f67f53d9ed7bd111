"""What a syntax error says: in the words of who wrote the program, never the grammar's names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import DiagnosticBag, Label
from kavachc.source import SourceFile, Span
from kavachc.syntax.habits import find_habit
from kavachc.syntax.lexer import Open
from kavachc.syntax.tables import Tables
from kavachc.syntax.tokens import (
    BRACKETS,
    DECLARATION_KEYWORDS,
    END,
    IDENTIFIER,
    KEYWORDS,
    NEWLINE,
    Token,
)


@dataclass(frozen=True, slots=True)
class SyntaxErrorSite:
    """Where the automaton stopped: at `token`, after `previous`, with `states` on its stack.

    Parsing goes on with the first declaration at or after the offset `resume_from`.
    """

    file: SourceFile
    tables: Tables
    states: tuple[int, ...]
    token: Token
    previous: Token
    open: tuple[Open, ...]
    resume_from: int

    def expected(self) -> frozenset[str]:
        """The kinds of token that could stand in place of `token`."""
        return frozenset(kind for kind in self.tables.actions[self.states[-1]] if self._accepts(kind))

    def _accepts(self, kind: str) -> bool:
        """Whether `kind` is taken in the end: LALR tables may reduce first and find the error after."""
        return advance(self.tables, list(self.states), kind)

    @property
    def span(self) -> Span:
        """The token; for a line's or the file's end, the place just after the last token."""
        if self.token.kind in (NEWLINE, END):
            return Span(self.file, self.previous.end, self.previous.end)
        return Span(self.file, self.token.start, self.token.end)


def advance(tables: Tables, states: list[int], kind: str) -> bool:
    """Take a token of `kind` with the stack `states`; False if it is an error there."""
    while True:
        action = tables.actions[states[-1]].get(kind)
        if isinstance(action, int):
            states.append(action)
            return True
        if action is None:
            return False
        if action.size:
            del states[-action.size :]
        states.append(action.goto[states[-1]])


# Groups of kinds that are one thing to a reader. The first that applies is named; its kinds are then left out.
_EXPRESSION: Final = frozenset(
    "INT FLOAT DURATION STRING STRING_START IDENTIFIER true false none self ( [ { if match - ! ~ try spawn return "
    "fail break continue fn".split()
)
_STATEMENT: Final = _EXPRESSION | frozenset("const let for while assert".split())
_PATTERN: Final = frozenset("INT FLOAT DURATION STRING IDENTIFIER true false none - ( [".split())
_AGENT_ITEM: Final = frozenset("model settings can limit on".split())
_GROUPS: Final = (
    (("`fn`", "`type`", "`capability`", "`agent`", "`const`"), "agent", DECLARATION_KEYWORDS | {"test"}),
    (("a statement",), "while", _STATEMENT),
    (("an expression",), "match", _EXPRESSION | {"const", "mut"}),
    (("a pattern",), "INT", _PATTERN),
    (("a parameter",), "self", frozenset({IDENTIFIER, "self", "mut"})),
    (("`model`", "`settings`", "`can`", "`limit`", "`on`"), "settings", _AGENT_ITEM),
)
_TYPE: Final = frozenset({IDENTIFIER, "[", "(", "fn"})
_MEMBER: Final = frozenset({IDENTIFIER, "fn"})
# What may follow an operand; not worth naming unless nothing else may.
_AFTER_OPERAND: Final = frozenset("OPERATOR RANGE ASSIGN - | ?? = ( [ . with TYPE_OPEN catch".split())
_AFTER_TYPE: Final = frozenset("? ??".split())
_AFTER_PATTERN: Final = frozenset("RANGE ( . | if".split())

_WORDS: Final = {
    NEWLINE: "a new line",
    END: "the end of the file",
    IDENTIFIER: "a name",
    "INT": "a number",
    "STRING": "plain text",
    "DURATION": "a duration",
    "OPERATOR": "an operator",
    "RANGE": "`..`",
    "TYPE_CLOSE": "`>`",
    "USES_COMMA": "`,`",
    "STRING_MIDDLE": "`}`",
    "STRING_END": "`}`",
}

IMPORT_SHAPE: Final = 'a file is imported by its path, in plain text: `import "bank.kav"`'


def report_syntax_error(site: SyntaxErrorSite, bag: DiagnosticBag) -> None:
    """Report the one mistake at `site`."""
    token = site.token
    if token.kind == "INT" and token.text == "0" and site.span.text != "0":
        return  # The lexer has told that it is no number.
    expected = site.expected()
    if site.open and _shows_an_unclosed_bracket(site):
        opener = site.open[-1]
        closer = BRACKETS[opener.mark]
        label = Label(Span(site.file, opener.start, opener.start + 1), f"this `{opener.mark}` is never closed")
        bag.report(
            codes.UNCLOSED_BRACKET,
            site.span,
            labels=(label,),
            opener=opener.mark,
            closer=closer,
            found=_found(token),
        )
        return
    habit = find_habit(site.file, token, site.previous, expected, site.open[-1].mark if site.open else "")
    if habit is not None and habit.word is not None:
        bag.report(codes.NOT_KAVACH, Span(site.file, habit.start, habit.end), help=habit.help, word=habit.word)
        return
    if token.kind == "STRING_START" and "STRING" in expected:
        what = {"import": "the path of an import", "test": "a test's name"}.get(site.previous.kind)
        if what is None:
            bag.report(codes.PATTERN_NOT_PLAIN, site.span)
        else:
            help_text = IMPORT_SHAPE if site.previous.kind == "import" else None
            bag.report(codes.TEXT_NOT_PLAIN, site.span, what=what, help=help_text)
        return
    new_line = site.file.position(token.start)[0] > site.file.position(site.previous.end)[0]
    is_name = token.kind in KEYWORDS and IDENTIFIER in expected and "INT" not in expected
    if is_name and habit is None and not new_line:
        bag.report(codes.KEYWORD_AS_NAME, site.span, word=token.text)
        return
    bag.report(
        codes.EXPECTED,
        site.span,
        labels=_open_on_an_earlier_line(site),
        help=_help(site, expected) if habit is None else habit.help,
        expected=_either(_names(expected)),
        found=_found(token),
    )


def _shows_an_unclosed_bracket(site: SyntaxErrorSite) -> bool:
    """Whether the file ends, or the next declaration starts, inside brackets."""
    token = site.token
    if token.kind == END:
        return True
    _, column = site.file.position(token.start)
    return column == 1 and token.kind in DECLARATION_KEYWORDS


def _open_on_an_earlier_line(site: SyntaxErrorSite) -> tuple[Label, ...]:
    """The `(` or `[` that made the lines after it one, when that may be why `site` is a mistake."""
    if not site.open or (site.open[-1].mark == "{" and site.open[-1].quote is None):
        return ()
    opener = site.open[-1]
    if site.file.position(opener.start)[0] == site.file.position(site.token.start)[0]:
        return ()
    return (Label(Span(site.file, opener.start, opener.start + 1), f"this `{opener.mark}` is open"),)


def _found(token: Token) -> str:
    if token.kind == END:
        return "the end of the file"
    if token.kind == NEWLINE:
        return "the end of the line"
    if token.kind in ("STRING", "STRING_START"):
        return "text"
    if token.kind in ("STRING_MIDDLE", "STRING_END"):
        return "`}`"
    return f"`{token.text}`" if len(token.text) <= 40 else f"`{token.text[:39]}…`"


def _names(expected: frozenset[str]) -> list[str]:
    """The kinds `expected` in a reader's words, the most general first."""
    names: list[str] = []
    rest = set(expected) - {"TYPE_OPEN"}
    if "?" in rest:
        rest -= _AFTER_TYPE
    if "OPERATOR" in rest and rest - _AFTER_OPERAND:
        rest -= _AFTER_OPERAND
    if "=>" in rest:
        rest -= _AFTER_PATTERN
    for words, sign, kinds in _GROUPS:
        if sign in rest:
            names.extend(words)
            rest -= kinds
            break
    else:
        if rest >= _TYPE:
            names.append("a type")
            rest -= _TYPE
        elif rest >= _MEMBER:
            names.append("a field or a method")
            rest -= _MEMBER
    return names + sorted({_WORDS.get(kind, f"`{kind}`") for kind in rest}, key=lambda name: ("`" in name, name))


def _either(names: Iterable[str]) -> str:
    *most, last = list(names) or ["something else"]
    return f"{', '.join(most)} or {last}" if most else last


def _help(site: SyntaxErrorSite, expected: frozenset[str]) -> str | None:
    token, previous = site.token, site.previous
    if previous.kind == "import":
        return IMPORT_SHAPE
    if previous.kind == "test" and token.kind in ("STRING", "STRING_START"):
        return "`test` blocks stand at the top level of a file, outside of all brackets"
    if token.kind == "else":
        return "an `else` follows the `}` of its `if`"
    if token.kind == "=" and "OPERATOR" in expected:
        return "to compare, write `==`"
    if token.kind in ("->", "=") and "=>" in expected:
        return "write `=>`"
    if token.kind == "catch":
        return "put parentheses around it: `(f() catch e => …)`"
    if token.kind == ":" and "->" in expected:
        return "the type of the result stands after `->`"
    if token.text in ("throws", "raises") and "!" in expected:
        return "the type of the error stands after `!`"
    if previous.kind == IDENTIFIER and NEWLINE in expected and "OPERATOR" in expected:
        if token.kind == "{" and previous.text[0].isupper():
            return f"a record is made with parentheses: `{previous.text}(…)`"
        if token.kind in ("INT", "FLOAT", "STRING", "STRING_START"):
            return f"a call has parentheses: `{previous.text}(…)`"
    if token.kind in ("return", "break", "continue", "fail") and "match" in expected:
        return f"put parentheses around the `{token.kind}`"
    if token.text == "<" and previous.kind == IDENTIFIER and "OPERATOR" not in expected:
        return "`<` opens type arguments where it touches the name before it: `Task<Bool>`"
    if site.open and site.open[-1].quote:
        return r"a `{` in text starts an expression; write `\{` for the mark itself"
    return None
