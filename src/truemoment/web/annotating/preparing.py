"""Videos of a study are made playable, in processes of their own; it resumes."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from truemoment.base.boundary.distribution import JobRunner, begin_worker, distribute
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.processes import RestartingPool, begin_quietly
from truemoment.base.errors import InputError, TrueMomentError
from truemoment.media.video.prepared import PreparedVideo, prepare_video
from truemoment.web.annotating.events import append
from truemoment.web.annotating.store import Store
from truemoment.web.annotating.study import StudyFolder

VideoJob = tuple[int, str, OwnPath]
"""A video that is prepared: its number, its path, and the folder of what is made of it."""

PROCESS_ENDED = "the process that read it ended: it is damaged, or memory ran out"


@dataclass(frozen=True)
class VideoOutcome:
    """The outcome of preparing a video: its number, how it is played, or why it is not."""

    video: int
    prepared: PreparedVideo | None
    why: str = ""


def prepare_one(video: int, path: str, folder: OwnPath) -> VideoOutcome:
    """Prepare a video; one that cannot be read is no error of the study.

    Raises
    ------
    InputError
        If the disk is full: the video may be ready later.
    """
    try:
        return VideoOutcome(video, prepare_video(Path(path), folder))
    except (TrueMomentError, OSError, MemoryError) as error:
        if _is_disk_full(error):
            problem = "the disk is full; make room, then run 'truemoment annotate prepare' again"
            raise InputError(problem, path=folder) from None
        return VideoOutcome(video, None, str(error) or type(error).__name__)


def _is_disk_full(error: BaseException | None) -> bool:
    """Whether an error, or one that it comes from, is that of a full disk."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        error = error.__cause__ or error.__context__
    return False


def waiting_videos(connection: sqlite3.Connection, *, retry: bool = False) -> list[tuple[int, str]]:
    """Return the videos that are not prepared yet, number and path: those that are needed first come first.

    With `retry` also those that did not play: their files may have been replaced.
    """
    rows = connection.execute(
        "SELECT v.id, v.path, min(coalesce(t.place, 0)) AS place FROM videos v LEFT JOIN queries q ON q.video = v.id "
        "LEFT JOIN tasks t ON t.query = q.id WHERE v.state = 'waiting' OR ? AND v.state = 'not playable' "
        "GROUP BY v.id ORDER BY place, v.id",
        (retry,),
    ).fetchall()
    return [(int(row["id"]), str(row["path"])) for row in rows]


def record_outcome(connection: sqlite3.Connection, outcome: VideoOutcome) -> None:
    """Write what became of a video into the study."""
    prepared = outcome.prepared
    if prepared is None:
        values: tuple[object, ...] = ("not playable", outcome.why, outcome.video)
        connection.execute("UPDATE videos SET state = ?, why = ? WHERE id = ?", values)
        append(connection, "video", {"video": outcome.video, "why": outcome.why})
        return
    connection.execute(
        "UPDATE videos SET state = 'ready', why = ?, copy = ?, identity = ?, played = ?, played_identity = ?, "
        "duration_s = ?, frames = ? WHERE id = ?",
        (
            prepared.copy_why,
            int(bool(prepared.copy_why)),
            prepared.identity,
            "" if prepared.copy_why else str(prepared.played),
            prepared.played_identity,
            prepared.table.duration_s,
            len(prepared.table),
            outcome.video,
        ),
    )
    append(
        connection, "video", {"video": outcome.video, "frames": len(prepared.table), "copy": bool(prepared.copy_why)}
    )


def prepare_study(
    study: StudyFolder,
    store: Store,
    *,
    workers: int = 1,
    on_done: Callable[[VideoOutcome], None] = lambda _: None,
    prepare: Callable[[int, str, OwnPath], VideoOutcome] = prepare_one,
) -> None:
    """Prepare all videos of a study that are not yet, also those that did not play before, and wait for the end.

    Videos are read in processes of their own: one that ends its process twice is not playable. `prepare` prepares a
    video; a process must be able to import it.
    """
    waiting = store.read(lambda connection: waiting_videos(connection, retry=True))
    if not waiting:
        return
    jobs = ((video, path, study.media(video).absolute()) for video, path in waiting)
    work: JobRunner[VideoJob, VideoOutcome] = JobRunner(
        do=partial(_prepare_job, prepare),
        begin=begin_worker,
        given_up=lambda job, _: VideoOutcome(job[0], None, PROCESS_ENDED),
        needs="the videos under the same paths",
        isolated=True,
    )
    for outcome in distribute("local", jobs, work, min(workers, len(waiting))):
        store.write(lambda connection, result=outcome: record_outcome(connection, result))  # type: ignore[misc]  # a default binds it
        on_done(outcome)


def _prepare_job(prepare: Callable[[int, str, OwnPath], VideoOutcome], job: VideoJob) -> VideoOutcome:
    return prepare(*job)


class BackgroundPreparation:
    """Prepares the videos of a study while it is served, the first ones within seconds.

    Videos are read in another process: a video that ends it is not playable, and the server continues.

    Parameters
    ----------
    prepare
        Prepares a video; a process must be able to import it.
    """

    def __init__(
        self, study: StudyFolder, store: Store, prepare: Callable[[int, str, OwnPath], VideoOutcome] = prepare_one
    ) -> None:
        self._study, self._store, self._prepare = study, store, prepare
        self._stop = threading.Event()
        self._processes = RestartingPool(1, begin_quietly)
        self._thread = threading.Thread(target=self._run, name="preparing", daemon=True)

    def start(self) -> None:
        """Start the preparation."""
        self._thread.start()

    def stop(self) -> None:
        """Stop at once; the next server prepares the current video."""
        self._stop.set()
        self._processes.close()
        self._thread.join(timeout=2.0)

    def _run(self) -> None:
        while not self._stop.is_set() and (waiting := self._store.read(waiting_videos)):
            with contextlib.suppress(Exception):  # the disk is full, or the study is being closed
                outcome = self._outcome(*waiting[0])
                if self._stop.is_set():
                    return
                self._store.write(lambda connection, result=outcome: record_outcome(connection, result))  # type: ignore[misc]  # a default binds it
                continue
            self._stop.wait(5.0)
        self._processes.restart()  # nothing waits: free its memory

    def _outcome(self, video: int, path: str) -> VideoOutcome:
        folder = self._study.media(video).absolute()
        try:
            return self._processes.submit(self._prepare, video, path, folder).result()
        except BrokenProcessPool:
            return VideoOutcome(video, None, PROCESS_ENDED)
