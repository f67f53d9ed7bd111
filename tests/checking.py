"""Running the checker on source text, for the tests named `test_check_…`."""

from __future__ import annotations

import sys
from textwrap import dedent

from kavachc.diagnostics.diagnostic import Diagnostic, DiagnosticBag
from kavachc.driver import RECURSION_LIMIT
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.checker import check
from kavachc.source import SourceFile
from kavachc.syntax.parser import parse

MAIN = "\nfn main() { }\n"


def checked(source: str) -> tuple[typed.Program | None, list[Diagnostic]]:
    """The program, if any, and every diagnostic. A source without `main` gets an empty one."""
    sys.setrecursionlimit(RECURSION_LIMIT)
    text = dedent(source).strip("\n") + "\n"
    if "main" not in text:
        text += MAIN
    bag = DiagnosticBag()
    module = parse(SourceFile("test.kav", text), bag)
    assert not bag.has_errors, [item.message for item in bag.items]
    program = check(module, bag)
    assert (program is None) == bag.has_errors
    return program, bag.items


def program_of(source: str) -> typed.Program:
    """The typed program of a source without mistakes."""
    program, diagnostics = checked(source)
    assert program is not None, [(item.message, item.span and item.span.place()) for item in diagnostics]
    return program


def errors_of(source: str) -> list[str]:
    """`LINE:COLUMN MESSAGE` of every mistake, in source order."""
    return [f"{_place(item)} {item.message}" for item in checked(source)[1]]


def error_of(source: str) -> Diagnostic:
    """The one mistake of a source that has exactly one."""
    diagnostics = checked(source)[1]
    assert len(diagnostics) == 1, [item.message for item in diagnostics]
    return diagnostics[0]


def messages_in(statements: str, before: str = "") -> list[str]:
    """The messages for a `main` with these statements, after the declarations `before`."""
    body = "\n".join(f"    {line}" for line in dedent(statements).strip("\n").split("\n"))
    source = f"{dedent(before)}\nfn main() ! Error {{\n{body}\n}}"
    return [item.message for item in checked(source)[1]]


def function_named(program: typed.Program, name: str) -> typed.Function:
    """The function, method (`Bank.refund`) or handler of that name."""
    return next(function for function in program.functions if function.name == name)


def _place(item: Diagnostic) -> str:
    return ":".join(item.span.place().split(":")[1:]) if item.span is not None else "-"
