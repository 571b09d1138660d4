"""Who may talk to a page: names of the host, origin of changes, size of requests, and the headers of every answer.

A server on a loopback address can be reached by any page that the user's browser has open, through a name that leads
there (DNS rebinding) or a form. So the name in ``Host`` is checked first, and changes must come from the
page itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from h11 import LocalProtocolError  # of uvicorn
from starlette.datastructures import Headers, MutableHeaders

from truemoment.web.pages.errors import error_response

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of this machine that no other machine can use."""

MOST_BODY_BYTES = 1 << 16
"""Size of a request's body, unless a site allows more."""

READS = ("GET", "HEAD")

TWO_LENGTHS = "expected Content-Length or Transfer-Encoding, got both"

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "media-src 'self'",
        "connect-src 'self'",
        "frame-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)

HEADERS = MappingProxyType(
    {
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
)
"""Headers of every answer; a handler may set another policy, and ``Cache-Control`` is ``no-store`` unless it does."""


@dataclass(frozen=True)
class Address:
    """Names under which a page may be reached.

    Parameters
    ----------
    names
        Names of the host in addition to the loopback names.
    tls
        Whether browsers reach it by HTTPS, by its own certificate or behind a web server.
    """

    names: tuple[str, ...] = ()
    tls: bool = False

    def knows(self, host: str) -> bool:
        """Whether the value of a ``Host`` header names this page, with any port."""
        name = host_name(host)
        return name in LOOPBACK or name in {host.lower() for host in self.names}

    def is_own_origin(self, headers: Headers) -> bool:
        """Whether a request that changes something comes from the page itself."""
        origin = headers.get("origin")
        if origin is None:
            return headers.get("sec-fetch-site") == "same-origin"
        scheme = "https" if self.tls else "http"
        return origin.lower() == f"{scheme}://{headers.get('host', '').lower()}"


def host_name(host: str) -> str:
    """Return the name in a ``Host`` header, in lower case, without its port; "" if it is malformed.

    Examples
    --------
    >>> host_name("LocalHost:8000"), host_name("[::1]:8000"), host_name("a.b@evil"), host_name("x:y")
    ('localhost', '::1', '', '')
    """
    if host.startswith("["):
        name, bracket, port = host[1:].partition("]")
        port = port.removeprefix(":") if bracket and (not port or port.startswith(":")) else "?"
    else:
        name, _, port = host.partition(":")
    allowed = all(letter.isalnum() or letter in "-._:" for letter in name)
    return name.lower() if allowed and name and (not port or port.isdecimal()) else ""


class Guard:
    """Checks each request before the application sees it, and adds the headers of :data:`HEADERS` to each answer."""

    def __init__(self, app: Application, address: Address, most_body_bytes: int = MOST_BODY_BYTES) -> None:
        self.app, self.address, self.most_body_bytes = app, address, most_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websockets here
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            with contextlib.suppress(LocalProtocolError):  # bytes that are no request followed: it was refused already
                await send(message)

        refusal = next(self._refusals(scope["method"], Headers(scope=scope)), None)
        if refusal is not None:
            response = error_response(*refusal)
            if refusal[1] == TWO_LENGTHS:  # what follows may be another request, hidden from a server in front
                response.headers["Connection"] = "close"
            await response(scope, receive, send_with_headers)
        else:
            await self.app(scope, receive, send_with_headers)

    def _refusals(self, method: str, headers: Headers) -> Iterator[tuple[int, str]]:
        """Yield status and reason for each fault of a request; none if it may pass."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.address.knows(hosts[0]):
            yield 400, "this server does not know the name in the address; use the link that it printed, or --name"
        if "transfer-encoding" in headers and "content-length" in headers:
            yield 400, TWO_LENGTHS
        if method in READS:
            return
        if not self.address.is_own_origin(headers):
            yield 403, "changes are accepted from the page itself only"
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            yield 415, "expected a body of type application/json"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.most_body_bytes:
            yield 413, f"expected at most {self.most_body_bytes:,} bytes"
