"""Asks of generated programs, and what the scripted model replies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from generated_types import STRING, Ty

if TYPE_CHECKING:
    from generated_values import Writer


def ask(writer: Writer, type_: Ty) -> str:
    """Its prompt has a number of its own, and so a reply of its own."""
    world = writer.world
    writer.cost += writer.times
    tag = f"ask {world.new_name('a')}:"
    fit: dict[str, object] = {"text": world.json(type_)}
    misfits: list[dict[str, object]] = [fit, {"text": "{?"}, {"status": 529}, {"status": 400, "message": "no"}]
    misfits += [
        {"drop": True},
        {"text": "no", "stop_reason": "refusal"},
        {"text": "[", "stop_reason": "max_tokens"},
    ]
    times = 1 + writer.choose(3)
    for index in range(writer.choose(3)):
        world.replies.append({**world.pick(misfits), "when": tag, "times": times + index, "delay": "1s"})
    world.replies.append({**fit, "when": tag, "times": 100_000, "delay": world.pick(["0s", "1ms", "2s"])})
    prompt = f'"{tag} {{{writer.expression(STRING, True)}}}"' if writer.world.chance(2) else f'"{tag}"'
    return writer.handled(f"ask<{type_}>({prompt})", Ty("AiError"), type_)
