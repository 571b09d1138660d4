"""truemoment index: look at videos once, so that they can be searched."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from truemoment.cli.options import STANDARD_OUTPUT, followed, refuse_outputs, told_path, write_json
from truemoment.exceptions import InputError, UsageError
from truemoment.text import one_line, short_line

if TYPE_CHECKING:
    from truemoment.searching.building import IndexReport, Progress
    from truemoment.searching.engines import Engine
    from truemoment.searching.extraction import Loader
    from truemoment.searching.layout import Settings
    from truemoment.video.encoders import Encoder

DEFAULT_MODEL = "laion/CLIP-ViT-B-32-laion2B-s34B-b79K"
"""The model for one's own videos: a CLIP of the size of MAD's, whose weights lie on the hub as safetensors."""

DEFAULT_COMMIT = "1a25a446712ba5ee05982a381eed697ef9b435cf"
"""The commit of it that is asked for. Public repositories name this one, in their caches and as a pinned revision."""

DEFAULT_FPS = 2.0
LEAST_FPS, MOST_FPS = 0.01, 120.0
SHOWN = 20
"""Videos that could not be read that are listed; --json lists all."""

EXIT_NOT_ALL = 1

model_option = click.option(
    "--model",
    metavar="NAME|FOLDER",
    help=f"CLIP or SigLIP: NAME or NAME@COMMIT on the hub, a folder, or scenes. [default: {DEFAULT_MODEL}]",
)
device_option = click.option("--device", metavar="NAME", help="cpu, cuda, cuda:1 ... [default: a GPU if there is one]")


@click.command("index")
@click.argument("videos", metavar="VIDEO...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="INDEX", help="The index. [default: VIDEO.index]")
@model_option
@click.option("--fps", type=float, metavar="F", help=f"Frames a second to look at. [default: {DEFAULT_FPS:g}]")
@click.option("--proposals", metavar="SCHEME", help="Candidate moments. [default: windows of about 64 s and 256 s]")
@click.option(
    "--partial", is_flag=True, help="Take videos that are damaged or cut off for what they still show, and say so."
)
@device_option
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Who works: this machine, or a Ray cluster (the variable RAY_ADDRESS).",
)
@click.option(
    "--workers", type=click.IntRange(1, 10_000), metavar="N", help="Processes. [default: 1; of a cluster all]"
)
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the report as JSON ('-': to standard output, and nothing else goes there).",
)
@click.option("--quiet", is_flag=True, help="No report, and no progress on standard error.")
@click.pass_context
def command(
    ctx: click.Context,
    videos: tuple[Path, ...],
    out: Path | None,
    model: str | None,
    fps: float | None,
    proposals: str | None,
    partial: bool,
    device: str | None,
    engine: str,
    workers: int | None,
    json_path: Path | None,
    quiet: bool,
) -> None:
    """Look at videos, and keep what was seen, so that they can be searched.

    VIDEO is a file, or a folder: then all videos in it, however deep. Each is looked at once; the same
    command goes on where it was broken off, and looks only at what is new or has changed.

    Exit status 1 says that some videos could not be read.

    \b
    truemoment index film.mp4
    truemoment search "a man opens a door" film.mp4.index
    truemoment index ~/Videos -o videos.index --workers 4
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.reports import search as told
    from truemoment.searching.index import found_in
    from truemoment.searching.writing import list_videos

    out = out or _default_out(videos)
    if json_path is not None:
        refuse_outputs([out, *list_videos(videos)], [json_path])
    show = not quiet and sys.stderr.isatty()
    settings, report = build(
        videos,
        out,
        asked=Asked(model, fps, proposals, device),
        engine=cast("Engine", engine),
        workers=workers,
        partial=partial,
        show=show,
    )
    there = {name: about.duration_s for name, (_, about) in found_in(out).items()}
    if report.failed and not there:
        others = f" (and {len(report.failed) - 1:,} others)" if len(report.failed) > 1 else ""
        raise InputError(next(iter(report.failed.values())) + others)
    if json_path is not None:
        write_json(json_path, told.index_document(report, settings, told_path(out), there))
    if not quiet:
        to_error = json_path == STANDARD_OUTPUT
        click.echo("\n".join(told.index_lines(report, settings, told_path(out), len(there))), err=to_error)
        words = ["truemoment", "search", example_for(settings.model), told_path(out)]
        click.echo(f"search it:\n  {shlex.join(words)}", err=to_error)
    for name, note in report.notes.items():
        click.echo(f"note: {one_line(f'{name}: {note}')}", err=True)
    failed = list(report.failed.values())
    for why in failed[:SHOWN]:
        click.echo(short_line(f"not indexed: {why}"), err=True)
    if len(failed) > SHOWN:
        click.echo(f"and {len(failed) - SHOWN:,} others (--json lists all)", err=True)
    if failed:
        ctx.exit(EXIT_NOT_ALL)


def example_for(model: str) -> str:
    """Give a sentence that a model knows the words of."""
    return "a red circle" if model == "scenes" else "a man opens a door"


def _default_out(videos: tuple[Path, ...]) -> Path:
    if len(videos) > 1:
        raise UsageError(f"got {len(videos)} videos, expected -o INDEX: where does their index go?")
    return index_of(videos[0])


def index_of(video: Path) -> Path:
    """Return where the index of a video, or of a folder of videos, lies if nothing else is said: beside it."""
    beside = video if video.name not in ("", "..") else video.resolve()
    return beside.with_name(f"{beside.name}.index")


class Asked:
    """How videos are to be looked at, as far as it was said.

    Parameters
    ----------
    model, fps, proposals
        None: as the index was made, or the defaults for a new one.
    device
        Where the model runs.
    """

    def __init__(self, model: str | None, fps: float | None, proposals: str | None, device: str | None) -> None:
        self.model, self.fps, self.proposals, self.device = model, fps, proposals, device

    def loader(self, index: Path, there: Settings | None) -> Loader:
        """Find the model: the one that was named, that of an index, or the default; a model of the hub by its commit.

        Whoever made an index chose the model that it names. So it is only fetched if it is the default or was named.

        Parameters
        ----------
        index
            The index, for messages.
        there
            How it was made; None for a new one.

        Raises
        ------
        UsageError
            If an index names a model that is not on this machine.
        MissingFileError, InputError, MissingPackageError
            If it cannot be fetched, or is damaged.
        """
        from truemoment.searching.extraction import Loader
        from truemoment.video.encoders import is_here, pinned

        default = named(DEFAULT_MODEL)
        model = default if self.model is None else named(self.model)
        if there is not None and (self.model is None or there.model.partition("@")[0] == self.model):
            model = named(there.model)  # of the model that was named, the commit that was used
        if self.model is None and model != default and not is_here(model):
            raise UsageError(
                f"{told_path(index)}: its model {model} is not on this machine; an index can name any model: if you "
                f"trust it, give --model {model.partition('@')[0]}"
            )
        return Loader(pinned(model), self.device)

    def encoder(self, index: Path) -> tuple[Encoder, Settings]:
        """Load the model, and say how an index is made with it.

        Raises
        ------
        UsageError, MissingFileError, InputError, MissingPackageError
            If there is no such model, or it cannot be loaded.
        """
        from truemoment.searching.layout import Settings, default_proposals, is_index, read_settings

        there = read_settings(index) if is_index(index) else None
        fps = (there.fps if there else DEFAULT_FPS) if self.fps is None else self.fps
        if not LEAST_FPS <= fps <= MOST_FPS:
            raise UsageError(f"--fps: got {fps:g}, expected {LEAST_FPS:g} to {MOST_FPS:g} frames a second")
        loader = self.loader(index, there)
        encoder = loader.load()
        made = Settings(
            model=loader.model,
            encoder=encoder.name,
            fingerprint=encoder.fingerprint,
            n_dimensions=encoder.n_dimensions,
            fps=fps,
            dtype=there.dtype if there else "float16",
            proposals=self.proposals or (there.proposals if there and there.fps == fps else default_proposals(fps)),
        )
        return encoder, made


def named(model: str) -> str:
    """Write a model so that the same is found at any time and from any folder."""
    if model == DEFAULT_MODEL:
        return f"{DEFAULT_MODEL}@{DEFAULT_COMMIT}"
    folder = Path(model).expanduser()
    return str(folder.resolve()) if folder.is_dir() and model != "scenes" else model


def build(
    videos: tuple[Path, ...],
    out: Path,
    *,
    asked: Asked,
    engine: Engine,
    workers: int | None,
    partial: bool,
    show: bool,
) -> tuple[Settings, IndexReport]:
    """Build an index, or go on with one, and say how far it came if it is broken off."""
    from truemoment.searching.building import build_index
    from truemoment.searching.extraction import Loader
    from truemoment.searching.writing import IndexWriter, list_videos

    paths = list_videos(videos)
    if not out.absolute().parent.is_dir():
        raise UsageError(f"-o {told_path(out)}: cannot be made, {told_path(out.parent)} is no folder")
    with followed(show=show) as tell:
        tell("loading the model")
        _, settings = asked.encoder(out)
    with IndexWriter(out, settings) as writer, _bar(show=show) as follow:
        try:
            report = build_index(
                writer,
                paths,
                Loader(settings.model, asked.device),
                engine=engine,
                workers=workers,
                partial=partial,
                follow=follow,
            )
        except KeyboardInterrupt:
            click.echo("truemoment: what is done is kept; the same command goes on from there", err=True)
            raise
    return settings, report


@contextlib.contextmanager
def _bar(*, show: bool) -> Iterator[Progress]:
    """Show which video is at work, how far all is, and the time left, if there is someone to see it."""
    from truemoment.searching.building import unseen

    if not show:
        yield unseen
        return
    from tqdm import tqdm

    form = "{desc} {percentage:3.0f}%|{bar}| {elapsed}, {remaining} left"
    with tqdm(total=1.0, bar_format=form, leave=False) as bar:

        def follow(video_id: str, share: float, before: bool) -> None:
            bar.set_description_str(video_id, refresh=False)
            if before:  # no time was spent on it, so it tells nothing of the time left
                bar.initial += share
            bar.update(min(share, max(0.0, 1.0 - bar.n)))
            bar.refresh()

        yield follow
