"""Questions to a chat model behind an OpenAI-compatible endpoint.

The wire
    ``POST {url}/chat/completions`` with ``model``, ``messages`` and the options, and ``Authorization: Bearer KEY``
    where there is a key. The answer is ``choices[0].message.content``; ``finish_reason`` and ``usage`` are kept.

What is shown
    The text of the answer, why it ended, and messages leave this module without any part of the key.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from truemoment.base.boundary.endpoints import EndpointError, OpenAIEndpoint
from truemoment.base.boundary.endpoints.connection import Connection
from truemoment.base.boundary.endpoints.key import IN_ANSWER

MOST_TOKENS = 10_000_000
"""Tokens of one request; a larger number is no count."""


class _Message(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _TokenCounts(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _CompletionBody(msgspec.Struct):
    choices: list[_Choice]
    usage: _TokenCounts | None = None


@dataclass(frozen=True)
class Completion:
    """A model's answer.

    Parameters
    ----------
    text
        Its text, unchanged; "" for no text.
    finish_reason
        Why it stopped, as the endpoint reports; ``length`` where it was cut off.
    prompt_tokens, completion_tokens
        As the endpoint counts them; None where it does not.
    tries
        Requests made, 1 or more.
    """

    text: str
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    took_s: float
    tries: int


@dataclass(frozen=True)
class Endpoint(OpenAIEndpoint):
    """A served chat model (parameters: :class:`~truemoment.base.boundary.endpoints.OpenAIEndpoint`)."""

    OWN_FIELDS: ClassVar[frozenset[str]] = frozenset({"model", "messages", "stream", "n"})

    def ask(
        self, connection: Connection, messages: list[dict[str, Any]], stop: threading.Event | None = None
    ) -> Completion:
        """Ask, and retry transient errors until `stop` is set; EndpointError if there is no answer."""
        body = msgspec.json.encode({"model": self.model, "messages": messages, **self.options})
        came, tries, took_s = self.send(connection, "/chat/completions", body, _completion_in, stop=stop)
        choice = came.choices[0]
        content = choice.message.content
        if isinstance(content, list):
            texts = [part.get("text") for part in content if part.get("type") == "text"]
            content = "".join(text for text in texts if isinstance(text, str))
        usage = came.usage or _TokenCounts()
        return Completion(
            self.secret.hidden_in(content or choice.message.refusal or "", IN_ANSWER),
            None if choice.finish_reason is None else self.shown(choice.finish_reason),
            _count(usage.prompt_tokens),
            _count(usage.completion_tokens),
            took_s,
            tries,
        )


def _completion_in(data: bytes) -> _CompletionBody:
    came = msgspec.json.decode(data, type=_CompletionBody)
    if not came.choices:
        raise EndpointError("sent an answer without choices", "transient")
    return came


def _count(tokens: int | None) -> int | None:
    return tokens if tokens is not None and 0 <= tokens < MOST_TOKENS else None
