"""truemoment annotate start: one person marks queries at home."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from truemoment.cli.annotate.shared import folder_of, lang_option, run_server, serving_options
from truemoment.cli.command import Command
from truemoment.cli.options import FILE, say
from truemoment.cli.serving import ServingOptions


def study_of_one(queries: Path, videos: Path, study: Path, *, title: str = "", lang: str = "") -> None:
    """Make the study of one person, or keep the one that is there."""
    from truemoment.web.annotating.creation import new_study
    from truemoment.web.annotating.plan import StudyPlan
    from truemoment.web.annotating.queries import read_queries
    from truemoment.web.annotating.study import ControlShares

    folder = folder_of(study)
    if folder.settings_file.exists():
        folder.settings()
        return
    annotations = read_queries(queries)
    plan = StudyPlan(
        per_query=1,
        people=1,
        controls=ControlShares(0.0, 0.0, 0.0),
        same_video="any",
        review="offered",
        practice=0,
        lang=lang,
        title=title or f"Moments of {annotations.dataset}",
    )
    made = new_study(study, annotations, videos, plan, source=f"{annotations.dataset}/{annotations.split}")
    say(f"{study}: {made.n_queries:,} queries in {made.n_videos:,} videos")
    if made.n_without_file:
        click.echo(f"warning: {made.n_without_file:,} videos have no file; their queries are left out", err=True)


@click.command("start", cls=Command)
@click.argument("queries", type=FILE, metavar="QUERIES")
@click.option("--videos", type=FILE, required=True, metavar="DIR", help="Folder of video files, named by video id.")
@click.option(
    "--study", type=FILE, metavar="DIR", help="Folder of the study. [default: QUERIES without suffix + .study]"
)
@lang_option
@serving_options
@click.option("--no-open", is_flag=True, help="Do not open the page in a browser.")
def command(queries: Path, videos: Path, study: Path | None, lang: str, serving: ServingOptions, no_open: bool) -> None:
    """Mark the moments of QUERIES (JSON Lines with video_id and sentence) yourself.

    The first call makes a study; later calls resume it.

    \b
    truemoment annotate start mine.jsonl --videos films
    truemoment annotate export mine.study -o marked
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    serving.listening()
    study = study or queries.with_name(f"{queries.stem}.study")
    study_of_one(queries, videos, study, lang=lang)
    words = ["truemoment", "annotate", "export", str(study), "-o", f"{study.with_suffix('')}-marked"]
    click.echo("when you are done:")
    say(f"  {shlex.join(words)}")
    run_server(folder_of(study), serving, role="w01", open_it=not no_open)
