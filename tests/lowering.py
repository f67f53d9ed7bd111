"""From source text to IR text, for the tests of the lowering."""

from __future__ import annotations

import re
import sys
from functools import cache
from textwrap import dedent

from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.driver import RECURSION_LIMIT
from kavachc.interpreter.constants import evaluate_constants
from kavachc.ir.module import Module
from kavachc.ir.printer import print_function
from kavachc.ir.verifier import verify
from kavachc.lower.program import lower
from kavachc.semantics.checker import check
from kavachc.semantics.typed_ast import Program
from kavachc.source import SourceFile
from kavachc.syntax.parser import parse

MAIN = "\nfn main() { }\n"


@cache
def program_of(source: str) -> Program:
    """The checked program; a source without `main` gets an empty one."""
    sys.setrecursionlimit(RECURSION_LIMIT)
    if "fn main(" not in source:
        source += MAIN
    bag = DiagnosticBag()
    module = parse(SourceFile("test.kav", source), bag)
    program = None if bag.has_errors else check(module, bag)
    if program is not None and not bag.has_errors:
        evaluate_constants(program, bag)
    assert not bag.has_errors, [(item.message, item.span and item.span.place()) for item in bag.items]
    assert program is not None
    return program


def module_of(source: str) -> Module:
    """The verified IR."""
    module = lower(program_of(source))
    verify(module)
    return module


def body_of(source: str, name: str) -> str:
    """The text of one function's locals and blocks, without places in the source."""
    return _without_places(print_function(module_of(source).functions[name]).split("\n", 1)[1])


def head_of(source: str, name: str) -> str:
    """The first line of one function's text."""
    return print_function(module_of(source).functions[name]).split("\n", 1)[0]


def text_of(source: str, name: str) -> str:
    """The text of one function, with its places."""
    return print_function(module_of(source).functions[name])


def _without_places(text: str) -> str:
    return re.sub(r" @\d+:\d+$", "", text, flags=re.MULTILINE)


def block(text: str) -> str:
    """Expected text as written in a test: the body of a function, with its closing brace."""
    return dedent(text).lstrip("\n") + "}\n"
