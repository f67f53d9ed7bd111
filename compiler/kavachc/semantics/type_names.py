"""Type expressions and capability references: from what is written to what it means (spec 2, 5)."""

from __future__ import annotations

from kavachc.diagnostics import codes
from kavachc.semantics.builtins import BUILTIN_CAPABILITIES
from kavachc.semantics.typed_ast import Effect
from kavachc.semantics.types import NOTHING, UNKNOWN, ArrayType, CapabilityType, OptionalType, TaskType, TupleType, Type
from kavachc.semantics.wording import are, counted, near_miss
from kavachc.semantics.world import PRIMITIVES, World
from kavachc.syntax import ast


def resolve_type(world: World, written: ast.TypeExpression) -> Type:
    """The type that `written` names; UNKNOWN, and reported, when it names none."""
    if isinstance(written, ast.ArrayTypeExpression):
        return ArrayType(resolve_type(world, written.element))
    if isinstance(written, ast.OptionalTypeExpression):
        return OptionalType(resolve_type(world, written.element))
    if isinstance(written, ast.TupleTypeExpression):
        return TupleType(tuple([resolve_type(world, element) for element in written.elements]))
    if isinstance(written, ast.NothingTypeExpression):
        return NOTHING
    name = written.name.text
    arguments = [resolve_type(world, argument) for argument in written.arguments]
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
    if arguments and (name in PRIMITIVES or name in world.types):
        given = f"{are(len(arguments))} given"
        world.bag.report(codes.TYPE_ARGUMENTS, written.span, name=name, wanted=counted(0, "type argument"), given=given)
    if name in PRIMITIVES:
        return PRIMITIVES[name]
    if name in world.types:
        return world.types[name]
    _report_no_type(world, written.name)
    return UNKNOWN


def _report_no_type(world: World, name: ast.Identifier) -> None:
    what = None
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
    help_text = near_miss(name.text, [*PRIMITIVES, "Task", *world.types])
    world.bag.report(codes.UNKNOWN_TYPE, name.span, name=name.text, help=help_text)


def resolve_capability(world: World, written: ast.CapabilityReference) -> Effect | None:
    """What `Payments`, `Payments.refund` or `Console` in `can`, `uses` or `limit` stands for; None when wrong."""
    name = written.capability.text
    if name in BUILTIN_CAPABILITIES:
        if written.method is not None:
            world.bag.report(codes.BUILT_IN_HAS_NO_PARTS, written.span, capability=name)
        return Effect(name)
    found = world.types.get(name)
    if found is None:
        known = [*BUILTIN_CAPABILITIES, *(str(item) for item in world.types.values() if _is_capability(item))]
        world.bag.report(codes.UNKNOWN_CAPABILITY, written.capability.span, name=name, help=near_miss(name, known))
        return None
    if not isinstance(found, CapabilityType):
        world.bag.report(codes.NOT_A_CAPABILITY, written.capability.span, name=name, what="a type")
        return None
    if written.method is None:
        return Effect(name)
    if found.method(written.method.text) is None:
        help_text = near_miss(written.method.text, [method.name for method in found.methods])
        world.bag.report(codes.UNKNOWN_METHOD, written.method.span, type=name, name=written.method.text, help=help_text)
        return None
    return Effect(name, written.method.text)


def _is_capability(item: Type) -> bool:
    return isinstance(item, CapabilityType)
