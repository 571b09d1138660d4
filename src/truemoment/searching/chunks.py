"""The short-video setting: long videos cut into chunks that do not overlap, each a video of its own.

MAD (Soldan et al. 2022, section 4.2) asks how much harder a film is than a short video: it is cut into windows of some
length that do not overlap, and each annotation goes to the one that it overlaps most. Lists are ranked within a
chunk. The paper has three minutes in Table 3, and in Figure 4 lengths from 30 s to the whole video.

A moment that crosses a cut stays whole: it ends after its chunk, and no answer there can overlap all of it. The paper
states for its ceiling that the division breaks moments down. Only this gives the Oracle of its Table 3; if moments were
clipped to their chunk, it would lose almost nothing. The number of these moments is reported; a protocol that clips
references clips them. The last chunk of a video may be shorter.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, as_strings, numbers_of
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.grounders import Grounder
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores
from truemoment.media.features.base import FeatureStore
from truemoment.searching.windows import LongVideo, Window, WindowedFeatures

LENGTHS_S = (30.0, 60.0, 120.0, 180.0, 300.0, 600.0, 1200.0, 2400.0, math.inf)
"""Lengths of the sweep, from those of Figure 4 at its left to the whole video."""

SWEPT = "R@1,IoU=0.5; R@5,IoU=0.5"
"""Measures of the sweep, those of Figure 4."""

PROTOCOL = "mad-clip,nms_threshold=none"
"""As MAD scores CLIP, of methods that suppress near-duplicates themselves. Suppressing again would take some more: its
code decides overlaps of exactly 0.3, which its proposals often have, by the rounding of float32."""

TOP = 100
"""Answers a query, as in MAD; a chunk may have fewer proposals, and then lists are shorter."""

ROUNDING = 1e-6
"""Differences up to this are rounding, in seconds, rows and chunks."""


@dataclass(frozen=True)
class Chunk:
    """A part of a video.

    Parameters
    ----------
    source_id
        The video.
    start_s, end_s
        Its start and end in the video.
    """

    source_id: str
    start_s: float
    end_s: float

    @property
    def video_id(self) -> str:
        """Its name as a video.

        Examples
        --------
        >>> Chunk("video", 180.0, 312.25).video_id
        'video[180-312.25]'
        """
        return f"{self.source_id}[{self.start_s:.12g}-{self.end_s:.12g}]"


@dataclass(frozen=True, eq=False)
class Chunks:
    """Annotations of long videos on chunks of them.

    Parameters
    ----------
    annotations
        Those of the videos; videos are chunks, times count from the start of the chunk, and are below 0 or above its
        length where a moment sticks out. Query ids stay.
    by_video
        Every chunk of every video by its name as a video, grouped by video, in order.
    length_s
        Length of a chunk; infinite for whole videos.
    n_cut
        Moments (rows) that a cut goes through, or that lie in another chunk than the first row of their query.
    """

    annotations: Annotations
    by_video: Mapping[str, Chunk]
    length_s: float
    n_cut: int

    def features(self, store: FeatureStore) -> WindowedFeatures:
        """Return the features of the chunks: views of the rows of the videos, without a copy.

        Videos may end before their duration says; a chunk after the last row is left out.

        Parameters
        ----------
        store
            Features of the videos; it states its rows a second.

        Examples
        --------
        >>> from truemoment.media.features import Features
        >>> store = Features({"video": np.arange(100, dtype=np.float32)[:, None]}, fps=5.0)
        >>> chunks = chunk_annotations(Annotations.from_rows([("7", "video", 20.0, "a door opens", 9.0, 14.0)]), 8.0)
        >>> features = chunks.features(store)
        >>> {name: int(features[name].min()) for name in features}
        {'video[0-8]': 0, 'video[8-16]': 40, 'video[16-20]': 80}
        """
        fps = store.fps
        if fps is None:
            raise InputError(f"{store.name} states no rows a second, which cutting videos needs", field="fps")
        length_rows = self.length_s * fps
        if math.isfinite(length_rows) and (round(length_rows) < 1 or abs(length_rows - round(length_rows)) > ROUNDING):
            raise UsageError(
                f"got chunks of {self.length_s:g} s at {fps:g} rows a second, expected whole rows: "
                f"{max(math.floor(length_rows), 1) / fps:g} or {math.ceil(length_rows) / fps:g} s"
            )
        video_s = {chunk.source_id: chunk.end_s for chunk in self.by_video.values()}  # the last chunk ends it
        n_rows = {source_id: LongVideo.of(store, source_id, end_s).n_rows for source_id, end_s in video_s.items()}
        windows: dict[str, Window] = {}
        for video_id, chunk in self.by_video.items():
            first, end = round(chunk.start_s * fps), math.ceil(chunk.end_s * fps - ROUNDING)
            end = min(max(end, first + 1), n_rows[chunk.source_id])
            if first < end:
                windows[video_id] = Window(chunk.source_id, first, end, fps)
        return WindowedFeatures(store, windows, f"chunks of {self.length_s:g} s")


def cut_video(source_id: str, duration_s: float, length_s: float) -> list[Chunk]:
    """Cut a video into chunks of a length; the last one has what is left.

    Parameters
    ----------
    source_id
        The video.
    duration_s
        Its duration, above 0.
    length_s
        Above 0; infinite for one chunk.

    Examples
    --------
    >>> [chunk.video_id for chunk in cut_video("video", 400.0, 180.0)]
    ['video[0-180]', 'video[180-360]', 'video[360-400]']
    """
    n_chunks = int(count_chunks(np.array(duration_s), length_s))
    edges = [0.0, *(number * length_s for number in range(1, n_chunks)), duration_s]
    return [Chunk(source_id, low, high) for low, high in itertools.pairwise(edges)]


def count_chunks(duration_s: Floats, length_s: float) -> Ints:
    """Return the number of chunks of videos of some durations; a remainder within rounding is ignored."""
    return np.asarray(np.maximum(np.ceil(duration_s / length_s - ROUNDING), 1), dtype=np.int64)


def chunk_annotations(annotations: Annotations, length_s: float) -> Chunks:
    """Move annotations of long videos to the chunks that they overlap most.

    Each moment goes to the chunk that it overlaps most, the first of those that tie; one that overlaps none (without
    length, or after the end) to the chunk in which it starts, or else the last. The rows of a query go where its first
    row goes.

    Parameters
    ----------
    annotations
        Annotations of long videos, whose durations are known; where rows of a video disagree, the first one's
        counts. What asks for no moment goes to the first chunk.
    length_s
        Length of a chunk, above 0; infinite for whole videos.

    Examples
    --------
    >>> videos = Annotations.from_rows([("7", "video", 400.0, "a door opens", 177.0, 182.0)])
    >>> chunks = chunk_annotations(videos, 180.0)
    >>> chunks.annotations.video_id.tolist(), chunks.annotations.start_s, chunks.annotations.end_s, chunks.n_cut
    (['video[0-180]'], array([177.]), array([182.]), 1)
    """
    if not length_s > 0:
        raise UsageError(f"got chunks of {length_s} s, expected a length above 0")
    of_video: dict[str, list[Chunk]] = {}
    for source_id, duration_s in zip(annotations.video_id, annotations.duration_s.tolist(), strict=True):
        if source_id not in of_video:
            if not duration_s > 0:
                raise InputError(
                    f"the duration of {source_id!r} is not known, which cutting it needs", field="duration_s"
                )
            of_video[source_id] = cut_video(source_id, duration_s, length_s)
    video_s = np.array([of_video[source_id][-1].end_s for source_id in annotations.video_id], dtype=np.float64)
    number = most_overlapped(annotations.start_s, annotations.end_s, video_s, length_s)
    number = np.repeat(number[annotations.offsets[:-1]], np.diff(annotations.offsets))  # all rows of a query alike
    targets = [of_video[source_id][k] for source_id, k in zip(annotations.video_id, number.tolist(), strict=True)]
    low_s, high_s = (np.array([getattr(chunk, edge) for chunk in targets]) for edge in ("start_s", "end_s"))
    starts_before = (annotations.start_s < low_s - ROUNDING) & (low_s > 0)  # what sticks out of the video is not cut
    ends_behind = (annotations.end_s > high_s + ROUNDING) & (high_s < video_s)
    moved = dataclasses.replace(
        annotations,
        video_id=as_strings([chunk.video_id for chunk in targets], "video_id"),
        duration_s=high_s - low_s,
        start_s=annotations.start_s - low_s,
        end_s=annotations.end_s - low_s,
        saliency=None,
    )
    by_video = {chunk.video_id: chunk for chunks in of_video.values() for chunk in chunks}
    return Chunks(moved, MappingProxyType(by_video), length_s, int((starts_before | ends_behind).sum()))


def most_overlapped(start_s: Floats, end_s: Floats, video_s: Floats, length_s: float) -> Ints:
    """Return the number of the chunk that each moment overlaps most, the first on a tie, (N,).

    A moment covers a first chunk in part, some as a whole, and a last one in part. So only three can be the one: its
    first, the one after, and its last.

    Parameters
    ----------
    start_s, end_s : (N,)
        Moments; NaN where there is none, which is chunk 0.
    video_s : (N,)
        Duration of the video of each.
    length_s
        Length of a chunk.

    Examples
    --------
    >>> start_s, end_s = np.array([8.0, 8.0, 7.0]), np.array([12.0, 13.0, 32.0])
    >>> most_overlapped(start_s, end_s, np.full(3, 60.0), 10.0).tolist()
    [0, 1, 1]
    """
    if math.isinf(length_s):
        return np.zeros(len(start_s), dtype=np.int64)
    low, high = (np.clip(np.nan_to_num(time_s), 0.0, video_s) for time_s in (start_s, end_s))
    last_chunk = count_chunks(video_s, length_s) - 1
    first, last = (
        np.minimum(np.floor(time_s / length_s + ROUNDING).astype(np.int64), last_chunk) for time_s in (low, high)
    )
    last = np.maximum(first, last)
    candidates = np.stack([first, np.minimum(first + 1, last), last])
    left = candidates * length_s
    right = np.where(candidates == last_chunk, video_s, left + length_s)
    overlap_s = np.maximum(np.minimum(high, right) - np.maximum(low, left), 0.0)
    best = np.argmax(overlap_s >= overlap_s.max(axis=0) - ROUNDING, axis=0)  # the first of those that tie
    return np.asarray(candidates[best, np.arange(len(best))])


@dataclass(frozen=True, eq=False)
class LengthScores:
    """Scores of a method on chunks of one length.

    Parameters
    ----------
    chunks
        The chunks, and their annotations.
    scores
        On all of them.
    n_without_rows
        Number of queries that count as missed: the rows of their video end before their chunk begins.
    """

    chunks: Chunks
    scores: Scores
    n_without_rows: int


def ground_chunks(
    annotations: Annotations,
    store: FeatureStore,
    length_s: float,
    make: Callable[[FeatureStore], Grounder],
    *,
    measures: str | Sequence[Measure | str] | None = None,
    protocol: str | Protocol = PROTOCOL,
) -> LengthScores:
    """Score a method on chunks of one length.

    Parameters
    ----------
    annotations
        Of videos.
    store
        Their features.
    length_s
        Length of a chunk; infinite for whole videos.
    make
        Makes the method from the features of the chunks.
    measures, protocol
        As for :func:`~truemoment.evaluation.evaluate.evaluate`.
    """
    chunks = chunk_annotations(annotations, length_s)
    features = chunks.features(store)
    queries = chunks.annotations.queries
    covered = np.array([video_id in features for video_id in queries.video_id], dtype=bool)
    by_video = np.argsort(numbers_of(annotations.queries.video_id), kind="stable")  # a video is read once
    to_ask = chunks.annotations.in_order(queries.query_id[by_video[covered[by_video]]])
    scores = evaluate(chunks.annotations, make(features).ground(to_ask.queries, TOP), measures, protocol)
    return LengthScores(chunks, scores, int((~covered).sum()))


def length_sweep(
    annotations: Annotations,
    store: FeatureStore,
    make: Callable[[FeatureStore], Grounder],
    *,
    lengths_s: Sequence[float] = LENGTHS_S,
    measures: str | Sequence[Measure | str] = SWEPT,
    protocol: str | Protocol = PROTOCOL,
    on_status: Callable[[str], None] = lambda _: None,
) -> list[LengthScores]:
    """Score a method on chunks of growing length, as MAD's Figure 4 does.

    Parameters
    ----------
    annotations, store, make, measures, protocol
        As for :func:`ground_chunks`.
    lengths_s
        Lengths; infinite for whole videos. Proposals that do not cover the tail of a video (as in MAD's code) miss up
        to 15 % of each chunk of a minute and less, and 0.2 % of a video: lengths compare with ``tail="covered"``.
    on_status
        Receives a line on each step that takes time.

    Returns
    -------
    list of LengthScores
        One a length, in their order.

    Examples
    --------
    >>> from truemoment.baselines import RandomChance
    >>> from truemoment.baselines.proposals import WindowedGrid
    >>> from truemoment.worlds.films import FilmSettings, make_films
    >>> videos = make_films({"test": 1}, FilmSettings(minutes=6, n_sentences=200), np.random.default_rng(0))
    >>> of_chance = length_sweep(
    ...     videos.annotations("test"), videos, lambda features: RandomChance(WindowedGrid(tail="covered")),
    ...     lengths_s=[60, math.inf], measures="R@5,IoU=0.3")
    >>> minute, video = (at.scores.value("R@5,IoU=0.3") for at in of_chance)
    >>> minute > video
    True
    """
    scores = []
    for length_s in lengths_s:
        on_status("whole videos" if math.isinf(length_s) else f"chunks of {length_s:g} s")
        scores.append(ground_chunks(annotations, store, length_s, make, measures=measures, protocol=protocol))
    return scores
