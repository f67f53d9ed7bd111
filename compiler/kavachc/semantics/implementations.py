"""`type Bank: Payments`: that a record has every method of a capability (spec 6)."""

from __future__ import annotations

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.conversions import same_type
from kavachc.semantics.types import CapabilityMethod, CapabilityType, RecordType
from kavachc.semantics.wording import signature
from kavachc.semantics.world import World


def check_implementations(world: World) -> None:
    """Fill in `world.implementations`; what is missing or differs is reported with the signature to write."""
    for record in world.all_types:
        if isinstance(record, RecordType):
            for capability in record.capabilities:
                _check(world, record, capability)


def _check(world: World, record: RecordType, capability: CapabilityType) -> None:
    methods = world.methods.get(record, {})
    found: list[typed.Function] = []
    for method in capability.methods:
        wanted = _wanted(method)
        labels = (Label(method.span, f"`{capability}` declares it here"),)
        function = methods.get(method.name)
        if function is None:
            world.bag.report(
                codes.CAPABILITY_METHOD_MISSING,
                record.span,
                type=record,
                capability=capability,
                method=method.name,
                labels=labels,
                help=f"add `{wanted} {{ … }}`",
            )
        elif not _is_as_declared(function, method):
            world.bag.report(
                codes.CAPABILITY_METHOD_DIFFERS,
                function.span,
                type=record,
                capability=capability,
                method=method.name,
                labels=labels,
                help=f"write `{wanted}`",
            )
        else:
            for parameter in function.parameters:
                if parameter.is_reference:
                    what = f"a method of the capability `{capability}`"
                    world.bag.report(codes.MUT_NOT_ALLOWED, parameter.span, what=what)
            found.append(function)
    if len(found) == len(capability.methods):
        world.implementations[record, capability] = typed.Implementation(record, capability, tuple(found))


def _wanted(method: CapabilityMethod) -> str:
    parameters = zip(method.parameter_names, method.parameter_types, strict=True)
    return signature("fn", method.name, parameters, method.result, method.error, takes_self=True)


def _is_as_declared(function: typed.Function, method: CapabilityMethod) -> bool:
    """Types must be the same; the names of parameters may differ."""
    own = [parameter.type for parameter in function.parameters[1:]]
    if len(own) != len(method.parameter_types) or not same_type(function.result, method.result):
        return False
    if (function.error is None) != (method.error is None):
        return False
    if function.error is not None and method.error is not None and not same_type(function.error, method.error):
        return False
    return all(same_type(left, right) for left, right in zip(own, method.parameter_types, strict=True))
