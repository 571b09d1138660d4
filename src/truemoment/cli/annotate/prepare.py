"""truemoment annotate prepare: make the videos of a study playable."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from truemoment.cli.annotate.shared import folder_of, study_argument, videos_option
from truemoment.cli.command import Command
from truemoment.cli.options import count_option, say


@click.command("prepare", cls=Command)
@study_argument
@videos_option
@count_option("--workers", 1, "Number of worker processes.", least=1, most=256)
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
def command(study: Path, videos: Path | None, workers: int, quiet: bool) -> None:
    """Make playable copies, frame tables, pictures and peaks of the videos of STUDY.

    An interrupted run resumes, and videos that did not play are tried again. Videos that browsers play exactly are not
    copied.
    """
    from tqdm import tqdm

    from truemoment.web.annotating.preparing import VideoOutcome, prepare_study, waiting_videos
    from truemoment.web.annotating.results import read_state
    from truemoment.web.annotating.store import Store, undamaged
    from truemoment.web.annotating.video_seal import check_videos

    folder = folder_of(study)
    folder.settings()
    with contextlib.ExitStack() as opened:
        opened.enter_context(folder.locked())
        check_videos(folder, videos)
        opened.enter_context(undamaged(folder.database))
        store = opened.enter_context(contextlib.closing(Store(folder.database)))
        total = len(store.read(lambda connection: waiting_videos(connection, again=True)))
        with tqdm(total=total, desc="preparing videos", unit="video", disable=quiet, leave=False) as bar:

            def on_done(outcome: VideoOutcome) -> None:
                del outcome
                bar.update()

            prepare_study(folder, store, workers=workers, on_done=on_done)
        state = store.read(lambda connection: read_state(folder, connection))
        copies = store.read(lambda connection: connection.execute("SELECT sum(copy) FROM videos").fetchone()[0])
    click.echo(f"{state.videos.get('ready', 0):,} videos are ready, {copies or 0:,} by a playable copy")
    for video_id, why in state.not_playable.items():
        say(f"not playable: {video_id}: {why}", err=True)
