"""truemoment annotate prepare: make the videos of a study playable."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from truemoment.base.request import Request, argument, number, option
from truemoment.cli import binder
from truemoment.cli.outputs import say
from truemoment.report.words import counted
from truemoment.web.annotating.store import Store, undamaged
from truemoment.web.annotating.study import StudyFolder


@dataclass(frozen=True, kw_only=True)
class PrepareRequest(Request):
    """The study."""

    study: Path = argument(metavar="STUDY")
    videos: Path | None = option(
        "Folder of the videos, named by video id, for a study that was moved or made by others. [default: "
        "as the study names them]",
        metavar="DIR",
    )
    workers: int = number("Number of worker processes.", 1, 1, 256)
    quiet: bool = option("No progress on standard error.", False)


@binder.command("prepare")
def command(request: PrepareRequest) -> None:
    """Make playable copies, frame tables, pictures and peaks of the videos of STUDY.

    An interrupted run resumes, and videos that did not play are tried again. Videos that browsers play exactly are not
    copied.
    """
    from tqdm import tqdm

    from truemoment.web.annotating.preparing import VideoOutcome, prepare_study, waiting_videos
    from truemoment.web.annotating.results import read_state
    from truemoment.web.annotating.video_seal import check_videos

    folder = StudyFolder(request.study)
    folder.settings()
    with contextlib.ExitStack() as opened:
        opened.enter_context(folder.locked())
        check_videos(folder, request.videos)
        opened.enter_context(undamaged(folder.database))
        store = opened.enter_context(contextlib.closing(Store(folder.database)))
        total = len(store.read(lambda connection: waiting_videos(connection, retry=True)))
        with tqdm(total=total, desc="preparing videos", unit="video", disable=request.quiet, leave=False) as bar:

            def on_done(outcome: VideoOutcome) -> None:
                del outcome
                bar.update()

            prepare_study(folder, store, workers=request.workers, on_done=on_done)
        state = store.read(lambda connection: read_state(folder, connection))
        copies = store.read(lambda connection: connection.execute("SELECT sum(copy) FROM videos").fetchone()[0])
    say(f"{counted(state.videos.get('ready', 0), 'video is', 'videos are')} ready, {copies or 0:,} by a playable copy")
    for video_id, why in state.not_playable.items():
        say(f"not playable: {video_id}: {why}", err=True)
