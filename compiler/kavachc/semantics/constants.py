"""Constants and the defaults of fields: checked when first needed, since their order is free (spec 2, 8)."""

from __future__ import annotations

from kavachc.diagnostics import codes
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import Body, unknown
from kavachc.semantics.conversions import why_not_plain
from kavachc.semantics.specialise import relocated, substituted
from kavachc.semantics.types import NEVER, Bindings, RecordType, SumType, Type, bindings_of, declared, substitute
from kavachc.semantics.world import ConstantEntry, DefaultEntry, Facts, GenericCall, World
from kavachc.source import Span
from kavachc.syntax import ast


def constant_named(body: Body, node: ast.Name) -> typed.Constant:
    """The constant that `node` names, with its type known; the use of it is recorded in the body's facts."""
    entry = body.world.constants[node.text]
    if entry.state == "checking" and entry.declaration.type is None:
        # Its type would depend on itself. `effects.py` finds the cycles through written types and functions.
        body.report(codes.CONSTANT_CYCLE, node.span, name=node.text, help="write its type, and a value without itself")
        entry.state = "cycle"
    if entry.state == "untouched":
        check_constant(body.world, body, entry)
    if entry.state != "cycle":
        body.facts.constants.append((entry.constant, node.span))
    return entry.constant


def check_constant(world: World, maker: Body, entry: ConstantEntry) -> None:
    """Check the initialiser and fill in the constant's type and value."""
    declaration, constant = entry.declaration, entry.constant
    entry.state = "checking"
    facts = world.facts.setdefault(constant, Facts())
    body = Body(world.at(declaration.span), maker.dispatch, facts)
    if declaration.type is not None:
        constant.type = body.resolve(declaration.type)
        constant.value = body.value(declaration.value, constant.type)
    else:
        constant.value = body.declared_value(declaration.name.text, declaration.value)
        constant.type = constant.value.type
    if constant.value.type is NEVER:
        body.report(codes.NO_VALUE, declaration.value.span)
        constant.value = unknown(declaration.value.span)
    reason = why_not_plain(constant.type)
    if reason is not None:
        body.report(codes.CONSTANT_TYPE, declaration.name.span, name=constant.name, type=constant.type, reason=reason)
    if entry.state == "checking":
        entry.state = "done"


def default_value(body: Body, owner: RecordType | SumType, variant: int | None, index: int, span: Span) -> typed.Expr:
    """The default of a field, for a construction at `span` that leaves the field out. One that another file declares
    stands where it is used: a function has the places of one file."""
    entry = body.world.defaults[declared(owner), variant, index]
    if entry.state == "untouched":
        check_default(body.world, body, entry)
    elif entry.state == "checking":
        body.report(
            codes.SELF_CONTAINED_DEFAULT,
            entry.declaration.span,
            field=entry.declaration.name.text,
            type=entry.owner,
        )
        entry.state = "cycle"
    body.facts.constants.extend(entry.facts.constants)
    # A default may make a value whose fields have rules.
    body.facts.edges.extend(entry.facts.edges)
    body.facts.calls_of_generics.extend(
        GenericCall(call.callee, _substituted(call.type_arguments, bindings_of(owner)), call.span)
        for call in entry.facts.calls_of_generics
    )
    if entry.value is None:
        return unknown(entry.declaration.span)
    value = substituted(entry.value, bindings_of(owner))
    return value if entry.declaration.span.file is span.file else relocated(value, span)


def _substituted(types: tuple[Type, ...], bindings: Bindings) -> tuple[Type, ...]:
    return tuple([substitute(item, bindings) for item in types])


def check_default(world: World, maker: Body, entry: DefaultEntry) -> None:
    """Check a default: a plain value of the field's type."""
    entry.state = "checking"
    written = entry.declaration.default
    assert written is not None
    world = world.at(written.span)
    body = Body(world, maker.dispatch, entry.facts, type_parameters=entry.type_parameters)
    offending = not_plain(written, world)
    if offending is not None:
        name = f"{entry.owner}.{entry.declaration.name.text}"
        body.report(codes.DEFAULT_NOT_PLAIN, offending.span, name=name)
        value = unknown(written.span)
    else:
        value = body.value(written, entry.type)
    if entry.state == "checking":
        entry.state = "done"
        entry.value = value


def not_plain(node: ast.Expression, world: World) -> ast.Expression | None:
    """The first part of `node` that keeps it from being a plain value; None when it is one.

    Plain are literals, constants, and arrays, maps, tuples, variants, records and sums made of them: nothing that runs
    code of the user's. Whether the names mean anything is not asked here.
    """
    pending: list[ast.Expression] = [node]
    while pending:
        current = pending.pop()
        match current:
            case ast.IntLiteral() | ast.FloatLiteral() | ast.BoolLiteral() | ast.DurationLiteral():
                pass
            case ast.NoneLiteral():
                pass
            case ast.StringLiteral():
                pending.extend(part for part in reversed(current.parts) if not isinstance(part, str))
            case ast.ArrayLiteral() | ast.TupleLiteral():
                pending.extend(reversed(current.elements))
            case ast.MapLiteral():
                for entry in reversed(current.entries):
                    pending.extend((entry.value, entry.key))
            case ast.Unary():
                pending.append(current.operand)
            case ast.Binary():
                pending.extend((current.right, current.left))
            case ast.Name() if current.text not in world.functions and current.text not in world.types:
                pass
            case ast.FieldAccess(target=ast.Name(text=name)) if name in world.types or world.is_spoiled(name):
                pass
            case ast.Call() if _constructs(current.callee, world):
                pending.extend(argument.value for argument in reversed(current.arguments))
            case _:
                return current
    return None


def _constructs(callee: ast.Expression, world: World) -> bool:
    match callee:
        case ast.Name(text=name) | ast.FieldAccess(target=ast.Name(text=name)) if world.is_spoiled(name):
            return name not in world.functions
        case ast.Name(text=name):
            return isinstance(world.types.get(name), RecordType)
        case ast.FieldAccess(target=ast.Name(text=name)):
            return isinstance(world.types.get(name), SumType)
    return False
