"""Generic types and functions of generated programs, and the applications and instances that are called."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from generated_types import (
    ERROR,
    INT,
    NOTHING,
    PLAIN,
    STRING,
    Field,
    Generic,
    Named,
    Ty,
    Variable,
    Variant,
    World,
    array,
    function,
    map_of,
    optional,
    substituted,
)
from generated_units import Name, Unit

if TYPE_CHECKING:
    from generated_programs import ProgramWriter

BOUNDS = ("Show", "Eq + Show", "Key + Show", "", "Ord + Show", "Eq")


def _bounds(world: World) -> frozenset[str]:
    text = world.pick(BOUNDS)
    # Key and Ord bring Eq.
    return frozenset(text.split(" + ")) - {""} | ({"Eq"} if "Key" in text or "Ord" in text else set())


def _variables(world: World, held: bool) -> list[Ty]:
    made: list[Ty] = []
    for _ in range(1 + world.choose(2)):
        variable = Ty(world.new_name("Q"))
        world.variables[variable] = Variable(_bounds(world), world.new_name("h") if held else "")
        made.append(variable)
    return made


def generic_type(program: ProgramWriter) -> None:
    """A record or a sum with type parameters, and two of its applications."""
    world = program.world
    name = world.new_name("G")
    variables = _variables(world, False)
    type_ = Ty(name, tuple(variables))
    head = f"type {name}{world.declared(variables)}"
    if world.choose(2):
        count = 1 + world.choose(3)
        variants = [Variant(world.new_name("V"), _fields(program, type_, index == 0)) for index in range(count)]
        texts = [item.name + (f"({program.declared(item.fields)})" if item.fields else "") for item in variants]
        template = Named(type_, variants, True)
        start = f"{head} = {' | '.join(texts)}"
    else:
        variants = [Variant(name, _fields(program, type_, True))]
        template = Named(type_, variants, False)
        start = f"{head} {{ {program.declared(variants[0].fields)}"
    bounds = tuple(world.variables[item].bounds for item in variables)
    world.generics[name] = Generic(template, bounds)
    world.named[type_] = template
    methods: list[Unit] = []
    texts = []
    for _ in range(world.choose(3)):
        # A method has a value of each type parameter at hand, as its own parameters.
        held = {item: replace(world.variables[item], held=world.new_name("h")) for item in variables}
        world.variables.update(held)
        _add_instances(program, variables)
        method, text = program.method(type_, [(variable.held, item) for item, variable in held.items()])
        _remove_instances(program, variables)
        methods.append(method)
        texts.append(text)
    world.forget(variables)
    if template.is_sum:
        program.parts.append(start + (f" {{\n    {(chr(10) + '    ').join(texts)}\n}}\n" if texts else "\n"))
    else:
        separator = ", " if variants[0].fields and texts else ""
        program.parts.append(f"{start}{separator}{(',' + chr(10) + '    ').join(texts)} }}\n")
    program.generic_methods[name] = methods
    for _ in range(2):
        application = world.application_of(world.generics[name])
        if application is not None:
            add_methods(program, application)


def add_methods(program: ProgramWriter, application: Ty) -> None:
    """The methods of an application, as what can be called."""
    generic = program.world.generics[application.name]
    given = dict(zip(generic.variables, application.args, strict=True))
    if application in program.with_methods:
        return
    program.with_methods.add(application)
    methods = program.generic_methods.get(application.name, [])
    program.units += [_instance(program.world, unit, given) for unit in methods]


def _fields(program: ProgramWriter, owner: Ty, must_end: bool) -> list[Field]:
    world = program.world
    fields: list[Field] = []
    for variable in [*owner.args, *owner.args][: 1 + world.choose(4)]:
        types = [variable, array(variable), optional(variable), map_of(STRING, variable), variable]
        if "Key" in world.variables[variable].bounds:
            types += [map_of(variable, INT), map_of(variable, array(variable))]
        types += [array(owner), optional(owner)] if world.chance(3) else []
        types += [program.field_type()]
        types += [] if must_end else [owner, owner]
        fields.append(Field(world.new_name("x"), world.pick(types)))
    return fields


def generic_function(program: ProgramWriter) -> None:
    world = program.world
    variables = _variables(world, True)
    parameters: list[tuple[str, Ty]] = [(world.variables[item].held, item) for item in variables]
    error_variable: Ty | None = None
    if world.choose(3) == 1:
        error_variable = Ty(world.new_name("Q"))
        world.variables[error_variable] = Variable(frozenset(["Error", "Show"]))
        given = [world.pick([INT, *variables]) for _ in range(world.choose(2))]
        result = world.pick([*variables, INT, NOTHING])
        parameters.append((world.new_name("p"), function(given, result, error_variable)))
    for _ in range(world.choose(3)):
        parameters.append((world.new_name("p"), _type(program, variables)))
    result = _type(program, variables) if world.choose(6) else NOTHING
    error = error_variable or program.error()
    unit = Unit(world.new_name("g"), None, parameters, result, error)
    mutable = {name for name, type_ in parameters[len(variables) :] if type_.name != "fn" and world.chance(3)}
    unit = replace(unit, mutable=frozenset(mutable))
    _add_instances(program, variables)
    declared = world.declared(variables)
    if error_variable is not None:
        declared = f"{declared[:-1]}, {error_variable}: Error>"
    text = program.unit(unit, program.signature(f"fn {unit.text}{declared}", unit))
    program.parts.append(text + "\n")
    _remove_instances(program, variables)
    bounds = {item: world.variables[item].bounds for item in variables}
    world.forget([*variables, *([] if error_variable is None else [error_variable])])
    program.generic_functions.append((unit, bounds, error_variable))
    for _ in range(3):
        add_instance(program, unit, bounds, error_variable)


def _type(program: ProgramWriter, variables: list[Ty]) -> Ty:
    world = program.world
    variable = world.pick(variables)
    types = [variable, array(variable), optional(variable), map_of(STRING, variable)]
    application = world.application()
    types += [] if application is None else [application]
    return world.pick([*types, world.wrapped(world.pick(types)), program.field_type()])


def add_instance(
    program: ProgramWriter, unit: Unit, bounds: dict[Ty, frozenset[str]], error_variable: Ty | None
) -> None:
    """An instance for types that have the bounds, those in scope among them."""
    world = program.world
    types = [*PLAIN, *world.known_variables, *world.known_variables, *world.own_types, array(INT), optional(STRING)]
    types += [] if world.variables else [ERROR]
    given: dict[Ty, Ty] = {}
    for variable, wanted in bounds.items():
        given[variable] = world.pick([item for item in types if world.has_bounds(item, wanted)])
    arguments = tuple(given.values())
    if error_variable is not None:
        given[error_variable] = world.pick([NOTHING, Ty("E"), world.pick(world.errors)])
    made = _instance(world, unit, given)
    program.units.append(replace(made, type_arguments=arguments, is_written=error_variable is None))


def _instance(world: World, unit: Unit, given: dict[Ty, Ty]) -> Unit:
    error = None if unit.error is None else substituted(unit.error, given)
    made = replace(
        unit,
        receiver=None if unit.receiver is None else substituted(unit.receiver, given),
        parameters=[(name, substituted(type_, given)) for name, type_ in unit.parameters],
        result=substituted(unit.result, given),
        error=None if error == NOTHING else error,
    )
    for type_ in [made.result, *(type_ for _, type_ in made.parameters)]:
        world.apply(type_)
    return made


def _add_instances(program: ProgramWriter, variables: list[Ty]) -> None:
    """What a generic body can call of other generics, for its own type parameters."""
    world = program.world
    for unit, bounds, error_variable in program.generic_functions[-3:]:
        add_instance(program, unit, bounds, error_variable)
    application = world.application()
    if application is not None:
        add_methods(program, application)


def _remove_instances(program: ProgramWriter, variables: list[Ty]) -> None:
    hidden = set(variables)

    def is_hidden(unit: Unit) -> bool:
        types = [unit.result, *(type_ for _, type_ in unit.parameters), *unit.type_arguments]
        types += [] if unit.receiver is None else [unit.receiver]
        return any(program.world.inside(type_) & hidden for type_ in types)

    program.units[:] = [unit for unit in program.units if not is_hidden(unit)]
    program.with_methods -= {item for item in program.with_methods if program.world.inside(item) & hidden}


def held_names(unit: Unit, world: World) -> list[Name]:
    """The parameters of a body; what is held for a type parameter is always there, and so is never hidden."""
    held = {variable.held for variable in world.variables.values()}
    return [Name(name, type_, name in unit.mutable, name not in held) for name, type_ in unit.parameters]
