"""The checker's entry: from a parsed module to the typed program (spec 2 to 8)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Diagnostic, DiagnosticBag, Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.agents import Settings, resolve_can
from kavachc.semantics.body import Body
from kavachc.semantics.capability_names import resolve_uses
from kavachc.semantics.constants import check_constant, check_default
from kavachc.semantics.declarations import check_error_type, declare
from kavachc.semantics.effects import Effects
from kavachc.semantics.expressions import check_expression
from kavachc.semantics.graph import components
from kavachc.semantics.holding import fields_of, needed_by, without_value
from kavachc.semantics.implementations import check_implementations
from kavachc.semantics.instances import check_instances, check_written_bounds
from kavachc.semantics.limits import Limits
from kavachc.semantics.maps import check_key
from kavachc.semantics.names import function_signature
from kavachc.semantics.rules import check_calls, check_rule
from kavachc.semantics.statements import check_function_body
from kavachc.semantics.types import (
    NOTHING,
    CapabilityType,
    RecordType,
    SumType,
    Type,
    declared,
    own_type,
)
from kavachc.semantics.wording import a
from kavachc.semantics.world import Facts, World
from kavachc.source import SourceFile, Span
from kavachc.syntax import ast
from kavachc.syntax.parser import parse
from kavachc.syntax.program_files import ProgramFiles, alone

PRELUDE_PATH = "prelude.kav"


@cache
def load_prelude() -> ast.Module:
    """The parsed prelude: the types that every program has."""
    text = files("kavachc.semantics").joinpath(PRELUDE_PATH).read_text(encoding="utf-8")
    bag = DiagnosticBag()
    module = parse(SourceFile(PRELUDE_PATH, text), bag)
    assert not bag.has_errors, bag.items
    return module


def check(files: ProgramFiles | ast.Module, bag: DiagnosticBag, *, needs_main: bool = True) -> typed.Program | None:
    """The typed program of `files`; None when a mistake was found, here or before, which then is in `bag`. Where `main`
    is missing and not needed, one that does nothing stands for it.

    What `bag` holds is then in the order of its places.
    """
    files = alone(files) if isinstance(files, ast.Module) else files
    world = declare(load_prelude(), files, bag)
    _check_types_end(world)
    resolve_can(world)
    check_implementations(world)
    maker = Body(world, check_expression, Facts())
    check_written_bounds(world, maker)
    _check_defaults(world, maker)
    for rule in world.rules:
        check_rule(world, maker, rule)
    for entry in world.all_constants:
        if entry.state == "untouched":
            check_constant(world, maker, entry)
    checked = _check_functions(world, 0)
    for error, written in world.error_types:
        check_error_type(world, error, written)
    for uses in world.uses_written.values():
        resolve_uses(world, uses, is_in_type=True)
    for key, span in world.map_keys:
        check_key(world, span, key)
    limits = Limits(world, check_expression)
    limits.check()
    settings = Settings(world, check_expression)
    settings.check()
    # Those of the library that only limits and settings call.
    _check_functions(world, checked)
    main = _check_main(world.files()[0], needs_main)
    asks = check_instances(world)
    effects = Effects(world)
    effects.infer()
    effects.check_constants()
    effects.check_promises()
    effects.check_given()
    check_calls(world, effects)
    limits.check_calls(effects)
    settings.check_calls(effects)
    order = {file: number for number, file in enumerate(world.views)}
    bag.items.sort(key=lambda item: _place(item, order))
    if main is None or bag.has_errors:
        return None
    return _program(world, main, asks)


def _place(diagnostic: Diagnostic, order: Mapping[SourceFile, int]) -> tuple[int, int]:
    span = diagnostic.span
    return (order[span.file], span.start) if span is not None else (0, 0)


def _check_types_end(world: World) -> None:
    """Every record and sum has a value that ends: none has to hold another of its own for ever."""
    types = [own_type(item) for item in world.all_types if isinstance(item, RecordType | SumType)]
    # Applications of generic types are types of their own.
    known = set(types)
    for type_ in types:
        held = {item: None for field in fields_of(type_) for item in needed_by(field.type) if item not in known}
        known.update(held)
        types.extend(held)
    endless = without_value(types)

    def needed(type_: RecordType | SumType) -> list[RecordType | SumType]:
        return [item for field in fields_of(type_) for item in needed_by(field.type) if item in endless]

    reported: set[RecordType | SumType] = set()
    for members, has_cycle in components([item for item in types if item in endless], needed):
        first = min(members, key=lambda item: (bool(item.arguments), item.span.start))
        if has_cycle and declared(first) not in reported:
            reported.add(declared(first))
            field = next(item for item in fields_of(first) if any(part in members for part in needed_by(item.type)))
            labels = (Label(field.span, f"this holds {a(field.type)}"),)
            world.bag.report(codes.HAS_NO_END, first.span, name=first, held=field.type, labels=labels)


def _check_defaults(world: World, maker: Body) -> None:
    for entry in world.defaults.values():
        if entry.state == "untouched":
            check_default(world, maker, entry)


def _check_functions(world: World, first: int) -> int:
    """Check the bodies from `first` on, those too that come to be wanted meanwhile; how many there are."""
    while first < len(world.bodies):
        _check_function(world, *world.bodies[first])
        first += 1
    return first


def _check_function(world: World, function: typed.Function, declaration: ast.Function) -> None:
    """Check the body; a function with a result must give one wherever it ends."""
    facts = world.facts.setdefault(function, Facts())
    body = Body(world.at(function.span), check_expression, facts, function, function.agent)
    for parameter in function.parameters:
        if parameter.name != "_":
            body.scope.declare(parameter)
    function.body = check_function_body(body, declaration.body)


def _check_main(world: World, is_needed: bool) -> typed.Function | None:
    main = world.functions.get("main")
    if main is None and (world.spoiled or world.lacks_names):
        return None
    if main is None or main.span.file is not world.module.file:
        if not is_needed:
            start = Span(world.module.file, 0, 0)
            return typed.Function("main", (), NOTHING, None, start, body=typed.Block(start, NOTHING, (), None))
        world.bag.report(codes.FILE_EMPTY, None, path=world.module.file.path)
        return None
    if main.parameters or main.type_parameters or main.result is not NOTHING:
        plain = typed.Function(main.name, (), NOTHING, main.error, main.span)
        signature = f"{function_signature(plain)} {{ … }}"
        arguments = "; what the command line gives is `Env.args()`" if main.parameters else ""
        world.bag.report(codes.MAIN_SHAPE, main.span, help=f"write `{signature}`{arguments}")
    return main


def _program(world: World, main: typed.Function, asks: list[tuple[Type, Span]]) -> typed.Program:
    unique = world.all_types
    tests = {test.function: test for test in world.tests}
    return typed.Program(
        functions=[function for function, _ in world.bodies if function not in tests],
        records=[item for item in unique if isinstance(item, RecordType) and not item.parameters],
        sums=[item for item in unique if isinstance(item, SumType) and not item.parameters],
        generic_types=[item for item in unique if isinstance(item, RecordType | SumType) and item.parameters],
        capabilities=[item for item in unique if isinstance(item, CapabilityType)],
        implementations=list(world.implementations.values()),
        agents=list(world.agents.values()),
        shapes=list(world.shapes.values()),
        constants=[entry.constant for entry in world.all_constants],
        main=main,
        tests=list(world.tests),
        ai_error=world.sum("AiError"),
        task_error=world.sum("TaskError"),
        file_error=world.sum("FileError"),
        json_error=world.sum("JsonError"),
        http_error=world.sum("HttpError"),
        http_answer=world.record("HttpAnswer"),
        asks=asks,
        rules=[entry.rule for entry in world.rules],
    )
