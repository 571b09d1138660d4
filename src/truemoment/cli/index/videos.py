"""truemoment index VIDEO...: embed the frames of videos, so that they can be searched."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from truemoment.base.boundary.text import short_line
from truemoment.cli import binder
from truemoment.cli.delivery import deliver_log, suggest
from truemoment.cli.outputs import say, status_line
from truemoment.cli.parts import Output, Threads
from truemoment.searching.request import IndexRequest

if TYPE_CHECKING:
    from truemoment.searching.building import IndexReport, Progress

SHOWN = 20
"""Videos that could not be read that are listed; --json lists all."""

EXIT_NOT_ALL = 1


@binder.command("index")
def command(request: IndexRequest, _threads: Threads, output: Output) -> None:
    """Index videos for search: decode, embed every frame, and store the embeddings.

    VIDEO is a file, or a folder: then all videos in it and in its folders. The same command resumes an
    interrupted one, and embeds only videos that are new or have changed.

    Exit status 1 means that some videos or subtitles could not be read.

    \b
    truemoment index video.mp4
    truemoment search "a man opens a door" video.mp4.index
    truemoment index ~/Videos -o videos.index --workers 4
    truemoment index ~/Videos -o videos.index --subtitles
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.searching.run_index import run

    with indexing(show=output.progress) as (on_status, on_progress):
        indexed = run(request, on_progress=on_progress, on_status=on_status)
    deliver_log(indexed.report(), indexed.document, output)
    # of words that the model knows
    sentence = "a red circle" if indexed.settings.model == "scenes" else "a man opens a door"
    suggest("search it:", ["truemoment", "search", sentence, str(indexed.folder)], output)
    _warn(indexed.done)
    if indexed.done.not_readable or (indexed.done.speech and indexed.done.speech.failed):
        click.get_current_context().exit(EXIT_NOT_ALL)


def _warn(done: IndexReport) -> None:
    """Write notes on videos, and name those that could not be read."""
    notes = dict.fromkeys(f"{name}: {note}" for each in done.of_all_models for name, note in each.notes.items())
    for note in notes:
        say(f"note: {note}", err=True)
    failed = done.not_readable
    if done.speech is not None:
        for note in done.speech.notes:
            say(f"note: {note}", err=True)
        if not done.speech.files:
            say("note: no video has subtitles or a transcript beside it, such as film.srt beside film.mp4", err=True)
        failed += done.speech.failed
    for why in failed[:SHOWN]:
        click.echo(short_line(f"not indexed: {why}"), err=True)
    if len(failed) > SHOWN:
        say(f"and {len(failed) - SHOWN:,} others (--json lists all)", err=True)


@contextlib.contextmanager
def indexing(*, show: bool) -> Iterator[tuple[Callable[[str], None], Progress]]:
    """Show the progress of an index, and report what is saved if it is interrupted."""
    with status_line(show=show) as on_status, _progress_of_videos(show=show) as on_progress:
        try:
            yield on_status, on_progress
        except KeyboardInterrupt:
            click.echo("truemoment: finished parts are saved; the same command resumes from there", err=True)
            raise


@contextlib.contextmanager
def _progress_of_videos(*, show: bool) -> Iterator[Progress]:
    """Show the current video, the progress and the time left."""
    from truemoment.searching.building import ignore_progress

    if not show:
        yield ignore_progress
        return
    from tqdm import tqdm

    form = "{desc} {percentage:3.0f}%|{bar}| {elapsed}, {remaining} left{postfix}"
    with tqdm(total=1.0, bar_format=form, leave=False) as bar:

        def on_progress(video_id: str, share: float, before: bool, pace: str) -> None:
            bar.set_description_str(video_id, refresh=False)
            bar.set_postfix_str(pace, refresh=False)
            if before:  # no time was spent on it, so it shows nothing about the time left
                bar.initial += share
            bar.update(min(share, max(0.0, 1.0 - bar.n)))
            bar.refresh()

        yield on_progress
