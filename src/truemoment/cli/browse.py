"""truemoment browse: browse the answers of methods, query by query, or search an index on a page."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from click.core import ParameterSource

from truemoment.base.boundary.text import printable
from truemoment.base.errors import MissingFileError, UsageError
from truemoment.base.request import Request, argument, option
from truemoment.cli import binder
from truemoment.cli.outputs import say, status_line
from truemoment.cli.parts import Threads
from truemoment.cli.search.page import serve_search
from truemoment.cli.serving import PageServing, SearchPageOptions, ServingOptions, cache_folder, serve_links
from truemoment.data.named_file import file_by_system
from truemoment.report.words import counted, points
from truemoment.studies.request import Data, Fitting, ReadingPredictions, path_of

if TYPE_CHECKING:
    from truemoment.web.browsing.looking import AnswerColumns


@dataclass(frozen=True, kw_only=True)
class LookingOptions(Request):
    """What the page of answers shows beside the answers."""

    HEADING = "What is shown"

    videos: Path | None = option("Folder of video files, named by video id.", metavar="DIR")
    protocol: str | None = option(
        "Evaluation convention. [default: default; moment-detr for QVHighlights]", metavar="NAME[,FIELD=VALUE...]"
    )
    floors: Literal["all", "best", "none"] = option("Blind baselines to show; with none, none is fitted.", "best")
    features_index: Path | None = option(
        "Index of the videos: a lane shows what a sentence resembles.", metavar="INDEX"
    )
    view: Literal["confident-and-wrong"] | None = option("What the page begins with. [default: all queries]")
    notes: Path | None = option("File of notes. [default: PREDICTIONS.notes.jsonl]", metavar="FILE")
    verdicts: Path | None = option(
        "Judgements of the references by people: answers.jsonl of a study with --task verify.", metavar="FILE"
    )


@dataclass(frozen=True, kw_only=True)
class BrowseRequest(Request):
    """What is shown."""

    predictions: tuple[str, ...] = argument(metavar="[NAME=]PREDICTIONS...|INDEX")
    engine: str = option(
        "Engine that finds verbs: lexicon, spacy or spacy:MODEL.", "lexicon", metavar="NAME", rare=True
    )


@binder.command("browse")
def command(
    request: BrowseRequest,
    data: Data,
    fitting: Fitting,
    looking: LookingOptions,
    reading: ReadingPredictions,
    serving: PageServing,
    search_page: SearchPageOptions,
    _threads: Threads,
) -> None:
    """Look at predictions beside references and blind baselines, query by query, on a page.

    Queries are filtered by error, verb, length and words, sorted by what went wrong, and played
    where --videos has their files. Notes go to a file, which 'annotate new --only FILE' reads.

    With an INDEX in place of predictions, the page of 'search page' is served.

    \b
    truemoment browse preds.jsonl --dataset charades-cd --split test-ood --videos charades
    truemoment browse ours=run1.jsonl theirs=base.jsonl --annotations mine.jsonl --split test
    truemoment browse videos.index
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.searching.encoder_options import EncoderOptions
    from truemoment.searching.index import Index
    from truemoment.searching.layout import is_index

    serving.listening()
    if len(request.predictions) == 1 and is_index(Path(request.predictions[0])):
        _refuse_of_answers()
        serve_search(Index(Path(request.predictions[0])), EncoderOptions(), serving, search_page)
        return
    if given := _options_given(("collections", "export_dir")):
        option = {"collections": "--collections", "export_dir": "--export"}[given[0]]
        raise UsageError(f"{option}: goes with an index, and these are predictions")
    files = list(file_by_system(request.predictions).items())
    if missing := [path for _, path in files if not os.path.exists(path)]:  # noqa: PTH110 - a name may be too long
        raise MissingFileError(f"{missing[0]}: no such file or index")
    from truemoment.web.browsing.looking import look_at

    with status_line(show=True) as on_status:
        looked = look_at(
            files,
            data.source,
            fit_split=fitting.fit_split,
            fit_annotations=path_of(fitting.fit_annotations),
            protocol=looking.protocol,
            floors=looking.floors,
            engine=request.engine,
            verdicts=looking.verdicts,
            cache=fitting.cache(),
            read=partial(reading.how.read, progress=False),
            on_status=on_status,
        )
    show_counts(looked)
    serve_looking(looked, looking, serving, search_page, first=files[0][1], data_words=data.source.words())


def show_counts(looked: AnswerColumns) -> None:
    """Print the queries, the figures, and how predictions matched."""
    queries = looked.annotations
    size = f"{counted(looked.n_queries, 'query', 'queries')}, {counted(queries.n_videos, 'video')}"
    say(f"{queries.dataset}/{queries.split}: {size}")
    if looked.n_without_moment:
        without = counted(looked.n_without_moment, "query has", "queries have")
        say(f"note: {without} no reference moment and are left out", err=True)
    for system in looked.systems:
        say(f"{system.name}: {looked.measure} {points(system.figure, 2)}")
    for floor, figure in zip(looked.floors, looked.floor_figures, strict=True):
        say(f"floor {floor.title}: {points(figure, 2)}")
    for line in looked.left_out:
        say(f"note: {printable(line)}", err=True)


def serve_looking(
    looked: AnswerColumns,
    looking: LookingOptions,
    serving: ServingOptions,
    page: SearchPageOptions,
    *,
    first: Path,
    data_words: Sequence[str],
) -> None:
    """Serve the page of answers until Ctrl-C.

    Parameters
    ----------
    first
        The first prediction file, beside which notes go.
    data_words
        Options that name the annotations.
    """
    from truemoment.searching.encoder_options import EncoderOptions
    from truemoment.searching.index import Index
    from truemoment.web.browsing.looking_routes import Commands
    from truemoment.web.browsing.looking_site import open_looking
    from truemoment.web.browsing.notes import notes_beside
    from truemoment.web.pages.launch import bind

    index = None if looking.features_index is None else Index(looking.features_index)
    video_words = () if looking.videos is None else ("--videos", str(looking.videos))
    files = [f"{system.name}={system.path}" for system in looked.systems]
    verdict_words = () if looking.verdicts is None else ("--verdicts", str(looking.verdicts))
    again = ("truemoment", "browse", *files, *data_words, *video_words, *verdict_words)
    commands = Commands(again, tuple(data_words), video_words)
    listening = serving.listening()
    with contextlib.closing(bind(listening)) as sock:
        base = listening.base(sock.getsockname()[1])
        with open_looking(
            looked,
            cache=cache_folder(),
            notes=looking.notes or notes_beside(first),
            commands=commands,
            videos=looking.videos,
            index=index,
            options=EncoderOptions(),
            view=looking.view,
            guests=page.guest,
            address=listening.address(),
        ) as server:
            if server.service.notes.read_only:
                say(f"note: notes are read-only: {server.service.notes.read_only}", err=True)
            if looking.videos is not None:
                shown = server.service.videos.shown
                here = sum(shown.state(video_id) == "here" for video_id in shown.rows)
                say(f"{here:,} of {len(shown.rows):,} videos are in {looking.videos}")
            links = {"link": f"{base}/in#{server.tokens.owner}"}
            if server.tokens.guest is not None:
                links["link for guests, who only look"] = f"{base}/in#{server.tokens.guest}"
            serve_links(server.app, sock, listening, links, open_it=not page.no_open, ending="notes are saved")
    click.echo("ended")


def _options_given(names: Sequence[str]) -> list[str]:
    context = click.get_current_context()
    return [name for name in names if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]


def _refuse_of_answers() -> None:
    """Refuse options of predictions, where an index is given."""
    names = (
        "dataset",
        "annotations",
        "split",
        "videos",
        "protocol",
        "floors",
        "features_index",
        "view",
        "notes",
        "verdicts",
    )
    if given := _options_given(names):
        raise UsageError(f"--{given[0].replace('_', '-')}: goes with predictions, and this is an index")
