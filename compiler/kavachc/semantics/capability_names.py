"""What `can`, `uses` and `limit` name: from what is written to the effects that it stands for (spec 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics.builtins import BUILTIN_CAPABILITIES
from kavachc.semantics.types import UNKNOWN_USES, CapabilityType, Effect, Type
from kavachc.semantics.wording import near_miss
from kavachc.semantics.world import PRIMITIVES, World
from kavachc.source import Span
from kavachc.syntax import ast

IN_PARENTHESES = "where a type follows a function type's `uses`, write that in parentheses: `(fn() uses Console), Int`"


def resolve_capability(
    world: World, written: ast.CapabilityReference, help_for_type: str | None = None
) -> Effect | None:
    """What `Payments`, `Payments.refund` or `Console` in `can`, `uses` or `limit` stands for; None when wrong."""
    name = written.capability.text
    if name in BUILTIN_CAPABILITIES:
        if written.method is not None:
            world.bag.report(codes.BUILT_IN_HAS_NO_PARTS, written.span, capability=name)
        return Effect(name)
    found = world.types.get(name)
    if found is None and world.is_spoiled(name):
        return None
    if name in PRIMITIVES or (found is not None and not isinstance(found, CapabilityType)):
        world.bag.report(codes.NOT_A_CAPABILITY, written.capability.span, name=name, what="a type", help=help_for_type)
        return None
    if found is None:
        known = [*BUILTIN_CAPABILITIES, *(str(item) for item in world.types.values() if _is_capability(item))]
        help_text = world.help_for_name(name, known)
        world.bag.report(codes.UNKNOWN_CAPABILITY, written.capability.span, name=name, help=help_text)
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


def beyond(effects: Iterable[Effect], allowed: Iterable[Effect]) -> list[Effect]:
    """The effects that `allowed` does not cover; a whole capability covers each of its methods."""
    known = set(allowed)
    found = [effect for effect in effects if effect not in known and Effect(effect.capability) not in known]
    return sorted(found, key=str)


def resolve_uses(world: World, written: Sequence[ast.CapabilityReference], is_in_type: bool = False) -> list[Effect]:
    """What `uses A, B` lists; what is unknown, or listed before, is reported."""
    first: dict[Effect, Span] = {}
    for reference in written:
        help_text = IN_PARENTHESES if is_in_type and reference is not written[0] else None
        effect = resolve_capability(world.at(reference.span), reference, help_text)
        if effect is None:
            continue
        whole = Effect(effect.capability)
        earlier = first.get(effect) or first.get(whole)
        if earlier is not None:
            labels = (Label(earlier, "first given here"),)
            world.bag.report(codes.USES_TWICE, reference.span, effect=effect, labels=labels)
            continue
        for part in [item for item in first if item.capability == effect.capability and effect == whole]:
            labels = (Label(reference.span, "given as a whole here"),)
            world.bag.report(codes.USES_TWICE, first[part], effect=part, labels=labels)
        first[effect] = reference.span
    return list(first)


def effects_written(world: World, written: Sequence[ast.CapabilityReference]) -> tuple[Effect, ...]:
    """What a function type says, where a name that is no capability is reported when all types are known."""
    found: list[Effect] = []
    for reference in written:
        name = reference.capability.text
        is_built_in = name in BUILTIN_CAPABILITIES
        if not is_built_in and not isinstance(world.types.get(name), CapabilityType):
            return UNKNOWN_USES
        found.append(Effect(name, None if reference.method is None or is_built_in else reference.method.text))
    whole = [effect for effect in found if effect.method is None]
    return tuple(sorted({*whole, *beyond(found, whole)}, key=str))
