"""Asking an OpenAI-compatible endpoint: one request, with retries, and never a word of the key.

The wire
    ``POST {url}/chat/completions`` with ``model``, ``messages`` and the options, and ``Authorization: Bearer KEY``
    where there is a key. The answer is ``choices[0].message.content``; ``finish_reason`` and ``usage`` are kept.

What is tried again
    Status 408, 409, 425, 429 and 5xx, connections that fail or stall, and answers that are no answer: broken JSON, no
    choices, too large. The wait doubles from one second to a minute, with some chance in it; what ``Retry-After`` asks
    for is waited, up to two minutes. Other statuses are final: the request would fail again.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import msgspec

from truemoment.exceptions import InputError, MissingPackageError, UsageError

if TYPE_CHECKING:
    import requests
    from tenacity import RetryCallState

KEY_VARIABLE = "OPENAI_API_KEY"

MAX_ANSWER_BYTES = 4 << 20
FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
LONGEST_RETRY_AFTER_S = 120.0
CONNECT_TIMEOUT_S = 10.0
SECRET_LENGTH = 6
"""Keys shorter than this are no secrets ("none", "x"), and would be found in innocent words."""

TRANSIENT = frozenset({408, 409, 425, 429})
OWN_FIELDS = frozenset({"model", "messages", "stream", "n"})

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
        Seconds to wait, where it says so.
    """

    def __init__(self, problem: str, fault: Fault, retry_after_s: float | None = None) -> None:
        super().__init__(problem)
        self.fault = fault
        self.retry_after_s = retry_after_s


class _Message(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


@dataclass(frozen=True)
class Answer:
    """What a model said.

    Parameters
    ----------
    text
        To the letter; "" where it said nothing.
    finish_reason
        Why it stopped, as the endpoint tells; ``length`` where it was cut off.
    prompt_tokens, completion_tokens
        As the endpoint counts them; None where it does not.
    took_s
        Seconds of the request that was answered.
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
class Endpoint:
    """Where a model is served, and how it is asked. The key is in none of its texts.

    Parameters
    ----------
    url
        Address without ``/chat/completions``, e.g. ``http://localhost:8000/v1``.
    model
        The model's name there.
    key
        None where none is asked for.
    key_variable
        Where the key comes from, for messages.
    timeout_s
        Seconds for a request, all of it.
    retries
        Times a request is made again.
    options
        Further fields of the request: ``temperature``, ``max_tokens``, ``seed``, and what a server takes besides.
    first_wait_s
        Seconds before the first retry; twice as long before each next one.

    Raises
    ------
    UsageError
        If the address is none, the key cannot be sent, or an option is not to be set.
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    key_variable: str = KEY_VARIABLE
    timeout_s: float = 120.0
    retries: int = 6
    options: Mapping[str, Any] = field(default_factory=dict)
    first_wait_s: float = FIRST_WAIT_S

    def __post_init__(self) -> None:
        """Check everything before anything is sent."""
        object.__setattr__(self, "url", checked_url(self.url))
        if not self.model.strip():
            raise UsageError("got no model, expected its name at the endpoint")
        if not (0 < self.timeout_s < 1e6 and 0 <= self.retries <= 100):
            raise UsageError(f"got {self.timeout_s:g} s and {self.retries} retries, expected above 0 and 0 to 100")
        if self.key is not None and not re.fullmatch(r"[!-~]+", self.key):
            raise UsageError(f"the variable {self.key_variable} holds something that cannot be a key")
        own = OWN_FIELDS & set(self.options)
        if own:
            raise UsageError(f"got {min(own)!r} as an option of the request, which is set here")

    def ask(
        self, session: requests.Session, messages: list[dict[str, Any]], stop: threading.Event | None = None
    ) -> Answer:
        """Ask, again if need be.

        Parameters
        ----------
        session
            Connections to use, of the calling thread alone.
        messages
            As the interface has them.
        stop
            When set, no request is made again, and no wait goes on.

        Raises
        ------
        EndpointError
            If no answer could be had.
        MissingPackageError
            If tenacity is not installed.
        """
        try:
            import tenacity  # noqa: PLC0415 - only asking needs it
        except ModuleNotFoundError:
            raise MissingPackageError("tenacity", "served", "asking a served model") from None
        stop = stop or threading.Event()
        body = msgspec.json.encode({"model": self.model, "messages": messages, **self.options})
        doubling = tenacity.wait_exponential(self.first_wait_s, max=LONGEST_WAIT_S - self.first_wait_s)
        growing = doubling + tenacity.wait_random(0, self.first_wait_s)

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked_s = error.retry_after_s if isinstance(error, EndpointError) else None
            return growing(state) if asked_s is None else min(asked_s, LONGEST_RETRY_AFTER_S)

        retrying = tenacity.Retrying(
            stop=tenacity.stop_any(tenacity.stop_after_attempt(self.retries + 1), tenacity.stop_when_event_set(stop)),
            wait=wait,
            sleep=tenacity.sleep_using_event(stop),
            retry=tenacity.retry_if_exception(lambda e: isinstance(e, EndpointError) and e.fault == "transient"),
            reraise=True,
        )
        for attempt in retrying:
            with attempt:
                return self._once(session, body, attempt.retry_state.attempt_number)
        raise EndpointError("was not asked", "transient")

    def _once(self, session: requests.Session, body: bytes, tries: int) -> Answer:
        """Make one request."""
        import requests  # noqa: PLC0415 - only asking needs it
        from urllib3.exceptions import HTTPError  # noqa: PLC0415 - comes with it

        began = time.monotonic()
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        try:
            with session.post(
                f"{self.url}/chat/completions",
                data=body,
                headers=headers,
                auth=self._sign,
                timeout=(min(CONNECT_TIMEOUT_S, self.timeout_s), self.timeout_s),
                allow_redirects=False,
                stream=True,
            ) as response:
                data = self._body_of(response, began + self.timeout_s)
                if response.status_code != 200:
                    raise self._fault_of(response, data)
        except requests.Timeout:
            raise EndpointError(f"gave no answer within {self.timeout_s:g} s", "transient") from None
        except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema) as error:
            raise EndpointError(self.without_key(f"cannot be asked ({error})"), "endpoint") from None
        except (requests.RequestException, HTTPError, OSError) as error:
            raise EndpointError(f"cannot be reached ({_reason(error)})", "transient") from None
        return self._answer_in(data, time.monotonic() - began, tries)

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Put the key on a request; as this is all the signing there is, no other key on this machine is sent."""
        if self.key is not None:
            request.headers["Authorization"] = f"Bearer {self.key}"
        return request

    def _body_of(self, response: requests.Response, deadline: float) -> bytes:
        """Read an answer, up to a size and until a time.

        Raises
        ------
        EndpointError
            If it is larger, or not there by then.
        """
        parts: list[bytes] = []
        size = 0
        while part := response.raw.read1(1 << 16, decode_content=True):
            parts.append(part)
            size += len(part)
            if size > MAX_ANSWER_BYTES:
                raise EndpointError(f"sent more than {MAX_ANSWER_BYTES >> 20} MiB for an answer", "transient")
            if time.monotonic() > deadline:
                raise EndpointError(f"gave no answer within {self.timeout_s:g} s", "transient")
        told = response.headers.get("Content-Length", "")
        if told.isdecimal() and size < int(told):
            raise EndpointError(f"sent {size} bytes of {told}", "transient")
        return b"".join(parts)

    def _fault_of(self, response: requests.Response, data: bytes) -> EndpointError:
        """Say what a status other than 200 means."""
        status = response.status_code
        said = _short(self.without_key(_message_in(data)))
        told = f"answers {status}" + (f" ({said})" if said else "")
        if status in TRANSIENT or status >= 500:
            return EndpointError(told, "transient", _seconds_in(response.headers.get("Retry-After")))
        if 300 <= status < 400:
            where = self.without_key(_short(response.headers.get("Location", "elsewhere")))
            return EndpointError(f"leads to {where}, which is not followed; give the address itself", "endpoint")
        asks = "it does not take the key in" if self.key else "it asks for a key, and there is none in"
        means = {
            401: f"answers 401: {asks} {self.key_variable}",  # what it says of a key may show parts of it
            403: f"{told}: the key in {self.key_variable} may not use it",
            404: f"{told}: it has no model {self.model!r}, or its address is another",
        }
        return EndpointError(means.get(status, told), "endpoint" if status in means else "request")

    def _answer_in(self, data: bytes, took_s: float, tries: int) -> Answer:
        try:
            came = msgspec.json.decode(data, type=_Completion)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise EndpointError(f"sent no answer ({_short(str(error))})", "transient") from None
        if not came.choices:
            raise EndpointError("sent an answer without choices", "transient")
        choice = came.choices[0]
        content = choice.message.content
        if isinstance(content, list):
            texts = [part.get("text") for part in content if part.get("type") == "text"]
            content = "".join(text for text in texts if isinstance(text, str))
        text = content or choice.message.refusal or ""
        usage = came.usage or _Usage()
        return Answer(
            self.without_key(text),
            choice.finish_reason,
            usage.prompt_tokens,
            usage.completion_tokens,
            took_s,
            tries,
        )

    def without_key(self, text: str) -> str:
        """Return a text in which the key does not stand, whoever wrote it there."""
        if self.key is None or len(self.key) < SECRET_LENGTH:
            return text
        return text.replace(self.key, "[key]")


def checked_url(text: str) -> str:
    """Return an endpoint's address without what is added to it.

    Raises
    ------
    UsageError
        If it is no address of ours to use: not http or https, without a host, or with a name, key or query in it,
        which would be written into results.

    Examples
    --------
    >>> checked_url("http://localhost:8000/v1/chat/completions")
    'http://localhost:8000/v1'
    """
    try:
        parts = urlsplit(text.strip())
        _ = parts.port
    except ValueError:
        raise UsageError("the endpoint is no address, expected e.g. http://localhost:8000/v1") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            "the endpoint is no address of a served model, expected e.g. http://localhost:8000/v1 (checkpoints on disk "
            "cannot be run yet)"
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError("the endpoint's address holds a name, key or query, expected it without: results tell it")
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/").removesuffix("/chat/completions").rstrip("/")


def key_from_environment(url: str, variable: str | None = None) -> tuple[str | None, str]:
    """Return the key for an endpoint, and the variable it stands in.

    Parameters
    ----------
    url
        The endpoint's address.
    variable
        The variable that holds the key; None for :data:`KEY_VARIABLE`, which need not be set.

    Raises
    ------
    UsageError
        If a variable was named and is not set, or one that was not named would be sent unencrypted to another
        machine.
    """
    name = variable or KEY_VARIABLE
    key = os.environ.get(name, "").strip() or None
    if variable is not None and key is None:
        raise UsageError(f"--key-variable: {variable} is not set")
    parts = urlsplit(checked_url(url))
    near = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if key is not None and variable is None and parts.scheme == "http" and not near:
        raise UsageError(
            f"the key in {name} would go to {parts.hostname} unencrypted; --key-variable {name} sends it all the same, "
            f"an https:// address or an unset variable does not"
        )
    return key, name


def _reason(error: BaseException) -> str:
    """Say shortly why a connection failed: the innermost reason that says anything."""
    text = str(getattr(error, "reason", None) or (error.args[0] if error.args else "") or type(error).__name__)
    found = re.search(r"\[Errno -?\d+\] ([^'\")]+)", text)
    return found[1] if found else _short(re.sub(r"<[^>]*>:? ?", "", text))


def _message_in(data: bytes) -> str:
    """Return what an error says of itself, shortly: of JSON its message, of a page nothing."""
    try:
        error = msgspec.json.decode(data)
        error = error.get("error", error) if isinstance(error, dict) else error
        said = error.get("message") or error.get("detail") if isinstance(error, dict) else error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    return str(said) if isinstance(said, str) else ""


def _short(text: str, most: int = 200) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[:most] + " ..."


def _seconds_in(text: str | None) -> float | None:
    """Read a Retry-After header; dates are not read, and the usual wait is taken."""
    return float(text) if text and re.fullmatch(r"\d{1,6}(\.\d{1,3})?", text.strip()) else None
