"""Options of a page that a command serves, and its start."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.cli.groups import F, bound
from truemoment.cli.options import FILE, count_option

if TYPE_CHECKING:
    from truemoment.web.pages.launch import Listening
    from truemoment.web.pages.security import Application


@dataclass(frozen=True)
class ServingOptions:
    """Where a page is served."""

    host: str
    port: int
    name: str | None
    certificate: Path | None
    key: Path | None
    behind_proxy: bool
    plain_http: bool

    def listening(self) -> Listening:
        """Return where the server listens, checked."""
        from truemoment.web.pages.launch import Listening, require_server

        require_server()
        found = Listening(
            self.host, self.port, self.name, self.certificate, self.key, self.behind_proxy, self.plain_http
        )
        found.check()
        return found


def make_serving_options(port: int) -> Callable[[F], F]:
    """Return --host, --port, --name, --certificate, --key, --behind-proxy and --plain-http, as ``serving``.

    `port` is the default, a fixed one, so that links stay valid.
    """
    return bound(
        "serving",
        ServingOptions,
        click.option("--host", default="127.0.0.1", show_default=True, metavar="H", help="Address to listen on."),
        count_option("--port", port, "Port to listen on; 0 takes a free one.", least=0, most=65535, metavar="P"),
        click.option(
            "--name", metavar="NAME", help="Name under which browsers reach the page, if not this machine's own."
        ),
        click.option("--certificate", type=FILE, metavar="FILE", help="TLS certificate (PEM)."),
        click.option("--key", type=FILE, metavar="FILE", help="Key of the TLS certificate (PEM)."),
        click.option("--behind-proxy", is_flag=True, help="A web server with TLS stands before this one."),
        click.option(
            "--plain-http", is_flag=True, help="Accept that others on the network can read answers and links."
        ),
        heading="Serving",
    )


def serve_links(
    app: Application,
    sock: socket.socket,
    listening: Listening,
    links: Mapping[str, str],
    *,
    open_it: bool,
    ending: str,
) -> None:
    """Serve a page until Ctrl-C; when it answers, print its links and open the first one.

    Parameters
    ----------
    links
        Address by what it is, e.g. ``your link``.
    ending
        What is true after the end, e.g. ``everything is saved``.
    """
    from truemoment.web.pages.launch import open_address, serve

    def on_start() -> None:
        for name, address in links.items():
            click.echo(f"{name}: {address}")
        click.echo(f"Ctrl-C stops the server; {ending}.")
        if open_it and not open_address(next(iter(links.values()))):
            click.echo("open this link in a browser")

    serve(app, sock, listening, on_start=on_start)
