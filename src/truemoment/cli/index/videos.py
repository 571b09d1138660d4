"""truemoment index VIDEO...: embed the frames of videos, so that they can be searched."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truemoment.base.boundary.text import short_line
from truemoment.base.errors import InputError
from truemoment.cli import binder
from truemoment.cli.delivery import deliver_log, suggest
from truemoment.cli.outputs import say, status_line
from truemoment.cli.parts import Output, Threads, Workers
from truemoment.searching.request import IndexRequest

if TYPE_CHECKING:
    from truemoment.searching.building import IndexReport, Progress
    from truemoment.searching.encoder_options import EncoderOptions
    from truemoment.searching.layout import Settings

SHOWN = 20
"""Videos that could not be read that are listed; --json lists all."""

EXIT_NOT_ALL = 1


@binder.command("index")
def command(request: IndexRequest, workers: Workers, _threads: Threads, output: Output) -> None:
    """Index videos for search: decode, embed every frame, and store the embeddings.

    VIDEO is a file, or a folder: then all videos in it and in its folders. The same command resumes an
    interrupted one, and embeds only videos that are new or have changed.

    Exit status 1 means that some videos could not be read.

    \b
    truemoment index video.mp4
    truemoment search "a man opens a door" video.mp4.index
    truemoment index ~/Videos -o videos.index --workers 4
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.searching import report as reports
    from truemoment.searching.index import indexed_videos

    out = request.folder
    settings, done = index_with_progress(
        request.videos,
        out,
        request.encoder,
        show=output.progress,
        engine=workers.engine,
        workers=workers.workers,
        partial=request.partial,
        codes=request.codes,
    )
    durations_s = {name: about.duration_s for name, (_, about) in indexed_videos(out).items()}
    if done.failed and not durations_s:
        others = f" (and {len(done.failed) - 1:,} others)" if len(done.failed) > 1 else ""
        raise InputError(next(iter(done.failed.values())) + others)
    report = reports.report_of_index(done, settings, str(out), len(durations_s))
    deliver_log(report, lambda: reports.document_of_index(done, settings, str(out), durations_s), output)
    sentence = "a red circle" if settings.model == "scenes" else "a man opens a door"  # of words that the model knows
    suggest("search it:", ["truemoment", "search", sentence, str(out)], output)
    _warn(done)
    if done.failed:
        click.get_current_context().exit(EXIT_NOT_ALL)


def _warn(done: IndexReport) -> None:
    """Write notes on videos, and name those that could not be read."""
    for name, note in done.notes.items():
        say(f"note: {name}: {note}", err=True)
    failed = list(done.failed.values())
    for why in failed[:SHOWN]:
        click.echo(short_line(f"not indexed: {why}"), err=True)
    if len(failed) > SHOWN:
        say(f"and {len(failed) - SHOWN:,} others (--json lists all)", err=True)


def index_with_progress(
    videos: tuple[Path, ...],
    out: Path,
    options: EncoderOptions,
    *,
    show: bool,
    **others: Any,  # noqa: ANN401 - as index_videos takes them
) -> tuple[Settings, IndexReport]:
    """Index videos with a progress bar, and report how far it came if it is interrupted."""
    from truemoment.searching.session import index_videos

    with status_line(show=show) as on_status, _progress_of_videos(show=show) as on_progress:
        try:
            return index_videos(videos, out, options, on_progress=on_progress, on_status=on_status, **others)
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

    form = "{desc} {percentage:3.0f}%|{bar}| {elapsed}, {remaining} left"
    with tqdm(total=1.0, bar_format=form, leave=False) as bar:

        def on_progress(video_id: str, share: float, before: bool) -> None:
            bar.set_description_str(video_id, refresh=False)
            if before:  # no time was spent on it, so it shows nothing about the time left
                bar.initial += share
            bar.update(min(share, max(0.0, 1.0 - bar.n)))
            bar.refresh()

        yield on_progress
