"""The words that the checker's messages share: lists, near misses, signatures as the user would write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from kavachc.semantics.types import Type, TypeVariable, ending_text


def listed(items: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def quoted(items: Sequence[str], last: str = "and") -> str:
    """As `listed`, each in backquotes."""
    return listed([f"`{item}`" for item in items], last)


def counted(count: int, word: str) -> str:
    """`1 argument`, `2 arguments`, `no arguments`."""
    if count == 0:
        return f"no {word}s"
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def a(type_: Type | str) -> str:
    """`a `Bool``, `an `Int``."""
    article = "an" if str(type_)[0] in "AEIO" else "a"
    return f"{article} `{type_}`"


def are(count: int) -> str:
    """`1 is`, `2 are`, `none is`."""
    if count == 0:
        return "none is"
    return "1 is" if count == 1 else f"{count} are"


def near_miss(name: str, candidates: Iterable[str]) -> str | None:
    """The help text "did you mean `x`?", when a candidate is close to `name`."""
    known = [candidate for candidate in dict.fromkeys(candidates) if candidate != name]
    lowered = {candidate.lower(): candidate for candidate in known}
    if name.lower() in lowered:
        return f"did you mean `{lowered[name.lower()]}`?"
    close = get_close_matches(name, known, n=1, cutoff=0.7)
    return f"did you mean `{close[0]}`?" if close else None


def parameter_list(parameters: Sequence[TypeVariable]) -> str:
    """`<A, B: Ord + Show>`; nothing where there are none."""
    shown = [f"{item}: {' + '.join(item.bounds)}" if item.bounds else str(item) for item in parameters]
    return f"<{', '.join(shown)}>" if shown else ""


def signature(
    word: str,
    name: str,
    parameters: Iterable[tuple[str, Type | str]],
    result: Type | str | None,
    error: Type | str | None,
    takes_self: bool = False,
) -> str:
    """A declaration's first line: `fn refund(self, order: Int) -> Bool ! PayError`."""
    inside = ["self"] if takes_self else []
    inside += [f"{parameter}: {type_}" for parameter, type_ in parameters]
    return f"{word} {name}({', '.join(inside)}){ending_text(result, error)}"


def single_spaced(text: str, limit: int = 60) -> str:
    """Source text for a message: white space made single, and cut where it grows long."""
    shown = " ".join(text.split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
