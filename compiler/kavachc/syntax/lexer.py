"""From source text to tokens.

One combined pattern reads everything but text literals, whose pieces have a pattern of their own; a stack of
open brackets says which of the two applies after a `}` and whether a line break ends a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import copy
from typing import Final, NamedTuple

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import DiagnosticBag, Label
from kavachc.source import SourceFile, Span
from kavachc.syntax.number_literals import number_advice, number_kind
from kavachc.syntax.tokens import (
    BRACKETS,
    CONTINUES_AFTER,
    CONTINUES_BEFORE,
    END,
    IDENTIFIER,
    KEYWORDS,
    MARKS,
    MISTAKE,
    NEWLINE,
    SOFT_KEYWORDS,
    Token,
    kind_of_mark,
)
from kavachc.syntax.type_arguments import read_type_arguments
from kavachc.syntax.uses_lists import read_uses

DIVISION: Final = "`//` begins a comment: `/` divides, and of two Ints gives a whole one"
DEPTH_MAX: Final = 256

# A NUL stands after the text, and nowhere in it. Possessive repeats stand after one character set only: over a group
# they overrun in Python before 3.11.5 (CPython gh-100061); Debian 12 has 3.11.2.
_DECREMENT: Final = r"--(?=[ \t]*(?:[\n;)}\x00]|//))"  # Elsewhere it is two signs.
_TOKEN: Final = re.compile(
    r"""[ \t]*+(?:
      ([A-Za-z_][A-Za-z0-9_]*+)(?![^\x00-\x7f])
    | (\n[ \t\n]*+)
    | (//[^\n\x00]*+)
    | (MARKS)
    | ([0-9]++)(?![A-Za-z_.])
    | "([^"\\{}\n\x00]*+)"(?!")
    | (0[xX][0-9A-Za-z_]*+|[0-9](?:[eE][+-](?=[0-9])|\.(?=[0-9])|[0-9A-Za-z_])*)
    | (\"\"\"|")
    | ([^\W\d]\w*+)
    | ([^\x00])
    | (\x00)
    )""".replace("MARKS", "|".join([_DECREMENT, *(re.escape(mark) for mark in MARKS if mark != "--")])),
    re.VERBOSE,
)
_WORD, _BREAK, _COMMENT, _MARK, _INT, _TEXT, _NUMBER, _QUOTE, _FOREIGN_WORD, _OTHER, _END = range(1, 12)

_PIECE: Final = {
    '"': re.compile(r'(?:[^"\\{\n\x00]++|\\u(?:\{[^}"\n\x00]*\}?)?|\\[^\n\x00])*'),
    '"""': re.compile(r'(?:[^"\\{\x00]++|\\u(?:\{[^}"\n\x00]*\}?)?|\\[^\x00]|"(?!""))*'),
}

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u0085\u2028-\u202e\u2066-\u2069]")
_HELP_FOR_CHARACTER: Final = {
    "'": 'text stands in double quotes: `"`',
    "`": 'text stands in double quotes: `"`',
    "#": "a comment starts with `//`",
    "\u201c": 'text stands in straight quotes: `"`',
    "\u201d": 'text stands in straight quotes: `"`',
    "\u2019": 'text stands in straight quotes: `"`',
    "\u2264": "write `<=`",
    "\u2265": "write `>=`",
    "\u2260": "write `!=`",
    "\u2192": "write `->`",
    "\u2026": "a range is `..`",
    "\u00d7": "write `*`",
    "\u2212": "write `-`",
    "\u00a0": "it is a no-break space: type an ordinary space",
}

_KIND_OF_MARK: Final = {mark: kind_of_mark(mark) for mark in MARKS}
_KIND_OF_WORD: Final = {word: word for word in KEYWORDS | SOFT_KEYWORDS}
_CLOSERS: Final = {closer: opener for opener, closer in BRACKETS.items()}
# A `<` that touches the name after one of these opens type parameters.
_DECLARING: Final = frozenset(("fn", "type", "capability", "agent", "on"))
_BRACKET_MARKS: Final = frozenset(BRACKETS) | frozenset(_CLOSERS)


class Open(NamedTuple):
    """A bracket that is open. For a `{` in a text literal, `quote` is the literal's opening quotes."""

    mark: str
    start: int
    quote: str | None = None


class Lexer:
    """Makes the tokens of one file. `open` are the brackets open at the last token made."""

    def __init__(self, file: SourceFile, bag: DiagnosticBag) -> None:
        self.open: list[Open] = []
        # Where a declaration, field or variant starts, and the text of the `///` lines before it.
        self.documentation: dict[int, str] = {}
        self._documentation_lines: list[str] = []
        self._file = file
        self._bag = bag
        self._semicolon_reported = False
        self._text = _CONTROL.sub(" ", file.text) + "\0"

    def silent_copy(self) -> Lexer:
        """A lexer of the same file that reports nothing."""
        silent = copy(self)
        silent.open, silent.documentation, silent._documentation_lines = [], {}, []
        silent._bag = DiagnosticBag()
        return silent

    def tokens(self, position: int = 0) -> Iterator[Token]:
        """The tokens from `position` on, where no bracket is open, up to END or the first MISTAKE."""
        text = self._text
        self.open.clear()
        refused: set[int] = set()
        previous = Token(NEWLINE, position, position, "")
        broken = False
        while previous.kind != END and previous.kind != MISTAKE:
            match = _TOKEN.match(text, position)
            assert match is not None and match.lastindex is not None
            group = match.lastindex
            start, position = match.span(group)
            word = text[start:position]
            if group == _WORD:
                kind = _KIND_OF_WORD.get(word, IDENTIFIER)
            elif group == _MARK:
                kind = _KIND_OF_MARK[word]
            elif group == _BREAK:
                broken = True
                continue
            elif group == _INT:
                kind = "INT"
            elif group == _COMMENT:
                self._comment(start, word, starts_line=broken or previous.kind == NEWLINE)
                continue
            elif group == _OTHER and word == ";":
                self._report_semicolon(start)
                broken = True
                continue
            else:
                kind = END if group == _END else MISTAKE

            if broken:
                broken = False
                if self._ends_statement(previous.kind, kind):
                    yield Token(NEWLINE, previous.end, previous.end, "\n")
            if self._documentation_lines and kind not in ("|", "pub"):
                self.documentation[start] = "\n".join(self._documentation_lines)
                self._documentation_lines.clear()

            token = Token(kind, start, position, word)
            if kind in _BRACKET_MARKS:
                token = self._bracket(token)
            elif kind == MISTAKE:
                token = self._rare(group, token)
            elif kind == IDENTIFIER and text[position] == "<":
                arguments = read_type_arguments(text, position, refused, declares=previous.kind in _DECLARING)
                if arguments is not None:
                    yield token
                    *before, token = self._up_to_depth(arguments)
                    yield from before
            elif kind == "uses":
                *before, token = [token, *read_uses(text, position)]
                yield from before
            position = token.end
            previous = token
            yield token

    def _ends_statement(self, previous: str, kind: str) -> bool:
        """Whether the line break between tokens of these kinds ends a statement (language.md section 1)."""
        if previous in ("{", NEWLINE) or kind in ("}", END):
            return False
        if self.open and (self.open[-1].mark != "{" or self.open[-1].quote):
            return False
        return previous not in CONTINUES_AFTER and kind not in CONTINUES_BEFORE

    def _bracket(self, token: Token) -> Token:
        """Keep account of the bracket `token`; after the `}` of an expression in text, go on with the text."""
        mark = token.kind
        if mark in BRACKETS:
            self.open.append(Open(mark, token.start))
            return self._too_deep(token) if len(self.open) > DEPTH_MAX else token
        span = self._span(token)
        if not self.open:
            # After a bracket that was never closed, this one is that one's.
            if all(item.code != codes.UNCLOSED_BRACKET.code for item in self._bag.items):
                self._bag.report(codes.STRAY_BRACKET, span, closer=mark, opener=_CLOSERS[mark])
            return token._replace(kind=MISTAKE)
        opener = self.open[-1]
        if opener.mark != _CLOSERS[mark]:
            label = Label(Span(self._file, opener.start, opener.start + 1), "this one is open")
            line = self._file.line_text(self._file.position(opener.start)[0])
            divided = re.search(r"[\w)\]]\s*//\s*[\w(].*[)\]]", line)
            self._bag.report(
                codes.MISMATCHED_BRACKET,
                span,
                labels=(label,),
                help=DIVISION if divided else f"expected `{BRACKETS[opener.mark]}` first",
                closer=mark,
                opener=opener.mark,
            )
            return token._replace(kind=MISTAKE)
        self.open.pop()
        if opener.quote:
            return self._text_piece(opener.quote, token, ("STRING_MIDDLE", "STRING_END"))
        return token

    def _rare(self, group: int, token: Token) -> Token:
        """The token of what the combined pattern found but did not look into."""
        if group == _TEXT:
            return Token("STRING", token.start - 1, token.end + 1, token.text)
        if group == _NUMBER:
            kind = number_kind(token.text)
            if kind is None:
                self._bag.report(codes.BAD_NUMBER, self._span(token), help=number_advice(token.text), text=token.text)
                return token._replace(kind="INT", text="0")
            return token._replace(kind=kind)
        if group == _QUOTE:
            return self._text_piece(token.text, token, ("STRING_START", "STRING"))
        if group == _FOREIGN_WORD and token.text.isascii():
            return token._replace(kind=_KIND_OF_WORD.get(token.text, IDENTIFIER))
        index = next(i for i, character in enumerate(token.text) if group == _OTHER or not character.isascii())
        character = token.text[index]
        span = Span(self._file, token.start + index, token.start + index + 1)
        help_text = self._quoted(character, span.start) or _HELP_FOR_CHARACTER.get(character)
        if character == "\\" and self._open_expression():
            help_text = r"inside `{ }`, quotes need no backslash; for a `{` of the text itself write `\{`"
        if group == _FOREIGN_WORD:
            help_text = help_text or "names are made of the letters a to z and A to Z, digits and `_`"
        self._bag.report(codes.UNKNOWN_CHARACTER, span, help=help_text, character=_describe(character))
        return token._replace(kind=IDENTIFIER) if group == _FOREIGN_WORD else token

    def _quoted(self, quote: str, start: int) -> str | None:
        """What to write for text in the quotes of another language."""
        match = re.compile(r"(['`])([^'`\"{}\\\n]*)\1").match(self._text, start) if quote in "'`" else None
        return None if match is None else f'text stands in double quotes: `"{match[2]}"`'

    def _text_piece(self, quote: str, opening: Token, kinds: tuple[str, str]) -> Token:
        """The piece of a text literal after `opening`: the first of `kinds` if a `{` ends it, else the second."""
        match = _PIECE[quote].match(self._text, opening.end)
        assert match is not None
        end = match.end()
        if self._text.startswith(quote, end):
            return Token(kinds[1], opening.start, end + len(quote), match.group())
        if self._text[end] == "{":
            self.open.append(Open("{", end, quote))
            token = Token(kinds[0], opening.start, end + 1, match.group())
            return self._too_deep(token) if len(self.open) > DEPTH_MAX else token
        span = Span(self._file, opening.start, opening.end if quote == '"""' else end)
        help_text = None if quote == '"""' else 'text of several lines stands in `"""`, or has `\\n` for a line break'
        self._bag.report(codes.UNTERMINATED_STRING, span, labels=self._open_expression(), help=help_text, quote=quote)
        return opening._replace(kind=MISTAKE)

    def _open_expression(self) -> tuple[Label, ...]:
        """Where the `{ }` in text starts that is open, if one is: its `}` may be what is missing."""
        if not self.open or not self.open[-1].quote:
            return ()
        start = self.open[-1].start
        return (Label(Span(self._file, start, start + 1), "inside the expression that starts here"),)

    def _up_to_depth(self, arguments: list[Token]) -> list[Token]:
        """The type `arguments`, or those up to the first that is nested too deep."""
        depth = len(self.open)
        for number, token in enumerate(arguments):
            depth += token.text in "<[("
            depth -= token.text in ">])"
            if depth > DEPTH_MAX:
                return [*arguments[:number], self._too_deep(token)]
        return arguments

    def _too_deep(self, token: Token) -> Token:
        self._bag.report(codes.TOO_DEEP, self._span(token), limit=DEPTH_MAX)
        return token._replace(kind=MISTAKE)

    def _comment(self, start: int, text: str, starts_line: bool) -> None:
        if not text.startswith("///") or text.startswith("////"):
            return
        if starts_line:
            self._documentation_lines.append(text[3:].removeprefix(" ").rstrip())
        else:
            self._bag.report(codes.STRAY_DOCUMENTATION, Span(self._file, start, start + len(text)))

    def _report_semicolon(self, start: int) -> None:
        """Say it once: who writes one semicolon writes many."""
        if not self._semicolon_reported:
            self._semicolon_reported = True
            self._bag.report(codes.SEMICOLON, Span(self._file, start, start + 1))

    def report_control_characters(self) -> None:
        """Report the first character that acts on a terminal or an editor, and say how many follow."""
        found = _CONTROL.search(self._file.text)
        if found is None:
            return
        span = Span(self._file, found.start(), found.end())
        more = len(_CONTROL.findall(self._file.text)) - 1
        notes = (f"{more} more of such characters follow in this file",) if more else ()
        digits = f"{ord(found.group()):X}"
        self._bag.report(codes.CONTROL_CHARACTER, span, notes=notes, character=_describe(found.group()), digits=digits)

    def _span(self, token: Token) -> Span:
        return Span(self._file, token.start, token.end)


def _describe(character: str) -> str:
    number = f"U+{ord(character):04X}"
    return f"`{character}` ({number})" if character.isprintable() else number
