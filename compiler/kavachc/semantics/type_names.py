"""Type expressions: from what is written to what it means (spec 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics.builtins import BUILTIN_CAPABILITIES
from kavachc.semantics.capability_names import effects_written
from kavachc.semantics.conversions import BOUNDS
from kavachc.semantics.habits import help_for_type
from kavachc.semantics.types import (
    NOTHING,
    UNKNOWN,
    ArrayType,
    FunctionType,
    MapType,
    OptionalType,
    PrimitiveType,
    RecordType,
    SumType,
    TaskType,
    TupleType,
    Type,
    TypeVariable,
    apply,
)
from kavachc.semantics.wording import are, counted, near_miss
from kavachc.semantics.world import BUILT_IN_NAMES, PRIMITIVES, World
from kavachc.source import Span
from kavachc.syntax import ast

Variables = Mapping[str, TypeVariable]


def resolve_type(world: World, written: ast.TypeExpression, variables: Variables) -> Type:
    """The type that `written` names; UNKNOWN, and reported, when it names none. `variables` are the type parameters
    in scope."""
    if isinstance(written, ast.ArrayTypeExpression):
        return ArrayType(resolve_type(world, written.element, variables))
    if isinstance(written, ast.MapTypeExpression):
        key = resolve_type(world, written.key, variables)
        world.map_keys.append((key, written.key.span))
        return MapType(key, resolve_type(world, written.value, variables))
    if isinstance(written, ast.OptionalTypeExpression):
        return OptionalType(resolve_type(world, written.element, variables))
    if isinstance(written, ast.TupleTypeExpression):
        return TupleType(tuple([resolve_type(world, element, variables) for element in written.elements]))
    if isinstance(written, ast.NothingTypeExpression):
        return NOTHING
    if isinstance(written, ast.FunctionTypeExpression):
        return _function_type(world, written, variables)
    name = written.name.text
    arguments = [resolve_type(world, argument, variables) for argument in written.arguments]
    if name == "Task":
        if len(arguments) != 1:
            given = f"{are(len(arguments))} given"
            world.bag.report(
                codes.TYPE_ARGUMENTS,
                written.span,
                name=name,
                wanted="one type argument",
                given=given,
                help="write the type of the call's result: `Task<Int>`",
            )
            return UNKNOWN
        return TaskType(arguments[0])
    found = variables.get(name) or PRIMITIVES.get(name) or world.types.get(name)
    if found is None:
        if not world.is_spoiled(name):
            _report_no_type(world, written, variables)
        return UNKNOWN
    if isinstance(found, RecordType | SumType) and found.parameters:
        return apply_written(world, found, arguments, written.span)
    report_type_arguments(world, written.span, name, (), len(arguments))
    return found


def _function_type(world: World, written: ast.FunctionTypeExpression, variables: Variables) -> FunctionType:
    parameters = tuple([resolve_type(world, parameter, variables) for parameter in written.parameters])
    result = NOTHING if written.result is None else resolve_type(world, written.result, variables)
    error = None if written.error is None else resolve_type(world, written.error, variables)
    if error is not None and written.error is not None:
        world.error_types.append((error, written.error))
    if written.uses is None:
        return FunctionType(parameters, result, error)
    world.uses_written[written.span] = written.uses
    return FunctionType(parameters, result, error, effects_written(world, written.uses))


def variables_by_name(variables: Sequence[TypeVariable]) -> Variables:
    return {variable.name: variable for variable in variables}


def apply_written(
    world: World, declaration: RecordType | SumType, arguments: Sequence[Type], span: Span
) -> RecordType | SumType | PrimitiveType:
    """The application that was written at `span`. Whether the arguments have the bounds is checked when all types are
    complete (`instances.py`)."""
    if not report_type_arguments(world, span, declaration.name, declaration.parameters, len(arguments)):
        return UNKNOWN
    applied = apply(declaration, tuple(arguments))
    world.applied.append((applied, span))
    return applied


def report_type_arguments(
    world: World, span: Span, name: str, parameters: Sequence[TypeVariable], given: int, help_text: str | None = None
) -> bool:
    """Whether as many type arguments are given as there are parameters; reported when not."""
    if given == len(parameters):
        return True
    count = f"{are(given)} given"
    if parameters:
        help_text = f"write `{name}<{', '.join(map(str, parameters))}>`, with types in their place"
    wanted = counted(len(parameters), "type argument")
    world.bag.report(codes.TYPE_ARGUMENTS, span, name=name, wanted=wanted, given=count, help=help_text)
    return False


def type_parameters(
    world: World, written: Sequence[ast.TypeParameter], outer: Sequence[TypeVariable] = ()
) -> tuple[TypeVariable, ...]:
    """The variables that type parameters declare, after those of the type around them."""
    first = {variable.name: variable.span for variable in outer}
    made: list[TypeVariable] = []
    for item in written:
        name = item.name
        if name.text in BUILT_IN_NAMES or name.text in world.prelude_types:
            world.bag.report(codes.BUILT_IN_NAME, name.span, name=name.text)
        earlier = first.get(name.text, world.spans.get(name.text))
        if earlier is not None:
            labels = (Label(earlier, "first declared here"),)
            world.bag.report(codes.DUPLICATE_NAME, name.span, name=name.text, labels=labels)
        first.setdefault(name.text, name.span)
        bounds: dict[str, None] = {}
        for bound in item.bounds:
            if bound.text not in BOUNDS:
                help_text = near_miss(bound.text, BOUNDS) or codes.UNKNOWN_BOUND.help
                world.bag.report(codes.UNKNOWN_BOUND, bound.span, name=bound.text, help=help_text)
            bounds[bound.text] = None
        made.append(TypeVariable(name.text, tuple(bounds), name.span))
    return tuple(made)


def _report_no_type(world: World, written: ast.NamedType, variables: Variables) -> None:
    name, what = written.name, None
    if name.text in BUILTIN_CAPABILITIES:
        what = "a built-in capability"
    elif name.text in world.functions:
        what = "a function"
    elif name.text in world.constants:
        what = "a constant"
    if what is not None:
        world.bag.report(codes.NOT_A_TYPE, name.span, name=name.text, what=what)
        return
    owner = world.variant_owner(name.text)
    if owner is not None:
        world.bag.report(codes.NOT_A_TYPE, name.span, name=name.text, what=f"a variant of `{owner}`")
        return
    help_text = help_for_type(name.text, written.arguments)
    if help_text is None:
        help_text = world.help_for_name(name.text, [*variables, *PRIMITIVES, "Task", *world.types])
    world.bag.report(codes.UNKNOWN_TYPE, name.span, name=name.text, help=help_text)
