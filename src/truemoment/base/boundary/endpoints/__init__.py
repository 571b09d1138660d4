"""Requests to an OpenAI-compatible endpoint: with retries, and without any part of the key in results and messages.

What is tried again
    Status 408, 409, 425, 429 and 5xx, connections that fail or stall, and answers that are no answer: broken JSON, too
    large, or what the caller refuses. The wait doubles from one second to a minute, with some chance in it; what
    ``Retry-After`` asks for is waited, up to two minutes. Other statuses are final: the request would fail again.

What is shown
    Messages of an endpoint leave this module without the key: :class:`~truemoment.base.boundary.endpoints.key.Key`
    removes it before anything is cut.
"""

from __future__ import annotations

import functools
import http.client
import os
import re
import socket
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar
from urllib.parse import urlsplit

import msgspec

from truemoment.base.boundary.endpoints.connection import BadReplyError, Connection, Reply, is_loopback
from truemoment.base.boundary.endpoints.key import IN_ANSWER, Key
from truemoment.base.errors import DataWarning, InputError, MissingPackageError, UsageError

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")

KEY_VARIABLE = "OPENAI_API_KEY"

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
LONGEST_RETRY_AFTER_S = 120.0

MOST_SHOWN = 200
"""Characters of a message of an endpoint that are shown."""

TRANSIENT = frozenset({408, 409, 425, 429})

Fault = Literal["transient", "request", "endpoint"]


class EndpointError(InputError):
    """An endpoint gives no answer.

    Parameters
    ----------
    problem
        What came, in words.
    fault
        ``transient``: it may answer another time. ``request``: it takes this request never. ``endpoint``: it takes no
        request of ours, as the key, the model or the address is wrong.
    retry_after_s
        Seconds to wait, as it states.
    """

    def __init__(self, problem: str, fault: Fault, retry_after_s: float | None = None) -> None:
        super().__init__(problem)
        self.fault = fault
        self.retry_after_s = retry_after_s


@dataclass(frozen=True)
class OpenAIEndpoint:
    """A served model: its address and the options of requests. The key is in none of its texts.

    Parameters
    ----------
    url
        Address without ``/chat/completions``, e.g. ``http://localhost:8000/v1``.
    key
        None if the endpoint needs none.
    key_variable
        Where the key comes from, for messages.
    timeout_s
        Seconds for a request, from finding the host to the last byte of the answer.
    options
        Further fields of the request: ``temperature``, ``max_tokens``, ``seed``, and those of the server.
    first_wait_s
        Seconds before the first retry; twice as long before each next one.
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    key_variable: str = KEY_VARIABLE
    timeout_s: float = 120.0
    retries: int = 6
    options: Mapping[str, Any] = field(default_factory=dict)
    first_wait_s: float = FIRST_WAIT_S

    OWN_FIELDS: ClassVar[frozenset[str]] = frozenset({"model"})
    """Fields of a request that are no options."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", checked_url(self.url))
        if not self.model.strip():
            raise UsageError("got no model, expected its name at the endpoint")
        if not (0 < self.timeout_s < 1e6 and 0 <= self.retries <= 100):
            raise UsageError(f"got {self.timeout_s:g} s and {self.retries} retries, expected above 0 and 0 to 100")
        if self.key is not None and not re.fullmatch(r"[!-~]+", self.key):
            raise UsageError(f"the variable {self.key_variable} has a value that cannot be a key")
        clashes = self.OWN_FIELDS & set(self.options)
        if clashes:
            raise UsageError(f"got {min(clashes)!r} as an option of the request, which is set here")
        settings = msgspec.json.encode([self.url, self.model, self.options]).decode()
        if self.secret.hidden_in(settings, IN_ANSWER) != settings:
            raise UsageError(
                f"the key in {self.key_variable} is in the address, the model or --set too, expected it nowhere "
                "else: results show these"
            )

    @functools.cached_property
    def secret(self) -> Key:
        """The key, to be removed from what the endpoint sends."""
        return Key(self.key or "")

    def connect(self) -> Connection:
        """Return a connection to ask on, for one thread; it is opened when it is used."""
        return Connection(self.url)

    def send(
        self,
        connection: Connection,
        path: str,
        body: bytes,
        read: Callable[[bytes], T],
        *,
        stop: threading.Event | None = None,
    ) -> tuple[T, int, float]:
        """Send a request, and retry transient errors until `stop` is set.

        Parameters
        ----------
        path
            What follows the address.
        body
            The request, JSON.
        read
            Returns the value of an answer; an :class:`EndpointError` if it is none.

        Returns
        -------
        tuple
            The value, the number of requests, and the seconds of the last one.
        """
        try:
            import tenacity  # noqa: PLC0415 - only asking needs it
        except ModuleNotFoundError:
            raise MissingPackageError("tenacity", "served", "asking a served model") from None
        stop = stop or threading.Event()
        doubling = tenacity.wait_exponential(self.first_wait_s, max=LONGEST_WAIT_S - self.first_wait_s)
        growing = doubling + tenacity.wait_random(0, self.first_wait_s)

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            stated_s = error.retry_after_s if isinstance(error, EndpointError) else None
            return growing(state) if stated_s is None else min(stated_s, LONGEST_RETRY_AFTER_S)

        retrying = tenacity.Retrying(
            stop=tenacity.stop_any(tenacity.stop_after_attempt(self.retries + 1), tenacity.stop_when_event_set(stop)),
            wait=wait,
            sleep=tenacity.sleep_using_event(stop),
            retry=tenacity.retry_if_exception(lambda e: isinstance(e, EndpointError) and e.fault == "transient"),
            before_sleep=self._announce,
            reraise=True,
        )
        for attempt in retrying:
            with attempt:
                began = time.monotonic()
                value = self._once(connection, path, body, read)
                return value, attempt.retry_state.attempt_number, time.monotonic() - began
        raise EndpointError("got no request", "transient")

    def _announce(self, state: RetryCallState) -> None:
        """Warn that an endpoint is asked again which nothing reaches: an address that is wrong would seem to hang."""
        error = state.outcome.exception() if state.outcome else None
        is_nobody = error is not None and isinstance(error.__context__, ConnectionRefusedError | socket.gaierror)
        if is_nobody and state.attempt_number == 1:
            problem = f"the endpoint {self.url} {error}; it is asked again, {self.retries} times"
            warnings.warn(problem, DataWarning, stacklevel=2)

    def _once(self, connection: Connection, path: str, body: bytes, read: Callable[[bytes], T]) -> T:
        headers = {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        try:
            reply = connection.post(path, body, headers, self.timeout_s)
        except TimeoutError:
            raise EndpointError(f"gave no answer within {self.timeout_s:g} s", "transient") from None
        except BadReplyError as error:
            raise EndpointError(str(error), "transient") from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise EndpointError(f"cannot be reached ({self.shown(reason)})", "transient") from None
        if reply.status != 200:
            raise self._fault_of(reply)
        if reply.headers.get("Content-Encoding", "").strip().lower() not in ("", "identity"):
            raise EndpointError("compresses its answer, expected no compression", "endpoint")
        try:
            return read(reply.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise EndpointError(f"sent no answer ({self.shown(str(error))})", "transient") from None

    def shown(self, text: str) -> str:
        """Return an endpoint's text for a message: without the key, on one line, and cut."""
        text = " ".join(self.secret.hidden_in(text).split())
        return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + " ..."

    def _fault_of(self, reply: Reply) -> EndpointError:
        """Return the error of a status other than 200."""
        status = reply.status
        reason = self.shown(_message_in(reply.body))
        problem = f"answers {status}" + (f" ({reason})" if reason else "")
        if status in TRANSIENT or status >= 500:
            wait = reply.headers.get("Retry-After", "").strip()  # seconds, or a date
            wait_s = float(wait) if re.fullmatch(r"\d{1,6}(\.\d{1,3})?", wait) else None
            return EndpointError(problem, "transient", wait_s)
        if 300 <= status < 400:
            where = self.shown(reply.headers.get("Location", "elsewhere"))
            return EndpointError(f"leads to {where}, which is not followed; give the address itself", "endpoint")
        asks = "it does not take the key in" if self.key else "it asks for a key, and there is none in"
        means = {
            401: f"answers 401: {asks} {self.key_variable}",
            403: f"{problem}: the key in {self.key_variable} may not use it",
            404: f"{problem}: it has no model {self.model!r}, or its address is another",
        }
        return EndpointError(means.get(status, problem), "endpoint" if status in means else "request")


def checked_url(text: str) -> str:
    """Return the base address of an endpoint.

    Examples
    --------
    >>> checked_url("http://localhost:8000/v1/chat/completions")
    'http://localhost:8000/v1'
    """
    try:
        parts = urlsplit(text.strip())
        _ = parts.port, (parts.hostname or "").encode("idna")
    except ValueError:
        raise UsageError("the endpoint is no address, expected e.g. http://localhost:8000/v1") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            "the endpoint is not the address of a served model, expected e.g. http://localhost:8000/v1 "
            "(checkpoints on disk cannot be run yet)"
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError("the endpoint's address contains a name, key or query, expected none: results show it")
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/").removesuffix("/chat/completions").rstrip("/")


def key_from_environment(url: str, variable: str | None = None) -> tuple[str | None, str]:
    """Return the key for an endpoint, and its variable: by default :data:`KEY_VARIABLE`, which need not be set."""
    name = variable or KEY_VARIABLE
    key = os.environ.get(name, "").strip() or None
    if variable is not None and key is None:
        raise UsageError(f"--key-variable: {variable} is not set")
    parts = urlsplit(checked_url(url))
    if key is not None and variable is None and parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise UsageError(
            f"the key in {name} would go to {parts.hostname} unencrypted; --key-variable {name} sends it all the same, "
            f"an https:// address or an unset variable does not"
        )
    return key, name


def _message_in(data: bytes) -> str:
    try:
        error = msgspec.json.decode(data)
        error = error.get("error", error) if isinstance(error, dict) else error
        detail = error.get("message") or error.get("detail") if isinstance(error, dict) else error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    return str(detail) if isinstance(detail, str) else ""
