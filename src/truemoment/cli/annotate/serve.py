"""truemoment annotate serve: serve the page of a study."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.cli.annotate.shared import folder_of, run_server, serving_options, study_argument, videos_option
from truemoment.cli.command import Command
from truemoment.cli.serving import ServingOptions


@click.command("serve", cls=Command)
@study_argument
@videos_option
@serving_options
@click.option("--no-open", is_flag=True, help="Do not open the owner's page in a browser.")
def command(study: Path, videos: Path | None, serving: ServingOptions, no_open: bool) -> None:
    """Serve the page of STUDY until Ctrl-C, and print the owner's link.

    Videos that are not prepared yet are prepared meanwhile.
    """
    folder = folder_of(study)
    folder.settings()
    run_server(folder, serving, role="owner", open_it=not no_open, videos=videos)
