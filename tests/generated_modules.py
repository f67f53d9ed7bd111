"""A generated program in one file or several, each of which knows those before it."""

from __future__ import annotations

from generated_types import World

WORDS = ("fn ", "type ", "const ", "capability ", "agent ")


def in_files(world: World, parts: list[str]) -> dict[str, str]:
    """`program.kav`, with `main`, and the files that it imports. A part is one declaration, and only knows earlier
    ones."""
    count = world.choose(4) if world.choose(2) else 0
    ends = sorted({1 + world.choose(len(parts) - 1) for _ in range(count)})
    files: dict[str, str] = {}
    start = 0
    for number, end in enumerate([*ends, len(parts)]):
        imports = "".join(f'import "{name}"\n' for name in files)
        is_main = number == len(ends)
        texts = parts[start:end] if is_main else [_public(part) for part in parts[start:end]]
        files["program.kav" if is_main else f"file{number}.kav"] = "\n".join([imports, *texts])
        start = end
    return files


def _public(part: str) -> str:
    return f"pub {part}" if part.startswith(WORDS) else part
