"""When a request that was turned away is sent again, and after how long (spec 8.4.busy, 8.4.jitter)."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta

from kavachc.interpreter.arithmetic import INT_MAX
from kavachc.interpreter.model_gate import Ending
from kavachc.interpreter.replies import Dropped, ModelAnswer, ModelFailure, ModelReply

RETRY_WAITS_S = (1, 2, 4, 8, 8)
SPENT_CODES = ("enforced_spend_limit_reached", "insufficient_quota")
SECOND_NS = 1_000_000_000
RETRY_AFTER_NS_MAX = 60 * SECOND_NS
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# RFC 9110, IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
HTTP_DATE = re.compile(
    "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), ([0-9]{2}) (" + "|".join(MONTHS) + ") ([0-9]{4}) "
    "([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60) GMT"
)


class SplitMix64:
    """The random numbers of virtual time (spec 8.4.jitter), and those of a program (10.random)."""

    def __init__(self, seed: int = 0) -> None:
        self._state = seed

    def __call__(self) -> int:
        mask = 2**64 - 1
        self._state = (self._state + 0x9E3779B97F4A7C15) & mask
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        return mixed ^ (mixed >> 31)


def host_random() -> int:
    return int.from_bytes(os.urandom(8), "little")


def is_busy(reply: ModelReply) -> bool:
    """Worth another send: the provider is busy, not unwilling (spec 8.4.busy)."""
    match reply:
        case ModelAnswer():
            return False
        case Dropped():
            return True
        case ModelFailure(again="always" | "never"):
            return reply.again == "always"
        case ModelFailure(status=429):
            return reply.error_code not in SPENT_CODES
        case ModelFailure(status=status):
            return status == 408 or 500 <= status <= 599


def ending_of(reply: ModelReply) -> Ending:
    """What the gate learns."""
    if isinstance(reply, ModelAnswer):
        return "answered"
    turned_away = isinstance(reply, ModelFailure) and reply.status in (429, 503, 529) and is_busy(reply)
    return "turned_away" if turned_away else "other"


def wait_ns(wait_s: int, random: int, after_ns: int | None) -> int:
    """The wait before another send: between half and all of `wait_s`, and up to 60 s no less than was asked for."""
    half_ns = wait_s * SECOND_NS // 2
    return max(half_ns + random % (half_ns + 1), min(after_ns or 0, RETRY_AFTER_NS_MAX))


def retry_after_ns(header: str, utc_ns: int) -> int | None:
    """How long a `Retry-After` header asks for, whole seconds or a date; None for anything else, and for the past."""
    wanted = header.strip(" \t")
    moment_s = http_date_s(wanted)
    if moment_s is not None:
        after_ns = min(moment_s * SECOND_NS, INT_MAX) - utc_ns
        return None if after_ns < 0 else after_ns
    if not re.fullmatch("[0-9]+", wanted):
        return None
    significant = wanted.lstrip("0")
    return INT_MAX if len(significant) > 12 else min(int(significant or "0") * SECOND_NS, INT_MAX)


def http_date_s(text: str) -> int | None:
    """Seconds since 1970; None where the text is no date of HTTP. The day's name need not be the right one."""
    found = HTTP_DATE.fullmatch(text)
    if found is None:
        return None
    try:
        day = datetime(int(found[3]), 1 + MONTHS.index(found[2]), int(found[1]), tzinfo=UTC)
    except ValueError:
        return None
    since = day - datetime(1970, 1, 1, tzinfo=UTC)
    return since // timedelta(seconds=1) + int(found[4]) * 3600 + int(found[5]) * 60 + int(found[6])
