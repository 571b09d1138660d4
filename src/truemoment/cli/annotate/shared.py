"""What the verbs of ``truemoment annotate`` share: options, links, and the running server."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.cli.groups import bound
from truemoment.cli.options import FILE, count_option
from truemoment.exceptions import InputError
from truemoment.text import printable

if TYPE_CHECKING:
    from truemoment.annotating.people import Link
    from truemoment.annotating.store import Store
    from truemoment.annotating.study import StudyFolder
    from truemoment.pages.launch import Listening

PORT = 8790
"""Port of a study's page; a fixed one, so that links stay valid."""


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
        from truemoment.pages.launch import Listening, require_server

        require_server()
        found = Listening(
            self.host, self.port, self.name, self.certificate, self.key, self.behind_proxy, self.plain_http
        )
        found.check()
        return found


serving_options = bound(
    "serving",
    ServingOptions,
    click.option("--host", default="127.0.0.1", show_default=True, metavar="H", help="Address to listen on."),
    count_option("--port", PORT, "Port to listen on; 0 takes a free one.", least=0, most=65535, metavar="P"),
    click.option("--name", metavar="NAME", help="Name under which browsers reach the page, if not this machine's own."),
    click.option("--certificate", type=FILE, metavar="FILE", help="TLS certificate (PEM)."),
    click.option("--key", type=FILE, metavar="FILE", help="Key of the TLS certificate (PEM)."),
    click.option("--behind-proxy", is_flag=True, help="A web server with TLS stands before this one."),
    click.option("--plain-http", is_flag=True, help="Accept that others on the network can read answers and links."),
)
"""--host, --port, --name, --certificate, --key, --behind-proxy, --plain-http, as ``serving``."""

study_argument = click.argument("study", type=FILE, metavar="STUDY")

address_option = click.option(
    "--address",
    default=f"http://127.0.0.1:{PORT}",
    show_default=True,
    metavar="URL",
    help="Beginning of the links, as browsers reach the page.",
)


def folder_of(path: Path) -> StudyFolder:
    """Return the folder of a study."""
    from truemoment.annotating.study import StudyFolder

    return StudyFolder(path)


def show_links(links: Iterable[Link], base: str) -> None:
    """Print links, which are shown only once."""
    links = list(links)
    if not links:
        return
    click.echo("\nlinks (shown only once; give each person their own):")
    for link in links:
        click.echo(f"  {link.name}  {printable(base.rstrip('/'))}/in#{link.token}")


def check_address(address: str) -> None:
    """Refuse an address that no link can begin with."""
    if not address.startswith(("http://", "https://")) or any(letter in address for letter in " #?\\"):
        raise InputError(f"got {address!r}, expected an address such as https://marking.example.org", field="--address")


def run_server(
    study: StudyFolder,
    serving: ServingOptions,
    *,
    role: str,
    open_it: bool,
    before: Callable[[Store], None] = lambda _: None,
) -> None:
    """Serve a study until Ctrl-C, and print the link of its owner, or of the person who is at home.

    Parameters
    ----------
    role
        Name of the person whose new link is printed.
    before
        Called with the store before the server starts.
    """
    from truemoment.annotating.people import new_link
    from truemoment.annotating.serving import open_study
    from truemoment.pages.launch import bind, open_address, serve

    listening = serving.listening()
    with contextlib.closing(bind(listening)) as sock:
        base = listening.base(sock.getsockname()[1])
        with open_study(study, base=base, address=listening.address()) as server:
            before(server.store)
            link = server.store.write(lambda connection: new_link(connection, role))
            address = f"{base}/in#{link.token}"

            def on_start() -> None:
                click.echo(f"{'link of the owner' if role == 'owner' else 'your link'}: {address}")
                click.echo("Ctrl-C stops the server; all answers are saved.")
                if open_it and not open_address(address):
                    click.echo("open this link in a browser")

            serve(server.app, sock, listening, on_start=on_start)
    click.echo("the server has stopped; all answers are saved")
