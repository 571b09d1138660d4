"""truemoment annotate serve: serve the page of a study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from truemoment.base.request import Request, argument, option
from truemoment.cli import binder
from truemoment.cli.annotate.shared import run_server
from truemoment.cli.serving import ServingOptions
from truemoment.web.annotating.study import StudyFolder


@dataclass(frozen=True, kw_only=True)
class ServeRequest(Request):
    """The study."""

    study: Path = argument(metavar="STUDY")
    videos: Path | None = option(
        "Folder of the videos, named by video id, for a study that was moved or made by others. [default: "
        "as the study names them]",
        metavar="DIR",
    )
    no_open: bool = option("Do not open the owner's page in a browser.", False)


@binder.command("serve")
def command(request: ServeRequest, serving: ServingOptions) -> None:
    """Serve the page of STUDY until Ctrl-C, and print the owner's link.

    Videos that are not prepared yet are prepared meanwhile.
    """
    folder = StudyFolder(request.study)
    folder.settings()
    run_server(folder, serving, role="owner", open_it=not request.no_open, videos=request.videos)
