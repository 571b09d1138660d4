"""Finding moments in an index: of one video, or of many.

One video is scored exactly: every candidate moment of it, by :mod:`truemoment.searching.scoring`, with a discount for
short moments (:mod:`truemoment.searching.discount`), then non-maximum suppression. Of many videos a first stage selects
some, and those are scored exactly. It compares each sentence with the means of pieces of 4 s of all videos, and selects
the videos of the best pieces; :func:`first_stage_recall` measures its recall.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Ints, best_kept
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.baselines.proposals import span_seconds
from truemoment.media.features.base import Frames
from truemoment.media.features.sentences import SentenceStore
from truemoment.searching.discount import HALF_S, discount, lengths_s
from truemoment.searching.first_stage import FirstStage, VideoRanking
from truemoment.searching.index import Index
from truemoment.searching.layout import MEND
from truemoment.searching.median_scores import median_scores
from truemoment.searching.scoring import span_norms, span_scores
from truemoment.searching.spoken_words import Quote

CANDIDATES = 20
"""Number of videos that the first stage selects."""

NMS = 0.3
"""NMS threshold: maximum IoU between two moments of a video (MAD)."""

SCORES_AT_ONCE = 1 << 23
"""Scores in memory at a time (64 MiB)."""

LARGEST_SCORE = 1.001
"""A cosine is not larger than 1, but for rounding."""

DECIMALS = 6
"""Decimals of scores: more are rounding. Of equal scores the longer moment is better."""


Why = Literal["seen", "said", "both"]


class FoundMoment(NamedTuple):
    """A moment that was found, or a sequence of moments.

    `match` compares it with unrelated sentences (:mod:`truemoment.searching.unrelated`); None where it is not compared.
    `parts` are the moments of a sequence (:mod:`truemoment.searching.sequences`), and `copies` counts the near copies
    that are not listed.
    `why` says which search found it, and `quote` what is said in it, where that found it. `ranks` has its rank in each
    list that was fused (:mod:`truemoment.searching.fusion`) and has it, by the name of the list.
    """

    video_id: str
    start_s: float
    end_s: float
    score: float
    match: float | None = None
    parts: tuple[FoundMoment, ...] = ()
    copies: int = 0
    why: Why = "seen"
    quote: Quote | None = None
    ranks: tuple[tuple[str, int], ...] = ()


def search_index(
    index: Index,
    sentence_vectors: Frames,
    top: int = 5,
    *,
    nms: float = NMS,
    apart_s: float | None = None,
    candidates: int | None = None,
    videos: Iterable[str] | None = None,
    first_stage: VideoRanking | None = None,
    half_s: float = HALF_S,
    medians: Sequence[float] | None = None,
    track: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> list[list[FoundMoment]]:
    """Find the best moments of an index for each sentence.

    Parameters
    ----------
    index
        The index.
    sentence_vectors : (S, D)
        Vectors of the sentences, in the space of the index's encoder.
    top
        Moments a sentence, over all videos.
    nms
        NMS threshold: maximum IoU between two moments of a video.
    apart_s
        In place of `nms`: seconds between two moments of a video at least, else the worse one goes.
    candidates
        Number of videos a sentence that are scored exactly after a first stage over all; None for all.
    videos
        Which videos; by default all.
    first_stage
        The first stage, if it was made before; by default it is made of the index.
    half_s
        Length at which a moment loses half of what it scores above the median, seconds
        (:mod:`truemoment.searching.discount`); 0 for mean pooling alone, as in MAD.
    medians
        Median score of each sentence; None for that of the index.
    track
        Wraps the videos that are scored, e.g. in a progress bar.

    Returns
    -------
    list
        For each sentence its moments, best first; of equal scores the longer moment of a video, and videos by name.
    """
    vectors = checked_vectors(index, sentence_vectors)
    if top < 1 or not 0 <= nms <= 1 or (candidates is not None and candidates < 1):
        raise UsageError(f"got top={top}, nms={nms:g} and {candidates} candidates, expected 1 or more, and 0 to 1")
    if apart_s is not None and not 0 <= apart_s < math.inf:
        raise UsageError(f"got moments {apart_s:g} s apart, expected 0 or more")
    names = sorted(index if videos is None else videos)
    for_all = range(len(vectors))
    sentences_of: dict[str, Sequence[int]] = dict.fromkeys(names, for_all)
    if candidates is not None and candidates < len(names):
        first_look = first_stage or FirstStage(index, names)
        best_videos = first_look.best_videos(vectors, candidates)
        sentences_of = {name: [s for s in for_all if name in best_videos[s]] for name in names}
    best = BestMoments(index, vectors, top, nms=nms, apart_s=apart_s, half_s=half_s, medians=medians)
    for name in track([name for name in names if sentences_of[name]]):
        best.score(name, sentences_of[name])
    return best.ranked()


def checked_vectors(index: Index, sentence_vectors: Frames) -> Frames:
    """Return vectors of sentences (S, D) as float32; refuse those of another size and numbers that are not finite."""
    vectors = np.atleast_2d(np.asarray(sentence_vectors, dtype=np.float32))
    if vectors.shape[1] != index.n_dimensions:
        raise UsageError(
            f"got sentence vectors of {vectors.shape[1]} numbers, but {index.name} has {index.n_dimensions} a row"
        )
    if not np.isfinite(vectors).all():
        raise UsageError("got sentence vectors with numbers that are not finite")
    return vectors


def moment_scores(
    index: Index,
    name: str,
    sentence_vectors: Frames,
    medians: Sequence[float],
    *,
    spans: tuple[Ints, Ints] | None = None,
    half_s: float = HALF_S,
) -> npt.NDArray[np.float64]:
    """Return the score of moments of a video for each sentence, (S, P).

    Parameters
    ----------
    index, name
        The video.
    sentence_vectors : (S, D)
        The sentences, in the space of the index's encoder.
    medians
        Median score of each sentence.
    spans : (P,) each
        First frame of each moment, and the one after the last; None for all candidates (:meth:`Index.spans`).
    half_s
        As for :func:`search_index`.

    Raises
    ------
    InputError
        If the rows or norms of the video are damaged.
    """
    index.check(name)
    vectors, rows = np.atleast_2d(sentence_vectors), index.rows(name)
    if spans is None:
        (first, end), norms = index.spans(name), index.norms(name)
    else:
        low, high = int(spans[0].min()), int(spans[1].max())
        rows, first, end = rows[low:high], spans[0] - low, spans[1] - low
        norms = span_norms(rows, first, end)
    cosine = span_scores(rows, vectors, first, end, norms)
    if not np.abs(cosine).max(initial=0.0) <= LARGEST_SCORE:
        raise InputError("gives scores beyond 1: its norms are damaged", path=index.path, field=name, hint=MEND)
    if half_s:
        cosine = discount(cosine, np.asarray(medians), lengths_s(first, end, index.settings.fps), half_s)
    return np.asarray(cosine.round(DECIMALS))


def best_first(moments: Iterable[FoundMoment]) -> list[FoundMoment]:
    """Return moments by score, then by video; equal ones as they come."""
    return sorted(moments, key=lambda moment: (-moment.score, moment.video_id))


class BestMoments:
    """The best moments of each sentence in the videos that were scored, in any order of the videos.

    A list in `by_sentence` is sorted as soon as it is full.

    Parameters
    ----------
    index
        The index.
    vectors : (S, D)
        Of the sentences.
    top, nms, apart_s, half_s, medians
        As for :func:`search_index`.
    """

    def __init__(
        self,
        index: Index,
        vectors: Frames,
        top: int,
        *,
        nms: float = NMS,
        apart_s: float | None = None,
        half_s: float = HALF_S,
        medians: Sequence[float] | None = None,
    ) -> None:
        self.index, self.vectors, self.top, self.half_s = index, vectors, top, half_s
        self.medians = median_scores(index, vectors) if medians is None else medians
        # Moments that are too near each other are those that overlap with half the distance added at either end.
        self._margin = 0.0 if apart_s is None else apart_s / 2 * index.settings.fps
        self._threshold = nms if apart_s is None else 0.0
        self.by_sentence: list[list[FoundMoment]] = [[] for _ in vectors]

    def score(self, name: str, sentences: Sequence[int]) -> None:
        """Score every candidate moment of a video for some sentences, and keep the best; equal ones by video."""
        for s, moments in self._of_video(name, sentences):
            self.by_sentence[s] += moments
            if len(self.by_sentence[s]) >= self.top:  # else nothing goes yet
                self.by_sentence[s] = best_first(self.by_sentence[s])[: self.top]

    def ranked(self) -> list[list[FoundMoment]]:
        """Return the moments of each sentence, best first."""
        return list(map(best_first, self.by_sentence))

    def _of_video(self, name: str, sentences: Sequence[int]) -> Iterator[tuple[int, list[FoundMoment]]]:
        """Return the moments of a video; nothing comes for sentences that have better moments already."""
        index = self.index
        index.check(name)
        about, (first, end) = index.about(name), index.spans(name)
        if not len(first):
            return
        order = np.argsort(first - end, kind="stable")  # long moments first: of equal ones the whole still picture
        ends = first[order] - self._margin, end[order] + self._margin
        at_once = max(1, SCORES_AT_ONCE // len(first))
        for low in range(0, len(sentences), at_once):
            some = list(sentences[low : low + at_once])
            medians = [self.medians[s] for s in some]
            scores = moment_scores(index, name, self.vectors[some], medians, half_s=self.half_s)
            for s, score in zip(some, scores, strict=True):
                if len(self.by_sentence[s]) == self.top and score.max() < self.by_sentence[s][-1].score:
                    continue
                kept = order[best_kept(score[order], *ends, threshold=self._threshold, top=self.top)]
                start_s, end_s = span_seconds(first[kept], end[kept], index.settings.fps, about.duration_s)
                columns = (column.tolist() for column in (start_s, end_s, score[kept]))
                yield s, [FoundMoment(name, *moment) for moment in zip(*columns, strict=True)]


def first_stage_recall(
    index: Index,
    sentence_vectors: Frames,
    candidates: int = CANDIDATES,
    *,
    top: int = 5,
    nms: float = NMS,
    half_s: float = 0.0,
) -> float:
    """Return the share of the best moments of all videos that lie in the videos that the first stage selects.

    Parameters
    ----------
    index, sentence_vectors, top, nms
        As for :func:`search_index`.
    candidates
        Number of videos that the first stage selects.
    half_s
        As for :func:`search_index`; the default is mean pooling alone.

    Returns
    -------
    float
        From 0 to 1; NaN if nothing is found at all.
    """
    vectors = np.atleast_2d(np.asarray(sentence_vectors, dtype=np.float32))
    exact = search_index(index, vectors, top, nms=nms, half_s=half_s)
    best_videos = FirstStage(index).best_videos(vectors, candidates)
    hits = [moment.video_id in names for moments, names in zip(exact, best_videos, strict=True) for moment in moments]
    return sum(hits) / len(hits) if hits else math.nan


class EncodedSentences:
    """Vectors of queries that an encoder makes of their words; see :mod:`truemoment.media.features.sentences`.

    Parameters
    ----------
    encoder
        A :class:`~truemoment.media.video.encoders.Encoder`.
    """

    def __init__(self, encoder: Any) -> None:  # noqa: ANN401 - an Encoder, whose module need not be loaded
        self.encoder = encoder
        self.name = f"{encoder.name}#{encoder.fingerprint[:8]}"
        self.n_dimensions: int = encoder.n_dimensions

    def vectors(self, queries: Queries) -> Frames:
        """Return the vectors of queries, (Q, D); a sentence that occurs several times is encoded once."""
        different, number = np.unique(queries.sentence.astype(str), return_inverse=True)
        rows: npt.NDArray[np.float32] = self.encoder.sentences(different.tolist())
        return rows[number]


@dataclass(frozen=True, eq=False)
class IndexSearch:
    """A :class:`.Grounder` that answers what :func:`search_index` finds in each query's video.

    Unlike :class:`~truemoment.searching.ZeroShot` on the same rows, it uses the norms that the index stores, and ranks
    the longer of two equal moments first. By default it pools as MAD does, without a discount for short moments.

    Parameters
    ----------
    index
        The index.
    sentences
        Vectors of the queries, in the space of the index's encoder.
    nms
        NMS threshold: maximum IoU between two moments.
    half_s
        As for :func:`search_index`; 0 for mean pooling alone.
    track
        Wraps the videos, e.g. in a progress bar.
    """

    index: Index
    sentences: SentenceStore
    nms: float = NMS
    half_s: float = 0.0
    track: Callable[[list[str]], Iterable[str]] = iter

    @property
    def name(self) -> str:
        """Name of the encoder."""
        return self.index.settings.encoder

    def fit(self, train: Annotations, val: Annotations | None = None) -> IndexSearch:
        """Return itself: nothing is learned."""
        del train, val
        return self

    def ground(self, queries: Queries, top: int = 100) -> Predictions:
        """Answer each query with up to `top` moments of its video."""
        rows_of: dict[str, list[int]] = {}
        for row, video_id in enumerate(queries.video_id):
            rows_of.setdefault(video_id, []).append(row)
        for video_id in rows_of:
            self.index.about(video_id)  # refuses a video that the index does not have
        vectors = self.sentences.vectors(queries)
        medians = median_scores(self.index, vectors) if self.half_s else [0.0] * len(queries)
        moments: list[list[FoundMoment]] = [[] for _ in range(len(queries))]
        for video_id in self.track(list(rows_of)):
            rows = rows_of[video_id]
            answers = search_index(
                self.index,
                vectors[rows],
                top,
                nms=self.nms,
                videos=[video_id],
                half_s=self.half_s,
                medians=[medians[row] for row in rows],
            )
            for row, answer in zip(rows, answers, strict=True):
                moments[row] = answer
        by_query: dict[str, Sequence[Sequence[float]]] = {
            query_id: [(moment.start_s, moment.end_s, moment.score) for moment in answer]
            for query_id, answer in zip(queries.query_id, moments, strict=True)
        }
        return Predictions.from_lists(by_query, name=self.name)
