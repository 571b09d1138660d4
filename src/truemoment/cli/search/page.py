"""truemoment search page: the page on which sentences are typed. ``browse INDEX`` and the demo serve it too."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.base.request import argument
from truemoment.cli import binder
from truemoment.cli.outputs import say
from truemoment.cli.parts import Threads
from truemoment.cli.search.parts import target_of
from truemoment.cli.serving import PageServing, SearchPageOptions, ServingOptions, cache_folder, serve_links
from truemoment.searching.request import VideoIndexing

if TYPE_CHECKING:
    from truemoment.searching.encoder_options import EncoderOptions
    from truemoment.searching.index import Index


def serve_search(
    index: Index, options: EncoderOptions, serving: ServingOptions, page: SearchPageOptions, models: Sequence[str] = ()
) -> None:
    """Serve the search page of an index until Ctrl-C, with some of its models; none for all."""
    from truemoment.web.browsing.search_site import open_search
    from truemoment.web.pages.launch import bind

    listening = serving.listening()
    with contextlib.closing(bind(listening)) as sock:
        base = listening.base(sock.getsockname()[1])
        with open_search(
            index,
            options,
            models=models,
            cache=cache_folder(),
            collections=page.folder_of_collections(index.path),
            exports=page.export_dir,
            guests=page.guest,
            address=listening.address(),
        ) as server:
            if server.collections.read_only:
                say(f"note: collections are read-only: {server.collections.read_only}", err=True)
            for folder in server.service.videos.shown.folders():
                say(f"videos in {Path(folder)}")
            links = {"link": f"{base}/in#{server.tokens.owner}"}
            if server.tokens.guest is not None:
                links["link for guests, who only look"] = f"{base}/in#{server.tokens.guest}"
            serve_links(server.app, sock, listening, links, open_it=not page.no_open, ending="collections are saved")
    click.echo("ended")


@dataclass(frozen=True, kw_only=True)
class PageTarget(VideoIndexing):
    """What is searched on a page."""

    target: Path = argument(metavar="VIDEO|INDEX")


@binder.command("page")
def command(request: PageTarget, page: SearchPageOptions, serving: PageServing, _threads: Threads) -> None:
    """Search on a page in the browser: type sentences, play the moments, collect and export them.

    \b
    truemoment search page videos.index
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    serving.listening()
    target = target_of(request, request.target)
    serve_search(target.open_index()[0], target.options, serving, page, target.models)
