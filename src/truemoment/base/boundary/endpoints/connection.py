"""A connection to one endpoint: requests reach only its host, and each ends by a deadline.

Proxies
    An ``https`` address of another machine is reached through the proxy of the environment, if there is one: by
    ``CONNECT``, so that the proxy passes on what it cannot read. An ``http`` address, and every address of this
    machine, is never reached through a proxy.

The deadline
    It includes all of a request: finding the host, connecting, TLS, sending, and every byte of the answer. Each
    operation of the socket gets the time that is left, so it does not matter how slowly bytes come, or how many
    headers or ``100 Continue`` come before the answer.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import ipaddress
import os
import queue
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from types import TracebackType
from typing import Any, cast
from urllib.parse import quote, unquote, urlsplit

from truemoment.base.errors import UsageError
from truemoment.base.version import __version__

MAX_ANSWER_BYTES = 4 << 20
CONNECT_TIMEOUT_S = 10.0
PORTS = {"http": 80, "https": 443}

HEADERS = {
    "User-Agent": f"truemoment/{__version__}",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
}


class BadReplyError(OSError):
    """A request without an answer. Its text is the reason, and repeats only numbers of the answer."""


@dataclass(frozen=True)
class Reply:
    """An answer of the endpoint."""

    status: int
    headers: Message
    body: bytes


class Connection:
    """A connection to one address, reused by the requests of one thread.

    Parameters
    ----------
    url
        As :func:`~truemoment.base.boundary.endpoints.checked_url` returns it.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._parts = urlsplit(url)
        self._host = self._parts.hostname or ""
        self._port = self._parts.port or PORTS[self._parts.scheme]
        self._http = http.client.HTTPConnection(self._host, self._port)

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close it; the next request opens it again."""
        self._http.close()

    def post(self, path: str, body: bytes, headers: Mapping[str, str], timeout_s: float) -> Reply:
        """Make one request and read the whole answer; redirects are not followed."""
        deadline = time.monotonic() + timeout_s
        try:
            sock = cast("_Socket | None", self._http.sock)
            if sock is None or not _is_idle(sock):  # the host may have closed it since the last request
                self.close()
                sock = self._http.sock = self._connected(deadline)
            sock.deadline = deadline
            where = quote(self._parts.path + path, safe="/%:@!$&'()*+,;=~")
            with contextlib.suppress(BrokenPipeError):  # a host may answer before it has read too large a request
                self._http.request("POST", where, body, {"Host": self._parts.netloc, **HEADERS, **headers})
            with self._http.getresponse() as response:
                return Reply(response.status, response.headers, _body_of(response))
        except BaseException:
            self.close()  # what still comes on it is no answer to a later request
            raise

    def _connected(self, deadline: float) -> _Socket:
        proxy = _proxy_of(self._url)
        sock = _dialled(proxy.host, proxy.port, deadline) if proxy else _dialled(self._host, self._port, deadline)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if proxy:
                proxy.lead(sock, self._host, self._port)
            if self._parts.scheme == "https":
                sock.settimeout(_left(deadline))  # the handshake as a whole
                sock = cast("_SecureSocket", _tls().wrap_socket(sock, server_hostname=self._host))
        except BaseException:
            sock.close()
            raise
        return sock


class _Socket(socket.socket):
    """A socket whose operations end by a deadline."""

    deadline = 0.0
    """As :func:`time.monotonic` counts."""

    def recv_into(self, *args: Any, **options: Any) -> int:  # noqa: ANN401 - as the socket's own
        self.settimeout(_left(self.deadline))
        return super().recv_into(*args, **options)

    def sendall(self, data: Any, flags: int = 0) -> None:  # noqa: ANN401 - as the socket's own
        with memoryview(data).cast("B") as view:
            sent = 0
            while sent < len(view):
                self.settimeout(_left(self.deadline))
                sent += self.send(view[sent:], flags)


class _SecureSocket(_Socket, ssl.SSLSocket):
    """The same with TLS."""


@dataclass(frozen=True)
class _Proxy:
    """The proxy of the environment: its address and credentials."""

    host: str
    port: int
    headers: tuple[str, ...] = field(repr=False)

    def lead(self, sock: _Socket, host: str, port: int) -> None:
        """Make the proxy pass on what follows on a socket to a host."""
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        lines = [f"CONNECT {where} HTTP/1.1", f"Host: {where}", *self.headers, "", ""]
        sock.sendall("\r\n".join(lines).encode("idna" if not host.isascii() else "ascii"))
        with http.client.HTTPResponse(sock, method="CONNECT") as response:
            response.begin()
            if response.status != 200:
                raise BadReplyError(f"cannot be reached (the proxy of the environment answers {response.status})")


def _proxy_of(url: str) -> _Proxy | None:
    """Return the proxy of the environment for an address; None for those that are reached without."""
    parts = urlsplit(url)
    if parts.scheme != "https" or is_loopback(parts.hostname or ""):
        return None
    from requests.utils import get_environ_proxies, select_proxy  # noqa: PLC0415 - takes time, heeds NO_PROXY

    address = select_proxy(url, get_environ_proxies(url))
    if not address:
        return None
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise UsageError(
            f"the proxy of the environment is of the kind {proxy.scheme}, expected http; unset it, or name "
            f"{parts.hostname} in NO_PROXY"
        )
    headers: tuple[str, ...] = ()
    if proxy.username is not None:
        user = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
        headers = (f"Proxy-Authorization: Basic {base64.b64encode(user).decode()}",)
    return _Proxy(proxy.hostname, proxy.port or PORTS["http"], headers)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name or number.

    Examples
    --------
    >>> [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "example.org")]
    [True, True, True, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.rstrip(".").lower() == "localhost"


def _tls() -> ssl.SSLContext:
    """Return what hosts are checked with: the certificates that requests has, or those that its variables name."""
    from requests.utils import DEFAULT_CA_BUNDLE_PATH  # noqa: PLC0415 - takes time

    named = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or DEFAULT_CA_BUNDLE_PATH
    folder = Path(named).is_dir()
    context = ssl.create_default_context(cafile=None if folder else named, capath=named if folder else None)
    context.set_alpn_protocols(["http/1.1"])
    context.sslsocket_class = _SecureSocket
    return context


def _left(deadline: float) -> float:
    remaining_s = deadline - time.monotonic()
    if remaining_s <= 0:
        raise TimeoutError
    return remaining_s


def _dialled(host: str, port: int, deadline: float) -> _Socket:
    """Connect to the first address of a host that accepts."""
    failed: OSError = BadReplyError("cannot be reached (its name has no address)")
    for family, kind, protocol, _, address in _addresses(host, port, deadline):
        sock = _Socket(family, kind, protocol)
        sock.deadline = deadline
        try:
            sock.settimeout(min(CONNECT_TIMEOUT_S, _left(deadline)))
            sock.connect(address)
        except OSError as error:
            sock.close()
            failed = error
        else:
            return sock
    if isinstance(failed, TimeoutError) and _left(deadline):
        raise BadReplyError(f"cannot be reached (no connection within {CONNECT_TIMEOUT_S:g} s)")
    raise failed


def _addresses(host: str, port: int, deadline: float) -> list[Any]:
    """Find the addresses of a host; the search of the system has no deadline, so it runs in a thread."""
    results: queue.SimpleQueue[list[Any] | Exception] = queue.SimpleQueue()

    def look() -> None:
        try:
            results.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            results.put(error)

    threading.Thread(target=look, daemon=True).start()
    try:
        result = results.get(timeout=_left(deadline))
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(result, Exception):
        raise BadReplyError("cannot be reached (its name has no address)") from None
    return result


def _is_idle(sock: socket.socket) -> bool:
    """Return whether an open connection is idle: bytes without a request mean that the server closes it."""
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return not selector.select(0)


def _body_of(response: http.client.HTTPResponse) -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := response.read1(1 << 16):
        parts.append(part)
        size += len(part)
        if size > MAX_ANSWER_BYTES:
            raise BadReplyError(f"sent more than {MAX_ANSWER_BYTES >> 20} MiB for an answer")
    if response.length:
        raise BadReplyError(f"sent {size} bytes of {size + response.length}")
    return b"".join(parts)
