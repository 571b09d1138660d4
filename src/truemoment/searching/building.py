"""Building of an index: missing videos are embedded and written, and a report has the outcome."""

from __future__ import annotations

import contextlib
import functools
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from truemoment.base.boundary.distribution import (
    ENGINES,
    Engine,
    JobRunner,
    available_cores,
    begin_worker,
    distribute,
)
from truemoment.base.boundary.distribution.handing import handing_folder
from truemoment.base.errors import InputError, TrueMomentError, UsageError
from truemoment.media.video.frames import Outline, outline_of
from truemoment.searching.extraction import (
    EmbeddedShard,
    FailedShard,
    Loader,
    PreparedShard,
    Shard,
    attempt,
    embed_prepared,
    frames_of,
    prepare,
    unless_damaged,
)
from truemoment.searching.layout import Settings
from truemoment.searching.speech import SpeechReport
from truemoment.searching.writing import IndexPlan, IndexWriter, VideoFile

PART_S = 120.0
"""Length of a part, seconds: what an interrupted command loses at most."""

PART_BYTES = 40 << 20
"""Maximum number of bytes of the pictures of a part, of which each worker has two: 120 s of video at 2 frames a second
and 224 x 224 pixels have 36 million."""

WORKER_MB = 450
"""Memory of a worker that decodes 1080p, megabytes: 340 were measured, half of them of PyTorch."""

WORTH_WORKERS = 2000
"""Frames from which on worker processes start unless the user says how many: starting them takes two seconds."""

MOST_ROWS = 1 << 20
"""Maximum number of frames of a video, for memory: six days at 2 a second."""


@dataclass
class IndexReport:
    """Report of building an index.

    Parameters
    ----------
    plan
        The plan of the work.
    indexed
        Videos that were indexed, and the duration of each in seconds.
    failed
        Videos that could not be read, and why.
    notes
        Notes on videos.
    others
        Files of the folders that are no videos.
    parts_kept
        Number of parts that an earlier command had embedded.
    n_frames
        Number of frames that were embedded.
    decode_s, prepare_s, encode_s, waited_s
        Seconds of each stage, over all workers.
    wall_s
        Wall-clock time, seconds.
    workers
        Number of processes that decode.
    speech
        What indexing of speech came to; None if that was not asked for.
    by_model
        Settings and report of each other model of the index.
    """

    plan: IndexPlan = field(default_factory=IndexPlan)
    indexed: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    others: tuple[Path, ...] = ()
    parts_kept: int = 0
    n_frames: int = 0
    decode_s: float = 0.0
    prepare_s: float = 0.0
    encode_s: float = 0.0
    waited_s: float = 0.0
    wall_s: float = 0.0
    workers: int = 1
    speech: SpeechReport | None = None
    by_model: list[tuple[Settings, IndexReport]] = field(default_factory=list)

    @property
    def of_all_models(self) -> list[IndexReport]:
        """The reports of all models, this one first."""
        return [self, *(done for _, done in self.by_model)]

    @property
    def not_readable(self) -> list[str]:
        """Why videos could not be read, by any model."""
        return list(dict.fromkeys(why for done in self.of_all_models for why in done.failed.values()))

    def add(self, seen: EmbeddedShard) -> None:
        """Count a shard."""
        self.n_frames += len(seen.rows)
        self.workers = seen.workers
        for name in ("decode_s", "prepare_s", "encode_s", "waited_s"):
            setattr(self, name, getattr(self, name) + getattr(seen, name))

    @property
    def rates(self) -> dict[str, float]:
        """Frames a second of each stage, of one worker; what was not measured is left out."""
        stages = {"decode": self.decode_s, "prepare": self.prepare_s, "encode": self.encode_s}
        return {name: self.n_frames / seconds for name, seconds in stages.items() if seconds > 0 and self.n_frames}

    @property
    def bound_by(self) -> str | None:
        """The slowest stage: pictures are decoded and prepared beside the encoder."""
        if not self.n_frames:
            return None
        if (self.decode_s + self.prepare_s) / self.workers <= self.encode_s:
            return "encode"
        return "decode" if self.decode_s > self.prepare_s else "prepare"

    @property
    def pace(self) -> str:
        """Frames a second until now, and what they wait for; "" before the first."""
        if self.bound_by is None:
            return ""
        waits_for = {"decode": "decoding", "prepare": "preparing pictures", "encode": "the encoder"}[self.bound_by]
        return f"{self.n_frames / max(self.wall_s, 1e-9):,.0f} frames/s, waits for {waits_for}"


Progress = Callable[[str, float, bool, str], None]
"""Receives a video, the share of all work that was done, whether an earlier command did it, and the pace in words."""


def ignore_progress(video_id: str, share: float, before: bool, pace: str) -> None:
    """Show no progress."""
    del video_id, share, before, pace


def build_index(
    writer: IndexWriter,
    paths: Sequence[Path],
    loader: Loader,
    *,
    engine: Engine = "local",
    workers: int | None = None,
    partial: bool = False,
    part_s: float = PART_S,
    on_progress: Progress = ignore_progress,
) -> IndexReport:
    """Embed all videos that an index does not contain yet, and write their rows.

    Videos that cannot be read are skipped and named in the report. Finished parts are kept if the work is interrupted.

    Parameters
    ----------
    writer
        The index, open for writing.
    paths
        Video files.
    loader
        The encoder that the index is made with.
    engine, workers
        The engine and its number of workers; None for all cores, of this machine only where there is much to do.
    partial
        Whether the readable part of damaged or truncated videos is indexed.
    part_s
        Length of a part, seconds.
    on_progress
        Called with the progress.

    Returns
    -------
    IndexReport
    """
    if engine not in ENGINES:
        raise UsageError(f"unknown engine {engine!r}, expected {' or '.join(ENGINES)}")
    if (workers is not None and workers < 1) or not part_s > 0:
        raise UsageError(f"got {workers} workers and parts of {part_s} s, expected more than 0")
    began = time.perf_counter()
    plan = writer.plan(paths)
    report = IndexReport(plan, failed=dict(plan.unreadable), notes=dict(plan.notes))
    work = _Work(writer, report, rows_of_part(loader, part_s * writer.settings.fps), partial, on_progress)
    for result in embed_shards(engine, work.shards(), loader, workers):
        report.wall_s = time.perf_counter() - began
        work.take(result)
    report.wall_s = time.perf_counter() - began
    return report


def rows_of_part(loader: Loader, n_rows: float) -> int:
    """Return the number of rows of a part: so many, or fewer if their pictures have more than :data:`PART_BYTES`."""
    try:
        encoder = loader.load()
    except TrueMomentError as error:
        raise InputError(str(error)) from None
    row_bytes = frames_of(encoder.preparation) * encoder.prepare(np.zeros((8, 8, 3), np.uint8)).nbytes
    return max(1, min(round(n_rows), PART_BYTES // row_bytes))


def embed_shards(
    engine: Engine, shards: Iterator[Shard], loader: Loader, workers: int | None
) -> Iterator[EmbeddedShard | FailedShard]:
    """Embed parts of videos by an engine, and yield the result of each exactly once, in any order.

    Workers of a cluster have a model each. On this machine workers prepare pictures for one model, in this process;
    one worker decodes in a thread beside it.
    """
    if engine == "local":
        if workers is None:
            workers, shards = _workers_worth_starting(shards)
        if workers > 1:
            yield from _embed_prepared(shards, loader, workers)
            return
    work: JobRunner[Shard, EmbeddedShard | FailedShard] = JobRunner(
        do=functools.partial(attempt, loader=loader),
        begin=begin_worker,
        given_up=_given_up,
        needs="the videos under the same paths, and the model",
        on_gpu=(loader.device or "").startswith("cuda"),
    )
    yield from distribute(engine, shards, work, workers)


def _workers_worth_starting(shards: Iterator[Shard]) -> tuple[int, Iterator[Shard]]:
    """Return a worker for each core, or 1 where little is to do; and all shards."""
    first: list[Shard] = []
    n_rows = 0
    for shard in shards:
        first.append(shard)
        n_rows += shard.end_row - shard.first_row
        if n_rows >= WORTH_WORKERS:
            break
    return (available_cores() if n_rows >= WORTH_WORKERS else 1), itertools.chain(first, shards)


def _embed_prepared(shards: Iterator[Shard], loader: Loader, workers: int) -> Iterator[EmbeddedShard | FailedShard]:
    """Embed what worker processes have prepared."""
    encoder = loader.load()
    with handing_folder() as folder:
        work: JobRunner[Shard, PreparedShard | FailedShard] = JobRunner(
            do=functools.partial(prepare, preparation=encoder.preparation, folder=folder),
            begin=begin_worker,
            given_up=_given_up,
            needs="the videos under the same paths",
            threads=1,
            memory_mb=WORKER_MB,
        )
        with contextlib.closing(distribute("local", shards, work, workers)) as results:
            while True:
                began = time.perf_counter()
                result = next(results, None)
                if result is None:
                    return
                if isinstance(result, PreparedShard):
                    result.seconds["wait"] = time.perf_counter() - began
                    yield unless_damaged(result.shard, functools.partial(embed_prepared, result, encoder, workers))
                else:
                    yield result


def _given_up(shard: Shard, times: int) -> FailedShard:
    return FailedShard(shard, f"{shard.video.path}: a worker died of it, {times} times")


def count_rows(video: VideoFile, outline: Outline, fps: float, offset_s: float = 0.0) -> int:
    """Return the number of rows of a video; refuse too many."""
    n_rows = outline.n_frames(fps, offset_s)
    if n_rows > MOST_ROWS:
        problem = f"{fps:g} frames a second of {outline.duration_s:.0f} s are {n_rows:,}, expected up to {MOST_ROWS:,}"
        raise InputError(problem, path=video.path, hint="take fewer frames a second, or cut the video")
    return n_rows


def refuse_other_encoder(seen: EmbeddedShard, fingerprint: str, n_dimensions: int) -> None:
    """Refuse rows of another encoder than the one that the command has loaded."""
    width = seen.rows.shape[1]
    if (seen.fingerprint, width) != (fingerprint, n_dimensions):
        came = f"a model of fingerprint {seen.fingerprint[:8]}, {width} numbers a row"
        raise InputError(
            f"the worker {seen.worker} has {came}, expected {fingerprint[:8]}, {n_dimensions} numbers",
            hint="every worker needs the same files of the model",
        )


class _Work:
    """The parts of each video that are left to embed."""

    def __init__(
        self, writer: IndexWriter, report: IndexReport, part_rows: int, partial: bool, on_progress: Progress
    ) -> None:
        self.writer, self.report, self.on_progress = writer, report, on_progress
        self.part_rows, self.partial = part_rows, partial
        self.left: dict[str, set[int]] = {}
        self.stills: dict[str, set[int]] = {}
        self.sizes = {video.video_id: video.n_bytes for video in report.plan.to_read}
        self.whole = max(1, sum(self.sizes.values()))

    def shards(self) -> Iterator[Shard]:
        """Yield the missing parts, video by video; each file is opened when its parts are needed."""
        for video in self.report.plan.to_read:
            name = video.video_id
            try:
                outline = outline_of(video.path, partial=self.partial)
                n_rows = count_rows(video, outline, self.writer.settings.fps)
            except TrueMomentError as error:
                self._fail(video, str(error))
                continue
            numbers = range(-(-n_rows // self.part_rows))
            kept = self.writer.kept_parts(video, self.part_rows, n_rows)
            self.report.parts_kept += len(kept)
            self.stills[name] = self._still_parts(outline, n_rows)
            self.left[name] = set(numbers) - kept - self.stills[name]
            self.on_progress(
                name, self._share(video, len(kept | self.stills[name]) / len(numbers)), True, self.report.pace
            )
            if outline.fault:
                self._note(name, outline.fault)
            if not self.left[name]:
                self._finish(video, outline)
            for number in sorted(self.left[name]):
                if name in self.report.failed:
                    break
                first = number * self.part_rows
                end = min(first + self.part_rows, n_rows)
                yield Shard(video, number, first, end, self.writer.settings.fps, outline)

    def _still_parts(self, outline: Outline, n_rows: int) -> set[int]:
        """Return the numbers of the parts that only repeat the last picture of the part before."""
        fps = self.writer.settings.fps
        starts = range(self.part_rows, n_rows, self.part_rows)
        return {
            number
            for number, first in enumerate(starts, start=1)
            if outline.is_still((first - 1) / fps, (min(first + self.part_rows, n_rows) - 1) / fps)
        }

    def take(self, result: EmbeddedShard | FailedShard) -> None:
        """Write the rows of a shard; the last one of a video completes it."""
        video, outline = result.shard.video, result.shard.outline
        name = video.video_id
        if name in self.report.failed:
            return
        if isinstance(result, FailedShard):
            self._fail(video, result.why)
            return
        made = self.writer.settings
        refuse_other_encoder(result, made.fingerprint, made.n_dimensions)
        self.writer.keep_part(video, self.part_rows, result.shard.number, result.rows)
        self.report.add(result)
        self.left[name].discard(result.shard.number)
        share = len(result.rows) / outline.n_frames(self.writer.settings.fps)
        self.on_progress(name, self._share(video, share), False, self.report.pace)
        if not self.left[name]:
            self._finish(video, outline)

    def _finish(self, video: VideoFile, outline: Outline) -> None:
        n_rows, notes = outline.n_frames(self.writer.settings.fps), [outline.fault] if outline.fault else []
        stills = self.stills[video.video_id]
        self.writer.finish(video, self.part_rows, n_rows, outline.duration_s, notes=notes, stills=stills)
        self.report.indexed[video.video_id] = outline.duration_s

    def _note(self, video_id: str, note: str) -> None:
        before = self.report.notes.get(video_id)
        self.report.notes[video_id] = f"{before}; {note}" if before else note

    def _fail(self, video: VideoFile, why: str) -> None:
        self.report.failed[video.video_id] = why
        self.on_progress(video.video_id, 0.0, False, self.report.pace)

    def _share(self, video: VideoFile, of_video: float) -> float:
        """Return the share of all work: videos are weighted by the size of their files."""
        return self.sizes[video.video_id] / self.whole * of_video
