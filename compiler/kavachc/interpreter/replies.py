"""How a model request ends, whoever carried it: the scripted model or HTTP."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from kavachc.interpreter.arithmetic import INT_MAX

if TYPE_CHECKING:
    from kavachc.interpreter.host import Answer
    from kavachc.interpreter.provider import Endpoint
    from kavachc.semantics.schema import Schema

Stop = Literal["complete", "refusal", "cut_off"]


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens that the provider counts, in and out."""

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total(self) -> int:
        return min(self.input_tokens + self.output_tokens, INT_MAX)

    def plus(self, other: Usage) -> Usage:
        return Usage(
            min(self.input_tokens + other.input_tokens, INT_MAX), min(self.output_tokens + other.output_tokens, INT_MAX)
        )


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    text: str
    stop: Stop
    usage: Usage


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """An HTTP status other than 2xx (0: no answer came), or an answer that says nothing. `message` is the provider's
    own, None where it said nothing; `is_explained`: the message is ours, and says all there is to say. `retry_after` is
    the header's value as it came. `again` is whether another send is worth it. `usage` is what an answer that cannot be
    used may have taken."""

    status: int
    message: str | None = None
    error_code: str = ""
    retry_after: str = ""
    is_explained: bool = False
    again: Literal["by_status", "always", "never"] = "by_status"
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Dropped:
    """The connection closed without a whole answer. `usage` is what the one that had begun may have taken."""

    usage: Usage = Usage()


DROPPED = Dropped()

ModelReply: TypeAlias = ModelAnswer | ModelFailure | Dropped


class Carrier(Protocol):
    """Carries requests to the model and replies back."""

    def obstacle(self, endpoint: Endpoint) -> Answer | None:
        """How every ask of this endpoint ends before it is looked at, or None."""

    def reply(self, endpoint: Endpoint, schema: Schema, asked: str, prompt: str) -> Generator[None, None, ModelReply]:
        """One request with `prompt`, which is what the program `asked` or that and a note; waits for its end."""
