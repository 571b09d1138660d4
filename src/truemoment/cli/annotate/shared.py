"""What the verbs of ``truemoment annotate`` share: options, links, and the running server."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.base.boundary.text import printable
from truemoment.base.errors import InputError
from truemoment.cli.outputs import say
from truemoment.cli.serving import ServingOptions, serve_links
from truemoment.web.annotating.study import StudyFolder

if TYPE_CHECKING:
    from truemoment.web.annotating.people import Link
    from truemoment.web.annotating.store import Store


def show_links(links: Iterable[Link], base: str) -> None:
    """Print links, which are shown only once."""
    links = list(links)
    if not links:
        return
    click.echo("\nlinks (shown only once; give each person their own):")
    for link in links:
        say(f"  {link.name}  {printable(base.rstrip('/'))}/in#{link.token}")


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
    videos: Path | None = None,
    before: Callable[[Store], None] = lambda _: None,
) -> None:
    """Serve a study until Ctrl-C, and print the link of its owner, or of the person who is at home.

    Parameters
    ----------
    role
        Name of the person whose new link is printed.
    videos
        Folder of the videos; None for those that the study names.
    before
        Called with the store before the server starts.
    """
    from truemoment.web.annotating.people import new_link
    from truemoment.web.annotating.serving import open_study
    from truemoment.web.pages.launch import bind

    listening = serving.listening()
    with contextlib.closing(bind(listening)) as sock:
        base = listening.base(sock.getsockname()[1])
        with open_study(study, base=base, address=listening.address(), videos=videos) as server:
            before(server.store)
            link = server.store.write(lambda connection: new_link(connection, role))
            name = "link of the owner" if role == "owner" else "your link"
            links = {name: f"{base}/in#{link.token}"}
            serve_links(server.app, sock, listening, links, open_it=open_it, ending="all answers are saved")
    click.echo("the server has stopped; all answers are saved")
