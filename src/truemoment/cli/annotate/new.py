"""truemoment annotate new: make a study."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from truemoment.base.errors import UsageError
from truemoment.base.request import Request, argument, number, option, seed
from truemoment.cli import binder
from truemoment.cli.annotate.shared import check_address, show_links
from truemoment.cli.outputs import say
from truemoment.report.words import counted, few
from truemoment.studies.request import Data
from truemoment.web.annotating.plan import StudyPlan, parse_controls, read_only


@dataclass(frozen=True, kw_only=True)
class NewRequest(Request):
    """The new study."""

    study: Path = argument(metavar="STUDY")
    videos: Path = option("Folder of video files, named by video id.", metavar="DIR", required=True)
    task: Literal["mark", "verify"] = option("Whether people mark moments, or judge them.", "mark")
    queries: int | None = number("Number of queries, drawn by lot. [default: all]", None, 1)
    only: Path | None = option("Use only these queries: JSON Lines with query_id.", metavar="FILE")
    per_query: int = number("Number of answers per query, each by another person.", 5, 1, 100)
    people: int = number("Number of people who get queries.", 20, 1, 200)
    open_study: bool = option(
        "Deal no queries: each person who opens the page gets the next one.", False, name="--open"
    )
    seed: int = seed("the deal, the orders and the controls")
    gold: Path | None = option("Queries with agreed moments (JSON Lines), as controls and practice.", metavar="FILE")
    controls: str = option(
        "Share of control tasks by kind, or none.", "gold=0.05,repeat=0.02,absent=0.03", metavar="SHARES"
    )
    same_video: Literal["apart", "any"] = option(
        "Keep queries of one video at least 20 tasks apart where possible.", "apart"
    )
    several: Literal["yes", "no"] = option("Allow several moments.", "yes")
    review: Literal["required", "offered"] = option(
        "Whether a moment must be played before it is submitted.", "required"
    )
    sound: Literal["on", "off"] = option("Play the sound.", "on")
    instructions: Path | None = option("Instructions that people read first, Markdown.", metavar="FILE")
    lang: str = option(
        "Language of the sentences, e.g. en or ar, for screen readers and fonts.", "", metavar="TAG", show=False
    )
    title: str = option("Title of the page.", "", metavar="TEXT", show=False)
    address: str = option("Beginning of the links, as browsers reach the page.", "http://127.0.0.1:8790", metavar="URL")


@binder.command("new")
def command(request: NewRequest, data: Data) -> None:
    """Make the folder STUDY: deal queries to people and print a link for each.

    \b
    truemoment annotate new lab --dataset charades-sta --split test --videos charades
    truemoment annotate new lab --annotations mine.jsonl --videos films --people 5 --per-query 3
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.data.references import read_annotations
    from truemoment.web.annotating.creation import new_study
    from truemoment.web.annotating.study_queries import read_queries

    check_address(request.address)
    shares = parse_controls(request.controls)
    if data.source.annotations is not None and data.dataset is not None:
        raise UsageError("got --dataset and --annotations, expected one of them")
    annotations = (
        data.source.read() if data.source.annotations is None else read_queries(data.source.annotations, data.split)
    )
    plan = StudyPlan(
        task="verify" if request.task == "verify" else "mark",
        n_queries=request.queries,
        per_query=request.per_query,
        people=0 if request.open_study else request.people,
        seed=request.seed,
        gold=None if request.gold is None else read_annotations(request.gold, None),
        only=None if request.only is None else read_only(request.only),
        controls=shares,
        same_video=request.same_video,
        several=request.several == "yes",
        review=request.review,
        sound=request.sound == "on",
        instructions=request.instructions,
        lang=request.lang,
        title=request.title,
    )
    made = new_study(
        request.study, annotations, request.videos, plan, source=f"{annotations.dataset}/{annotations.split}"
    )
    people = counted(made.settings.people, "person", "people") if made.settings.people else "any number of people"
    dealt = f"{counted(plan.per_query, 'answer')} each, {people}"
    say(f"{request.study}: {counted(made.n_queries, 'query', 'queries')} in {counted(made.n_videos, 'video')}, {dealt}")
    if made.without_file:
        lost = f"{counted(len(made.without_file), 'video has', 'videos have')} no file ({few(made.without_file)})"
        say(f"warning: {lost}; their queries are left out", err=True)
    show_links(made.links, request.address)
    if request.open_study:
        say("add people:")
        say(f"  {shlex.join(['truemoment', 'annotate', 'people', str(request.study), 'add', '5'])}")
    click.echo("\nnext:")
    for verb in ("prepare", "serve"):
        say(f"  {shlex.join(['truemoment', 'annotate', verb, str(request.study)])}")
