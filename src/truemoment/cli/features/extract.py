"""truemoment features extract: features of one's own videos and sentences, as published ones are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from truemoment.base.boundary.text import short_line
from truemoment.cli import binder
from truemoment.cli.index.videos import EXIT_NOT_ALL, SHOWN, indexing
from truemoment.cli.outputs import progress_bar, say
from truemoment.cli.parts import Threads
from truemoment.searching.request import ExtractionRequest

if TYPE_CHECKING:
    from truemoment.searching.feature_files import ExtractionReport


@binder.command("extract")
def command(request: ExtractionRequest, _threads: Threads) -> None:
    """Make features of VIDEO by a CLIP, SigLIP or X-CLIP model: a row for every S seconds.

    With --queries FILE, make those of sentences: a row for every token, by the text tower. VIDEO is a file,
    or a folder: then all videos in it and in its folders. The same command resumes an interrupted one.

    Exit status 1 means that some videos could not be read.

    \b
    truemoment features extract films -o clip --model openai/clip-vit-base-patch32
    truemoment features extract --queries mine.jsonl -o clip-text --model openai/clip-vit-base-patch32
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.data.references import read_annotations
    from truemoment.searching.encoder_options import EncoderOptions
    from truemoment.searching.feature_files import Extraction

    loader = EncoderOptions(request.model, device=request.device).loader(request.out, None)
    how = Extraction(loader, request.every, request.dtype, request.engine, request.workers)
    if request.queries is not None:
        queries = read_annotations(request.queries).queries
        report = how.sentences(queries, request.out, progress_bar("extracting", "query", show=not request.quiet))
    else:
        with indexing(show=not request.quiet) as (on_status, on_progress):
            on_status("loading the model")
            loader.load()
            on_status("")
            write = how.videos if request.layout == "npz" else how.mapped
            report = write(request.videos, request.out, on_progress)
    _tell(report, request)


def _tell(report: ExtractionReport, request: ExtractionRequest) -> None:
    """Write what was made, and name the videos that could not be read."""
    if not request.quiet:
        what = "videos" if request.queries is None else "queries"
        say(f"{request.out}: {len(report.made):,} {what} made now, {len(report.kept):,} before")
    failed = list(report.failed.values())
    for why in failed[:SHOWN]:
        click.echo(short_line(f"not read: {why}"), err=True)
    if len(failed) > SHOWN:
        say(f"and {len(failed) - SHOWN:,} others", err=True)
    if failed:
        if request.layout != "npz":
            say(f"{request.out}: is not written; leave these videos out, and the same command resumes", err=True)
        click.get_current_context().exit(EXIT_NOT_ALL)
