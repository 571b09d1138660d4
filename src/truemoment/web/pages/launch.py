"""Start of a server: its address, its link, the browser, and an end within seconds."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import ipaddress
import logging
import os
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.web.pages.security import Address, Application

if TYPE_CHECKING:
    from types import FrameType

ENDING_S = 3
"""Seconds that open requests get when the server ends."""

BACKLOG = 256


@dataclass(frozen=True)
class Listening:
    """Where a server listens, as the options name it.

    Parameters
    ----------
    host
        Address of this machine to listen on.
    port
        Port; 0 takes a free one.
    name
        Name under which browsers reach it, where it is no loopback name.
    certificate, key
        TLS certificate and key, PEM files.
    behind_proxy
        Whether a web server with TLS is in front of it.
    plain_http
        Whether others may reach it without encryption.
    """

    host: str = "127.0.0.1"
    port: int = 0
    name: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False
    plain_http: bool = False

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def check(self) -> None:
        """Refuse combinations that would be unsafe, or could not work."""
        if (self.certificate is None) != (self.key is None):
            raise UsageError("--certificate and --key: got one of them, expected both or none")
        if self.certificate is not None and self.behind_proxy:
            raise UsageError("got --certificate and --behind-proxy, expected one of them")
        for path in (self.certificate, self.key):
            if path is not None and not path.is_file():
                raise UsageError(f"{path}: no such file")
        secure = self.certificate is not None or self.behind_proxy
        if self.is_local and not (self.behind_proxy and self.name is None):
            return
        if self.name is None:
            raise UsageError("--name: is missing, expected the name under which browsers reach this server")
        if not secure and not self.plain_http:
            raise UsageError(
                f"--host {self.host}: others could read answers and links on the way; give --certificate and --key, or "
                "--behind-proxy, or accept it with --plain-http"
            )

    def address(self) -> Address:
        """Return the names that the server answers to."""
        names = () if self.name is None else (self.name.rpartition(":")[0] or self.name,)
        return Address(names, tls=self.certificate is not None or self.behind_proxy)

    def base(self, port: int) -> str:
        """Return the address that links begin with, for the port that was taken."""
        if self.behind_proxy:
            return f"https://{self.name}"
        scheme = "http" if self.certificate is None else "https"
        host = self.name or (f"[{self.host}]" if ":" in self.host else self.host)
        return f"{scheme}://{host}" if self.name and ":" in self.name else f"{scheme}://{host}:{port}"


def bind(listening: Listening) -> socket.socket:
    """Return a socket that listens; a port in use, or an address that is not ours, is one line."""
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    # With the protocol named, asyncio sends small answers at once (TCP_NODELAY); without, they come up to 40 ms late.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((listening.host, listening.port))
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        where = f"{listening.host}, port {listening.port}"
        if error.errno == errno.EADDRINUSE:
            raise UsageError(
                f"--port {listening.port}: is in use; end the other program, or give another port"
            ) from None
        if error.errno in (errno.EACCES, errno.EPERM):
            raise UsageError(f"{where}: is not allowed; give a port above 1023") from None
        raise UsageError(f"--host {where}: cannot be used ({error.strerror})") from None
    except (UnicodeError, TypeError):
        sock.close()
        raise UsageError(f"--host {listening.host}: is no host name and no IP address") from None
    except OverflowError:
        sock.close()
        raise UsageError(f"--port {listening.port}: expected 0 to 65535") from None
    return sock


def open_address(link: str) -> bool:
    """Open a link in the user's browser if there is a screen to open it on; return whether it does."""
    has_screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(has_screen) and webbrowser.open(link)


def require_server() -> None:
    """Raise in one line if the packages of the pages are missing."""
    try:
        import starlette  # noqa: F401, PLC0415 - only pages need it
        import uvicorn  # noqa: F401, PLC0415
    except ModuleNotFoundError as error:
        raise MissingPackageError(error.name or "uvicorn", "pages", "a page") from None


def serve(
    app: Application, sock: socket.socket, listening: Listening, *, on_start: Callable[[], None] | None = None
) -> None:
    """Serve an application until Ctrl-C or SIGTERM; open requests end within :data:`ENDING_S`.

    `on_start` is called when the server answers.
    """
    import uvicorn  # noqa: PLC0415 - only pages need it

    from truemoment.web.pages.connections import BoundedProtocol  # noqa: PLC0415 - as above

    class Server(uvicorn.Server):
        """A server whose end by a signal is its ordinary end."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            handlers = {number: signal.signal(number, self._end) for number in (signal.SIGINT, signal.SIGTERM)}
            try:
                yield
            finally:
                for number, handler in handlers.items():
                    signal.signal(number, handler)

        def _end(self, number: int, frame: FrameType | None) -> None:
            # Requests that wait for their clients are cancelled; uvicorn would log each with a traceback.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            self.handle_exit(number, frame)

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            asyncio.get_running_loop().set_exception_handler(loop_error_handler())
            await super().startup(sockets)
            gc.collect()
            gc.freeze()  # what is there from the start stays: no later collection looks at it
            if on_start is not None and self.started:
                on_start()

    settings: dict[str, Any] = {}
    if listening.certificate is not None:
        settings = {"ssl_certfile": str(listening.certificate), "ssl_keyfile": str(listening.key)}
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http=BoundedProtocol,
        ws="none",
        loop="asyncio",
        timeout_graceful_shutdown=ENDING_S,
        **settings,
    )
    try:
        config.load()
    except OSError as error:  # ssl.SSLError too
        problem = f"cannot be used as a certificate ({error.strerror or error})"
        raise InputError(problem, path=listening.certificate) from None
    Server(config).run([sock])


def loop_error_handler() -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """Return the error handler of the server's event loop, which logs the limit of open files once, in one line.

    The loop itself tries again to accept connections.
    """
    is_logged = False

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal is_logged
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)):
            loop.default_exception_handler(context)
        elif not is_logged:
            is_logged = True
            logging.getLogger("uvicorn.error").error("limit of open files reached: new connections wait (ulimit -n)")

    return handle
