"""truemoment open: a folder of results on one page."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from truemoment.base.request import Request, argument, option
from truemoment.cli import binder
from truemoment.cli.parts import Threads
from truemoment.cli.serving import ServingOptions, host, port, serve_links
from truemoment.studies.request import Data

PORT = 8792
"""Port of the page of a folder."""


@dataclass(frozen=True, kw_only=True)
class OpenRequest(Request):
    """The folder that is opened."""

    folder: Path = argument(metavar="DIR")


@dataclass(frozen=True, kw_only=True)
class OpeningOptions(Request):
    """What the pages of predictions show."""

    HEADING = "What is shown"

    videos: Path | None = option("Folder of video files, named by video id.", metavar="DIR")
    floors: Literal["all", "best", "none"] = option(
        "Blind baselines beside predictions; best and all take the time of an audit.", "none"
    )
    no_open: bool = option("Do not open the page in a browser.", False)


@dataclass(frozen=True, kw_only=True)
class FolderServing(ServingOptions):
    """Where the page is served."""

    HEADING = "Serving"

    host: str = host()
    port: int = port(PORT)


@binder.command("open")
def command(
    request: OpenRequest, data: Data, opening: OpeningOptions, serving: FolderServing, _threads: Threads
) -> None:
    """Open a folder of results on one page: predictions, audits, comparisons, runs and indexes.

    The page shows what each file is, opens it, and starts audits and comparisons, whose documents
    and pages are written beside the predictions. Predictions are compared with --dataset or
    --annotations, or with a file of annotations in the folder.

    \b
    truemoment open results
    truemoment open results --dataset charades-cd --split test-ood --data-dir data --videos charades
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    listening = serving.listening()
    from truemoment.base.boundary.caching import Cache
    from truemoment.web.opening.folder_site import open_folder
    from truemoment.web.pages.launch import bind

    with contextlib.closing(bind(listening)) as sock:
        base = listening.base(sock.getsockname()[1])
        with open_folder(
            request.folder,
            data.source,
            cache=Cache.of_user(),
            videos=opening.videos,
            floors=opening.floors,
            address=listening.address(),
        ) as server:
            links = {"link": f"{base}/in#{server.tokens.owner}"}
            serve_links(server.app, sock, listening, links, open_it=not opening.no_open, ending="files are saved")
    click.echo("ended")
