"""Options of a page that a command serves, and its start."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truemoment.base.errors import UsageError
from truemoment.base.request import Request, number, option
from truemoment.cli.outputs import say
from truemoment.web.annotating import PORT as STUDY_PORT

if TYPE_CHECKING:
    from truemoment.web.pages.launch import Listening
    from truemoment.web.pages.security import Application


PORT = 8791
"""Port of the search page and of the page of answers."""


def host() -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return the option --host."""
    return option("Address to listen on.", "127.0.0.1", metavar="H")


def port(default: int) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return the option --port; its default is a fixed one, so that links stay valid."""
    return number("Port to listen on; 0 takes a free one.", default, 0, 65535, metavar="P")


@dataclass(frozen=True, kw_only=True)
class ServingOptions(Request):
    """Where a page is served: by default that of a study."""

    HEADING = "Serving"

    host: str = host()
    port: int = port(STUDY_PORT)
    name: str | None = option(
        "Name under which browsers reach the page, if not this machine's own.", metavar="NAME", rare=True
    )
    certificate: Path | None = option("TLS certificate (PEM).", metavar="FILE", rare=True)
    key: Path | None = option("Key of the TLS certificate (PEM).", metavar="FILE", rare=True)
    behind_proxy: bool = option("This server is behind a web server with TLS.", False, rare=True)
    plain_http: bool = option("Accept that others on the network can read answers and links.", False, rare=True)

    def listening(self) -> Listening:
        """Return where the server listens, checked."""
        from truemoment.web.pages.launch import Listening, require_server

        require_server()
        listening = Listening(
            self.host, self.port, self.name, self.certificate, self.key, self.behind_proxy, self.plain_http
        )
        listening.check()
        return listening


@dataclass(frozen=True, kw_only=True)
class PageServing(ServingOptions):
    """Where the search page is served."""

    HEADING = "Serving"

    host: str = host()
    port: int = port(PORT)


@dataclass(frozen=True, kw_only=True)
class SearchPageOptions(Request):
    """How the search page is opened, and where it writes."""

    HEADING = "Page"

    guest: bool = option("Print a second link, for guests, who only look.", False)
    no_open: bool = option("Do not open the page in a browser.", False)
    collections: Path | None = option("Folder of collections. [default: INDEX.collections, beside it]", metavar="DIR")
    export_dir: Path | None = option(
        "Write exports of the page here. [default: download]", name="--export", metavar="DIR"
    )

    def folder_of_collections(self, index: Path) -> Path:
        """Return the folder of collections: beside the index, unless another is named."""
        if self.collections is not None:
            return self.collections
        beside = index.absolute()
        return beside.with_name(f"{beside.name.removesuffix('.index')}.collections")

    def check(self) -> None:
        """Refuse files in place of folders."""
        for name, folder in (("--collections", self.collections), ("--export", self.export_dir)):
            if folder is not None and folder.exists() and not folder.is_dir():
                raise UsageError(f"{name} {folder}: is a file, expected a folder")


def cache_folder() -> Path:
    """Return the folder of pictures and prepared videos."""
    from truemoment.base.boundary.caching import Cache

    return Cache.of_user().folder or Path()


def serve_links(
    app: Application, sock: socket.socket, listening: Listening, links: Mapping[str, str], *, open_it: bool, ending: str
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
            say(f"{name}: {address}")
        say(f"Ctrl-C stops the server; {ending}.")
        if open_it and not open_address(next(iter(links.values()))):
            click.echo("open this link in a browser")

    serve(app, sock, listening, on_start=on_start)
