"""truemoment annotate new: make a study."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from truemoment.base.errors import UsageError
from truemoment.cli.annotate.shared import address_option, check_address, lang_option, show_links, study_argument
from truemoment.cli.command import Command
from truemoment.cli.groups import data_options
from truemoment.cli.options import FILE, count_option, say, seed_option
from truemoment.data.datasets.source import AnnotationSource


@click.command("new", cls=Command)
@study_argument
@data_options
@click.option("--videos", type=FILE, required=True, metavar="DIR", help="Folder of video files, named by video id.")
@click.option(
    "--task",
    type=click.Choice(["mark", "verify"]),
    default="mark",
    show_default=True,
    help="Mark moments, or judge them.",
)
@count_option("--queries", None, "Number of queries, drawn by lot. [default: all]", least=1)
@click.option("--only", type=FILE, metavar="FILE", help="Take only these queries: JSON Lines with query_id.")
@count_option("--per-query", 5, "Number of answers per query, each by another person.", least=1, most=100)
@count_option("--people", 20, "Number of people that queries are dealt to.", least=1, most=200)
@click.option("--open", "open_study", is_flag=True, help="Deal nothing: whoever comes gets the next query.")
@seed_option("the deal, the orders and the controls")
@click.option(
    "--gold", type=FILE, metavar="FILE", help="Queries with agreed moments (JSON Lines), as controls and practice."
)
@click.option(
    "--controls",
    default="gold=0.05,repeat=0.02,absent=0.03",
    show_default=True,
    metavar="SHARES",
    help="Share of control tasks by kind, or none.",
)
@click.option(
    "--same-video",
    type=click.Choice(["apart", "any"]),
    default="apart",
    show_default=True,
    help="Keep queries of one video at least 20 tasks apart where possible.",
)
@click.option(
    "--several", type=click.Choice(["yes", "no"]), default="yes", show_default=True, help="Allow several moments."
)
@click.option(
    "--review",
    type=click.Choice(["required", "offered"]),
    default="required",
    show_default=True,
    help="Whether a moment must be played before it is submitted.",
)
@click.option("--sound", type=click.Choice(["on", "off"]), default="on", show_default=True, help="Play the sound.")
@click.option("--instructions", type=FILE, metavar="FILE", help="What people read first, Markdown.")
@lang_option
@click.option("--title", default="", metavar="TEXT", help="Title of the page.")
@address_option
def command(
    study: Path,
    data: AnnotationSource,
    videos: Path,
    task: str,
    queries: int | None,
    only: Path | None,
    per_query: int,
    people: int,
    open_study: bool,
    seed: int,
    gold: Path | None,
    controls: str,
    same_video: str,
    several: str,
    review: str,
    sound: str,
    instructions: Path | None,
    lang: str,
    title: str,
    address: str,
) -> None:
    """Make the folder STUDY: deal queries to people and print a link for each.

    \b
    truemoment annotate new lab --dataset charades-sta --split test --videos charades
    truemoment annotate new lab --annotations mine.jsonl --videos films --people 5 --per-query 3
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.data.datasets import read_own_annotations
    from truemoment.web.annotating.creation import new_study
    from truemoment.web.annotating.plan import StudyPlan, parse_controls, read_only
    from truemoment.web.annotating.queries import read_queries

    check_address(address)
    shares = parse_controls(controls)
    if data.annotations is not None and data.dataset is not None:
        raise UsageError("got --dataset and --annotations, expected one of them")
    annotations = data.read() if data.annotations is None else read_queries(data.annotations, data.split)
    plan = StudyPlan(
        task="verify" if task == "verify" else "mark",
        n_queries=queries,
        per_query=per_query,
        people=0 if open_study else people,
        seed=seed,
        gold=None if gold is None else read_own_annotations(gold, None),
        only=None if only is None else read_only(only),
        controls=shares,
        same_video=same_video,
        several=several == "yes",
        review=review,
        sound=sound == "on",
        instructions=instructions,
        lang=lang,
        title=title,
    )
    made = new_study(study, annotations, videos, plan, source=f"{annotations.dataset}/{annotations.split}")
    dealt = f"{plan.per_query} answers each, {made.settings.people or 'any number of'} people"
    say(f"{study}: {made.n_queries:,} queries in {made.n_videos:,} videos, {dealt}")
    if made.n_without_file:
        click.echo(f"warning: {made.n_without_file:,} videos have no file; their queries are left out", err=True)
    show_links(made.links, address)
    if open_study:
        click.echo("add people:")
        say(f"  {shlex.join(['truemoment', 'annotate', 'people', str(study), 'add', '5'])}")
    click.echo("\nnext:")
    for verb in ("prepare", "serve"):
        say(f"  {shlex.join(['truemoment', 'annotate', verb, str(study)])}")
