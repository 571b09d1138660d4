"""truemoment index: embed the frames of videos, so that they can be searched."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truemoment.base.boundary.text import short_line
from truemoment.base.errors import InputError, UsageError
from truemoment.cli.binder import FILE
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver_log, suggest
from truemoment.cli.groups import bound, workers_options
from truemoment.cli.model_options import device_option, model_option
from truemoment.cli.options import json_option
from truemoment.cli.outputs import refuse_outputs, say, status_line
from truemoment.cli.parts import Output, Workers
from truemoment.cli.threads import threads_option
from truemoment.searching.encoder_options import DEFAULT_FPS, EncoderOptions, index_of

if TYPE_CHECKING:
    from truemoment.searching.building import IndexReport, Progress
    from truemoment.searching.layout import Settings

SHOWN = 20
"""Videos that could not be read that are listed; --json lists all."""

EXIT_NOT_ALL = 1


class _IndexCommand(Command):
    """``truemoment index VIDEO...``, or ``truemoment index calibrate``."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - as click has it
    ) -> click.Context:
        """Return the context of ``calibrate`` if it is the first word, and no file has that name."""
        from truemoment.cli.index_calibrate import command as calibrate

        if args[:1] == ["calibrate"] and not Path("calibrate").exists():
            return calibrate.make_context(f"{info_name} calibrate", args[1:], parent=parent, **extra)
        return super().make_context(info_name, args, parent=parent, **extra)


@click.command("index", cls=_IndexCommand)
@click.argument("videos", metavar="VIDEO...", nargs=-1, required=True, type=FILE)
@click.option("-o", "--out", type=FILE, metavar="INDEX", help="Folder of the index. [default: VIDEO.index]")
@model_option
@click.option("--fps", type=float, metavar="F", help=f"Frames per second to embed. [default: {DEFAULT_FPS:g}]")
@click.option("--proposals", metavar="SCHEME", help="Candidate moments. [default: windows of about 64 s and 256 s]")
@click.option(
    "--codes",
    is_flag=True,
    help="Make codes of the pieces, for a first stage in an eighth of the memory. [default: from 220 hours on]",
)
@click.option("--partial", is_flag=True, help="Index the readable part of damaged or truncated videos, with a warning.")
@device_option
@workers_options
@json_option("Write the report as JSON ('-': to standard output, and nothing else goes there).")
@click.option("--quiet", is_flag=True, help="No report, and no progress on standard error.")
@bound("options", EncoderOptions)
@threads_option(None)
def command(
    videos: tuple[Path, ...],
    out: Path | None,
    options: EncoderOptions,
    partial: bool,
    codes: bool,
    processes: Workers,
    json_path: Path | None,
    quiet: bool,
) -> None:
    """Index videos for search: decode, embed every frame, and store the embeddings.

    VIDEO is a file, or a folder: then all videos in it and in its folders. The same command resumes an
    interrupted one, and embeds only videos that are new or have changed.

    Exit status 1 means that some videos could not be read.

    Another command works on an index: calibrate measures when a search may stop.

    \b
    truemoment index video.mp4
    truemoment search "a man opens a door" video.mp4.index
    truemoment index ~/Videos -o videos.index --workers 4
    truemoment index calibrate videos.index --sentences sentences.txt
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.searching import report as reports
    from truemoment.searching.index import found_in
    from truemoment.searching.writing import list_videos

    if out is None and len(videos) > 1:
        raise UsageError(f"got {len(videos)} videos, expected -o INDEX: where does their index go?")
    out = out or index_of(videos[0])
    if json_path is not None:
        refuse_outputs([out, *list_videos(videos)], [json_path])
    output = Output(json_path=json_path, quiet=quiet)
    settings, done = index_with_progress(
        videos,
        out,
        options,
        show=output.progress,
        engine=processes.engine,
        workers=processes.workers,
        partial=partial,
        codes=codes,
    )
    durations_s = {name: about.duration_s for name, (_, about) in found_in(out).items()}
    if done.failed and not durations_s:
        others = f" (and {len(done.failed) - 1:,} others)" if len(done.failed) > 1 else ""
        raise InputError(next(iter(done.failed.values())) + others)
    where = str(out)
    report = reports.report_of_index(done, settings, where, len(durations_s))
    deliver_log(report, lambda: reports.document_of_index(done, settings, where, durations_s), output)
    suggest("search it:", ["truemoment", "search", _example(settings.model), where], output)
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


def _example(model: str) -> str:
    """Return a sentence of words that a model knows."""
    return "a red circle" if model == "scenes" else "a man opens a door"


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

    with status_line(show=show) as on_status, progress_bar(show=show) as on_progress:
        try:
            return index_videos(videos, out, options, on_progress=on_progress, on_status=on_status, **others)
        except KeyboardInterrupt:
            click.echo("truemoment: finished parts are saved; the same command resumes from there", err=True)
            raise


@contextlib.contextmanager
def progress_bar(*, show: bool) -> Iterator[Progress]:
    """Show which video is at work, how far all is, and the time left, if somebody sees it."""
    from truemoment.searching.building import unseen

    if not show:
        yield unseen
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
