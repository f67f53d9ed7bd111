"""The functions of the library that are written in Kavach, `library.kav`: methods of arrays, optionals, maps and texts.

The file is read when a program first calls a method that no row of `builtins.py` is, and a function in it is checked
when something calls it, so that a program pays for what it uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.builtin_calls import matches
from kavachc.semantics.declarations import Declarations
from kavachc.semantics.types import Type
from kavachc.semantics.world import World
from kavachc.source import SourceFile
from kavachc.syntax import ast
from kavachc.syntax.parser import parse

LIBRARY_PATH = "library.kav"


@cache
def _load() -> ast.Module:
    text = files("kavachc.semantics").joinpath(LIBRARY_PATH).read_text(encoding="utf-8")
    bag = DiagnosticBag()
    module = parse(SourceFile(LIBRARY_PATH, text, is_library=True), bag)
    assert not bag.has_errors, bag.items
    return module


def library_method(world: World, owner: Type, name: str) -> typed.Function | None:
    """The function that is the method `name` of values of type `owner`, if the library has one."""
    return next((item for item in _methods(world) if _own_name(item) == name and _belongs(item, owner)), None)


def library_method_names(world: World, owner: Type) -> list[str]:
    """The names of all methods that the library has for `owner`."""
    return [_own_name(item) for item in _methods(world) if _belongs(item, owner)]


def library_rows(world: World) -> Iterator[tuple[typed.Function, str]]:
    """The library's methods with their doc texts, in the order of the file."""
    for function in _methods(world):
        documentation = world.library.declarations[function].signature.documentation
        assert documentation is not None
        yield function, documentation


def _own_name(function: typed.Function) -> str:
    return function.name.partition(".")[2]


def _belongs(function: typed.Function, owner: Type) -> bool:
    return matches(function.parameters[0].type, owner)


def _methods(world: World) -> list[typed.Function]:
    library = world.library
    if library.view is None:
        _declare(world)
    return library.methods


def _declare(world: World) -> None:
    """Makes the names of the library known to the library; their bodies wait in `World.library`."""
    library = world.library
    prelude = next(iter(world.views.values()))
    library.view = prelude.view(_load())
    declarations = Declarations(library.view)
    declarations.collect_names()
    before = len(world.bodies)
    declarations.fill_functions()
    for function, declaration in world.bodies[before:]:
        library.declarations[function] = declaration
        if declaration.signature.documentation is not None:
            function.name = function.name.replace("_", ".", 1)
            library.methods.append(function)
    del world.bodies[before:]
    library.waiting.update(library.declarations)
