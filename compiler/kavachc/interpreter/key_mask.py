"""Texts without the provider's key (docs/providers.md). The native runtime has the same in key_mask.zig."""

from __future__ import annotations

import functools
import re

SECRET_LENGTH_MIN = 12
SHOWN = "[key]"


def is_secret(key: str) -> bool:
    """A short one is a word such as `none`, for a server that needs no key: it may well stand in an answer."""
    return len(key) >= SECRET_LENGTH_MIN


def body_without_key(key: str, body: bytes) -> bytes:
    return body.replace(key.encode(), SHOWN.encode()) if is_secret(key) else body


def without_key(key: str, sent: str) -> str:
    """A text of the provider with the key's occurrences replaced; also those that only come out when a program reads
    the text as JSON, which may write each character in several ways."""
    if not is_secret(key):
        return sent
    bare = sent.replace(key, SHOWN)
    if "\\" not in bare:
        return bare
    return _key_in_json(key).sub(lambda found: SHOWN if found[1] else found[0], bare)


@functools.cache
def _key_in_json(key: str) -> re.Pattern[str]:
    """The key as the first group, or any other escape."""
    units = "".join(f"(?:{'|'.join(_ways_in_json(character))})" for character in key)
    return re.compile(rf"({units})|\\.", re.DOTALL)


def _ways_in_json(character: str) -> list[str]:
    """Patterns of the ways to write it inside a string."""
    ways = [r"\\u00" + "".join(f"[{digit}{digit.upper()}]" for digit in f"{ord(character):02x}")]
    if character in '"\\/':
        ways.append(re.escape("\\" + character))
    if character not in '"\\':
        ways.append(re.escape(character))
    return ways


def told_without_key(key: str, message: str) -> str:
    """A message of ours, into which the key may have come with the base URL, perhaps in letters of another case."""
    return re.sub(re.escape(key), SHOWN, message, flags=re.IGNORECASE | re.ASCII) if is_secret(key) else message
