"""Requests to real providers, over HTTP."""

from __future__ import annotations

from collections.abc import Generator

from kavachc.interpreter.host import Answer
from kavachc.interpreter.http_sender import HttpSender
from kavachc.interpreter.provider import KEY_VARIABLES, Endpoint, obstacle, read, request
from kavachc.interpreter.replies import ModelReply
from kavachc.semantics.schema import Schema


class HttpCarrier:
    """A `Carrier`."""

    def __init__(self, sender: HttpSender) -> None:
        self._sender = sender

    def obstacle(self, endpoint: Endpoint) -> Answer | None:
        if not endpoint.key:
            return Answer("NoKey", KEY_VARIABLES[endpoint.model.provider])
        problem = obstacle(endpoint)
        return Answer("Failed", problem) if problem is not None else None

    def reply(self, endpoint: Endpoint, schema: Schema, asked: str, prompt: str) -> Generator[None, None, ModelReply]:
        received = yield from self._sender.send(request(endpoint, schema, prompt))
        return read(endpoint, schema, prompt, received)
