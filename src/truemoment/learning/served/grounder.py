"""A served model as a grounder: asks every query once, stores every raw answer, and reads them.

Queries are asked side by side, those of one video one after the other, so that its frames are decoded once; at most
as many videos are in memory as there are workers. The answers do not depend on the number of workers.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from truemoment.base.boundary.endpoints import EndpointError
from truemoment.base.boundary.endpoints.connection import Connection
from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.base.intervals import Ints
from truemoment.base.records import MAX_TIME_S, Annotations, Predictions, Queries, as_strings
from truemoment.base.version import __version__
from truemoment.data.answers import VERSION as PARSER_VERSION
from truemoment.data.formats.base import AnswerRows, Parsing, in_seconds
from truemoment.data.formats.parsed_answers import parse_rows
from truemoment.learning.served.endpoint import Endpoint
from truemoment.learning.served.prompts import Prompt, messages
from truemoment.learning.served.raw import RawAnswer, RawAnswers, Usage, key_of, utc_now
from truemoment.learning.served.shared_frames import SharedFrames
from truemoment.media.video import Frames, Sampling, identity_of, sample_frames
from truemoment.media.video.frames import JPEG_QUALITY
from truemoment.studies.audit.shuffled import generator_of, shuffle_segments

STOP_AFTER = 5
"""Queries in a row that fail before a run stops: the endpoint is away, or takes nothing of ours."""

GRACE_S = 5.0
"""Seconds that requests under way are given when a run is broken off: their answers may have been paid for."""


@dataclass(frozen=True)
class Unanswered:
    """A query that could not be asked, and why."""

    query_id: str
    video_id: str
    why: str


@dataclass(frozen=True, eq=False)
class CollectedAnswers:
    """The answers to queries.

    Parameters
    ----------
    new
        Ids of the queries that were asked now.
    n_requests
        Requests of the new answers, those that were made again included.
    dropped_bytes
        Length of a line that a kill had cut off in the raw file.
    odd_durations
        Videos whose file has another duration than the queries: id, seconds of the file, seconds of the queries.
    """

    queries: Queries
    answers: Mapping[str, RawAnswer]
    new: frozenset[str]
    unanswered: tuple[Unanswered, ...]
    n_requests: int
    took_s: float
    dropped_bytes: int = 0
    odd_durations: tuple[tuple[str, float, float], ...] = ()


@dataclass(eq=False)
class ServedModel:
    """A served model behind an OpenAI-compatible interface.

    Parameters
    ----------
    raw
        The file of raw answers; queries that are answered there are not asked again.
    videos
        File of each video; not read if the prompt shows no frames.
    sampling
        Which frames are shown; None if the prompt shows none.
    shuffle_seed
        Show each video's frames in another order, drawn with this seed and the video's id, their times left as they
        were: the randomised-video check. None shows them as they are.
    workers
        Queries asked at a time, 1 or more.
    shared
        Frames that are shared with other prompts; None decodes the videos for this one.
    """

    endpoint: Endpoint
    prompt: Prompt
    raw: Path
    videos: Mapping[str, Path] = field(default_factory=dict)
    sampling: Sampling | None = None
    shuffle_seed: int | None = None
    workers: int = 4
    progress: bool = False
    dataset: str | None = None
    split: str | None = None
    shared: SharedFrames | None = None

    def __post_init__(self) -> None:
        if self.prompt.shows_frames != (self.sampling is not None):
            shows = "shows frames: expected" if self.prompt.shows_frames else "shows no frames: got"
            raise UsageError(f"prompt {self.prompt.name} {shows} which ones to take")
        if self.shuffle_seed is not None and not self.prompt.shows_frames:
            raise UsageError(f"prompt {self.prompt.name} shows no frames, so nothing can be shuffled")
        if self.workers < 1:
            raise UsageError(f"got {self.workers} workers, expected 1 or more")

    @property
    def name(self) -> str:
        """Name in reports."""
        return f"{self.endpoint.model}, {self.prompt.name}" + (", shuffled" if self.shuffle_seed is not None else "")

    @property
    def settings(self) -> dict[str, Any]:
        """All that determines an answer except the query; the first line of the raw file."""
        return {
            "model": self.endpoint.model,
            "endpoint": self.endpoint.url,
            "prompt": msgspec.to_builtins(self.prompt),
            "frames": self.sampling and vars(self.sampling) | {"jpeg_quality": JPEG_QUALITY},
            "shuffled": None if self.shuffle_seed is None else {"seed": self.shuffle_seed},
            "request": dict(self.endpoint.options),
        }

    @property
    def made_by(self) -> dict[str, Any]:
        """Metadata of a result file: how it was made: the settings, and how answers were read."""
        return {
            "method": "served model",
            "version": __version__,
            **self.settings,
            "prompt_sha256": self.prompt.sha256,
            "reading": str(self.prompt.reading),
            "parser": PARSER_VERSION,
        }

    def fit(self, train: Annotations, val: Annotations | None = None) -> ServedModel:
        """Return itself: the model is as it is."""
        del train, val
        return self

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Ask the queries that have no answer yet, and read all answers."""
        return self.read(self.ask(queries), top)[0]

    def read(self, collected: CollectedAnswers, top: int = 1) -> tuple[Predictions, Parsing | None]:
        """Read answers as moments by the prompt's rules, in the order of the queries; unanswered ones are left out.

        Also return how answers were read; None where there are none.
        """
        answers = list(collected.answers.values())
        rows = AnswerRows(
            self.raw,
            None,
            [answer.query_id for answer in answers],
            [answer.video_id for answer in answers],
            [answer.sentence for answer in answers],
            [answer.answer for answer in answers],
        )
        read = parse_rows(rows, self.prompt.reading)
        start_s, end_s = in_seconds(read, np.array([answer.duration_s for answer in answers]))
        rows_used, offsets = _first_of_each(read.offsets, top)
        status = None if read.status is None else as_strings(read.status, "status")
        query_id = as_strings(rows.query_id, "query_id")
        # An answer may name any number: what no video has is put after all of them, where it overlaps nothing.
        start_s, end_s = np.clip(start_s[rows_used], 0.0, MAX_TIME_S), np.clip(end_s[rows_used], 0.0, MAX_TIME_S)
        return Predictions(
            query_id, offsets, start_s, end_s, read.score[rows_used], name=self.name, status=status
        ), read.parsing

    def ask(self, queries: Queries) -> CollectedAnswers:
        """Ask the queries that have no answer yet.

        Where a query's duration is NaN, the prompt has that of the file. An InputError means that the raw file cannot
        be used, a needed duration is unknown, the endpoint accepts no request, or nothing could be asked.
        """
        began = time.monotonic()
        self._refuse_unknown_durations(queries)
        with RawAnswers(self.raw, self.settings, dataset=self.dataset, split=self.split) as raw:
            identity, why_not = self._identities(queries)
            keys = self._keys(queries, identity)
            ids = queries.query_id.tolist()
            todo = [row for row, key in enumerate(keys) if key is not None and raw.find(ids[row], key) is None]
            failed = {row: why_not[queries.video_id[row]] for row, key in enumerate(keys) if key is None}
            run = _Requests(self, queries, keys, _by_video(todo, queries), raw)
            if todo:
                failed |= run.go()
            answers = {ids[row]: raw.answers[ids[row]] for row in range(len(ids)) if row not in failed}
            dropped = raw.dropped_bytes
        unanswered = tuple(Unanswered(ids[row], queries.video_id[row], failed[row]) for row in sorted(failed))
        if not answers and unanswered:
            raise InputError(f"no query has an answer: {unanswered[0].why}", path=self.raw)
        return CollectedAnswers(
            queries,
            answers,
            frozenset(ids[row] for row in todo if row not in failed),
            unanswered,
            run.n_requests,
            time.monotonic() - began,
            dropped,
            tuple(run.odd_durations()),
        )

    def _refuse_unknown_durations(self, queries: Queries) -> None:
        unknown = int(np.sum(~(queries.duration_s > 0)))
        if unknown and not self.prompt.shows_frames:
            raise InputError(
                f"the durations of {unknown} queries are not known, and prompt {self.prompt.name} looks at no video",
                field="duration_s",
            )

    def _identities(self, queries: Queries) -> tuple[dict[str, str], dict[str, str]]:
        """Return what distinguishes the file of each video from others, and why some have none."""
        identity: dict[str, str] = {}
        why_not: dict[str, str] = {}
        for video in dict.fromkeys(queries.video_id) if self.prompt.shows_frames else ():
            if video not in self.videos:
                why_not[video] = "no file of the video"
                continue
            try:
                identity[video] = identity_of(self.videos[video])
            except (InputError, MissingFileError) as error:
                why_not[video] = str(error)
        return identity, why_not

    def _keys(self, queries: Queries, identity: Mapping[str, str]) -> list[str | None]:
        """Return the key of each query's answer; None where the video has no file that can be read."""
        settings = self.settings
        keys: list[str | None] = []
        for video, sentence, duration_s in zip(
            queries.video_id, queries.sentence, queries.duration_s.tolist(), strict=True
        ):
            length_s = duration_s if duration_s > 0 else None
            readable = video in identity or not self.prompt.shows_frames
            keys.append(key_of(settings, identity.get(video), sentence, length_s) if readable else None)
        return keys

    def frames_of(self, video_id: str) -> Frames:
        """Return the frames that are shown of a video, in the order in which they are shown.

        Raises
        ------
        MissingFileError, InputError, MissingPackageError
            As for :func:`truemoment.media.video.sample_frames`.
        """
        frames = self._decode(video_id) if self.shared is None else self.shared.get(video_id, self._decode)
        if self.shuffle_seed is None:
            return frames
        order = shuffle_segments(len(frames.images), generator_of(video_id, [self.shuffle_seed]), segment_rows=1)
        return replace(frames, images=[frames.images[k] for k in order.tolist()])

    def _decode(self, video_id: str) -> Frames:
        assert self.sampling is not None  # noqa: S101 - requested by prompts that show frames only
        return sample_frames(self.videos[video_id], self.sampling)


def _by_video(rows: Iterable[int], queries: Queries) -> list[int]:
    """Sort rows so that those of a video are together, videos and rows in the order they come."""
    place: dict[str, int] = {}
    return sorted(rows, key=lambda row: place.setdefault(str(queries.video_id[row]), len(place)))


def _first_of_each(offsets: Ints, top: int) -> tuple[Ints, Ints]:
    """Return the positions of the first `top` moments of each list, and the offsets of the shorter lists."""
    lengths = np.minimum(np.diff(offsets), top)
    kept_offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    shift = np.repeat(offsets[:-1] - kept_offsets[:-1], lengths)
    return np.arange(kept_offsets[-1]) + shift, kept_offsets


class _FrameStore:
    """Frames of the current videos: decoded once, released after the last query of each."""

    def __init__(self, decode: Callable[[str], Frames], uses: Iterable[str]) -> None:
        self._decode = decode
        self._left = Counter(uses)
        self._frames: dict[str, Future[Frames]] = {}
        self._lock = threading.Lock()
        self.duration_s: dict[str, float] = {}

    def get(self, video_id: str) -> Frames:
        """Return a video's frames, decoding them or waiting until another worker has."""
        with self._lock:
            first = video_id not in self._frames
            frames = self._frames.setdefault(video_id, Future())
        if first:
            try:
                decoded = self._decode(video_id)
                self.duration_s[video_id] = decoded.duration_s
                frames.set_result(decoded)
            except BaseException as error:  # whoever waits for these frames gets it
                frames.set_exception(error)
        return frames.result()

    def let_go(self, video_id: str) -> None:
        """Release the frames of a video after its last query."""
        with self._lock:
            self._left[video_id] -= 1
            if self._left[video_id] <= 0:
                self._frames.pop(video_id, None)


_Collected = tuple[RawAnswer, int] | BaseException
"""An answer and the requests it took, or why there is none."""


class _Requests:
    """One run over the queries that are not answered yet."""

    def __init__(
        self, model: ServedModel, queries: Queries, keys: list[str | None], todo: list[int], raw: RawAnswers
    ) -> None:
        self.model = model
        self.queries = queries
        self.keys = keys
        self.todo = todo
        self.raw = raw
        self.store = _FrameStore(model.frames_of, (queries.video_id[row] for row in todo))
        self.n_requests = 0
        self.failed: dict[int, str] = {}
        self._in_a_row = 0
        self._answered = False
        self._waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[int, _Collected]] = queue.SimpleQueue()
        self._stop = threading.Event()

    def go(self) -> dict[int, str]:
        """Ask all; return why some could not be asked, by row. Only this thread writes."""
        for row in self.todo:
            self._waiting.put(row)
        # Daemons, so that a program that is broken off need not wait for an endpoint that stalls.
        threads = [
            threading.Thread(target=self._work, daemon=True) for _ in range(min(self.model.workers, len(self.todo)))
        ]
        for thread in threads:
            thread.start()
        try:
            self._collect()
        except BaseException:
            self._stop.set()
            deadline = time.monotonic() + GRACE_S
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))
            with contextlib.suppress(queue.Empty, InputError):
                while True:
                    _, outcome = self._done.get_nowait()
                    if isinstance(outcome, tuple):
                        self.raw.add(outcome[0])
            raise
        for thread in threads:
            thread.join()
        return self.failed

    def _collect(self) -> None:
        from tqdm import tqdm  # noqa: PLC0415 - importing takes time

        n_known = len(self.queries) - len(self.todo)
        with tqdm(
            total=len(self.queries), initial=n_known, desc="asking", leave=False, disable=not self.model.progress
        ) as bar:
            for _ in self.todo:
                self._take(*self._done.get())
                bar.update()

    def _take(self, row: int, outcome: _Collected) -> None:
        """Store an answer, or note why there is none; stop after an error that further requests would repeat."""
        if isinstance(outcome, tuple):
            answer, n_requests = outcome
            self.raw.add(answer)
            self.n_requests += n_requests
            self._in_a_row, self._answered = 0, True
            return
        if not isinstance(outcome, (InputError, MissingFileError)):
            raise outcome
        problem = f"the endpoint {outcome}" if isinstance(outcome, EndpointError) else str(outcome)
        self.failed[row] = problem
        if not isinstance(outcome, EndpointError):
            return  # a fault of the video is no fault of the endpoint
        if outcome.fault != "request" or not self._answered:
            self._in_a_row += 1
        if self._in_a_row >= STOP_AFTER:
            raise InputError(
                f"{self._in_a_row} requests in a row failed; the last error: {problem}",
                hint=f"{len(self.raw)} answers are saved in {self.raw.path}; run the same command to resume",
            )

    def _work(self) -> None:
        with self.model.endpoint.connect() as connection:
            while not self._stop.is_set():
                try:
                    row = self._waiting.get_nowait()
                except queue.Empty:
                    return
                outcome: _Collected
                try:
                    outcome = self._ask(connection, row)
                except BaseException as error:  # reported or raised by the thread that collects
                    outcome = error
                self.store.let_go(self.queries.video_id[row])
                self._done.put((row, outcome))

    def _ask(self, connection: Connection, row: int) -> tuple[RawAnswer, int]:
        model, queries = self.model, self.queries
        video_id, sentence = queries.video_id[row], queries.sentence[row]
        duration_s = float(queries.duration_s[row])
        frames = self.store.get(video_id) if model.prompt.shows_frames else None
        if not duration_s > 0 and frames is not None:
            duration_s = frames.duration_s
        parts = model.prompt.fill(sentence, duration_s, frames)
        answer = model.endpoint.ask(connection, messages(model.prompt, parts), self._stop)
        line = RawAnswer(
            key=self.keys[row] or "",
            query_id=queries.query_id[row],
            video_id=video_id,
            sentence=sentence,
            duration_s=duration_s,
            answer=answer.text,
            finish_reason=answer.finish_reason,
            usage=Usage(answer.prompt_tokens, answer.completion_tokens),
            took_s=round(answer.took_s, 3),
            asked_at=utc_now(),
        )
        return line, answer.tries

    def odd_durations(self) -> Iterable[tuple[str, float, float]]:
        """Yield videos whose file has another duration than the queries, by more than a second and 5 %."""
        annotated_s = dict(zip(self.queries.video_id, self.queries.duration_s.tolist(), strict=True))
        for video_id, file_s in self.store.duration_s.items():
            if abs(file_s - annotated_s[video_id]) > max(1.0, 0.05 * annotated_s[video_id]):
                yield video_id, file_s, annotated_s[video_id]
